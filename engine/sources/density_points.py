"""Simulated points of a known density, in one dimension or two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.registry import param
from engine.core.tasks import DENSITY
from engine.core.types import Array, Covariate, PublicFacts, SampleData, Truth
from engine.sources import DealtRecords, number_of, sites_with, sources

_MIDPOINTS = (np.arange(96) + 0.5) / 96  # of the rule "square", in each direction


class PointLaw(Protocol):
    """A law of points in their own units, and the range that holds them."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def n_dimensions(self) -> int: ...

    def density(self, points: Array) -> Array:
        """Evaluate the density per own unit, (…), at points (…, d) within the range."""
        ...

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Independent points: (*shape, d)."""
        ...


@dataclass(frozen=True)
class BetaLaw:
    """A beta law on [0, 1]; with a = b = 1 it is uniform."""

    a: float
    b: float
    low: float = 0.0
    high: float = 1.0
    n_dimensions: int = 1

    def density(self, points: Array) -> Array:
        from scipy.stats import beta  # on first use: it takes a moment

        return np.asarray(beta.pdf(points[..., 0], self.a, self.b))

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        return rng.beta(self.a, self.b, (*shape, 1))


@dataclass(frozen=True)
class NormalMixture:
    """Normal laws with one covariance, mixed, then truncated to the cube [low, high]^d.

    The density inside is that of the mixture over the mass that it has there.
    """

    weights: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]
    covariance: tuple[tuple[float, ...], ...]
    low: float
    high: float

    @property
    def n_dimensions(self) -> int:
        return len(self.covariance)

    @cached_property
    def mass(self) -> float:
        """Mass of the mixture inside the cube, from the normal distribution function."""
        from scipy.stats import multivariate_normal  # on first use: it takes a moment

        high, low = np.full(self.n_dimensions, self.high), np.full(self.n_dimensions, self.low)
        return float(
            sum(
                weight * multivariate_normal(mean, self.covariance).cdf(high, lower_limit=low)
                for weight, mean in zip(self.weights, self.means, strict=True)
            )
        )

    def density(self, points: Array) -> Array:
        from scipy.stats import multivariate_normal  # on first use: it takes a moment

        parts = (
            weight * multivariate_normal(mean, self.covariance).pdf(points)
            for weight, mean in zip(self.weights, self.means, strict=True)
        )
        return np.asarray(sum(parts) / self.mass).reshape(points.shape[:-1])

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Points that fall outside the cube are drawn again, which is exact."""
        points = self._untruncated(shape[0] * shape[1], rng)
        while len(
            outside := np.flatnonzero(
                (np.abs(points - (self.low + self.high) / 2) > (self.high - self.low) / 2).any(
                    axis=1
                )
            )
        ):
            points[outside] = self._untruncated(len(outside), rng)
        return points.reshape(*shape, self.n_dimensions)

    def _untruncated(self, n: int, rng: np.random.Generator) -> Array:
        """Points of the mixture: (n, d)."""
        part = np.searchsorted(np.cumsum(self.weights)[:-1], rng.random(n), side="right")
        root = np.linalg.cholesky(np.array(self.covariance))
        return np.array(self.means)[part] + rng.standard_normal((n, self.n_dimensions)) @ root.T


_LAWS: dict[str, PointLaw] = {
    "two_modes": NormalMixture((0.6, 0.4), ((0.3,), (0.7,)), ((0.01,),), 0.0, 1.0),
    "two_modes_2d": NormalMixture(
        (0.6, 0.4), ((-3.0, -3.0), (3.0, 2.0)), ((1.0, 0.5), (0.5, 1.0)), -5.0, 5.0
    ),
    "skewed": BetaLaw(2.0, 5.0),
    "uniform": BetaLaw(1.0, 1.0),
}


@sources.register
@dataclass(frozen=True, kw_only=True)
class DensityPoints(DealtRecords[SampleData]):
    """Independent points of a known density; protected is one point.

    The two with two modes are those of arXiv 2309.00125, section 6.2: 0.6 N(0.3, 0.1²) + 0.4 N(0.7,
    0.1²) on [0, 1], and 0.6 N((−3, −3), S) + 0.4 N((3, 2), S) on [−5, 5]², S with variances 1 and
    covariance ½. Skewed is the beta law with exponents 2 and 5.

    `truth` is the density on the unit range [0, 1]^d: per own unit, times the volume of the stated
    range, so that it integrates to 1 there.
    """

    key = "density_points"
    label = "Simulated points of a known density"
    order = 15
    tasks = frozenset({DENSITY.key})
    records = "points"

    design: str = param(
        "two_modes", "Density", "The known density of the points.", choices=tuple(_LAWS)
    )
    n_curves: int = number_of("Points", when={"design=two_modes_2d": 5000})
    n_servers: int = sites_with("points")

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Two modes", {}),
            ("Two modes in the plane", {"design": "two_modes_2d"}),
            ("A skewed density", {"design": "skewed"}),
            ("Points spread evenly", {"design": "uniform"}),
        )

    @property
    def facts(self) -> PublicFacts:
        law = _LAWS[self.design]
        names = ("Feature",) if law.n_dimensions == 1 else ("Feature 1", "Feature 2")
        return PublicFacts(
            name=self.label,
            value_name="Density",
            time_name=names[0],
            time_low=law.low,
            time_high=law.high,
            unit_scale=True,
            covariates=tuple(Covariate(name, law.low, law.high) for name in names),
        )

    @property
    def n_numbers(self) -> int:
        return _LAWS[self.design].n_dimensions

    @property
    def truth(self) -> Truth:
        return _truth(self.design)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        points = _LAWS[self.design].draw((n_repeats, self.n_curves), rng)
        return SampleData(points, None, self.server, self.facts, self.truth)


@lru_cache
def _truth(design: str) -> Truth:
    """The density on the unit range: in the plane on square grids, row after row."""
    law = _LAWS[design]
    width = law.high - law.low

    def on_unit_range(points: Array) -> Array:
        return law.density(law.low + width * points) * width**law.n_dimensions

    if law.n_dimensions == 1:
        return Truth.of(lambda x: on_unit_range(x[:, None]))
    return Truth(
        on_unit_range(_square(drawing_grid())), on_unit_range(_square(_MIDPOINTS)), "square"
    )


def _square(axis: Array) -> Array:
    """All pairs of places on one axis, the second running fastest: (len², 2)."""
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
