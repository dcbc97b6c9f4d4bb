"""Methods: errors side by side, by budget and at equal protection."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.core.tasks import MEAN_FUNCTION
from engine.figures.theme import Chart
from engine.language import error_words
from engine.topics.asking import Kind, Numbers, QuestionLike, as_floats, errors
from engine.topics.compare import charts
from engine.topics.compare.answer import (
    MethodAnswer,
    RefusedMethod,
    at_budgets,
    at_equal_risk,
    published,
    step,
)
from engine.topics.mean.question import shares

Methods = Sequence[MethodAnswer | RefusedMethod]


def numbers(ways: Methods, question: QuestionLike) -> Numbers:
    """The table, by budget and method, and the errors at equal protection."""
    methods = published(ways)
    rows = {f"ε = {epsilon:g}, {method.label}: {name}": value for epsilon in question["epsilons"]
            for method in methods for name, value in _row(method, step(epsilon)).items()}
    chance, at_chance = at_equal_risk(methods)
    return as_floats(rows | {
        f"{label}: error where the attacker’s accuracy is {100 * chance:.0f} %": error
        for label, error in at_chance.items()})


def _row(method: MethodAnswer, budget: int) -> Numbers:
    """One row of the table."""
    within = method.study.within[budget] if math.isfinite(method.error[budget]) else math.nan
    odds, facts = method.odds[budget], method.picture.data.facts
    return errors(method.error[budget], within, facts.value_unit, method.study.baseline,
                  error_words.distance(facts, "mean")) | shares(
        method.picture, method.study, budget) | {
            "proved δ": odds.budget.delta, "attacker’s accuracy, at most": odds.right,
            "power, at most": odds.power}


def chart(ways: Methods, question: QuestionLike) -> Chart:
    """Errors of methods against right guesses, with markers at some budgets."""
    methods = published(ways)
    keys = [method.mechanism.key for method in methods]
    lines = [charts.Line(method.label, method.mechanism.key, method.mechanism.family,
                         keys[:k].count(method.mechanism.key), method.error, method.right)
             for k, method in enumerate(methods)]
    facts = methods[0].picture.data.facts
    return charts.against_risk(lines, [*map(step, question["epsilons"])], facts.value_unit,
                               2 * facts.value_half_width)


KIND = Kind("methods", "Methods", at_budgets, numbers, chart, (MEAN_FUNCTION.key,))
