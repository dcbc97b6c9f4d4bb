"""The picture of a sweep: measured errors along one axis, a line for each value of the other."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from engine.core.bands import NORMAL
from engine.core.types import Array
from engine.figures import labels, traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis
from engine.figures.traces import DASHES
from engine.language.numbers import number
from engine.topics.sweeps.answer import TOTAL, Point, SweepLine, SweepView, columns

_MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
_ROLES = ("gradient", "functional", "wavelet", "sparse", "raw", "without")


def along_axis(view: SweepView, labels: Mapping[str, str], unit: str) -> Chart:
    """Draw mean squared errors with 95 % intervals; dotted: the rate, its constants fitted.

    Hollow points are those at which the method would publish nothing. Log axes where all values are
    above zero.
    """
    data: list[Spec] = []
    for k, line in enumerate(view.lines):
        data += _of_line(k, line, view, labels, unit)
    name = "Mean squared error" if view.kind == TOTAL else "Squared error from privacy noise"
    return Chart(
        {
            "data": data,
            "layout": layout(
                legend=True,
                title=_finding(view),
                xaxis=_axis_of_x(view, labels[view.along]),
                yaxis=_axis_of_y(view, f"{name} ({unit + '², ' if unit else ''}log scale)"),
            ),
        },
        _alt(view, labels),
        columns(view, labels),
    )


def _finding(view: SweepView) -> str:
    """Say how the error of the first line changes from its first to its last measured point."""
    measured = [point.mean for line in view.lines[:1] for point in line.points if point.mean > 0]
    if len(measured) < 2:
        return "Being measured"
    return labels.changed("Squared error", measured[0], measured[-1])


def _of_line(
    k: int, line: SweepLine, view: SweepView, labels: Mapping[str, str], unit: str
) -> list[Spec]:
    label = f"{labels[view.across]} = {line.name}" if view.across else "Measured (± 95 %)"
    drawn = [_measured(k, line, label, unit)]
    if line.theory is not None:
        drawn.append(
            traces.line(
                "Rate, two constants fitted",
                [point.x for point in line.points],
                traces.plain(line.theory),
                "without",
                1.6,
                "dot",
                hoverinfo="skip",
                showlegend=k == 0,
                legendgroup="rate",
                legendrank=2000,
            )
        )  # after all lines
    return drawn


def _measured(k: int, line: SweepLine, label: str, unit: str) -> Spec:
    """Draw errors with their bars; hollow where the method would publish nothing."""
    there = [point for point in line.points if point.mean > 0]
    shade, marker = _ROLES[k % len(_ROLES)], _MARKERS[k % len(_MARKERS)]
    return traces.line_with_points(
        label,
        [point.x for point in there],
        [point.mean for point in there],
        shade,
        1.6,
        DASHES[k % len(DASHES)],
        {
            "size": 9,
            "color": shade,
            "symbol": [marker if point.is_published else f"{marker}-open" for point in there],
        },
        error_y={
            "type": "data",
            "visible": True,
            "color": shade,
            "array": [_bar(point) for point in there],
        },
        hovertemplate=f"%{{y:.3g}} {unit}²" if unit else "%{y:.3g}",
    )


def _bar(point: Point) -> float:
    return NORMAL * point.se if math.isfinite(point.se) else 0.0


def _axis_of_x(view: SweepView, label: str) -> Spec:
    x = [point.x for line in view.lines for point in line.points]
    if min(x) > 0 and max(x) >= 2 * min(x):
        title = f"{label.replace(' (ε)', ' ε')} (log scale)"
        return log_axis(title, min(x), max(x), room=0.06)
    room = 0.06 * (max(x) - min(x) or 1.0)
    return axis(label, range=[min(x) - room, max(x) + room])


def _axis_of_y(view: SweepView, title: str) -> Spec:
    points = [point for line in view.lines for point in line.points if point.mean > 0]
    if not points:
        return log_axis(title, 0.1, 1.0, grid=True)
    theory: list[Array] = [line.theory for line in view.lines if line.theory is not None]
    heights = np.concatenate(
        [
            [point.mean + _bar(point) for point in points],
            [max(point.mean - _bar(point), point.mean / 3) for point in points],
            *(rate[np.isfinite(rate)] for rate in theory),
        ]
    )
    return log_axis(title, float(heights.min()), float(heights.max()), grid=True, room=0.06)


def _alt(view: SweepView, labels: Mapping[str, str]) -> str:
    points = [point for line in view.lines for point in line.points]
    there = [point for point in points if math.isfinite(point.mean)]
    if not there:
        return "No point has been measured yet."
    smallest, largest = (pick(there, key=lambda p: p.mean) for pick in (min, max))
    return (
        f"{len(there)} of {len(points)} points measured against {labels[view.along]}: mean "
        f"squared error from {number(smallest.mean)} at {smallest.x:g} to "
        f"{number(largest.mean)} at "
        f"{largest.x:g}."
    )
