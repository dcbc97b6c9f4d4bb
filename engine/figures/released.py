"""A release as it may be shown to anybody: its functions with their plausible ranges."""

from __future__ import annotations

from engine.figures import traces
from engine.figures.theme import Chart, Spec, Theme, axis, colour, layout, translucent
from engine.figures.traces import plain
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
    x, columns = plain(one.x, 6), {name: plain(y, 6) for name, y in one.columns.items()}
    data += [traces.line(name, x, y, shade, 2.6, _DASHES[k % len(_DASHES)])
             for k, (name, y) in enumerate(columns.items())]
    spec = {"data": data, "layout": layout(
        theme, legend=len(columns) > 1, xaxis=axis(theme, one.axis),
        yaxis=axis(theme, one.value, grid=True))}
    return Chart(spec, alt(one), {one.axis or "number": x, **columns})


def _edge(x: Array, y: Array) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": plain(x, 6), "y": plain(y, 6),
            "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
