"""Simulated numbers in a public range, some for each person or site, with a known mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import UNIVARIATE_MEAN
from engine.core.types import CurveData, PublicFacts, Sizes, Truth
from engine.sources import Source, sources


@sources.register
@dataclass(frozen=True, kw_only=True)
class Numbers(Source[CurveData]):
    """Y_ij = μ + U_i + ξ_ij, normal U and ξ, held within a public range.

    Person (or site) i is one curve, the only one of server i; its observations are the n numbers
    that i holds. Times carry no meaning and are zero. The truth is a constant function, the mean of
    numbers once they are held within the range, so that errors of curves are errors of numbers.
    """

    key = "numbers"
    label = "Simulated numbers"
    order = 20
    tasks = frozenset({UNIVARIATE_MEAN.key})

    n_servers: int = param(
        200, "People or sites", "How many hold numbers of their own.", low=1, high=1000, symbol="S"
    )
    n_items: int = param(
        50, "Numbers each", "How many numbers each of them holds.", low=1, high=20_000, symbol="n"
    )
    mean: float = param(
        0.4,
        "Mean",
        "What numbers scatter around, before the range holds them.",
        low=-1e6,
        high=1e6,
        symbol="μ",
    )
    person_sd: float = param(
        0.0,
        "Spread of people",
        "Standard deviation of a person's own mean. Zero: all numbers are independent.",
        low=0.0,
        high=1e6,
    )
    item_sd: float = param(
        0.2,
        "Spread of numbers",
        "Standard deviation of a person's numbers around the own mean.",
        low=0.0,
        high=1e6,
    )
    value_low: float = param(
        0.0, "Lowest possible value", "Public lower bound of a number.", low=-1e6, high=1e6
    )
    value_high: float = param(
        1.0, "Highest possible value", "Public upper bound of a number.", low=-1e6, high=1e6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.facts  # noqa: B018  (checks the bounds)
        if not self.value_low <= self.mean <= self.value_high:
            raise InputError(
                f"The mean must lie between {self.value_low:g} and "
                f"{self.value_high:g}; got {self.mean:g}.",
                field="mean",
                hint="Move it into the range, or widen the range.",
            )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Simulated numbers", {}),
            ("A few sites with many numbers", {"n_servers": 10, "n_items": 2000}),
            ("Many numbers for each person", {"n_servers": 1000, "n_items": 2000}),
        )

    @property
    def facts(self) -> PublicFacts:
        return PublicFacts(
            name=self.label,
            value_name="Number",
            value_low=self.value_low,
            value_high=self.value_high,
        )

    @property
    def sizes(self) -> Sizes:
        return Sizes((1,) * self.n_servers, self.n_servers * self.n_items, self.n_items)

    @property
    def true_mean(self) -> float:
        """E of a normal number held within [a, b]: E = μ + ∫_{−∞}^a Φ − ∫_b^∞ (1 − Φ)."""
        sd = float(np.hypot(self.person_sd, self.item_sd))
        if sd == 0:
            return self.mean
        below, above = (self.value_low - self.mean) / sd, (self.mean - self.value_high) / sd
        return self.mean + sd * (_mean_excess(below) - _mean_excess(above))

    @property
    def variance_of_mean(self) -> float | None:
        """Variance of the mean of all numbers once held within the range; None if people vary.

        With α and β the bounds in standard units, moments of a held normal are those of its three
        parts: α with chance Φ(α), β with chance 1 − Φ(β), and the truncated normal between.
        """
        if self.person_sd > 0:
            return None
        if self.item_sd == 0:
            return 0.0
        low, high = (
            (bound - self.mean) / self.item_sd for bound in (self.value_low, self.value_high)
        )
        below, above = ndtr(low), ndtr(-high)
        first = low * below + _density(low) - _density(high) + high * above
        second = (
            low**2 * below
            + (1 - below - above + low * _density(low) - high * _density(high))
            + high**2 * above
        )
        return float(self.item_sd**2 * (second - first**2) / (self.n_servers * self.n_items))

    @property
    def truth(self) -> Truth:
        return Truth.of(lambda t: np.full_like(t, self.true_mean))

    def resized(self, people: int, readings: int, sites: int) -> Numbers:
        """So many numbers at each site; every site is one person, whatever `people` says."""
        return replace(self, n_servers=sites, n_items=readings)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets: people first, then all their numbers."""
        people = self.mean + self.person_sd * rng.standard_normal((n_repeats, self.n_servers, 1))
        items = self.item_sd * rng.standard_normal((n_repeats, self.n_servers, self.n_items))
        items += people
        np.clip(items, self.value_low, self.value_high, out=items)
        values = items.reshape(n_repeats, -1)
        return CurveData(
            np.zeros_like(values),
            values,
            np.full(self.n_servers, self.n_items),
            np.arange(self.n_servers),
            self.facts,
            self.truth,
        )


def _density(z: float) -> float:
    """φ(z) of the standard normal law."""
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _mean_excess(z: float) -> float:
    """E max(z − Z, 0) for standard normal Z: zΦ(z) + φ(z)."""
    return float(z * ndtr(z) + _density(z))
