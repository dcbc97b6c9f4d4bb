"""Methods: errors side by side, by budget and at equal protection."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.core.tasks import MEAN_FUNCTION
from engine.figures.theme import Chart
from engine.language import error_words
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats, errors
from engine.topics.compare import charts
from engine.topics.compare.answer import (
    MethodAnswer,
    RefusedMethod,
    at_budgets,
    at_equal_risk,
    index_of_epsilon,
    not_refused,
)
from engine.topics.mean.question import shares

Methods = Sequence[MethodAnswer | RefusedMethod]


def _numbers(answers: Methods, question: QuestionLike) -> Numbers:
    """Collect the table by budget and method, and the errors at equal protection."""
    methods = not_refused(answers)
    rows = {
        f"ε = {epsilon:g}, {method.label}: {name}": value
        for epsilon in question["epsilons"]
        for method in methods
        for name, value in _row(method, index_of_epsilon(epsilon)).items()
    }
    accuracy, errors_there = at_equal_risk(methods)
    return as_floats(
        rows
        | {
            f"{label}: error where the attacker’s accuracy is {100 * accuracy:.0f} %": error
            for label, error in errors_there.items()
        }
    )


def _row(method: MethodAnswer, k: int) -> Numbers:
    """Build one row of the table: a method at the k-th step of the slider."""
    within = method.study.within[k] if math.isfinite(method.error[k]) else math.nan
    odds, facts = method.odds[k], method.picture.data.facts
    return (
        errors(
            method.error[k],
            within,
            facts.value_unit,
            method.study.baseline,
            error_words.error_name(facts),
        )
        | shares(method.picture, method.study, k)
        | {
            "proved δ": odds.budget.delta,
            "attacker’s accuracy, at most": odds.right,
            "power, at most": odds.power,
        }
    )


def _chart(answers: Methods, question: QuestionLike) -> Chart:
    """Draw errors of methods against the attacker’s accuracy, with markers at some budgets."""
    methods = not_refused(answers)
    keys = [method.mechanism.key for method in methods]
    lines = [
        charts.MethodErrors(
            method.label,
            method.mechanism.key,
            method.mechanism.family,
            keys[:k].count(method.mechanism.key),
            method.error,
            method.attacker_accuracy,
        )
        for k, method in enumerate(methods)
    ]
    facts = methods[0].picture.data.facts
    marked = [index_of_epsilon(epsilon) for epsilon in question["epsilons"]]
    return charts.against_risk(lines, marked, facts.value_unit, 2 * facts.value_half_width)


KIND = QuestionKind("methods", "Methods", at_budgets, _numbers, _chart, (MEAN_FUNCTION.key,))
