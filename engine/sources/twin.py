"""A twin of real curves: simulated from what is publicly stated about them, and nothing else.

Not a registered source, because what it is made of was stated by one visitor. It is given public
facts and public sizes, two types that hold no observation, so that no value of a file can reach it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammainc, gammaincinv, ndtr

from engine.core.arrays import Indices
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, CurveData, Data, DataKind, Design, PublicFacts, Sizes, Truth
from engine.numerics.clipping.normal_readings import normal_density
from engine.numerics.kernels import path_polynomials
from engine.numerics.observation_times import draw_times
from engine.numerics.tables import curves_at_once, horner
from engine.sources import Source, check_sites, dealt

DEFAULT_SPREAD = 0.24  # of observations about the mean curve in simulated data, in half-ranges
GUESSED_SPREAD = 0.12  # the same within ordinary stated bounds, where nobody states it
GUESSED_SPREAD_SKEWED = 0.24  # and of values from 0 on
PEAK = 0.3  # height of peaks above the middle of the range, in half-ranges
_OF_PEOPLE = 0.8  # of that variance; the rest is error of single observations
_SMOOTHNESS, _LENGTH = 4.0, 0.8  # of the Matérn law of people's deviations
_OF_BOUND = 1 / 6  # the average of values from 0 on, as a share of their upper bound
_SWING = 2.0  # how far their mean curve rises and falls about it, over that of other curves
_LEVELS = (np.arange(400) + 0.5) / 400  # shares of people, for the mean within the bounds
_MOST_PEOPLE = 5000  # drawn of larger studies, where these count as all
_FREE = 20  # of them at each site who are drawn freely, at least
_PAIR = 2  # people whose deviations cancel


class SimulatedTwin(ABC):
    """Data simulated from stated facts, of which the truth of a task is known."""

    @property
    def n_drawn(self) -> int:
        """Observations that are drawn of each data set; 0 for those of everybody."""
        return 0

    def of_few(self) -> SimulatedTwin:
        """The same, of whom few may be drawn who count as all: for averages over all people."""
        return self

    @abstractmethod
    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[Data, Array]:
        """Data sets of equal sizes, and the truth of each: (repeats, [functions,] GRID_SIZE).

        In the unit of the values, on the drawing grid; of a number (repeats, 1).
        """

    def with_peaks(self, count: int) -> tuple[SimulatedTwin, Array] | None:
        """The same with so many equal peaks, and their places on [0, 1]; None where there
        are none.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class Twin(Source[CurveData], SimulatedTwin):
    """Y_ij = μ(t_ij) + U_i(t_ij) + ξ_ij, held within the stated bounds; see `Twin.of`.

    μ is a curve of typical shape inside the bounds, or one with `peaks` equal peaks where some are
    asked for, U a smooth Gaussian process and ξ Gaussian; the standard deviation of U + ξ is
    `spread`, in response units. Every curve has `n_observations`, at times of the stated design.
    The truth is the mean of the values within the bounds.

    Values from 0 on, such as counts, power or activity, are skewed: Y_ij = μ(t_ij) L_i G_ij with
    levels L of people and single observations G of one gamma law with mean 1.

    *Few for all.* Methods that average over all people of a site, with noise for their public
    number n, need no n people to show how far a release is off. With `is_of_few` about 5000 are
    drawn of a larger study, m at a site of n: m²/n are drawn freely, and the others come in
    pairs of opposite deviations at the same times. A function of deviations that is odd, as a
    clipped deviation is, cancels in pairs, so that the variance of its average is (m²/n) S/m² = S/n
    for people of variance S: that of n people, while noise, clipping and bias are those of n as
    well. Neglected are what bounds leave of pairs, and that released spreads and second moments are
    known as well as from m people. Skewed people have no mirror images: all of them are drawn.
    """

    key = "twin"
    label = "Twin from stated facts"
    tasks = frozenset({MEAN_FUNCTION.key})
    is_random: ClassVar[bool] = True

    stated: PublicFacts
    people: tuple[int, ...]  # on each site
    n_observations: int
    spread: float = field(default=math.nan)
    peaks: int = 0
    is_of_few: bool = False  # whether few people are drawn, who count as all
    typical: tuple[float, ...] = ()  # on the drawing grid: μ in place of an invented shape

    def __post_init__(self) -> None:
        super().__post_init__()
        if math.isnan(self.spread):
            object.__setattr__(self, "spread", guessed_spread(self.stated))
        if min(*self.people, self.n_observations) < 1:
            raise InputError(
                "A twin needs at least one observation of somebody at every site.", field="sizes"
            )
        if not 0 < self.spread <= self.stated.value_half_width:
            raise InputError(
                "The guessed standard deviation must be above 0 and at most half the stated range, "
                f"{self.stated.value_half_width:g}; got {self.spread:g}.",
                field="spread",
            )

    @classmethod
    def of(cls, facts: PublicFacts, sizes: Sizes, spread: float | None = None) -> Twin:
        """Make the twin of curves from public facts and sizes; observations agree on average.

        A guessed spread is that of observations about the mean curve, in response units.
        """
        stated: dict[str, Any] = {
            "stated": facts,
            "people": sizes.n_curves_per_server,
            "n_observations": max(1, round(sizes.n_observations_per_curve)),
            "spread": math.nan if spread is None else spread,
        }
        return cls(**stated)

    @property
    def facts(self) -> PublicFacts:
        """Facts as stated; a twin of uploaded curves is still the matter of who stated them."""
        stated, m = self.stated, self.n_observations
        of_visitor = stated.kind in (DataKind.UPLOAD, DataKind.TWIN)
        return replace(
            stated,
            kind=DataKind.TWIN if of_visitor else DataKind.SIMULATED,
            guessed_spread=self.spread,
            name=_named(stated),
            covariates=(),
            design=_fitting(stated.design, m),
            observations_per_curve=m if stated.observations_per_curve else 0,
        )

    @property
    def sizes(self) -> Sizes:
        m = self.n_observations
        return Sizes(self.people, sum(self.people) * m, m)

    @property
    def n_drawn(self) -> int:
        return self.n_observations * sum(free + paired for free, paired in self._drawn)

    def of_few(self) -> Twin:
        return self if self.is_skewed else replace(self, is_of_few=True)

    @cached_property
    def truth(self) -> Truth:
        return Truth.of(self._mean_within_bounds)

    def resized(self, people: int, readings: int, sites: int) -> Twin:
        """The same twin with other sizes; see `Source.resized`."""
        check_sites(sites, people * sites)
        return replace(self, people=dealt(people * sites, sites), n_observations=readings)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets of equal sizes; times, people and errors each from one block of draws."""
        facts, m, drawn = self.facts, self.n_observations, self._drawn
        sampled = self._skewed if self.is_skewed else self._symmetric
        times, values = sampled(np.tile(drawn, (n_repeats, 1)), rng)
        np.clip(values, facts.value_low, facts.value_high, out=values)
        people = [free + paired for free, paired in drawn]
        return CurveData(
            times=times.reshape(n_repeats, -1),
            values=values.reshape(n_repeats, -1),
            counts=np.full(sum(people), m),
            server=np.repeat(np.arange(len(people)), people),
            facts=facts,
            truth=self.truth,
            counts_as=None if tuple(people) == self.people else self.sizes,
        )

    @property
    def is_skewed(self) -> bool:
        return are_skewed(self.stated)

    @property
    def _drawn(self) -> list[tuple[int, int]]:
        """People of each site who are drawn freely, and in pairs."""
        n = sum(self.people)
        if not self.is_of_few or n <= _MOST_PEOPLE:
            return [(people, 0) for people in self.people]
        share = _MOST_PEOPLE / n
        return [_free_and_paired(people, share * people) for people in self.people]

    @property
    def groups(self) -> Indices:
        """The group of each person who is drawn, (people,): those of one have the same times."""
        sizes = _group_sizes(np.array(self._drawn))
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def _variance(self) -> float:
        """Variance v of both gamma laws: (1 + v)² = 1 + (spread/average)²."""
        average = _OF_BOUND * self.stated.value_high
        return math.sqrt(1 + (self.spread / average) ** 2) - 1

    def _times(self, people: int, rng: np.random.Generator) -> Array:
        return np.sort(draw_times(self.facts.design, people, self.n_observations, rng), axis=1)

    def _skewed(self, drawn: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """Times and values, (people, observations) each."""
        times, v = self._times(int(drawn.sum()), rng), self._variance
        levels = rng.standard_gamma(1 / v, (len(times), 1))
        return times, self.mean(times) * (v * levels) * (v * rng.standard_gamma(1 / v, times.shape))

    def _symmetric(self, drawn: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """Times and values, (people, observations) each."""
        sizes = _group_sizes(drawn)
        times = self._times(len(sizes), rng)
        polynomials = path_polynomials(_SMOOTHNESS, _LENGTH, 1.0)
        weights = rng.standard_normal((len(times), polynomials.shape[1]))
        deviations = math.sqrt(1 - _OF_PEOPLE) * self.spread * rng.standard_normal(times.shape)
        step = curves_at_once(times.shape[1])
        for first in range(0, len(times), step):
            block = slice(first, first + step)
            paths = horner(polynomials @ weights[block].T, 2 * times[block].T - 1).T
            deviations[block] += math.sqrt(_OF_PEOPLE) * self.spread * paths
        mean = self.mean(times)
        if (sizes == 1).all():
            return times, mean + deviations
        times, mean, deviations = (
            np.repeat(each, sizes, axis=0) for each in (times, mean, deviations)
        )
        deviations[np.cumsum(sizes)[sizes == _PAIR] - 1] *= -1
        return times, mean + deviations

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        mean = self.truth.grid_values
        return self.draw(n_repeats, rng), np.broadcast_to(mean, (n_repeats, *mean.shape))

    def with_peaks(self, count: int) -> tuple[Twin, Array]:
        return replace(self, peaks=count), (np.arange(count) + 0.5) / count

    def mean(self, times: Array) -> Array:
        """Draw a rise with bends, or equal peaks with equal valleys between, inside the bounds.

        The rise never falls; where the curve is stated to end as it began, it comes back down.

        Of readings before bounds cut anything off; where they are not skewed it is their median.
        """
        if self.typical:
            return np.asarray(np.interp(times, drawing_grid(), self.typical))
        shape = bends(self.stated, times)
        if self.peaks:
            shape = -PEAK * np.cos(2 * np.pi * self.peaks * times)
        if self.is_skewed:
            return np.asarray(_OF_BOUND * self.stated.value_high * (1 + _SWING * shape))
        return np.asarray(self.stated.value_middle + self.stated.value_half_width * shape)

    def _mean_within_bounds(self, times: Array) -> Array:
        """E min(max(Y, a), b) for normal Y; of skewed values E min(Y, b), level by level."""
        if self.is_skewed:
            k = 1 / self._variance
            means = self.mean(times)[..., None] * gammaincinv(k, _LEVELS) / k
            most = k * self.stated.value_high / means
            inside = means * gammainc(k + 1, most)
            return np.asarray(
                (inside + self.stated.value_high * (1 - gammainc(k, most))).mean(axis=-1)
            )
        mean, sd = self.mean(times), self.spread
        a, b = self.stated.value_low, self.stated.value_high
        low, high = (a - mean) / sd, (b - mean) / sd
        inside = ndtr(high) - ndtr(low)
        return np.asarray(
            a * ndtr(low)
            + b * ndtr(-high)
            + mean * inside
            - sd * (normal_density(high) - normal_density(low))
        )


def _free_and_paired(people: int, most: float) -> tuple[int, int]:
    """Return how many of a site are drawn freely, m²/n, and how many in pairs, the rest of m.

    Both are multiples of `_FREE`, and the first is above 0: very large sites have a few more
    people, and very small ones are drawn whole.
    """
    free = max(1, int(most**2 / people / _FREE))
    together = round(math.sqrt(free * people / _FREE))
    if together * _FREE >= people:
        return people, 0
    return free * _FREE, (together - free) * _FREE


def _group_sizes(drawn: Indices) -> Indices:
    """Count the people of each group, one who is free or a pair."""
    kinds = np.tile([1, _PAIR], len(drawn))
    return np.repeat(kinds, drawn.ravel() // kinds)


def studied(source: Source[CurveData]) -> Source[CurveData]:
    """Return curves whose truth is known: these if they are simulated, else their twin."""
    return source if source.is_random else Twin.of(source.facts, source.sizes)


def bends(facts: PublicFacts, times: Array) -> Array:
    """A rise with bends about 0, in half-ranges; down again if the curve ends where it began."""
    if facts.periodic:
        return np.asarray(-0.3 * np.cos(2 * np.pi * times) + 0.12 * np.sin(4 * np.pi * times))
    return np.asarray(0.3 * (2 * times - 1) + 0.06 * np.sin(3 * np.pi * times))


def are_skewed(facts: PublicFacts) -> bool:
    """True if values begin at 0, as counts, power and activity do: most are then far below."""
    return facts.value_low == 0


def guessed_spread(facts: PublicFacts) -> float:
    """Return how far most observations are from the mean curve, as stated or as proposed.

    Proposed are .12 half-ranges, within a factor of two of simulated heights, glucose and blood
    pressure in their usual bounds; .24 of values from 0 on, between those of electricity (.14) and
    activity (.28).
    """
    proposed = GUESSED_SPREAD_SKEWED if are_skewed(facts) else GUESSED_SPREAD
    return facts.guessed_spread or facts.reading_sd or proposed * facts.value_half_width


def _fitting(design: Design, observations: int) -> Design:
    """The design for so many observations: more common times, or visits nearer to each other."""
    if len(design.times) in range(1, observations):
        return Design.common(np.linspace(design.times[0], design.times[-1], observations).tolist())
    return replace(design, gap=min(design.gap, 1 / (observations + 1)))


def _named(facts: PublicFacts) -> str:
    if facts.name.startswith("Twin of "):
        return facts.name
    return f"Twin of {facts.name[:1].lower()}{facts.name[1:]}"
