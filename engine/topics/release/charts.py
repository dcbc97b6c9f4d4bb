"""A release, as it may be shown to anybody, and its preview beside the truth of its twin."""

from __future__ import annotations

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import nested, traces
from engine.figures.theme import Chart, Spec, axis, layout, time_axis
from engine.figures.traces import SHADES, numbers_at_risk, plain
from engine.language.numbers import error, number
from engine.release.captions import alt, columns, heading, is_staircase
from engine.release.percentiles import ReleasedPercentiles
from engine.release.published import Published
from engine.release.uncertainty import STAIRCASE, ReleasedBand
from engine.topics.release.preview import PreviewedPercentiles, ReleasePreview

_DASHES = ("solid", "8px,4px", "2px,3px", "10px,3px,2px,3px")


def chart(release: Published) -> Chart:
    """Draw lines over their bands, or a heat map of a function of two times.

    The table has the columns of the file.
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
        data += (
            _filled(release.x, pair, shade, "vh")
            if stepped or band is None
            else _band(release.x, band, pair, shade)
        )
    table = {name: plain(values, 6) for name, values in columns(release).items()}
    x = plain(release.x, 6)
    data += [
        traces.line(name, x, table[name], shades[k], 2.6, _DASHES[k % len(_DASHES)])
        for k, name in enumerate(release.columns)
    ]
    look = layout(
        legend=several > 1,
        title=heading(release),
        xaxis=axis(release.axis),
        yaxis=axis(release.value, grid=True),
        shapes=traces.common_times(release.facts) if band and band.at_times else [],
    )
    if release.at_risk:
        notes, room = numbers_at_risk(release.at_risk)
        look |= {"annotations": notes, "margin": {**look["margin"], "b": 8 + room}}
    return Chart({"data": data, "layout": look}, alt(release), table)


def _heat_map(release: Published) -> Chart:
    """Draw a heat map: zero has the colour of the page, and both signs have one of their own."""
    values, x = np.stack(list(release.columns.values())), plain(release.x, 6)
    edge = float(np.abs(values).max()) or 1.0
    heat = {
        "type": "heatmap",
        "x": x,
        "y": x,
        "z": [plain(row, 4) for row in values],
        "hovertemplate": "%{x:.4~g}, %{y:.4~g}: %{z:.4~g}<extra></extra>",
        "zsmooth": "best",
        "zmin": -edge,
        "zmax": edge,
        "colorscale": [[0, "bias"], [0.5, "page"], [1, "functional"]],
        "colorbar": {"thickness": 10, "tickfont": {"size": 12}, "outlinewidth": 0},
    }
    look = layout(
        hovermode="closest",
        title=heading(release),
        xaxis=axis(release.axis, constrain="domain"),
        yaxis=axis(release.axis, scaleanchor="x", constrain="domain"),
    )
    table = {name: plain(column, 6) for name, column in columns(release).items()}
    return Chart({"data": [heat], "layout": look}, alt(release), table)


def _nested(release: Published, curves: ReleasedPercentiles) -> Chart:
    """Draw percentile curves as nested shades, with bands as bars and the cut-offs of ranges."""
    low, high = (np.stack(ends) for ends in zip(*curves.ranges.values(), strict=True))
    drawn = nested.Nested(
        tuple(curves.columns),
        release.x,
        np.stack(list(curves.columns.values())),
        curves.levels,
        release.facts.value_unit,
        curves.limits,
        curves.target,
    )
    spec = drawn.spec(
        heading(release),
        time_axis(release.facts),
        release.value,
        more=[drawn.bars(low, high)],
        in_view=[*low.ravel(), *high.ravel()],
    )
    table = {name: plain(values, 6) for name, values in columns(release).items()}
    return Chart(spec, alt(release), table)


def ranges(release: Published) -> Chart | None:
    """Draw the share of observations in every range as one bar; None without cut-offs."""
    curves = release.functions
    if not isinstance(curves, ReleasedPercentiles) or not curves.limits:
        return None
    return nested.time_in_ranges(
        curves.limits, curves.target, curves.average, curves.error, release.facts.value_unit
    )


def height(release: Published, plot: int) -> int:
    """Return the pixels of the picture, with the numbers at risk below it."""
    return plot + (numbers_at_risk(release.at_risk)[1] if release.at_risk else 0)


def _filled(x: Array, pair: tuple[Array, Array], shade: str, shape: str) -> list[Spec]:
    """Draw a band; shape "vh" draws steps: a value holds back to the place before."""
    low, high = (_edge(x, end, {"width": 0, "shape": shape}) for end in pair)
    return [low, {**high, "fill": "tonexty", "fillcolor": translucent(shade, 0.14)}]


def _band(x: Array, band: ReleasedBand, pair: tuple[Array, Array], shade: str) -> list[Spec]:
    """Draw the band, filled where it is meant to hold, with dashed edges elsewhere."""
    inside = band.inside(x)
    low, high = (_edge(x[inside], end[inside], {"width": 0}) for end in pair)
    dashed = {"width": 1.2, "dash": "3px,4px", "color": shade}
    return [
        low,
        {**high, "fill": "tonexty", "fillcolor": translucent(shade, 0.14)},
        *(_edge(x[end], edge[end], dashed) for edge in pair for end in band.outside(x)),
    ]


def _edge(x: Array, y: Array, line: Spec) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": plain(x, 6),
        "y": plain(y, 6),
        "line": line,
        "hoverinfo": "skip",
        "showlegend": False,
    }


# -- before anything is charged --------------------------------------------------------------------


def preview_chart(preview: ReleasePreview, across: str, up: str) -> Chart:
    """Draw released functions over their bands, and the true ones dashed.

    `across` and `up` name the axes, with units.
    """
    if preview.percentiles is not None:
        return _nested_preview(preview, preview.percentiles, across, up)
    stepped = preview.band == STAIRCASE
    x, data = plain(preview.points, 6), []
    table: dict[str, list[float]] = {across: x}
    for k, curve in enumerate(preview.curves):
        shade = SHADES[k % len(SHADES)] if stepped else SHADES[0]
        dash, name = traces.DASHES[k % len(traces.DASHES)], curve.name
        if curve.low is not None and curve.high is not None:
            data += _filled(
                preview.points, (curve.low, curve.high), shade, "vh" if stepped else "linear"
            )
            table |= {
                f"{name}, band from": plain(curve.low, 6),
                f"{name}, band to": plain(curve.high, 6),
            }
        data.append(
            traces.line(
                f"{name}, twin’s truth", x, plain(curve.truth, 6), "quiet", 1.6, traces.UNPROTECTED
            )
        )
        data.append(
            traces.line(f"{name}, simulated release", x, plain(curve.released, 6), shade, 2.6, dash)
        )
        table[f"{name}, simulated release"] = plain(curve.released, 6)
        table[f"{name}, twin’s truth"] = plain(curve.truth, 6)
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_finding(preview, up),
            xaxis=axis(across),
            yaxis=axis(up, grid=True, **_within_bounds(preview, up)),
            shapes=traces.common_times(preview.facts) if preview.at_times else [],
        ),
    }
    return Chart(spec, _alt(preview), table)


def preview_ranges(preview: ReleasePreview) -> Chart | None:
    """Draw the time in ranges of the simulated release; None without ranges."""
    percentiles = preview.percentiles
    if percentiles is None or percentiles.ranges is None:
        return None
    shares = percentiles.ranges
    return nested.time_in_ranges(
        shares.limits,
        percentiles.target,
        shares.average[0, 0],
        shares.error[0, 0],
        preview.facts.value_unit,
    )


def _nested_preview(
    preview: ReleasePreview, percentiles: PreviewedPercentiles, across: str, up: str
) -> Chart:
    """Draw percentile curves as nested shades, bands as bars, the twin’s true ones dashed."""
    ranges, x = percentiles.ranges, plain(preview.points, 6)
    released, truth = (
        np.stack([getattr(curve, name) for curve in preview.curves])
        for name in ("released", "truth")
    )
    names = [curve.name for curve in preview.curves]
    drawn = nested.Nested(
        names,
        preview.points,
        released,
        percentiles.levels,
        preview.facts.value_unit,
        () if ranges is None else ranges.limits,
        percentiles.target,
    )
    more = [
        traces.line(
            f"{name}, twin’s truth",
            x,
            plain(curve),
            "quiet",
            1.6,
            traces.UNPROTECTED,
            hoverinfo="skip",
        )
        for name, curve in zip(names, truth, strict=True)
    ]
    ends = [
        (curve.low, curve.high)
        for curve in preview.curves
        if curve.low is not None and curve.high is not None
    ]
    table = {across: x}
    for name, row, true in zip(names, released, truth, strict=True):
        table |= {f"{name}, simulated release": plain(row, 6), f"{name}, twin’s truth": plain(true)}
    if ends:
        low, high = (np.stack(each) for each in zip(*ends, strict=True))
        more.append(drawn.bars(low, high))
    spec = drawn.spec(
        _finding(preview, up),
        time_axis(preview.facts),
        up,
        more=more,
        in_view=truth.ravel().tolist(),
    )
    return Chart(spec, _alt(preview), table)


def _finding(preview: ReleasePreview, up: str) -> str:
    """State the forecast of the error, as the sentence below says it."""
    return f"Forecast: error {error(preview.error, _unit(preview, up), preview.within)}"


def _unit(preview: ReleasePreview, up: str) -> str:
    """Return the unit of the vertical axis; some results are not in the unit of values."""
    unit = preview.facts.value_unit
    return unit if f"({unit})" in up else ""


def _within_bounds(preview: ReleasePreview, up: str) -> Spec:
    """Limit the axis to the stated bounds, which hold the truth, if a band leaves them."""
    facts, curves = preview.facts, preview.curves
    ends = [end for curve in curves for end in (curve.low, curve.high) if end is not None]
    is_of_values = len(curves) == 1 and bool(_unit(preview, up))
    if not ends or not is_of_values:
        return {}
    rows = [*ends, curves[0].released]
    low, high = (float(f([f(row) for row in rows])) for f in (np.nanmin, np.nanmax))
    if facts.value_low <= low and high <= facts.value_high:
        return {}
    margin = 0.05 * (high - low)
    return {"range": [max(low - margin, facts.value_low), min(high + margin, facts.value_high)]}


def _alt(preview: ReleasePreview) -> str:
    first = preview.curves[0]
    return (
        f"Simulated release: {first.name} from {number(float(np.nanmin(first.released)))} to "
        f"{number(float(np.nanmax(first.released)))}; the twin’s truth from "
        f"{number(float(first.truth.min()))} to {number(float(first.truth.max()))}."
    )
