"""Bounds for sites that differ in size and budget (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.core.enumerations import Enumeration
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION, VARYING_COEFFICIENTS
from engine.core.types import Array
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
    largest_delta,
)
from engine.rates.powers import Point

TERMS = (DENSE, PRIVATE_DENSE, SPARSE, PRIVATE_SPARSE)  # in the order of the four minima
_KINDS = 8  # of sites that stand for all: evenly spaced on log scales, equally many of each
_ACCURACY = math.log(1e13)  # of log r, from as far as 100 away


class Bound(Enumeration):
    """Which of both bounds: what a method attains, or what no method can beat."""

    UPPER = "upper"
    LOWER = "lower"


N = Symbol("n", "People on each site, on average", 10, 1e6, 200)
S = Symbol("S", "Sites", 2, 1000, 5)
BUDGET = Symbol("epsilon", "Privacy budget, on average", EPSILON.low, EPSILON.high, EPSILON.usual,
                "ε")
T = Symbol("T", "Rounds, of the lower bound alone", 1, 1000, 1)


# -- sites as they are ----------------------------------------------------------------------


@dataclass(frozen=True)
class Sites:
    """Sizes and budgets of sites that need not be alike, each (sites,).

    Parameters
    ----------
    n : array
        People on each site.
    epsilon : array
        Budget of each site.
    m : float or array
        Observations per curve.
    smoothness : float
        α.
    d : float
        Coefficient functions beside the first; 1 for a mean.
    """

    n: Array
    epsilon: Array
    m: float | Array
    smoothness: float
    d: float = 1.0

    def size(self) -> float:
        """r: d r^{2α+2} = Σ_s min{d r² n_s, r² n_s² ε_s², d r n_s m, n_s² m ε_s²}."""
        return float(_balanced(lambda r: self.minima(r).sum(axis=(0, 1)), np.asarray(self.d),
                               self.smoothness))

    def upper(self) -> float:
        """The rate of Theorems 4.2 and 6.2 at the best r: d²r²/Σ_s min{…} + d r^{−2α}."""
        r = self.size()
        return float(self.d**2 * r**2 / self.information().sum()
                     + self.d * r**(-2 * self.smoothness))

    def lower(self, rounds: float = 1.0) -> float:
        """The lower bound of Theorems 5.1 and 7.1 after `rounds` equal batches.

        sup_r d²r²/(Σ_s min(d r n_s m, n_s² m ε_s²/T) + d r^{2α+2}) or d²/Σ_s min(d n_s,
        n_s² ε_s²/T), whichever is larger; the first is unimodal in log r.
        """
        private = (self.n * self.epsilon) ** 2 / rounds
        r = np.exp(np.linspace(-2.0, 30.0, 6401))[:, None]
        within = np.minimum(self.d * r * self.n * self.m, private * self.m).sum(axis=1)
        sparse = (self.d * r[:, 0])**2 / (within + self.d * r[:, 0]**(2 * self.smoothness + 2))
        dense = self.d**2 / np.minimum(self.d * self.n, private).sum()
        return float(max(sparse.max(), dense))

    def information(self) -> Array:
        """What each site adds to Σ_s min{…} at the best r: (sites,)."""
        return np.asarray(self.minima(self.size()).sum(axis=0))

    def limits(self) -> list[str]:
        """The term that limits each site, by the names of `TERMS`."""
        return [TERMS[k] for k in self.minima(self.size()).argmax(axis=0)]

    def minima(self, r: float | Array) -> Array:
        """The least of the four of each site in its own row, the rest zero: (4, sites)."""
        return _minima(self.d, r, self.n, self.m, (self.n * self.epsilon) ** 2)


def _minima(d: float | Array, r: float | Array, n: Array, m: float | Array, private: Array
            ) -> Array:
    """min{d r² n, r² (nε)², d r n m, (nε)² m} in the row of the least, the rest zero."""
    each = np.stack(np.broadcast_arrays(d * r**2 * n, r**2 * private, d * r * n * m, private * m))
    least = np.arange(4).reshape(-1, *[1] * (each.ndim - 1)) == each.argmin(axis=0)
    return np.where(least, each, 0.0)


def _balanced(information: Callable[[Array], Array], d: Array, smoothness: float) -> Array:
    """R with d r^{2α+2} = information(r), which grows with r no faster than r².

    The difference of the logarithms has a slope between 2α and 2α + 2 in log r: steps of a fixed
    slope 2α + 1 come closer by a factor 2α + 1 each.
    """
    log_r = np.zeros(np.shape(d))
    for _ in range(math.ceil(_ACCURACY / math.log(2 * smoothness + 1)) + 3):
        r = np.exp(log_r)
        gap = np.log(d) + (2 * smoothness + 2) * log_r - np.log(information(r))
        log_r = log_r - gap / (2 * smoothness + 1)
    return np.asarray(np.exp(log_r))


# -- the rates ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DifferingSitesRate(Rate):
    """Both bounds where sites differ.

    Above, d²r²/Σ_s min{d r n_s m, n_s²mε_s², d r²n_s, r²n_s²ε_s²} at the best r, where smoothing is
    as large: each term holds its share of both. A site alone would have the error d²r²/min{…};
    together they have the harmonic mean of these, over the number of sites. So one good site is
    enough, and none makes it worse.

    The lower bound after T rounds is the larger of d²r²/Σ_s min(d r n_s m, n_s²mε_s²/T) at its own
    best r and d²/Σ_s min(d n_s, n_s²ε_s²/T). It lacks the dense terms in the balance of r, so the
    two do not match where sites differ. The authors conjecture that the upper one is sharp.

    Sites are spread evenly on log scales. The largest site has the smallest budget.
    """

    called: ClassVar[Mapping[str, str]] = {
        Bound.UPPER: "what a method attains", Bound.LOWER: "what no method beats"}

    bound: Bound = param(
        Bound.UPPER, "Bound",
        "Upper: what noisy gradient descent attains. Lower: what no method can beat.")
    smoothness: float = param(3.0, "Smoothness", "How smooth the curves are.", low=1.0, high=10.0,
                              symbol="α")
    people_ratio: float = param(
        10.0, "Largest site over smallest",
        "People of the largest site over those of the smallest.",
        low=1.0, high=1e4)
    budget_ratio: float = param(
        10.0, "Largest ε over smallest", "The largest budget of a site over the smallest.",
        low=1.0, high=1e4)

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(Term(name, lambda p, k=k: self._sizes(p)[k],  # type: ignore[misc]
                          "ε" in _FORMULAS[self.bound][k], _formula(self.bound, k))
                     for k, name in enumerate(TERMS))

    def evaluate(self, **point: float | Array) -> Array:
        """Size of every term, all from one r: (terms, *shape of the broadcast point)."""
        return self._sizes(self.at(**point))

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """The r of the bound."""
        return {"truncation": self._best(self.at(**point))[0]}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What the lower bound asks of δ, at the site with the smallest budget."""
        if self.bound is Bound.UPPER:
            return ()
        power, has_d = self._condition

        def limit(p: Point) -> Array:
            epsilon = self._spread(p)[1].min(axis=0)
            r = self._best(p)[0]
            return largest_delta(epsilon**2 / (r * p["m"] ** power * _d(p) ** has_d))

        return (Condition(
            f"lower bound, Theorem {self._theorem}",
            rf"\delta_s \log(1/\delta_s) \le r_0^{{-1}} {'d^{-1} ' if has_d else ''}m^{{-{power}}}"
            r"\varepsilon_s^2", "delta", limit),)

    _theorem: ClassVar[str]
    _condition: ClassVar[tuple[int, int]]  # powers of 1/m and 1/d in the condition on δ

    def _spread(self, p: Point) -> tuple[Array, Array]:
        """People and budget of every kind of site, (kinds, *point), around the point."""
        log_scale = (np.arange(_KINDS) + 0.5) / _KINDS - 0.5
        kinds = log_scale.reshape(-1, *[1] * np.ndim(p["n"]))
        people, budget = self.people_ratio**kinds, self.budget_ratio**-kinds
        return p["n"] * people / people.mean(), p["epsilon"] * budget / budget.mean()

    def _best(self, p: Point) -> tuple[Array, Array]:
        """r, and each of the four minima summed over sites there: (4, *point)."""
        d, (n, epsilon) = _d(p), self._spread(p)
        rounds = p["T"] if self.bound is Bound.LOWER else 1.0
        private, sites = (n * epsilon) ** 2 / rounds, p["S"] / _KINDS

        def minima(r: Array) -> Array:
            if self.bound is Bound.UPPER:
                return np.asarray(sites * _minima(d, r, n, p["m"], private).sum(axis=1))
            few = d * r * n * p["m"]
            noisy = private * p["m"]
            zero = np.zeros_like(few + noisy)
            return np.asarray(sites * np.stack([
                zero, zero, np.where(few <= noisy, few, 0.0),
                np.where(few > noisy, noisy, 0.0)]).sum(axis=1))

        r = _balanced(lambda r: minima(r).sum(axis=0), np.broadcast_to(d, np.shape(p["n"])),
                      self.smoothness)
        return r, minima(r)

    def _sizes(self, p: Point) -> Array:
        d, (r, minima) = _d(p), self._best(p)
        whole = minima.sum(axis=0)
        if self.bound is Bound.UPPER:
            return np.asarray(2 * d**2 * r**2 / whole * minima / whole)
        sparse = d**2 * r**2 / (2 * whole)
        n, epsilon = self._spread(p)
        people, noisy = d * n, (n * epsilon) ** 2 / p["T"]
        least = p["S"] / _KINDS * np.stack([np.where(people <= noisy, people, 0.0),
                                            np.where(people > noisy, noisy, 0.0)]).sum(axis=1)
        dense = d**2 / least.sum(axis=0)
        return np.concatenate([np.where(dense > sparse, dense * least / least.sum(axis=0), 0.0),
                               np.where(dense > sparse, 0.0, sparse * minima[2:] / whole)])


