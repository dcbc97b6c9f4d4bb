"""Where a released curve itself says that its band may miss the truth.

A band counts chance and end tails (`engine.core.bands`). It does not count detail that the kept
functions cannot draw, nor what was cut off at the stated bounds. Both leave traces in what is
released, so looking for them costs nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.bands import NORMAL, standard_errors
from engine.mechanisms.families import adaptive_constants as constants
from engine.numerics.bases import Basis
from engine.numerics.end_slopes import CHECKED_FROM, LEAST_WAVES, detail, steepening


def have_finer_detail(centre: Array, covariance: Array, half_width: Array) -> NDArray[np.bool_]:
    """Whether the last coefficients have not become small, so that more would be needed.

    Parameters
    ----------
    centre : (…, r)
        Released coefficients of cosines.
    covariance : (…, r, r)
        Of them.
    half_width : (…)
        Of a pointwise band, averaged over the time range.

    Returns
    -------
    (…) of bool
        False for fewer than six cosines, which leave nothing to compare.
    """
    if centre.shape[-1] < CHECKED_FROM:
        return np.zeros(centre.shape[:-1], dtype=bool)
    p_values, left = detail(centre, covariance)
    return np.asarray((p_values < constants.MISFIT) & (left > constants.MATERIAL * half_width))


def have_steep_ends(basis: Basis, centre: Array, covariance: Array, half_width: Array
                    ) -> NDArray[np.bool_]:
    """Whether an end would move on by several widths of the band if more coefficients told of it.

    How far an end lies, beyond doubt, from what the kept functions draw, times how much steeper it
    is by all coefficients than by half of them.

    Parameters
    ----------
    basis : Basis
        The r cosines.
    centre : (…, r)
        Released coefficients.
    covariance : (…, r, r)
        Of them.
    half_width : (…)
        Of a pointwise band, averaged over the time range.

    Returns
    -------
    (…) of bool
        False for so few cosines that half of them tell no slope.
    """
    size = centre.shape[-1]
    tails = basis.end_tails(size, np.array([0.0, 1.0]))
    if tails is None or size < 2 * LEAST_WAVES:
        return np.zeros(centre.shape[:-1], dtype=bool)
    rows = tails[:, :size]
    beyond = np.abs(centre @ rows.T) - 2 * standard_errors(covariance, rows)
    widths = np.maximum(beyond, 0.0) / half_width[..., None]
    return np.asarray((widths * (steepening(centre) - 1) > constants.STILL_MOVING).any(axis=-1))


def lie_at_a_bound(curves: Array, errors: Array, half: float) -> NDArray[np.bool_]:
    """Whether curves run along a stated bound: what lies beyond it was moved there.

    Parameters
    ----------
    curves : (…, points)
        Released curves in response units, from the middle of the bounds.
    errors : (…, points)
        Their standard errors.
    half : float
        Half the distance of the bounds.

    Returns
    -------
    (…) of bool
    """
    near = np.abs(curves) + np.minimum(NORMAL * errors, constants.NEAR_BOUND * half) > half
    return np.asarray(near.mean(axis=-1) > constants.ALONG_BOUND)
