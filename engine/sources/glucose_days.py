"""Simulated glucose over a day: a level of one's own, and a rise after each meal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import e, log
from typing import Any

import numpy as np

from engine.core.registry import param
from engine.core.types import Array, PublicFacts, Truth
from engine.core.units import GLUCOSE
from engine.numerics.clipping.normal_readings import cut_off, excess
from engine.sources import sources
from engine.sources.human_curves import DAY, HumanCurves

_MEALS = ((7.5, 1.0), (12.5, 0.7), (19.0, 0.8))  # usual hour, and rise as a share of breakfast's
_LOW, _HIGH = 2.0, 25.0  # mmol/L, declared
_SHIFTS = np.arange(-1, 5) * DAY  # days from which a meal can still be seen
_WITNESSES = 4000  # fixed simulated patients, of whom follows what the bounds cut off

_FACTS = PublicFacts(
    person="patient",
    people="patients",
    curve="glucose",
    value_name="Glucose",
    time_name="Hour of the day",
    time_unit="h",
    time_low=0.0,
    time_high=DAY,
    periodic=True,
    origin="what sensors under the skin can show, 2.2 to 22.2 mmol/L (40 to 400 mg/dL), widened",
)


@sources.register
@dataclass(frozen=True, kw_only=True)
class GlucoseDays(HumanCurves):
    """Y_ij = B_i + Σ_k A_ik r(t_ij − T_ik) + ξ_ij: level, three meals, and error, within bounds.

    B_i, a patient's level between meals, and the rises A_ik after breakfast, lunch and dinner are
    log-normal; the hours T_ik at which a patient eats are normal about 7:30, 12:30 and 19:00. After
    s hours a rise is r(s) = (s/p) exp(1 − s/p) of its peak, which comes after p hours; days are
    alike, so that the evening's rise goes on after midnight. Since people eat at different hours,
    the mean is flatter than any patient's day.

    The truth is the mean of what is observed. Without bounds it has a closed form: r averaged over
    a normal hour is e/p exp(σ²/2p² − d/p) (σφ(u) + (d − σ²/p)Φ(u)), with d from the usual hour and
    u = d/σ − σ/p. What the bounds cut off, which is next to nothing by default, is that of 4000
    fixed simulated patients.

    The figures are rounded ones of the literature. Without diabetes, 24 people had a mean of 89
    mg/dL (SD 6) and, 46 to 50 minutes after breakfast, lunch and dinner, peaks of 132, 118 and 123
    mg/dL (Freckmann et al. 2007, J Diabetes Sci Technol 1, 695–703); 153 people had means of 98 to
    104 mg/dL (Shah et al. 2019, J Clin Endocrinol Metab 104, 4356–4364). With diabetes, which is
    the default, level and rises are set so that before breakfast and at its peak mean glucose lies
    at the bounds of the WHO's diagnosis or above, 7.0 and 11.1 mmol/L (WHO and IDF 2006).
    """

    key = "glucose_days"
    label = "Glucose over a day, simulated"
    units = GLUCOSE
    order = 2
    credit = (
        "The shape follows Freckmann et al. 2007; Shah et al. 2019; WHO and IDF 2006. "
        "No real patient’s data are used."
    )

    n_curves: int = param(
        600, "Patients", "How many take part, over all sites.", low=2, high=100_000, symbol="n"
    )
    unit: str = param(
        "mmol/L",
        "Unit",
        "In which glucose is observed; 1 mmol/L is 18 mg/dL. All settings below are in mmol/L.",
        choices=tuple(GLUCOSE),
    )
    level: float = param(
        7.6, "Level between meals", "Mean over patients.", low=3.0, high=15.0, unit="mmol/L"
    )
    level_sd: float = param(
        1.6,
        "Spread of levels",
        "Standard deviation over patients.",
        low=0.0,
        high=5.0,
        unit="mmol/L",
    )
    meal_rise: float = param(
        4.6,
        "Rise after breakfast",
        "Mean height of its peak; after lunch and dinner it is 70 % and 80 % of that.",
        low=0.0,
        high=10.0,
        unit="mmol/L",
    )
    meal_spread: float = param(
        0.4,
        "Spread of rises",
        "Standard deviation of a rise as a share of its mean.",
        low=0.0,
        high=1.0,
    )
    peak_hours: float = param(
        1.3, "Hours to the peak", "From the beginning of a meal.", low=0.5, high=3.0, unit="h"
    )
    meal_time_sd: float = param(
        1.0,
        "Spread of hours of meals",
        "Standard deviation over patients. Larger: the mean curve is flatter.",
        low=0.5,
        high=3.0,
        unit="h",
    )
    error_sd: float = param(
        0.7,
        "Error of an observation",
        "Standard deviation, of one observation by a sensor.",
        low=0.05,
        high=5.0,
        unit="mmol/L",
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            (cls.label, {}),
            (
                "Glucose without diabetes, simulated",
                {
                    "level": 4.9,
                    "level_sd": 0.4,
                    "meal_rise": 2.6,
                    "peak_hours": 0.8,
                    "error_sd": 0.4,
                },
            ),
        )

    @property
    def facts(self) -> PublicFacts:
        factor = GLUCOSE[self.unit]
        return replace(
            _FACTS,
            name=self.nearest_preset()[0],
            value_unit=self.unit,
            value_low=round(_LOW * factor),
            value_high=round(_HIGH * factor),
            design=self.design,
            credit=self.credit,
        )

    @property
    def truth(self) -> Truth:
        return _truth(
            replace(
                self,
                n_curves=2,
                n_servers=1,
                n_observations_per_curve=1,
                times="even",
                time_density=None,
                site_sizes=None,
                site_readings=None,
            )
        )

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Glucose of new patients; see `SitedCurves.values_at`.

        Patients, the hours of their meals and errors each come from one block of draws.
        """
        values = self._curves_at(times * DAY, rng)
        values += self.error_sd * rng.standard_normal(times.shape)
        values *= GLUCOSE[self.unit]
        facts = self.facts
        return np.clip(values, facts.value_low, facts.value_high, out=values)

    def _curves_at(self, hours: Array, rng: np.random.Generator) -> Array:
        """Curves of new patients in mmol/L, each at its row of hours: (patients, m)."""
        patients = len(hours)
        values = np.broadcast_to(
            _log_normal(self.level, self.level_sd / self.level, rng.standard_normal((patients, 1))),
            hours.shape,
        ).copy()
        rises = _log_normal(
            self.meal_rise, self.meal_spread, rng.standard_normal((len(_MEALS), patients, 1))
        )
        late = self.meal_time_sd * rng.standard_normal((len(_MEALS), patients, 1))
        for (hour, share), rise, delay in zip(_MEALS, rises, late, strict=True):
            values += share * rise * self._response(hours - (hour + delay))
        return values

    def _response(self, since: Array) -> Array:
        """Response after so many hours, with what is left of the same meal of all days before."""
        peak = self.peak_hours
        since %= DAY
        left = np.exp(-DAY / peak)
        out = np.exp(since * (-1 / peak))
        since /= 1 - left
        since += DAY * left / (1 - left) ** 2
        out *= since
        out *= e / peak
        return out

    def mean_at(self, hours: Array) -> Array:
        """Compute the mean curve at hours of the day, in mmol/L, before bounds cut anything off."""
        sd, peak = self.meal_time_sd, self.peak_hours
        total = np.full(len(hours), self.level)
        for hour, share in _MEALS:
            since = hours[:, None] - hour + _SHIFTS  # (points, days)
            u = since / sd - sd / peak
            rise = np.exp(sd**2 / (2 * peak**2) - since / peak) * sd * excess(-u)
            total += self.meal_rise * share * e / peak * rise.sum(axis=1)
        return total


def _log_normal(mean: float, variation: float, z: Array) -> Array:
    """Log-normal numbers of this mean and coefficient of variation, from standard normal ones."""
    squared = log(1 + variation**2)
    return np.asarray(mean * np.exp(np.sqrt(squared) * z - squared / 2))


@lru_cache
def _truth(days: GlucoseDays) -> Truth:
    def mean_glucose(t: Array) -> Array:
        witnesses = days._curves_at(np.tile(t * DAY, (_WITNESSES, 1)), np.random.default_rng(0))
        cut = cut_off(witnesses, days.error_sd, _LOW, _HIGH).mean(axis=0)
        return np.asarray(GLUCOSE[days.unit] * (days.mean_at(t * DAY) + cut))

    return Truth.of(mean_glucose)
