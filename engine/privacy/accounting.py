"""Composition and calibration: what noise costs, whatever was released, never below the truth.

A release with Gaussian noise is summed up by one number, its Gaussian-DP parameter μ: an attacker
faces the problem of telling N(0, 1) from N(μ, 1). Releases with δ = 0 are summed up by ε. Where
both are about the same people, the laws of their privacy losses are added by dp-accounting. Where
a release has neither, the number is ρ of zero-concentrated privacy (zCDP, Bun and Steinke 2016):
the Rényi divergence of order α between neighbours is at most ρα for every α > 1. Gaussian noise has
ρ = μ²/2, a release with δ = 0 has ρ = ε²/2, and ρ's add whatever was released before. Whatever is
rounded is rounded to the private side: sums are formed in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.types import MIN_EPSILON, Budget, Cost, Spend
from engine.numerics import gaussian_privacy
from engine.numerics.roots import root
from engine.privacy.tradeoff import (
    Approximate,
    CountsNoise,
    Curve,
    Gaussian,
    GaussianPart,
    Laplace,
    LaplacePart,
    Losses,
    PurePart,
    ReleasePart,
    Zcdp,
)

_ROUND_UP = 1 + 3e-10  # noise is made larger by this factor, far above the root finder's tolerance
_ROUND_EPSILON = 1 + 1e-10  # and ε of a given μ by this one, which is less than noise was
_ROUNDING = 1e-12  # of a sum of shares that make up the whole
_ROUND_DELTA = 1e-9  # δ is made smaller by this share where ε is certified
_ROUND_RHO = 1 + 1e-9  # ρ is made smaller by this factor, and ε of a given ρ larger by less
_FARTHEST = 400.0  # beyond this loss nothing is left to tell, and no law is computed
# Of noise with δ = 0, the curve of one release and its part among several: any other law has what
# its ε allows. The loss of the first two follows from how far numbers move.
_CURVES: dict[NoiseLaw, Callable[[float], Curve]] = {
    NoiseLaw.LAPLACE: Laplace,
    NoiseLaw.NORM: Laplace,
    NoiseLaw.DISCRETE_LAPLACE: CountsNoise,
}
_PARTS: dict[NoiseLaw, Callable[[float, int], ReleasePart]] = {
    NoiseLaw.LAPLACE: LaplacePart,
    NoiseLaw.NORM: LaplacePart,
    NoiseLaw.DISCRETE_LAPLACE: PurePart.of_counts,
}
_TINY_DELTA = 1e-300  # below it 1/δ leaves floating point; no order so high is ever the best
_SAME = 1e-6  # a proved ε this close below the asked one is reported as the asked one


@lru_cache(maxsize=4096)
def exact_mu(epsilon: float, delta: float) -> float:
    """The largest μ whose Gaussian mechanism is (ε, δ)-DP, rounded down.

    Parameters
    ----------
    epsilon : float
        ε > 0; ∞ for no protection.

    Returns
    -------
    float
        μ: sensitivity over standard deviation of the noise; ∞ at ε = ∞.

    Raises
    ------
    InputError
        If δ = 0, where no Gaussian noise suffices.

    Examples
    --------
    >>> mu = exact_mu(1.0, 1e-5)
    >>> round(1 / mu, 2)  # noise for a number that one person moves by at most 1
    3.73

    References
    ----------
    Balle and Wang (2018), arXiv 1805.06530, Equation 6, solved for the noise.
    """
    if math.isinf(epsilon):
        return math.inf
    _needs_delta(delta, "Gaussian noise")
    return 1 / (gaussian_privacy.sigma_of(epsilon, delta) * _ROUND_UP)


@lru_cache(maxsize=4096)
def exact_epsilon(mu: float, delta: float) -> float:
    """The smallest ε for which a release with this μ is (ε, δ)-DP, rounded up.

    Parameters
    ----------
    mu : float
        μ ≥ 0 of Gaussian differential privacy; ∞ without noise.

    Returns
    -------
    float
        ε; 0 for μ = 0, else ∞ where δ = 0.

    Examples
    --------
    >>> round(exact_epsilon(1.0, 1e-5), 2)
    4.38
    """
    if mu == 0:
        return 0.0
    if math.isinf(mu) or delta == 0:
        return math.inf
    return gaussian_privacy.epsilon_of(1 / mu, delta) * _ROUND_EPSILON


def mu_of_pure(epsilon: float) -> float:
    """Compute the smallest μ such that every (ε, 0)-private release is μ-GDP, rounded up.

    μ = 2Φ⁻¹(e^ε/(1 + e^ε)). *Proof.* The trade-off curve f of (ε, 0) is the larger of two straight
    lines, 1 − e^ε α and e^{−ε}(1 − α), which meet at α = β = 1/(1 + e^ε). The curve G_μ is convex,
    passes from (0, 1) to (1, 0), and Φ(−μ/2) is its fixed point. With this μ both curves have the
    same fixed point, so the two lines are chords of G_μ from its ends to that point, and a chord
    of a convex function lies above it: f ≥ G_μ. ∎

    Examples
    --------
    >>> round(mu_of_pure(1.0), 4)
    1.232
    """
    from scipy.special import log_expit, ndtri_exp  # on first use: it takes a moment

    return float(-2 * ndtri_exp(log_expit(-epsilon))) * (1 + 1e-12)


def pure_of_mu(mu: float) -> float:
    """Compute the largest ε whose `mu_of_pure` is at most this μ, rounded down."""
    from scipy.special import log_ndtr

    return max(0.0, float(log_ndtr(mu / 2) - log_ndtr(-mu / 2)) * (1 - 1e-11))


def with_more_noise(budget: Budget, ratio: float) -> Budget:
    """The budget with μ/√ratio and the same δ > 0: that of noise with `ratio` times the variance.

    It has the smallest ε there is if δ alone allows for more than μ/√ratio.

    Examples
    --------
    >>> round(with_more_noise(Budget(1.0, 1e-6), 20 / 19).epsilon, 3)
    0.973
    """
    mu = exact_mu(budget.epsilon, budget.delta) / math.sqrt(ratio)
    return Budget(max(exact_epsilon(mu, budget.delta), MIN_EPSILON), budget.delta)


def certified_epsilon(mu: float, delta: float) -> float:
    """`exact_epsilon` for what is certified: an upper bound whatever rounding does to the root.

    δ(ε) ≤ (1 − 1e-9) δ in floating point, δ(ε) the Gaussian curve. Both of its terms and their
    difference are computed to better than a relative 1e-9 (logarithms of normal tails to 1e-14,
    times the cancellation of the two), so the true δ(ε) is at most δ. At δ = 0 only μ = 0 has a
    finite ε.
    """
    if mu == 0:
        return 0.0
    if math.isinf(mu) or delta == 0:
        return math.inf
    stricter = delta * (1 - 2 * _ROUND_DELTA)
    epsilon = exact_epsilon(mu, stricter)
    target = math.log(delta * (1 - _ROUND_DELTA))
    while gaussian_privacy.log_delta(1 / mu, epsilon) > target:  # never, but for rounding
        epsilon = epsilon * _ROUND_EPSILON + math.ulp(1.0)
    return epsilon


def printed_mu(epsilon: float, delta: float, noise: str) -> float:
    """The μ that the printed noise level really has; ∞ at ε = ∞, refused for δ = 0.

    "anisotropic": Lemma 1 of arXiv 2412.06582, σ_l² = 4 log(2/δ) Δ_l ‖Δ‖₁ / ε². "isotropic": the
    classical σ² = 2 log(1.25/δ) ‖Δ‖₂² / ε². Neither gives (ε, δ) for every ε: see `guarantee`.
    """
    if math.isinf(epsilon):
        return math.inf
    _needs_delta(delta, "Gaussian noise")
    if noise == "anisotropic":
        return epsilon / (2 * math.sqrt(math.log(2 / delta)))
    return epsilon / math.sqrt(2 * math.log(1.25 / delta))


def _needs_delta(delta: float, noise: str) -> None:
    if delta == 0:
        raise InputError(
            f"δ must be above 0 for {noise}; got 0.",
            field="delta",
            hint="Choose δ below 1/n, for example 1/n².",
        )


# -- zCDP: of order α = 1 + a, the proof of (ε, δ) from ρ reads --------------------------------
# δ = exp(a((1 + a)ρ − ε)) (1 − 1/(1 + a))^{1 + a}/a    (Canonne, Kamath and Steinke 2020, Prop. 12)


@lru_cache(maxsize=4096)
def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ that is proved to be (ε, δ)-DP, rounded down.

    Every a gives ρ = (ε − e(a))/(1 + a), with e(a) as in `_excess`. The best a is where that is
    also the ρ of which a is the best order.

    Parameters
    ----------
    epsilon : float
        ε > 0; ∞ for no protection.

    Returns
    -------
    float
        ρ of zCDP; ∞ at ε = ∞.

    Raises
    ------
    InputError
        If δ = 0, where no ρ above 0 suffices.

    Examples
    --------
    >>> rho = rho_of(1.0, 1e-5)
    >>> round(rho, 4), round(epsilon_of_rho(rho, 1e-5), 6)
    (0.0306, 1.0)

    References
    ----------
    Canonne, Kamath and Steinke (2020), Proposition 12.
    """
    if math.isinf(epsilon):
        return math.inf
    _needs_delta(delta, "zCDP")
    a = _root(lambda a: (1 + a) * _rho_with_best(a, delta) + _excess(a, delta) - epsilon, delta)
    return (epsilon - _excess(a, delta)) / (1 + a) / _ROUND_RHO


