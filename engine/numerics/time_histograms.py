"""How observation times are spread, released as a histogram, where nothing is stated of it.

An average of basis products over the observations of a curve, S_i, has as its mean over people a
matrix that depends on the distribution of times through E cos(πkt) alone, k = 1 … 2(r − 1). These
follow from the shares of observations that fall into equal parts of the time range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.moments import highest_wave, product_table

SENSITIVITY = np.sqrt(2.0)  # of the sum of shares: two points of a simplex are at most √2 apart
_FEWEST_BINS = 16
_ROUGH, _SURE = 0.4, 2.5  # of the size of the shares; of what noise makes of bends
_NODES = 8  # for each basis function: integrals of their products are exact
_STRETCH, _NEXT_TO_NONE = 0.2, 0.25  # of the range; of what even times put there
_CLEAR = 3.0  # standard deviations by which even times stay above what counts as a gap
_MIN_UNCERTAIN = 0.25  # of a cosine's noise, which shrinking it never removes for certain


def n_bins(size: int) -> int:
    """Parts of the time range: two for each basis function, 16 at least.

    Parameters
    ----------
    size : int
        Basis functions.
    """
    return max(2 * size, _FEWEST_BINS)


def time_shares(times: Array, values: Array, counts: NDArray[np.int64], bins: int) -> Array:
    """Share of the observations of each curve in each part of the range.

    Replacing a curve moves their sum over curves by at most √2 in Euclidean norm, whatever its
    times, because the shares of a curve sum to 1 or are all 0.

    Parameters
    ----------
    times, values : (repeats, N)
        Curve after curve, times on [0, 1].
    counts : (curves,)
        Observations of each.
    bins : int
        Equal parts of the range.

    Returns
    -------
    (repeats, bins, curves)
        At least 0; all 0 for a curve without observations or with one that is no number.

    Examples
    --------
    >>> times, values = np.array([[0.1, 0.2, 0.9]]), np.zeros((1, 3))
    >>> time_shares(times, values, np.array([2, 1]), bins=2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    repeats, n = len(times), len(counts)
    curve = np.repeat(np.arange(n), counts)
    is_number = np.isfinite(times) & np.isfinite(values)
    index = np.clip(np.where(is_number, times, 0.0) * bins, 0, bins - 1).astype(np.int64)
    # every reading (repeats, N) to its repeat, part and curve, counted in one pass
    cell = (np.arange(repeats)[:, None] * bins + index) * n + curve
    shares = np.bincount(cell.ravel(), minlength=repeats * bins * n).reshape(repeats, bins, n)
    bad = np.stack([np.bincount(curve, row, minlength=n) for row in ~is_number])
    return np.where(bad[:, None] > 0, 0.0, shares / np.maximum(counts, 1))


@dataclass(frozen=True)
class Mixing:
    """What E T_i is where it is not the identity: a measurement sees M(a − β) in place of a − β.

    Parameters
    ----------
    matrix : (…, p, p)
        M, public or released.
    variance : (…, cosines), optional
        Of the error of M, which is Σ_k δ_k `directions[k]` with independent δ_k.
    directions : (cosines, p, p), optional
    """

    matrix: Array
    variance: Array | None = None
    directions: Array | None = None

    def uncertainty(self, covariance: Array) -> Array:
        """Variance that the error of M adds to a measurement of a deviation.

        Parameters
        ----------
        covariance : (…, p, p)
            Of the deviation a − β.

        Returns
        -------
        (…, p)
            Zero where M has no error.
        """
        if self.variance is None or self.directions is None:
            return np.zeros(covariance.shape[:-1])
        spread = np.einsum("kpq,...qs,kps->...kp", self.directions, covariance, self.directions,
                           optimize=True)
        return np.asarray((self.variance[..., None] * spread).sum(axis=-2))


def mixing_of_shares(shares: Array, noise: Array, size: int) -> Mixing:
    """M from released shares of observation times.

    Each E √2cos(πkt) is shrunk by the noise that it may hold (James and Stein, 1961), so that
    times that are nearly even are taken for even; no density is taken to be below zero.

    Parameters
    ----------
    shares : (repeats, columns, bins)
        Averages over curves, with noise.
    noise : (columns,)
        Standard deviation of the Gaussian noise in each share.
    size : int
        Basis functions (cosines).

    Returns
    -------
    Mixing
        Of (repeats, columns).
    """
    basis = Basis(size, family="cosine")
    bins, order = shares.shape[-1], np.arange(1, highest_wave(basis) + 1)
    middles = (np.arange(bins) + 0.5) / bins
    cosines = SUP_NORM * np.cos(np.pi * order * middles[:, None])  # (bins, cosines)
    measured, variance = shares @ cosines, bins * noise[:, None] ** 2
    left = np.maximum(0.0, 1 - variance / np.maximum(measured**2, 1e-300))
    # density (repeats, columns, nodes) times the products of waves (nodes, size · size)
    nodes = (np.arange(_NODES * size) + 0.5) / (_NODES * size)
    density = 1 + SUP_NORM * (left * measured) @ np.cos(np.pi * order[:, None] * nodes)
    waves = basis(nodes)
    products = (waves[:, :, None] * waves[:, None, :]).reshape(len(nodes), -1) / len(nodes)
    matrix = (np.maximum(density, 0.0) @ products).reshape(*shares.shape[:2], size, size)
    return Mixing(matrix, variance * np.maximum(left, _MIN_UNCERTAIN),
                  product_table(basis)[1:] / SUP_NORM)


def are_rough(shares: Array, noise: Array) -> NDArray[np.bool_]:
    """Whether released shares jump up and down as those of a few common times do.

    Compared are second differences, less what noise alone makes of them, with the shares
    themselves.

    Parameters
    ----------
    shares : (repeats, columns, bins)
        Averages over curves, with noise.
    noise : (columns,)
        Standard deviation of the Gaussian noise in each share.

    Returns
    -------
    (repeats, columns) of bool
    """
    bins = shares.shape[-1]
    bends = shares[..., 1:-1] - (shares[..., :-2] + shares[..., 2:]) / 2
    from_noise = 1.5 * (bins - 2) * noise**2
    bent = (bends**2).sum(axis=-1) - _SURE * from_noise
    size = (shares**2).sum(axis=-1) - bins * noise**2
    return np.asarray(bent > _ROUGH * np.maximum(size, 0.0))


def leave_a_gap(shares: Array, noise: Array) -> NDArray[np.bool_]:
    """Whether a fifth of the time range may hold next to none of the released shares.

    That is less than a quarter of what evenly spread times put there, give or take what noise may
    add. Where `tells_gaps` is true, even times seem to leave a gap in about one release of 100.

    Parameters
    ----------
    shares : (repeats, columns, bins)
        Averages over curves, with noise.
    noise : (columns,)
        Standard deviation of the Gaussian noise in each share.

    Returns
    -------
    (repeats, columns) of bool

    Examples
    --------
    >>> shares = np.array([[[0.1] * 10, [0.2] * 3 + [0.0] * 4 + [0.2] * 2 + [0.0]]])
    >>> leave_a_gap(shares, np.zeros(2)).tolist()
    [[False, True]]
    """
    bins = shares.shape[-1]
    length = _stretch(bins)
    stretches = np.lib.stride_tricks.sliding_window_view(shares, length, axis=-1).sum(axis=-1)
    highest = _NEXT_TO_NONE * length / bins + math.sqrt(length) * noise
    return np.asarray(stretches.min(axis=-1) < highest)


def tells_gaps(noise: Array, bins: int, stretch: float = _STRETCH) -> NDArray[np.bool_]:
    """Whether so little noise lets shares tell a gap from evenly spread times.

    Parameters
    ----------
    noise : (columns,)
        Standard deviation of the Gaussian noise in each share.
    bins : int
        Equal parts of the range.
    stretch : float
        Length of the gap, of the range.

    Returns
    -------
    (columns,) of bool

    Examples
    --------
    >>> tells_gaps(np.array([0.01, 0.05]), bins=16).tolist()
    [True, False]
    """
    length = _stretch(bins, stretch)
    missing = (1 - _NEXT_TO_NONE) * length / bins  # of a gap, at least
    return np.asarray(missing > (1 + _CLEAR) * math.sqrt(length) * noise)


def _stretch(bins: int, stretch: float = _STRETCH) -> int:
    """Parts that make up so much of the range."""
    return max(1, round(stretch * bins))
