"""Varying coefficients: all functions together, and each."""

from __future__ import annotations

from engine.core.tasks import VARYING_COEFFICIENTS
from engine.language.numbers import named
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats, protection
from engine.topics.coefficients import charts
from engine.topics.coefficients.answer import CoefficientsAnswer, coefficients_answer


def _numbers(answer: CoefficientsAnswer, question: QuestionLike) -> Numbers:
    """Collect errors of all functions together and of each, and the protection."""
    unit = answer.facts.value_unit
    errors = {
        "error, all functions": answer.error,
        f"{WITHIN}, all functions": answer.within,
        **{
            f"error, {name}": error
            for name, error in zip(answer.names, answer.error_by_function, strict=True)
        },
    }
    if answer.baseline is not None:
        errors["error without privacy, all functions"] = answer.baseline
    numbers = {named(name, unit): error for name, error in errors.items()}
    return as_floats(numbers) | protection(answer.spends, question.person)


KIND = QuestionKind(
    "coefficients",
    "Varying coefficients",
    coefficients_answer,
    _numbers,
    lambda answer, _: charts.errors(answer),
    (VARYING_COEFFICIENTS.key,),
)
