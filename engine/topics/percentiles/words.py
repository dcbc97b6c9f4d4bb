"""Sentences about percentile curves and the time in ranges."""

from __future__ import annotations

import math

from engine.core.types import Budget, PublicFacts
from engine.language.grammar import escape
from engine.language.numbers import in_unit, number, percent, two_digits_up
from engine.language.ranges import shares_in_words
from engine.privacy.feasibility import Feasibility
from engine.topics.percentiles.answer import PercentilesAnswer

TOGETHER = "All curves"


def meaning(answer: PercentilesAnswer) -> str:
    """Explain the lines, with numbers of one release at one time."""
    facts, at = answer.facts, len(answer.times) // 2
    when = f"{number(float(answer.times[at]))} {facts.time_unit}".strip()
    low, high = (in_unit(float(answer.releases[0, k, at]), facts.value_unit) for k in (0, -1))
    share = percent(float(answer.levels[-1] - answer.levels[0]))
    return (
        f"{share} of all observations at {when} lie between {low} and {high}. Every "
        f"{facts.person} counts the same, however many observations there are."
    )


def refused(facts: PublicFacts, verdict: Feasibility, budget: Budget, n_people: int) -> str:
    """Say instead of the picture why nothing would be published, and what would change it."""
    needed = two_digits_up(verdict.curves_needed(n_people))
    epsilon = two_digits_up(verdict.epsilon_needed(budget))
    return (
        f"**Too few {facts.people} for percentile curves at ε = {budget.epsilon:g}: nothing "
        "would be published, and no budget is spent.** The noise would be several times as "
        f"large as sampling variability. What helps, one of: {needed:,.0f} {facts.people}, "
        f"ε = {epsilon:g}, percentiles nearer to 50, or the mean curve."
    )


def accuracy(answer: PercentilesAnswer) -> str:
    """State the errors of all curves, the middle one and the outer ones, in response units."""
    unit, error, n = answer.facts.value_unit, answer.error_by_function, len(answer.names)
    middle = in_unit(float(error[answer.middle]), unit)
    target = "the true one" if answer.baseline is not None else "the one without privacy"
    text = (
        f"The published {answer.names[answer.middle]} curve has an error of **{middle}** from "
        f"{target}"
    )
    if n == 1:
        return f"{text}; 95 % of releases are within {number(answer.within)}."
    outer = error[[0, -1]]
    low, high = (in_unit(float(each), unit) for each in outer)
    why = (
        ": few observations lie there, and the noise counts for more"
        if outer.min() > error[answer.middle]
        else ""
    )
    return (
        f"{text}. At {answer.names[0]} it is {low}, at {answer.names[-1]} {high}{why}. All {n} "
        f"curves together: **{in_unit(answer.error, unit)}**, the root of their "
        f"summed squares; 95 % of releases are within {number(answer.within)}."
    )


def planned(
    name: str, error: float, within: float, baseline: float | None, facts: PublicFacts
) -> str:
    """State the error of one curve at the planned people; empty if nothing is published."""
    if not math.isfinite(error):
        return ""

    def text(value: float) -> str:
        return in_unit(value, escape(facts.value_unit))

    sentence = (
        f"There the {name} curve has an error of **{text(error)}**: its root mean squared "
        f"distance from the true one. 95 % of releases are within {text(within)}."
    )
    return (
        sentence
        if baseline is None
        else (f"{sentence} Without privacy the error is {text(baseline)}.")
    )


def in_ranges(answer: PercentilesAnswer) -> list[str]:
    """List the average time in every range with its interval, from high to low."""
    if answer.ranges is None:
        return []
    ranges = answer.ranges
    return shares_in_words(
        ranges.limits,
        answer.facts.value_unit,
        ranges.average[0, 0].tolist(),
        ranges.error[0, 0].tolist(),
    )
