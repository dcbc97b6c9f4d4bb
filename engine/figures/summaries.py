"""Whole functions, published in several ways: small multiples, errors, and shapes of noise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from engine.figures import traces
from engine.figures.cards import pattern
from engine.figures.traces import UNPROTECTED, plain
from engine.language.grammar import capital
from engine.language.numbers import number, with_unit
from engine.sources.table_words import shortened
from engine.tasks import DENSITY, TASKS, DataType
from engine.theme import (
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
from engine.types import Array, Covariate, PublicFacts
from engine.views.feasible_smoothness import GridSweep
from engine.views.summaries import Components, Spectrum, SummaryView, Way, WorstPair
from engine.words.summaries import PARTS, unit_of

_ROLES = (("functional", ""), ("without", "/"), ("bias", "x"))
_DASHES = {"tight": "solid", "published": "6px,4px", "optimal": "2px,3px"}


def panel(view: SummaryView, way: Way, k: int, theme: Theme) -> Chart:
    """Possible releases of one function over the estimate without protection."""
    assert way.releases is not None
    shade = method_style(way.mechanism.key, way.mechanism.family, theme)[0]
    x = plain(view.axis)
    data = [_many(x, way.releases[:, k], shade), _unprotected(x, view.without[k], theme)]
    table = {axis_title(view): x, "without protection": plain(view.without[k]),
             "release 1": plain(way.releases[0, k])}
    if view.truth is not None:
        table["true"] = plain(view.truth[k])
        data.append(traces.line("True", x, table["true"], colour("truth", theme), 1.6))
    spec = {"data": data, "layout": layout(
        theme, hovermode=False, xaxis=axis(theme, axis_title(view)),
        yaxis=axis(theme, value_title(view), grid=True, range=_span(view, k)))}
    return Chart(spec, f"{way.label}: {len(way.releases)} possible releases, typically "
                 f"{number(way.error)} off.", table)


def surface(view: SummaryView, values: Array, title: str, theme: Theme) -> Chart:
    """A function of two numbers as a heat map; all of one page share their colours."""
    x, y = plain(view.axis), plain(view.across)
    heat = {"type": "heatmap", "x": x, "y": y, "z": [plain(row, 4) for row in values.T],
            "hoverinfo": "skip", "zsmooth": "best", **_colours(view, theme),
            "colorbar": {"thickness": 10, "tickfont": {"size": 12}, "outlinewidth": 0}}
    spec = {"data": [heat], "layout": layout(
        theme, hovermode=False, xaxis=axis(theme, axis_title(view), constrain="domain"),
        yaxis=_second_axis(view, theme))}
    return Chart(spec, f"{title}: heights from {number(float(values.min()))} to "
                 f"{number(float(values.max()))}.",
                 {axis_title(view): x, **({} if x == y else {_second_title(view): y}),
                  "along the diagonal": plain(np.diagonal(values))})


def _colours(view: SummaryView, theme: Theme) -> Spec:
    """From 0 up, or where there are heights below it, from the middle to both sides alike."""
    low, high = _heights(view)
    low_end, none, high_end = (colour(role, theme) for role in ("bias", "page", "functional"))
    if low >= 0:
        return {"zmin": 0.0, "zmax": high, "colorscale": [[0, none], [1, high_end]]}
    edge = max(-low, high)
    return {"zmin": -edge, "zmax": edge,
            "colorscale": [[0, low_end], [0.5, none], [1, high_end]]}


def _second_axis(view: SummaryView, theme: Theme) -> Spec:
    """That of the second number; of two times, or of equal ranges, as long as the first."""
    if np.array_equal(view.axis, view.across):
        return axis(theme, scaleanchor="x", constrain="domain")
    return axis(theme, _second_title(view))


def errors(view: SummaryView, theme: Theme) -> Chart:
    """The error of every way with its 8-in-10 range, on a log axis."""
    ways = [way for way in view.ways if way.errors is not None]
    ranges = [np.quantile(way.errors, [0.1, 0.9]).tolist() for way in view.ways
              if way.errors is not None]
    labels, ends = [way.label for way in ways], list(chain(*ranges))
    data = [_range(way, near, far, theme) for way, (near, far) in zip(ways, ranges, strict=True)]
    if view.baseline:
        ends.append(view.baseline)
        data.append(traces.line("No protection", [view.baseline] * 2, [labels[0], labels[-1]],
                                colour("without", theme), 2, UNPROTECTED, hoverinfo="skip"))
    own = unit_of(view)
    unit = f"{own}, " if own else ""
    spec = {"data": data, "layout": layout(
        theme, hovermode="closest",
        xaxis=log_axis(theme, f"Error ({unit}log scale)", min(ends, default=0.1),
                       max(ends, default=1.0), grid=True, room=0.05),
        yaxis=axis(theme, autorange="reversed", type="category"))}
    said = "; ".join(f"{way.label} {with_unit(number(way.error), own)}" for way in ways)
    return Chart(spec, f"Errors: {said}.", {
        "way": labels, "error": plain([way.error for way in ways], 4),
        "1 in 10 below": plain([near for near, _ in ranges], 4),
        "1 in 10 above": plain([far for _, far in ranges], 4)})


def _range(way: Way, near: float, far: float, theme: Theme) -> Spec:
    shade, _, marker = method_style(way.mechanism.key, way.mechanism.family, theme)
    return traces.points(
        way.label, [way.error], [way.label], {"size": 11, "color": shade, "symbol": marker},
        error_x=traces.off_by([far - way.error], [way.error - near], shade, 2, 5))


def split(view: SummaryView, theme: Theme) -> Chart:
    """What the squared error of every way is made of, in shares."""
    parts = {way.label: way.parts for way in view.ways if way.parts is not None}
    names = [*parts]
    data = [{"type": "bar", "orientation": "h", "y": names, "name": capital(part),
             "x": [100 * float(shares[k]) for shares in parts.values()],
             "marker": pattern(colour(role, theme), shape)}
            for k, (part, (role, shape)) in enumerate(zip(PARTS, _ROLES, strict=True))]
    spec = {"data": data, "layout": layout(
        theme, legend=True, barmode="stack", hovermode="closest", bargap=0.35,
        xaxis=axis(theme, "Share of the squared error (%)", range=[0, 100]),
        yaxis=axis(theme, autorange="reversed", type="category"))}
    said = "; ".join(f"{name}, {100 * float(shares[0]):.0f} % {PARTS[0]}"
                     for name, shares in parts.items())
    return Chart(spec, f"What the squared error of each way is made of: {said}.", {
        "way": names, **{part: plain([100 * shares[k] for shares in parts.values()], 4)
                         for k, part in enumerate(PARTS)}})


def component(found: Components, k: int, theme: Theme) -> Chart:
    """One principal component of all releases, and of the covariance without protection."""
    x = plain(found.axis)
    data = [_many(x, found.releases[:, k], colour("functional", theme)),
            _unprotected(x, found.without[k], theme)]
    spec = {"data": data, "layout": layout(theme, hovermode=False, xaxis=axis(theme, "Time"),
                                           yaxis=axis(theme, "Weight", grid=True))}
    return Chart(spec, f"Principal component {k + 1}: {len(found.releases)} possible releases.",
                 {"time": x, "release 1": plain(found.releases[0, k]),
                  "without protection": plain(found.without[k])})


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
        "coefficient": order.tolist(), "filter": plain(found.filter),
        **{f"noise, {kind}": plain(scales) for kind, scales in found.scales.items()}})


def by_grid(found: GridSweep, theme: Theme) -> Chart:
    """The sensitivity against the number of grid points, on log axes."""
    shade = colour("functional" if found.is_finite else "bias", theme)
    data = [traces.line_with_points("Sensitivity", found.sizes, plain(found.sensitivity), shade,
                                    2.2, "solid", {"size": 8})]
    low, high = float(found.sensitivity.min()), float(found.sensitivity.max())
    spec = {"data": data, "layout": layout(
        theme, hovermode="closest",
        xaxis=log_axis(theme, "Grid points on each axis (log scale)", found.sizes[0],
                       found.sizes[-1], room=0.04),
        yaxis=log_axis(theme, "Sensitivity (log scale)", low / 1.5, high * 1.5, grid=True))}
    return Chart(spec, f"Sensitivity from {found.sizes[0]} to {found.sizes[-1]} grid points: "
                 f"{number(low)} to {number(high)}.",
                 {"grid points": list(found.sizes), "sensitivity": plain(found.sensitivity),
                  "trace": plain(found.trace)})


def worst(found: WorstPair, facts: PublicFacts, theme: Theme) -> Chart:
    """The two curves whose exchange shows most."""
    x = plain(found.times)
    one, other = (plain(facts.value_middle + sign * found.curve) for sign in (1, -1))
    data = [traces.line("One curve", x, one, colour("functional", theme)),
            traces.line("The other", x, other, colour("bias", theme), dash="6px,3px")]
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode=False, xaxis=axis(theme, facts.time_name),
        yaxis=axis(theme, facts.value_name, grid=True))}
    return Chart(spec, f"The exchange that shows most costs ε = {number(found.epsilon)}.",
                 {facts.time_name: x, "one curve": one, "the other": other})


def axis_title(view: SummaryView) -> str:
    facts = view.facts
    if TASKS[view.task].data is DataType.RECORDS and facts.covariates:
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


def _unprotected(x: list[float], y: Array, theme: Theme) -> Spec:
    return traces.line("Without protection", x, plain(y), colour("without", theme), 2.2,
                       UNPROTECTED)


def _positive(name: str, x: Array, y: Array, least: float, shade: str, dash: str, width: float
              ) -> Spec:
    """A line with a gap where it falls below what is shown."""
    shown = np.where(y > least, y, np.nan)
    return traces.line(name, x.tolist(), plain(shown, 4), shade, width, dash)


def _many(x: list[float], releases: Array, shade: str) -> Spec:
    xs, ys = traces.joined(x, [plain(release) for release in releases])
    return traces.line("Possible releases", xs, ys, translucent(shade, 0.55), 1.0)