def smallest_rho(budgets: Sequence[Budget]) -> float:
    """ρ of the strictest budget, if one noise serves all servers; each needs δ > 0."""
    return min(rho_of(budget.epsilon, budget.delta) for budget in budgets)


@lru_cache(maxsize=4096)
def epsilon_of_rho(rho: float, delta: float) -> float:
    """The smallest ε for which ρ-zCDP is proved to be (ε, δ)-DP, rounded up.

    min_a (1 + a)ρ + e(a), with e(a) as in `_excess`; ∞ for δ = 0, unless nothing was spent.
    """
    if rho == 0:
        return 0.0
    if math.isinf(rho) or delta == 0:
        return math.inf
    a = _root(lambda a: _rho_with_best(a, delta) - rho, delta)
    return max(0.0, ((1 + a) * rho + _excess(a, delta)) * (1 + 1e-10))


def _excess(a: float, delta: float) -> float:
    """e(a), by which ε exceeds the Rényi divergence of order 1 + a at this δ."""
    return (-math.log(delta) - math.log1p(a)) / a - math.log1p(1 / a)


def _rho_with_best(a: float, delta: float) -> float:
    """The ρ for which 1 + a is the best order: where d/da of (1 + a)ρ + e(a) vanishes."""
    return (-math.log(delta) - math.log1p(a)) / (a * a)


