"""Conversion of a risk to a budget: the largest ε that keeps an attacker below a stated chance.

The attacker is that of `engine.privacy.risk`: knows every other record and chooses between two
for one person. Their chance is worked out from the noise that the method really adds, so the same
risk allows more ε than ε alone would say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from engine.core.errors import InputError
from engine.language.numbers import digits_down
from engine.topics.planning.answer import HIGHEST_EPSILON, PlannedStudy, Protection, protection

LOWEST_EPSILON = 0.01
_STEPS = 24  # halvings of the range on the log scale


@dataclass(frozen=True)
class RiskAnswer:
    """The budget that a chance of a right guess allows.

    `epsilon` is the largest that keeps it, rounded down to two digits, with the `protection` there;
    None if not even the smallest keeps it. `any_method` is what (ε, δ) alone would allow, and
    `is_published` says whether anything would be published at `epsilon`.
    """

    right: float
    epsilon: float | None
    any_method: float | None
    protection: Protection | None = None
    is_published: bool = False


def budget_for_risk(setting: PlannedStudy, right: float, records: int = 1) -> RiskAnswer:
    """Find the largest ε at which a right guess between two has at most the chance `right`.

    `records` is how many protected units one person has.
    """
    if not 0.5 < right < 1:
        raise InputError(
            f"The chance must lie above 50 % and below 100 %; got {100 * right:g}.",
            field="risk",
            hint="A coin toss is right 50 % of the time.",
        )

    def at(epsilon: float) -> Protection:
        return protection(setting.moved("epsilon", epsilon)).for_group(records)

    def cap(epsilon: float) -> float:
        return at(epsilon).odds.right_cap

    budget = _largest(lambda epsilon: at(epsilon).odds.right, right)
    alone = _largest(cap, right)
    if budget is None:
        return RiskAnswer(right, None, alone)
    there = setting.moved("epsilon", budget)
    verdict = setting.mechanism.feasibility(there.curves.sizes, (there.budget,))
    return RiskAnswer(right, budget, alone, at(budget), verdict is None or verdict.is_feasible)


def _largest(chance: Callable[[float], float], max_chance: float) -> float | None:
    """Find the largest ε, rounded down, with at most this chance; chances grow with ε."""
    if chance(HIGHEST_EPSILON) <= max_chance:
        return HIGHEST_EPSILON
    if chance(LOWEST_EPSILON) > max_chance:
        return None
    low, high = LOWEST_EPSILON, HIGHEST_EPSILON
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if chance(middle) <= max_chance else (low, middle)
    return max(digits_down(low, 2), LOWEST_EPSILON)
