"""Spread of observation times, released as a histogram if nothing is stated about it.

An average of basis products over the observations of a curve, S_i, has as its mean over people a
matrix that depends on the distribution of times through E cos(πkt) alone, k = 1 … 2(r − 1). These
follow from the shares of observations that fall into equal parts of the time range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array, Indices
from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.moments import highest_wave, product_table

SENSITIVITY = np.sqrt(2.0)  # of the sum of shares: two points of a simplex are at most √2 apart
_FEWEST_BINS = 16
_NODES = 8  # for each basis function: integrals of their products are exact
_STRETCH, _NEXT_TO_NONE = 1 / 6, 0.25  # of the range; of what even times put there
_SURELY = 1.64  # standard deviations of noise
_MIN_UNCERTAIN = 0.25  # of a cosine's noise, which shrinking it never removes for certain


def n_bins(size: int) -> int:
    """Parts of the time range: two for each basis function, 16 at least."""
    return max(2 * size, _FEWEST_BINS)


def time_shares(times: Array, values: Array, counts: NDArray[np.int64], bins: int) -> Array:
    """Share of the observations of each curve in each part of the range: (repeats, bins, curves).

    Replacing a curve moves their sum over curves by at most √2 in Euclidean norm, whatever its
    times, because the shares of a curve sum to 1 or are all 0. A curve without observations, or
    with one that is no number, has shares of 0.

    Examples
    --------
    >>> times, values = np.array([[0.1, 0.2, 0.9]]), np.zeros((1, 3))
    >>> time_shares(times, values, np.array([2, 1]), bins=2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    is_number = np.isfinite(times) & np.isfinite(values)
    index = np.clip(np.where(is_number, times, 0.0) * bins, 0, bins - 1).astype(np.int64)
    return shares_in(index, is_number, counts, bins)


def shares_in(
    index: NDArray[np.int64], is_number: NDArray[np.bool_], counts: NDArray[np.int64], bins: int
) -> Array:
    """Share of the observations of each curve with each number below bins: (repeats, bins, curves).

    A curve with an observation that is no number has shares of 0.
    """
    repeats, n = len(index), len(counts)
    curve = np.repeat(np.arange(n), counts)
    # every reading (repeats, N) to its repeat, number and curve, counted in one pass
    cell = (np.arange(repeats)[:, None] * bins + np.where(is_number, index, 0)) * n + curve
    shares = np.bincount(cell.ravel(), minlength=repeats * bins * n).reshape(repeats, bins, n)
    bad = np.stack([np.bincount(curve, row, minlength=n) for row in ~is_number])
    return np.where(bad[:, None] > 0, 0.0, shares / np.maximum(counts, 1))


@dataclass(frozen=True)
class Mixing:
    """E T_i where it is not the identity: a measurement sees M(a − β) in place of a − β."""

    matrix: Array  # (…, p, p): M, public or released
    # (…, cosines), optional: of the error of M, which is Σ_k δ_k `directions[k]` with independent
    # δ_k
    variance: Array | None = None
    directions: Array | None = None  # (cosines, p, p), optional

    def of(self, repeats: slice, columns: slice | Indices) -> Mixing:
        """Take the mixing of some releases, of (repeats, columns)."""
        return replace(
            self,
            matrix=self.matrix[repeats][:, columns],
            variance=None if self.variance is None else self.variance[repeats][:, columns],
        )

    def uncertainty(self, covariance: Array) -> Array:
        """Compute the variance, (…, p), that the error of M adds to a measurement of a − β.

        `covariance` (…, p, p) is that of the deviation. The variance is zero where M has no error.
        """
        if self.variance is None or self.directions is None:
            return np.zeros(covariance.shape[:-1])
        spread = np.einsum(
            "kpq,...qs,kps->...kp", self.directions, covariance, self.directions, optimize=True
        )
        return np.asarray((self.variance[..., None] * spread).sum(axis=-2))


def mixing_of_shares(shares: Array, noise: Array, basis: Basis) -> Mixing:
    """M from released shares of observation times, (repeats, columns, bins).

    Each E √2cos(πkt) is shrunk by the noise that it may hold (James and Stein, 1961), so that times
    that are nearly even are taken for even; no density is taken to be below zero.
    """
    size = basis.size
    bins, order = shares.shape[-1], np.arange(1, highest_wave(Basis(size, family="cosine")) + 1)
    middles = (np.arange(bins) + 0.5) / bins
    cosines = SUP_NORM * np.cos(np.pi * order * middles[:, None])  # (bins, cosines)
    measured, variance = shares @ cosines, bins * noise[:, None] ** 2
    left = np.maximum(0.0, 1 - variance / np.maximum(measured**2, 1e-300))
    # density (repeats, columns, nodes) times the products of waves (nodes, size · size)
    nodes = (np.arange(_NODES * size) + 0.5) / (_NODES * size)
    at_nodes = np.cos(np.pi * order[:, None] * nodes)
    density = 1 + SUP_NORM * (left * measured) @ at_nodes
    waves = basis(nodes)
    products = (waves[:, :, None] * waves[:, None, :]).reshape(len(nodes), -1) / len(nodes)
    matrix = (np.maximum(density, 0.0) @ products).reshape(*shares.shape[:2], size, size)
    directions = (
        product_table(basis)[1:] / SUP_NORM
        if basis.family == "cosine"
        else (SUP_NORM * at_nodes @ products).reshape(-1, size, size)
    )
    return Mixing(matrix, variance * np.maximum(left, _MIN_UNCERTAIN), directions)


def may_leave_a_part_empty(shares: Array, noise: Array) -> NDArray[np.bool_]:
    """True unless each stretch of the range surely holds a quarter of what even times put there.

    Examples
    --------
    >>> shares = np.array([[[0.1] * 10, [0.2] * 3 + [0.0] * 4 + [0.2] * 2 + [0.0]]])
    >>> may_leave_a_part_empty(shares, np.zeros(2)).tolist()
    [[False, True]]
    """
    bins = shares.shape[-1]
    length = max(1, round(_STRETCH * bins))
    stretches = np.lib.stride_tricks.sliding_window_view(shares, length, axis=-1).sum(axis=-1)
    needed = _NEXT_TO_NONE * length / bins + _SURELY * math.sqrt(length) * noise
    return np.asarray(stretches.min(axis=-1) < needed)