def _root(falling: Callable[[float], float], delta: float) -> float:
    """Find the zero of a falling function of a, at most 1/δ − 1; beyond it no order is best."""
    high = math.log(1 / delta - 1) if delta >= _TINY_DELTA else -math.log(_TINY_DELTA)
    if falling(math.exp(high)) >= 0:  # by rounding
        return math.exp(high)
    low = min(high - 100, -50.0)  # where δ is tiny, most is large
    return math.exp(root(lambda log_a: falling(math.exp(log_a)), low, high, 1e-12))


def per_round_mu(total: float, rounds: int) -> float:
    """The μ of each of several equal releases about the same people: total/√rounds.

    Examples
    --------
    >>> per_round_mu(1.0, 4)
    0.5
    """
    return total / math.sqrt(rounds)


# -- totals: rounded up from the sum in fractions --------------------------------------------------


def total_mu(spends: Iterable[Spend | Cost]) -> float:
    """The μ of all spends about one server's people together, rounded up.

    Lines add in squares. Within a line, `count` releases about the same people add in squares too;
    parallel ones, each about different people, cost as much as one. NaN if some noise is not
    Gaussian, ∞ if some line has none.
    """
    terms = [(spend.mu, spend.rounds) for spend in spends]
    if any(mu is None for mu, _ in terms):
        return math.nan
    if any(mu == math.inf for mu, _ in terms):
        return math.inf
    squares = sum((rounds * Fraction(mu or 0.0) ** 2 for mu, rounds in terms), Fraction())
    root = math.sqrt(squares)
    return root if Fraction(root) ** 2 >= squares else math.nextafter(root, math.inf)


def covering_mu(spends: Sequence[Spend]) -> float:
    """Find a μ such that all spends about one server's people together are μ-GDP; ∞ if none is.

    That of Gaussian noise is exact; releases with δ = 0 have `mu_of_pure`.
    """
    mu, pure = total_mu(spends), total_epsilon(spends)
    if not math.isnan(mu):
        return mu
    return math.inf if pure is None else mu_of_pure(pure)


def total_epsilon(spends: Iterable[Spend | Cost]) -> float | None:
    """The sum of the ε of spends, rounded up; None if a line does not hold with δ = 0."""
    terms = [(spend.epsilon, spend.rounds) for spend in spends]
    if any(epsilon is None for epsilon, _ in terms):
        return None
    return _sum((epsilon or 0.0, rounds) for epsilon, rounds in terms)


