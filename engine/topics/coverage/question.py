"""Audit: how often limits miss the truth."""

from __future__ import annotations

from engine.figures.theme import Chart
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats
from engine.topics.coverage import charts
from engine.topics.coverage.answer import CoverageAnswer, coverage_answer


def _numbers(answer: CoverageAnswer, _: QuestionLike) -> Numbers:
    """Collect the number of bands that miss the truth, their coverage, and the cost in width."""
    return limits(answer)


def limits(answer: CoverageAnswer) -> Numbers:
    """Collect the numbers of published and naive bands: misses, coverage, and the cost in width."""
    counted: Numbers = {}
    for name, bands in (("bands", answer.proper), ("naive bands", answer.naive)):
        coverage = bands.coverage
        counted |= {
            f"{name} that miss, of {len(bands.off)}": bands.missed.sum(),
            f"coverage of {name}": coverage.estimate,
            f"coverage of {name}, 95 % interval from": coverage.low,
            f"coverage of {name}, 95 % interval to": coverage.high,
        }
    return as_floats(counted | {"as wide as naive bands, times": answer.times_as_wide})


def _chart(answer: CoverageAnswer, question: QuestionLike) -> Chart:
    """Draw each band as far as it is off."""
    experiment = question["experiment"]
    half = charts.common_half([answer.proper, answer.naive])
    return charts.repetitions(
        answer.proper, half, experiment.kind, experiment.source.facts.value_unit
    )


KIND = QuestionKind(
    "coverage",
    "Audit: coverage",
    coverage_answer,
    _numbers,
    _chart,
    renamed=(("asked", "experiment"),),
)
