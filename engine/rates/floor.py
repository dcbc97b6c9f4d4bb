"""Floors of the error: what no unbiased estimate of a mean curve can be below, with constants.

Unlike the minimax rates beside them these are numbers: no constant is dropped, none is fitted. They
were derived for this project. For people who are known: normal about the mean, with the covariance
of `NormalPeople`, so that the information J of one curve about the first r coefficients and its
score s are known. T is unbiased if E T is the vector of these coefficients, whatever it is.

**F₁, for every unbiased estimate that is μ-GDP** (one curve replaced by another): for any reference
R(data), such as the estimate without noise, E‖T − R‖² ≥ (tr J^{−1/2})² / (n² (e^{μ²} − 1)).

*Proof.* Replace curve i by an independent copy: data x′, release T′. Let f(T) =
(T − R(x′))'J^{−1/2}s_i. R(x′) does not depend on s_i, so that under the true release the average
of E f over i is tr J^{−1/2}/n, as Σ_i E T s_i' = ∂E T/∂θ = I. Under T′ E f = 0 and E f² = tr K
with K = E(T − R)(T − R)'. Given both data sets the two laws are images of N(0, 1) and N(μ, 1),
whose χ² is e^{μ²} − 1; Cauchy–Schwarz. ∎ At μ above 1 it says little: e^{μ²} grows without the
noise vanishing.

**F₂, for a statistic plus Gaussian noise whose covariance does not depend on the data:** the noise
has a total variance of at least F₂ = 4/(nμ)² · max_B (tr B)²/M(B)² ≥ 4 (tr J^{−1/2})²/(nμ)², where
M(B) = max E‖K^{1/2}Bs‖ over covariances K of trace one. Where curves differ in how often they are
observed, J and s are those of a curve that is drawn from them.

*Proof.* S + N(0, K) is μ-GDP exactly if ‖K^{−1/2}(S(x) − S(x′))‖ ≤ μ for all neighbours. The odd
part (S(x) − S(−x))/2 of S about the mean needs no more noise and is unbiased as well, since people
are symmetric. Averaged over all other curves it is an odd function g of one, so that
‖K^{−1/2}g‖ ≤ μ/2, and E g s' = I/n. So tr B/n = E g'Bs ≤ (μ/2) E‖K^{1/2}Bs‖ for every B, and
B = J^{−1/2} gives the second form. ∎

**Sites.** Site s has n_s curves and μ_s, and the estimate adds up what sites send, T = Σ_s (S_s +
N(0, K_s)), so that Σ_s n_s E g_s s_s' = I. For every B, with τ_s = tr K_s,
tr B = Σ_s n_s E g_s'Bs_s ≤ ½ Σ_s n_s μ_s √τ_s M_s(B) ≤ ½ √(Σ_s (n_s μ_s M_s(B))²) √(Σ_s τ_s)
by Cauchy–Schwarz over the traces. Sites whose curves are alike have one M: then n μ is
N = √Σ(n_s μ_s)², which τ_s in proportion to (n_s μ_s)² attains. F₁ of sites that do not see each
other's messages has Σ_s n_s² (e^{μ_s²} − 1) for n²(e^{μ²} − 1), in the same way: each site's part
of T, averaged over the noise of the others, has a variance of its own, and these add up to no more
than that of T. (Of sites that answer each other: (Σ_s n_s √(e^{μ_s²} − 1))².)

**The whole error.** R may be E(T | data), which is unbiased; then E‖T − θ‖² is its variance, which
by Cramér and Rao is at least tr J⁻¹/n, plus what F₁ or F₂ is about. Functions beyond the first r
are left out, and their part of the truth is added. The floor that is shown is the smallest of these
sums over r, of cosines or Fourier functions, so that no choice of r helps: see `least_errors`.

**For whom.** F₂ is proved for one Gaussian release, given what was released before. For a sequence
of releases that learn from each other, such as those of the adaptive mean, it is a yardstick: no
unshrunk error was measured below it. Shrunk, clipped or smoothed estimates are biased and may lie
below: with E T = θ + b(θ) tr B becomes tr B(I + ∂b). An oracle that knows centre and spread attains
F₂ to a few per cent. Neither floor is about (ε, δ)-methods that are not μ-GDP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, Budget, Design, TimeLaw, Truth
from engine.mechanisms.base import one_per_server
from engine.numerics.bases import Basis
from engine.numerics.information import (
    Information,
    NormalPeople,
    inverse_trace,
    is_singular,
    mixed,
    of_one_curve,
    root_trace,
)
from engine.privacy.accounting import exact_mu
from engine.rates import Rate, Term, rates
from engine.rates.functional_mean import DELTA, DENSE, EPSILON, PRIVATE_DENSE, M, N, S
from engine.rates.powers import Point
from engine.sources import Source
from engine.sources.sited_curves import SitedCurves

MAX_FUNCTIONS = 33
_FAMILIES = ("cosine", "fourier")
_STEPS, _TOLERANCE = 200, 0.01  # of searches for a shape, near which all is flat
_FEWEST_TIMES = 10  # that are common to all curves
_ENTRIES = 48_000  # of the scores that are averaged over
_KINDS = 6  # of curves of one site, by how often they are observed
_DIGITS = 6  # of weights of sites, so that equal ones are known again
_TABLE = np.unique(np.geomspace(M.low, M.high, 19).round())  # observations; between them, lines


# -- one curve ----------------------------------------------------------------------------------


Kinds = tuple[tuple[Information, float], ...]  # of curves, with shares of N² that sum to one


def best_spread(squares: Array) -> Array:
    """Find the shares k (r,) of the noise for which 4/((nμ)² (Eρ)²) is largest.

    At the saddle point B = K = diag(k) in the eigenvectors of J. With scores z in these axes and
    ρ² = Σ_l k_l³ z_l², every k_l becomes √(k_l · E[z_l²/ρ]^{−1/2}), scaled to sum one.

    `squares` holds z² (scores, r).
    """
    spread = squares.mean(axis=0) ** -0.5
    spread /= spread.sum()
    for _ in range(_STEPS):
        weights = (squares / np.sqrt(squares @ spread**3)[:, None]).mean(axis=0)
        moved = np.sqrt(spread / np.sqrt(weights))
        moved /= moved.sum()
        is_settled = np.abs(moved / spread - 1).max() < _TOLERANCE
        spread = moved
        if is_settled:
            break
    return np.asarray(spread)


def _squares(kind: Information, axes: Array) -> Array:
    """Squared scores in these axes, with the means that J says: (scores, r).

    Of many coefficients ρ varies less, and fewer scores are as good.
    """
    few = kind.scores[: max(_ENTRIES // len(axes), 1)]
    squares = (few @ axes) ** 2
    squares *= np.einsum("kl,kj,jl->l", axes, kind.matrix, axes) / squares.mean(axis=0)
    return np.asarray(squares)


def least_noise(kinds: Kinds) -> float:
    """Compute N² F₂: least total variance of Gaussian noise at N = 1, in squared response units.

    Where curves differ between sites B is that of the pooled J, which is not quite the best one:
    F₂ then may be up to a third less than what oracles at 3, 10 and 30 observations attain.

    `kinds` pairs the information of curves at sites with their shares of N². The variance is
    infinite where nothing is unbiased.

    Examples
    --------
    >>> exactly = np.random.default_rng(1).standard_normal((100_000, 1))
    >>> one = Information(np.ones((1, 1)), exactly)  # a normal number of variance one
    >>> round(least_noise(((one, 1.0),)), 1)  # 2π
    6.3
    """
    pooled = sum(share * kind.matrix for kind, share in kinds)
    values, axes = np.linalg.eigh(pooled)
    if is_singular(values):
        return np.inf
    squares = [_squares(kind, axes) for kind, _ in kinds]
    spread = best_spread(
        np.concatenate(
            [share * of_kind for of_kind, (_, share) in zip(squares, kinds, strict=True)]
        )
    )
    squared_norm = sum(
        share * _weighted_norm(of_kind, spread, len(kinds) == 1) ** 2
        for of_kind, (_, share) in zip(squares, kinds, strict=True)
    )
    return float(4 / squared_norm)


def simple_least_noise(kinds: Kinds) -> float:
    """Bound N² F₂ from below by 4 (tr J^{−1/2})², of the pooled J, where all curves are alike.

    With B = J^{−1/2}, M_s(B)² is at most the largest eigenvalue of BJ_sB.

    `kinds` and the units are those of `least_noise`.
    """
    pooled = np.sum([share * kind.matrix for kind, share in kinds], axis=0)
    if len(kinds) == 1 or not np.isfinite(root_trace(pooled)):
        return 4 * root_trace(pooled) ** 2
    values, axes = np.linalg.eigh(pooled)
    root = (axes * values**-0.5) @ axes.T
    squared_norm = sum(
        share * float(np.linalg.eigvalsh(root @ kind.matrix @ root)[-1]) for kind, share in kinds
    )
    return 4 * root_trace(pooled) ** 2 / squared_norm


def _weighted_norm(squares: Array, direction: Array, is_saddle: bool) -> float:
    """M(B) of one kind of curve for B = diag(b): the largest E√(Σ κ_l b_l² z_l²) over shares κ.

    Where all curves are alike κ = b at the saddle point. Else each site has its own best κ.
    """
    moved = squares * direction**2
    shares = direction
    for _ in range(0 if is_saddle else _STEPS):
        gains = (moved / np.sqrt(moved @ shares)[:, None]).mean(axis=0)
        step = shares * gains
        step /= step.sum()
        is_settled = np.abs(step - shares).max() < _TOLERANCE
        shares = step
        if is_settled:
            break
    return float(np.sqrt(moved @ shares).mean())


# -- a study ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeastErrors:
    """The floor of a study at several budgets."""

    # (budgets,): root mean squared distances from the true mean, in response units, which no
    # unbiased estimate with Gaussian noise is below; NaN where δ = 0, whose noise is not Gaussian
    errors: Array
    # (budgets,): with how many functions it would be attained; 0 where there is no floor
    sizes: NDArray[np.int_]


def least_errors(
    source: Source[Any], budgets: Sequence[tuple[Budget, ...]], is_pooled: bool = False
) -> LeastErrors | None:
    """The smallest sum of F₂, sampling error and what is left out, over all numbers of functions.

    None if people are not known to be normal, so that nothing is said of real curves, and if all
    are observed at the same few times: what is between them is then a choice of functions, and
    lines may be a better one than cosines.

    Examples
    --------
    >>> from engine.sources.sparse_curves import SparseCurves
    >>> floor = least_errors(SparseCurves(), [(Budget(0.5, 1e-5),), (Budget(1.0, 1e-5),)])
    >>> floor.errors.round(2).tolist(), floor.sizes.tolist()
    ([0.07, 0.05], [3, 3])
    """
    if not isinstance(source, SitedCurves) or source.normal_people is None:
        return None
    if source.facts.design.law is TimeLaw.COMMON and len(source.facts.common_times) < _FEWEST_TIMES:
        return None
    by_site: Sequence[NDArray[np.int64]] = source.counts_by_site
    if is_pooled:
        by_site = [np.concatenate(by_site)]
    design, people = source.facts.design, source.normal_people
    curves, kinds = np.array([len(counts) for counts in by_site]), [*map(_few, by_site)]
    of_people = _weights(kinds, curves)
    besides = {
        family: _sampling(people, design, of_people, family) + _left_out(source.truth, family)
        for family in _FAMILIES
    }
    squared, sizes = np.full(len(budgets), np.nan), np.zeros(len(budgets), dtype=int)
    for k, site_budgets in enumerate(budgets):
        each = one_per_server(site_budgets, len(curves))
        if any(budget.is_pure or not budget.is_private for budget in each):
            continue
        worth = (curves * [exact_mu(budget.epsilon, budget.delta) for budget in each]) ** 2
        candidates = _Candidates(people, design, _weights(kinds, worth / worth.sum()))
        squared[k], sizes[k] = _smallest_sum(candidates, float(worth.sum()), besides)
    return LeastErrors(np.sqrt(squared), sizes)


Counts = tuple[tuple[int, float], ...]  # observations of the curves of a site, with their shares
Weights = tuple[tuple[Counts, float], ...]  # of sites that are alike


def _few(counts: NDArray[np.int64]) -> Counts:
    """Summarise the numbers of all curves of a site by at most `_KINDS` of them.

    A group of numbers is replaced by their mean, rounded up: it tells more than they do.
    """
    present, curves = np.unique(counts, return_counts=True)
    if len(present) > _KINDS:
        groups = np.array_split(np.sort(counts), _KINDS)
        present = np.array([np.ceil(group.mean()) for group in groups])
        curves = np.array([len(group) for group in groups])
    return tuple((int(m), n / len(counts)) for m, n in zip(present, curves.tolist(), strict=True))


def _weights(kinds: Sequence[Counts], weights: Array) -> Weights:
    """Weights of sites, summed over those that are alike."""
    return tuple(
        (
            kind,
            round(
                float(
                    sum(
                        weight
                        for other, weight in zip(kinds, weights, strict=True)
                        if other == kind
                    )
                ),
                _DIGITS,
            ),
        )
        for kind in dict.fromkeys(kinds)
    )


def _informed(people: NormalPeople, design: Design, counts: Counts, family: str) -> Information:
    """The information of a curve of a site about the first MAX_FUNCTIONS coefficients."""
    basis = Basis(MAX_FUNCTIONS, family=family)
    return mixed([(of_one_curve(people, design, m, basis), share) for m, share in counts])


@dataclass(frozen=True)
class _Candidates:
    """Values of N² F₂ for any number of functions, at sites with these shares of N²."""

    people: NormalPeople
    design: Design
    shares: Weights

    def kinds(self, family: str, size: int) -> Kinds:
        return tuple(
            (_informed(self.people, self.design, counts, family).first(size), share)
            for counts, share in self.shares
        )


@lru_cache(maxsize=1024)
def _noise(candidates: _Candidates, family: str, size: int) -> float:
    return least_noise(candidates.kinds(family, size))


@lru_cache(maxsize=256)
def _noise_at_least(candidates: _Candidates, family: str) -> Array:
    """The simple form of N² F₂ of the first functions: (MAX_FUNCTIONS,)."""
    return np.array(
        [simple_least_noise(candidates.kinds(family, r)) for r in range(1, MAX_FUNCTIONS + 1)]
    )


def _smallest_sum(
    candidates: _Candidates, worth: float, besides: Mapping[str, Array]
) -> tuple[float, int]:
    """The smallest sum of noise at N² = `worth` and the rest, and its number of functions.

    Most numbers are ruled out by the simple form of F₂.
    """
    at_least = sorted(
        (float(noise), family, size)
        for family, rest in besides.items()
        for size, noise in enumerate(_noise_at_least(candidates, family) / worth + rest, start=1)
    )
    best, best_size = np.inf, 0
    for bound, family, size in at_least:
        if bound >= best:
            break
        total = _noise(candidates, family, size) / worth + float(besides[family][size - 1])
        if total < best:
            best, best_size = total, size
    return best, best_size


@lru_cache(maxsize=256)
def _sampling(people: NormalPeople, design: Design, curves: Weights, family: str) -> Array:
    """The least sampling variance of the first functions: (MAX_FUNCTIONS,)."""
    information = np.sum(
        [n * _informed(people, design, counts, family).matrix for counts, n in curves], axis=0
    )
    return np.array([inverse_trace(information[:r, :r]) for r in range(1, MAX_FUNCTIONS + 1)])


def _left_out(truth: Truth, family: str) -> Array:
    """The part of the truth beyond the first functions, squared: (MAX_FUNCTIONS,).

    Nothing of the last, so that its sum is below those of all larger numbers as well: noise and
    sampling error grow with the number of functions.
    """
    coefficients, tail = Basis(MAX_FUNCTIONS, family=family).project(truth)
    later = np.cumsum(coefficients[::-1] ** 2)[::-1]
    return np.append(later[1:] + tail, 0.0)


# -- as rates -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FloorRate(Rate):
    """Least error that privacy and sampling give an unbiased estimate of r coefficients.

    People are those of simulated curves: normal, with observation times spread evenly, on S sites
    that are alike. Constants are part of it, and errors are in squared response units.
    """

    tasks = frozenset({MEAN_FUNCTION.key})
    symbols = (N, M, S, EPSILON, DELTA)
    has_constants = True

    functions: int = param(
        8,
        "Number of basis functions",
        "Coefficients that are estimated without bias; what further ones would add is left out.",
        low=1,
        high=MAX_FUNCTIONS,
        symbol="r",
    )
    deviation_sd: float = param(
        0.5,
        "Spread of people",
        "Standard deviation of a person's curve around the mean.",
        low=0.001,
        high=100.0,
    )
    error_sd: float = param(
        0.5,
        "Error of an observation",
        "Standard deviation, in response units.",
        low=0.001,
        high=100.0,
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

    @property
    def people(self) -> NormalPeople:
        return NormalPeople(
            self.deviation_smoothness, self.deviation_length, self.deviation_sd, self.error_sd**2
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        return (
            Term(PRIVATE_DENSE, self.privacy, is_private=True, formula=self.privacy_formula),
            Term(DENSE, self._sampling, formula=r"\operatorname{tr} J_m^{-1}\,(Sn)^{-1}"),
        )

    privacy_formula: ClassVar[str]

    def of_scenario(self, source: Source[Any]) -> Rate:
        """Read the spread of simulated people who are normal."""
        people = source.normal_people if isinstance(source, SitedCurves) else None
        if people is None or self.changed():
            return self
        return replace(
            self,
            deviation_sd=people.sd,
            error_sd=people.error_variance**0.5,
            deviation_length=people.length,
            deviation_smoothness=people.smoothness,
        )

    def privacy(self, point: Point) -> Array:
        """Bound from below the error added by privacy, at a full point."""
        raise NotImplementedError

    def _sampling(self, point: Point) -> Array:
        return np.asarray(self._one_curve(point["m"])[2] / (point["S"] * point["n"]))

    def _one_curve(self, observations: Array) -> Array:
        """Compute, for a curve, tr J^{−1/2}, (nμ)² F₂ and tr J⁻¹, (3, *shape of observations).

        Interpolated on log scales between some numbers of observations.
        """
        table = np.log(_of_one_curve(self.people, self.functions))
        at = np.log(np.asarray(observations, dtype=float))
        return np.exp([np.interp(at, np.log(_TABLE), row) for row in table])


@lru_cache(maxsize=32)
def _of_one_curve(people: NormalPeople, functions: int) -> Array:
    """(3, numbers of observations): what `FloorRate._one_curve` stands on."""
    rows = []
    for m in _TABLE:
        information = _informed(people, Design(), ((int(m), 1.0),), "cosine").first(functions)
        rows.append(
            (
                root_trace(information.matrix),
                least_noise(((information, 1.0),)),
                inverse_trace(information.matrix),
            )
        )
    return np.array(rows).T


def _mu(point: Point) -> Array:
    """μ of (ε, δ) at every point, each pair once."""
    pairs = np.stack(np.broadcast_arrays(point["epsilon"], point["delta"]))
    distinct, indices = np.unique(pairs.reshape(2, -1), axis=1, return_inverse=True)
    values = np.array([exact_mu(float(epsilon), float(delta)) for epsilon, delta in distinct.T])
    return values[indices.ravel()].reshape(pairs.shape[1:])


@rates.register
@dataclass(frozen=True, kw_only=True)
class GaussianNoiseFloor(FloorRate):
    """F₂: what is added at least by Gaussian noise whose covariance does not depend on the data."""

    key = "floor_gaussian"
    label = "Mean function, floor of Gaussian noise"
    order = 11
    reference = "Derived for this project: F₂ in engine/rates/floor.py"
    assumptions = (
        "The estimate of these coefficients is unbiased: shrunk, clipped or smoothed estimates may "
        "have a smaller error.",
        "One release is a statistic plus Gaussian noise of a fixed covariance. For a sequence of "
        "releases that build on each other this is only a guide.",
        "People are normal about the mean, and their covariance is known.",
    )
    privacy_formula = r"F_2 = 4\,S^{-1}(n\mu)^{-2}\,\max_B (\operatorname{tr} B)^2 / M(B)^2"

    def privacy(self, point: Point) -> Array:
        worth = point["S"] * (point["n"] * _mu(point)) ** 2
        return np.asarray(self._one_curve(point["m"])[1] / worth)


@rates.register
@dataclass(frozen=True, kw_only=True)
class UnbiasedFloor(FloorRate):
    """F₁: what is added at least by any unbiased method that is μ-GDP, whatever its noise."""

    key = "floor_unbiased"
    label = "Mean function, floor of unbiased methods"
    order = 12
    reference = "Derived for this project: F₁ in engine/rates/floor.py"
    assumptions = (
        "The estimate of these coefficients is unbiased: shrunk, clipped or smoothed estimates may "
        "have a smaller error.",
        "The method is μ-GDP with the μ of Gaussian noise at this ε and δ, and sites do not see "
        "each other’s messages. It does not cover other (ε, δ) methods.",
        "People are normal about the mean, and their covariance is known. Above μ = 1 the floor "
        "falls like exp(−μ²) and says little.",
    )
    privacy_formula = (
        r"F_1 = (\operatorname{tr} J_m^{-1/2})^2\,S^{-1}n^{-2}"
        r"(e^{\mu^2} - 1)^{-1}"
    )

    def privacy(self, point: Point) -> Array:
        with np.errstate(over="ignore"):
            gained = np.expm1(_mu(point) ** 2)
        worth = point["S"] * point["n"] ** 2 * gained
        return np.asarray(self._one_curve(point["m"])[0] ** 2 / worth)
