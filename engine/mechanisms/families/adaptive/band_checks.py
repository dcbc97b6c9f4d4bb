"""Where a released curve itself says that its band may miss the truth.

A band counts chance and end tails (`engine.core.bands`). It does not count detail that the kept
functions cannot draw, nor what was cut off at the stated bounds. Both leave traces in what is
released, so looking for them costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.bands import NORMAL, SecondMoments, standard_errors
from engine.mechanisms.families.adaptive import constants
from engine.numerics.bases import Basis
from engine.numerics.end_slopes import CHECKED_FROM, MIN_WAVES, detail, steepening

_LAST = 4  # coefficients of Fourier functions, two of each of the two highest frequencies
_WITHIN = (np.arange(40) + 0.5) / 40  # of a part of the time range
_MIN, _SMALLEST = 1e-12, 1e-300  # of the trace, and at all: where a covariance is nearly singular


def have_finer_detail(basis: Basis, centre: Array, covariance: Array, half_width: Array,
                      material: float = constants.MATERIAL, misfit: float = constants.MISFIT
                      ) -> NDArray[np.bool_]:
    """Whether the last coefficients have not become small, so that more would be needed.

    Of cosines the last four may be what two slopes at the ends make of them; of Fourier functions,
    which belong to curves without ends, they should vanish.

    Parameters
    ----------
    basis : Basis
        The r functions.
    centre : (…, r)
        Released coefficients.
    covariance : (…, r, r)
        Of them.
    half_width : (…)
        Of a pointwise band, averaged over the time range.
    material : float
        The least misfit that matters, in half widths.
    misfit : float
        How probable by chance it may be at most.

    Returns
    -------
    (…) of bool
        False for fewer than six functions, which leave nothing to compare.
    """
    if centre.shape[-1] < CHECKED_FROM:
        return np.zeros(centre.shape[:-1], dtype=bool)
    p_values, left = (detail if basis.family == "cosine" else _last_four)(centre, covariance)
    return np.asarray((p_values < misfit) & (left > material * half_width))


def _last_four(centre: Array, covariance: Array) -> tuple[Array, Array]:
    """How probable the last four coefficients are if they vanish, and the root of their squares."""
    last = slice(-_LAST, None)
    beyond, spread = centre[..., last], covariance[..., last, last]
    ridge = _MIN * np.trace(spread, axis1=-2, axis2=-1)[..., None, None] + _SMALLEST
    solved = np.linalg.solve(spread + ridge * np.eye(_LAST), beyond[..., None])[..., 0]
    misfit = np.maximum((beyond * solved).sum(axis=-1), 0.0)
    return (1 + misfit / 2) * np.exp(-misfit / 2), np.linalg.norm(beyond, axis=-1)  # χ² with four


def have_steep_ends(basis: Basis, centre: Array, covariance: Array, half_width: Array,
                    still_moving: float = constants.STILL_MOVING) -> NDArray[np.bool_]:
    """Whether an end would move on by several widths of the band if more coefficients told of it.

    How far an end lies, beyond doubt, from what the kept functions draw, times how much steeper it
    is by all coefficients than by half of them.

    Parameters
    ----------
    basis : Basis
        The r functions.
    centre : (…, r)
        Released coefficients.
    covariance : (…, r, r)
        Of them.
    half_width : (…)
        Of a pointwise band, averaged over the time range.
    still_moving : float
        Half widths by which an end moves on at least.

    Returns
    -------
    (…) of bool
        False for Fourier functions, and for so few cosines that half of them tell no slope.
    """
    size = centre.shape[-1]
    tails = basis.end_tails(size, np.array([0.0, 1.0]))
    if tails is None or size < 2 * MIN_WAVES:
        return np.zeros(centre.shape[:-1], dtype=bool)
    rows = tails[:, :size]
    beyond = np.abs(centre @ rows.T) - 2 * standard_errors(covariance, rows)
    widths = np.maximum(beyond, 0.0) / half_width[..., None]
    return np.asarray((widths * (steepening(centre) - 1) > still_moving).any(axis=-1))


def tell_little_at_an_end(basis: Basis, people: SecondMoments) -> NDArray[np.bool_]:
    """Whether people hardly differ, in what is short, in the first or the last fifth of the range.

    Where times are even, deviations of people as short as the kept functions draw are about as
    large everywhere, as errors of single observations make them: their variance about its average
    within a fifth is that of coefficients without any correlation. Where no observations lie, each
    person's curve is drawn on from elsewhere, and has none. People who start alike still have such
    deviations, if each is observed often.

    Parameters
    ----------
    basis : Basis
        The r functions.
    people : SecondMoments
        As released, (…, r, r).

    Returns
    -------
    (…) of bool
        False where noise is too large to tell.
    """
    return np.asarray(np.any([
        (noise < constants.END_NOISE * expected)
        & (variance + constants.END_SURE * noise < constants.LITTLE * expected)
        for variance, expected, noise in short_deviations_at_ends(basis, people)], axis=0))


def short_deviations_at_ends(basis: Basis, people: SecondMoments
                             ) -> Iterator[tuple[Array, Array, Array]]:
    """How much people differ, in what is short, in the first and in the last fifth of the range.

    Parameters
    ----------
    basis : Basis
        The r functions.
    people : SecondMoments
        As released, (…, r, r).

    Yields
    ------
    variance, expected, noise : (…)
        The variance of people's curves about their average within this fifth, the same if they
        differed there as much as elsewhere, and the standard deviation of its noise.
    """
    moments, stretch = people.moments, people.stretch
    for first in (0.0, 1.0 - constants.END):
        rows = basis(first + constants.END * _WITHIN)
        rows = rows - rows.mean(axis=0)
        form = stretch[..., :, None] * (rows.T @ rows / len(rows)) * stretch[..., None, :]
        yield (np.einsum("...kl,...kl->...", form, moments),
               np.einsum("...kk,...kk->...", form, moments),
               people.noise * np.sqrt((form**2).sum(axis=(-1, -2))))


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


def lie_near_a_bound(curves: Array, errors: Array, n_people: int, half: float) -> NDArray[np.bool_]:
    """Whether half of a curve or more lies near a bound, for how much people differ.

    Within a tenth of the stated range, and within two standard deviations of people by what was
    released, √n standard errors. A mean can lie there only if nearly all observations do, and then
    those that do not are few and far away.

    Parameters
    ----------
    curves : (…, points)
        Released curves in response units, from the middle of the bounds.
    errors : (…, points)
        Their standard errors.
    n_people : int
        How many people they are of.
    half : float
        Half the distance of the bounds.

    Returns
    -------
    (…) of bool
    """
    distance = half - np.abs(curves)
    near = (distance < constants.NEAR_END * half) & (
        distance < constants.NEAR_IN_SPREADS * np.sqrt(n_people) * errors)
    return np.asarray(near.mean(axis=-1) > constants.ALONG_END)
