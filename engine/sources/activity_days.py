"""Simulated minutes of activity in each hour of a day: many zeros, and a rhythm of one's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import gammainc

from engine.core.registry import param
from engine.core.types import Array, PublicFacts, Truth
from engine.sources import sources
from engine.sources.human_curves import DAY, HumanCurves, daily_density
from engine.sources.sited_curves import observation_times, observations, people

_HOUR = 60.0  # minutes
_PARTS = ((0.25, 8.0, 1.5), (0.4, 13.0, 2.5), (0.35, 18.0, 2.0))  # share, hour, spread in hours
_CLOCKS = 40  # Gauss–Hermite nodes
_MAX_BOUTS = 200  # in an hour; more than fill it, even of two minutes

_FACTS = PublicFacts(
    name="Activity over a day, simulated",
    person="person",
    people="people",
    curve="activity",
    value_name="Active time",
    value_unit="min/h",
    value_low=0.0,
    value_high=_HOUR,
    time_name="Hour of the day",
    time_unit="h",
    time_low=0.0,
    time_high=DAY,
    periodic=True,
    origin="an hour has 60 minutes",
)


@sources.register
@dataclass(frozen=True, kw_only=True)
class ActivityDays(HumanCurves):
    """Y_ij = min(Σ_{k ≤ N_ij} D_ijk, 60): bouts of activity in the hour about t_ij, mostly none.

    N_ij is a Poisson number of bouts with mean L_i f(t_ij − C_i) / b, and their lengths D are
    exponential with mean b minutes. L_i, the active minutes of a person's day, follow a gamma law;
    C_i, by which the own clock differs from the common one, a normal law; f is a rhythm with three
    busy times, about 8:00, 13:00 and 18:00. Most observations are zero, at night nearly all.

    The truth is the mean of what is observed. Given the clock, N is negative binomial, and of k
    bouts the mean cut off at 60 minutes is kb P(k + 1, 60/b) + 60 (1 − P(k, 60/b)) with the
    regularised incomplete gamma function P; the clock is averaged over by Gauss–Hermite quadrature.

    The figures are rounded ones of the literature: adults take 4,000 to 18,000 steps a day and
    about 100 a minute when they walk (Tudor-Locke et al. 2011, Int J Behav Nutr Phys Act 8:79), so
    40 to 180 minutes a day, and most minutes of the day have none (Tudor-Locke et al. 2011, Prev
    Med 53, 178–181). The three busy times are an assumption.
    """

    key = "activity_days"
    label = "Activity over a day, simulated"
    order = 3
    credit = "The shape follows Tudor-Locke et al. 2011, twice. No real person’s data are used."

    n_curves: int = people(1000)
    n_observations_per_curve: int = observations(24)
    times: str = observation_times("common")
    daily_minutes: float = param(
        90.0, "Active minutes a day", "Mean over people.", low=5.0, high=600.0, unit="min"
    )
    person_spread: float = param(
        0.5,
        "Spread of people",
        "Standard deviation of a person’s active minutes a day, as a share of their mean.",
        low=0.05,
        high=1.5,
    )
    clock_sd: float = param(
        1.0,
        "Spread of clocks",
        "Standard deviation of how much earlier or later a person’s day "
        "is. Larger: the mean curve is flatter.",
        low=0.0,
        high=4.0,
        unit="h",
    )
    bout_minutes: float = param(
        8.0,
        "Length of a bout",
        "Mean minutes of activity without a stop. Longer: more zeros.",
        low=2.0,
        high=60.0,
        unit="min",
    )

    @property
    def facts(self) -> PublicFacts:
        return replace(_FACTS, design=self.design, credit=self.credit)

    @property
    def truth(self) -> Truth:
        return _truth(self.daily_minutes, self.person_spread, self.clock_sd, self.bout_minutes)

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Active minutes of new people; see `SitedCurves.values_at`.

        People, numbers of bouts and lengths of them each come from one block of draws.
        """
        shape = self.person_spread**-2
        minutes = rng.standard_gamma(shape, (len(times), 1)) * (self.daily_minutes / shape)
        clock = self.clock_sd * rng.standard_normal((len(times), 1))
        bouts = rng.poisson(minutes / self.bout_minutes * rhythm(times * DAY - clock))
        values = np.zeros(times.shape)
        active = bouts > 0
        values[active] = rng.standard_gamma(bouts[active]) * self.bout_minutes
        return np.minimum(values, _HOUR, out=values)


def rhythm(hours: Array) -> Array:
    """Evaluate f, the share of a day's activity in an hour, by a person's own clock; mean 1/24."""
    return daily_density(hours, _PARTS)


@lru_cache
def _truth(daily: float, spread: float, clock_sd: float, bout: float) -> Truth:
    clocks, weights = np.polynomial.hermite_e.hermegauss(_CLOCKS)
    from scipy.stats import nbinom  # on first use: it takes a moment

    shape, counts = spread**-2, np.arange(_MAX_BOUTS)
    limited = counts * bout * gammainc(counts + 1, _HOUR / bout) + _HOUR * np.where(
        counts > 0, 1 - gammainc(np.maximum(counts, 1), _HOUR / bout), 0.0
    )

    def mean_minutes(t: Array) -> Array:
        mean_bouts = daily / bout * rhythm(t[:, None] * DAY - clock_sd * clocks)
        chances = nbinom.pmf(counts, shape, (shape / (shape + mean_bouts))[..., None])
        full = _HOUR * (1 - chances.sum(axis=-1))  # of more bouts than were counted
        return np.asarray((chances @ limited + full) @ weights / weights.sum())

    return Truth.of(mean_minutes)
