"""Drawings that exhibits share: lines from columns, families of lines, maps, and their panels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from engine.core.palette import between, translucent
from engine.figures.theme import Chart, Spec, axis, layout, log_axis
from engine.language.numbers import number
from reproductions.evidence import ERROR, SE, Line
from reproductions.exhibits import Panel

Numbers = Iterable[Any]  # a column, an array or a list; None and NaN are gaps
Look = tuple[str, str, str]  # shade, dash and marker
_NAME_WIDTH = 14  # letters of a name below an axis, on one line
_ROOM = 0.04  # share of an axis left free at its ends
_BLUES = [[k / 4, between("page", "gradient", 0.08 + 0.92 * k / 4)] for k in range(5)]
_DASHES = ("solid", "8px,3px", "2px,3px", "12px,3px,2px,3px", "5px,3px", "4px,2px")
_MARKERS = ("circle", "diamond-open", "triangle-up", "square-open", "cross", "triangle-down-open")


@dataclass(frozen=True)
class Scale:
    """An axis."""

    title: str  # with the unit
    log: bool = False
    names: tuple[str, ...] = ()  # of the places 0, 1, 2, …, where the axis has no numbers


@dataclass(frozen=True)
class Series:
    """Measured points, joined or not."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    # shade, dash, marker: from `theme.method_style` or `styles`, or a role of `core.palette` as the
    # shade
    shade: str
    dash: str = "solid"
    marker: str = "circle"
    # standard errors; bars reach two of them to both sides
    se: Sequence[float | None] | None = None
    # half widths of intervals, drawn as they are, instead of standard errors
    half: Sequence[float | None] | None = None
    mode: Literal["lines", "markers", "lines+markers"] = "lines+markers"
    width: float = 2.0
    in_legend: bool = True


def styles(count: int) -> list[tuple[str, str, str]]:
    """List shades, dashes and markers for an ordered family of lines, from pale to strong."""
    return [
        (
            between("pale", "strong", k / max(1, count - 1)),
            _DASHES[k % len(_DASHES)],
            _MARKERS[k % len(_MARKERS)],
        )
        for k in range(count)
    ]


def lines(series: Sequence[Series], x: Scale, y: Scale, alt: str) -> Chart:
    """Draw lines or points against a number, with bars of two standard errors either way.

    `alt` says what is seen; the range of the values is added to it.
    """
    data = [_trace(line) for line in series]
    spec = {
        "data": data,
        "layout": layout(
            legend=len(series) > 1,
            hovermode="closest",
            xaxis=_axis(x, [v for line in series for v in line.x]),
            yaxis=_axis(y, [v for line in series for v in _bar_ends(line)], grid=True),
        ),
    }
    summary = _with_range(alt, y.title, [v for line in series for v in line.y])
    return Chart(spec, summary, _columns(series, x, y.title))


def heat(
    x: Sequence[float],
    y: Sequence[float],
    z: Sequence[Sequence[float | None]],
    names: tuple[str, str, str],
    alt: str,
    limits: tuple[float, float] | None = None,
) -> Chart:
    """Draw a map: stronger blue is larger, None leaves a hole.

    `alt` says what is seen; the range of the values is added to it.
    """
    low, high = limits or (None, None)
    trace: Spec = {
        "type": "heatmap",
        "x": list(x),
        "y": list(y),
        "z": [list(row) for row in z],
        "zmin": low,
        "zmax": high,
        "colorscale": _BLUES,
        "colorbar": {
            "title": {"text": names[2], "side": "right", "font": {"size": 13}},
            "thickness": 12,
            "outlinewidth": 0,
        },
        "hovertemplate": "%{x:g}, %{y:g}: %{z:.3g}<extra></extra>",
    }
    spec = {"data": [trace], "layout": layout(xaxis=axis(names[0]), yaxis=axis(names[1]))}
    pairs = [(a, b, z[j][i]) for j, b in enumerate(y) for i, a in enumerate(x)]
    summary = _with_range(alt, names[2], [v for row in z for v in row])
    return Chart(spec, summary, {name: [row[k] for row in pairs] for k, name in enumerate(names)})


# -- from columns to series -----------------------------------------------------------------------


def plain(column: Numbers) -> list[Any]:
    """Convert the values of a column to plain numbers, None where there is none."""
    every = column if isinstance(column, np.ndarray | pd.Series) else list(column)
    return [
        None if value is None or value != value else value
        for value in (every if isinstance(every, list) else every.tolist())
    ]


def look(role: str, dash: str = "solid", marker: str = "circle") -> Look:
    """A role with a dash and a marker."""
    return role, dash, marker


def curve(
    name: str, x: Numbers, y: Numbers, style: Look | str, se: Numbers | None = None, **options: Any
) -> Series:
    """Draw a named line or cloud of points.

    A style is shade, dash and marker, or a shade alone; options are fields of `Series`.
    """
    shade, dash, marker = (style, "solid", "circle") if isinstance(style, str) else style
    bars = None if se is None else plain(se)
    return Series(
        name, plain(x), plain(y), shade, **{"dash": dash, "marker": marker, **options}, se=bars
    )


