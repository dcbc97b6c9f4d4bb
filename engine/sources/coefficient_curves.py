"""Simulated curves that depend on covariates: a known effect of each, as a function of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import VARYING_COEFFICIENTS
from engine.core.types import Array, Covariate, CurveData, Design, PublicFacts, Sizes, Truth
from engine.numerics.kernels import path_polynomials
from engine.numerics.observation_times import draw_times
from engine.numerics.tables import as_polynomial, curves_at_once, horner
from engine.sources import Source, check_sites, dealt, sources
from engine.sources.sited_curves import (
    observation_times,
    observations,
    people,
    simulated_design,
    time_density,
    time_span,
)
from engine.sources.sparse_curves import growth, mu1

Function = Callable[[Array], Array]
MAX_COVARIATES = 8
_COVARIATE_LAWS = ("even", "narrow", "off centre", "rare")
_CENTRES = {"narrow": 0.0, "off centre": 0.7}  # of covariates that do not fill their range


def _wave(level: float, cosine: float = 0.0, sine: float = 0.0, turns: int = 1) -> Function:
    """A constant and one wave: level + a cos 2πkt + b sin 2πkt."""
    return lambda t: (
        level + cosine * np.cos(2 * np.pi * turns * t) + sine * np.sin(2 * np.pi * turns * t)
    )


def _rise(before: float, after: float, middle: float, width: float) -> Function:
    """A smooth step in age: t = (age − 2) / 16."""
    return lambda t: before + (after - before) / (1 + np.exp(-(2 + 16 * t - middle) / width))


# The intercept and up to eight effects; the first three are those of arXiv 2412.06582's study.
_WAVES: tuple[Function, ...] = (
    mu1,
    _wave(0.5, sine=-0.4),
    _wave(0.0, cosine=0.3),
    _wave(-0.5),
    _wave(0.2, sine=0.3, turns=2),
    _wave(0.0, cosine=-0.3, sine=0.2),
    _wave(0.3),
    _wave(-0.1, cosine=0.25, turns=2),
    _wave(0.1, sine=0.2),
)
# Effects on height in cm when a covariate goes from the middle of its range to the end.
_GROWTH: tuple[Function, ...] = (
    growth,
    _rise(2.5, 9.0, 9.0, 3.0),
    _rise(0.3, 6.0, 14.2, 0.9),
    _rise(3.5, 1.0, 5.0, 2.5),
)

_GROWTH_COVARIATES = (
    Covariate("Parents’ height", 150.0, 190.0, "cm"),
    Covariate("Sex", -1.0, 1.0, "−1 girl, 1 boy"),
    Covariate("Length at birth", 44.0, 56.0, "cm"),
)
_EFFECTS = {"waves": _WAVES, "growth": _GROWTH}
_FACTS = {
    "waves": PublicFacts(
        name="Smooth effects, simulated", value_name="Response", unit_scale=True, periodic=True
    ),
    "growth": PublicFacts(
        name="Growth and its causes, simulated",
        person="child",
        people="children",
        curve="growth",
        value_name="Height",
        value_unit="cm",
        time_name="Age",
        time_unit="years",
        time_low=2,
        time_high=18,
        origin="growth charts for ages 2 to 18",
    ),
}


@sources.register
@dataclass(frozen=True, kw_only=True)
class CoefficientCurves(Source[CurveData]):
    """Y_ij = β_0(X_ij) + Σ_k G_ik β_k(X_ij) + U_i(X_ij) + ξ_ij with X and G uniform, ξ Gaussian.

    The design of arXiv 2412.06582's varying-coefficient study, where U = 0, and one that looks like
    growth. Every effect is a polynomial to working accuracy, so a curve is one, too.
    """

    key = "coefficient_curves"
    label = "Simulated curves with covariates"
    order = 15
    tasks = frozenset({VARYING_COEFFICIENTS.key})

    design: str = param(
        "waves", "Effects", "The known effects behind the curves.", choices=tuple(_EFFECTS)
    )
    n_covariates: int = param(
        2,
        "Covariates",
        "How many are known of every person.",
        low=1,
        high=MAX_COVARIATES,
        symbol="d",
    )
    n_curves: int = people(2000)
    n_observations_per_curve: int = observations(10)
    times: str = observation_times()
    time_density: str | None = time_density()
    time_span: float = time_span()
    n_servers: int = param(
        1,
        "Sites",
        "Sites that keep their own data; curves are split evenly.",
        low=1,
        high=1000,
        symbol="S",
    )
    noise_variance: float = param(
        0.25,
        "Variance of an observation's error",
        "Error of a single observation, in squared response units.",
        low=0.0,
        high=1e4,
    )
    deviation_sd: float = param(
        0.0,
        "Spread of people",
        "Standard deviation of what covariates do not explain of a curve.",
        low=0.0,
        high=100.0,
        when={"design=growth": 3.0},
    )
    likeness: float = param(
        0.0,
        "Likeness of covariates",
        "0: they vary on their own. Near 1: they nearly agree, and "
        "their effects are hard to tell apart; 0.67 is a correlation of 0.9.",
        low=0.0,
        high=0.99,
    )
    covariate_law: str = param(
        "even",
        "Distribution of covariates",
        "Even: over the stated range. Narrow: normal in the middle of it. Off centre: as narrow, "
        "but near the upper end. Rare: the first is yes or no, and few say yes.",
        choices=_COVARIATE_LAWS,
    )
    covariate_spread: float = param(
        0.15,
        "Spread of covariates",
        "Standard deviation as a share of half the stated range, "
        "where covariates are narrow or off centre.",
        low=0.001,
        high=1.0,
    )
    rare_share: float = param(
        0.05,
        "Share of the rare answer",
        "The share of people who give it, if the first covariate is rare.",
        low=0.001,
        high=0.5,
    )
    value_low: float = param(
        -3.0,
        "Lowest possible value",
        "Public lower bound.",
        low=-1e6,
        high=1e6,
        when={"design=growth": 60.0},
    )
    value_high: float = param(
        5.0,
        "Highest possible value",
        "Public upper bound.",
        low=-1e6,
        high=1e6,
        when={"design=growth": 200.0},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        max_covariates = len(_EFFECTS[self.design]) - 1
        if self.n_covariates > max_covariates:
            raise InputError(
                f"This design has at most {max_covariates} covariates; got {self.n_covariates}.",
                field="n_covariates",
            )
        check_sites(self.n_servers, self.n_curves)
        self.facts  # noqa: B018  (checks the bounds)

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            (
                "Growth and its causes, simulated",
                {
                    "design": "growth",
                    "n_covariates": 2,
                    "n_curves": 2000,
                    "n_observations_per_curve": 10,
                },
            ),
            ("Smooth effects, simulated", {"design": "waves"}),
        )

    @property
    def facts(self) -> PublicFacts:
        named = (
            _GROWTH_COVARIATES
            if self.design == "growth"
            else tuple(Covariate(f"G{k}") for k in range(1, MAX_COVARIATES + 1))
        )
        return replace(
            _FACTS[self.design],
            value_low=self.value_low,
            value_high=self.value_high,
            covariates=named[: self.n_covariates],
            design=self.observation_times,
            symmetric=True,
        )

    @property
    def observation_times(self) -> Design:
        return simulated_design(
            self.times, self.time_density, self.time_span, self.n_observations_per_curve
        )

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            dealt(self.n_curves, self.n_servers),
            self.n_curves * self.n_observations_per_curve,
            self.n_observations_per_curve,
            self.n_covariates,
        )

    @property
    def truth(self) -> Truth:
        return _truth(self.design, self.n_covariates)

    def resized(self, people: int, readings: int, sites: int) -> CoefficientCurves:
        """The same curves with other sizes; see `Source.resized`."""
        return replace(
            self, n_curves=people * sites, n_servers=sites, n_observations_per_curve=readings
        )

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets; times, covariates and errors each come from one block of draws."""
        n, m = self.n_curves, self.n_observations_per_curve
        facts, effects = self.facts, _polynomials(self.design, self.n_covariates)
        times = draw_times(self.observation_times, n_repeats * n, m, rng)
        regressors = self._regressors(n_repeats, rng)
        values = rng.standard_normal((n_repeats * n, m))
        values *= np.sqrt(self.noise_variance)
        weights = regressors.reshape(-1, effects.shape[1])
        if self.deviation_sd:
            paths = path_polynomials(4.0, 0.8, 1.0) * self.deviation_sd
            effects = np.concatenate(
                [_padded(effects, len(paths)), _padded(paths, len(effects))], axis=1
            )
            weights = np.concatenate(
                [weights, rng.standard_normal((len(weights), paths.shape[1]))], axis=1
            )
        _add_curves(values, times, effects, weights)
        return CurveData(
            times=times.reshape(n_repeats, n * m),
            values=values.reshape(n_repeats, n * m),
            counts=np.full(n, m),
            server=np.sort(np.arange(n) % self.n_servers),
            facts=facts,
            truth=self.truth,
            covariates=_in_own_units(regressors, facts),
        )

    def _regressors(self, n_repeats: int, rng: np.random.Generator) -> Array:
        """1 and covariates in [−1, 1] by their law, from even draws: (repeats, n, d + 1)."""
        out = np.ones((n_repeats, self.n_curves, self.n_covariates + 1))
        unit = rng.uniform(-1.0, 1.0, (n_repeats, self.n_curves, self.n_covariates))
        if self.likeness:
            unit = (1 - self.likeness) * unit + self.likeness * unit[..., :1]
        if self.covariate_law in _CENTRES:
            normal = ndtri(np.clip((unit + 1) / 2, 1e-12, 1 - 1e-12))
            unit = np.clip(_CENTRES[self.covariate_law] + self.covariate_spread * normal, -1, 1)
        elif self.covariate_law == "rare":
            unit[..., 0] = np.where(unit[..., 0] < 1 - 2 * self.rare_share, -1.0, 1.0)
        if self.design == "growth" and self.n_covariates > 1:
            unit[..., 1] = np.where(unit[..., 1] < 0, -1.0, 1.0)
        out[..., 1:] = unit
        return out


