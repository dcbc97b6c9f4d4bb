"""Simulated dense curves: a known mean and a random error, read at the same points of every person.

The designs S-1 to S-4 of arXiv 2309.00125, section 6.1 and appendix D. What that paper leaves open
(the grid, the law of the errors, the draw behind S-4, the bound of a curve) is a parameter here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, CurveData, Design, PublicFacts, Sizes, Truth
from engine.numerics.eigensystems import Grid, Kernel, eigensystem, midpoints
from engine.sources import Source, check_sites, dealt, sources
from engine.sources.sited_curves import people

Function = Callable[[Array], Array]
_DEGREES = 5  # of freedom of the t law
_MIXED = 25  # eigenfunctions in the mean "mixture"
_GRID = 100  # midpoints on which those are computed, whatever the curves are read on


def rise(t: Array) -> Array:
    """S-1: 10 t e^(−t), on [0, 1]."""
    return 10 * t * np.exp(-t)


def two_peaks(t: Array) -> Array:
    """S-2: 0.3 f_{0.3, 0.05} + 0.7 f_{0.8, 0.05}, where f_{a, b} is the density of N(a, b²)."""
    return 0.3 * _density(t, 0.3, 0.05) + 0.7 * _density(t, 0.8, 0.05)


def five_peaks(t: Array) -> Array:
    """S-3: 0.2 (f_{0, 0.03} + f_{0.2, 0.05} + f_{0.5, 0.05} − f_{0.75, 0.03} + f_{1, 0.03})."""
    up = ((0.0, 0.03), (0.2, 0.05), (0.5, 0.05), (1.0, 0.03))
    return 0.2 * (sum(_density(t, a, b) for a, b in up) - _density(t, 0.75, 0.03))


def _density(t: Array, middle: float, width: float) -> Array:
    return np.asarray(np.exp(-(((t - middle) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi)))


_MEANS: dict[str, Function] = {"rise": rise, "two_peaks": two_peaks, "five_peaks": five_peaks}
_NAMES = {
    "rise": "Dense: smooth rise, simulated",
    "two_peaks": "Dense: two peaks, simulated",
    "five_peaks": "Dense: five peaks, simulated",
    "mixture": "Dense: mixture of basis functions, simulated",
}


@sources.register
@dataclass(frozen=True, kw_only=True)
class DenseCurves(Source[CurveData]):
    """X_i = μ + e_i at K midpoints, with errors of one of two kinds and nothing added to a
    observation.

    "gaussian_process": e_i is Gaussian with covariance v exp(−r²/(2 l²)). "t": e_i = Σ_j U_ij φ_j
    with U of the t law with 5 degrees of freedom and φ_j the eigenfunctions of a Matérn kernel on
    the grid; these are large (E‖e‖² = 166.7 with 100 terms) and have no bound. The mean "mixture"
    (S-4) is Σ_{j≤25} R_j φ_j with R_j uniform on [−1, 1], one draw for all, and φ_j those of 100
    midpoints, joined by a cubic spline.
    """

    key = "dense_curves"
    label = "Dense smooth curves, simulated"
    order = 40
    tasks = frozenset({MEAN_FUNCTION.key})

    mean: str = param(
        "rise",
        "Mean curve",
        "The known average the curves scatter around: S-1, S-2, S-3 and S-4 "
        "of the study, in this order.",
        choices=tuple(_NAMES),
    )
    n_curves: int = people(500)
    n_observations_per_curve: int = param(
        100,
        "Observations each",
        "Every curve is read at the middles of so many equal steps.",
        low=2,
        high=1000,
        symbol="m",
    )
    n_servers: int = param(
        1,
        "Sites",
        "Sites that keep their own data; curves are split evenly.",
        low=1,
        high=1000,
        symbol="S",
    )
    errors: str = param(
        "gaussian_process",
        "Errors",
        "How a person's curve differs from the mean. t: large and rough, with heavy tails.",
        choices=("gaussian_process", "t"),
    )
    error_variance: float = param(
        1.0,
        "Variance of errors",
        "For Gaussian-process errors at any time, in squared response units.",
        low=0.0,
        high=1e4,
    )
    error_length: float = param(
        0.2,
        "Length scale of errors",
        "For Gaussian-process errors. Larger: a curve stays above or below the mean longer.",
        low=0.02,
        high=5.0,
        symbol="l",
    )
    n_terms: int = param(
        100,
        "Terms of t errors",
        "How many eigenfunctions they consist of, at most as many as there are observations.",
        low=1,
        high=1000,
    )
    kernel_smoothness: float = param(
        1.5,
        "Smoothness of eigenfunctions",
        "Order of the Matérn kernel behind t errors and the mixture.",
        low=0.25,
        high=10.0,
        symbol="ν",
    )
    kernel_length: float = param(
        0.1,
        "Length scale of eigenfunctions",
        "For the same kernel.",
        low=0.01,
        high=5.0,
        symbol="ρ",
    )
    mixture_seed: int = param(
        4, "Draw of the mixture", "Which fixed draw of its weights.", low=0, high=10_000
    )
    norm_bound: float = param(
        4.5,
        "Largest size of a curve",
        "Public bound on the root mean square of a curve over time.",
        low=1e-6,
        high=1e6,
        symbol="τ",
        when={"errors=t": 16.0, "mean=two_peaks": 4.0, "mean=five_peaks": 3.0, "mean=mixture": 5.0},
    )
    value_bound: float = param(
        10.0,
        "Largest possible value",
        "Public bound on the size of a single observation.",
        low=1e-6,
        high=1e6,
        when={
            "errors=t": 80.0,
            "mean=two_peaks": 12.0,
            "mean=five_peaks": 8.0,
            "mean=mixture": 15.0,
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sites(self.n_servers, self.n_curves)

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return tuple((name, {"mean": mean}) for mean, name in _NAMES.items())

    @property
    def facts(self) -> PublicFacts:
        return PublicFacts(
            name=_NAMES[self.mean],
            value_name="Response",
            value_low=-self.value_bound,
            value_high=self.value_bound,
            norm_bound=self.norm_bound,
            unit_scale=True,
            design=Design.common(self.grid.times),
        )

    @property
    def grid(self) -> Grid:
        """Points at which every curve is read."""
        return midpoints(self.n_observations_per_curve)

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            dealt(self.n_curves, self.n_servers),
            self.n_curves * self.n_observations_per_curve,
            self.n_observations_per_curve,
        )

    @property
    def truth(self) -> Truth:
        return _truth(self.mean, self.kernel, self.mixture_seed)

    @property
    def covariance_of_people(self) -> Truth | None:
        if self.errors == "t":
            return None
        return gaussian_covariance(self.error_variance, self.error_length)

    @property
    def kernel(self) -> Kernel:
        """C, whose eigenfunctions t errors and the mixture are made of."""
        return Kernel("matern", self.kernel_smoothness, self.kernel_length)

    def resized(self, people: int, readings: int, sites: int) -> DenseCurves:
        """The same curves with other sizes; see `Source.resized`."""
        return replace(
            self, n_curves=people * sites, n_servers=sites, n_observations_per_curve=readings
        )

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets; the errors of all curves come from one block of draws."""
        times = np.array(self.grid.times)
        curves = self._errors(n_repeats * self.n_curves, rng)
        curves += _mean(self.mean, self.kernel, self.mixture_seed)(times)
        shape = n_repeats, self.n_curves * len(times)
        people = self.sizes.n_curves_per_server
        return CurveData(
            times=np.broadcast_to(np.tile(times, self.n_curves), shape),
            values=curves.reshape(shape),
            counts=np.full(self.n_curves, len(times)),
            server=np.repeat(np.arange(len(people)), people),
            facts=self.facts,
            truth=self.truth,
        )

    def _errors(self, curves: int, rng: np.random.Generator) -> Array:
        """(curves, K)."""
        if self.errors == "t":
            functions = eigensystem(self.kernel, self.grid).functions[: self.n_terms]
            return rng.standard_t(_DEGREES, (curves, len(functions))) @ functions
        paths = eigensystem(Kernel("gaussian", length=self.error_length), self.grid).paths
        normals = rng.standard_normal((curves, len(paths)))
        return np.asarray(normals @ (np.sqrt(self.error_variance) * paths))


def _mean(name: str, kernel: Kernel, seed: int) -> Function:
    return _mixture(kernel, seed) if name == "mixture" else _MEANS[name]


@lru_cache(maxsize=16)
def _mixture(kernel: Kernel, seed: int) -> Function:
    from scipy.interpolate import CubicSpline  # on first use: it takes a moment

    grid = midpoints(_GRID)
    functions = eigensystem(kernel, grid).functions[:_MIXED]
    weights = np.random.default_rng(seed).uniform(-1, 1, _MIXED)[: len(functions)]
    mean: Function = CubicSpline(grid.times, weights @ functions)
    return mean


@lru_cache(maxsize=16)
def _truth(name: str, kernel: Kernel, seed: int) -> Truth:
    return Truth.of(_mean(name, kernel, seed))


@lru_cache(maxsize=16)
def gaussian_covariance(variance: float, length: float) -> Truth:
    """Return v exp(−(s − t)²/(2 l²))."""

    def values(points: Array) -> Array:
        return variance * Kernel("gaussian", length=length)(np.abs(points[..., 0] - points[..., 1]))

    return Truth.of(values, "square")
