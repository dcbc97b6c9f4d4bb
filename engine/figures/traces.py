"""Parts of charts: lines, points, ranges and marks, as Plotly writes them.

`more` are further entries of the trace, such as hoverinfo="skip".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array, PublicFacts
from engine.figures import labels
from engine.figures.theme import Chart, Spec, axis, free_range, layout
from engine.language.grammar import capital
from engine.language.numbers import number, whole

DASHES = ("solid", "8px,3px", "2px,3px", "12px,3px,2px,3px")
_HEIGHT = 300  # pixels of a plot in a notebook, about
UNPROTECTED = "6px,4px"  # the dash of all that has no protection


def plain(values: Array | Sequence[float], digits: int = 5) -> list[Any]:
    """Round numbers to so many significant digits; None leaves a gap for NaN and infinity.

    Examples
    --------
    >>> plain([1.23456789, float("nan")], 3)
    [1.23, None]
    """
    return [
        float(f"{v:.{digits}g}") if math.isfinite(v) else None
        for v in np.asarray(values, dtype=float).tolist()
    ]  # Python floats format quicker


def line(
    name: str,
    x: Sequence[Any],
    y: Sequence[Any],
    shade: str,
    width: float = 2.0,
    dash: str = "solid",
    **more: Any,
) -> Spec:
    """A line; unless `more` says otherwise, the value is beside the pointer with three digits."""
    beside = {} if {"hoverinfo", "hovertemplate"} & set(more) else {"hovertemplate": labels.hover()}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "y": list(y),
        "name": name,
        "line": {"color": shade, "width": width, "dash": dash},
        **beside,
        **more,
    }


FLOOR = "Floor of unbiased methods"


def floor(x: Sequence[Any], y: Sequence[Any], **more: Any) -> Spec:
    """A dash-dotted line that no unbiased method with Gaussian noise is below."""
    return line(FLOOR, x, y, "text", 2, "8px,3px,2px,3px", **more)


def fitted(x: Sequence[Any], rates: Mapping[str, Sequence[Any]], **more: Any) -> list[Spec]:
    """Draw a dotted line for a rate with fitted constants, and a fainter one for its other bound.

    None in `rates` leaves a gap.
    """
    return [
        line(name, x, y, "raw", 1.8, dash, **more)
        for (name, y), dash in zip(rates.items(), ("dot", "1px,6px"), strict=False)
    ]


def common_times(facts: PublicFacts) -> list[Spec]:
    """Dotted upright lines at the common times, for the shapes of a layout."""
    return [
        {
            "type": "line",
            "x0": x,
            "x1": x,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": "quiet", "width": 1, "dash": "2px,3px"},
        }
        for x in plain(facts.from_unit_time(np.array(facts.common_times)), 6)
    ]


def points(name: str, x: Sequence[Any], y: Sequence[Any], marker: Spec, **more: Any) -> Spec:
    """Points without a line."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": list(x),
        "y": list(y),
        "name": name,
        "marker": marker,
        **more,
    }


def line_with_points(
    name: str,
    x: Sequence[Any],
    y: Sequence[Any],
    shade: str,
    width: float,
    dash: str,
    marker: Spec,
    **more: Any,
) -> Spec:
    """A line with a marker at each of its points; see `line` and `points`."""
    return {
        **line(name, x, y, shade, width, dash),
        "mode": "lines+markers",
        "marker": marker,
        **more,
    }


def filled(
    name: str, x: list[Any], low: list[Any], high: list[Any], shade: str, **more: Any
) -> Spec:
    """A range over x, without an edge."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x + x[::-1],
        "y": high + low[::-1],
        "name": name,
        "fill": "toself",
        "fillcolor": translucent(shade, 0.2),
        "line": {"width": 0},
        **more,
    }


def off_by(up: list[Any], down: list[Any], shade: str, thickness: float, width: float) -> Spec:
    """Draw bars of error that reach so far up, or right, and so far down, or left.

    `thickness` and `width`, of the bar and of its ends, are in pixels.
    """
    return {
        "type": "data",
        "symmetric": False,
        "array": up,
        "arrayminus": down,
        "color": shade,
        "thickness": thickness,
        "width": width,
    }


def joined(x: Sequence[Any], curves: Iterable[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Join curves over the same x to one broken line, which is drawn much faster than many.

    Examples
    --------
    >>> joined([1, 2], [[3, 4], [5, 6]])
    ([1, 2, None, 1, 2, None], [3, 4, None, 5, 6, None])
    """
    xs: list[Any] = []
    ys: list[Any] = []
    for curve in curves:
        xs += [*x, None]
        ys += [*curve, None]
    return xs, ys


