"""Coefficient functions with their releases, and what each of them errs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.figures.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    log_axis,
    method_style,
    time_axis,
    translucent,
)
from engine.types import Array, PublicFacts
from engine.views.coefficients import CoefficientView, CostOfCovariates
from engine.words.numbers import number, with_unit

_LINES = {"truth": ("True", 1.6, "solid"), "without": ("Without protection", 2.2, "6px,4px")}
_DASHES = ("solid", "8px,3px", "2px,3px", "12px,3px,2px,3px")
_MARKERS = ("circle", "diamond-open", "triangle-up-open", "square-open", "cross", "x",
            "star-open", "hexagon-open", "triangle-down-open")


def panel(view: CoefficientView, k: int, facts: PublicFacts, theme: Theme, one: bool = False
          ) -> Chart:
    """One function: possible releases, or one with its band, over the curve without protection.

    Effects have a line at zero; all are in response units.
    """
    x = view.times.round(4).tolist()
    data = _one_release(view, k, x, theme) if one else _releases(view, k, x, theme)
    data.append(_line("without", x, view.without[k], theme))
    if view.truth is not None:
        data.append(_line("truth", x, view.truth[k], theme))
    unit = f" ({facts.value_unit})" if facts.value_unit else ""
    what = facts.value_name if k == 0 else "Added"
    spec = {"data": data, "layout": layout(
        theme, hovermode=False, legend=False,
        xaxis=time_axis(theme, facts),
        yaxis=axis(theme, f"{what}{unit}", grid=True, range=_span(view, k),
                   zeroline=k > 0, zerolinecolor=colour("raw", theme)))}
    typical = with_unit(number(float(view.typical[k])), facts.value_unit)
    name = f"Effect of {view.names[k]}" if k else "Average curve"
    return Chart(spec, f"{name}: {len(view.releases)} possible releases, typically "
                 f"{typical} from the {'true' if view.truth is not None else 'unprotected'} "
                 "function.", _columns(view, k, facts))


def _columns(view: CoefficientView, k: int, facts: PublicFacts) -> dict[str, list[float]]:
    columns = {facts.time_name: view.times, "without protection": view.without[k],
               "release 1": view.releases[0, k]}
    if view.low is not None and view.high is not None:
        columns |= {"plausible from": view.low[0, k], "plausible to": view.high[0, k]}
    if view.truth is not None:
        columns["true"] = view.truth[k]
    return {name: [float(f"{v:.5g}") for v in values] for name, values in columns.items()}


def _releases(view: CoefficientView, k: int, x: list[float], theme: Theme) -> list[Spec]:
    """All releases as one broken line, which is drawn much faster than many."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for release in view.releases[:, k]:
        xs += [*x, None]
        ys += [*release.round(5).tolist(), None]
    return [{"type": "scatter", "mode": "lines", "x": xs, "y": ys, "name": "Possible releases",
             "line": {"width": 1.1, "color": translucent(colour("gradient", theme), 0.6)}}]


def _one_release(view: CoefficientView, k: int, x: list[float], theme: Theme) -> list[Spec]:
    shade = colour("gradient", theme)
    data: list[Spec] = []
    if view.low is not None and view.high is not None:
        low, high = view.low[0, k].round(5).tolist(), view.high[0, k].round(5).tolist()
        data.append({"type": "scatter", "x": x + x[::-1], "y": high + low[::-1], "fill": "toself",
                     "fillcolor": translucent(shade, 0.2), "mode": "lines", "line": {"width": 0},
                     "name": "Plausible range"})
    return [*data, {"type": "scatter", "mode": "lines", "x": x,
                    "y": view.releases[0, k].round(5).tolist(), "name": "One release",
                    "line": {"width": 2.6, "color": shade}}]


def _line(role: str, x: list[float], y: Array, theme: Theme) -> Spec:
    name, width, dash = _LINES[role]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y.round(5).tolist(), "name": name,
            "line": {"width": width, "dash": dash, "color": colour(role, theme)}}


def _span(view: CoefficientView, k: int) -> list[float]:
    """Effects share one height, so that they can be compared; the average has its own."""
    shown = view.releases[:, :1] if k == 0 else view.releases[:, 1:]
    lines = [shown, view.without[:1] if k == 0 else view.without[1:]]
    low, high = (float(f([f(line) for line in lines])) for f in (np.min, np.max))
    if k:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.06 * (high - low or 1.0)
    return [low - room, high + room]


def errors(view: CoefficientView, facts: PublicFacts, theme: Theme) -> Chart:
    """The typical error of every function with its 8-in-10 range, and without protection."""
    low, high = np.quantile(view.errors, [0.1, 0.9], axis=1)
    shade, names = colour("gradient", theme), ["Average curve", *view.names[1:]]
    x = view.typical
    data: list[Spec] = [{
        "type": "scatter", "mode": "markers", "x": x.tolist(), "y": names, "name": "This method",
        "error_x": {"type": "data", "symmetric": False, "array": (high - x).tolist(),
                    "arrayminus": (x - low).tolist(), "color": shade, "thickness": 2, "width": 5},
        "marker": {"size": 11, "color": shade}}]
    if view.floor is not None:
        data.append({"type": "scatter", "mode": "markers", "x": view.floor.tolist(), "y": names,
                     "name": "No protection", "marker": {
                         "size": 11, "symbol": "line-ns-open",
                         "color": colour("without", theme), "line": {"width": 2.6}}})
    unit = f" ({facts.value_unit})" if facts.value_unit else ""
    spec = {"data": data, "layout": layout(
        theme, legend=view.floor is not None, hovermode="closest",
        xaxis=axis(theme, f"Typical error{unit}", grid=True, rangemode="tozero"),
        yaxis=axis(theme, autorange="reversed"))}
    said = "; ".join(f"{name} {with_unit(number(float(e)), facts.value_unit)}"
                     for name, e in zip(names, x, strict=True))
    table: dict[str, list[object]] = {
        "function": list(names), "typical error": _rounded(x), "1 in 10 below": _rounded(low),
        "1 in 10 above": _rounded(high)}
    if view.floor is not None:
        table["without protection"] = _rounded(view.floor)
    return Chart(spec, f"Typical errors: {said}.", table)


