"""Lab: percentile curves at one budget."""

from __future__ import annotations

from engine.core.tasks import PERCENTILE_CURVES
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, errors_by_function, protection
from engine.topics.percentiles import charts
from engine.topics.percentiles.answer import PercentilesAnswer, percentiles_answer


def _numbers(answer: PercentilesAnswer, question: QuestionLike) -> Numbers:
    """Collect errors of the curves, the time in ranges, and the protection."""
    names = [f"error of the {name} curve" for name in answer.names]
    return errors_by_function(answer, "all curves", names) | protection(
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
