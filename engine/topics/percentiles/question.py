"""Lab: percentile curves at one budget."""

from __future__ import annotations

from engine.core.tasks import PERCENTILE_CURVES
from engine.language.numbers import named
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats, protection
from engine.topics.percentiles import charts
from engine.topics.percentiles.answer import PercentilesAnswer, percentiles_answer


def _numbers(answer: PercentilesAnswer, question: QuestionLike) -> Numbers:
    """Collect errors of the curves, the time in ranges, and the protection."""
    unit = answer.facts.value_unit
    errors = {
        "error, all curves": answer.error,
        f"{WITHIN}, all curves": answer.within,
        **{
            f"error of the {name} curve": error
            for name, error in zip(answer.names, answer.error_by_function, strict=True)
        },
    }
    if answer.baseline is not None:
        errors["error without privacy, all curves"] = answer.baseline
    return as_floats({named(name, unit): error for name, error in errors.items()}) | protection(
        answer.spends, question.person
    )


KIND = QuestionKind(
    "percentiles",
    "Percentile curves",
    percentiles_answer,
    _numbers,
    lambda answer, _: charts.curves(answer),
    (PERCENTILE_CURVES.key,),
)