def total_rho(spends: Iterable[Spend | Cost]) -> float:
    """The ρ of all spends about one server's people, rounded up; NaN if a line has no cost.

    A line without `rho` has μ²/2, or ε²/2.
    """
    return _sum((_rho(spend), spend.rounds) for spend in spends)


def _rho(spend: Spend | Cost) -> float:
    """ρ of one release of a line: its lines, μ²/2, or ε²/2."""
    if spend.rho is not None:
        return spend.rho
    size = spend.epsilon if spend.mu is None else spend.mu
    if size is None:
        return math.nan
    return size if math.isinf(size) else _up(Fraction(size) ** 2 / 2)


def _sum(terms: Iterable[tuple[float, int]]) -> float:
    """Σ cost × rounds, rounded up."""
    listed = list(terms)
    if not all(math.isfinite(cost) for cost, _ in listed):
        return math.nan if any(math.isnan(cost) for cost, _ in listed) else math.inf
    return _up(sum((rounds * Fraction(cost) for cost, rounds in listed), Fraction()))


def sum_up(costs: Iterable[float]) -> float:
    """Add up costs, rounded up where the sum is no floating-point number.

    Examples
    --------
    >>> sum([0.1] * 3) == sum_up([0.1] * 3), sum_up([0.5, 0.25])
    (True, 0.75)
    """
    return _up(sum(map(Fraction, costs), Fraction()))


