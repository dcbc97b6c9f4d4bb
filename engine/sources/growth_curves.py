"""Simulated growth of children whose spurts of puberty come at different ages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import Array, PublicFacts, PublicGroup, Truth
from engine.numerics.clipping.normal_readings import cut_off
from engine.sources import sources
from engine.sources.human_curves import HumanCurves

_FACTS = PublicFacts(
    name="Growth with pubertal spurts, simulated",
    person="child",
    people="children",
    curve="growth",
    value_name="Height",
    value_unit="cm",
    value_low=60.0,
    value_high=210.0,
    time_name="Age",
    time_unit="years",
    time_low=2.0,
    time_high=18.0,
    origin="growth charts from 2 to 18 years, widened so that very small and very tall children "
    "lie inside",
)
_EARLIEST = 7.0  # years: no spurt is centred before
_GROWN = 300.0  # an exponent at which nothing is left to grow
_EARLY = 1.215  # s₀(θ − 2): a child of two has about 49 % of its final height, whatever θ


class _Sex(NamedTuple):
    """Mean parameters of the growth curves of girls or of boys."""

    final: float  # height in cm
    at_spurt: float  # as a share of it
    spurt: float  # age in years
    tempo: float  # s₁ in 1/years


_GIRLS, _BOYS = _Sex(163.3, 0.929, 12.0, 1.2), _Sex(176.8, 0.925, 14.0, 1.3)
_TAKING_PART = {"both": (_GIRLS, _BOYS), "girls": (_GIRLS,), "boys": (_BOYS,)}
_GROUPS = ("girls", "boys")
_TIMINGS, _TEMPOS = 60, 24  # Gauss–Hermite nodes


@sources.register
@dataclass(frozen=True, kw_only=True)
class GrowthCurves(HumanCurves):
    """Y_ij = h_i(age_ij) + ξ_ij, where h_i is a child's own curve of Preece and Baines.

    h(a) = H (1 − 2(1 − q) / (exp(s₀(a − θ)) + exp(s₁(a − θ)))), model 1 of Preece and Baines
    (1978, Annals of Human Biology 5, 1–24). H is the child's final height, θ the age at its spurt
    and s₁ the tempo of it: H and θ are normal, s₁ is log-normal, and s₀ = 1.215 / (θ − 2), so that
    height at two depends on H alone. Girls and boys have their own means, and each child is either
    with equal chance, unless only one takes part.

    Because spurts come at different ages, the mean curve is smoother than any child's: its spurt
    is longer and less steep. The truth is the mean of what is observed, held within the bounds:
    that of a normal variable given θ and s₁, averaged over both by Gauss–Hermite quadrature.

    The figures are rounded ones of the literature. Final heights are the medians of the US growth
    charts (Kuczmarski et al. 2002, Vital and Health Statistics 11/246), 163 and 177 cm. The
    steepest growth is at 11.5 years with 8.3 cm a year in girls, and at 13.5 with 9.5 in boys
    (Abbassi 1998, Pediatrics 102, 507–511); here it is at 11.4 with 8.1 and at 13.7 with 9.5.

    That children are spread evenly about their mean is stated although few are ahead of the others
    at ten (skewness 0.4, and under 0.2 at most ages): bands cover the mean as often as they should.
    """

    key = "growth_curves"
    label = "Growth with pubertal spurts, simulated"
    order = 1
    credit = (
        "The shape follows Preece and Baines 1978; Kuczmarski et al. 2002; Abbassi 1998. "
        "No real child’s data are used."
    )

    children: str = param(
        "both",
        "Children",
        "Who takes part. Both: girls and boys with equal chance.",
        choices=tuple(_TAKING_PART),
    )
    height_sd: float = param(
        6.5,
        "Spread of final heights",
        "Standard deviation among girls, and among boys.",
        low=0.0,
        high=15.0,
        unit="cm",
    )
    timing_sd: float = param(
        1.0,
        "Spread of timing",
        "Standard deviation of the age at the spurt, among girls and "
        "among boys. Larger: the mean curve is smoother than a child’s own.",
        low=0.0,
        high=1.5,
        unit="years",
    )
    tempo_spread: float = param(
        0.15,
        "Spread of tempo",
        "Standard deviation of the logarithm of how steep a spurt is.",
        low=0.0,
        high=0.5,
    )
    error_sd: float = param(
        0.5,
        "Error of an observation",
        "Standard deviation, of measuring a child once.",
        low=0.1,
        high=10.0,
        unit="cm",
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {}),)

    @property
    def facts(self) -> PublicFacts:
        others = tuple(name for name in _GROUPS if name != self.children)
        group = None if self.children == "both" else PublicGroup(_FACTS.name, self.children, others)
        return replace(_FACTS, design=self.design, symmetric=True, credit=self.credit, group=group)

    @property
    def group_names(self) -> tuple[str, ...]:
        return _GROUPS if self.children == "both" else ()

    def of_group(self, name: str) -> GrowthCurves:
        """Girls or boys alone, half of the children; see `Source.of_group`."""
        if name not in self.group_names:
            raise InputError(
                "There is no such group.", field="group", hint=f"One of: {', '.join(_GROUPS)}."
            )
        return self._shared_out(_GROUPS.index(name), len(_GROUPS), children=name)

    @property
    def truth(self) -> Truth:
        return _truth(
            self.children, self.height_sd, self.timing_sd, self.tempo_spread, self.error_sd
        )

    def groups_at(self, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Girls or boys; see `SitedCurves.groups_at`."""
        return rng.integers(len(_TAKING_PART[self.children]), size=people)

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Heights of new children in cm; see `SitedCurves.values_at`.

        Children and errors each come from one block of draws.
        """
        sexes = np.array(_TAKING_PART[self.children])
        means = sexes[self.groups_at(len(times), rng)].T[..., None]
        height, timing, tempo = rng.standard_normal((3, len(times), 1))
        shares = _share_of_final(
            _FACTS.from_unit_time(times),
            means[1],
            means[2] + self.timing_sd * timing,
            means[3] * np.exp(self.tempo_spread * tempo),
        )
        values = rng.standard_normal(times.shape)
        values *= self.error_sd
        values += (means[0] + self.height_sd * height) * shares
        return np.clip(values, _FACTS.value_low, _FACTS.value_high, out=values)


def _share_of_final(
    ages: Array, at_spurt: Array | float, spurt: Array | float, tempo: Array | float
) -> Array:
    """Compute the share of final height at ages from 2 years on; arrays broadcast together.

    `at_spurt` is q, the share at the spurt, `spurt` its age θ of at least 7 years, `tempo` s₁ in
    1/years.

    >>> _share_of_final(np.array([2.0, 12.0, 18.0]), 0.93, 12.0, 1.2).round(3).tolist()
    [0.528, 0.93, 1.0]
    """
    centred = np.maximum(spurt, _EARLIEST)
    since = ages - centred
    rise = np.exp(np.minimum(tempo * since, _GROWN))
    since *= _EARLY / (centred - 2)
    rise += np.exp(since, out=since)
    return np.asarray(1 - 2 * (1 - at_spurt) / rise)


@lru_cache
def _truth(
    children: str, height_sd: float, timing_sd: float, tempo_spread: float, error_sd: float
) -> Truth:
    (timing, p), (tempo, q) = (np.polynomial.hermite_e.hermegauss(n) for n in (_TIMINGS, _TEMPOS))
    weights = np.outer(p, q).ravel() / (p.sum() * q.sum())
    timing, tempo = (axis.ravel() for axis in np.meshgrid(timing, tempo, indexing="ij"))

    def mean_height(t: Array) -> Array:
        total = np.zeros(len(t))
        for sex in _TAKING_PART[children]:
            shares = _share_of_final(
                _FACTS.from_unit_time(t)[:, None],
                sex.at_spurt,
                sex.spurt + timing_sd * timing,
                sex.tempo * np.exp(tempo_spread * tempo),
            )
            sd = np.hypot(height_sd * shares, error_sd)
            means = sex.final * shares
            means += cut_off(means, sd, _FACTS.value_low, _FACTS.value_high)
            total += means @ weights
        return total / len(_TAKING_PART[children])

    return Truth.of(mean_height)
