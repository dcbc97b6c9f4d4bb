"""One total for several outputs about the same people: who gets how much, with locks.

Two ways to add up. "sum": ε's and δ's add, whatever is released; that is what the ledger of real
releases charges. "tight": all outputs are Gaussian and planned together, so squares of μ add and
each may have more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.language.numbers import digits_down, exactly
from engine.privacy import accounting

RULES = ("sum", "tight")
MAX_PARTS = 6
LOWEST_EPSILON = 0.01


@dataclass(frozen=True)
class OutputShare:
    """One output: its share among those that are free, or the ε it is locked at."""

    weight: float = 1.0
    locked: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.weight <= 1000:
            raise InputError(
                f"A weight must lie above 0 and be at most 1000; got {self.weight:g}.",
                field="weight",
            )
        if self.locked is not None and not LOWEST_EPSILON <= self.locked <= 100:
            raise InputError(
                f"A locked ε must lie between {LOWEST_EPSILON:g} and 100; got {self.locked:g}.",
                field="locked",
            )


@dataclass(frozen=True)
class Split:
    """A total ε to be split over outputs, added up in one of `RULES`."""

    total: float = 3.0
    rule: str = RULES[0]
    parts: tuple[OutputShare, ...] = (OutputShare(), OutputShare(), OutputShare())

    def __post_init__(self) -> None:
        if not 0.05 <= self.total <= 100:
            raise InputError(
                f"A total must lie between 0.05 and 100; got {self.total:g}.", field="total"
            )
        if not 1 <= len(self.parts) <= MAX_PARTS or self.rule not in RULES:
            raise InputError(f"There may be 1 to {MAX_PARTS} outputs.", field="parts")


def shares(split: Split, delta: float) -> tuple[Budget, ...]:
    """Split the budget over the outputs; together they cost at most (total, `delta`).

    What locked outputs leave goes to the others by weight: of ε, or of μ² where it is tight. ε's
    are rounded down.
    """
    locked = [part.locked for part in split.parts if part.locked is not None]
    weights = sum(part.weight for part in split.parts if part.locked is None)
    if split.rule == "sum":
        each = delta / len(split.parts)
        left = split.total - math.fsum(locked)
        _check(left, weights, split.total)
        return tuple(
            Budget(part.locked or _down(left * part.weight / weights), each) for part in split.parts
        )
    room = accounting.exact_mu(split.total, delta) ** 2
    left = room - math.fsum(accounting.exact_mu(epsilon, delta) ** 2 for epsilon in locked)
    _check(left, weights, split.total)
    return tuple(
        Budget(
            part.locked
            or _down(accounting.exact_epsilon(math.sqrt(left * part.weight / weights), delta)),
            delta,
        )
        for part in split.parts
    )


def _check(left: float, weights: float, total: float) -> None:
    """Refuse locks that cost more than there is, or that leave nothing to those without one."""
    if left < -1e-12 or (weights and left <= 1e-9):
        raise InputError(
            f"Locked outputs leave nothing of the total ε = {total:g}.",
            field="locked",
            hint="Unlock one, lower it, or raise the total.",
        )


def _down(epsilon: float) -> float:
    """Round down to three digits, so that parts never add up to more than the total."""
    return digits_down(epsilon, 3)


def cost(budgets: Sequence[Budget], rule: str) -> float:
    """Compute the ε of all outputs together, at the δ of all of them together."""
    if rule == "sum":
        return math.fsum(budget.epsilon for budget in budgets)
    delta = budgets[0].delta
    return accounting.exact_epsilon(
        math.hypot(*(accounting.exact_mu(budget.epsilon, delta) for budget in budgets)), delta
    )


# -- as words of an address -----------------------------------------------------------------------


def word(split: Split) -> str:
    """Write a split as a word `3_sum_w1_l0.5`: total, way, a weight or a lock for every output."""
    parts = (
        f"l{exactly(part.locked)}" if part.locked is not None else f"w{exactly(part.weight)}"
        for part in split.parts
    )
    return "_".join((exactly(split.total), split.rule, *parts))


def of_word(text: str) -> Split:
    """Look up the split named by a word."""
    total, rule, *parts = text.split("_")
    return Split(
        float(total),
        rule,
        tuple(
            OutputShare(locked=float(part[1:])) if part[:1] == "l" else OutputShare(float(part[1:]))
            for part in parts
        ),
    )
