"""Masked sums: sites add the noise in shares, and only the sum of their messages can be read.

Proposition. Let S sites answer a method whose messages are sums over people plus Gaussian noise,
each adding a share of 1/S of its variance, and let S′ of them keep to the protocol and to
themselves. If people are protected by S′ shares with μ, the release has the law of one trusted
centre's that holds all curves and asks for μ′ = μ √(S′/S).

Proof. What is read is the sum of all messages: the sum over all people, plus S shares, which have
together the covariance of the centre's noise. Others than the S′ know their own shares; what is
left has S′/S of that variance, and one curve moves the sum as far. So μ′ = μ √(S′/S), message by
message given the past, hence together. ∎

On a lattice shares of discrete Gaussian noise are that up to e^{±t} with t < 2^{−10⁶}
(`engine.noise.shares`). At most one site less than all can be relied on, since a site knows its own
share: with twenty sites the noise variance is 20/19 of a trusted centre's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from engine.core.errors import InputError
from engine.core.types import Budget, Spend
from engine.noise.shares import Shares
from engine.privacy import accounting


def all_but_one(n_sites: int) -> Shares:
    """Shares of so many sites, of which any one may work with the centre.

    Examples
    --------
    >>> round(all_but_one(20).more_noise, 4)
    1.0526
    """
    if n_sites < 2:
        raise InputError(
            "A masked sum needs at least two sites; here is one.",
            field="noise",
            hint="Let the site add the noise.",
        )
    return Shares(n_sites, n_sites - 1)


def centre_budget(shares: Shares, budget: Budget) -> Budget:
    """Compute the budget with μ′ = μ √(S′/S) and the same δ, by the proposition of this module.

    Examples
    --------
    >>> round(centre_budget(all_but_one(20), Budget(1.0, 1e-6)).epsilon, 3)
    0.973
    """
    if budget.is_pure:
        raise InputError(
            "Laplace noise on numbers that are no counts is not drawn in shares.",
            field="noise",
            hint="State a δ above 0, or let each site add its noise.",
        )
    return accounting.with_more_noise(budget, shares.more_noise)


def of_every_site(spends: Sequence[Spend], shares: Shares, budget: Budget) -> tuple[Spend, ...]:
    """Derive the ledger of S′ shares, which protects everybody, from the centre's with S of them.

    All of the centre's lines must have Gaussian noise.
    """
    return tuple(_of_every_site(spend, shares, budget) for spend in spends)


def _of_every_site(spend: Spend, shares: Shares, budget: Budget) -> Spend:
    if not spend.mu:  # nothing was released
        return replace(spend, budget=budget)
    less = 1 / math.sqrt(shares.more_noise)
    return replace(
        spend,
        mu=spend.mu / less,
        budget=budget,
        noise_scale=tuple(less * scale for scale in spend.noise_scale),
    )
