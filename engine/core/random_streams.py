"""Random streams by recipe: a seed, the number of the stream, and the number of the block."""

from __future__ import annotations

import numpy as np

DATA_STREAM, NOISE_STREAM = 0, 1


def generator(seed: int, stream: int, index: int) -> np.random.Generator:
    """The random generator of one block of one stream: SFC64, the fastest NumPy has.

    Its numbers depend on seed, stream and index alone, so that serial and parallel runs are equal.

    Examples
    --------
    >>> generator(1, DATA_STREAM, 0).integers(10, size=3).tolist()
    [4, 9, 5]
    """
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, stream, index))))
