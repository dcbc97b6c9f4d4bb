"""Lab: how people differ, from one release of their mean."""

from __future__ import annotations

import math

from engine.core.tasks import MEAN_FUNCTION
from engine.language import error_words
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats, errors, protection
from engine.topics.components import charts, words
from engine.topics.components.answer import COMPARED, ComponentsAnswer, components_answer


def _numbers(answer: ComponentsAnswer, question: QuestionLike) -> Numbers:
    """Collect errors of the mean, shares and angles of directions, and the protection."""
    error, within = (math.nan, math.nan) if answer.is_refused else (answer.error, answer.within)
    numbers = errors(
        error,
        within,
        answer.facts.value_unit,
        answer.baseline,
        error_words.error_name(answer.facts),
    )
    ours = words.medians(answer.angles(answer.found))
    theirs = words.medians(answer.angles(answer.covariance))
    components = answer.components
    for k in range(COMPARED):
        name = f"direction {k + 1}"
        is_told = components is not None and k < components.n_shown
        numbers |= {
            f"share of {name}": float(components.shares[k]) if components and is_told else math.nan,
            f"releases that tell {name}": answer.share_told(k),
            f"degrees off, {name}": ours[k],
            f"degrees off, {name}, covariance alone": theirs[k],
        }
        if answer.known is not None:
            numbers[f"true share of {name}"] = float(answer.known.shares[0, k])
    return as_floats(numbers) | protection(answer.spends, question.person)


KIND = QuestionKind(
    "components",
    "How people differ",
    components_answer,
    _numbers,
    lambda answer, _: charts.angles(answer),
    (MEAN_FUNCTION.key,),
)
