"""Simulated points with a number or a class each, to be predicted from where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit

from engine.core.registry import param
from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import Array, Covariate, PublicFacts, SampleData, Truth
from engine.numerics.clipping.normal_readings import clipped_mean
from engine.sources import DealtRecords, number_of, sites_with, sources

_SHAPES: dict[str, Callable[[Array], Array]] = {
    "wave": lambda x: np.asarray(np.sin(2 * np.pi * x) * (1.2 - 0.8 * x)),
    "two_bumps": lambda x: np.asarray(
        np.exp(-(((x - 0.25) / 0.1) ** 2) / 2) - 0.8 * np.exp(-(((x - 0.7) / 0.15) ** 2) / 2)
    ),
    "step": lambda x: np.asarray(np.tanh((x - 0.5) / 0.05)),
    "line": lambda x: np.asarray(2 * x - 1),
}


@sources.register
@dataclass(frozen=True, kw_only=True)
class LabelledPoints(DealtRecords[SampleData]):
    """Points X on [0, 1] with Y = f(X) + σξ held within [−B, B], or with a class Y = ±1.

    ξ is standard normal, and P(Y = 1 | X) = 1/(1 + exp(−a f(X))) for classes. Protected is a point
    with its Y. f, of size about 1, is known: `truth` is E[Y | X], which differs from f by less than
    1e-4 unless B is within three σ of it, and for classes the log-odds a f.
    """

    key = "labelled_points"
    label = "Simulated numbers or classes of points"
    order = 15
    tasks = frozenset({RISK_MINIMISATION.key})
    records = "points"

    response: str = param(
        "regression",
        "Predicted",
        "Regression: a number. Classes: one of two classes, −1 and 1.",
        choices=("regression", "classes"),
    )
    function: str = param(
        "wave", "Function", "The known function behind the labels.", choices=tuple(_SHAPES)
    )
    n_curves: int = number_of("Points")
    n_servers: int = sites_with("points")
    noise_sd: float = param(
        0.3,
        "Spread of numbers",
        "Standard deviation around the function; of no use for classes.",
        low=1e-3,
        high=1e3,
        symbol="σ",
    )
    bound: float = param(
        2.0,
        "Bound of numbers",
        "Stated: numbers are held within −B and B; of no use for classes.",
        low=1e-3,
        high=1e6,
        symbol="B",
    )
    strength: float = param(
        3.0,
        "Log-odds",
        "The log-odds of the class 1 where the function is 1. Large: classes "
        "hardly overlap. Regression ignores it.",
        low=0.0,
        high=50.0,
        symbol="a",
    )
    points: str = param(
        "even",
        "Points lie",
        "Even: uniform. Rising: with density ½ + x.",
        choices=("even", "rising"),
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Numbers around a sine", {}),
            ("Numbers around two bumps", {"function": "two_bumps"}),
            ("Two classes", {"response": "classes"}),
            ("Two classes with a sharp border", {"response": "classes", "function": "step"}),
        )

    @property
    def facts(self) -> PublicFacts:
        bound = 1.0 if self.response == "classes" else self.bound
        name = "Class" if self.response == "classes" else "Number"
        return PublicFacts(
            name=self.label,
            value_name=name,
            value_low=-bound,
            value_high=bound,
            time_name="Feature",
            unit_scale=True,
            two_classes=self.response == "classes",
            covariates=(Covariate("Feature", 0.0, 1.0),),
        )

    @property
    def n_numbers(self) -> int:
        return 1

    @property
    def truth(self) -> Truth:
        return _truth(self.target)

    @property
    def target(self) -> Target:
        return Target(self.response, self.function, self.noise_sd, self.bound, self.strength)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        """Draw data sets: all points, then all labels."""
        x = rng.random((n_repeats, self.n_curves))
        if self.points == "rising":  # the distribution function is (x + x²)/2
            x = (np.sqrt(1 + 8 * x) - 1) / 2
        return SampleData(
            x[..., None], self.target.labels(x, rng), self.server, self.facts, self.truth
        )


@dataclass(frozen=True)
class Target:
    """Law of labels given places: all that the truth depends on.

    The fields are parameters of `LabelledPoints`.
    """

    response: str
    function: str
    noise_sd: float
    bound: float
    strength: float

    def __call__(self, x: Array) -> Array:
        """The mean label, or the log-odds of the class 1."""
        shape = _SHAPES[self.function](x)
        if self.response == "classes":
            return self.strength * shape
        return clipped_mean(shape, self.bound, self.noise_sd)

    def labels(self, x: Array, rng: np.random.Generator) -> Array:
        """Draw a number or a class for each place on [0, 1], in the shape of x."""
        if self.response == "classes":
            return np.where(rng.random(x.shape) < expit(self(x)), 1.0, -1.0)
        noisy = _SHAPES[self.function](x) + self.noise_sd * rng.standard_normal(x.shape)
        return np.clip(noisy, -self.bound, self.bound)


@lru_cache
def _truth(target: Target) -> Truth:
    return Truth.of(target)
