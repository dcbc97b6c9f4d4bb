"""What a release would not show: where the power of its checks is below nine in ten.

Some checks look in a release for what its band does not count, such as a narrow peak
(`engine.mechanisms.families.adaptive.band_checks`). With little budget they tell of it rarely, and
their silence says nothing. For each of these checks there is a rule here whether it would tell of
the least that matters in nine releases of ten, given the released noise and stated facts. Where it
would not, and did not, the release says so, in one sentence for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import SecondMoments
from engine.core.grids import read_only
from engine.core.types import Array, Caution
from engine.mechanisms.families.adaptive import band_checks, constants
from engine.numerics.bases import Basis

NARROW_FEATURES, EMPTY_ENDS, LONG_TAILS = "narrow features", "empty ends", "long tails"
_NODES, _PLACES = (np.arange(4000) + 0.5) / 4000, np.linspace(0.15, 0.85, 29)


@dataclass(frozen=True)
class Unshown:
    """One thing that releases would not show.

    Parameters
    ----------
    what : str
        `NARROW_FEATURES`, `EMPTY_ENDS` or `LONG_TAILS`.
    names : sequence of str
        What it is called in the sentence, for each plan.
    applies : (plans, repeats, draws) array of bool
        The releases that would not, and did not.
    """

    what: str
    names: Sequence[str]
    applies: NDArray[np.bool_]


def cautions(unshown: Sequence[Unshown]) -> Iterator[Caution]:
    """One sentence for each release that names all it would not show.

    Parameters
    ----------
    unshown : sequence of Unshown
        At least one.

    Yields
    ------
    Caution
        One for each sentence.
    """
    releases: dict[tuple[str, tuple[str, ...]], NDArray[np.bool_]] = {}
    for named in product((True, False), repeat=len(unshown)):
        those = [each for each, is_named in zip(unshown, named, strict=True) if is_named]
        exactly = np.all([each.applies == is_named
                          for each, is_named in zip(unshown, named, strict=True)], axis=0)
        for k, of_plan in enumerate(exactly):
            if those and of_plan.any():
                text = _sentence([each.names[k] for each in those])
                applies = releases.setdefault((text, tuple(each.what for each in those)),
                                              np.zeros_like(exactly))
                applies[k] |= of_plan
    for (text, what), applies in releases.items():
        yield Caution(text, applies, low_power_for=what)


def _sentence(names: Sequence[str]) -> str:
    listed = "; or ".join(filter(None, ["; ".join(names[:-1]), names[-1]]))
    return (f"This release could not reliably show {listed}. If there are any, the truth can lie "
            "outside the band.")


def narrow_features(size: int) -> str:
    """What few functions, or functions with much noise, smooth away.

    Parameters
    ----------
    size : int
        How many functions are kept.
    """
    features = "steps, peaks and steep ends"
    if size <= 2:
        return features
    return f"{features} within less than {100 / (size - 1):.0f} % of the time range"


def hides_narrow_features(basis: Basis, covariance: Array, half_width: Array, half: float
                          ) -> NDArray[np.bool_]:
    """Whether one of the narrow features of `constants` would be told of too rarely.

    At each place it is asked whether a feature would be told of without noise, by as much more as
    noise takes away in one release of ten. There are places where few coefficients show a step.

    Parameters
    ----------
    basis : Basis
        The r functions.
    covariance : (…, r, r)
        Of released coefficients.
    half_width : (…)
        Of a pointwise band, averaged over the time range.
    half : float
        Half the distance of the bounds.

    Returns
    -------
    (…) of bool
    """
    check = (basis, 2 * half * _features(basis), covariance[..., None, :, :], half_width[..., None])
    told = (band_checks.have_finer_detail(*check, misfit=constants.MISFIT_FOR_POWER)
            | band_checks.have_steep_ends(*check, still_moving=constants.MOVING_FOR_POWER))
    steps, peaks, ends = np.split(told, [len(_PLACES), 2 * len(_PLACES)], axis=-1)
    return np.broadcast_to(np.asarray(
        (steps.mean(axis=-1) < constants.POWER) | (peaks.mean(axis=-1) < constants.POWER)
        | ~ends.all(axis=-1)), half_width.shape)


@lru_cache(maxsize=64)
def _features(basis: Basis) -> Array:
    """Coefficients of features, as shares of the stated range: (features, r).

    Steps at all places, then peaks there, then falls at both ends.
    """
    after = _NODES - _PLACES[:, None]  # (places, nodes)
    curves = np.concatenate([after > 0, np.exp(-((after / constants.NARROW_PEAK) ** 2)),
                             np.exp(-np.stack([_NODES, 1 - _NODES]) / constants.STEEP_END)])
    return read_only(constants.FEATURE * curves @ basis(_NODES) / len(_NODES))


def hides_empty_ends(basis: Basis, people: SecondMoments) -> NDArray[np.bool_]:
    """Whether noise is too large to tell of an end of the range without observations.

    Parameters
    ----------
    basis : Basis
        The r functions.
    people : SecondMoments
        As released, (…, r, r).

    Returns
    -------
    (…) of bool
    """
    return np.asarray(np.any([
        noise > constants.END_NOISE_FOR_POWER * expected for _, expected, noise in
        band_checks.short_deviations_at_ends(basis, people)], axis=0))
