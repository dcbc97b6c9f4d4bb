"""Differences between people's curves, from a release, and prediction for a new person.

The second moments M of a release of the adaptive mean say how deviations go together; see
`numerics.curve_covariances` for Σ, the covariance of people's curves. What is not known of Σ is in
draws of a fixed public sample. A new person is taken to be drawn like those in the data, from a
normal law: nothing here knows of skewness, of groups, or of detail beyond a few polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from engine.answers.reply import Interval
from engine.core.bands import LEVEL, SecondMoments, outermost, public_normals, standard_errors
from engine.core.errors import InputError
from engine.core.types import Array, Design, PublicFacts, TimeLaw
from engine.numerics.bases import Basis
from engine.numerics.curve_covariances import (
    PeopleSpread,
    Readings,
    SpreadMaps,
    moments_drawn,
    people_spread,
    spread_maps,
)
from engine.numerics.legendre import polynomial_rows
from engine.numerics.symmetric_matrices import matrix_root

if TYPE_CHECKING:
    from engine.answers.released_curve import ReleasedCurve

PERSON_FROM, NUMBERS_FROM = 35.0, 150.0  # effective sizes N
_FUNCTIONS, _OF_MANY = 4, 6  # q, polynomials of people's curves; of many below `NUMBERS_FROM`
_SAMPLE = 20  # curves of new people for each draw of Σ
_STEPS, _EXACT = 60, 1e-12  # of Newton's method, and its accuracy as a probability
_NOT_RELEASED = (
    "This release does not tell how people differ: that needs the adaptive mean with "
    "a band, δ above 0 and stated observation times."
)
NORMAL_PEOPLE = (
    "This holds for people who vary about the mean as by a normal law, in a few basis "
    "functions. It is about one new person drawn like those in the data, not a range "
    "of what is healthy or right."
)


@dataclass(frozen=True, eq=False)
class ReleasedSpread:
    """Second moments of a release with the public facts that are needed to read them."""

    moments: Array  # (r, r): M, in units of the shape
    noise: float
    stretch: Array  # (r,): D, in response units
    privacy: Array  # (r,): V, variance of the centre's privacy noise, in squared response units
    observation_counts: Readings  # observations of a curve, and how many people have so many
    design: Design
    # standard deviation of observations about their curves, where it is stated; 0 elsewhere
    reading_sd: float = 0.0
    effective_size: float = math.inf  # N = nμ

    def __post_init__(self) -> None:
        size = len(self.stretch)
        fits = self.moments.shape == (size, size) and self.privacy.shape == (size,)
        is_finite = all(
            np.isfinite(each).all()
            for each in (self.moments, self.noise, self.stretch, self.privacy, self.reading_sd)
        )
        is_positive = (
            (self.stretch > 0).all()
            and (self.privacy >= 0).all()
            and self.noise >= 0
            and self.reading_sd >= 0
        )
        if not (fits and is_finite and is_positive and self.n_people > 0):
            raise InputError(
                "Second moments of the card cannot be what was released.", field="second_moments"
            )

    @classmethod
    def of(
        cls, people: SecondMoments, size: int, facts: PublicFacts, effective_size: float
    ) -> ReleasedSpread | None:
        """The second moments of a release; None if not released, or if times are not stated."""
        moments = people.moments[:size, :size]
        if not (facts.design.is_known and np.isfinite(moments).all()):
            return None
        return cls(
            ten_digits(moments),
            float(ten_digits(people.noise)),
            ten_digits(people.stretch[:size]),
            ten_digits(people.privacy[:size]),
            people.readings,
            facts.design,
            facts.reading_sd,
            effective_size,
        )

    @property
    def n_functions(self) -> int:
        """q, from public numbers alone: choosing it by the fit would hide what it leaves out.

        At T common times Σ of q = T functions holds all that observations tell, errors included, so
        that σ² is not told: q is at most 1 + T/2, and below T.
        """
        functions = _OF_MANY if self.effective_size >= NUMBERS_FROM else _FUNCTIONS
        if self.design.law is TimeLaw.COMMON:
            n_times = len(self.design.times)
            functions = min(functions, 1 + n_times // 2, max(n_times - 1, 1))
        return min(functions, len(self.stretch))

    @property
    def n_people(self) -> int:
        """n, public."""
        return sum(count for _, count in self.observation_counts)

    @cached_property
    def estimate(self) -> PeopleSpread:
        """Σ and σ² as the release has them."""
        return self._read(self.moments)

    @cached_property
    def drawn(self) -> PeopleSpread:
        """Σ and σ² that could stand in their place, by a fixed public sample: (draws, …)."""
        return self._read(moments_drawn(self.moments, self.noise, self.n_people))

    @property
    def maps(self) -> SpreadMaps:
        """The public maps from Σ and σ² to the second moments."""
        basis = Basis(len(self.stretch), family="cosine")
        return spread_maps(basis, self.observation_counts, self.design, self.n_functions)

    @property
    def stated_error(self) -> float | None:
        """σ², where it is stated."""
        return self.reading_sd**2 if self.reading_sd else None

    def _read(self, moments: Array) -> PeopleSpread:
        return people_spread(moments, self.stretch, self.maps, self.stated_error)


def refusal_of_spread(curve: ReleasedCurve, min_effective_size: float) -> str:
    """Say why nothing is told of how people differ below this effective size N, or ""."""
    if curve.refusal:
        return curve.refusal
    if curve.spread is None or curve.is_pure or curve.family != "cosine":
        return _NOT_RELEASED
    if curve.effective_size < min_effective_size:
        return "Too few people for this budget to say how people differ."
    return ""


@dataclass(frozen=True, eq=False)
class NextPerson:
    """Prediction band for a new person, with 95 %."""

    # low, high, each (times,): at each time on its own, in response units
    low: Array
    high: Array
    widening: float  # times the half-width, for whole curves of 95 of 100 people

    def limits(self, index: int) -> Interval:
        """Return the limits at one of the times."""
        return float(self.low[index]), float(self.high[index])

    @property
    def whole(self) -> tuple[Array, Array]:
        """Limits for whole curves: (times,) each."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return middle - self.widening * half, middle + self.widening * half


