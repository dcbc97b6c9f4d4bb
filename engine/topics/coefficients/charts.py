"""Coefficient functions with their releases, and the error of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array, PublicFacts
from engine.figures import labels, small_charts, traces
from engine.figures.theme import Chart, Spec, axis, layout, method_style, time_axis
from engine.figures.traces import UNPROTECTED, plain
from engine.language.grammar import uncapital
from engine.language.numbers import in_unit, named
from engine.simulation.metrics import totals
from engine.topics.coefficients.answer import CoefficientsAnswer, CostOfCovariates

TOGETHER = "All functions"


def panel(answer: CoefficientsAnswer, k: int, one_release: bool = False) -> Chart:
    """Draw a function: possible releases, or one with its band, over the curve without privacy.

    Effects have a line at zero; all are in response units.
    """
    facts, x = answer.facts, answer.times.round(4).tolist()
    data = _one_release(answer, k, x) if one_release else _releases(answer, k, x)
    hover = labels.hover(facts.value_unit)
    data.append(traces.unprotected(x, _rounded(answer.ordinary[k]), hovertemplate=hover))
    if answer.truth is not None:
        data.append(
            traces.line("True", x, _rounded(answer.truth[k]), "truth", 1.6, hovertemplate=hover)
        )
    quantity = facts.value_name if k == 0 else f"Effect on {uncapital(facts.value_name)}"
    spec = {
        "data": data,
        "layout": layout(
            legend=False,
            xaxis=time_axis(facts),
            yaxis=axis(
                named(quantity, facts.value_unit),
                grid=True,
                range=_span(answer, k),
                zeroline=k > 0,
                zerolinecolor="raw",
            ),
        ),
    }
    typical = in_unit(float(answer.error_by_function[k]), facts.value_unit)
    name = f"Effect of {answer.names[k]}" if k else "Mean curve"
    return Chart(
        spec,
        f"{name}: {len(answer.releases)} possible releases, typically "
        f"{typical} from the {'true' if answer.truth is not None else 'unprotected'} "
        "function.",
        _columns(answer, k),
    )


def _columns(answer: CoefficientsAnswer, k: int) -> dict[str, list[float]]:
    columns = {
        answer.facts.time_name: answer.times,
        "non-private": answer.ordinary[k],
        "release 1": answer.releases[0, k],
    }
    if answer.low is not None and answer.high is not None:
        columns |= {
            "95 % confidence from": answer.low[0, k],
            "95 % confidence to": answer.high[0, k],
        }
    if answer.truth is not None:
        columns["true"] = answer.truth[k]
    return {name: plain(values) for name, values in columns.items()}


def _releases(answer: CoefficientsAnswer, k: int, x: list[float]) -> list[Spec]:
    return [
        {
            **traces.releases(
                x,
                [_rounded(release) for release in answer.releases[:, k]],
                translucent("gradient", 0.6),
            ),
            "hoverinfo": "skip",
        }
    ]


def _one_release(answer: CoefficientsAnswer, k: int, x: list[float]) -> list[Spec]:
    release = traces.line(
        "One release",
        x,
        _rounded(answer.releases[0, k]),
        "gradient",
        2.6,
        hovertemplate=labels.hover(answer.facts.value_unit),
    )
    if answer.low is None or answer.high is None:
        return [release]
    return [
        traces.filled(
            "95 % confidence band",
            x,
            _rounded(answer.low[0, k]),
            _rounded(answer.high[0, k]),
            "gradient",
            hoverinfo="skip",
        ),
        release,
    ]


def _rounded(curve: Array) -> list[float]:
    return list(curve.round(5).tolist())


def _span(answer: CoefficientsAnswer, k: int) -> list[float]:
    """Span the axis: effects share one height, to be compared; the average has its own."""
    releases = answer.releases[:, :1] if k == 0 else answer.releases[:, 1:]
    lines = [releases, answer.ordinary[:1] if k == 0 else answer.ordinary[1:]]
    low, high = (float(f([f(line) for line in lines])) for f in (np.min, np.max))
    if k:
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.06 * (high - low or 1.0)
    return [low - margin, high + margin]


def errors(answer: CoefficientsAnswer) -> Chart:
    """Draw the error of every function with its 95 % range, and without privacy."""
    return small_charts.errors_of_functions(
        ["Average curve", *answer.names[1:]],
        answer.error_by_function,
        answer.errors,
        answer.baseline_by_function,
        "function",
        answer.facts.value_unit,
    )


def over_budgets(
    epsilons: Sequence[float],
    by_function: Array,
    names: Sequence[str],
    here: float,
    facts: PublicFacts,
    theory: Mapping[str, Array] | None = None,
) -> Chart:
    """Draw the error of every function against ε, on log axes, and of all together beside the rate.

    `by_function` is (epsilons, functions), NaN if nothing would be published; the first is the
    intercept.
    """
    together = {} if theory is None else {TOGETHER: totals(by_function)}
    return small_charts.errors_over_budgets(
        epsilons,
        by_function,
        ["Average curve", *names[1:]],
        here,
        facts.value_unit,
        together,
        theory,
    )


def cost(costs: CostOfCovariates, key: str, family: str, facts: PublicFacts) -> Chart:
    """Draw total error against the number of covariates, with and without privacy."""
    shade, dash, marker = method_style(key, family)
    counts, private = list(costs.counts), plain(costs.private)
    ordinary = plain(costs.ordinary)
    data = [
        traces.line_with_points(
            "This method", counts, private, shade, 2, dash, {"size": 9, "symbol": marker}
        ),
        traces.line_with_points(
            "Non-private",
            counts,
            ordinary,
            "without",
            2.2,
            UNPROTECTED,
            {"size": 5, "color": "without"},
        ),
    ]
    here = costs.private[counts.index(costs.here)] if costs.here in counts else np.nan
    if np.isfinite(here):
        data.append(traces.diamond(costs.here, float(here)))
    ends = [
        in_unit(float(costs.private[k]), facts.value_unit)
        if np.isfinite(costs.private[k])
        else "nothing published"
        for k in (0, -1)
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"{counts[0]} to {counts[-1]} covariates: {ends[0]} to {ends[1]}",
            xaxis=axis("Number of covariates d", dtick=1),
            yaxis=axis(named("Total error", facts.value_unit), grid=True, rangemode="tozero"),
        ),
    }
    return Chart(
        spec,
        f"Total error for d = {counts[0]}: {ends[0]}; for d = {counts[-1]}: {ends[1]}.",
        {"covariates": counts, "total error": private, "non-private": ordinary},
    )
