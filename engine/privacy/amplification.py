"""Gain in privacy if those who take part are a secret random sample of a larger group.

An attacker who does not know whether somebody was drawn at all learns less of them. The theorem is
Theorem 9 of Balle, Barthe and Gaboardi (2018), Privacy amplification by subsampling, NeurIPS: if n
of N are drawn at random, without replacement, and a release of the n is (ε, δ)-DP for replacing one
of them, then for replacing one of the N, with q = n/N, it is (log(1 + q(e^ε − 1)), qδ)-DP. The
n stays as it is, so that all neighbours here replace one record. It holds

* for one site: where there are several, each of them knows who of its people takes part;
* against an attacker who knows neither who was drawn nor, from elsewhere, that one person was;
* where the draw was really random and all that were drawn take part.

None of this can be seen in the data, so it is declared by whoever drew the sample. What is spent is
never lowered: the ledger holds the cost for those who did take part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.core.errors import InputError
from engine.core.types import Budget, Sizes, Spend
from engine.privacy import accounting, risk
from engine.privacy.tradeoff import Subsampled

MAX_PEOPLE = 10**10


@dataclass(frozen=True)
class SecretSample:
    """A declared secret random sample of a larger group.

    Examples
    --------
    >>> sample = SecretSample(people=100, population=1000, declared=True)
    >>> round(sample.budget(Budget(1.0, 1e-6)).epsilon, 4)
    0.1586
    """

    people: int  # n, how many were drawn, all of whom take part
    population: int  # N > n, how many could have been drawn; at most 10¹⁰
    declared: bool  # whether somebody vouches that the draw was random and is secret

    def __post_init__(self) -> None:
        if not 0 < self.people < self.population <= MAX_PEOPLE:
            raise InputError(
                f"The larger group has more than the {self.people} people who take "
                f"part; got {self.population}.",
                field="population",
                hint="Count everybody who could have been drawn.",
            )
        if not self.declared:
            raise InputError(
                "Nobody has declared that the sample is random and secret.",
                field="declared",
                hint="Tick it if it is so, or leave it out.",
            )

    @property
    def share(self) -> float:
        """The share q = n/N, rounded up."""
        exact = Fraction(self.people, self.population)
        near = float(exact)
        return near if Fraction(near) >= exact else math.nextafter(near, 1.0)

    def budget(self, full: Budget) -> Budget:
        """The budget for one of the larger group: (log(1 + q(e^ε − 1)), qδ) from (ε, δ).

        Rounded up; beyond ε = 700 that ε itself, which is no smaller.
        """
        if full.epsilon > 700:
            return Budget(full.epsilon, full.delta * self.share)
        epsilon = math.log1p(self.share * math.expm1(full.epsilon)) * (1 + 1e-12)
        return Budget.covering(min(epsilon, full.epsilon), self.share * full.delta)

    def odds(self, spends: Sequence[Spend], group: int = 1, prior: float = 0.5) -> risk.Odds:
        """Compute the odds of an attacker about one of the larger group; see `risk.of_ledger`.

        All records of a person take part if one does. The people are what is drawn, so a person's
        `group` of records counts before the draw.
        """
        servers = accounting.by_server(accounting.for_group(spends, group)).values()
        return risk.highest(
            [
                risk.odds(
                    Subsampled(accounting.trade_off(lines), self.share),
                    self.budget(accounting.proved(lines)),
                    prior,
                    group,
                )
                for lines in servers
            ]
        )


@dataclass(frozen=True)
class Person:
    """Whose odds are given: of somebody with so many protected units.

    `sample` is what was declared of a secret random sample, None where nothing was.
    """

    units: int = 1
    sample: SecretSample | None = None


ONE = Person()


def reason_against(sizes: Sizes) -> str:
    """Why a secret sample is worth nothing at several sites; else empty."""
    if sizes.n_servers > 1:
        return (
            "**Not counted here:** each site knows who of its people takes part, so against a "
            "site a secret sample hides nothing."
        )
    return ""
