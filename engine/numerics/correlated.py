"""Standard normal features with a known correlation, made from independent ones in place."""

from __future__ import annotations

import numpy as np

from engine.types import Array

CORRELATIONS = ("ar1", "identity", "block")
LARGEST_VARIANCE = 3.0  # of v'x over unit vectors v, for every choice and any number of features
RHO, BLOCK = 0.5, 5
_ROWS = 512  # handled together, to stay in cache


def covariance(kind: str, size: int) -> Array:
    """Σ with unit variances, (size, size).

    "ar1": ½^|j−k|, eigenvalues in (1/3, 3). "block": ½ within fives of neighbours, 0 between them,
    eigenvalues ½ and at most 3.
    """
    from scipy.linalg import block_diag  # on first use: it takes a moment

    if kind == "identity":
        return np.eye(size)
    if kind == "ar1":
        return np.asarray(RHO ** np.abs(np.subtract.outer(np.arange(size), np.arange(size))))
    blocks = [np.full((k, k), RHO) for k in _block_sizes(size)]
    return np.asarray(block_diag(*blocks) + (1 - RHO) * np.eye(size))


def correlate(normals: Array, kind: str, shared: Array | None = None) -> None:
    """Turn independent standard normals (rows, d) into rows with covariance Σ, in place.

    "ar1": x₁ = z₁, x_j = ½x_{j−1} + √¾ z_j, which is exact and costs two operations for each
    number. "block" needs one more normal for each row and block, `shared` (rows, blocks).
    """
    for start in range(0, len(normals), _ROWS):
        part = normals[start:start + _ROWS]
        if kind == "ar1":
            _recursion(part)
        elif kind == "block" and shared is not None:
            sizes = _block_sizes(part.shape[1])
            part *= np.sqrt(1 - RHO)
            part += np.sqrt(RHO) * np.repeat(shared[start:start + _ROWS], sizes, axis=1)


def n_blocks(kind: str, size: int) -> int:
    """How many shared normals each row needs."""
    return len(_block_sizes(size)) if kind == "block" else 0


def _recursion(rows: Array) -> None:
    rows[:, 1:] *= np.sqrt(1 - RHO**2)
    for j in range(1, rows.shape[1]):
        rows[:, j] += RHO * rows[:, j - 1]


def _block_sizes(size: int) -> list[int]:
    whole, rest = divmod(size, BLOCK)
    return [BLOCK] * whole + [rest] * (rest > 0)
