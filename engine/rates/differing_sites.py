"""Bounds for sites that differ in size and budget (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

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
from engine.sources import Source

TERMS = (DENSE, PRIVATE_DENSE, SPARSE, PRIVATE_SPARSE)  # in the order of the four minima
_KINDS = 8  # of sites that stand for all: evenly spaced on log scales, equally many of each
_ACCURACY = math.log(1e13)  # of log r, from as far as 100 away


class Bound(Enumeration):
    """Bounds of the rate: what a method attains, or what no method can beat."""

    UPPER = "upper"
    LOWER = "lower"


class Weights(Enumeration):
    """Weights of the sites in the upper bound."""

    BEST = "best"
    PEOPLE = "people"
    ALIKE = "alike"


N = Symbol("n", "People on each site, on average", 10, 1e6, 200)
S = Symbol("S", "Sites", 2, 1000, 8)
BUDGET = Symbol(
    "epsilon", "Privacy budget, on average", EPSILON.low, EPSILON.high, EPSILON.default, "ε"
)
T = Symbol("T", "Rounds", 1, 1000, 1)


# -- sites as they are ----------------------------------------------------------------------


@dataclass(frozen=True)
class DifferingSites:
    """Sizes and budgets of sites that need not be alike, and both bounds for them.

    With V(r) the error that a site alone would have at r functions, the largest of T d/n,
    T d r/(nm), T² d²/(nε)² and T² d² r²/((nε)² m), public weights ν_s give together
    Σ_s ν_s² V_s(r) + d r^{−2α}: Proposition 9 (and 12, with d), where T is explicit. Theorems 4.2
    and 6.2 are this with the best weights and T = 1, which leaves out what is a power of log n.

    The lower bound of Theorems 5.1 and 7.1 has T on its private terms alone. Both are the same
    functions of n_s and (n_s ε_s)², so that constants which stand in front of them in one bound
    stand there in the other as well, and the lower bound is never above the upper one.

    *Proof.* For best weights 1/Σ ν² V is I(r) = Σ_s min{…}/d², at T ≥ 1 no more than A(r)/d², whose
    terms are the sparse ones of the lower bound, nor than r² B/d² of its dense ones. Above is
    r^{−2α} d + d²r²/I ≥ the value v of both where d r^{−2α} = d²r²/A(r), since d²r²/A grows with r
    and the other falls; below is no more than v. And d²r²/I ≥ d²/B. Other weights add to the upper
    bound. ∎

    Examples
    --------
    >>> sites = DifferingSites(np.array([100.0, 900.0]), np.array([1.0, 0.1]), 20.0, 3.0)
    >>> bool(sites.lower() < sites.upper())
    True
    """

    n: Array  # (sites, *point): people on each site
    epsilon: Array  # (sites, *point): budget of each site
    m: float | Array  # float or array: observations per curve
    smoothness: float  # α
    d: float | Array = 1.0  # float or array: coefficient functions beside the first; 1 for a mean
    # float or array: T, the batches into which every site divides its people
    rounds: float | Array = 1.0
    copies: float | Array = 1.0  # float or array: how many sites each stands for
    # {"best", "people", "alike"}: ν_s: inverse to V_s, in proportion to people, or equal
    weights: Weights = Weights.BEST
    # statistical, private: constants in front of terms without and with privacy
    statistical: float = 1.0
    private: float = 1.0

    def size(self) -> Array:
        """The r of the upper bound: d r^{2α+2} = d²r²/Σ_s ν_s² V_s(r)."""
        return self._balanced(lambda r: self.by_term(r).sum(axis=0))

    def upper(self) -> Array:
        """Bound what a method attains: twice d r^{−2α} at that r."""
        return np.asarray(self.upper_terms().sum(axis=0))

    def upper_terms(self) -> Array:
        """The upper bound by the term that limits each site: (4, *point), as `TERMS`."""
        r = self.size()
        information = self.by_term(r)
        whole = information.sum(axis=0)
        return np.asarray(2 * self.d**2 * r**2 / whole * information / whole)

    def lower(self) -> Array:
        """Bound every method from below, after `rounds` equal batches."""
        return np.asarray(self.lower_terms().sum(axis=0))

    def lower_terms(self) -> Array:
        """The lower bound by the term that limits each site: (4, *point), as `TERMS`.

        The larger of d²r²/(A(r) + d r^{2α+2}), where both parts are equal and which at its best r
        is at most twice as large, and d²/B.
        """
        sparse, dense = self._sparse(self.lower_size()), self._dense()
        from_sparse = self._of_sparse() / 2
        from_dense = self.d**2 / dense.sum(axis=0)
        is_dense = from_dense > from_sparse
        return np.concatenate(
            [
                np.where(is_dense, from_dense * dense / dense.sum(axis=0), 0.0),
                np.where(is_dense, 0.0, from_sparse * sparse / sparse.sum(axis=0)),
            ]
        )

    def gap(self) -> Array:
        """Compute the ratio of upper to lower bound, beyond that of sites that are alike.

        One where sites are alike or one kind of term limits all. With one round and the best
        weights at most (√r + 1)/2, by `largest_gap`.
        """
        above = self.upper() / 2
        below = np.maximum(self._of_sparse(), self.d**2 / self._dense().sum(axis=0))
        return np.asarray(above / below)

    def largest_gap(self) -> Array:
        """(√q + 1)/2 with q = max(r, 1/r), which no gap exceeds at one round and best weights.

        *Proof.* The sparse term of a site over its dense one is from m/r² (privacy limits both) to
        m/r (people do), and Σ min{a, b} falls behind min{Σ a, Σ b} most where sites are at both
        ends. With x = m/r > 1 > 1/y = m/r² the ratio is at most (xy − 1)/(x + y − 2), and xy = r;
        the largest is at x = y = √r. What the sums differ by at this r the bounds differ by at
        most, because d²r²/A(r) grows with r. ∎ So sites of both kinds are needed, and r < m < r².
        """
        r = self.size()
        return np.asarray((np.sqrt(np.maximum(r, 1 / r)) + 1) / 2)

    def information(self) -> Array:
        """Compute what each site adds to Σ_s min{…} at the best r: (sites, *point)."""
        return np.asarray(self.minima(self.size()).sum(axis=0))

    def limits(self) -> list[str]:
        """The term that limits each site, by the names of `TERMS`."""
        return [TERMS[k] for k in self.minima(self.size()).argmax(axis=0)]

    def minima(self, r: float | Array) -> Array:
        """The d²r²/V_s(r) of each site in the row of its limiting term: (4, sites, *point)."""
        n, private = self._worth
        n, private = n / self.rounds, private / self.rounds**2
        return _smallest_terms(
            self.d * r**2 * n, r**2 * private, self.d * r * n * self.m, private * self.m
        )

    def by_term(self, r: Array) -> Array:
        """d²r²/Σ_s ν_s² V_s(r), by the term that limits each site: (4, *point)."""
        minima = self.minima(r)
        if self.weights == Weights.BEST:
            return np.asarray((self.copies * minima).sum(axis=1))
        shares = self.shares(r)
        of_site = np.divide(1.0, minima, out=np.zeros_like(minima), where=minima > 0)
        by_term = (self.copies * shares**2 * of_site).sum(axis=1)
        return np.asarray(by_term / by_term.sum(axis=0) ** 2)

    def alone(self) -> Array:
        """V_s(r) of each site alone at the best r, by its four terms: (4, sites, *point).

        In the order of `TERMS`; the largest one limits the site.
        """
        r = self.size()
        n, private = self._worth
        n, private = n / self.rounds, private / self.rounds**2
        terms = (self.d / n, self.d**2 / private, self.d * r / (n * self.m))
        sparse = self.d**2 * r**2 / (private * self.m)
        return np.stack(np.broadcast_arrays(*terms, sparse))

    def shares(self, r: float | Array) -> Array:
        """ν_s, which add up to one over all sites: (sites, *point)."""
        if self.weights == Weights.BEST:
            shares = np.asarray(self.minima(r).sum(axis=0))
        else:
            shares = self.n if self.weights == Weights.PEOPLE else np.ones_like(self.n)
        return np.asarray(shares / (self.copies * shares).sum(axis=0))

    # -- what the theorems ask of r ---------------------------------------------------------

    def most_functions(self, per_observation: bool = True) -> tuple[Array, Array]:
        """The two limits of r in condition (8): 1/Σ T ν² d/(n m) and 1/max T ν d/(n m).

        The second is 1/max T ν d/n for coefficients, which is not `per_observation`. For a mean and
        sites alike, ν = 1/S, both are S n m/T (Remark 7). Logarithms are left out.
        """
        shares, d = self.shares(self.size()), self.d
        together = (self.copies * shares**2 / self.n).sum(axis=0) * self.rounds * d / self.m
        heaviest = (shares / self.n).max(axis=0) * self.rounds * d
        return 1 / together, np.asarray((self.m if per_observation else 1.0) / heaviest)

    def heaviest_worth(self) -> Array:
        """N ε² of the site s* = argmax ν_s/b_s, which Remarks 9 and 10 look at: (*point)."""
        heaviest = (self.shares(self.size()) / self.n).argmax(axis=0)
        worth = np.broadcast_to(self.n * self.epsilon**2, self.n.shape)
        return np.asarray(np.take_along_axis(worth, heaviest[None], axis=0)[0])

    # -- the lower bound --------------------------------------------------------------------

    def _sparse(self, r: Array) -> Array:
        """A(r) = Σ_s min{d r n m, (nε)² m/T} by its two terms: (2, *point)."""
        n, private = self._worth
        smallest_terms = _smallest_terms(self.d * r * n * self.m, private * self.m / self.rounds)
        return np.asarray((self.copies * smallest_terms).sum(axis=1))

    def _dense(self) -> Array:
        """B = Σ_s min{d n, (nε)²/T} by its two terms: (2, *point)."""
        n, private = self._worth
        terms = _smallest_terms(self.d * n, private / self.rounds)
        return np.asarray((self.copies * terms).sum(axis=1))

    def lower_size(self) -> Array:
        """The r₀ of the lower bound: d r^{2α+2} = A(r)."""
        return self._balanced(lambda r: self._sparse(r).sum(axis=0))

    def _of_sparse(self) -> Array:
        """The v = d²r²/A(r) where it equals d r^{−2α}."""
        return np.asarray(self.d * self.lower_size() ** (-2 * self.smoothness))

    @property
    def _worth(self) -> tuple[Array, Array]:
        """The n and (nε)² of each site, less their constants."""
        return self.n / self.statistical, (self.n * self.epsilon) ** 2 / self.private

    def _balanced(self, information: Callable[[Array], Array]) -> Array:
        """R with d r^{2α+2} = information(r), which grows with r no faster than r².

        The difference of the logarithms has a slope between 2α and 2α + 2 in log r: steps of a
        fixed slope 2α + 1 come closer by a factor 2α + 1 each.
        """
        a = self.smoothness
        log_r = np.zeros(
            np.broadcast_shapes(
                np.shape(self.n)[1:], np.shape(self.m), np.shape(self.d), np.shape(self.rounds)
            )
        )
        for _ in range(math.ceil(_ACCURACY / math.log(2 * a + 1)) + 3):
            gap = np.log(self.d) + (2 * a + 2) * log_r - np.log(information(np.exp(log_r)))
            log_r = log_r - gap / (2 * a + 1)
        return np.asarray(np.exp(log_r))


def _smallest_terms(*terms: Array) -> Array:
    """The least of some terms in its own row, the rest zero: (terms, *shape)."""
    each = np.stack(np.broadcast_arrays(*terms))
    rows = np.arange(len(terms)).reshape(-1, *[1] * (each.ndim - 1))
    return np.where(rows == each.argmin(axis=0), each, 0.0)


# -- the rates ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DifferingSitesRate(Rate):
    """Both bounds where sites differ, with T rounds in both; see `DifferingSites`.

    Above, d²r²/Σ_s min{d r n_s m/T, n_s²mε_s²/T², d r²n_s/T, r²n_s²ε_s²/T²} at the best r, where
    smoothing is as large: each term holds its share of both. A site alone would have the error
    d²r²/min{…}; together they have the harmonic mean of these, over the number of sites. So one
    good site is enough, and none makes it worse. Sites of equal weight have the mean of the errors
    alone, over their number: one bad site is enough to spoil it.

    The lower bound after T rounds is the larger of d²r²/Σ_s min(d r n_s m, n_s²mε_s²/T) at its own
    best r and d²/Σ_s min(d n_s, n_s²ε_s²/T). It lacks the dense terms in the balance of r, so the
    two do not match where sites differ (`DifferingSites.gap`). The authors conjecture that the
    upper one is sharp. For sites that are alike it is the intermediate lower bound of the slides.

    Sites are spread evenly on log scales. The largest site has the smallest budget.
    """

    has_differing_sites: ClassVar[bool] = True

    bound: Bound = param(
        Bound.UPPER,
        "Bound",
        "Upper: what noisy gradient descent attains. Lower: what no method can beat.",
    )
    weights: Weights = param(
        Weights.BEST,
        "Weights of sites",
        "In the upper bound. Best: by the error of each site alone. People: by their number. "
        "Alike: equal.",
    )
    smoothness: float = param(
        3.0, "Smoothness", "How smooth the curves are.", low=1.0, high=10.0, symbol="α"
    )
    people_ratio: float = param(
        10.0,
        "Largest site over smallest",
        "People of the largest site over those of the smallest.",
        low=1.0,
        high=1e4,
    )
    budget_ratio: float = param(
        10.0,
        "Largest ε over smallest",
        "The largest budget of a site over the smallest.",
        low=1.0,
        high=1e4,
    )

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(
            Term(
                name,
                lambda p, k=k: self._sizes(self.sites(p))[k],  # type: ignore[misc]
                "ε" in _FORMULAS[self.bound][k],
                _formula(self.bound, k),
            )
            for k, name in enumerate(TERMS)
        )

    def weighed(self, statistical: float, private: float, **point: float | Array) -> Array:
        """Size of every term, all from one r: (terms, *shape of the broadcast point).

        Constants stand within the sums over sites, the same in both bounds, so that the lower one
        stays below the upper one.
        """
        sites = self.sites(self.at(**point))
        return self._sizes(replace(sites, statistical=statistical, private=private))

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """The r of the bound."""
        sites = self.sites(self.at(**point))
        size = sites.size() if self.bound is Bound.UPPER else sites.lower_size()
        return {"truncation": size}

    def gap(self, **point: float | Array) -> tuple[Array, Array]:
        """Compute the ratio of the bounds for one round and best weights, and the largest one."""
        sites = replace(self.sites(self.at(**point)), rounds=1.0, weights=Weights.BEST)
        return sites.gap(), sites.largest_gap()

    def of_scenario(self, source: Source[Any]) -> Rate:
        """Read the largest and smallest site of the scenario, whose sites share one budget."""
        people = source.sizes.n_curves_per_server
        if len(people) < 2 or self.has_own_ratios:
            return self
        return replace(self, people_ratio=min(max(people) / min(people), 1e4), budget_ratio=1.0)

    @property
    def has_own_ratios(self) -> bool:
        """True if sites are stated by their ratios, and not those of a scenario."""
        return not {"people_ratio", "budget_ratio"}.isdisjoint(self.changed())

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions: on δ, at the site with the smallest budget, or on r of the upper bound."""
        if self.bound is Bound.UPPER:
            return self._conditions_on_size
        power, has_d = self._condition

        def limit(p: Point) -> Array:
            sites = self.sites(p)
            size = sites.lower_size() * p["m"] ** power * sites.d**has_d
            return largest_delta(sites.epsilon.min(axis=0) ** 2 / size)

        return (
            Condition(
                f"lower bound, Theorem {self._theorem}",
                rf"\delta_s \log(1/\delta_s) \le r_0^{{-1}} {'d^{-1} ' if has_d else ''}m^{{-{power}}}"
                r"\varepsilon_s^2",
                "delta",
                limit,
            ),
        )

    @property
    def _conditions_on_size(self) -> tuple[Condition, ...]:
        """List what Theorems 4.2 and 6.2 ask of r: condition (8), Remarks 9 and 10."""
        is_mean, a = not self._condition[1], self.smoothness
        power = 1 / (2 * a + 1 if is_mean else 2 * a - 1)

        def least(p: Point) -> Array:
            sites = self.sites(p)
            least_of_site = sites.heaviest_worth() ** power
            return least_of_site if is_mean else np.maximum(least_of_site, sites.d**power)

        def size(p: Point) -> Array:
            return self.sites(p).size()

        d = "" if is_mean else " d"
        of_site = r"(n_{s^*}\varepsilon_{s^*}^2)"
        return (
            Condition(
                f"condition (8) of Theorem {self._attained}, all sites together",
                rf"r \le 1\Big/\sum_s T\nu_s^2{d}/(n_s m)",
                "r",
                lambda p: self.sites(p).most_functions(is_mean)[0],
                size,
            ),
            Condition(
                f"condition (8) of Theorem {self._attained}, the site with the largest weight for "
                "its people",
                rf"r \le 1\Big/\max_s T\nu_s{d}/{'(n_s m)' if is_mean else 'n_s'}",
                "r",
                lambda p: self.sites(p).most_functions(is_mean)[1],
                size,
            ),
            Condition(
                "what these need by Remark 9" if is_mean else "what these need by Remark 10",
                rf"r \ge {of_site}^{{1/(2\alpha+1)}}"
                if is_mean
                else rf"r \ge d^{{1/(2\alpha-1)}} \vee {of_site}^{{1/(2\alpha-1)}}",
                "r",
                least,
                size,
                is_floor=True,
            ),
        )

    _attained: ClassVar[str]  # theorem of the upper bound
    _theorem: ClassVar[str]
    _condition: ClassVar[tuple[int, int]]  # powers of 1/m and 1/d in the condition on δ

    def sites(self, p: Point) -> DifferingSites:
        """Some kinds of sites around a full point, equally many of each, or those of a scenario.

        "people" of a point has the people on each of its sites, which share one budget.
        """
        if "people" in p:
            return DifferingSites(
                p["people"],
                np.full(len(p["people"]), p["epsilon"]),
                p["m"],
                self.smoothness,
                np.asarray(p.get("d", 1.0)),
                p["T"],
                weights=self.weights,
            )
        log_scale = (np.arange(_KINDS) + 0.5) / _KINDS - 0.5
        kinds = log_scale.reshape(-1, *[1] * np.ndim(p["n"]))
        people, budget = self.people_ratio**kinds, self.budget_ratio**-kinds
        return DifferingSites(
            p["n"] * people / people.mean(),
            p["epsilon"] * budget / budget.mean(),
            p["m"],
            self.smoothness,
            np.asarray(p.get("d", 1.0)),
            p["T"],
            p["S"] / _KINDS,
            self.weights,
        )

    def _sizes(self, sites: DifferingSites) -> Array:
        return sites.upper_terms() if self.bound is Bound.UPPER else sites.lower_terms()


