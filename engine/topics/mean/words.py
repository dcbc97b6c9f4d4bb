"""Sentences about what a mean curve answers, and the watermark of synthetic people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.answers.groups import WHAT_P_IS
from engine.core.lists import counted
from engine.core.names import uncapital
from engine.core.types import Budget, PublicFacts
from engine.language.grammar import capital, escape
from engine.language.numbers import in_unit, number, small, with_unit
from engine.topics.mean.shape import Agreeing, ShapeQuery, is_at_an_end

LABELS = {
    "peak": "Where is the peak?",
    "fastest": "When does it rise fastest?",
    "sign": "Does it rise or fall?",
    "crossing": "When does it reach a level?",
    "above": "How long is it above a level?",
    "groups": "Do two groups differ?",
    "next": "Where would the next person lie?",
}
ASKING = "Asking costs no privacy: the answer is computed from what is already published."
RELEASES = "What equally likely releases say at this ε:"
HOW_OFTEN = "How often would a release say so?"
HELP = (
    "Each possible release is asked, too. An error in the unit of the values does not tell "
    "whether such an answer survives."
)
KEY = (
    "Line: releases that keep the answer; bars: 95 % range of this simulation. ◇ this budget. "
    "No point: nothing would be published, or the noise is as large as the curve."
)


def groups_asked(first: str, second: str, budget: Budget) -> str:
    """State the cost of a comparison of two groups."""
    return (
        f"{escape(capital(first))} and {escape(second)} are released apart. Each person’s "
        f"data go into one group only, so ε = {number(budget.epsilon)} holds for everybody; it "
        f"does not add. Who is in which group is public. p is {WHAT_P_IS}"
    )


def groups_told(detected: int, releases: int, void: int = 0) -> str:
    """Say how many releases tell two groups apart; `void` ones are not tested."""
    left_out = (
        f"{counted(void, 'release')} of {releases} warned that {'it' if void == 1 else 'they'} "
        f"cannot be relied on, and {'was' if void == 1 else 'were'} not tested."
    )
    if void == releases:
        return left_out
    told = (
        f"**{detected} of {releases - void}** releases of these people find a difference "
        "(test at 5 %)."
    )
    return f"{told} {left_out}" if void else told


def new_people(right: Sequence[float], facts: PublicFacts) -> str:
    """Say how many observations of new people lie in ranges of releases, by simulation.

    `right` holds shares, of the releases that tell a range.
    """
    low, high = (round(100 * share) for share in (min(right), max(right)))
    how_many = f"{low}" if low == high else f"{low} to {high}"
    return (
        f"**{how_many} %** of the observations of simulated new {facts.people} lie in the "
        "range for observations that releases give (aim: 95 %)."
    )


def short(question: ShapeQuery, facts: PublicFacts) -> str:
    """Write the heading of a column: what is kept."""
    if question.kind == "sign":
        return f"Keeps rise or fall, {_between(question, facts)}"
    level = with_unit(f"{question.level:g}", facts.value_unit)
    feature = {
        "peak": "peak",
        "fastest": "fastest rise",
        "above": f"time above {level}",
        "crossing": f"time of {level}",
    }[question.kind]
    return f"Keeps {feature} within {_length(question.tolerance, facts)}"


def reference(question: ShapeQuery, answer: float, facts: PublicFacts, is_truth: bool) -> str:
    """State the answer of the reference curve: a time or rise, NaN if it is never reached."""
    whose = f"The {'true mean' if is_truth else 'non-private mean'}"
    if question.kind == "peak":
        end = (
            " That is an end of the range, not a peak inside it."
            if is_at_an_end(question, answer, facts)
            else ""
        )
        return f"{whose} is largest at **{_time(answer, facts)}**.{end}"
    if question.kind == "sign":
        between = f"from {_between(question, facts)}"
        if answer == 0:
            return f"{whose} is as high at both times, {between}."
        by = in_unit(abs(answer), escape(facts.value_unit))
        return f"{whose} **{'rises' if answer > 0 else 'falls'}** by {by} {between}."
    if question.kind == "fastest":
        return (
            f"{whose} rises fastest at **{_time(answer, facts)}** (of {_between(question, facts)})."
        )
    level = with_unit(f"{question.level:g}", escape(facts.value_unit))
    if question.kind == "above":
        return f"{whose} is above {level} for **{in_unit(answer, escape(facts.time_unit))}**."
    if math.isnan(answer):
        return f"{whose} **never** is at {level}."
    return f"{whose} is first at {level} at **{_time(answer, facts)}**."


def agreement(
    question: ShapeQuery,
    agreeing: Agreeing,
    ordinary: Agreeing | None,
    facts: PublicFacts,
    never: bool,
) -> str:
    """Say how often a release, and an average without privacy, agrees, by simulation.

    `ordinary` is None if it is not known; `never` is True if the level is never reached.
    """
    within = f"within {_length(question.tolerance, facts)}"
    agrees = {
        "peak": f"has it {within} of that",
        "fastest": f"does so {within} of that",
        "above": f"is above it for as long, {within},",
        "sign": "says the same",
        "crossing": ("never is there either" if never else f"gets there {within} of that"),
    }
    text = (
        f"A private release {agrees[question.kind]} in **{in_draws(agreeing)}** "
        f"(simulated; 95 % interval: {chance_range(agreeing)} %)."
    )
    if question.kind == "sign":
        text += " Guessing would in 50 %."
    if ordinary is not None:
        text += f" A non-private mean does in {in_draws(ordinary)}."
    return text


def refused(budget: Budget) -> str:
    """Say that noise is as large as the feature in question."""
    return (
        f"**Not answered at ε = {budget.epsilon:g}.** Nothing would be published, or the noise "
        "is as large as the curve: whatever a release says about its shape would be noise. "
        "Raise ε, or ask more people."
    )


def in_draws(agreeing: Agreeing) -> str:
    """Say how many of the simulated releases keep the answer: "83 of 100"."""
    return f"{int(agreeing.counts)} of {agreeing.draws}"


def chance_range(agreeing: Agreeing) -> str:
    """Round the 95 % interval of the chance outwards, in percent: "74 to 89"."""
    low, high = math.floor(100 * float(agreeing.low)), math.ceil(100 * float(agreeing.high))
    return f"{max(low, 0)} to {min(high, 100)}"


def _time(time: float, facts: PublicFacts) -> str:
    """Write a time: 8.13 years, 14.2 h; without a unit, with its name: time 0.37."""
    if not facts.time_unit:
        return f"{uncapital(facts.time_name)} {number(time)}"
    return in_unit(time, escape(facts.time_unit))


def _between(question: ShapeQuery, facts: PublicFacts) -> str:
    both = f"{question.first:g} to {question.second:g}"
    if not facts.time_unit:
        return f"{uncapital(facts.time_name)} {both}"
    return with_unit(both, escape(facts.time_unit))


def _length(length: float, facts: PublicFacts) -> str:
    """Write a length of time: 0.8 years."""
    return with_unit(f"{length:g}", escape(facts.time_unit))


# -- synthetic people ------------------------------------------------------------------------------


def watermark(name: str, budget: Budget) -> str:
    """Write the watermark of every file and picture of synthetic people."""
    return (
        f"Synthetic people, drawn from a private release ({name}, ε = "
        f"{budget.epsilon:.4g}, δ = {small(budget.delta)}). No row is a person. They keep "
        "the released mean curve and how people vary around it in 3 basis functions, nothing "
        "else. Do not use them to find subgroups or outliers; intervals must add the "
        "release’s own uncertainty."
    )
