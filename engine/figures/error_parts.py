"""What each step does to a curve, and what is left of an error without one of its parts."""

from __future__ import annotations

import numpy as np

from engine.figures.compare import joined, named
from engine.figures.error_curve import Method
from engine.figures.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    method_style,
    translucent,
)
from engine.types import Array, PublicFacts
from engine.views.error_parts import Chosen, ErrorParts, Steps
from engine.words.numbers import number, with_unit

_STEPS = ("Fewer coefficients", "Clipped and smoothed", "With noise: one release")


def steps(done: Steps, times: Array, method: Method, facts: PublicFacts, theme: Theme) -> Chart:
    """The curve after each step, less the average without protection."""
    shade, dash, _ = method_style(method.key, method.family, theme, method.variant)
    looks = ((colour("raw", theme), "2px,3px", 2.2), (colour("bias", theme), "8px,3px", 2.2),
             (shade, dash, 2.6))
    away = [curve - done.without for curve in (done.fewer, done.quiet, done.released)]
    data: list[Spec] = [
        {"type": "scatter", "mode": "lines", "x": _plain(times), "y": _plain(line), "name": name,
         "line": {"color": ink, "dash": dashes, "width": width}, "hoverinfo": "skip"}
        for name, line, (ink, dashes, width) in zip(_STEPS, away, looks, strict=True)]
    spec = {"data": [*data, _zero(facts, theme)], "layout": _axes(facts, theme, legend=True)}
    far = ", ".join(f"{name.lower()} {with_unit(number(move), facts.value_unit)}"
                    for name, move in zip(_STEPS, done.moves, strict=True))
    return Chart(spec, f"How far each step moves the average: {far}.", {
        named(facts.time_name, facts.time_unit): times.round(3).tolist(),
        **{name: _plain(line) for name, line in zip(_STEPS, away, strict=True)}})


def left(parts: ErrorParts, chosen: Chosen, method: Method, facts: PublicFacts, theme: Theme
         ) -> Chart:
    """Errors of twenty releases with some of their parts alone, on the axes of the whole."""
    shade, dash, _ = method_style(method.key, method.family, theme, method.variant)
    lines, whole = parts.lines(chosen), parts.lines((True, True, True))
    edge = 1.1 * float(np.quantile(np.abs(whole), 0.99)) or 1.0
    x, y = joined(parts.times, lines)
    data: list[Spec] = [
        {"type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
         "line": {"width": 1.1, "color": translucent(shade, 0.85), "dash": dash}}]
    spec = {"data": [*data, _zero(facts, theme)],
            "layout": _axes(facts, theme, range=[-edge, edge])}
    low, middle, high = np.quantile(lines, (0.05, 0.5, 0.95), axis=0)
    typical = with_unit(number(parts.typical[chosen]), facts.value_unit)
    return Chart(spec, f"Errors of {len(lines)} releases with the parts that are switched on: "
                 f"typically {typical}.", {
                     named(facts.time_name, facts.time_unit): parts.times.round(3).tolist(),
                     "1 in 20 below": _plain(low), "middle": _plain(middle),
                     "1 in 20 above": _plain(high)})


def _axes(facts: PublicFacts, theme: Theme, legend: bool = False, **changes: object) -> Spec:
    return layout(
        theme, legend=legend, hovermode=False,
        xaxis=axis(theme, named(facts.time_name, facts.time_unit), nticks=8,
                   range=[facts.time_low, facts.time_high]),
        yaxis=axis(theme, named("Difference", facts.value_unit), grid=True, nticks=6, **changes))


def _zero(facts: PublicFacts, theme: Theme) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": [facts.time_low, facts.time_high], "y": [0, 0],
            "hoverinfo": "skip", "showlegend": False,
            "line": {"width": 2.2, "color": colour("without", theme), "dash": "6px,4px"}}


def _plain(values: Array) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