_FORMULAS = {
    Bound.UPPER: ("d r^2 n_s / T", "r^2 n_s^2 ε_s^2 / T^2", "d r n_s m / T", "n_s^2 m ε_s^2 / T^2"),
    Bound.LOWER: ("d n_s", "n_s^2 ε_s^2 / T", "d r n_s m", "n_s^2 m ε_s^2 / T"),
}


def _formula(bound: Bound, k: int) -> str:
    """The bound with the sites that this term limits."""
    written = _FORMULAS[bound][k].replace("ε", r"\varepsilon")
    square = "d^2" if bound is Bound.LOWER and k < 2 else "d^2 r^2"
    return rf"{square}\Big/\sum_s \min\{{{written},\,\dots\}}"


@rates.register
@dataclass(frozen=True, kw_only=True)
class DifferingMeanRate(DifferingSitesRate):
    """The mean function: `DifferingSitesRate` with d = 1."""

    key = "differing_sites_mean"
    label = "Mean function, sites that differ"
    order = 12
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Theorems 4.2 and 5.1, Proposition 9"
    symbols = (N, M, S, BUDGET, DELTA, T)
    _attained, _theorem, _condition = "4.2", "5.1", (3, 0)


@rates.register
@dataclass(frozen=True, kw_only=True)
class DifferingCoefficientsRate(DifferingSitesRate):
    """d + 1 coefficient functions: `DifferingSitesRate` with d; proved below for bounded d."""

    key = "differing_sites_coefficients"
    label = "Varying coefficients, sites that differ"
    order = 13
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Theorems 6.2 and 7.1, Proposition 12"
    symbols = (N, M, S, BUDGET, DELTA, T, D)
    _attained, _theorem, _condition = "6.2", "7.1", (1, 1)
