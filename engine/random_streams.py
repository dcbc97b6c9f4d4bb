"""Random streams by recipe: a seed, the number of the stream, and the number of the block."""

from __future__ import annotations

import numpy as np

DATA_STREAM, NOISE_STREAM = 0, 1


def generator(seed: int, stream: int, index: int) -> np.random.Generator:
    """The random generator of one stream of one block: SFC64, the fastest NumPy has."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, stream, index))))
