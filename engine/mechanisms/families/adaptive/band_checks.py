"""Signs in a released curve itself that its band may miss the truth.

A band counts chance and end tails (`engine.core.bands`). It does not count detail that the kept
functions cannot draw. That leaves traces in what is released, so looking for them costs nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.bands import standard_errors
from engine.mechanisms.families.adaptive import constants
from engine.numerics.bases import Basis
from engine.numerics.end_slopes import CHECKED_FROM, MIN_WAVES, detail, steepening

_LAST = 4  # coefficients; of Fourier functions two of each of the two highest frequencies
_MORE, _MORE_FROM = 5, 11  # so many of this size and more: three directions beside slopes
_SMOOTH, _MOST = 9, 8  # cosines that draw four turns, and most coefficients that are looked at
_MIN, _SMALLEST = 1e-12, 1e-300  # of the trace, and at all: where a covariance is nearly singular


def have_finer_detail(
    basis: Basis,
    centre: Array,
    covariance: Array,
    half_width: Array,
    material: float | None = None,
    misfit: float = constants.MISFIT,
) -> NDArray[np.bool_]:
    """True where the last coefficients have not become small, so that more would be needed.

    Of cosines the last four may be what two slopes at the ends make of them; of Fourier functions,
    which belong to curves without ends, they should vanish. Of eleven cosines and more the last
    five to eight are looked at: a step at t leaves sin(πlt)/l in coefficient l, and slopes take two
    directions, so that steps at some places hardly show in the other two of four. False for fewer
    than six functions.
    Coefficients are (…, r), the pointwise `half_width` (…) is averaged over time; `material` is the
    least misfit that matters, in half widths, and `misfit` its largest probability by chance.
    """
    size, last = centre.shape[-1], _LAST
    if size < CHECKED_FROM:
        return np.zeros(centre.shape[:-1], dtype=bool)
    if material is None:
        last = _last(size) if basis.family == "cosine" else _LAST
        material = constants.MATERIAL * math.sqrt(last)
    p_values, left = (
        detail(centre, covariance, last)
        if basis.family == "cosine"
        else _last_four(centre, covariance)
    )
    return np.asarray((p_values < misfit) & (left > material * half_width))


def _last(size: int) -> int:
    """Choose how many of the last cosines are looked at."""
    return min(max(size - _SMOOTH, _MORE if size >= _MORE_FROM else _LAST), _MOST)


def _last_four(centre: Array, covariance: Array) -> tuple[Array, Array]:
    """Find how probable the last four coefficients are if they vanish, and their norm."""
    last = slice(-_LAST, None)
    beyond, spread = centre[..., last], covariance[..., last, last]
    ridge = _MIN * np.trace(spread, axis1=-2, axis2=-1)[..., None, None] + _SMALLEST
    solved = np.linalg.solve(spread + ridge * np.eye(_LAST), beyond[..., None])[..., 0]
    misfit = np.maximum((beyond * solved).sum(axis=-1), 0.0)
    return (1 + misfit / 2) * np.exp(-misfit / 2), np.linalg.norm(beyond, axis=-1)  # χ² with four


def have_steep_ends(
    basis: Basis,
    centre: Array,
    covariance: Array,
    half_width: Array,
    still_moving: float = constants.STILL_MOVING,
) -> NDArray[np.bool_]:
    """True where an end would move on by several half-widths if more coefficients told of it.

    How far an end lies, beyond doubt, from what the kept functions draw, times how much steeper it
    is by all coefficients (…, r) than by half of them. The pointwise `half_width` (…) is averaged
    over time. False for Fourier functions, and for so few cosines that half of them tell no slope.
    """
    size = centre.shape[-1]
    tails = basis.end_tails(size, np.array([0.0, 1.0]))
    if tails is None or size < 2 * MIN_WAVES:
        return np.zeros(centre.shape[:-1], dtype=bool)
    rows = tails[:, :size]
    beyond = np.abs(centre @ rows.T) - 2 * standard_errors(covariance, rows)
    widths = np.maximum(beyond, 0.0) / half_width[..., None]
    return np.asarray((widths * (steepening(centre) - 1) > still_moving).any(axis=-1))
