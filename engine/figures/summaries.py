"""Whole functions, published in several ways: small multiples, errors, and shapes of noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.figures.cards import pattern
from engine.figures.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    log_axis,
    method_style,
    translucent,
)
from engine.sources.table_words import shortened
from engine.tasks import DENSITY, RISK_MINIMISATION
from engine.types import Array, Covariate, PublicFacts
from engine.views.feasible_smoothness import GridSweep
from engine.views.summaries import Components, Spectrum, SummaryView, Way, WorstPair
from engine.words.summaries import PARTS, unit_of
from engine.words.wording import capital, number, with_unit

_ROLES = (("functional", ""), ("without", "/"), ("bias", "x"))
_DASHES = {"tight": "solid", "published": "6px,4px", "optimal": "2px,3px"}


def panel(view: SummaryView, way: Way, k: int, theme: Theme) -> Chart:
    """Possible releases of one function over the estimate without protection."""
    assert way.releases is not None
    shade = method_style(way.mechanism.key, way.mechanism.family, theme)[0]
    x = _plain(view.axis)
    data = [_many(view.axis, way.releases[:, k], translucent(shade, 0.55)),
            _line("Without protection", x, view.without[k], colour("without", theme), 2.2,
                  "6px,4px")]
    table = {axis_title(view): x, "without protection": _plain(view.without[k]),
             "release 1": _plain(way.releases[0, k])}
    if view.truth is not None:
        data.append(_line("True", x, view.truth[k], colour("truth", theme), 1.6))
        table["true"] = _plain(view.truth[k])
    spec = {"data": data, "layout": layout(
        theme, hovermode=False, xaxis=axis(theme, axis_title(view)),
        yaxis=axis(theme, value_title(view), grid=True, range=_span(view, k)))}
    return Chart(spec, f"{way.label}: {len(way.releases)} possible releases, typically "
                 f"{number(way.typical)} off.", table)


def surface(view: SummaryView, values: Array, title: str, theme: Theme) -> Chart:
    """A function of two numbers as a heat map; all of one page share their colours."""
    low, high = _heights(view)
    x, y = _plain(view.axis), _plain(view.across)
    plain = [[float(f"{v:.4g}") for v in row] for row in values]
    both = low < 0
    low_end, none, high_end = (colour(role, theme) for role in ("bias", "page", "functional"))
    scale = ([[0, low_end], [0.5, none], [1, high_end]] if both else [[0, none], [1, high_end]])
    edge = max(-low, high)
    spec = {"data": [{"type": "heatmap", "x": x, "y": y, "z": np.transpose(plain).tolist(),
                      "zmin": -edge if both else 0.0, "zmax": edge if both else high,
                      "colorscale": scale, "hoverinfo": "skip", "zsmooth": "best",
                      "colorbar": {"thickness": 10, "tickfont": {"size": 12}, "outlinewidth": 0}}],
            "layout": layout(theme, hovermode=False,
                             xaxis=axis(theme, axis_title(view), constrain="domain"),
                             yaxis=_second_axis(view, theme))}
    return Chart(spec, f"{title}: heights from {number(float(values.min()))} to "
                 f"{number(float(values.max()))}.",
                 {axis_title(view): x, **({} if x == y else {_second_title(view): y}),
                  "along the diagonal": _plain(np.diagonal(values))})


def _second_axis(view: SummaryView, theme: Theme) -> Spec:
    """That of the second number; of two times, or of equal ranges, as long as the first."""
    if np.array_equal(view.axis, view.across):
        return axis(theme, scaleanchor="x", constrain="domain")
    return axis(theme, _second_title(view))


def errors(view: SummaryView, theme: Theme) -> Chart:
    """The typical error of every way with its 8-in-10 range, on a log axis."""
    ways = [way for way in view.ways if way.errors is not None]
    data: list[Spec] = []
    low, high = np.inf, 0.0
    for way in ways:
        assert way.errors is not None
        near, far = np.quantile(way.errors, [0.1, 0.9])
        low, high = min(low, near), max(high, far)
        shade, _, marker = method_style(way.mechanism.key, way.mechanism.family, theme)
        data.append({
            "type": "scatter", "mode": "markers", "x": [way.typical], "y": [way.label],
            "error_x": {"type": "data", "symmetric": False, "array": [far - way.typical],
                        "arrayminus": [way.typical - near], "color": shade, "thickness": 2,
                        "width": 5}, "marker": {"size": 11, "color": shade, "symbol": marker}})
    if view.floor:
        low = min(low, view.floor)
        data.append({"type": "scatter", "mode": "lines", "x": [view.floor] * 2, "hoverinfo": "skip",
                     "y": [ways[0].label, ways[-1].label],
                     "line": {"dash": "6px,4px", "width": 2, "color": colour("without", theme)}})
    own = unit_of(view)
    unit = f"{own}, " if own else ""
    spec = {"data": data, "layout": layout(
        theme, hovermode="closest",
        xaxis=log_axis(theme, f"Typical error ({unit}log scale)", float(low), float(high),
                       grid=True, room=0.05),
        yaxis=axis(theme, autorange="reversed", type="category"))}
    said = "; ".join(f"{way.label} {with_unit(number(way.typical), own)}"
                     for way in ways)
    return Chart(spec, f"Typical errors: {said}.", {
        "way": [way.label for way in ways], "typical error": [_three(w.typical) for w in ways],
        "1 in 10 below": [_three(float(np.quantile(w.errors, .1))) for w in ways],  # type: ignore[arg-type]
        "1 in 10 above": [_three(float(np.quantile(w.errors, .9))) for w in ways]})  # type: ignore[arg-type]


def split(view: SummaryView, theme: Theme) -> Chart:
    """What the squared error of every way is made of, in shares."""
    ways = [way for way in view.ways if way.parts is not None]
    names = [way.label for way in ways]
    data = [{"type": "bar", "orientation": "h", "y": names, "name": capital(part),
             "x": [100 * float(way.parts[k]) for way in ways],  # type: ignore[index]
             "marker": pattern(colour(role, theme), shape)}
            for k, (part, (role, shape)) in enumerate(zip(PARTS, _ROLES, strict=True))]
    spec = {"data": data, "layout": layout(
        theme, legend=True, barmode="stack", hovermode="closest", bargap=0.35,
        xaxis=axis(theme, "Share of the squared error (%)", range=[0, 100]),
        yaxis=axis(theme, autorange="reversed", type="category"))}
    said = "; ".join(f"{way.label}, {100 * float(way.parts[0]):.0f} % {PARTS[0]}"  # type: ignore[index]
                     for way in ways)
    return Chart(spec, f"What the squared error of each way is made of: {said}.", {
        "way": names, **{part: [_three(100 * float(way.parts[k])) for way in ways]  # type: ignore[index]
                         for k, part in enumerate(PARTS)}})


def component(found: Components, k: int, theme: Theme) -> Chart:
    """One principal component of all releases, and of the covariance without protection."""
    x = _plain(found.axis)
    data = [_many(found.axis, found.releases[:, k], translucent(colour("functional", theme), 0.55)),
            _line("Without protection", x, found.without[k], colour("without", theme), 2.2,
                  "6px,4px")]
    spec = {"data": data, "layout": layout(theme, hovermode=False, xaxis=axis(theme, "Time"),
                                           yaxis=axis(theme, "Weight", grid=True))}
    return Chart(spec, f"Principal component {k + 1}: {len(found.releases)} possible releases.",
                 {"time": x, "release 1": _plain(found.releases[0, k]),
                  "without protection": _plain(found.without[k])})


def spectrum(found: Spectrum, theme: Theme) -> Chart:
    """Noise by coefficient for every kind of constants, beside what the filter keeps."""
    order = np.arange(1.0, len(found.filter) + 1)
    top = max(float(scales.max()) for scales in found.scales.values())
    least = 1e-4 * top
    data = [_positive(f"Noise, {kind}", order, scales, least, colour("functional", theme),
                      _DASHES[kind], 2.6 if kind == found.chosen else 1.6)
            for kind, scales in found.scales.items()]
    if np.ptp(found.filter) > 0:
        data.append(_positive("Kept by the filter (rescaled)", order, top * found.filter, least,
                              colour("without", theme), "12px,3px,2px,3px", 1.8))
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode=False,
        xaxis=log_axis(theme, "Coefficient (log scale)", 1, float(len(order))),
        yaxis=log_axis(theme, "Standard deviation (log scale)", least, 1.3 * top, grid=True))}
    chosen = found.scales[found.chosen]
    return Chart(spec, f"Noise in {len(order)} coefficients, from {number(float(chosen[0]))} in "
                       f"the first to {number(float(chosen[-1]))} in the last, and how much of "
                       "each the filter keeps.", {
        "coefficient": order.tolist(), "filter": _plain(found.filter),
        **{f"noise, {kind}": _plain(scales) for kind, scales in found.scales.items()}})


def by_grid(found: GridSweep, theme: Theme) -> Chart:
    """The sensitivity against the number of grid points, on log axes."""
    shade = colour("functional" if found.is_finite else "bias", theme)
    data = [{"type": "scatter", "mode": "lines+markers", "x": list(found.sizes),
             "y": _plain(found.sensitivity), "name": "Sensitivity",
             "line": {"width": 2.2, "color": shade}, "marker": {"size": 8}}]
    low, high = float(found.sensitivity.min()), float(found.sensitivity.max())
    spec = {"data": data, "layout": layout(
        theme, hovermode="closest",
        xaxis=log_axis(theme, "Grid points on each axis (log scale)", found.sizes[0],
                       found.sizes[-1], room=0.04),
        yaxis=log_axis(theme, "Sensitivity (log scale)", low / 1.5, high * 1.5, grid=True))}
    return Chart(spec, f"Sensitivity from {found.sizes[0]} to {found.sizes[-1]} grid points: "
                 f"{number(low)} to {number(high)}.",
                 {"grid points": list(found.sizes), "sensitivity": _plain(found.sensitivity),
                  "trace": _plain(found.trace)})


def worst(found: WorstPair, facts: PublicFacts, theme: Theme) -> Chart:
    """The two curves whose exchange shows most."""
    x = _plain(found.times)
    data = [_line("One curve", x, facts.value_middle + found.curve, colour("functional", theme),
                  2.0),
            _line("The other", x, facts.value_middle - found.curve, colour("bias", theme), 2.0,
                  "6px,3px")]
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode=False, xaxis=axis(theme, facts.time_name),
        yaxis=axis(theme, facts.value_name, grid=True))}
    return Chart(spec, f"The exchange that shows most costs ε = {number(found.epsilon)}.",
                 {facts.time_name: x, "one curve": _plain(facts.value_middle + found.curve),
                  "the other": _plain(facts.value_middle - found.curve)})


def axis_title(view: SummaryView) -> str:
    facts = view.facts
    if view.task in (DENSITY.key, RISK_MINIMISATION.key) and facts.covariates:
        return _column_title(facts.covariates[0])
    return facts.time_name + (f" ({facts.time_unit})" if facts.time_unit else "")


def _second_title(view: SummaryView) -> str:
    return _column_title(view.facts.covariates[-1])


def _column_title(stated: Covariate) -> str:
    name = shortened(stated.name)
    return f"{name} ({stated.unit})" if stated.unit else name


def value_title(view: SummaryView) -> str:
    if view.task == DENSITY.key:
        return "Density (1: spread evenly)"
    unit = f" ({view.facts.value_unit})" if view.facts.value_unit else ""
    return f"{view.facts.value_name}{unit}"


def _span(view: SummaryView, k: int) -> list[float]:
    """One height for all ways: that of the curves, with room for the middle half of releases."""
    lines = [view.without[k]] + ([] if view.truth is None else [view.truth[k]])
    low, high = (float(f([f(line) for line in lines])) for f in (np.min, np.max))
    half = max(high - low, 1e-9)
    known = [way.releases[:, k] for way in view.ways if way.releases is not None]
    if known:
        best = min(known, key=np.ptp)
        low = min(low, max(float(np.quantile(best, 0.005)), low - 2 * half))
        high = max(high, min(float(np.quantile(best, 0.995)), high + 2 * half))
    room = 0.35 * (high - low)
    return [low - room, high + room]


def _heights(view: SummaryView) -> tuple[float, float]:
    lines: Sequence[Array] = [view.without] + ([] if view.truth is None else [view.truth])
    return (min(0.0, min(float(line.min()) for line in lines)),
            max(float(line.max()) for line in lines))


def _line(name: str, x: list[float], y: Array, shade: str, width: float, dash: str = "solid"
          ) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": x, "y": _plain(y), "name": name,
            "line": {"width": width, "color": shade, "dash": dash}}


def _positive(name: str, x: Array, y: Array, least: float, shade: str, dash: str, width: float
              ) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": x.tolist(), "name": name,
            "y": [float(f"{v:.4g}") if v > least else None for v in y],
            "line": {"width": width, "color": shade, "dash": dash}}


def _many(times: Array, releases: Array, shade: str) -> Spec:
    """All releases as one broken line, which is drawn much faster than many."""
    x: list[float | None] = []
    y: list[float | None] = []
    axis_values = _plain(times)
    for release in releases:
        x += [*axis_values, None]
        y += [*_plain(release), None]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": "Possible releases",
            "line": {"width": 1.0, "color": shade}}


def _plain(values: Array) -> list[float]:
    return [_three(v, 5) for v in np.asarray(values).tolist()]  # Python floats format quicker


def _three(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else math.nan