_FORMULAS = {Bound.UPPER: ("d r^2 n_s", "r^2 n_s^2 ε_s^2", "d r n_s m", "n_s^2 m ε_s^2"),
             Bound.LOWER: ("d n_s", "n_s^2 ε_s^2 / T", "d r n_s m", "n_s^2 m ε_s^2 / T")}


def _formula(bound: Bound, k: int) -> str:
    """The bound with the sites that this term limits."""
    written = _FORMULAS[bound][k].replace("ε", r"\varepsilon")
    square = "d^2" if bound is Bound.LOWER and k < 2 else "d^2 r^2"
    return rf"{square}\Big/\sum_s \min\{{{written},\,\dots\}}"


def _d(p: Point) -> Array:
    return np.asarray(p.get("d", 1.0))


@rates.register
@dataclass(frozen=True, kw_only=True)
class DifferingMeanRate(DifferingSitesRate):
    """The mean function: `DifferingSitesRate` with d = 1."""

    key = "differing_sites_mean"
    label = "Mean function, sites that differ"
    order = 12
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Theorems 4.2 and 5.1"
    symbols = (N, M, S, BUDGET, DELTA, T)
    _theorem, _condition = "5.1", (3, 0)


@rates.register
@dataclass(frozen=True, kw_only=True)
class DifferingCoefficientsRate(DifferingSitesRate):
    """d + 1 coefficient functions: `DifferingSitesRate` with d; proved below for bounded d."""

    key = "differing_sites_coefficients"
    label = "Varying coefficients, sites that differ"
    order = 13
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Theorems 6.2 and 7.1"
    symbols = (N, M, S, BUDGET, DELTA, T, D)
    _theorem, _condition = "7.1", (1, 1)
