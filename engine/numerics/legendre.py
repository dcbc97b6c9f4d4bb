"""Shifted Legendre polynomials, orthonormal on [0, 1]: a level, a trend, a bend and so on."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import legvander

from engine.core.arrays import Array


def polynomial_rows(size: int, times: Array) -> Array:
    """Values of the first `size` polynomials √(2j + 1) P_j(2t − 1) at times (…): (…, size).

    Examples
    --------
    >>> polynomial_rows(2, np.array([0.0, 0.5])).round(3).tolist()
    [[1.0, -1.732], [1.0, 0.0]]
    """
    rows = legvander(2 * np.asarray(times) - 1, size - 1)
    return np.asarray(rows * np.sqrt(2 * np.arange(size) + 1), dtype=np.float64)
