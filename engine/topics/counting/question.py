"""Survival and other counts: errors, what the release says, and the protection."""

from __future__ import annotations

from engine.core.tasks import COUNTED
from engine.language.numbers import named
from engine.topics.asking import WITHIN, Numbers, QuestionKind, QuestionLike, as_floats, protection
from engine.topics.counting import charts
from engine.topics.counting.answer import CountingAnswer, counting_answer


def _numbers(answer: CountingAnswer, question: QuestionLike) -> Numbers:
    """Collect errors, medians, the test or the area, and the protection."""
    values = {
        "error": answer.error,
        WITHIN: answer.within,
        "noise in a share": answer.verdict.noise,
    }
    if answer.baseline is not None:
        values["error without privacy"] = answer.baseline
    for name, curve in zip(answer.names, answer.curves, strict=bool(answer.curves)):
        suffix = f", {name}" if name else ""
        if curve.median is not None:
            values[named(f"median{suffix}", answer.facts.time_unit)] = float(curve.median.time)
        values[named(f"last time shown{suffix}", answer.facts.time_unit)] = float(curve.last)
    if answer.test is not None:
        values["log-rank z"] = float(answer.test.statistic)
        values["log-rank p"] = float(answer.test.p_value)
    if answer.hazard_ratio is not None:
        values["hazard ratio"] = float(answer.hazard_ratio.ratio)
    if answer.contrasts is not None:
        mean = answer.contrasts.mean
        values[named("difference of restricted means", answer.facts.time_unit)] = float(
            mean.difference
        )
    if answer.roc is not None:
        values["area under the curve"] = float(answer.roc.area)
        values["its standard error"] = float(answer.roc.error)
    return as_floats(values) | protection(answer.spends, question.person)


KIND = QuestionKind(
    "counting",
    "Survival and other counts",
    counting_answer,
    _numbers,
    lambda answer, _: charts.curve(answer),
    COUNTED,
)
