"""Pictures of wavelet regression: the curve, its error by level, one point, what was sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.families.wavelet_risk import RiskParts
from engine.figures import cards
from engine.figures.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    log_axis,
    translucent,
)
from engine.types import Array, PublicFacts
from engine.views.regression import (
    ByLevel,
    CostOfPrivacy,
    PointView,
    RegressionView,
    WorstPair,
)
from engine.words.grammar import capital
from engine.words.numbers import number
from engine.words.regression import PARTS, shares

_ROLES = (("wavelet", ""), ("without", "/"), ("bias", "x"), ("raw", "."))


def curve(view: RegressionView, theme: Theme, one: bool = False) -> Chart:
    """Possible releases, or one with the range of its noise, over the true curve if it is known."""
    x, shade = _positions(view.facts, view.times), colour("wavelet", theme)
    data: list[Spec] = []
    if one:
        if view.noise_sd is not None:
            low, high = (view.releases[0] + sign * 2 * view.noise_sd for sign in (-1, 1))
            data.append({"type": "scatter", "mode": "lines", "x": x + x[::-1], "fill": "toself",
                         "y": _values(view.facts, high) + _values(view.facts, low)[::-1],
                         "line": {"width": 0}, "fillcolor": translucent(shade, 0.2),
                         "name": "Range of the noise"})
        data.append(_curve(view, "One release", view.releases[0], shade, 2.6))
    else:
        data.append(_many(view, translucent(shade, 0.6)))
    data.append(_curve(view, "Without protection", view.without, colour("without", theme), 2.2,
                       "6px,4px"))
    table = {"position": x, "release 1": _values(view.facts, view.releases[0]),
             "without protection": _values(view.facts, view.without)}
    if view.truth is not None:
        data.append(_curve(view, "True curve", view.truth, colour("truth", theme), 1.6))
        table["true"] = _values(view.facts, view.truth)
    if view.noise_sd is not None:
        table["noise ±"] = _plain(2 * view.noise_sd)
    off = (f"off by {number(view.typical)} on average" if view.truth is not None else
           f"typically {number(view.known.apart)} from the curve without protection")
    return Chart(_over_positions(view.facts, data, theme),
                 f"{len(view.releases)} possible releases of the curve, {off}.", table)


def _over_positions(facts: PublicFacts, data: list[Spec], theme: Theme) -> Spec:
    """Axes of values over positions, in the words and units of the readings."""
    x, y = "Position", "Value"
    if facts.kind != "simulated":
        x, y = (f"{name} ({unit})" if unit else name for name, unit in (
            (facts.time_name, facts.time_unit), (facts.value_name, facts.value_unit)))
    return {"data": data, "layout": layout(theme, legend=True, hovermode=False,
                                           xaxis=axis(theme, x), yaxis=axis(theme, y, grid=True))}


def messages(view: RegressionView, names: Sequence[str], theme: Theme) -> Chart:
    """What the first site of the named kinds sent, drawn as a curve, beside all combined."""
    assert view.messages is not None
    dashes = ("solid", "8px,3px", "2px,3px", "12px,3px,2px,3px")
    data = [_curve(view, name, sent, colour("wavelet", theme), 1.4, dashes[k % len(dashes)])
            for k, (name, sent) in enumerate(zip(names, view.messages, strict=False))]
    data.append(_curve(view, "All together", view.releases[0], colour("text", theme), 2.4))
    return Chart(_over_positions(view.facts, data, theme),
                 "What one site of each kind sent, drawn as curves, and their average.",
                 {"position": _positions(view.facts, view.times),
                  **{name: _values(view.facts, sent) for name, sent in
                     zip(names, view.messages, strict=False)}})


def split(parts: RiskParts, theme: Theme) -> Chart:
    """One bar of squared error, cut into its four parts."""
    return cards.split_bar(shares(parts), PARTS, theme, _ROLES)


def by_level(found: ByLevel, theme: Theme) -> Chart:
    """The root of the error at every level on a log axis, and each part of it."""
    x = list(found.levels)
    parts = np.array([[p.privacy, p.data, p.projection, p.clip] for p in found.parts])
    total = np.sqrt([p.total for p in found.parts])
    dashes = ("8px,3px", "6px,4px", "2px,3px", "12px,3px,2px,3px")
    floor = 0.02 * total.min()
    data = [_points(name, x, np.sqrt(np.maximum(parts[:, k], 0)), colour(role, theme), dashes[k],
                    floor) for k, (name, (role, _)) in enumerate(zip(PARTS, _ROLES, strict=True))]
    data.insert(0, _points("all together", x, total, colour("text", theme), "solid", floor, 2.6))
    at = x.index(found.chosen)
    data.append({"type": "scatter", "mode": "markers", "x": [x[at]], "y": [float(total[at])],
                 "showlegend": False, "hoverinfo": "skip", "name": "the rule’s level",
                 "marker": {"symbol": "diamond", "size": 15, "color": colour("page", theme),
                            "line": {"color": colour("text", theme), "width": 2.4}}})
    spec = {"data": data, "layout": layout(
        theme, legend=True,
        xaxis=axis(theme, "Waves kept", tickvals=x, ticktext=[f"{2**level}" for level in x]),
        yaxis=log_axis(theme, "Error (log scale)", floor, float(total.max()) * 1.2, grid=True))}
    table: dict[str, list[Any]] = {"level": list(x), "all": _plain(total)}
    table |= {name: _plain(np.sqrt(np.maximum(parts[:, k], 0))) for k, name in enumerate(PARTS)}
    return Chart(spec, f"Error by number of waves; the rule keeps {2**found.chosen}, with an error "
                       f"of {number(float(total[at]))}.", table)


def point(view: RegressionView, found: PointView, theme: Theme) -> Chart:
    """The released value at one point, over the true curve or the one without protection."""
    shade = colour("wavelet", theme)
    at = _positions(view.facts, np.array([found.point]))
    under = _curve(view, "True curve", view.truth, colour("truth", theme), 1.6
                   ) if view.truth is not None else _curve(
        view, "Without protection", view.without, colour("without", theme), 2.2, "6px,4px")
    data = [under,
            {"type": "scatter", "mode": "markers", "x": at, "y": [found.released],
             "name": "Released value", "marker": {"size": 11, "color": shade},
             "error_y": {"type": "data", "symmetric": False, "array": [found.high - found.released],
                         "arrayminus": [found.released - found.low], "color": shade,
                         "thickness": 2.4, "width": 7}}]
    table = {"position": at, **{name: _values(view.facts, np.array([value])) for name, value in (
        ("released", found.released), ("from", found.low), ("to", found.high))}}
    if found.truth is not None:
        table["true"] = _plain(np.array([found.truth]))
    return Chart(_over_positions(view.facts, data, theme),
                 f"At {at[0]:g} the released value is {number(found.released)}, with limits "
                 f"{number(found.low)} to {number(found.high)}.", table)


def cost(found: CostOfPrivacy, planned: tuple[Array, Array], theme: Theme) -> Chart:
    """How many times privacy raises the error, by ε, with the elbows of both tasks.

    `planned` is ε and the same number for the whole curve by the bound of its plan.
    """
    x = _plain(found.epsilons)
    shade = colour("wavelet", theme)
    data = [_points("whole curve, by the rate", x, found.whole, shade, "8px,3px", 0.0),
            _points("one point, by the rate", x, found.point, shade, "2px,3px", 0.0)]
    highest = float(max(found.whole.max(), found.point.max()))
    table = {"ε": x, "whole curve": _plain(found.whole), "one point": _plain(found.point)}
    epsilons, times = planned
    data.append(_points("whole curve, by its plan", _plain(epsilons), times, shade, "solid", 0.0,
                        2.4))
    table["whole curve, by its plan"] = _plain(np.exp(np.interp(
        np.log(found.epsilons), np.log(epsilons), np.log(times))))
    highest = max(highest, float(times.max()))
    for trace in data:
        trace["mode"] = "lines"
    for elbow in found.elbows:
        data.append({"type": "scatter", "mode": "lines", "x": [elbow, elbow], "y": [1.0, highest],
                     "showlegend": False, "hoverinfo": "skip",
                     "line": {"dash": "dot", "width": 1.4, "color": colour("raw", theme)}})
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=log_axis(theme, "Protection ε (log scale)", x[0], x[-1]),
        yaxis=log_axis(theme, "Times the error without privacy", 0.9, highest * 1.1, grid=True))}
    return Chart(spec, f"Privacy raises the error of the whole curve {number(float(times[0]))} "
                       f"times at ε = {epsilons[0]:g} and {number(float(times[-1]))} times at "
                       f"ε = {epsilons[-1]:g}.", table)


def worst(found: WorstPair, facts: PublicFacts, theme: Theme) -> Chart:
    """How much a reading at each position weighs in a message, with the worst marked."""
    x = _positions(facts, found.times)
    at = int(found.norms.argmax())
    data = [_line("weight of a reading", x, found.norms, colour("wavelet", theme), 2.0),
            {"type": "scatter", "mode": "markers", "x": [x[at]], "name": "worst position",
             "y": [float(found.norms[at])], "marker": {
                 "symbol": "diamond", "size": 13, "color": colour("page", theme),
                 "line": {"color": colour("text", theme), "width": 2.2}}}]
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode=False, xaxis=axis(theme, "Position (a few cells)"),
        yaxis=axis(theme, "‖b(x)‖", grid=True, rangemode="tozero"))}
    return Chart(spec, f"A reading weighs most at {x[at]:.4g}.",
                 {"position": x[::16], "weight": _plain(found.norms[::16])})


def _line(name: str, x: list[float], y: Array, shade: str, width: float, dash: str = "solid"
          ) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": x, "y": _plain(y), "name": name,
            "line": {"width": width, "color": shade, "dash": dash}}


def _curve(view: RegressionView, name: str, values: Array, shade: str, width: float,
           dash: str = "solid") -> Spec:
    """A line on the grid of the view, in the units of the readings."""
    line = _line(name, _positions(view.facts, view.times), values, shade, width, dash)
    return {**line, "y": _values(view.facts, values)}


def _points(name: str, x: Sequence[float], y: Array, shade: str, dash: str, floor: float,
            width: float = 1.8) -> Spec:
    shown = [float(v) if v > floor and math.isfinite(v) else None for v in y]
    return {"type": "scatter", "mode": "lines+markers", "x": list(x), "y": shown,
            "name": capital(name),
            "line": {"width": width, "color": shade, "dash": dash}, "marker": {"size": 6}}


def _many(view: RegressionView, shade: str) -> Spec:
    """All releases as one broken line, which is drawn much faster than many."""
    x: list[float | None] = []
    y: list[float | None] = []
    for release in view.releases:
        x += [*_positions(view.facts, view.times[::2]), None]
        y += [*_values(view.facts, release[::2]), None]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": "Possible releases",
            "line": {"width": 1.1, "color": shade}}


def _plain(values: Array) -> list[float]:
    return [float(f"{v:.5g}") for v in np.asarray(values)]


def _positions(facts: PublicFacts, times: Array) -> list[float]:
    """Times on [0, 1] in their own unit."""
    return _rounded(facts.from_unit_time(times), facts.time_high - facts.time_low)


def _values(facts: PublicFacts, values: Array) -> list[float]:
    return _rounded(values, facts.value_high - facts.value_low)


def _rounded(values: Array, span: float) -> list[float]:
    """To a hundred-thousandth of a range or less: years and pressures have a large offset."""
    return [float(v) for v in np.round(values, 5 - math.floor(math.log10(span)))]
