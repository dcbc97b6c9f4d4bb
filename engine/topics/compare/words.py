"""Sentences about methods side by side: which is most accurate at equal privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.core.types import PublicFacts
from engine.language import odds_words
from engine.language.grammar import conjunction, escape, uncapital
from engine.language.numbers import in_unit, number, small, times, with_unit
from engine.privacy.risk import Odds

SIZES = (
    "Points: the root mean squared error at each budget. Bars: the middle 90 % of releases. "
    "Equal distances on the axis are equal ratios."
)
DIFFERENCE = (
    "Lines: 20 possible releases minus the non-private mean (dashed), on the "
    "same curves. **Each method has its own vertical axis**, so that the shape of its "
    "error can be seen; sizes are compared above."
)
RISK = (
    "Further left: more private. Lower: more accurate. At one value of the horizontal axis "
    "all methods protect equally. Marks: the budgets above."
)
BELOW = " Dash-dotted: the floor of unbiased methods with Gaussian noise."

CODE = "Left out: the question of shape, and pinned scenarios, whose own pages have their code."


def budgets(epsilons: Sequence[float]) -> str:
    """List budgets for the strip: ε = 0.5, 1 and 2.

    Examples
    --------
    >>> budgets([0.5, 1, 2])
    'ε = 0.5, 1 and 2'
    """
    return f"ε = {conjunction([f'{epsilon:g}' for epsilon in epsilons])}"


def span(errors: Sequence[float], unit: str) -> str:
    """Write the range of finite errors in `unit` for the strip; empty if there is none.

    Examples
    --------
    >>> span([2.0, 0.5, float("nan")], "cm")
    '0.5 to 2.00 cm'
    """
    known = [error for error in errors if math.isfinite(error)]
    if not known:
        return ""
    ends = dict.fromkeys(number(end) for end in (min(known), max(known)))
    return with_unit(" to ".join(ends), unit)


def promise(delta: float) -> str:
    """Say beside the name of a method whether ε may be exceeded."""
    if delta == 0:
        return "δ = 0: pure DP"
    return f"δ = {small(delta)}: approximate DP"


def cell(epsilon: float, error: str, odds: Odds) -> str:
    """Write the heading of a small picture: the budget, the error with its unit, and the risk."""
    return f"**ε = {epsilon:g}** · error {error} · attacker {odds_words.odds_short(odds)}"


def smallest_error(epsilon: float, errors: Mapping[str, float], written: Mapping[str, str]) -> str:
    """Say which method has the smallest error at a budget; infinite errors mean refused."""
    known = sorted((error, label) for label, error in errors.items() if math.isfinite(error))
    if not known:
        return f"At **ε = {epsilon:g}** none of these methods would publish anything."
    (best, label), *others = known
    error = escape(written[label])
    text = f"At **ε = {epsilon:g}** {_inside(label)} has the smallest error, **{error}**"
    if not others:
        return f"{text}."
    ratio = others[0][0] / best
    behind = "about the same error" if ratio < 1.1 else f"{times(ratio)} the error"
    return f"{text}; next best: {_inside(others[0][1])}, {behind}."


def floor(errors: Mapping[float, float], facts: PublicFacts) -> str:
    """State the lower bound of unbiased methods with Gaussian noise, at each ε of `errors`."""
    each = conjunction(
        [
            f"{in_unit(error, escape(facts.value_unit))} at ε = {epsilon:g}"
            for epsilon, error in errors.items()
        ]
    )
    return (
        f"**Floor:** no unbiased method with Gaussian noise could be closer than {each}. "
        "Biased estimates can beat this floor."
    )


def equal_risk(chance: float, errors: Mapping[str, float], facts: PublicFacts) -> str:
    """State the errors where an attacker is right equally often; empty below two methods."""
    known = sorted((error, label) for label, error in errors.items() if math.isfinite(error))
    if len(known) < 2:
        return ""
    unit = escape(facts.value_unit)
    each = "; ".join(f"{_inside(label)} **{in_unit(error, unit)}**" for error, label in known)
    return (
        f"**At equal privacy**, where the attacker’s accuracy is at most {100 * chance:.0f} %: "
        f"{each}."
    )


def _inside(label: str) -> str:
    """Write a method's name for the inside of a sentence."""
    return escape(uncapital(label))


def aim(is_simulated: bool) -> str:
    """Name the reference of errors."""
    if is_simulated:
        return "Errors are distances from the true mean, over fresh curves."
    return (
        "Errors are forecasts: distances from the true mean of curves with the same public facts."
    )
