"""Simulated sparse curves: a known mean, a smooth deviation per person, observation noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.lists import MAX_SITES
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, PublicFacts, Truth
from engine.numerics.information import NormalPeople
from engine.numerics.kernels import matern, path_polynomials
from engine.numerics.tables import as_polynomial, curves_at_once, horner
from engine.sources import sources
from engine.sources.sited_curves import (
    SitedCurves,
    more_observations,
    observation_times,
    observations,
    people,
    time_density,
    time_span,
)


def mu1(t: Array) -> Array:
    """4/5 + (3/5) cos 2πt + (2/3) sin 2πt (arXiv 2412.06582, section 5)."""
    return 0.8 + 0.6 * np.cos(2 * np.pi * t) + (2 / 3) * np.sin(2 * np.pi * t)


def mu2(t: Array) -> Array:
    """1/7 + 5t²/7 − 10(1/2 − t)⁴/7 (arXiv 2412.06582, section 5)."""
    return 1 / 7 + 5 * t**2 / 7 - 10 * (0.5 - t) ** 4 / 7


def _preece_baines(t: Array) -> Array:
    age = 2 + 16 * t
    final, at_spurt, slow, fast, spurt = 169.0, 157.0, 0.112, 1.15, 13.0
    return final - 2 * (final - at_spurt) / (
        np.exp(slow * (age - spurt)) + np.exp(fast * (age - spurt))
    )


_GROWTH = np.polynomial.Chebyshev.interpolate(_preece_baines, 18, domain=[0, 1])


def growth(t: Array) -> Array:
    """Height in cm over ages 2 to 18, t = (age − 2) / 16.

    The polynomial of degree 18 through the growth curve of Preece and Baines (1978), model 1, with
    parameters between those usual for girls and for boys.
    """
    return np.asarray(_GROWTH(t))


def logistic(t: Array) -> Array:
    """1.2/(1 + exp(−9(t − 0.55))) + 0.3t: a rise in the middle, with slopes at both ends."""
    return 1.2 / (1 + np.exp(-9 * (t - 0.55))) + 0.3 * t


def wiggly(t: Array) -> Array:
    """0.4 + 0.6 sin 4πt + 0.4 cos 7πt: many basis functions, and no period."""
    return 0.4 + 0.6 * np.sin(4 * np.pi * t) + 0.4 * np.cos(7 * np.pi * t)


def line(t: Array) -> Array:
    """6t − 3."""
    return 6 * t - 3


def peak(t: Array) -> Array:
    """0.2 + 2 exp(−((t − 0.4)/0.03)²): a peak too narrow for some twenty basis functions."""
    return 0.2 + 2 * np.exp(-(((t - 0.4) / 0.03) ** 2))


def drop(t: Array) -> Array:
    """0.2 + 2 exp(−t/0.02): a fall within a small part of the range, at its start."""
    return 0.2 + 2 * np.exp(-t / 0.02)


_MEANS: dict[str, Callable[[Array], Array]] = {
    "mu1": mu1,
    "mu2": mu2,
    "growth": growth,
    "logistic": logistic,
    "wiggly": wiggly,
    "line": line,
    "flat": np.zeros_like,
    "peak": peak,
    "drop": drop,
}

_FACTS = {
    "mu1": PublicFacts(
        name="Smooth wave, simulated", value_name="Response", unit_scale=True, periodic=True
    ),
    "mu2": PublicFacts(name="Rising bend, simulated", value_name="Response", unit_scale=True),
    "growth": PublicFacts(
        name="Growth, simulated",
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
    "logistic": PublicFacts(
        name="Rise in the middle, simulated", value_name="Response", unit_scale=True
    ),
    "wiggly": PublicFacts(
        name="Many basis functions, simulated", value_name="Response", unit_scale=True
    ),
    "line": PublicFacts(name="Steep line, simulated", value_name="Response", unit_scale=True),
    "flat": PublicFacts(name="Flat line, simulated", value_name="Response", unit_scale=True),
    "peak": PublicFacts(name="Narrow peak, simulated", value_name="Response", unit_scale=True),
    "drop": PublicFacts(
        name="Fast drop at the start, simulated", value_name="Response", unit_scale=True
    ),
}
Levels = Callable[[int, np.random.Generator], Array]


_VARIANCES = {"groups": 0.2 * 0.8 * 4.0**2, "outliers": 0.05 * 0.95 * 5.0**2, "skewed": 1.0}


def _part_above(share: float, distance: float) -> Levels:
    """Levels of people of whom a share lies so far above the others; their mean is 0."""

    def levels(people: int, rng: np.random.Generator) -> Array:
        return np.asarray(distance * ((rng.random(people) < share) - share), dtype=float)

    return levels


_SHIFTS: dict[str, Levels] = {  # levels of people, in units of their spread, with mean 0
    "groups": _part_above(0.2, 4.0),
    "outliers": _part_above(0.05, 5.0),
    "skewed": lambda people, rng: rng.standard_exponential(people) - 1.0,
}
_WITHIN = 0.4  # of the spread, for what is left of a person's curve where levels differ
_TAIL_DEGREES = 4  # of the t law of heavy-tailed deviations


@sources.register
@dataclass(frozen=True, kw_only=True)
class SparseCurves(SitedCurves):
    """Y_ij = μ(X_ij) + U_i(X_ij) + ξ_ij with X uniform, U a Matérn process and Gaussian ξ.

    The design of arXiv 2412.06582, section 5. Deviations are drawn through their Karhunen–Loève
    expansion, whose eigenfunctions are polynomials to working accuracy, as are the means: a curve
    is then a polynomial with Gaussian coefficients, evaluated by Horner's rule at its own points.
    """

    key = "sparse_curves"
    label = "Simulated curves"
    order = 10
    tasks = frozenset({MEAN_FUNCTION.key})

    mean: str = param(
        "mu1", "Mean curve", "The known average the curves scatter around.", choices=tuple(_MEANS)
    )
    n_curves: int = people(250)
    n_observations_per_curve: int = observations(10)
    times: str = observation_times()
    time_density: str | None = time_density()
    time_span: float = time_span()
    more_observations: int = more_observations()
    n_servers: int = param(
        1,
        "Sites",
        "Sites that keep their own data; curves are split evenly.",
        low=1,
        high=MAX_SITES,
        symbol="S",
    )
    site_sizes: str | None = param(
        None,
        "People on each site",
        "Numbers such as 400, 250, 100: one for each site. Empty: people are split evenly.",
    )
    site_readings: str | None = param(
        None,
        "Observations each, on each site",
        "Numbers such as 10, 10, 6: one for each site. Empty: the same on all.",
    )
    noise_variance: float = param(
        0.25,
        "Variance of an observation's error",
        "Error of a single observation, in squared response units.",
        low=0.0,
        high=1e4,
    )
    deviation_sd: float = param(
        0.5,
        "Spread of people",
        "Standard deviation of a person's curve around the mean.",
        low=0.0,
        high=100.0,
        when={"mean=growth": 6.0},
    )
    deviation_tails: str = param(
        "normal",
        "How people differ",
        "Normal: alike to both sides. Heavy: a t law with 4 degrees of freedom, so that a few are "
        "far out. Groups: a fifth lies four spreads above the others. Outliers: one in twenty lies "
        "five spreads above. Skewed: levels follow an exponential law of one spread.",
        choices=("normal", "heavy", *_SHIFTS),
    )
    level: float = param(
        0.0, "Level", "Added to the mean curve, in response units.", low=-1e6, high=1e6
    )
    deviation_length: float = param(
        0.8,
        "Length scale of deviations",
        "Larger: a person's curve stays above or below longer.",
        low=0.3,
        high=5.0,
    )
    deviation_smoothness: float = param(
        4.0,
        "Smoothness of deviations",
        "Order ν of the Matérn covariance.",
        low=3.0,
        high=10.0,
        symbol="ν",
    )
    value_low: float = param(
        -2.0,
        "Lowest possible value",
        "Public lower bound.",
        low=-1e6,
        high=1e6,
        when={
            "mean=mu2": -3.0,
            "mean=growth": 60.0,
            "mean=wiggly": -3.0,
            "mean=line": -5.0,
            "mean=flat": -3.0,
        },
    )
    value_high: float = param(
        4.0,
        "Highest possible value",
        "Public upper bound.",
        low=-1e6,
        high=1e6,
        when={"mean=mu2": 3.0, "mean=growth": 200.0, "mean=line": 5.0, "mean=flat": 3.0},
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            (
                "Growth, simulated",
                {"mean": "growth", "n_curves": 200, "n_observations_per_curve": 30},
            ),
            ("Smooth wave, simulated", {"mean": "mu1"}),
            ("Rising bend, simulated", {"mean": "mu2"}),
            ("Many basis functions, simulated", {"mean": "wiggly", "n_curves": 1000}),
        )

    @property
    def facts(self) -> PublicFacts:
        base = _FACTS[self.mean]
        return replace(
            base,
            value_low=self.value_low,
            value_high=self.value_high,
            design=self.design,
            symmetric=self.deviation_tails not in _SHIFTS,
        )

    @property
    def normal_people(self) -> NormalPeople | None:
        """None where observations have no error, or levels or tails are not normal."""
        if self.deviation_tails != "normal" or not self.noise_variance:
            return None
        return NormalPeople(
            self.deviation_smoothness, self.deviation_length, self.deviation_sd, self.noise_variance
        )

    @property
    def covariance_of_people(self) -> Truth:
        return _covariance(
            self.deviation_smoothness,
            self.deviation_length,
            self.deviation_sd,
            self.deviation_tails,
        )

    @property
    def truth(self) -> Truth:
        return _truth(self.mean, self.level)

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Observations of new people; see `SitedCurves.values_at`.

        Deviations and errors each come from one block of draws.
        """
        n, m = times.shape
        deviations = (
            path_polynomials(self.deviation_smoothness, self.deviation_length, 1.0)
            * self.deviation_sd
        )
        weights = rng.standard_normal((n, deviations.shape[1]))
        if self.deviation_tails == "heavy":
            weights *= _stretch(n, rng)
        shifts = np.zeros(n)
        if self.deviation_tails in _SHIFTS:
            weights *= _WITHIN
            shifts = self.deviation_sd * _SHIFTS[self.deviation_tails](n, rng)
        mean = _mean_polynomial(self.mean).copy()
        mean[0] += self.level
        values = rng.standard_normal((n, m))
        step = curves_at_once(m)
        for first in range(0, n, step):
            block = slice(first, first + step)
            curves = _curve_polynomials(mean, deviations, weights[block])
            curves[0] += shifts[block]
            z = np.multiply(times[block].T, 2.0, order="C")  # curves along the fast axis
            z -= 1.0
            values[block] *= np.sqrt(self.noise_variance)
            values[block] += horner(curves, z).T
        return values


