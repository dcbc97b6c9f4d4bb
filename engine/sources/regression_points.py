"""Simulated single observations of one curve, one from each person, spread over sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from engine.core.errors import InputError
from engine.core.lists import whole_numbers
from engine.core.registry import param
from engine.core.tasks import WAVELET_REGRESSION
from engine.core.types import Array, Budget, CurveData, PublicFacts, Sizes, Truth
from engine.numerics.public_curves import PublicCurve
from engine.numerics.signals import PERIODIC, SIGNALS, Function, signal
from engine.sources import Source, check_sites, dealt, sources

# Observations and ε of every site, in four kinds of networks of about 64 000 observations.
CONFIGURATIONS: dict[str, tuple[tuple[int, ...], tuple[float, ...]]] = {
    "homogeneous": ((4000,) * 16, (1.0,) * 16),
    "dominant": ((40_000, *(1000,) * 24), (2.0, *(0.1,) * 24)),
    "many_small": ((320,) * 200, (0.3,) * 200),
    "mixed_eps": ((4000,) * 16, (0.1, 0.3, 1.0, 3.0) * 4),
}
_MAX_READINGS = 100_000_000


def configuration_budgets(name: str, delta: float = 1e-5) -> tuple[Budget, ...]:
    """Return the budgets of all sites of one of `CONFIGURATIONS`."""
    if name not in CONFIGURATIONS:
        raise InputError(
            f"The sites {name!r} state no budgets.",
            field="configuration",
            hint=f"Choose one of {', '.join(CONFIGURATIONS)}.",
        )
    return tuple(Budget(epsilon, delta) for epsilon in CONFIGURATIONS[name][1])


@dataclass(frozen=True, kw_only=True)
class PointsOfCurve(Source[CurveData]):
    """Base of Y = f(X) + σξ with ξ standard normal: one observation, one person.

    Protected is an observation with its time. Sites’ sizes, the bound B ≥ sup|f| and σ are public.
    Times are spread evenly, or with the density ½ + x, which shows what happens where a method
    that takes them for even meets times that are not. A subclass states the curve f.
    """

    tasks = frozenset({WAVELET_REGRESSION.key})

    configuration: str = param(
        "even",
        "Sites",
        "Even: as many observations at each. Listed: sizes of your own. The "
        "others: well-known networks of 64 000 observations, which also state a budget for every "
        "site.",
        choices=("even", "listed", *CONFIGURATIONS),
    )
    n_curves: int = param(
        64_000,
        "Observations",
        "How many there are, over all sites.",
        low=2,
        high=_MAX_READINGS,
        symbol="N",
    )
    n_servers: int = param(
        16,
        "Number of sites",
        "Sites that keep their own observations.",
        low=1,
        high=1000,
        symbol="m",
    )
    sizes_listed: str | None = param(
        None,
        "Observations at each site",
        "Whole numbers with commas between them: 4000, 1000, 250.",
    )
    noise_sd: float = param(
        1.0,
        "Spread of observations",
        "Standard deviation around the curve.",
        low=1e-3,
        high=1e3,
        symbol="σ",
    )
    bound: float = param(
        2.0,
        "Bound of the curve",
        "Stated: the curve lies between −B and B.",
        low=1e-3,
        high=1e6,
        symbol="B",
    )
    times: str = param(
        "even",
        "Times of observations",
        "Even: uniform. Rising: with density ½ + x.",
        choices=("even", "rising"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        per_site = self._per_site()
        # what follows from the listed sizes or the network is not left at another value
        object.__setattr__(self, "n_curves", sum(per_site))
        object.__setattr__(self, "n_servers", len(per_site))

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Sixteen sites alike", {}),
            ("One large site and many small", {"configuration": "dominant"}),
            ("Two hundred small sites", {"configuration": "many_small"}),
            ("Sites with unequal protection", {"configuration": "mixed_eps"}),
        )

    @property
    def facts(self) -> PublicFacts:
        return PublicFacts(
            name=self.label,
            value_name="Response",
            value_low=-self.bound,
            value_high=self.bound,
            time_name="Design point",
            reading_sd=self.noise_sd,
            unit_scale=True,
            periodic=self.is_periodic,
            symmetric=True,
        )

    @property
    def sizes(self) -> Sizes:
        return Sizes(self._per_site(), self.n_curves, 1)

    @property
    def curve(self) -> Function:
        """f, at times on [0, 1]."""
        raise NotImplementedError

    @property
    def is_periodic(self) -> bool:
        """True if f ends where it began."""
        raise NotImplementedError

    @property
    def density(self) -> PublicCurve:
        """Density of the times; ½ + x if they are rising."""
        return PublicCurve((0.5, 1.5) if self.times == "rising" else (1.0, 1.0))

    @property
    def truth(self) -> Truth:
        raise NotImplementedError

    @property
    def sites_and_observations(self) -> dict[str, Any]:
        """The parameters that another curve with the same observations shares."""
        return {p.name: getattr(self, p.name) for p in PointsOfCurve.parameters()}

    def budgets(self, delta: float = 1e-5) -> tuple[Budget, ...]:
        """The budgets that this network states; see `configuration_budgets`."""
        return configuration_budgets(self.configuration, delta)

    def resized(self, people: int, readings: int, sites: int) -> Self:
        """The same curve with so many people at each of so many sites; each has one observation."""
        return replace(self, configuration="even", n_curves=people * sites, n_servers=sites)

    def with_sites(self, people: Sequence[int], readings: Sequence[int]) -> Self:
        """The same curve at sites of any sizes; each person has one observation."""
        return replace(self, configuration="listed", sizes_listed=", ".join(map(str, people)))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets: all times, then all errors."""
        per_site = self._per_site()
        times = rng.random((n_repeats, self.n_curves))
        if self.times == "rising":  # G(x) = (x + x²)/2
            times = (np.sqrt(1 + 8 * times) - 1) / 2
        values = rng.standard_normal(times.shape)
        values *= self.noise_sd
        values += self.curve(times)
        return CurveData(
            times,
            values,
            np.ones(self.n_curves, dtype=np.int64),
            np.repeat(np.arange(len(per_site)), per_site),
            self.facts,
            self.truth,
        )

    def _per_site(self) -> tuple[int, ...]:
        if self.configuration in CONFIGURATIONS:
            return CONFIGURATIONS[self.configuration][0]
        if self.configuration == "listed":
            return _listed(self.sizes_listed or "")
        check_sites(self.n_servers, self.n_curves, "readings")
        return dealt(self.n_curves, self.n_servers)


