"""The live figure of a counted curve: releases at several ε, and nobody's own data.

Of several curves it shows the first. Kaplan–Meier and other ordinary curves are of simulated or
bundled people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.tasks import SURVIVAL, TASKS
from engine.core.types import PublicFacts
from engine.language import counts, odds_words
from engine.language.grammar import plain_text
from engine.language.numbers import named, number, percent_up, whole
from engine.privacy import risk
from engine.simulation.studies import EPSILON_STEPS
from engine.topics.counting import words
from engine.topics.counting.answer import CountingAnswer
from engine.topics.mean import live

STEPS = EPSILON_STEPS[::2]  # of the slider: each is simulated by itself


def steps_with(epsilon: float) -> tuple[float, ...]:
    """Return the steps of the slider, with a chosen one added."""
    return tuple(sorted({*STEPS, epsilon}))


def figure_payload(answers: Sequence[CountingAnswer]) -> dict[str, Any]:
    """Collect everything the browser needs to draw all budgets, as plain values."""
    first = answers[0]
    facts = _axes(first)
    odds = [risk.of_ledger(answer.spends) for answer in answers]
    shares = [percent_up(each.right).replace("more than", ">") for each in odds]
    refused = [words.refused(answer) if answer.is_refused else None for answer in answers]
    name = f", {first.names[0]}" if first.names[0] else ""
    return live.tagged(
        {
            "title": f"{TASKS[first.task].result} of {whole(first.people)} {facts.people}{name}, "
            "released with differential privacy",
            "epsilons": [f"{answer.budget.epsilon:g}" for answer in answers],
            "n": first.people,
            "attacker": [share if share[0] == ">" else f"≤ {share}" for share in shares],
            "bound": [each.right for each in odds],
            "weak": [answer.budget.epsilon >= odds_words.WEAK_FROM for answer in answers],
            "notes": [_told(answer) for answer in answers],
            "errors": [_errors(answer) for answer in answers],
            "refused": [None if each is None else list(map(plain_text, each)) for each in refused],
            **live.axes(facts),
            **live.lines(
                facts,
                first.times,
                first.ordinary[0],
                np.stack([answer.releases[:, 0] for answer in answers]),
            ),
            "words": live.figure_words(facts, first.people) | _words(first),
            "colours": live.COLOURS,
            "source": live.source_words(first.facts),
            "downloads": True,
        }
    )


def _axes(answer: CountingAnswer) -> PublicFacts:
    """Return the names and ranges of both axes: shares over time, or over other shares."""
    facts, argument = answer.facts, answer.estimand.argument
    return PublicFacts(
        name=facts.name,
        person=facts.person,
        people=facts.people,
        value_name=answer.estimand.quantity,
        value_low=0.0,
        value_high=1.0,
        time_name=argument or facts.time_name,
        time_unit="" if argument else facts.time_unit,
        time_low=float(answer.times[0]),
        time_high=float(answer.times[-1]),
    )


def _errors(answer: CountingAnswer) -> list[str]:
    """Return the error in points, its 95 % value, and the error in a sentence."""
    if answer.is_refused:
        return ["–", "", "nothing published"]
    error, within = (
        number(100 * value)
        for value in (answer.error_by_function[0], np.quantile(answer.errors[0], 0.95))
    )
    return [f"{error} points", f"(95 % of releases: {within} points)", f"error {error} points"]


def _told(answer: CountingAnswer) -> str:
    """Say what is counted, and where a release shows nothing."""
    ends = (
        counts.too_few(answer.curves, answer.facts),
        counts.censoring(answer.curves, answer.facts),
    )
    return plain_text(" ".join(filter(None, (words.counted(answer), *ends))))


def _words(answer: CountingAnswer) -> dict[str, Any]:
    across = named(answer.facts.time_name, answer.facts.time_unit)
    ordinary = "Kaplan–Meier curve" if answer.task == SURVIVAL.key else "non-private curve"
    return live.words_without_people(ordinary, "one release") | {
        "error": "Error",
        "panel": f"Difference from the {ordinary} over {answer.estimand.argument or across}. The "
        "axis reaches {limit}.",
    }
