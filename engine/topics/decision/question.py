"""Decide: the budget that a study with sites needs, and one step to either side."""

from __future__ import annotations

from engine.language.numbers import named
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats
from engine.topics.decision import charts
from engine.topics.decision.answer import DECIDED, Decision, decision_of


def _numbers(answer: Decision, question: QuestionLike) -> Numbers:
    """Collect ε, error, its 95 % value and the attacker's accuracy of every option."""
    unit, units = answer.profile.unit, question.person.units
    by_name: Numbers = {"δ": answer.profile.delta.value}
    for name, option in answer.options:
        step = name.lower()
        odds = (
            option.odds if units == 1 else answer.profile.option(charts.step_of(option), units).odds
        )
        by_name |= {
            f"{step}: ε": option.budget.epsilon,
            f"{step}: {named('error', unit)}": option.accuracy.error,
            f"{step}: {named(WITHIN, unit)}": option.accuracy.within,
            f"{step}: attacker’s accuracy, at most": odds.right,
        }
    return as_floats(by_name)


KIND = QuestionKind(
    "decision",
    "Decide",
    decision_of,
    _numbers,
    lambda answer, _: charts.over_budgets(answer),
    (*DECIDED,),
)