def _listed(text: str) -> tuple[int, ...]:
    """Sizes of sites from "4000, 1000, 250"."""
    sizes = whole_numbers("sizes_listed", text)
    if not 2 <= sum(sizes) <= _MAX_READINGS:
        raise InputError(
            f"The listed sites must have 2 to {_MAX_READINGS} observations together.",
            field="sizes_listed",
            hint="For example 4000, 1000, 250.",
        )
    return sizes


@sources.register
@dataclass(frozen=True, kw_only=True)
class RegressionPoints(PointsOfCurve):
    """Observations of a test curve; see `PointsOfCurve`."""

    key = "regression_points"
    label = "One observation each, simulated"
    order = 15

    signal: str = param(
        "smooth", "Curve", "The known curve behind the observations.", choices=SIGNALS
    )

    @property
    def curve(self) -> Function:
        return signal(self.signal)

    @property
    def is_periodic(self) -> bool:
        return self.signal in PERIODIC

    @property
    def truth(self) -> Truth:
        return _truth(self.signal)


@lru_cache
def _truth(name: str) -> Truth:
    return truth_of(signal(name))


def truth_of(curve: Function) -> Truth:
    """Wrap a curve as a truth whose integrals follow wavelets."""

    def values(times: Array) -> Array:
        return np.asarray(curve(times) + 0 * times)

    return Truth.of(values, "midpoints")
