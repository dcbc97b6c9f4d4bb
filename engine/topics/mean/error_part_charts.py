"""What each step does to a curve, and what is left of an error without one of its parts."""

from __future__ import annotations

import numpy as np

from engine.figures import traces
from engine.figures.traces import plain
from engine.language.numbers import number, with_unit
from engine.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    method_style,
    named,
    translucent,
)
from engine.topics.mean.charts import Method
from engine.topics.mean.error_parts import Chosen, ErrorParts, Steps
from engine.types import Array, PublicFacts

_STEPS = ("Fewer coefficients", "Clipped and smoothed", "With noise: one release")


def steps(done: Steps, times: Array, method: Method, facts: PublicFacts, theme: Theme) -> Chart:
    """The curve after each step, less the average without protection.

    Parameters
    ----------
    done : Steps
        Curves after each step, in response units.
    times : (points,)
        In their own unit.
    method : Method
        For its look.
    facts : PublicFacts
        Names and units.
    theme : {"light", "dark"}
        Of the page.
    """
    shade, dash, _ = method_style(method.key, method.family, theme, method.variant)
    looks = ((colour("raw", theme), 2.2, "2px,3px"), (colour("bias", theme), 2.2, "8px,3px"),
             (shade, 2.6, dash))
    away = {name: plain(curve - done.without) for name, curve in zip(
        _STEPS, (done.fewer, done.quiet, done.released), strict=True)}
    data = [traces.line(name, plain(times), curve, *look, hoverinfo="skip")
            for (name, curve), look in zip(away.items(), looks, strict=True)]
    spec = {"data": [*data, traces.zero(facts, theme)],
            "layout": _axes(facts, theme, legend=True)}
    far = ", ".join(f"{name.lower()} {with_unit(number(move), facts.value_unit)}"
                    for name, move in zip(_STEPS, done.moves, strict=True))
    return Chart(spec, f"How far each step moves the average: {far}.", {
        named(facts.time_name, facts.time_unit): times.round(3).tolist(), **away})


def left(parts: ErrorParts, switched_on: Chosen, method: Method, facts: PublicFacts, theme: Theme
         ) -> Chart:
    """Errors of twenty releases with some of their parts alone, on the axes of the whole.

    Parameters
    ----------
    parts : ErrorParts
        Of the same releases.
    switched_on : tuple of bool
        Of the three parts, in the order of `language.error_parts.parts`.
    method : Method
        For its look.
    facts : PublicFacts
        Names and units.
    theme : {"light", "dark"}
        Of the page.
    """
    shade, dash, _ = method_style(method.key, method.family, theme, method.variant)
    lines, whole = parts.lines(switched_on), parts.lines((True, True, True))
    edge = 1.1 * float(np.quantile(np.abs(whole), 0.99)) or 1.0
    x, y = traces.joined(plain(parts.times, 4), [plain(line, 4) for line in lines])
    errors = traces.line("Errors of releases", x, y, translucent(shade, 0.85), 1.1, dash,
                         hoverinfo="skip")
    spec = {"data": [errors, traces.zero(facts, theme)],
            "layout": _axes(facts, theme, range=[-edge, edge])}
    low, middle, high = np.quantile(lines, (0.05, 0.5, 0.95), axis=0)
    typical = with_unit(number(parts.error[switched_on]), facts.value_unit)
    return Chart(spec, f"Errors of {len(lines)} releases with the parts that are switched on: "
                 f"typically {typical}.", {
                     named(facts.time_name, facts.time_unit): parts.times.round(3).tolist(),
                     "1 in 20 below": plain(low), "middle": plain(middle),
                     "1 in 20 above": plain(high)})


def _axes(facts: PublicFacts, theme: Theme, legend: bool = False, **changes: object) -> Spec:
    return layout(
        theme, legend=legend, hovermode=False,
        xaxis=axis(theme, named(facts.time_name, facts.time_unit), nticks=8,
                   range=[facts.time_low, facts.time_high]),
        yaxis=axis(theme, named("Difference", facts.value_unit), grid=True, nticks=6, **changes))
