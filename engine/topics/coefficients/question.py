"""Varying coefficients: all functions together, and each."""

from __future__ import annotations

from engine.core.tasks import VARYING_COEFFICIENTS
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, errors_by_function, protection
from engine.topics.coefficients import charts
from engine.topics.coefficients.answer import CoefficientsAnswer, coefficients_answer


def _numbers(answer: CoefficientsAnswer, question: QuestionLike) -> Numbers:
    """Collect errors of all functions together and of each, and the protection."""
    names = [f"error, {name}" for name in answer.names]
    return errors_by_function(answer, "all functions", names) | protection(
        answer.spends, question.person
    )


KIND = QuestionKind(
    "coefficients",
    "Varying coefficients",
    coefficients_answer,
    _numbers,
    lambda answer, _: charts.errors(answer),
    (VARYING_COEFFICIENTS.key,),
)
