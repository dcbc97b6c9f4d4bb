"""The values that a setting may take: each check returns the value, or refuses it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from engine.core.errors import InputError
from engine.privacy.amplification import MAX_PEOPLE
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning.periods import MAX_PERIODS
from pages.shared.state.settings import (
    HIGHEST_EPSILON,
    LOWEST_EPSILON,
    MAX_BUDGETS,
    MAX_FOLDS,
    MAX_OF_ONE,
    METHODS,
)

V = TypeVar("V")
_FOLD = re.compile(r"[a-z_]{1,40}")


def _checked(value: V, is_allowed: bool, message: str, field: str, hint: str = "") -> V:
    if not is_allowed:
        raise InputError(message, field=field, hint=hint)
    return value


def point(value: float) -> float:
    return _checked(
        value, 0 <= value <= 1, f"The point must lie between 0 and 1; got {value:g}.", "point"
    )


def group(count: int) -> int:
    return _checked(
        count,
        1 <= count <= MAX_OF_ONE,
        f"One person has 1 to {MAX_OF_ONE} of them; got {count}.",
        "group",
    )


def periods(count: int) -> int:
    return _checked(
        count,
        1 <= count <= MAX_PERIODS,
        f"There can be 1 to {MAX_PERIODS} releases; got {count:,}.",
        "periods",
    )


def population(count: int) -> int:
    return _checked(
        count,
        1 < count <= MAX_PEOPLE,
        f"The larger group has 2 to {MAX_PEOPLE:,} people; got {count}.",
        "population",
    )


def methods(words: Sequence[str]) -> tuple[str, ...]:
    """Check words of methods to compare; return each once."""
    chosen = tuple(dict.fromkeys(words))
    return _checked(
        chosen,
        bool(chosen) and {*chosen} <= {*METHODS},
        "Choose at least one method to compare.",
        "methods",
    )


def budgets(chosen: Sequence[float]) -> tuple[float, ...]:
    """Check the budgets side by side, which are steps of the slider; return them in order."""
    ordered = tuple(sorted(set(chosen)))
    is_allowed = 1 <= len(ordered) <= MAX_BUDGETS and {*ordered} <= {*EPSILON_STEPS}
    return _checked(
        ordered, is_allowed, f"Choose one to {MAX_BUDGETS} steps of the slider.", "budgets"
    )


def number(value: float, field: str) -> float:
    return _checked(value, math.isfinite(value), "A number is needed here.", field)


def target(value: float) -> float:
    return _checked(
        value,
        0 < value < 1e12,
        f"The error to reach must be above zero; got {value:g}.",
        "target",
        "Give it in the unit of the values.",
    )


def percentile(value: float) -> float:
    return _checked(
        value,
        0 < value < 100,
        f"A percentile must lie between 0 and 100; got {value:g}.",
        "planned_percentile",
    )


def risk(percent: float) -> float:
    return _checked(
        percent,
        50 < percent < 100,
        f"The attacker’s accuracy must lie above 50 % and below 100 %; got {percent:g} %.",
        "risk",
        "Guessing is right in 50 % of cases.",
    )


def rule(epsilon: float | None) -> float | None:
    """Check the largest ε by a rule of one's own; None without a rule."""
    return (
        None
        if epsilon is None
        else _checked(
            epsilon,
            0.01 <= epsilon <= 100,
            f"A rule must lie between 0.01 and 100; got {epsilon:g}.",
            "rule",
            "Leave it empty if there is none.",
        )
    )


def epsilon(value: float) -> float:
    return _checked(
        value,
        LOWEST_EPSILON <= value <= HIGHEST_EPSILON,
        f"ε must lie between {LOWEST_EPSILON:g} and {HIGHEST_EPSILON:g}; got {value:g}.",
        "epsilon",
        f"Below {LOWEST_EPSILON:g} noise hides nearly everything."
        if value < 1
        else f"Beyond {HIGHEST_EPSILON:g} there is hardly any privacy.",
    )


def seed(value: int) -> int:
    return _checked(
        value, 0 <= value < 2**31, f"The seed must lie between 0 and {2**31 - 1}.", "seed"
    )


def folds(names: Iterable[str]) -> tuple[str, ...]:
    """Check the names of folds; return each once and in order."""
    ordered = tuple(sorted(set(names)))
    is_allowed = len(ordered) <= MAX_FOLDS and all(map(_FOLD.fullmatch, ordered))
    return _checked(ordered, is_allowed, f"At most {MAX_FOLDS} folds can be open.", "folds")
