"""Audit: how often limits miss the truth."""

from __future__ import annotations

from engine.asking import Asked, Kind, Numbers, as_floats
from engine.theme import Chart
from engine.topics.coverage import answer, charts
from engine.topics.coverage.answer import CoverageAnswer


def numbers(batch: CoverageAnswer, _: Asked) -> Numbers:
    """How many bands miss the truth, their coverage, and what it costs in width."""
    return limits(batch)


def limits(batch: CoverageAnswer) -> Numbers:
    """How many bands miss the truth, their coverage, and what it costs in width.

    Parameters
    ----------
    batch : CoverageAnswer
        Bands of many data sets, beside the naive ones.
    """
    counted: Numbers = {}
    for name, bands in (("bands", batch.given), ("naive bands", batch.naive)):
        coverage = bands.coverage
        counted |= {f"{name} that miss, of {len(bands.off)}": bands.missed.sum(),
                    f"coverage of {name}": coverage.estimate,
                    f"coverage of {name}, 95 % interval from": coverage.low,
                    f"coverage of {name}, 95 % interval to": coverage.high}
    return as_floats(counted | {
        "as wide as naive bands, times": batch.given.half.mean() / batch.naive.half.mean()})


def chart(batch: CoverageAnswer, _: Asked) -> Chart:
    """Each band as far as it is off."""
    half = charts.common_half([batch.given, batch.naive])
    return charts.repetitions(batch.given, half, "Off the truth by", "light")


KIND = Kind("coverage", "Audit: coverage", answer.coverage_answer, numbers, chart)
