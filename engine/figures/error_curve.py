"""The error that each budget buys, on log axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.figures.theme import Chart, Spec, Theme, axis, colour, layout, log_ticks, translucent
from engine.types import Array
from engine.wording import number, with_unit


def against_budget(
    epsilons: Sequence[float],
    median: Array,
    low: Array,
    high: Array,
    floor: float | None,
    here: int,
    unit: str,
    theme: Theme,
    *,
    theory: Array | None = None,
    method: str = "This method",
) -> Chart:
    """Median error and its 8-in-10 range against ε, with the floor, the theory and the present ε.

    `median`, `low`, `high` and `theory` (budgets,) and `floor` are in response units.
    """
    x, private = list(epsilons), colour("gradient", theme)
    data = [_band(x, low, high, private), _line(x, median, method, private, unit)]
    if floor is not None:
        data.append({"type": "scatter", "mode": "lines", "x": [x[0], x[-1]], "y": [floor, floor],
                     "name": "No protection",
                     "line": {"color": colour("without", theme), "width": 2.2, "dash": "6px,4px"},
                     "hovertemplate": f"%{{y:.3g}} {unit}"})
    if theory is not None:
        data.append({"type": "scatter", "mode": "lines", "x": x, "y": theory.tolist(),
                     "name": "Theory (slope)", "hoverinfo": "skip",
                     "line": {"color": colour("raw", theme), "width": 1.6, "dash": "dot"}})
    data.append({"type": "scatter", "mode": "markers", "x": [x[here]], "y": [float(median[here])],
                 "name": "You are here", "hoverinfo": "skip", "showlegend": False,
                 "marker": {"symbol": "diamond", "size": 15, "color": colour("page", theme),
                            "line": {"color": colour("text", theme), "width": 2.4}}})
    alt = (f"At ε = {x[here]:g} the typical error is "
           f"{with_unit(number(float(median[here])), unit)}; it falls from "
           f"{with_unit(number(float(median[0])), unit)} at ε = {x[0]:g} to "
           f"{with_unit(number(float(median[-1])), unit)} at ε = {x[-1]:g}.")
    return Chart({"data": data, "layout": _layout(x, median, low, high, floor, unit, theme)}, alt,
                 _table(x, median, low, high))


def _band(x: list[float], low: Array, high: Array, private: str) -> Spec:
    return {"type": "scatter", "x": x + x[::-1], "y": [*high.tolist(), *low[::-1].tolist()],
            "fill": "toself", "fillcolor": translucent(private, 0.2), "mode": "lines",
            "line": {"width": 0}, "name": "8 in 10 releases",
            "hoverinfo": "skip", "showlegend": False}


def _line(x: list[float], median: Array, method: str, private: str, unit: str) -> Spec:
    return {"type": "scatter", "mode": "lines+markers", "x": x, "y": median.tolist(),
            "name": method, "line": {"color": private, "width": 2}, "marker": {"size": 6},
            "hovertemplate": f"%{{y:.3g}} {unit}"}


def _layout(x: list[float], median: Array, low: Array, high: Array, floor: float | None, unit: str,
            theme: Theme) -> Spec:
    bottom = min(float(low.min()), floor or np.inf) * 0.85
    top = float(high.max()) * 1.15
    quantity = f"Typical error ({unit}, log scale)" if unit else "Typical error (log scale)"
    return layout(
        theme, legend=True,
        xaxis=_log_axis(theme, "Protection ε (log scale)", x[0] * 0.93, x[-1] * 1.07),
        yaxis=_log_axis(theme, quantity, bottom, top, grid=True))


def _log_axis(theme: Theme, title: str, low: float, high: float, grid: bool = False) -> Spec:
    ticks = log_ticks(low, high)
    return axis(theme, title, grid=grid, type="log", range=[np.log10(low), np.log10(high)],
                tickvals=ticks, ticktext=[f"{t:g}" for t in ticks])


def _table(x: list[float], median: Array, low: Array, high: Array) -> dict[str, list[float]]:
    return {"ε": x, "typical error": median.round(4).tolist(),
            "1 in 10 below": low.round(4).tolist(), "1 in 10 above": high.round(4).tolist()}
