"""Symmetric matrices as vectors and back, their roots, and the nearest without negative values.

The vector holds the upper triangle, entries beside the diagonal times √2, so that its Euclidean
norm is the Frobenius norm of the matrix. Noise of one variance on every entry of the vector is the
isotropic noise of symmetric matrices.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array

Index = NDArray[np.intp]


def as_vector(matrices: Array) -> Array:
    """Take the upper triangles, (…, p(p + 1)/2), of symmetric matrices, with the norm of all.

    Examples
    --------
    >>> as_vector(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3).tolist()
    [1.0, 2.828, 3.0]
    """
    rows, columns, stretch = _triangle(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns] * stretch)


def as_matrix(vectors: Array) -> Array:
    """The symmetric matrices that `as_vector` made these of: (…, p, p)."""
    size = (math.isqrt(8 * vectors.shape[-1] + 1) - 1) // 2
    rows, columns, stretch = _triangle(size)
    matrices = np.empty((*vectors.shape[:-1], size, size))
    matrices[..., rows, columns] = matrices[..., columns, rows] = vectors / stretch
    return matrices


def matrix_root(matrices: Array) -> Array:
    """Take the symmetric root of matrices (…, p, p), negative eigenvalues counting as 0."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray(
        (vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ vectors.swapaxes(-1, -2)
    )


def nearest_semidefinite(matrices: Array) -> Array:
    """Set negative eigenvalues of symmetric matrices (…, p, p) to zero: (…, p, p)."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2))


@lru_cache(maxsize=64)
def _triangle(size: int) -> tuple[Index, Index, Array]:
    """Rows and columns of the upper triangle, and what its entries are multiplied by."""
    rows, columns = np.triu_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, math.sqrt(2))
