"""Standard normal features with a known correlation, made from independent ones in place."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array

CORRELATIONS = ("ar1", "identity", "block", "ar1_strong", "equicorrelated")
RHO, STRONG, BLOCK = 0.5, 0.8, 5
_BETWEEN_NEIGHBOURS = {"ar1": RHO, "ar1_strong": STRONG}
_ROWS = 512  # handled together, to stay in cache


def covariance(kind: str, size: int) -> Array:
    """Covariance Σ of features with unit variances: (size, size).

    "ar1": ½^|j−k|, eigenvalues in (1/3, 3). "block": ½ within fives of neighbours, 0 between them,
    eigenvalues ½ and at most 3. "ar1_strong": .8^|j−k|, eigenvalues in (1/9, 9). "equicorrelated":
    ½ between all, eigenvalues ½ and (d + 1)/2.

    Examples
    --------
    >>> covariance("ar1", 3).tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    """
    from scipy.linalg import block_diag  # on first use: it takes a moment

    if kind == "identity":
        return np.eye(size)
    if kind in _BETWEEN_NEIGHBOURS:
        steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        return np.asarray(_BETWEEN_NEIGHBOURS[kind] ** steps)
    blocks = [np.full((k, k), RHO) for k in _together(kind, size)]
    return np.asarray(block_diag(*blocks) + (1 - RHO) * np.eye(size))


def largest_variance(kind: str, entries: int) -> float:
    """Bound the variance of v'x over unit vectors v with so many entries that are not zero.

    1 for uncorrelated features, (1 + ρ)/(1 − ρ) for "ar1" ones, 1 + (k − 1)/2 where k have
    correlation ½.
    """
    if kind == "identity":
        return 1.0
    if kind in _BETWEEN_NEIGHBOURS:
        rho = _BETWEEN_NEIGHBOURS[kind]
        return (1 + rho) / (1 - rho)
    together = min(entries, BLOCK) if kind == "block" else entries
    return 1 + RHO * (together - 1)


def correlate(normals: Array, kind: str, shared: Array | None = None) -> None:
    """Turn independent standard normals (rows, d) into rows with covariance Σ, in place.

    "ar1": x₁ = z₁, x_j = ½x_{j−1} + √¾ z_j, which is exact and costs two operations for each
    number. "block" needs one more normal for each row and block, and so does "equicorrelated",
    which is one block. `shared` (rows, blocks) are these, as many blocks as `n_blocks` says.
    """
    for start in range(0, len(normals), _ROWS):
        part = normals[start : start + _ROWS]
        if kind in _BETWEEN_NEIGHBOURS:
            _recursion(part, _BETWEEN_NEIGHBOURS[kind])
        elif shared is not None:
            sizes = _together(kind, part.shape[1])
            part *= np.sqrt(1 - RHO)
            part += np.sqrt(RHO) * np.repeat(shared[start : start + _ROWS], sizes, axis=1)


def n_blocks(kind: str, size: int) -> int:
    """Count the shared normals that each row needs."""
    return len(_together(kind, size)) if kind in ("block", "equicorrelated") else 0


def _recursion(rows: Array, rho: float) -> None:
    rows[:, 1:] *= np.sqrt(1 - rho**2)
    for j in range(1, rows.shape[1]):
        rows[:, j] += rho * rows[:, j - 1]


def _together(kind: str, size: int) -> list[int]:
    """Count the features with correlation ½ to each other, block by block."""
    if kind == "equicorrelated":
        return [size]
    whole, rest = divmod(size, BLOCK)
    return [BLOCK] * whole + [rest] * (rest > 0)
