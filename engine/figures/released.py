"""A release as it may be shown to anybody: its functions with their plausible ranges."""

from __future__ import annotations

from engine.figures.theme import Chart, Spec, Theme, axis, colour, layout, translucent
from engine.release.files import alt
from engine.release.published import Published
from engine.types import Array

_DASHES = ("solid", "8px,4px", "2px,3px", "10px,3px,2px,3px")


def chart(one: Published, theme: Theme) -> Chart:
    """Lines over their plausible ranges; of a released number no line but its table."""
    shade = colour("gradient", theme)
    data: list[Spec] = []
    for low, high in one.ranges.values():
        data += [_edge(one.x, low), {**_edge(one.x, high), "fill": "tonexty",
                                     "fillcolor": translucent(shade, 0.14)}]
    for k, (name, values) in enumerate(one.columns.items()):
        data.append({"type": "scatter", "mode": "lines", "x": _plain(one.x), "y": _plain(values),
                     "name": name, "line": {"color": shade, "width": 2.6,
                                            "dash": _DASHES[k % len(_DASHES)]}})
    several = len(one.columns) > 1
    spec = {"data": data, "layout": layout(
        theme, legend=several, xaxis=axis(theme, one.axis),
        yaxis=axis(theme, one.value, grid=True))}
    return Chart(spec, alt(one), {one.axis or "number": _plain(one.x), **{
        name: _plain(values) for name, values in one.columns.items()}})


def _edge(x: Array, y: Array) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": _plain(x), "y": _plain(y),
            "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}


def _plain(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values]
