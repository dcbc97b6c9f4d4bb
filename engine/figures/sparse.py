"""Sparse coefficients: releases beside the truth, errors over budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from engine.types import Array
from engine.views.sparse import Lines, SparseView, largest
from engine.views.sparse_intervals import IntervalView, Machines
from engine.words.wording import number

_MOST_SHOWN, _MOST_INTERVALS = 25, 60
_DASHES = ("solid", "8px,3px", "2px,3px", "12px,3px,2px,3px")
_MARKERS = ("circle", "diamond-open", "triangle-up-open", "square-open")


def coefficients(view: SparseView, theme: Theme, difference: bool = False) -> Chart:
    """Every feature that matters or is ever chosen: all releases, the truth, without protection.

    As a difference, the target is taken off everything but features that were not chosen.
    """
    shown = _shown(view)
    zero = view.target[shown] if difference else np.zeros(len(shown))
    names = _labels(view, shown)
    dots = view.releases[:, shown]
    x = [name for name in names for _ in dots]
    kept = dots.T.ravel() != 0
    y = (dots - zero).T.ravel()
    data: list[Spec] = [{
        "type": "scatter", "mode": "markers", "name": "Possible releases",
        "x": [name for name, keep in zip(x, kept, strict=True) if keep],
        "y": _plain(y[kept]), "marker": {"size": 8, "color": translucent(
            colour("sparse", theme), 0.45)}}]
    data.append(_marks("Without protection", names, view.without[shown] - zero,
                       colour("without", theme), "line-ew-open", 18))
    if view.truth is not None:
        data.append(_marks("True", names, view.truth[shown] - zero, colour("truth", theme),
                           "diamond-open", 11))
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode="closest", xaxis=axis(theme, "Feature", type="category"),
        yaxis=axis(theme, "Off the target by" if difference else "Coefficient", grid=True,
                   zeroline=True, zerolinecolor=colour("raw", theme)))}
    table = {"feature": names, "release 1": _plain(view.releases[0, shown]),
             "without protection": _plain(view.without[shown]),
             "in how many of 20": (view.releases[:, shown] != 0).sum(axis=0).tolist()}
    if view.truth is not None:
        table["true"] = _plain(view.truth[shown])
    return Chart(spec, f"Coefficients of {len(shown)} features in {len(view.releases)} possible "
                 f"releases, typically {number(view.typical)} from the target in all.", table)


def _labels(view: SparseView, shown: NDArray[np.intp]) -> list[str]:
    """The names of one's own features, with their places where they look alike; else places."""
    if view.facts.kind != "upload":
        return [f"{k + 1}" for k in shown]
    names = [shortened(view.facts.covariates[k].name, 18) for k in shown]
    return [name if names.count(name) == 1 else f"{k + 1} {name}"
            for k, name in zip(shown, names, strict=True)]


def _shown(view: SparseView) -> NDArray[np.intp]:
    """The features that matter, then those that are chosen most often."""
    chosen = (view.releases != 0).mean(axis=0)
    chosen[view.support] = 0
    others = largest(chosen, _MOST_SHOWN)
    order = view.support[np.argsort(-np.abs(view.target[view.support]), kind="stable")]
    return np.concatenate([order, others])[:_MOST_SHOWN]


def _marks(name: str, x: list[str], y: Array, shade: str, symbol: str, size: int) -> Spec:
    return {"type": "scatter", "mode": "markers", "x": x, "y": _plain(y), "name": name,
            "marker": {"symbol": symbol, "size": size, "color": shade,
                       "line": {"width": 2, "color": shade}}}


def over_budgets(lines: Lines, here: float, theme: Theme) -> Chart:
    """Typical error of every way against ε, with those without protection as level lines."""
    data: list[Spec] = []
    for k, (label, errors) in enumerate(lines.private.items()):
        shade = method_style("sparse_regression", "sparse", theme)[0]
        data.append({"type": "scatter", "mode": "lines+markers", "x": list(lines.epsilons),
                     "y": _plain(errors), "name": label,
                     "line": {"width": 2.2, "dash": _DASHES[k % 4], "color": shade},
                     "marker": {"size": 8, "symbol": _MARKERS[k % 4]}})
    for k, (label, error) in enumerate(lines.without.items()):
        data.append({"type": "scatter", "mode": "lines", "name": f"{label}, no protection",
                     "x": [lines.epsilons[0], lines.epsilons[-1]], "y": [error, error],
                     "line": {"width": 2, "dash": _DASHES[k + 1],
                              "color": colour("without", theme)}})
    every = [*np.concatenate(list(lines.private.values())), *lines.without.values()]
    low, high = min(every) * 0.8, max(every) * 1.2
    data.append({"type": "scatter", "mode": "lines", "x": [here, here], "y": [low, high],
                 "name": "You are here", "hoverinfo": "skip",
                 "line": {"dash": "dot", "width": 1.6, "color": colour("raw", theme)}})
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=log_axis(theme, "Protection ε (log scale)", lines.epsilons[0],
                                           lines.epsilons[-1], room=0.03),
        yaxis=log_axis(theme, "Typical error (log scale)", low, high, grid=True))}
    first, last = lines.epsilons[0], lines.epsilons[-1]
    said = "; ".join(f"{label}, {number(float(errors[0]))} to {number(float(errors[-1]))}"
                     for label, errors in lines.private.items())
    return Chart(spec, f"Typical error from ε = {first:g} to {last:g}: {said}.", {
        "ε": list(lines.epsilons),
        **{label: _plain(errors) for label, errors in lines.private.items()}})


