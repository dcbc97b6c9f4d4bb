"""Bounds for noisy gradient descent at one centre, with their logarithms and their probability.

Minimax rates leave out what grows like a power of log n. These are the upper bounds as they are
proved (Xue, Lin and Yu, arXiv 2412.06582): only their constants are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION, VARYING_COEFFICIENTS
from engine.core.types import Array
from engine.mechanisms.base import Mechanism
from engine.mechanisms.families.descent import Participation
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.rates import Condition, Rate, Symbol, Term, rates
from engine.rates.functional_mean import (
    DELTA,
    DENSE,
    EPSILON,
    PRIVATE_DENSE,
    PRIVATE_SPARSE,
    SPARSE,
    D,
    M,
)
from engine.rates.powers import Point

SMOOTHING = "Smoothing"
N = Symbol("n", "People", 10, 1e6, 1000)
FUNCTIONS = Symbol("r", "Basis functions", 1, 1000, 10)
FAILURE = Symbol("eta", "Share of data sets left out", 1e-6, 0.099, 0.05, "η")
_STEPS = 60  # halvings of log r: to the last digits


def _log(p: Point) -> Array:
    return np.log(p["n"])


@dataclass(frozen=True, kw_only=True)
class NoisyGradientRate(Rate):
    """Five terms at a stated r, in all but a share of order η of data sets.

    η⁻¹ {d log n/n + d r log n/(nm) + d r^{−2α}} + {d²/(nε)² + d² r² ℓ/((nε)² m)} Λ with
    Λ = log²n · log(log n/η) · log(1/δ), where log²n are the T² of T = log n rounds; ℓ is log²(n/η)
    for a mean, where d = 1, and log(n/η) for coefficient functions.
    """

    symbols: ClassVar[tuple[Symbol, ...]] = (N, M, EPSILON, DELTA, FUNCTIONS, FAILURE)
    _power: ClassVar[int]  # of log(n/η) in ℓ
    _written: ClassVar[tuple[str, str]]  # d and d² in formulas

    smoothness: float = param(
        3.0, "Smoothness", "How smooth the curves are.", low=1.0, high=10.0, symbol="α"
    )

    @property
    def terms(self) -> tuple[Term, ...]:
        a, (d, square) = self.smoothness, self._written
        logs = r"\log^2 n\,\log\tfrac{\log n}{\eta}\,\log\tfrac1\delta"
        power = "^2" if self._power == 2 else ""
        return (
            Term(
                SPARSE,
                lambda p: _d(p) * p["r"] * _log(p) / (p["n"] * p["m"] * p["eta"]),
                formula=rf"\eta^{{-1}} {d} r \log n / (nm)",
            ),
            Term(
                PRIVATE_SPARSE,
                lambda p: (
                    (_d(p) * p["r"]) ** 2
                    / p["m"]
                    * np.log(p["n"] / p["eta"]) ** self._power
                    * _noise(p)
                ),
                is_private=True,
                formula=rf"{square} r^2 \log{power}\tfrac{{n}}{{\eta}}\,"
                rf"(n\varepsilon)^{{-2}} m^{{-1}}\,{logs}",
            ),
            Term(
                DENSE,
                lambda p: _d(p) * _log(p) / (p["n"] * p["eta"]),
                formula=rf"\eta^{{-1}} {d} \log n / n",
            ),
            Term(
                PRIVATE_DENSE,
                lambda p: _d(p) ** 2 * _noise(p),
                is_private=True,
                formula=rf"{square or '1'}\,(n\varepsilon)^{{-2}}\,{logs}",
            ),
            Term(
                SMOOTHING,
                lambda p: _d(p) * p["r"] ** (-2 * a) / p["eta"],
                formula=rf"\eta^{{-1}} {d} r^{{-2\alpha}}",
            ),
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Enough observations for so many functions, with T = log n."""
        return (
            Condition(
                "enough observations",
                r"r \le nm/\log n - \log(\log n/\eta)",
                "r",
                lambda p: p["n"] * p["m"] / _log(p) - np.log(_log(p) / p["eta"]),
            ),
        )

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """The r at which the bound is least: where its slope in log r is 0, which grows with r."""
        p = self.at(**point)
        low, high = np.zeros_like(p["n"], dtype=float), np.full_like(p["n"], 20.0, dtype=float)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            sparse, private, _, _, smoothing = self.evaluate(**{**p, "r": np.exp(middle)})
            rises = sparse + 2 * private > 2 * self.smoothness * smoothing
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
        return {"truncation": np.exp((low + high) / 2)}


def _d(p: Point) -> Array:
    return np.asarray(p.get("d", 1.0))


def _noise(p: Point) -> Array:
    """Λ/(nε)²: what privacy costs one coefficient of one function."""
    logs = _log(p) ** 2 * np.log(_log(p) / p["eta"]) * np.log(1 / p["delta"])
    return np.asarray(logs / (p["n"] * p["epsilon"]) ** 2)


@rates.register
@dataclass(frozen=True, kw_only=True)
class NoisyGradientMeanRate(NoisyGradientRate):
    """The mean function: `NoisyGradientRate` with d = 1."""

    key = "noisy_gradient_mean"
    label = "Mean function, with logarithms"
    order = 14
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Theorem 2.2"
    assumptions = ("Algorithm 1 at one centre, in all but a share of 10 η of data sets.",)
    _power, _written = 2, ("", "")

    def attained_by(self) -> Mechanism:
        """Noisy gradient descent as published."""
        return NoisyGradientMean(scheme=Participation.SPLIT, constants="published")


@rates.register
@dataclass(frozen=True, kw_only=True)
class NoisyGradientCoefficientsRate(NoisyGradientRate):
    """The d + 1 coefficient functions: `NoisyGradientRate` with d.

    Corollary 2 is printed without η⁻¹; it stands here as in Theorem 2.2, on the safe side.
    """

    key = "noisy_gradient_coefficients"
    label = "Varying coefficients, with logarithms"
    order = 15
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Corollary 2"
    assumptions = ("Algorithm 4 at one centre, in all but a share of 7 η of data sets.",)
    symbols = (*NoisyGradientRate.symbols, D)
    _power, _written = 1, ("d", "d^2")

    def attained_by(self) -> Mechanism:
        """Noisy gradient descent as published."""
        return NoisyGradientCoefficients(scheme=Participation.SPLIT, constants="published")