def diamond(x: float, y: float, **more: Any) -> Spec:
    """The mark of what is chosen now."""
    marker = {
        "symbol": "diamond",
        "size": 15,
        "color": "page",
        "line": {"color": "text", "width": 2.4},
    }
    return points("You are here", [x], [y], marker, hoverinfo="skip", showlegend=False, **more)


def upright(x: float, low: float, high: float) -> Spec:
    """A dotted line across the chart at what is chosen now."""
    return line("You are here", [x, x], [low, high], "raw", 1.6, "dot", hoverinfo="skip")


def zero(facts: PublicFacts) -> Spec:
    """The average without privacy, where differences from it are drawn."""
    return unprotected(
        [facts.time_low, facts.time_high], [0, 0], hoverinfo="skip", showlegend=False
    )


def unprotected(x: Sequence[Any], y: Sequence[Any], **more: Any) -> Spec:
    """Draw the trace of an estimate without privacy."""
    return line("Non-private", x, y, "without", 2.2, UNPROTECTED, **more)


def releases(
    x: Sequence[Any], curves: Iterable[Sequence[Any]], shade: str, width: float = 1.1
) -> Spec:
    """Join possible releases over the same x to one trace."""
    return line("Possible releases", *joined(x, curves), shade, width)


def table(columns: Mapping[str, Sequence[Any]], quantity: str = "", title: str = "") -> Chart:
    """A plain chart for a notebook: each column but the first is a line over the first.

    Few lines have their names at their ends, more of them a legend.
    """
    (across, x), *lines = columns.items()
    quantity = quantity or capital(lines[0][0])
    looks = list(
        zip(lines, itertools.cycle(itertools.product(("text", "bias"), DASHES)), strict=False)
    )
    data = [
        line(name, x, y, shade, 1.8, dash, hovertemplate=labels.hover())
        for (name, y), (shade, dash) in looks
    ]
    low, high = free_range([value for _, y in lines for value in y if _is_number(value)])
    ends = [
        labels.LineEnd(name, last, shade)
        for (name, y), (shade, _) in looks
        if (last := next((v for v in reversed(y) if _is_number(v)), None)) is not None
    ]
    is_named = 1 < len(ends) <= labels.FEW and all(map(_is_number, x))
    spec = layout(
        legend=len(lines) > 1 and not is_named,
        title=title,
        xaxis=axis(capital(across)),
        yaxis=axis(quantity, grid=True, range=[low, high]),
    )
    if is_named:
        spec["annotations"] = labels.at_ends(ends, low, high, _HEIGHT)
        spec["margin"]["r"] = labels.room_for([end.name for end in ends])
    return Chart(
        {"data": data, "layout": spec}, f"{', '.join(name for name, _ in lines)} against {across}."
    )


def _is_number(value: Any) -> bool:
    """True if an entry of a column is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


# -- numbers at risk below the axis of a survival curve --------------------------------------------


_MAX_MARKS = 7  # numbers side by side
AT_RISK = "At risk at these times"
_ROW = 20  # pixels of a row
SHADES = ("gradient", "bias", "functional", "wavelet")  # of groups, as their curves


def numbers_at_risk(table: Mapping[str, Sequence[Any]]) -> tuple[list[Spec], int]:
    """Annotate a chart with numbers at risk, a row for each group, and the room they take.

    They are known where intervals end, which is seldom at the ticks of the axis: so the times stand
    above them.

    `table` has times, and numbers by name of the group; columns with ± in their name are left out.
    """
    times, *_ = table.values()
    names = [name for name in list(table)[1:] if "±" not in name]
    step = max(1, -(-len(times) // _MAX_MARKS))
    notes = [_note(0.0, AT_RISK, 0, on_paper=True)]
    notes += [_note(float(time), number(float(time)), 1) for time in times[::step]]
    for row, name in enumerate(names):
        shade = SHADES[row % len(SHADES)]
        notes += [
            _note(float(time), whole(count), row + 2, shade)
            for time, count in list(zip(times, table[name], strict=True))[::step]
        ]
    return notes, _ROW * (len(names) + 2) + 60


def _note(x: float, text: str, row: int, shade: str = "", on_paper: bool = False) -> Spec:
    return {
        "x": x,
        "y": 0,
        "xref": "paper" if on_paper else "x",
        "yref": "paper",
        "text": text,
        "showarrow": False,
        "yshift": -52 - _ROW * row,
        "yanchor": "top",
        "xanchor": "left" if on_paper else "center",
        "font": {"size": 12, "color": shade or "quiet"},
    }