def intervals(view: IntervalView, theme: Theme, difference: bool = False) -> Chart:
    """Limits around the published coefficients; those that miss the truth stand out.

    As a difference, true coefficients are taken off: limits that do not reach zero miss.
    """
    shown = _with_limits(view)
    zero = np.zeros(len(shown)) if view.truth is None or not difference else view.truth[shown]
    names = [f"{k + 1}" for k in shown]
    missed = np.zeros(len(shown), dtype=bool) if view.truth is None else (
        (view.truth[shown] < view.low[shown]) | (view.truth[shown] > view.high[shown]))
    data: list[Spec] = []
    for is_miss, name, role in ((False, "Published, with limits", "sparse"),
                                (True, "Misses the truth", "bias")):
        at = np.flatnonzero(missed == is_miss)
        if len(at):
            half = (view.high - view.low)[shown][at] / 2
            data.append({
                "type": "scatter", "mode": "markers", "x": [names[k] for k in at], "name": name,
                "y": _plain((view.centre[shown] - zero)[at]),
                "marker": {"size": 6, "color": colour(role, theme),
                           "symbol": "x" if is_miss else "circle"},
                "error_y": {"type": "data", "array": _plain(half), "color": colour(role, theme),
                            "thickness": 1.8, "width": 3}})
    if view.truth is not None and not difference:
        data.append(_marks("True", names, view.truth[shown], colour("truth", theme),
                           "diamond-open", 7))
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode="closest",
        xaxis=axis(theme, "Feature", type="category", categoryorder="array", categoryarray=names),
        yaxis=axis(theme, "Less the true coefficient" if difference else "Coefficient", grid=True,
                   zeroline=True, zerolinecolor=colour("text", theme)))}
    table: dict[str, list[Any]] = {"feature": list(names), "published": _plain(view.centre[shown]),
             "from": _plain(view.low[shown]), "to": _plain(view.high[shown])}
    if view.truth is not None:
        table["true"] = _plain(view.truth[shown])
    return Chart(spec, f"Limits of {len(shown)} coefficients, {number(view.length)} wide on "
                 "average.", table)


def _with_limits(view: IntervalView) -> NDArray[np.intp]:
    """Features with limits, at most as many as can be told apart."""
    return np.flatnonzero(np.isfinite(view.low))[:_MOST_INTERVALS]


def machines(found: Machines, theme: Theme) -> Chart:
    """Typical error on every machine by way of fitting."""
    data: list[Spec] = []
    for k, (label, errors) in enumerate(found.errors.items()):
        typical = np.median(errors, axis=0)
        data.append({"type": "scatter", "mode": "lines+markers", "name": label,
                     "x": list(range(1, len(typical) + 1)), "y": _plain(typical),
                     "line": {"width": 1.6, "dash": _DASHES[k % 4],
                              "color": colour("sparse", theme)},
                     "marker": {"size": 9, "symbol": _MARKERS[k % 4]}})
    data.append({"type": "scatter", "mode": "lines+markers", "name": "No protection, two stages",
                 "x": list(range(1, len(found.without) + 1)), "y": _plain(found.without),
                 "line": {"width": 1.6, "dash": "6px,4px", "color": colour("without", theme)},
                 "marker": {"size": 6}})
    every = np.concatenate([found.without, *(e.ravel() for e in found.errors.values())])
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode="closest", xaxis=axis(theme, "Machine", dtick=1),
        yaxis=log_axis(theme, "Typical error (log scale)", float(every.min()), float(every.max()),
                       grid=True, room=0.05))}
    said = "; ".join(f"{label}, {number(float(np.median(errors)))}"
                     for label, errors in found.errors.items())
    return Chart(spec, f"Typical error on {len(found.without)} machines, by way of fitting: "
                       f"{said}.", {
        "machine": list(range(1, len(found.without) + 1)),
        **{label: _plain(np.median(errors, axis=0)) for label, errors in found.errors.items()},
        "no protection": _plain(found.without)})


def trust(found: Mapping[str, Sequence[float]], values: Sequence[float], label: str, theme: Theme
          ) -> Chart:
    """Squared errors of a sparse mean by who is trusted, along one size or ε; both axes in logs."""
    known = [v for errors in found.values() for v in errors if np.isfinite(v) and v > 0]
    data: list[Spec] = [{
        "type": "scatter", "mode": "lines+markers", "x": list(values), "name": name,
        "y": [float(f"{v:.4g}") if np.isfinite(v) else None for v in errors],
        "line": {"width": 2.2, "dash": _DASHES[k % 4], "color": colour(
            "sparse" if k < 3 else "without", theme)},
        "marker": {"size": 8, "symbol": _MARKERS[k % 4]}}
        for k, (name, errors) in enumerate(found.items())]
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=log_axis(theme, f"{label} (log scale)", values[0], values[-1],
                                           room=0.03),
        yaxis=log_axis(theme, "Squared error (log scale)", min(known) / 1.5, max(known) * 1.5,
                       grid=True))}
    said = "; ".join(f"{name}, {number(errors[0])} to {number(errors[-1])}"
                     for name, errors in found.items()
                     if np.isfinite(errors[0]) and np.isfinite(errors[-1]))
    return Chart(spec, f"Squared error of a sparse mean while {label} goes from {values[0]:g} to "
                       f"{values[-1]:g}: {said}.",
                 {label: list(values), **{name: _plain(np.array(errors))
                                          for name, errors in found.items()}})


def _plain(values: Array) -> list[float]:
    return [float(f"{v:.5g}") for v in np.asarray(values)]
