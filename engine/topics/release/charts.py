"""A release as it may be shown to anybody: its functions with their confidence bands."""

from __future__ import annotations

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import nested, traces
from engine.figures.at_risk import SHADES, numbers_at_risk
from engine.figures.theme import Chart, Spec, axis, layout, time_axis
from engine.figures.traces import plain
from engine.release.captions import alt, columns, heading, is_staircase
from engine.release.percentiles import ReleasedPercentiles
from engine.release.published import Published
from engine.release.uncertainty import ReleasedBand

_DASHES = ("solid", "8px,4px", "2px,3px", "10px,3px,2px,3px")


def chart(release: Published) -> Chart:
    """Lines over their bands, or a heat map of a function of two times.

    The table has the columns of the file.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    functions = release.functions
    if functions.is_surface:
        return _heat_map(release)
    if isinstance(functions, ReleasedPercentiles):
        return _nested(release, functions)
    stepped, several = is_staircase(release), len(release.columns)
    shades = [SHADES[k % len(SHADES)] if stepped else SHADES[0] for k in range(several)]
    data: list[Spec] = []
    band = release.uncertainty.band
    for pair, shade in zip(release.ranges.values(), shades, strict=bool(release.ranges)):
        data += (_steps(release.x, pair, shade) if stepped or band is None else
                 _band(release.x, band, pair, shade))
    table = {name: plain(values, 6) for name, values in columns(release).items()}
    x = plain(release.x, 6)
    data += [traces.line(name, x, table[name], shades[k], 2.6, _DASHES[k % len(_DASHES)])
             for k, name in enumerate(release.columns)]
    look = layout(legend=several > 1, title=heading(release),
                  xaxis=axis(release.axis), yaxis=axis(release.value, grid=True),
                  shapes=traces.common_times(release.facts) if band and band.at_times else [])
    if release.at_risk:
        notes, room = numbers_at_risk(release.at_risk)
        look |= {"annotations": notes, "margin": {**look["margin"], "b": 8 + room}}
    return Chart({"data": data, "layout": look}, alt(release), table)


def _heat_map(release: Published) -> Chart:
    """The page is zero, and both signs have a colour."""
    values, x = np.stack(list(release.columns.values())), plain(release.x, 6)
    edge = float(np.abs(values).max()) or 1.0
    heat = {"type": "heatmap", "x": x, "y": x, "z": [plain(row, 4) for row in values],
            "hovertemplate": "%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>", "zsmooth": "best",
            "zmin": -edge, "zmax": edge,
            "colorscale": [[0, "bias"], [0.5, "page"], [1, "functional"]],
            "colorbar": {"thickness": 10, "tickfont": {"size": 12}, "outlinewidth": 0}}
    look = layout(hovermode="closest", title=heading(release),
                  xaxis=axis(release.axis, constrain="domain"),
                  yaxis=axis(release.axis, scaleanchor="x", constrain="domain"))
    table = {name: plain(column, 6) for name, column in columns(release).items()}
    return Chart({"data": [heat], "layout": look}, alt(release), table)


def _nested(release: Published, curves: ReleasedPercentiles) -> Chart:
    """Percentile curves as nested shades, with their bands as bars and the cut-offs of ranges."""
    low, high = (np.stack(ends) for ends in zip(*curves.ranges.values(), strict=True))
    drawn = nested.Nested(tuple(curves.columns), release.x, np.stack(list(curves.columns.values())),
                          curves.levels, release.facts.value_unit, curves.limits, curves.target)
    spec = drawn.spec(heading(release), time_axis(release.facts), release.value,
                      more=[drawn.bars(low, high)], reach=[*low.ravel(), *high.ravel()])
    table = {name: plain(values, 6) for name, values in columns(release).items()}
    return Chart(spec, alt(release), table)


def ranges(release: Published) -> Chart | None:
    """The share of observations in every range as one bar; None without cut-offs.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    curves = release.functions
    if not isinstance(curves, ReleasedPercentiles) or not curves.limits:
        return None
    return nested.time_in_ranges(curves.limits, curves.target, curves.average, curves.error,
                                 release.facts.value_unit)


def height(release: Published, plot: int) -> int:
    """Pixels of the picture, with the numbers at risk below it.

    Parameters
    ----------
    release : Published
    plot : int
        Pixels of the picture alone.
    """
    return plot + (numbers_at_risk(release.at_risk)[1] if release.at_risk else 0)


def _steps(x: Array, pair: tuple[Array, Array], shade: str) -> list[Spec]:
    """The band as steps: what is at a place holds back to the place before it."""
    low, high = ({**_edge(x, end, {"width": 0, "shape": "vh"})} for end in pair)
    return [low, {**high, "fill": "tonexty", "fillcolor": translucent(shade, 0.14)}]


def _band(x: Array, band: ReleasedBand, pair: tuple[Array, Array], shade: str) -> list[Spec]:
    """The band, filled where it is meant to hold, with dashed edges elsewhere."""
    inside = band.inside(x)
    low, high = (_edge(x[inside], end[inside], {"width": 0}) for end in pair)
    dashed = {"width": 1.2, "dash": "3px,4px", "color": shade}
    return [low, {**high, "fill": "tonexty", "fillcolor": translucent(shade, 0.14)},
            *(_edge(x[end], edge[end], dashed) for edge in pair for end in band.outside(x))]


def _edge(x: Array, y: Array, line: Spec) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": plain(x, 6), "y": plain(y, 6), "line": line,
            "hoverinfo": "skip", "showlegend": False}