def _curve_polynomials(mean: Array, deviations: Array, weights: Array) -> Array:
    """Coefficients of every curve in powers of z = 2t − 1: (degree + 1, curves)."""
    curves = np.zeros((max(len(mean), len(deviations)), len(weights)))
    np.matmul(deviations, weights.T, out=curves[: len(deviations)])
    curves[: len(mean)] += mean[:, None]
    return curves


def _stretch(curves: int, rng: np.random.Generator) -> Array:
    """Factors that turn normal deviations into t ones of the same variance: (curves, 1)."""
    chance = rng.chisquare(_TAIL_DEGREES, (curves, 1))
    return np.sqrt((_TAIL_DEGREES - 2) / chance)


@lru_cache
def _mean_polynomial(name: str) -> Array:
    return as_polynomial(_MEANS[name])


@lru_cache
def _truth(name: str, level: float) -> Truth:
    return Truth.of(lambda t: _MEANS[name](t) + level)


@lru_cache(maxsize=16)
def _covariance(smoothness: float, length: float, sd: float, tails: str) -> Truth:
    """Compute the covariance of two times: of deviations, and of levels where these differ."""
    within = _WITHIN if tails in _SHIFTS else 1.0
    between = sd**2 * _VARIANCES.get(tails, 0.0)

    def values(points: Array) -> Array:
        return between + matern(points[..., 0] - points[..., 1], smoothness, length, within * sd)

    return Truth.of(values, "square")
