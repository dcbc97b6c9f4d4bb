"""Effective size N of people if nobody is trusted, and the size required for a release."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.enumerations import NoisePlace
from engine.core.types import Budget
from engine.mechanisms.families import local_privacy
from engine.mechanisms.families.adaptive.rules import mu_of
from engine.privacy import accounting
from engine.topics.decision.answer import Profile

_MAX_PEOPLE = 10**12


@dataclass(frozen=True)
class EffectiveSize:
    """N = √n μ of n people who each add noise alone, beside what anything released needs."""

    n_people: int
    epsilon: float
    # value, needed: N, and what it must reach so that anything is released
    value: float
    needed: float
    of_centre: float  # n μ, which one trusted centre would have
    # the smallest n with N at least `needed` at this ε; None beyond any number of people
    people_needed: int | None
    epsilon_needed: float  # the smallest ε with N at least `needed` of these people

    @property
    def is_enough(self) -> bool:
        return self.value >= self.needed


def effective_size(profile: Profile, epsilon: float) -> EffectiveSize | None:
    """Compute N if everybody's own device adds the noise; else, or without a rule, None."""
    n, budget = profile.n_people, Budget(epsilon, profile.delta.value)
    rule = profile.study.mechanism.feasibility(profile.study.source.sizes, (budget,))
    if profile.noise is not NoisePlace.PERSON or rule is None:
        return None
    value = local_privacy.effective_size(n, budget)
    epsilon_needed = (
        epsilon * rule.min_per_function / value
        if budget.is_pure
        else accounting.exact_epsilon(mu_of(budget) * rule.min_per_function / value, budget.delta)
    )
    return EffectiveSize(
        n,
        epsilon,
        value,
        rule.min_per_function,
        n * mu_of(budget),
        _people_needed(profile, epsilon, rule.min_per_function),
        epsilon_needed,
    )


def _people_needed(profile: Profile, epsilon: float, needed: float) -> int | None:
    """Find the required number of people by bisection: N grows with n, even while 1/n² falls."""
    stated = profile.delta.value if profile.delta.is_chosen else None

    def is_enough(n: int) -> bool:
        budget = Budget(epsilon, profile.study.mechanism.delta(n, stated).value)
        return local_privacy.effective_size(n, budget) >= needed

    if not is_enough(_MAX_PEOPLE):
        return None
    low, high = 1, _MAX_PEOPLE  # low is not enough, or is 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
