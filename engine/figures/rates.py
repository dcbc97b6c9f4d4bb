"""Rates as pictures: curves of a rate, the map of its regimes, and measured errors on top."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.figures import traces
from engine.figures.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    log_axis,
    regime_colours,
)
from engine.figures.traces import DASHES, plain
from engine.rates import Rate, Symbol
from engine.types import Array
from engine.views.regimes import (
    Comparison,
    Measured,
    RegimeMap,
    Weighted,
    axis_values,
    border,
    moved,
    regime_map,
)
from engine.words.grammar import capital
from engine.words.numbers import number

QUANTITY = "Rate (constants dropped, log scale)"
SMOOTHNESS = "smoothness"
_CELLS = 220  # of a map on screen, each way; the regimes are smooth
_POINTS = 120


def regimes(weighted: Weighted, along: str, across: str, point: Mapping[str, float],
            theme: Theme) -> Chart:
    """The map of ruling terms with its named regions, the phase boundaries and "you are here".

    Boundaries are drawn where they separate regimes, and only with all constants one: fitted
    constants move them.
    """
    found = regime_map(weighted, along, across, point, _CELLS)
    terms = weighted.rate.terms
    private = [term.is_private for term in terms]
    data = [_heat(found, [term.name for term in terms], regime_colours(private, theme))]
    if (weighted.weights == 1).all():
        data += _borders(weighted.rate, found, point, theme)
    data.append(traces.diamond(point[along], point[across], theme))
    spec = {"data": data, "layout": layout(
        theme, hovermode="closest", annotations=_names(found, [t.name for t in terms], theme),
        xaxis=_axis_of(theme, _symbol(weighted.rate, along), found.x),
        yaxis=_axis_of(theme, _symbol(weighted.rate, across), found.y))}
    ruling = terms[int(weighted.dominant(**point))].name
    shares = {term.name: float((found.regimes == k).mean()) for k, term in enumerate(terms)}
    return Chart(spec, f"Map of what limits the error: here it is “{ruling.lower()}”. "
                 + "; ".join(f"{name} rules {100 * share:.0f} % of the map"
                             for name, share in shares.items() if share) + ".",
                 {"term": list(shares), "share of the map": [round(s, 3) for s in shares.values()]})


def curves(lines: Mapping[str, Weighted], along: str, point: Mapping[str, float], theme: Theme
           ) -> Chart:
    """Rates for several notions of privacy together, and where we are on them.

    `along` is a symbol of the rate, or "smoothness" for a rate that has one.
    """
    rate: Any = next(iter(lines.values())).rate
    if along == SMOOTHNESS:
        here, label, x = rate.smoothness, "Smoothness α", np.linspace(1.0, 8.0, 57)
        values = {name: _over_smoothness(line, x, point) for name, line in lines.items()}
        axis_of_x = axis(theme, label, range=[1.0, 8.0])
    else:
        symbol = _symbol(rate, along)
        here, label = point[along], f"{symbol.label} {symbol.written}"
        x = axis_values(rate, along, point, _POINTS)
        values = {name: line.total(**moved(point, **{along: x})) for name, line in lines.items()}
        axis_of_x = _axis_of(theme, symbol, x)
    heights = np.concatenate(list(values.values()))
    low, high = float(heights.min()), float(heights.max())
    data = [_rate(k, name, x, y, theme) for k, (name, y) in enumerate(values.items())]
    data.append(traces.upright(here, low, high, theme))
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=axis_of_x, yaxis=log_axis(theme, QUANTITY, low, high, room=0.06))}
    alt = "; ".join(f"{name}: {number(float(y[0]))} to {number(float(y[-1]))}"
                    for name, y in values.items())
    return Chart(spec, f"Rate against {label.lower()}. {alt}.",
                 {label: plain(x[::10], 4),
                  **{name: plain(y[::10], 4) for name, y in values.items()}})


def _rate(k: int, name: str, x: Array, y: Array, theme: Theme) -> Spec:
    """The k-th notion of privacy: one colour for all that protect, and the first one stronger."""
    shade = colour("without" if name == "no privacy" else "gradient", theme)
    return traces.line(capital(name), x.tolist(), y.tolist(), shade, 2.2 if k else 2.8,
                       DASHES[k % len(DASHES)], hovertemplate="%{y:.3g}")


def _over_smoothness(line: Weighted, x: Array, point: Mapping[str, float]) -> Array:
    """The rate at every smoothness, with its constants."""
    def at(smoothness: float) -> Rate:
        changed: dict[str, Any] = {"smoothness": smoothness}
        return replace(line.rate, **changed)

    return np.array([float(replace(line, rate=at(float(a))).total(**point)) for a in x])


def practice(points: Sequence[Measured], compared: Comparison | None, weighted: Weighted,
             along: str, point: Mapping[str, float], unit: str, theme: Theme) -> Chart:
    """Measured squared errors with two standard errors, and the rate through them."""
    known = [p for p in points if math.isfinite(p.mean)]
    symbol = _symbol(weighted.rate, along)
    x, mean = np.array([p.value for p in known]), np.array([p.mean for p in known])
    bar = 2 * np.array([p.se for p in known])
    data = [_measured(x, mean, bar, unit, theme)]
    heights = [mean, mean + bar, np.maximum(mean - bar, mean / 3)]
    if compared is not None:
        at = np.geomspace(x.min(), x.max(), 60)
        rate = compared.constant * weighted.total(**moved(point, **{along: at}))
        fitted = _fitted(at, compared.slope, x, mean)
        data += [_through(at, fitted, "Fitted line", "solid", "gradient", theme),
                 _through(at, rate, "Rate, one constant fitted", "dot", "without", theme)]
        heights += [rate, fitted]
    every = np.concatenate(heights)
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.1, 1.0)
    quantity = f"Mean squared error ({unit}², log scale)" if unit else \
        "Mean squared error (log scale)"
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=_axis_of(theme, symbol, x if len(x) else np.ones(1), 0.06),
        yaxis=log_axis(theme, quantity, low, high, room=0.06))}
    alt = f"{len(known)} measured errors" + (
        f", with slope {compared.slope:.2f} against {compared.theory:.2f} of the rate."
        if compared else ".")
    return Chart(spec, alt, {symbol.written: x.tolist(), "mean squared error": plain(mean, 4),
                             "standard error": plain(bar / 2, 3)})


def _measured(x: Array, mean: Array, bar: Array, unit: str, theme: Theme) -> Spec:
    shade = colour("gradient", theme)
    return traces.points(
        "Measured (± 2 standard errors)", x.tolist(), mean.tolist(), {"size": 9, "color": shade},
        error_y={"type": "data", "array": bar.tolist(), "visible": True, "color": shade},
        hovertemplate=f"%{{y:.3g}} {unit}²" if unit else "%{y:.3g}")


def _fitted(at: Array, slope: float, x: Array, mean: Array) -> Array:
    """The straight line of this slope, on log axes, through the middle of what was measured."""
    line = mean[0] * (at / x[0]) ** slope
    return np.asarray(line * np.exp(np.mean(np.log(mean) - np.log(np.interp(x, at, line)))))


# -- parts ------------------------------------------------------------------------------------


def _heat(found: RegimeMap, names: list[str], colours: list[str]) -> Spec:
    """One cell colour per term, without blending."""
    last = max(len(names) - 1, 1)
    scale: list[list[object]] = []
    for k, shade in enumerate(colours):
        scale += [[k / len(colours), shade], [(k + 1) / len(colours), shade]]
    return {"type": "heatmap", "x": plain(found.x), "y": plain(found.y),
            "z": found.regimes.tolist(), "zmin": -0.5, "zmax": last + 0.5 if len(names) > 1 else 1,
            "colorscale": scale, "showscale": False, "hoverinfo": "skip", "zsmooth": False}


def _borders(rate: Rate, found: RegimeMap, point: Mapping[str, float], theme: Theme) -> list[Spec]:
    lines = []
    x = np.geomspace(found.x[0], found.x[-1], 400)
    for boundary in rate.boundaries:
        y = border(rate, boundary, found.along, found.across, x, point)
        shown = np.where((y >= found.y[0]) & (y <= found.y[-1]), y, np.nan)
        if np.isfinite(shown).any():
            lines.append({
                "type": "scatter", "mode": "lines+text", "x": plain(x),
                "y": [None if math.isnan(v) else float(v) for v in shown],
                "text": _once(boundary.key if len(boundary.key) == 1 else "", shown),
                "textposition": "top center",
                "textfont": {"size": 14, "color": colour("text", theme)}, "hoverinfo": "skip",
                "showlegend": False, "name": boundary.key,
                "line": {"color": colour("text", theme), "width": 1.6, "dash": "6px,4px"}})
    return lines


def _once(text: str, shown: Array) -> list[str]:
    """The letter of a boundary in the middle of what is seen of it."""
    seen = np.flatnonzero(np.isfinite(shown))
    middle = seen[len(seen) // 2]
    return [text if k == middle else "" for k in range(len(shown))]


def _names(found: RegimeMap, names: list[str], theme: Theme) -> list[Spec]:
    """The name of every regime in the middle of its region, if the region is large enough."""
    notes = []
    for k, name in enumerate(names):
        rows, columns = np.nonzero(found.regimes == k)
        if len(rows) < 0.02 * found.regimes.size:
            continue
        row = int(np.median(rows))
        inside = columns[rows == row]
        column = int(np.median(inside)) if len(inside) else int(np.median(columns))
        notes.append({"x": math.log10(found.x[column]), "y": math.log10(found.y[row]),
                      "text": _broken(name, len(inside) / found.regimes.shape[1]),
                      "showarrow": False, "font": {"size": 14, "color": colour("text", theme)}})
    return notes


def _broken(name: str, width: float) -> str:
    """A name on two lines where its region is narrow."""
    words = name.split()
    if width > 0.45 or len(words) < 2:
        return name
    half = (len(words) + 1) // 2
    return f"{' '.join(words[:half])}<br>{' '.join(words[half:])}"


def _through(x: Array, y: Array, name: str, dash: str, role: str, theme: Theme) -> Spec:
    return traces.line(name, x.tolist(), y.tolist(), colour(role, theme), 2, dash,
                       hoverinfo="skip")


def _symbol(rate: Rate, name: str) -> Symbol:
    return next(symbol for symbol in rate.symbols if symbol.name == name)


def _axis_of(theme: Theme, symbol: Symbol, values: Array, room: float = 0.0) -> Spec:
    return log_axis(theme, f"{symbol.label} {symbol.written} (log scale)", float(values.min()),
                    float(values.max()), room=room)
