"""Summaries: every way to publish one, and the protection of the chosen one."""

from __future__ import annotations

from engine.core.tasks import SUMMARIES
from engine.topics.asking import WITHIN, Kind, Numbers, QuestionLike, as_floats, protection
from engine.topics.summaries import charts
from engine.topics.summaries.answer import SummariesAnswer, summaries_answer


def numbers(answer: SummariesAnswer, question: QuestionLike) -> Numbers:
    """Errors of every way, and the protection of the chosen one, which is the first.

    Parameters
    ----------
    answer : SummariesAnswer
        Methods side by side.
    question : QuestionLike
        The question, with whose odds are said.
    """
    errors = as_floats({f"{name}, {method.label}": value for method in answer.ways
                        for name, value in (("error", method.error), (WITHIN, method.within))})
    if answer.baseline is not None:
        errors["error without privacy"] = answer.baseline
    spends = answer.ways[0].spends
    return errors | protection(spends, question.person) if spends else errors


KIND = Kind("summary", "Summaries", summaries_answer, numbers,
            lambda answer, _: charts.errors(answer), SUMMARIES)
