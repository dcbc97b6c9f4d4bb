"""A release as it may be shown to anybody: its functions with their confidence bands."""

from __future__ import annotations

from engine.core.palette import Theme, colour, translucent
from engine.core.types import Array
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout
from engine.figures.traces import plain
from engine.release.files import alt, columns, heading
from engine.release.published import Published
from engine.release.uncertainty import covered_places

_DASHES = ("solid", "8px,4px", "2px,3px", "10px,3px,2px,3px")


def chart(release: Published, theme: Theme) -> Chart:
    """Lines over their bands, dashed at the ends; its table has the columns of the file.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    theme : {"light", "dark"}
        Of the page.
    """
    shade = colour("gradient", theme)
    data: list[Spec] = []
    for pair in release.ranges.values():
        data += _band(release.x, pair, shade)
    table = {name: plain(values, 6) for name, values in columns(release).items()}
    x = plain(release.x, 6)
    data += [traces.line(name, x, table[name], shade, 2.6, _DASHES[k % len(_DASHES)])
             for k, name in enumerate(release.columns)]
    spec = {"data": data, "layout": layout(
        theme, legend=len(release.columns) > 1, title=heading(release),
        xaxis=axis(theme, release.axis),
        yaxis=axis(theme, release.value, grid=True))}
    return Chart(spec, alt(release), table)


def _band(x: Array, pair: tuple[Array, Array], shade: str) -> list[Spec]:
    """The band, filled where it is meant to hold, with dashed edges at both ends."""
    inside = covered_places(len(x))
    low, high = (_edge(x[inside], end[inside], {"width": 0}) for end in pair)
    dashed = {"width": 1.2, "dash": "3px,4px", "color": shade}
    return [low, {**high, "fill": "tonexty", "fillcolor": translucent(shade, 0.14)},
            *(_edge(x[end], edge[end], dashed) for edge in pair for end in (
                slice(None, inside.start + 1), slice(inside.stop - 1, None)))]


def _edge(x: Array, y: Array, line: Spec) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": plain(x, 6), "y": plain(y, 6), "line": line,
            "hoverinfo": "skip", "showlegend": False}
