"""Composition and calibration: Gaussian noise through dp-accounting, the rest by zCDP.

A release with Gaussian noise is summed up by one number, its Gaussian-DP parameter μ: an attacker
faces the problem of telling N(0, 1) from N(μ, 1). Where other noise is released along with it, the
number is ρ of zero-concentrated privacy (zCDP, Bun and Steinke 2016): the Rényi divergence of
order α between neighbours is at most ρα for every α > 1. Gaussian noise has ρ = μ²/2, a release
with δ = 0 has ρ = ε²/2, and ρ's add whatever was released before. Whatever is rounded is rounded to
the private side. dp-accounting is imported on first use because that takes two seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from engine.errors import InputError
from engine.types import Budget, Spend

_ROUND_UP = 1 + 1e-10  # noise is made larger by this factor, far above the root finder's tolerance
_ROUNDING = 1e-12  # of a sum of shares that make up the whole
_ROUND_RHO = 1 + 1e-9  # ρ is made smaller by this factor, and ε of a given ρ larger by less
_SAME = 1e-6  # a proved ε this close below the asked one is reported as the asked one


@lru_cache(maxsize=4096)
def exact_mu(epsilon: float, delta: float) -> float:
    """The largest μ whose Gaussian mechanism is (ε, δ)-DP, rounded down; ∞ at ε = ∞.

    Raises
    ------
    InputError
        If δ = 0, where no Gaussian noise suffices.
    """
    if math.isinf(epsilon):
        return math.inf
    _needs_delta(delta, "Gaussian noise")
    from dp_accounting import gaussian_mechanism

    sigma = gaussian_mechanism.get_sigma_gaussian(epsilon, delta)
    return 1 / (float(sigma) * _ROUND_UP)


@lru_cache(maxsize=4096)
def exact_epsilon(mu: float, delta: float) -> float:
    """The smallest ε for which a release with this μ is (ε, δ)-DP."""
    if mu == 0:
        return 0.0
    if math.isinf(mu):
        return math.inf
    from dp_accounting import gaussian_mechanism

    return float(gaussian_mechanism.get_epsilon_gaussian(1 / mu, delta))


def printed_mu(epsilon: float, delta: float, noise: str) -> float:
    """The μ that the printed noise level really has.

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
        raise InputError(f"δ must be above 0 for {noise}; got 0.", field="delta",
                         hint="Choose δ below 1/n, for example 1/n².")


# -- zCDP: of order α = 1 + a, the proof of (ε, δ) from ρ reads --------------------------------
# δ = exp(a((1 + a)ρ − ε)) (1 − 1/(1 + a))^{1 + a}/a    (Canonne, Kamath and Steinke 2020, Prop. 12)


@lru_cache(maxsize=4096)
def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ that is proved to be (ε, δ)-DP, rounded down; ∞ at ε = ∞.

    Every a gives ρ = (ε − e(a))/(1 + a), with e(a) as in `_excess`. The best a is where that is
    also the ρ of which a is the best order.

    Raises
    ------
    InputError
        If δ = 0, where no ρ above 0 suffices.
    """
    if math.isinf(epsilon):
        return math.inf
    _needs_delta(delta, "zCDP")
    a = _root(lambda a: (1 + a) * _rho_with_best(a, delta) + _excess(a, delta) - epsilon, delta)
    return (epsilon - _excess(a, delta)) / (1 + a) / _ROUND_RHO


@lru_cache(maxsize=4096)
def epsilon_of_rho(rho: float, delta: float) -> float:
    """The smallest ε for which ρ-zCDP is proved to be (ε, δ)-DP, rounded up.

    min_a (1 + a)ρ + e(a); ∞ for δ = 0, unless nothing was spent.
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
    """Where a function of a falls through 0, at most 1/δ − 1, beyond which no order is best."""
    from scipy.optimize import brentq  # on first use: it takes a moment

    most = math.log(1 / delta - 1)
    if falling(math.exp(most)) >= 0:  # by rounding
        return math.exp(most)
    return math.exp(brentq(lambda log_a: falling(math.exp(log_a)), most - 100, most, xtol=1e-12))


def per_round_mu(total: float, rounds: int) -> float:
    """The μ of each of `rounds` releases about the same people that together have `total`."""
    return total / math.sqrt(rounds)


def total_mu(spends: Iterable[Spend]) -> float:
    """The μ of all spends about one server's people together; NaN if some noise is not Gaussian.

    Lines add in squares. Within a line, `count` releases about the same people add in squares
    too; parallel ones, each about different people, cost as much as one.
    """
    return math.sqrt(sum(_line_mu(spend) ** 2 for spend in spends))


def _line_mu(spend: Spend) -> float:
    if spend.mu is None:
        return math.nan
    return spend.mu * math.sqrt(spend.count if spend.composition == "sequential" else 1)


def total_epsilon(spends: Iterable[Spend]) -> float | None:
    """The sum of the ε of spends that all hold with δ = 0; None if one does not."""
    total = 0.0
    for spend in spends:
        if spend.epsilon is None:
            return None
        total += spend.epsilon * (spend.count if spend.composition == "sequential" else 1)
    return total


def total_rho(spends: Iterable[Spend]) -> float:
    """The ρ of all spends about one server's people together."""
    return sum(_line_rho(spend) for spend in spends)


def _line_rho(spend: Spend) -> float:
    rho = spend.rho
    if rho is None and spend.mu is not None:
        rho = spend.mu**2 / 2
    if rho is None:
        rho = math.nan if spend.epsilon is None else spend.epsilon**2 / 2
    return rho * (spend.count if spend.composition == "sequential" else 1)


def guarantee(spends: Sequence[Spend], server: int) -> Budget:
    """The (ε, δ) proved for one server's people by the noise that was really added.

    δ is the one asked for, or 0 where no release needs it; ε is exact, and where noise is neither
    all Gaussian nor all with δ = 0 it is what the sum of ρ proves. It may exceed what was asked
    when printed constants do not keep their promise, and falls below it when they are loose.
    """
    return _proved(by_server(spends)[server])


def by_server(spends: Sequence[Spend]) -> dict[int, list[Spend]]:
    """The lines of every server, in order of the servers."""
    lines: dict[int, list[Spend]] = {}
    for spend in spends:
        lines.setdefault(spend.server, []).append(spend)
    return dict(sorted(lines.items()))


def guarantees(spends: Sequence[Spend]) -> tuple[Budget, ...]:
    """The proved guarantee of every server, in order."""
    return tuple(_proved(own) for own in by_server(spends).values())


def keeps_promise(spends: Sequence[Spend]) -> bool:
    """Whether every server's people get at least the protection that was asked for."""
    return all(_proved(own).epsilon <= own[0].asked.epsilon for own in by_server(spends).values())


def _proved(own: Sequence[Spend]) -> Budget:
    asked, pure = own[0].asked, total_epsilon(own)
    epsilon = _proved_epsilon(own, asked.delta) if pure is None else pure
    if epsilon <= asked.epsilon * (1 + _ROUNDING) and asked.epsilon <= epsilon * (1 + _SAME):
        return asked
    return Budget(max(epsilon, 1e-12), asked.delta if pure is None else 0.0)


def _proved_epsilon(own: Sequence[Spend], delta: float) -> float:
    mu = total_mu(own)
    return epsilon_of_rho(total_rho(own), delta) if math.isnan(mu) else exact_epsilon(mu, delta)
