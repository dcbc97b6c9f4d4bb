"""When a person may take part in one more release: totals that hold whatever was seen before.

Setting. Releases t = 1, 2, … with sets of people S_t and mechanisms M_t; both, and the cost
(ε_t, δ_t, μ_t) of M_t, may depend on all earlier outputs. A release with δ = 0 has μ as in
`accounting.mu_of_pure`; one with neither μ nor δ = 0 has μ = ∞. A person i loses what the releases
with i ∈ S_t cost: given the past, no other output depends on i.

* **Gaussian rule.** Stop before Σ μ_t² > M². All outputs together are M-GDP for i: the fully
  adaptive filter of Smith and Thakurta (2022), by person as in Koskela, Tobaben and Honkela (2022).
* **Sum rule.** Stop before Σ ε_t > E or Σ δ_t > D. All outputs together are (E, D)-private for i:
  the filter by basic composition of Rogers, Roth, Ullman and Vadhan (2016).

**Lemma (either rule).** Permit a release if after it the sum rule holds with (E, Δ/2), or the
Gaussian rule holds with M = exact_mu(E, Δ/2). All outputs together are (E, Δ)-private for i.

*Proof.* Both conditions are monotone: costs only add, so once false, a condition is false for ever.
Let P and Q be the laws of all outputs under two contents of i, T the transcripts at whose end the
sum rule holds, and O any event. Every prefix of a transcript in T satisfies the sum rule. So an
analyst who does the same, but stops as soon as the sum rule would fail, gives each O ∩ T the same
probability under P and under Q. That analyst is (E, Δ/2)-private by the sum rule, hence
P(O ∩ T) ≤ e^E Q(O ∩ T) + Δ/2. On the complement of T the Gaussian rule holds at the end, else the
last release would not have been permitted, and the same argument with an analyst who stops as soon
as the Gaussian rule would fail gives P(O ∖ T) ≤ e^E Q(O ∖ T) + Δ/2, since M-GDP is (E, Δ/2)-private
by the choice of M. Add the two. ∎

A pool shared by both kinds, Σ ε_pure + ε(Σ μ²) ≤ E with one δ, is not used: an analyst may stop the
Gaussian part where its loss is worst, and no proof is known. Filters that stop by composed
trade-off curves or laws of losses are invalid in general. The lemma needs no order of releases, so
rounds of one release may be charged one by one, and what was never drawn is returned.

Noise in shares differs from Gaussian noise by a factor far below 1 + 2⁻⁴⁰ (`engine.noise.shares`);
M is of a δ that is lower by more than that.

Costs are whole numbers, rounded up, and totals are rounded down: sums are exact.

References
----------
Smith and Thakurta (2022), arXiv 2210.17520; Koskela, Tobaben and Honkela (2022), arXiv 2209.15596;
Feldman and Zrnic (2021), arXiv 2008.11193, for the Rényi original; Rogers, Roth, Ullman and Vadhan
(2016), arXiv 1605.08294.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.core.types import Budget
from engine.privacy import accounting

FINE = 10**12  # units of ε and of μ² in 1
FINE_DELTA = 10**18  # units of δ in 1
_LESS_DELTA = 1 - 2.0**-30  # of Δ/2: room for noise in shares
USUAL_SHARE = 1 / 20  # of the total δ, for one release


def in_units(value: float, units: int, up: bool = True) -> int:
    """Write a number as whole units; a decimal that fits stays exactly what it says."""
    nearest = round(value * units)
    if nearest / units == value:
        return nearest
    exact = Fraction(value) * units
    return math.ceil(exact) if up else math.floor(exact)


@dataclass(frozen=True)
class Loss:
    """Joint privacy loss of one person; sums of whole units, rounded up."""

    epsilon: int = 0
    delta: int = 0
    mu_squared: int | None = 0  # None for ∞: a release without μ

    @classmethod
    def of(cls, budget: Budget, mu: float | None = None) -> Loss:
        """Write the cost of one release; one with δ = 0 has the μ of its ε."""
        if mu is None and budget.is_pure:
            mu = accounting.mu_of_pure(budget.epsilon)
        square = None if mu is None or not math.isfinite(mu) else Fraction(mu) ** 2
        return cls(
            in_units(budget.epsilon, FINE),
            in_units(budget.delta, FINE_DELTA),
            None if square is None else math.ceil(square * FINE),
        )

    @classmethod
    def sum(cls, losses: Iterable[Loss]) -> Loss:
        """Add up losses."""
        listed = list(losses)
        squares = [loss.mu_squared for loss in listed]
        return cls(
            sum(loss.epsilon for loss in listed),
            sum(loss.delta for loss in listed),
            None if None in squares else sum(square or 0 for square in squares),
        )

    def __add__(self, other: Loss) -> Loss:
        return Loss.sum((self, other))

    @property
    def budget(self) -> Budget:
        """Sums of ε and δ as numbers."""
        return Budget.covering(self.epsilon / FINE, self.delta / FINE_DELTA)


@dataclass(frozen=True)
class Filter:
    """The either-rule filter of one total (E, Δ)."""

    total: Budget

    @cached_property
    def _sum(self) -> tuple[int, int]:
        return (
            in_units(self.total.epsilon, FINE, up=False),
            math.floor(Fraction(self.total.delta) / 2 * FINE_DELTA),
        )

    @cached_property
    def _mu_squared(self) -> int:
        """M², rounded down; 0 without δ, where Gaussian noise has no ε."""
        if self.total.delta == 0:
            return 0
        mu = accounting.exact_mu(self.total.epsilon, self.total.delta / 2 * _LESS_DELTA)
        return math.floor(Fraction(mu) ** 2 * FINE)

    def admits(self, loss: Loss) -> bool:
        """True if either rule holds for everything that was released."""
        most, most_delta = self._sum
        by_sum = loss.epsilon <= most and loss.delta <= most_delta
        return by_sum or (loss.mu_squared is not None and loss.mu_squared <= self._mu_squared)

    def spent(self, loss: Loss) -> float:
        """ε that was spent, at δ = Δ, by the better rule; ∞ where neither holds any more."""
        _, most_delta = self._sum
        ways = [loss.epsilon / FINE] * (loss.delta <= most_delta)
        if loss.mu_squared is not None and loss.mu_squared <= self._mu_squared:
            ways.append(
                accounting.certified_epsilon(
                    math.sqrt(loss.mu_squared / FINE), self.total.delta / 2
                )
            )
        return min(ways, default=math.inf)

    def left(self, loss: Loss, delta: float | None = None) -> float:
        """The largest ε, at most E, of one more release: with Gaussian noise, or pure for δ = 0.

        `delta` is that of the release; by default a twentieth of Δ. Rounded down to a thousandth.
        """
        most, most_delta = self._sum
        delta = self.total.delta * USUAL_SHARE if delta is None else delta
        left = 0.0
        if loss.delta + in_units(delta, FINE_DELTA) <= most_delta or (
            delta == 0 and loss.delta <= most_delta
        ):
            left = max(0, most - loss.epsilon) / FINE
        if loss.mu_squared is not None and self._mu_squared > loss.mu_squared:
            mu = math.sqrt((self._mu_squared - loss.mu_squared) / FINE)
            left = max(
                left, accounting.exact_epsilon(mu, delta) if delta else accounting.pure_of_mu(mu)
            )
        return math.floor(min(left, self.total.epsilon) * 1000 + 1e-9) / 1000