def next_person(
    curve: ReleasedCurve, times: Sequence[float] | Array, of_observation: bool = False
) -> NextPerson:
    """Predict the curve, or one observation, of a new person at times on [0, 1], with a band.

    With v_b = p'Σ_bp + se² (and σ_b² for an observation) of the draws b, the half-width h solves
    mean_b 2Φ(−h/√v_b) = 5 %.
    """
    assert curve.spread is not None
    spread, at = curve.spread.drawn, np.asarray(times, dtype=float)
    functions = polynomial_rows(spread.covariance.shape[-1], at)
    of_people = np.einsum("tj,bjk,tk->bt", functions, spread.covariance, functions)
    if of_observation:
        of_people += spread.error[:, None]
    middles, half_widths = [], []
    for rows in curve.row_maps:
        at_times = rows(at, 0)
        error = standard_errors(curve.covariance, at_times)
        half = _half_width(of_people + error**2)
        middles.append(at_times @ curve.centre + curve.public(at))
        half_widths.append(half)
    low, high = outermost(np.array(middles), np.array(half_widths), curve.outwards)
    return NextPerson(
        low, high, _widening(spread.covariance, np.max(half_widths, axis=0), functions)
    )


def _half_width(variances: Array) -> Array:
    """Solve mean 2Φ(−h/√v) = 5 % for h, over the draws (draws, times): (times,)."""
    deviations = np.sqrt(np.maximum(variances, 1e-300))
    half = deviations.min(axis=0)  # left of the solution: Newton climbs, as the mean is convex
    for _ in range(_STEPS):
        ratio = half / deviations
        excess = (2 * ndtr(-ratio)).mean(axis=0) - (1 - LEVEL)
        slope = (2 * np.exp(-(ratio**2) / 2) / (math.sqrt(2 * math.pi) * deviations)).mean(axis=0)
        half = half + excess / slope
        if (np.abs(excess) < _EXACT).all():
            break
    return np.asarray(half)


def _widening(covariances: Array, half: Array, functions: Array) -> float:
    """k: the 95 % quantile of the largest |p'Σ_b^½ Z|/h over the times, at least 1."""
    draws, size = covariances.shape[:2]
    normals = public_normals(size * draws, _SAMPLE).reshape(draws, size, _SAMPLE)
    deviations = functions @ (matrix_root(covariances) @ normals)  # (draws, times, sample)
    largest = (np.abs(deviations) / half[:, None]).max(axis=1)
    return max(1.0, float(np.quantile(largest, LEVEL)))


def standard_deviation(spread: PeopleSpread, times: Array) -> Array:
    """Compute σ(t) = √(p'Σp), how far people's curves spread at times on [0, 1]: (…, times)."""
    rows = polynomial_rows(spread.covariance.shape[-1], times)
    return np.asarray(np.sqrt(np.einsum("tj,...jk,tk->...t", rows, spread.covariance, rows)))


def ten_digits(values: Array) -> Array:
    """Numbers rounded to ten significant digits.

    Examples
    --------
    >>> float(ten_digits(np.array(1 / 3)))
    0.3333333333
    """
    rounded = [float(f"{value:.10g}") for value in np.ravel(values)]
    return np.array(rounded).reshape(np.shape(values))
