"""Rates of mean functions and varying coefficients (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import lambertw

from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION, VARYING_COEFFICIENTS
from engine.core.types import Array
from engine.mechanisms.base import Mechanism
from engine.mechanisms.families.descent import Participation
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.rates import Boundary, Condition, Rate, Symbol, Term, border, rates
from engine.rates.powers import Exponent, Powers, constant, symbols
from engine.rates.trusted import ByTrust, Trust, arranged
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.sparse_curves import SparseCurves

SPARSE, PRIVATE_SPARSE = "Sparse observations", "Privacy and sparse observations"
DENSE, PRIVATE_DENSE = "Number of people", "Privacy"


N = Symbol("n", "People on each site", 10, 1e6, 200)
M = Symbol("m", "Observations per curve", 1, 1e5, 30)
S = Symbol("S", "Sites", 1, 1000, 1)
EPSILON = Symbol("epsilon", "Privacy budget", 0.01, 10, 1, "ε")
DELTA = Symbol("delta", "Slack of the guarantee", 1e-12, 1e-3, 1e-6, "δ")
D = Symbol("d", "Coefficient functions beside the first", 1, 50, 1)


n, m, sites, epsilon, d = symbols("n", "m", "S", "epsilon", "d")


def _private_size(notion: Trust) -> Powers:
    """K, the effective private size: how many people, squared, the budget lets count."""
    people = {Trust.CENTRAL: sites**2 * n**2, Trust.FEDERATED: sites * n**2, Trust.LOCAL: sites * n}
    return people[notion] * epsilon**2


def largest_delta(limit: Array, power: float = 1.0) -> Array:
    """Find the δ up to which δ log(1/δ)^power stays below a limit ≥ 0, as theorems ask of it.

    With δ = e^−u that is u e^{−u/power} = limit^{1/power}, whose larger root u the lower branch of
    Lambert's function gives; no δ up to the top of the left side is too large where the limit is.
    """
    inside = np.minimum(np.asarray(limit, dtype=float) ** (1 / power) / power, np.exp(-1.0))
    with np.errstate(invalid="ignore"):
        root = -power * lambertw(-inside, -1).real
    return np.where(inside > 0, np.exp(-root), 0.0)


@dataclass(frozen=True, kw_only=True)
class CurveRate(Rate):
    """Four terms: people and readings, each without and with privacy.

    d (Snm)^{−2α/(2α+1)} + d^{(2α+1)/(α+1)} (Km)^{−α/(α+1)} + d/(Sn) + d²/K with d = 1 for a mean
    and K the effective private size: S²n²ε² with one trusted centre, Sn²ε² when every site
    protects its own curves, Snε² when nobody is trusted. Without privacy the first and third.
    """

    symbols: ClassVar[tuple[Symbol, ...]] = (N, M, S, EPSILON, DELTA)

    privacy: Trust = param(
        Trust.FEDERATED,
        "Who is trusted",
        "Central: one centre holds all curves. Federated: each site its own. Local: nobody. "
        "None: no privacy.",
    )
    smoothness: float = param(
        3.0, "Smoothness", "How smooth the curves are.", low=1.0, high=10.0, symbol="α"
    )

    @property
    def terms(self) -> tuple[Term, ...]:
        a = Exponent(self.smoothness, r"\alpha")
        free = (
            Term(SPARSE, self._d * (sites * n * m) ** (-(2 * a) / (2 * a + 1))),
            Term(DENSE, self._d * (sites * n) ** -1),
        )
        if self.privacy is Trust.NONE:
            return free
        private = _private_size(self.privacy)
        power = (2 * a + 1) / (a + 1)
        return (
            free[0],
            Term(PRIVATE_SPARSE, self._d**power * (private * m) ** (-a / (a + 1)), is_private=True),
            free[1],
            Term(PRIVATE_DENSE, self._d**2 * private**-1, is_private=True),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """A to E of Tables 5 to 8, for one trusted centre with one site or for each site trusted.

        Everything follows from where two of the four terms are equal, so the same lines are drawn
        for the other notions with their own private size.
        """
        term = {term.name: term for term in self.terms}
        between_sparse = border("B", "m", term[SPARSE], term[DENSE], r"m = (Sn)^{1/(2\alpha)}")
        if self.privacy is Trust.NONE:
            return (between_sparse,)
        return (
            border(
                "A",
                "m",
                term[PRIVATE_SPARSE],
                term[PRIVATE_DENSE],
                r"m = d^{-1/\alpha} K^{1/\alpha}",
            ),
            between_sparse,
            border(
                "C",
                "epsilon",
                term[PRIVATE_SPARSE],
                term[SPARSE],
                r"K = d\,(Sn)^{(2\alpha+2)/(2\alpha+1)} m^{1/(2\alpha+1)}",
            ),
            border("D", "epsilon", term[PRIVATE_DENSE], term[DENSE], r"K = d\,Sn"),
            border(
                "E",
                "epsilon",
                term[PRIVATE_SPARSE],
                term[DENSE],
                r"K = d\,(Sn)^{(\alpha+1)/\alpha} / m",
            ),
        )

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """r* = the smallest of the four optimal basis sizes."""
        p, a = self.at(**point), self.smoothness
        sizes = [(sites * n * m) ** (1 / (2 * a + 1)), (sites * n) ** (1 / (2 * a))]
        if self.privacy is not Trust.NONE:
            private = _private_size(self.privacy) / self._d
            sizes += [(private * m) ** (1 / (2 * a + 2)), private ** (1 / (2 * a))]
        return {"truncation": np.minimum.reduce([size.at(p) for size in sizes])}

    @property
    def _d(self) -> Powers:
        """d, which is one for a mean and then left out of formulas."""
        return constant(1.0)


@rates.register
@dataclass(frozen=True, kw_only=True)
class FunctionalMeanRate(CurveRate):
    """The mean function: `CurveRate` with d = 1."""

    key = "functional_mean"
    label = "Mean function"
    order = 10
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Tables 1 and 4, Theorems 2 to 5"

    def attained_by(self) -> Mechanism | None:
        """Noisy gradient descent as published, where each site is trusted with its own curves."""
        if self.privacy is not Trust.FEDERATED:
            return None
        return NoisyGradientMean(scheme=Participation.SPLIT, constants="published")

    def by_trust(self) -> ByTrust:
        source = SparseCurves(n_curves=240, n_observations_per_curve=20, n_servers=4)
        rate = replace(self, privacy=Trust.FEDERATED)
        return ByTrust(arranged(rate, NoisyGradientMean()), source, 5.0)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        a = self.smoothness
        if self.privacy is Trust.CENTRAL:
            return (
                Condition(
                    "lower bound, Theorem 3",
                    r"\delta\sqrt{\log(1/\delta)} \le n^{-(2\alpha+3)/(2\alpha+2)}"
                    r"m^{-(8\alpha+9)/(4\alpha+4)}"
                    r"\varepsilon^{-1/(2\alpha+2)}",
                    "delta",
                    lambda p: largest_delta(
                        (p["S"] * p["n"]) ** (-(2 * a + 3) / (2 * a + 2))
                        * p["m"] ** (-(8 * a + 9) / (4 * a + 4))
                        * p["epsilon"] ** (-1 / (2 * a + 2)),
                        0.5,
                    ),
                ),
            )
        if self.privacy is Trust.FEDERATED:
            return (
                Condition(
                    "lower bound, Theorem 5.2",
                    r"\delta\log(1/\delta) \le \min\{S^{-1/(2\alpha+1)} n^{-1/(2\alpha+1)}"
                    r"m^{-(6\alpha+4)/(2\alpha+1)}\varepsilon^2,\; S^{-1/(2\alpha+2)} n^{-1/(\alpha+1)}"
                    r"m^{-(6\alpha+7)/(2\alpha+2)}\varepsilon^{(2\alpha+1)/(\alpha+1)}\}",
                    "delta",
                    lambda p: largest_delta(
                        np.minimum(
                            (p["S"] * p["n"]) ** (-1 / (2 * a + 1))
                            * p["m"] ** (-(6 * a + 4) / (2 * a + 1))
                            * p["epsilon"] ** 2,
                            p["S"] ** (-1 / (2 * a + 2))
                            * p["n"] ** (-1 / (a + 1))
                            * p["m"] ** (-(6 * a + 7) / (2 * a + 2))
                            * p["epsilon"] ** ((2 * a + 1) / (a + 1)),
                        )
                    ),
                ),
            )
        return ()


@rates.register
@dataclass(frozen=True, kw_only=True)
class VaryingCoefficientsRate(CurveRate):
    """d + 1 coefficient functions: `CurveRate` with d; lower bounds are proved for bounded d."""

    key = "varying_coefficients"
    label = "Varying coefficients"
    order = 11
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Tables 1 and 4, Theorems 6 and 7"
    symbols = (N, M, S, EPSILON, DELTA, D)

    def attained_by(self) -> Mechanism | None:
        """Noisy gradient descent as published, where each site is trusted with its own curves."""
        if self.privacy is not Trust.FEDERATED:
            return None
        return NoisyGradientCoefficients(scheme=Participation.SPLIT, constants="published")

    def by_trust(self) -> ByTrust:
        source = CoefficientCurves(n_curves=800, n_observations_per_curve=20, n_servers=4)
        rate = replace(self, privacy=Trust.FEDERATED)
        return ByTrust(arranged(rate, NoisyGradientCoefficients()), source, 5.0)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        a = self.smoothness
        if self.privacy not in (Trust.CENTRAL, Trust.FEDERATED):
            return ()
        return (
            Condition(
                "lower bound, Theorem 7.2",
                r"\delta\log(1/\delta) \le \min\{d^{-1}(Sn)^{-1/(2\alpha+1)}"
                r"m^{-(2\alpha+2)/(2\alpha+1)}"
                r"\varepsilon^2,\; d^{-(2\alpha+1)/(2\alpha+2)} S^{-1/(2\alpha+2)} n^{-1/(\alpha+1)}"
                r"m^{-(2\alpha+3)/(2\alpha+2)}\varepsilon^{(2\alpha+1)/(\alpha+1)}\}",
                "delta",
                lambda p: largest_delta(
                    np.minimum(
                        (p["S"] * p["n"]) ** (-1 / (2 * a + 1))
                        * p["m"] ** (-(2 * a + 2) / (2 * a + 1))
                        * p["epsilon"] ** 2
                        / p["d"],
                        p["d"] ** (-(2 * a + 1) / (2 * a + 2))
                        * p["S"] ** (-1 / (2 * a + 2))
                        * p["n"] ** (-1 / (a + 1))
                        * p["m"] ** (-(2 * a + 3) / (2 * a + 2))
                        * p["epsilon"] ** ((2 * a + 1) / (a + 1)),
                    )
                ),
            ),
        )

    @property
    def _d(self) -> Powers:
        return d
