"""Percentile curves as nested shades, the error of each, and the time in ranges as one bar."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.types import Array
from engine.figures import nested, small_charts, traces
from engine.figures.theme import Chart, Spec, time_axis
from engine.figures.traces import plain
from engine.language.grammar import uncapital
from engine.language.numbers import in_unit, named, percent
from engine.simulation.metrics import totals
from engine.topics.percentiles import words
from engine.topics.percentiles.answer import PercentilesAnswer


def curves(answer: PercentilesAnswer, with_bands: bool = False) -> Chart:
    """Draw a release as nested shades with a bold median, over the curves without privacy.

    `with_bands` draws the 95 % confidence band of every curve in place of the shades.
    """
    facts, x = answer.facts, answer.times.round(4).tolist()
    drawn = nested.Nested(
        answer.names,
        answer.times,
        answer.releases[0],
        answer.levels,
        facts.value_unit,
        () if answer.ranges is None else answer.ranges.limits,
        answer.target,
    )
    spec = drawn.spec(
        _width(answer),
        time_axis(facts),
        named(facts.value_name, facts.value_unit),
        more=_beside(answer, x),
        fill=_bands(answer, x) if with_bands else None,
        in_view=answer.ordinary.ravel().tolist(),
    )
    names = ", ".join(answer.names)
    return Chart(
        spec,
        f"One release of the {names} curves of {uncapital(facts.value_name)}. "
        f"{words.meaning(answer)}",
        _columns(answer),
    )


def _width(answer: PercentilesAnswer) -> str:
    """State the average width between the outer curves of the release."""
    share = percent(float(answer.levels[-1] - answer.levels[0]))
    width = float((answer.releases[0, -1] - answer.releases[0, 0]).mean())
    span = in_unit(width, answer.facts.value_unit)
    return f"{share} of observations span {span} on average"


def _bands(answer: PercentilesAnswer, x: list[float]) -> list[Spec]:
    return [
        traces.filled(
            f"95 % confidence band of {name}",
            x,
            _rounded(answer.low[0, k]),
            _rounded(answer.high[0, k]),
            "gradient",
            hoverinfo="skip",
        )
        for k, name in enumerate(answer.names)
    ]


def _beside(answer: PercentilesAnswer, x: list[float]) -> list[Spec]:
    """Draw the curves without privacy dashed, and the true ones if they are known."""
    data = [traces.unprotected(x, _rounded(curve), hoverinfo="skip") for curve in answer.ordinary]
    if answer.truth is not None:
        data += [
            traces.line("True", x, _rounded(curve), "truth", 1.0, hoverinfo="skip")
            for curve in answer.truth
        ]
    return data


def _columns(answer: PercentilesAnswer) -> dict[str, list[float]]:
    columns: dict[str, Array] = {answer.facts.time_name: answer.times}
    for k, name in enumerate(answer.names):
        columns |= {
            name: answer.releases[0, k],
            f"{name}, 95 % confidence from": answer.low[0, k],
            f"{name}, 95 % confidence to": answer.high[0, k],
            f"{name} without privacy": answer.ordinary[k],
        }
        if answer.truth is not None:
            columns[f"{name}, true"] = answer.truth[k]
    return {name: plain(values) for name, values in columns.items()}


def _rounded(curve: Array) -> list[float]:
    return list(curve.round(5).tolist())


def errors(answer: PercentilesAnswer) -> Chart:
    """Draw the error of every percentile curve with its 95 % range, and without privacy."""
    order = slice(None, None, -1)  # the highest curve on top
    baseline = None if answer.baseline_by_function is None else answer.baseline_by_function[order]
    return small_charts.errors_of_functions(
        _names(answer)[order],
        answer.error_by_function[order],
        answer.errors[order],
        baseline,
        "percentile",
        answer.facts.value_unit,
    )


def over_budgets(epsilons: Sequence[float], by_curve: Array, answer: PercentilesAnswer) -> Chart:
    """Draw the error (epsilons, T) of every percentile curve against ε, and of all, on log axes."""
    return small_charts.errors_over_budgets(
        epsilons,
        by_curve,
        _names(answer),
        answer.budget.epsilon,
        answer.facts.value_unit,
        together={words.TOGETHER: totals(by_curve)},
    )


def _names(answer: PercentilesAnswer) -> list[str]:
    return [f"{name} curve" for name in answer.names]


def ranges(answer: PercentilesAnswer) -> Chart:
    """Draw the average time in every range as one stacked bar, with one release's numbers."""
    assert answer.ranges is not None
    ranges = answer.ranges
    return nested.time_in_ranges(
        ranges.limits,
        answer.target,
        ranges.average[0, 0],
        ranges.error[0, 0],
        answer.facts.value_unit,
    )
