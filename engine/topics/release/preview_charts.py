"""A simulated release beside the truth of its twin, with the band that would be published."""

from __future__ import annotations

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import nested, traces
from engine.figures.at_risk import SHADES
from engine.figures.theme import Chart, Spec, axis, layout, time_axis
from engine.figures.traces import plain
from engine.language.numbers import error, number
from engine.release.uncertainty import STAIRCASE
from engine.topics.release.preview import PreviewedPercentiles, ReleasePreview


def chart(preview: ReleasePreview, across: str, up: str) -> Chart:
    """Released functions over their bands, and the true ones dashed.

    Parameters
    ----------
    preview : ReleasePreview
        Of one method at one budget.
    across, up : str
        What stands along the axes, with units.
    """
    if preview.percentiles is not None:
        return _nested(preview, preview.percentiles, across, up)
    stepped = preview.band == STAIRCASE
    x, data = plain(preview.points, 6), []
    table: dict[str, list[float]] = {across: x}
    for k, curve in enumerate(preview.curves):
        shade = SHADES[k % len(SHADES)] if stepped else SHADES[0]
        dash, name = traces.DASHES[k % len(traces.DASHES)], curve.name
        if curve.low is not None and curve.high is not None:
            shape = "vh" if stepped else "linear"
            data += [_edge(x, curve.low, shape), {**_edge(x, curve.high, shape), "fill": "tonexty",
                                           "fillcolor": translucent(shade, 0.14)}]
            table |= {f"{name}, band from": plain(curve.low, 6),
                      f"{name}, band to": plain(curve.high, 6)}
        data.append(traces.line(f"{name}, twin’s truth", x, plain(curve.truth, 6), "quiet", 1.6,
                                traces.UNPROTECTED))
        data.append(traces.line(f"{name}, simulated release", x, plain(curve.released, 6), shade,
                                2.6, dash))
        table[f"{name}, simulated release"] = plain(curve.released, 6)
        table[f"{name}, twin’s truth"] = plain(curve.truth, 6)
    spec = {"data": data, "layout": layout(
        legend=True, title=_finding(preview, up), xaxis=axis(across),
        yaxis=axis(up, grid=True, **_within_bounds(preview, up)),
        shapes=traces.common_times(preview.facts) if preview.at_times else [])}
    return Chart(spec, _alt(preview), table)


def ranges(preview: ReleasePreview) -> Chart | None:
    """The time in ranges of the simulated release; None where there is none.

    Parameters
    ----------
    preview : ReleasePreview
        Of percentile curves.
    """
    percentiles = preview.percentiles
    if percentiles is None or percentiles.ranges is None:
        return None
    shares = percentiles.ranges
    return nested.time_in_ranges(shares.limits, percentiles.target, shares.average[0, 0],
                                 shares.error[0, 0], preview.facts.value_unit)


def _nested(preview: ReleasePreview, percentiles: PreviewedPercentiles, across: str, up: str
            ) -> Chart:
    """Percentile curves as nested shades, their bands as bars, and the twin’s true ones dashed."""
    ranges, x = percentiles.ranges, plain(preview.points, 6)
    released, truth = (np.stack([getattr(curve, name) for curve in preview.curves])
                       for name in ("released", "truth"))
    names = [curve.name for curve in preview.curves]
    drawn = nested.Nested(names, preview.points, released, percentiles.levels,
                          preview.facts.value_unit, () if ranges is None else ranges.limits,
                          percentiles.target)
    more = [traces.line(f"{name}, twin’s truth", x, plain(curve), "quiet", 1.6,
                        traces.UNPROTECTED, hoverinfo="skip")
            for name, curve in zip(names, truth, strict=True)]
    ends = [(curve.low, curve.high) for curve in preview.curves
            if curve.low is not None and curve.high is not None]
    table = {across: x}
    for name, row, true in zip(names, released, truth, strict=True):
        table |= {f"{name}, simulated release": plain(row, 6), f"{name}, twin’s truth": plain(true)}
    if ends:
        low, high = (np.stack(each) for each in zip(*ends, strict=True))
        more.append(drawn.bars(low, high))
    spec = drawn.spec(_finding(preview, up), time_axis(preview.facts), up, more=more,
                      reach=truth.ravel().tolist())
    return Chart(spec, _alt(preview), table)


def _edge(x: list[float], y: Array, shape: str) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": x, "y": plain(y, 6),
            "line": {"width": 0, "shape": shape},
            "hoverinfo": "skip", "showlegend": False}


def _finding(preview: ReleasePreview, up: str) -> str:
    """The forecast of the error, as the sentence below says it."""
    return f"Forecast: error {error(preview.error, _unit(preview, up), preview.within)}"


def _unit(preview: ReleasePreview, up: str) -> str:
    """Of what stands up; some results are not in the unit of values."""
    unit = preview.facts.value_unit
    return unit if f"({unit})" in up else ""


def _within_bounds(preview: ReleasePreview, up: str) -> Spec:
    """Where the axis ends if a band leaves the stated bounds, between which the truth is."""
    facts, curves = preview.facts, preview.curves
    ends = [end for curve in curves for end in (curve.low, curve.high) if end is not None]
    is_of_values = len(curves) == 1 and bool(_unit(preview, up))
    if not ends or not is_of_values:
        return {}
    rows = [*ends, curves[0].released]
    low, high = (float(f([f(row) for row in rows])) for f in (np.nanmin, np.nanmax))
    if facts.value_low <= low and high <= facts.value_high:
        return {}
    room = 0.05 * (high - low)
    return {"range": [max(low - room, facts.value_low), min(high + room, facts.value_high)]}


def _alt(preview: ReleasePreview) -> str:
    first = preview.curves[0]
    return (f"Simulated release: {first.name} from {number(float(np.nanmin(first.released)))} to "
            f"{number(float(np.nanmax(first.released)))}; the twin’s truth from "
            f"{number(float(first.truth.min()))} to {number(float(first.truth.max()))}.")