def over_budgets(epsilons: Sequence[float], by_function: Array, names: Sequence[str], here: float,
                 facts: PublicFacts, theme: Theme) -> Chart:
    """The typical error of every function (epsilons, K) against ε, on log axes."""
    shown = ["Average curve", *names[1:]]
    data: list[Spec] = [{
        "type": "scatter", "mode": "lines+markers", "x": list(epsilons), "name": name,
        "y": _gaps(by_function[:, k]),
        "line": {"width": 2, "dash": _DASHES[k % len(_DASHES)],
                 "color": colour("gradient", theme)},
        "marker": {"size": 7, "symbol": _MARKERS[k % len(_MARKERS)]}}
        for k, name in enumerate(shown)]
    known = by_function[np.isfinite(by_function)]
    low, high = (known.min() * 0.85, known.max() * 1.15) if len(known) else (0.1, 1.0)
    data.append({"type": "scatter", "mode": "lines", "x": [here, here], "y": [low, high],
                 "name": "You are here", "hoverinfo": "skip",
                 "line": {"dash": "dot", "width": 1.6, "color": colour("raw", theme)}})
    unit = f"{facts.value_unit}, " if facts.value_unit else ""
    spec = {"data": data, "layout": layout(
        theme, legend=True,
        xaxis=log_axis(theme, "Protection ε (log scale)", epsilons[0] * .93, epsilons[-1] * 1.07),
        yaxis=log_axis(theme, f"Typical error ({unit}log scale)", low, high, grid=True))}
    table: dict[str, list[object]] = {"ε": list(epsilons)}
    table |= {name: _rounded(by_function[:, k]) for k, name in enumerate(shown)}
    return Chart(spec, _over_budgets_alt(epsilons, by_function, shown, facts.value_unit), table)


def _over_budgets_alt(epsilons: Sequence[float], by_function: Array, names: Sequence[str],
                      unit: str) -> str:
    """From the first to the last ε at which anything is published."""
    said = []
    for name, errors in zip(names, by_function.T, strict=True):
        known = np.flatnonzero(np.isfinite(errors))
        if len(known):
            ends = [with_unit(number(float(errors[k])), unit) for k in (known[0], known[-1])]
            said.append(f"{name}, {ends[0]} at ε = {epsilons[known[0]]:g} to {ends[1]} at "
                        f"ε = {epsilons[known[-1]]:g}")
    if not said:
        return f"At no ε from {epsilons[0]:g} to {epsilons[-1]:g} would anything be published."
    return f"Typical errors: {'; '.join(said)}."


def cost(found: CostOfCovariates, key: str, family: str, facts: PublicFacts, theme: Theme) -> Chart:
    """Total typical error against the number of covariates, with and without protection."""
    shade, dash, marker = method_style(key, family, theme)
    counts = list(found.counts)
    data: list[Spec] = [
        {"type": "scatter", "mode": "lines+markers", "x": counts, "y": _gaps(found.private),
         "name": "This method", "line": {"width": 2, "dash": dash, "color": shade},
         "marker": {"size": 9, "symbol": marker}},
        {"type": "scatter", "mode": "lines+markers", "x": counts, "y": _gaps(found.without),
         "name": "No protection", "marker": {"size": 5, "color": colour("without", theme)},
         "line": {"width": 2.2, "dash": "6px,4px", "color": colour("without", theme)}}]
    if found.here in counts and np.isfinite(found.private[counts.index(found.here)]):
        data.append({"type": "scatter", "mode": "markers", "x": [found.here], "showlegend": False,
                     "y": [float(found.private[counts.index(found.here)])], "hoverinfo": "skip",
                     "marker": {"symbol": "diamond", "size": 15, "color": colour("page", theme),
                                "line": {"color": colour("text", theme), "width": 2.4}}})
    unit = f" ({facts.value_unit})" if facts.value_unit else ""
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=axis(theme, "Covariates (d)", dtick=1),
        yaxis=axis(theme, f"Total typical error{unit}", grid=True, rangemode="tozero"))}
    ends = [with_unit(number(float(found.private[k])), facts.value_unit)
            if np.isfinite(found.private[k]) else "nothing published" for k in (0, -1)]
    return Chart(spec, f"Total typical error for d = {counts[0]}: {ends[0]}; for "
                 f"d = {counts[-1]}: {ends[1]}.", {
                     "covariates": list(counts), "total error": _rounded(found.private),
                     "without protection": _rounded(found.without)})


def _gaps(values: Array) -> list[float | None]:
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in values]


def _rounded(values: Array) -> list[object]:
    return list(_gaps(values))
