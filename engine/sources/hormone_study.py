"""A synthetic twin of a study that followed a hormone through middle age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from engine.core.errors import InputError
from engine.core.lists import whole_numbers
from engine.core.registry import UNSET, param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, CurveData, Design, PublicFacts, Sizes, Truth
from engine.numerics.observation_times import visit_times
from engine.sources import Source, check_sites, dealt, sources

_AGES = (46.0, 63.0)
_HIGHEST = 500.0  # pg/mL, declared
_BEFORE, _AFTER = log(70.0), log(16.0)  # median level before and after the transition
_TRANSITION, _TRANSITION_SD = 51.5, 2.0  # age at which a woman is half-way, and its spread
_PACE = 0.8  # years: scale of the logistic fall
_WOMAN_SD, _VISIT_SD = 0.35, 0.65  # of logarithms
_NODES = 160  # Gauss–Hermite: the truth to ten digits

_FACTS = PublicFacts(
    name="Hormone study, synthetic",
    person="woman",
    people="women",
    curve="hormone",
    value_name="Estradiol",
    value_unit="pg/mL",
    value_low=0.0,
    value_high=_HIGHEST,
    time_name="Age",
    time_unit="years",
    time_low=_AGES[0],
    time_high=_AGES[1],
    origin="estradiol cannot be negative, and common assays read up to about 500 pg/mL",
)


@sources.register
@dataclass(frozen=True, kw_only=True)
class HormoneStudy(Source[CurveData]):
    """Y_ij = min(exp(level(age_ij − A_i) + b_i + e_ij), 500): estradiol at yearly visits.

    Entirely synthetic. It has the sizes and the rough shape of the data example of
    arXiv 2412.06582, section 6 (678 women of 46 to 63 years, six visits each): skewed to the
    right, and falling after 50. No observation and no fitted number of the real file is in it; that
    file is licensed, and whoever holds it can upload it.

    The level, a logarithm, falls from log 70 to log 16 pg/mL along a logistic curve about a
    woman's own age of transition A_i ~ N(51.5, 2²); b_i ~ N(0, 0.35²) is her own level and
    e_ij ~ N(0, 0.65²) the visit's. Visits are about a year apart, closer where so many would not
    fit, and her first one is spread evenly over the ages that leave room for all. Observations are
    clipped at the declared bounds, 0 to 500 pg/mL.

    The truth is the mean of the clipped observations at each age: that of a capped log-normal
    variable in closed form, averaged over A by Gauss–Hermite quadrature.
    """

    key = "hormone_study"
    trains_on_a_third: ClassVar[bool] = True
    has_free_sites = True
    label = "Hormone study, synthetic"
    order = 15
    tasks = frozenset({MEAN_FUNCTION.key})

    n_curves: int = param(
        678, "Women", "How many take part, over all sites.", low=2, high=100_000, symbol="n"
    )
    n_visits: int = param(
        6,
        "Visits each",
        "How many observations each woman has, about a year apart.",
        low=1,
        high=1000,
        symbol="m",
    )
    n_servers: int = param(
        1,
        "Sites",
        "Sites that keep their own data; women are split evenly.",
        low=1,
        high=1000,
        symbol="S",
    )
    site_sizes: str | None = param(
        None,
        "Women at each site",
        "Numbers such as 97, 97, 96: one for each site. Empty: women are split evenly.",
    )

    def __post_init__(self) -> None:
        text: Any = self.site_sizes
        listed = whole_numbers("site_sizes", None if text is UNSET else text)
        if listed:  # what follows from the list is not left at another value
            object.__setattr__(self, "n_curves", sum(listed))
            object.__setattr__(self, "n_servers", len(listed))
        super().__post_init__()  # checks the totals of the list as well
        check_sites(self.n_servers, self.n_curves, "women")

    @property
    def facts(self) -> PublicFacts:
        return replace(_FACTS, design=Design.visits(self._gap))

    @property
    def _gap(self) -> float:
        """A year on [0, 1], or as long as so many visits leave room for."""
        years = _AGES[1] - _AGES[0]
        return min(1 / years, 1 / (self.n_visits + 1))

    @property
    def sizes(self) -> Sizes:
        return Sizes(self._women, self.n_curves * self.n_visits, self.n_visits)

    @property
    def _women(self) -> tuple[int, ...]:
        """Number of women at each site."""
        listed = whole_numbers("site_sizes", self.site_sizes)
        return listed or dealt(self.n_curves, self.n_servers)

    @property
    def truth(self) -> Truth:
        return _truth()

    def resized(self, people: int, readings: int, sites: int) -> HormoneStudy:
        """The same study with other sizes; see `Source.resized`."""
        return replace(
            self, n_curves=people * sites, n_servers=sites, n_visits=readings, site_sizes=None
        )

    def with_sites(self, people: Sequence[int], readings: Sequence[int]) -> HormoneStudy:
        """The same study at sites of these sizes; see `Source.with_sites`."""
        if min(readings) != max(readings):
            raise InputError(
                "In this study every woman has as many visits; got "
                f"{min(readings)} to {max(readings)}.",
                field="readings",
                hint="Give all sites the same number of observations each.",
            )
        if tuple(people) == dealt(sum(people), len(people)):  # alike: the recipe of `resized`
            return replace(
                self,
                n_curves=sum(people),
                n_servers=len(people),
                n_visits=readings[0],
                site_sizes=None,
            )
        return replace(self, n_visits=readings[0], site_sizes=", ".join(map(str, people)))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets.

        Of several sites each has a random stream of its own, so that its women do not depend on
        the sizes of the others, nor on how the sizes were given.
        """
        women = self._women
        streams = [rng] if len(women) == 1 else rng.spawn(len(women))
        parts = [
            self._visits(n_repeats, n, stream) for n, stream in zip(women, streams, strict=True)
        ]
        times, values = (np.concatenate(sites, axis=1) for sites in zip(*parts, strict=True))
        return CurveData(
            times=times,
            values=values,
            counts=np.full(sum(women), self.n_visits),
            server=np.repeat(np.arange(len(women)), women),
            facts=self.facts,
            truth=self.truth,
        )

    def _visits(self, n_repeats: int, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Times and values of n women, (n_repeats, n m) each.

        Times, women and errors of visits each come from one block of draws.
        """
        m = self.n_visits
        times = visit_times(n_repeats * n, m, self._gap, rng)
        transition, woman = rng.standard_normal((2, n_repeats * n, 1))
        logs = level(_FACTS.from_unit_time(times) - _TRANSITION - _TRANSITION_SD * transition)
        logs += _WOMAN_SD * woman + _VISIT_SD * rng.standard_normal(times.shape)
        values = np.minimum(np.exp(logs), _HIGHEST)
        return times.reshape(n_repeats, n * m), values.reshape(n_repeats, n * m)


def level(years: Array) -> Array:
    """Compute the median log of an observation in pg/mL, at years since the transition."""
    return _AFTER + (_BEFORE - _AFTER) / (1 + np.exp(years / _PACE))


def mean_reading(ages: Array) -> Array:
    """Compute the mean of the clipped observations in pg/mL at ages in years: (points,)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    years = ages[:, None] - _TRANSITION - _TRANSITION_SD * nodes
    return np.asarray(_capped_mean(level(years)) @ weights / weights.sum())


def _capped_mean(mean_log: Array) -> Array:
    """E min(exp(m + sZ), c) = exp(m + s²/2) Φ((log c − m)/s − s) + c Φ((m − log c)/s)."""
    sd = sqrt(_WOMAN_SD**2 + _VISIT_SD**2)
    room = (log(_HIGHEST) - mean_log) / sd
    return np.asarray(np.exp(mean_log + sd**2 / 2) * ndtr(room - sd) + _HIGHEST * ndtr(-room))


@lru_cache
def _truth() -> Truth:
    return Truth.of(lambda t: mean_reading(_FACTS.from_unit_time(t)))
