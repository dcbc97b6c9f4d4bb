"""Summaries: every method to publish one, and the protection of the chosen one."""

from __future__ import annotations

from engine.core.tasks import SUMMARIES
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats, protection
from engine.topics.summaries import charts
from engine.topics.summaries.answer import SummariesAnswer, summaries_answer


def _numbers(answer: SummariesAnswer, question: QuestionLike) -> Numbers:
    """Collect errors of every method, and the protection of the chosen one, which is the first."""
    errors = as_floats(
        {
            f"{name}, {result.label}": value
            for result in answer.results
            for name, value in (("error", result.error), (WITHIN, result.within))
        }
    )
    if answer.baseline is not None:
        errors["error without privacy"] = answer.baseline
    spends = answer.results[0].spends
    return errors | protection(spends, question.person) if spends else errors


KIND = QuestionKind(
    "summary",
    "Summaries",
    summaries_answer,
    _numbers,
    lambda answer, _: charts.errors(answer),
    SUMMARIES,
)
