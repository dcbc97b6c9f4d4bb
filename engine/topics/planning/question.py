"""Plan: what is needed for an accuracy, and the protection that goes with it."""

from __future__ import annotations

import math

from engine.core.tasks import MEAN_FUNCTION, PERCENTILE_CURVES
from engine.figures import labels, traces
from engine.figures.theme import Chart
from engine.language.numbers import named
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats, errors
from engine.topics.planning.answer import PlanningAnswer, plan_of


def _numbers(answer: PlanningAnswer, question: QuestionLike) -> Numbers:
    """Collect the answer, what it lies between 99 times in 100, and the error there."""
    ends = {"answer": answer.value, "between": answer.low, "and": answer.high}
    reached = answer.reached
    error, within = (
        value if math.isfinite(value) else math.nan for value in (reached.error, reached.within)
    )
    planned = {
        f"{name} ({answer.unknown})": math.nan if value is None else value
        for name, value in ends.items()
    }
    planned |= errors(error, within, question["source"].facts.value_unit, answer.baseline)
    if answer.protection is not None:
        proved = answer.protection.proved
        planned |= {
            "attacker’s accuracy, at most": answer.protection.for_group(
                question.person.units
            ).odds.right,
            "proved ε": proved.epsilon,
            "proved δ": proved.delta,
        }
    return as_floats(planned)


def _chart(answer: PlanningAnswer, question: QuestionLike) -> Chart:
    """Draw the errors that were simulated for a plan, by the dial that was left open."""
    dial = "epsilon" if answer.unknown == "error" else answer.unknown
    steps = sorted((*answer.steps, answer.reached), key=lambda step: getattr(step.setting, dial))
    return traces.table(
        {
            dial: [getattr(step.setting, dial) for step in steps],
            "error": [step.error for step in steps],
        },
        named("Error", question["source"].facts.value_unit),
        labels.changed("Error", steps[0].error, steps[-1].error),
    )


KIND = QuestionKind(
    "plan", "Plan", plan_of, _numbers, _chart, (MEAN_FUNCTION.key, PERCENTILE_CURVES.key)
)