def means(name: str, line: Line, style: Look, **options: Any) -> Series:
    """Draw means with their standard errors."""
    return curve(name, line.x, line.y, style, line.se, **options)


def family(
    members: Mapping[str, pd.DataFrame], x: str, y: str, se: str | None = None
) -> list[Series]:
    """Draw a line for each member of an ordered family, from pale to strong; bars need `se`."""
    return [
        curve(name, rows[x], rows[y], style, None if se is None else rows[se])
        for (name, rows), style in zip(members.items(), styles(len(members)), strict=True)
    ]


def over_epsilon(table: pd.DataFrame, along: str) -> list[Series]:
    """Draw mean errors over one column, a line for each ε, stronger for larger ones."""
    return family(
        {f"ε = {epsilon:g}": rows.sort_values(along) for epsilon, rows in table.groupby("epsilon")},
        along,
        ERROR,
        SE,
    )


def level(name: str, ends: Numbers, heights: Numbers) -> Series:
    """Draw a dotted line to compare with, such as what is promised."""
    return curve(name, ends, heights, look("without", "2px,3px"), mode="lines")


def panel(title: str, series: Sequence[Series], x: Scale | str, y: Scale | str, alt: str) -> Panel:
    """Draw lines with a title; a title alone as `x` or `y` makes an axis without logarithm."""
    across, up = (Scale(axis) if isinstance(axis, str) else axis for axis in (x, y))
    return Panel(title, lines(series, across, up, alt))


def log(title: str) -> Scale:
    """Make a logarithmic axis; the title includes the unit."""
    return Scale(title, log=True)


def ends(series: Sequence[Series], spec: str = ".3g") -> str:
    """State the first and last value of each line in words."""
    return "; ".join(f"{line.name}: {line.y[0]:{spec}} to {line.y[-1]:{spec}}" for line in series)


# -- from series to charts -----------------------------------------------------------------------


def _with_range(alt: str, title: str, values: Sequence[float | None]) -> str:
    """Append to the sentence of a drawing how far its values go."""
    known = [v for v in values if v is not None]
    if not known:
        return alt
    return f"{alt} {title}: from {number(min(known))} to {number(max(known))}."


def _trace(series: Series) -> Spec:
    trace: Spec = {
        "type": "scatter",
        "mode": series.mode,
        "name": series.name,
        "x": list(series.x),
        "y": list(series.y),
        "line": {"color": series.shade, "dash": series.dash, "width": series.width},
        "marker": {"color": series.shade, "symbol": series.marker, "size": 8},
        "showlegend": series.in_legend,
        "hovertemplate": "%{x:.4g}: %{y:.4g}",
    }
    bars = _bars(series)
    if bars is not None:
        trace["error_y"] = {
            "type": "data",
            "array": bars,
            "thickness": 1,
            "width": 3,
            "color": translucent(series.shade, 0.7),
        }
    return trace


def _bars(series: Series) -> list[float] | None:
    """Return how far bars reach from their points; None without any."""
    if series.se is not None:
        return [2 * (s or 0.0) for s in series.se]
    return None if series.half is None else [half or 0.0 for half in series.half]


def _bar_ends(series: Series) -> list[float]:
    """List what an axis must hold: points and bars, but not lower ends too low for a log axis."""
    bars = _bars(series) or [0.0] * len(series.y)
    ends = [(v - bar, v, v + bar) for v, bar in zip(series.y, bars, strict=True) if v is not None]
    return [end for low, v, high in ends for end in (low if low > v / 4 else v, v, high)]


def _axis(scale: Scale, values: Sequence[float], grid: bool = False) -> Spec:
    if scale.names:
        count = len(scale.names)
        return axis(
            scale.title,
            grid=grid,
            tickvals=list(range(count)),
            tickangle=0,
            ticktext=["<br>".join(textwrap.wrap(name, _NAME_WIDTH)) for name in scale.names],
            range=[-0.5, count - 0.5],
        )
    positive = [value for value in values if value > 0]
    if scale.log and positive:
        return log_axis(scale.title, min(positive), max(positive), grid=grid, room=_ROOM)
    return axis(scale.title, grid=grid)


def _columns(series: Sequence[Series], x: Scale, y: str) -> dict[str, list[Any]]:
    rows = [
        (
            line.name,
            x.names[round(a)] if x.names else a,
            b,
            None if line.se is None else line.se[k],
            None if line.half is None else line.half[k],
        )
        for line in series
        for k, (a, b) in enumerate(zip(line.x, line.y, strict=True))
    ]
    columns = {
        name: [row[k] for row in rows]
        for k, name in enumerate(("line", x.title or "at", y, "standard error", "half width"))
    }
    return {
        name: values
        for name, values in columns.items()
        if name not in ("standard error", "half width") or any(v is not None for v in values)
    }
