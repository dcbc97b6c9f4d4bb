"""Curves from cosine coefficients, with slopes at both ends in place of the last two waves.

A cosine series is flat at both ends. A curve f that is not has coefficients with a tail a_l ≈
√2((−1)^l β_1 − β_0)/(πl)², where β_0 and β_1 are its slopes at 0 and 1. The last two of r
coefficients tell both slopes, and the same r numbers then stand for

    f(t) = Σ_{l ≤ r−3} c_l φ_l(t) + β_0 p_0(t) + β_1 p_1(t),   p_0 = t − t²/2,   p_1 = t²/2.

The map is linear, fixed and public; it adds no noise. Derived in this project.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaincc

from engine.core.arrays import Array
from engine.core.grids import read_only

MIN_WAVES = 4  # from which the last two can be given up
CHECKED_FROM = 6  # waves, from which the release can be asked for finer detail
FEWER = 4  # waves that the check of details leaves out
_MIN = 1e-12  # of the trace: a ridge where the covariance is nearly singular


@lru_cache(maxsize=64)
def slope_map(size: int) -> Array:
    """E: from r ≥ 4 cosine coefficients a to (c_0 … c_{r−3}, β_0, β_1); (r, r).

    Examples
    --------
    >>> import numpy as np
    >>> waves = np.arange(1, 8)
    >>> line = np.r_[0.5, np.sqrt(2) * ((-1.0)**waves - 1) / (np.pi * waves)**2]  # f(t) = t
    >>> (slope_map(8) @ line)[-2:].round(9).tolist()
    [1.0, 1.0]
    """
    even, odd = sorted((size - 2, size - 1), key=lambda order: order % 2)
    out = np.eye(size)
    out[-2:] = 0.0
    for order, at_start, at_end in ((even, -0.5, 0.5), (odd, -0.5, -0.5)):
        out[-2:, order] = np.array([at_start, at_end]) * (np.pi * order) ** 2 / np.sqrt(2)
    out[:-2] -= end_tails(size)[:-2] @ out[-2:]
    return read_only(out)


@lru_cache(maxsize=64)
def end_tails(size: int) -> Array:
    """P: the first r cosine coefficients of p_0 and of p_1: (r, 2)."""
    order = np.arange(1.0, size)
    tails = (
        np.sqrt(2)
        / (np.pi * order)[:, None] ** 2
        * np.stack([-np.ones(size - 1), (-1.0) ** order], axis=1)
    )
    return read_only(np.concatenate([[[1 / 3, 1 / 6]], tails]))


def fewer_waves(size: int, fewer: int = FEWER) -> Array:
    """X: coefficients (r, r − fewer + 2) of curves of fewer cosines and two slopes."""
    return np.concatenate([np.eye(size)[:, : size - fewer], end_tails(size)], axis=1)


def detail(centre: Array, covariance: Array, fewer: int = FEWER) -> tuple[Array, Array]:
    """Find what of the last coefficients fewer cosines and two slopes do not explain.

    Coefficients are (…, r), r at least `fewer` + 2 and this at least 3. P-values (…) are of a
    misfit as large, if `fewer` suffice: χ² of the generalised least-squares fit, with two degrees
    of freedom fewer than coefficients. Sizes (…) are the root of the sum of squares of what is left
    of the last ones, in response units: as the cosines are orthonormal, a root mean squared
    distance of curves.
    """
    size = centre.shape[-1]
    ridge = _MIN * np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] / size
    inverse = np.linalg.inv(covariance + ridge * np.eye(size))
    model = fewer_waves(size, fewer)
    normal = model.T @ inverse  # (…, r − fewer + 2, r)
    # (…, r, r), once for each covariance, which lacks directions where a common time is left out
    fitted = model @ np.linalg.pinv(normal @ model, hermitian=True) @ normal
    left = centre - (fitted @ centre[..., None])[..., 0]
    misfit = np.einsum("...k,...kl,...l->...", left, inverse, left)
    return (
        np.asarray(gammaincc((fewer - 2) / 2, np.maximum(misfit, 0.0) / 2)),
        np.linalg.norm(left[..., -fewer:], axis=-1),
    )


def steepening(centre: Array) -> Array:
    """Divide a curve's end slopes by those of the first half of its coefficients: (…, 2).

    Where coefficients have come to fall like k⁻², both halves tell the same slopes. A curve that
    rises or falls within a small part of the range has not come so far: each further coefficient
    makes it steeper.
    """
    size = centre.shape[-1]
    half = size // 2
    slopes = (centre @ slope_map(size)[-2:].T, centre[..., :half] @ slope_map(half)[-2:].T)
    return np.asarray(np.abs(slopes[0]) / np.maximum(np.abs(slopes[1]), 1e-300))


def cosine_rows(size: int, times: Array | float, order: int = 0) -> Array:
    """Evaluate derivatives of this order (0: themselves) of the plain cosines: (…, r)."""
    frequency = np.pi * np.arange(size)
    phase = np.asarray(times)[..., None] * frequency + order * np.pi / 2
    rows = frequency**order * np.cos(phase)
    rows[..., 1:] *= np.sqrt(2)
    return np.asarray(rows)


def slope_rows(size: int, times: Array | float, order: int = 0) -> Array:
    """w(t): f and its derivatives of order 0 to 2 are w(t)'a of r ≥ 4 coefficients a: (…, r)."""
    t = np.asarray(times)
    ends = ((t - t**2 / 2, t**2 / 2), (1 - t, t), (-np.ones_like(t), np.ones_like(t)))[order]
    parts = np.concatenate([cosine_rows(size - 2, t, order), np.stack(ends, axis=-1)], axis=-1)
    return np.asarray(parts @ slope_map(size))
