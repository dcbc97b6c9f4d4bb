"""Explore: one budget of the slider."""

from __future__ import annotations

import math

from engine.core.tasks import MEAN_FUNCTION
from engine.figures import traces
from engine.figures.theme import Chart
from engine.language import error_words
from engine.language.numbers import named
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats, errors, protection
from engine.topics.mean.answer import MeanAnswer, MeanStudy, mean_answer


def _numbers(answer: MeanAnswer, question: QuestionLike) -> Numbers:
    """Collect errors, what they are made of, and the protection."""
    k = answer.budgets.index(question["budget"])
    study, unit = answer.study, answer.facts.value_unit
    error, within = (
        (math.nan, math.nan) if answer.is_refused(k) else (study.error[k], study.within[k])
    )
    return as_floats(
        errors(error, within, unit, study.baseline, error_words.error_name(answer.facts))
        | shares(answer, study, k)
    ) | protection(answer.spends[k], question.person)


def shares(answer: MeanAnswer, study: MeanStudy, k: int) -> Numbers:
    """Collect the parts of the squared error at one budget."""
    parts = zip(error_words.PARTS, study.shares[k], strict=True)
    return {
        f"share of the squared error: {name}": math.nan if answer.is_refused(k) else share
        for name, share in parts
    }


def _releases(answer: MeanAnswer, question: QuestionLike) -> Chart:
    """Draw possible releases of an average curve, and the average without privacy."""
    facts = answer.facts
    curves = [*answer.releases[answer.budgets.index(question["budget"])], answer.ordinary]
    names = [*(f"release {k}" for k in range(1, len(curves))), "non-private"]
    columns = zip(
        (named(facts.time_name, facts.time_unit), *names), (answer.times, *curves), strict=True
    )
    return traces.table(
        {name: traces.plain(values) for name, values in columns},
        named(facts.value_name, facts.value_unit),
        f"{len(curves) - 1} possible releases beside the non-private mean",
    )


KIND = QuestionKind("curves", "Explore", mean_answer, _numbers, _releases, (MEAN_FUNCTION.key,))
