"""Simulated electricity that households use over a day: a level each, a morning, an evening."""

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

_MAX = 6.0  # kW, declared
_ALWAYS = 0.55  # share of a day's electricity that is used evenly
_PEAKS = ((0.11, 7.8, 1.3), (0.34, 19.0, 3.0))  # share, hour, spread in hours
_CLOCKS, _LEVELS = 40, 40  # Gauss–Hermite nodes

_FACTS = PublicFacts(
    name="Electricity over a day, simulated",
    person="household",
    people="households",
    curve="electricity",
    value_name="Power",
    value_unit="kW",
    value_low=0.0,
    value_high=_MAX,
    time_name="Hour of the day",
    time_unit="h",
    time_low=0.0,
    time_high=DAY,
    periodic=True,
    origin="a household connection of 6 kVA, which delivers no more",
)


@sources.register
@dataclass(frozen=True, kw_only=True)
class ElectricityDays(HumanCurves):
    """Y_ij = min(L_i r(t_ij − C_i) G_ij, 6): what a household draws from the grid, in kW.

    L_i, the mean power of a household, is log-normal; C_i, by which its day is earlier or later
    than others', is normal; G_ij, what is switched on at the moment, is a gamma variable with mean
    1. r, with mean 1 over a day, is a constant and two peaks, in the morning and in the evening.

    The truth is the mean of what is observed. Given level and clock, the mean of a gamma variable
    cut off at 6 kW is μ P(k + 1, 6k/μ) + 6 (1 − P(k, 6k/μ)), with its mean μ, its shape k and the
    regularised incomplete gamma function P; both are averaged over by Gauss–Hermite quadrature.

    The figures are rounded ones of the literature: British households use 2,700 kWh a year in the
    median, with quartiles of 1,800 and 4,100 (Ofgem 2023, typical domestic consumption values),
    so 0.37 kW in the mean with a coefficient of variation of 0.67. Their load is smallest about
    4:00, peaks about 8:00 and most between 17:00 and 20:00 (Elexon, load profile class 1); how much
    of it belongs to either peak is an assumption.
    """

    key = "electricity_days"
    label = "Electricity over a day, simulated"
    order = 4
    credit = (
        "The shape follows Ofgem 2023; Elexon, load profile class 1. No real household’s "
        "data are used."
    )

    n_curves: int = people(400, "Households")
    n_observations_per_curve: int = observations(24)
    times: str = observation_times("common")
    mean_power: float = param(
        0.37, "Mean power", "Mean over households and the day.", low=0.05, high=3.0, unit="kW"
    )
    level_spread: float = param(
        0.67,
        "Spread of households",
        "Standard deviation of a household’s mean power as a share of its mean.",
        low=0.0,
        high=1.5,
    )
    clock_sd: float = param(
        1.0,
        "Spread of clocks",
        "Standard deviation of how much earlier or later a household’s "
        "day is. Larger: the mean curve is flatter.",
        low=0.0,
        high=4.0,
        unit="h",
    )
    moment_spread: float = param(
        0.6,
        "Spread of moments",
        "Standard deviation of the power at a moment as a share of what "
        "is typical of the household at that hour.",
        low=0.05,
        high=1.5,
    )

    @property
    def facts(self) -> PublicFacts:
        return replace(_FACTS, design=self.design, credit=self.credit)

    @property
    def truth(self) -> Truth:
        return _truth(self.mean_power, self.level_spread, self.clock_sd, self.moment_spread)

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Power of new households in kW; see `SitedCurves.values_at`.

        Households and moments each come from one block of draws.
        """
        level, clock = rng.standard_normal((2, len(times), 1))
        values = load_shape(times * DAY - self.clock_sd * clock)
        values *= self.mean_power * _log_normal(level, self.level_spread)
        shape = self.moment_spread**-2
        values *= rng.standard_gamma(shape, times.shape)
        values /= shape
        return np.minimum(values, _MAX, out=values)


def load_shape(hours: Array) -> Array:
    """r: the power at an hour by a household's own clock, as a multiple of the day's mean."""
    return DAY * daily_density(hours, _PEAKS, _ALWAYS)


def _log_normal(z: Array, variation: float) -> Array:
    """Log-normal numbers of mean 1 and this coefficient of variation, from standard normal ones."""
    squared = np.log1p(variation**2)
    return np.asarray(np.exp(np.sqrt(squared) * z - squared / 2))


@lru_cache
def _truth(mean_power: float, level_spread: float, clock_sd: float, moment_spread: float) -> Truth:
    (clocks, p), (levels, q) = (np.polynomial.hermite_e.hermegauss(n) for n in (_CLOCKS, _LEVELS))
    p, q, shape = p / p.sum(), q / q.sum(), moment_spread**-2
    powers = mean_power * _log_normal(levels, level_spread)

    def observed_mean(t: Array) -> Array:
        total = np.zeros(len(t))
        for clock, weight in zip(clocks, p, strict=True):
            means = load_shape(t * DAY - clock_sd * clock)[:, None] * powers  # (points, levels)
            rate = _MAX * shape / means
            limited = means * gammainc(shape + 1, rate) + _MAX * (1 - gammainc(shape, rate))
            total += weight * (limited @ q)
        return total

    return Truth.of(observed_mean)
