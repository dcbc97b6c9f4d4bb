"""Two pictures of a published protocol: distances on held-out curves, and many runs on all."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.bands import NORMAL
from engine.core.types import Array, PublicFacts
from engine.figures import labels, traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, method_style, time_axis
from engine.figures.traces import UNPROTECTED
from engine.language.numbers import in_unit, named
from engine.topics.holdout.answer import HoldoutStudy, ReleaseRange
from engine.topics.mean.charts import Method


def distances(study: HoldoutStudy, method: Method, unit: str) -> Chart:
    """Draw mean squared distance with its 95 % interval against ε, on log axes.

    `method` gives the name and the look; its errors are not used.
    """
    known = np.isfinite(study.mean)
    x = np.array([budget.epsilon for budget in study.budgets])
    y, half = study.mean[known], NORMAL * study.standard_error[known]
    shade, dash, marker = method_style(method.key, method.family, method.variant)
    trace = traces.line_with_points(
        method.label,
        x[known].tolist(),
        y.tolist(),
        shade,
        2,
        dash,
        {"size": 7, "symbol": marker, "line": {"width": 1.4, "color": shade}},
        error_y={
            "type": "data",
            "array": half.tolist(),
            "color": shade,
            "thickness": 1.6,
            "width": 4,
        },
        hovertemplate=f"%{{y:.3g}} ± %{{error_y.array:.2g}} {_squared(unit)}<extra></extra>",
    )
    low, high = ((y - half).min() * 0.85, (y + half).max() * 1.15) if len(y) else (0.1, 1.0)
    scale = f"{_squared(unit)}, log scale" if unit else "log scale"
    across = log_axis("Privacy budget ε (log scale)", x.min() * 0.93, x.max() * 1.07)
    up = log_axis(f"Squared distance ({scale})", max(low, high / 1e6), high, grid=True)
    return Chart(
        {
            "data": [trace],
            "layout": layout(
                legend=True,
                hovermode="closest",
                xaxis=across,
                yaxis=up,
                title=labels.changed("Squared distance", float(y[0]), float(y[-1]))
                if len(y)
                else "Nothing would be published",
            ),
        },
        _alt_of_distances(x[known], y, unit),
        {
            "ε": x.tolist(),
            "mean squared distance": _plain(study.mean),
            "standard error": _plain(study.standard_error),
        },
    )


def _squared(unit: str) -> str:
    return f"({unit})²" if unit else ""


def _alt_of_distances(x: Array, y: Array, unit: str) -> str:
    if not len(x):
        return "At 0 of these budgets would anything be published."
    ends = [f"{in_unit(float(y[k]), _squared(unit))} at ε = {x[k]:g}" for k in (0, -1)]
    return f"The mean squared distance goes from {ends[0]} to {ends[1]}."


def runs(
    releases: ReleaseRange, index: int, n_runs: int, method: Method, facts: PublicFacts
) -> Chart:
    """Draw mean and middle 90 % of many runs at one budget, over the curve without privacy."""
    x = releases.times.tolist()
    low, mean, high = releases.low[index], releases.mean[index], releases.high[index]
    data: list[Spec] = [
        traces.filled(
            "90 % of runs", x, low.tolist(), high.tolist(), method.family, hoverinfo="skip"
        ),
        traces.line(
            f"Mean of {n_runs} runs", x, mean.tolist(), method.family, 2.2, hovertemplate="%{y:.3g}"
        ),
        traces.line(
            "Non-private",
            x,
            releases.ordinary.tolist(),
            "without",
            2.2,
            UNPROTECTED,
            hovertemplate="%{y:.3g}",
        ),
    ]
    return Chart(
        {
            "data": data,
            "layout": layout(
                legend=True,
                title="Mean of the runs within "
                + in_unit(float(np.abs(mean - releases.ordinary).max()), facts.value_unit),
                xaxis=time_axis(facts),
                yaxis=axis(named(facts.value_name, facts.value_unit), grid=True),
            ),
        },
        _alt_of_runs(releases, index, facts),
        {
            facts.time_name: releases.times.round(3).tolist(),
            "mean of runs": _plain(mean),
            "5 % quantile": _plain(low),
            "95 % quantile": _plain(high),
            "non-private": _plain(releases.ordinary),
        },
    )


def _alt_of_runs(releases: ReleaseRange, index: int, facts: PublicFacts) -> str:
    gap = float(np.abs(releases.mean[index] - releases.ordinary).max())
    width = float((releases.high[index] - releases.low[index]).max())
    far, wide = (in_unit(v, facts.value_unit) for v in (gap, width))
    return (
        f"At ε = {releases.budgets[index].epsilon:g} the mean of the runs is at most {far} "
        f"from the curve without privacy, and 90 % of runs span at most {wide}."
    )


def _plain(values: Array) -> list[Any]:
    return [round(float(v), 4) if np.isfinite(v) else None for v in values]
