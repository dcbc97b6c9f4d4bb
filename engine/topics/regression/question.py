"""Regression: one curve from values at times."""

from __future__ import annotations

import math

from engine.core.tasks import WAVELET_REGRESSION
from engine.language.numbers import named
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats, protection
from engine.topics.regression import charts
from engine.topics.regression.answer import RegressionAnswer, regression_answer


def _numbers(answer: RegressionAnswer, question: QuestionLike) -> Numbers:
    """Collect the exact error if there is a truth, the privacy noise alone, and the band.

    The half-width of the confidence band is NaN where none is given.
    """
    half = math.nan if answer.band is None else float((answer.band[1] - answer.band[0]).mean() / 2)
    errors = {
        "error": math.nan if answer.is_refused else answer.error,
        WITHIN: math.nan if answer.is_refused else answer.within,
        "privacy noise": answer.known.noise,
        "half-width of the 95 % confidence band, on average": half,
    }
    numbers = {named(name, answer.facts.value_unit): value for name, value in errors.items()}
    return as_floats(numbers) | protection(answer.spends, question.person)


KIND = QuestionKind(
    "regression",
    "Regression",
    regression_answer,
    _numbers,
    lambda answer, _: charts.curve(answer),
    (WAVELET_REGRESSION.key,),
)
