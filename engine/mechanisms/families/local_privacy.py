"""Nobody is trusted: everybody's own device adds the noise, so that every site has one curve.

Proposition. Let n devices send messages in rounds. Each message is a statistic of the device's one
curve, given what was released before, plus Gaussian noise whose covariance is Δ²Q/μ² for a public
shape Q, the sensitivity Δ of one curve and the μ of everybody; and let the centre use their average
alone. Then its release has the law of a centre's that holds all n curves and asks for
μ′ = μ/√n.

Proof. Given the earlier rounds, the average of the messages is the average of the statistics plus
the average of n independent Gaussian variables, which is Gaussian with covariance Δ²Q/(nμ²). A
centre averages the same statistics; one curve moves that average by Δ/n, so its noise has
covariance Δ²Q/(nμ′)² = Δ²Q/(nμ²). Round by round both have the same law given the past, hence
together. ∎

The adaptive mean is such a method where δ > 0 and the law of the observation times is stated: sites
that are alike have equal weights, and what it fixes from public facts depends on the sizes through
n, m and N = √Σ(n_s μ_s)² alone, which is √n μ = n μ′ for both. With δ = 0 the noise is not
Gaussian, and shares of observation times go through a bend at every site: there it does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from engine.core.types import Budget, Spend
from engine.mechanisms.families.adaptive.rules import mu_of
from engine.privacy import accounting


def effective_size(n_people: int, budget: Budget) -> float:
    """N = √n μ of n people who each add noise alone.

    Examples
    --------
    >>> round(effective_size(400, Budget(1.0, 1e-5)), 1)  # one centre would have 20 times as much
    5.4
    """
    return math.sqrt(n_people) * mu_of(budget)


def centre_budget(n_people: int, budget: Budget) -> Budget:
    """Compute the budget with μ′ = μ/√n and the same δ > 0, by the proposition of this module.

    It has the smallest ε there is if δ alone is more than μ′; nothing is released there.

    Examples
    --------
    >>> 0.1 < centre_budget(400, Budget(10.0, 1e-5)).epsilon < 0.5
    True
    """
    return accounting.with_more_noise(budget, n_people)


def of_one_device(spends: Sequence[Spend], n_people: int, budget: Budget) -> tuple[Spend, ...]:
    """Derive the ledger of one of n devices from that of the centre, whose release is alike.

    All of the centre's lines must have Gaussian noise. Sensitivities are n times and noise √n times
    as large, as of an average over one curve.
    """
    return tuple(_of_one_device(spend, n_people, budget) for spend in spends)


def _of_one_device(spend: Spend, n_people: int, budget: Budget) -> Spend:
    if not spend.mu:  # nothing was released, or everybody sent it already
        return replace(spend, budget=budget, count=min(spend.count, 1))
    central_budget = spend.budget
    mu = spend.mu * (
        accounting.exact_mu(budget.epsilon, budget.delta)
        / accounting.exact_mu(central_budget.epsilon, central_budget.delta)
    )
    sensitivity = tuple(n_people * part for part in spend.sensitivity)
    return replace(
        spend,
        mu=mu,
        budget=budget,
        sensitivity=sensitivity,
        noise_scale=tuple(part / mu for part in sensitivity),
    )
