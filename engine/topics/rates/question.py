"""Rates: the share of every term, what doubling each symbol does, and what was measured."""

from __future__ import annotations

from engine.figures.theme import Chart
from engine.topics.asking import Numbers, QuestionKind, QuestionLike, as_floats
from engine.topics.coverage.question import limits
from engine.topics.rates import charts
from engine.topics.rates.check import Measurements, RateCheck, RatesAnswer, terms


def _numbers(answer: RatesAnswer, _: QuestionLike) -> Numbers:
    """Collect the share of every term, what doubling each symbol does, and what was measured."""
    weighted, point = answer.weighted, answer.point
    shares = weighted.shares(**point)
    theory = {
        f"share of the rate: {term.name.lower()}": share
        for term, share in zip(weighted.rate.terms, shares, strict=True)
    }
    # Without δ: rates depend on it by little more than its logarithm.
    theory |= {
        f"squared error times, if {symbol.written} doubles": weighted.if_doubled(
            symbol.name, **point
        )
        for symbol in weighted.rate.symbols
        if symbol.name != "delta"
    }
    measured = {} if answer.measured is None else slopes(answer.request, answer.measured)
    return as_floats(theory) | measured


def slopes(check: RateCheck, measured: Measurements) -> Numbers:
    """Compare measured slopes with those of the rate, and count bands that miss the truth."""
    beside: Numbers = {}
    for setting, slope in zip(check.settings, measured.compared(check), strict=True):
        if slope is not None:
            name = f"{setting.mechanism.nearest_preset()[0]}, along {check.symbol}"
            beside |= {
                f"measured slope, {name}": slope.slope,
                f"± (95 %), {name}": slope.half_width,
                f"slope of the rate, {name}": slope.theory,
            }
    return as_floats(beside) | (limits(measured.limits) if measured.limits is not None else {})


def _chart(answer: RatesAnswer, _: QuestionLike) -> Chart:
    """Draw the map of ruling terms, along the symbol that was asked for, or the first two."""
    default = {symbol.name: symbol.default for symbol in answer.weighted.rate.symbols}
    along = answer.request.symbol
    names = [name for name in default if name != along]
    if along:
        names.insert(0, along)
    across, up = names[:2]
    return charts.regimes(answer.weighted, across, up, {**default, **answer.point})


KIND = QuestionKind("rate", "Rates", terms, _numbers, _chart, origin="Theory")
