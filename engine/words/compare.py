"""Sentences about methods side by side: which one wastes least, and at which protection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.language import chances
from engine.language.grammar import escape, uncapital
from engine.language.numbers import number, small, times, with_unit
from engine.privacy.risk import Odds
from engine.types import PublicFacts

TITLE = "Which method wastes the least of the budget?"
DIFFERENCE = ("Lines: 20 possible releases less the average without protection (dashed). The same "
              "curves and the same axes everywhere; what lies beyond them is cut off.")
RISK = ("Further left: better protection. Lower: less error. At one place on the horizontal axis "
        "all methods protect equally. Marks: the budgets above.")

CODE = "Left out: the question of shape, and pinned scenarios, whose own pages have their code."


def budgets(epsilons: Sequence[float]) -> str:
    """For the strip: ε = 0.5, 1 and 2."""
    *others, last = (f"{epsilon:g}" for epsilon in epsilons)
    return f"ε = {', '.join(others)} and {last}" if others else f"ε = {last}"


def span(errors: Sequence[float], unit: str) -> str:
    """For the strip: from the least to the largest error; empty where there is none."""
    known = [error for error in errors if math.isfinite(error)]
    if not known:
        return ""
    ends = dict.fromkeys(number(end) for end in (min(known), max(known)))
    return with_unit(" to ".join(ends), unit)


def promise(delta: float) -> str:
    """Beside the name of a method: whether its limits may fail."""
    if delta == 0:
        return "δ = 0: its limits always hold"
    return f"δ = {small(delta)}: the chance that its limits do not hold"


def cell(epsilon: float, error: str, odds: Odds) -> str:
    """Above a small picture: the budget, the error and the risk."""
    return f"**ε = {epsilon:g}** · error {error} · right guess {chances.odds_short(odds)}"


def least(epsilon: float, errors: Mapping[str, float], written: Mapping[str, str]) -> str:
    """Which method errs least at a budget, and how far the next one is behind."""
    known = sorted((error, label) for label, error in errors.items() if math.isfinite(error))
    if not known:
        return f"At **ε = {epsilon:g}** none of these methods would publish anything."
    (best, label), *others = known
    error = escape(written[label])
    text = f"At **ε = {epsilon:g}** {_inside(label)} errs least, **{error}**"
    if not others:
        return f"{text}."
    ratio = others[0][0] / best
    behind = ("about as far" if ratio < 1.1 else f"{times(ratio)} as far")
    return f"{text}; next is {_inside(others[0][1])}, {behind}."


def equal_risk(chance: float, errors: Mapping[str, float], facts: PublicFacts) -> str:
    """Errors where an attacker is right equally often, so where protection is the same."""
    known = sorted((error, label) for label, error in errors.items() if math.isfinite(error))
    if len(known) < 2:
        return ""
    unit = escape(facts.value_unit)
    each = "; ".join(f"{_inside(label)} **{with_unit(number(error), unit)}**"
                     for error, label in known)
    return (f"**At equal protection**, an attacker right at most {100 * chance:.0f} times in 100: "
            f"{each}.")


def _inside(label: str) -> str:
    """The name of a method inside a sentence."""
    return escape(uncapital(label))


def aim(label: str, is_truth: bool) -> str:
    """What errors are measured from."""
    if is_truth:
        return "Errors are distances from the true average, over fresh curves."
    return (f"Errors are distances from the average without protection, as {escape(label)} "
            "fits it: one aim for all methods.")
