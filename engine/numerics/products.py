"""Products with a large matrix that is read only once or twice."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array

_FEW = 3  # rows, for which as many products with a vector cost less than one with a matrix


def rows_times(rows: Array, matrix: Array) -> Array:
    """Rows times a matrix, whichever way is faster: (…, k, q)."""
    if rows.shape[-2] <= _FEW:
        return np.asarray(np.vecmat(rows, matrix[..., None, :, :]))
    return np.asarray(rows @ matrix)