def _up(exact: Fraction) -> float:
    """The nearest number that is not below a fraction."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


# -- several records of one person ----------------------------------------------------------------


def for_group(spends: Sequence[Spend], records: int) -> tuple[Spend, ...]:
    """Scale the same releases to a person with this many of the protected units, rounded up.

    Replacing k of them is k steps from neighbour to neighbour. Gaussian noise then has kμ (Dong,
    Roth and Su 2022, Theorem 2.14), which a sum attains; pure noise kε; zCDP k²ρ (Bun and Steinke
    2016, Proposition 27). It holds for every line, so lines are added as they are for one record.
    Parallel releases count as if all k were in one of them, the worst place; units at several sites
    cost at most k at the site where one costs most.
    """
    if records < 1 or records != int(records):
        raise InputError(
            f"A person has at least 1 record; got {records:g}.",
            field="group",
            hint="State the largest number that one person has.",
        )
    if records == 1:
        return tuple(spends)
    return tuple(
        replace(
            spend,
            mu=_times(spend.mu, records),
            epsilon=_times(spend.epsilon, records),
            rho=_times(spend.rho, records**2),
        )
        for spend in spends
    )


def _times(cost: float | None, factor: int) -> float | None:
    return cost if cost is None or math.isinf(cost) else _up(Fraction(cost) * factor)


# -- what it all proves ---------------------------------------------------------------------------


def trade_off(lines: Sequence[Spend]) -> Curve:
    """Bound how well two data sets that differ in one record of one server can be told apart.

    Exact for Gaussian noise and for one release with Laplace noise. Other pure releases, and pure
    and Gaussian ones together, by the laws of their losses, each at its worst pair; zCDP where a
    release has nothing else.

    Returns
    -------
    Curve
        Never below the truth; read off it with `detection`, `delta` and `right`.

    Examples
    --------
    >>> from engine.core.types import Composition, Step
    >>> line = Spend(Step("mean"), 0, 0.6, (0.02,), (0.05,), 1, Composition.SEQUENTIAL,
    ...              Budget(2.0, 1e-5), "for this example")
    >>> curve = trade_off([line, line])  # the same people take part in both releases
    >>> curve.name, round(curve.mu, 3)
    ('gaussian', 0.849)
    """
    return _trade_off(tuple(line.cost for line in lines))


@lru_cache(maxsize=4096)
def _trade_off(costs: tuple[Cost, ...]) -> Curve:
    mu, pure = total_mu(costs), total_epsilon(costs)
    if not math.isnan(mu):
        return Gaussian(mu)
    if any(cost.mu is None and cost.epsilon is None for cost in costs):
        return Zcdp(total_rho(costs))
    if pure is None:
        return Losses(_parts(costs)) if _can_be_added(costs) else Zcdp(total_rho(costs))
    if sum(cost.rounds for cost in costs) > 1 and _can_be_added(costs):
        return Losses(_parts(costs))
    curves = {_CURVES.get(cost.noise) for cost in costs}
    curve = curves.pop() if len(curves) == 1 else None
    if curve is Laplace or (curve is not None and len(costs) == 1):  # several moves are one
        return curve(pure)
    return Approximate(Budget.covering(pure))


def _can_be_added(costs: Sequence[Cost]) -> bool:
    """True if the laws of the losses are worth computing: something is lost, and not too much."""
    sizes = [
        (cost.mu or 0.0) * math.sqrt(cost.rounds) + (cost.epsilon or 0.0) * cost.rounds
        for cost in costs
    ]
    return 0 < sum(sizes) <= _FARTHEST and max((cost.mu or 0.0) for cost in costs) <= 20


def _parts(costs: Sequence[Cost]) -> tuple[ReleasePart, ...]:
    """Lines as `tradeoff.Losses` takes them; those that cost nothing are left out."""
    parts = list[ReleasePart]()
    for cost in costs:
        if cost.epsilon is None and cost.mu:
            parts.append(GaussianPart(cost.mu, cost.rounds))
        elif cost.epsilon:
            parts.append(_PARTS.get(cost.noise, PurePart)(cost.epsilon, cost.rounds))
    return tuple(parts)


def guarantee(spends: Sequence[Spend], server: int) -> Budget:
    """The (ε, δ) proved for one server's people by the noise that was really added.

    δ is the one asked for, or 0 where no release needs it; ε is exact for Gaussian noise, and where
    noise is neither all Gaussian nor all with δ = 0 it is what the sum of losses proves, or the sum
    of ρ. It may exceed what was asked when printed constants do not keep their promise, and falls
    below it when they are loose.

    Parameters
    ----------
    server : int
        Number of the server, as in the ledger.

    Examples
    --------
    >>> from engine.core.types import Composition, Step
    >>> line = Spend(Step("mean"), 0, 0.6, (0.02,), (0.05,), 1, Composition.SEQUENTIAL,
    ...              Budget(2.0, 1e-5), "for this example")
    >>> round(guarantee([line], server=0).epsilon, 2)  # more than the 2 that was asked for
    2.44
    >>> keeps_promise([line])
    False
    """
    return proved(by_server(spends)[server])


def by_server(spends: Sequence[Spend]) -> dict[int, list[Spend]]:
    """The lines of every server, in order of the servers."""
    lines: dict[int, list[Spend]] = {}
    for spend in spends:
        lines.setdefault(spend.server, []).append(spend)
    return dict(sorted(lines.items()))


def guarantees(spends: Sequence[Spend]) -> tuple[Budget, ...]:
    """The proved guarantee of every server, in order of the servers."""
    return tuple(proved(lines) for lines in by_server(spends).values())


def least_guarantee(spends: Sequence[Spend]) -> Budget:
    """Return the guarantee that is proved for everybody, whichever the server.

    The server with the largest ε need not be that with the largest δ, so that the guarantee of
    neither may hold at the other.
    """
    return Budget.covering_all(guarantees(spends))


def requested(spends: Sequence[Spend]) -> Budget:
    """Return the largest ε and the largest δ that were asked for at any server."""
    return Budget.covering_all(spend.budget for spend in spends)


def keeps_promise(spends: Sequence[Spend]) -> bool:
    """True if every server's people get at least the protection that was asked for."""
    return all(
        proved(lines).epsilon <= lines[0].budget.epsilon for lines in by_server(spends).values()
    )


def proved(lines: Sequence[Spend]) -> Budget:
    """The guarantee of the lines of one server; see `guarantee`.

    An ε within a millionth below the one asked for is reported as that one.
    """
    budget, pure = lines[0].budget, total_epsilon(lines)
    epsilon = _proved_epsilon(lines, budget.delta) if pure is None else pure
    if epsilon <= budget.epsilon * (1 + _ROUNDING) and budget.epsilon <= epsilon * (1 + _SAME):
        return budget
    return Budget.covering(epsilon, budget.delta if pure is None else 0.0)


def _proved_epsilon(lines: Sequence[Spend], delta: float) -> float:
    """Find the smallest ε of all that is proved."""
    mu = total_mu(lines)
    if not math.isnan(mu):
        return exact_epsilon(mu, delta)
    by_rho, curve = epsilon_of_rho(total_rho(lines), delta), trade_off(lines)
    return min(by_rho, curve.epsilon(delta)) if isinstance(curve, Losses) else by_rho