def _in_own_units(regressors: Array, facts: PublicFacts) -> Array:
    """Covariates (…, d) from their places in [−1, 1]."""
    covariates = regressors[..., 1:].copy()
    for k, stated in enumerate(facts.covariates):
        covariates[..., k] *= (stated.high - stated.low) / 2
        covariates[..., k] += (stated.high + stated.low) / 2
    return covariates


def _add_curves(values: Array, times: Array, effects: Array, weights: Array) -> None:
    """Add every curve at its times, in place; curves are `effects` times their weights."""
    step = curves_at_once(times.shape[1])
    for first in range(0, len(times), step):
        block = slice(first, first + step)
        z = np.multiply(times[block].T, 2.0, order="C")  # curves along the fast axis
        z -= 1.0
        values[block] += horner(effects @ weights[block].T, z).T


def _padded(polynomials: Array, length: int) -> Array:
    return np.pad(polynomials, ((0, max(length - len(polynomials), 0)), (0, 0)))


@lru_cache
def _polynomials(design: str, n_covariates: int) -> Array:
    """Intercept and effects in powers of z = 2t − 1, to 1e-9 of their size: (degree + 1, d + 1)."""
    columns = [as_polynomial(effect) for effect in _EFFECTS[design][: n_covariates + 1]]
    longest = max(map(len, columns))
    return np.stack([np.pad(column, (0, longest - len(column))) for column in columns], axis=1)


@lru_cache
def _truth(design: str, n_covariates: int) -> Truth:
    effects = _EFFECTS[design][: n_covariates + 1]
    return Truth.of(lambda t: np.stack([effect(t) + 0 * t for effect in effects]))
