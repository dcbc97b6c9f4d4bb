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


def factors_times(factors: Array, rows: Array) -> Array:
    """Σ_j f_j rows_j for factors (repeats, k, q) and rows (repeats, q, p, n): (repeats, k, p, n).

    Few factors read the rows where they lie, so that some columns of a larger array are not copied
    first; for many the copy costs less than they gain by it. The numbers are the same.
    """
    repeats, count, q = factors.shape
    if count <= _FEW:
        return np.asarray(np.vecmat(factors[:, :, None], rows.swapaxes(1, 2)[:, None]))
    product = factors @ rows.reshape(repeats, q, -1)
    return product.reshape(repeats, count, *rows.shape[2:])
