"""Methods side by side: what protection does to the same curve, and error against risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from engine.views.shape import Kept
from engine.words.numbers import number, with_unit

_EVERY = 2  # points of the drawing grid in a small picture


@dataclass(frozen=True)
class Line:
    """What a chart knows of a method: its name, its look, and values (budgets,), NaN for none."""

    label: str
    key: str
    family: str
    variant: int
    errors: Array
    right: Array


def difference(line: Line, times: Array, differences: Array, facts: PublicFacts, edge: float,
               said: str, theme: Theme) -> Chart:
    """Possible releases (draws, points) less the average without protection, on ± `edge`."""
    shade, dash, _ = method_style(line.key, line.family, theme, line.variant)
    x, y = joined(times[::_EVERY], differences[:, ::_EVERY])
    data = [{"type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
             "line": {"width": 1.1, "color": translucent(shade, 0.85), "dash": dash}},
            {"type": "scatter", "mode": "lines", "x": [facts.time_low, facts.time_high],
             "y": [0, 0], "hoverinfo": "skip",
             "line": {"width": 2.2, "color": colour("without", theme), "dash": "6px,4px"}}]
    spec = {"data": data, "layout": layout(
        theme, hovermode=False,
        xaxis=time_axis(theme, facts),
        yaxis=axis(theme, named("Difference", facts.value_unit), grid=True, nticks=5,
                   range=[-edge, edge]))}
    low, middle, high = np.quantile(differences[:, ::_EVERY], (0.05, 0.5, 0.95), axis=0)
    table = {named(facts.time_name, facts.time_unit): times[::_EVERY].round(3).tolist(),
             **{name: part.round(3).tolist() for name, part in
                (("1 in 20 below", low), ("middle", middle), ("1 in 20 above", high))}}
    return Chart(spec, f"{line.label}, {said}: {len(differences)} possible releases less the "
                 "average without protection.", table)


def edge_of(differences: Sequence[Array], facts: PublicFacts) -> float:
    """One height for all small pictures: nearly all of every line, at most the range of values."""
    far = max((float(np.quantile(np.abs(d), 0.99)) for d in differences), default=0.0)
    return min(1.1 * far, 2 * facts.value_half_width) or 1.0


def against_risk(lines: Sequence[Line], chosen: Sequence[int], unit: str, theme: Theme,
                 most: float) -> Chart:
    """Typical errors against the chance of a right guess, which means the same for all methods.

    `chosen` are the budgets with a marker; errors beyond `most` say nothing and are left out.
    """
    data: list[Spec] = []
    lowest, top = np.inf, 0.0
    for line in lines:
        shade, dash, marker = method_style(line.key, line.family, theme, line.variant)
        errors = np.where(line.errors < most, line.errors, np.nan)
        if not np.isfinite(errors).any():
            continue
        lowest, top = min(lowest, float(np.nanmin(errors))), max(top, float(np.nanmax(errors)))
        x = 100 * line.right
        data.append({"type": "scatter", "mode": "lines", "x": _plain(x), "y": _plain(errors),
                     "name": line.label, "line": {"color": shade, "width": 2, "dash": dash},
                     "hoverinfo": "skip"})
        data.append({"type": "scatter", "mode": "markers", "x": _plain(x[[*chosen]]),
                     "y": _plain(errors[[*chosen]]), "showlegend": False, "name": line.label,
                     "hovertemplate": f"%{{y:.3g}} {unit} at %{{x:.0f}} in 100",
                     "marker": {"size": 10, "symbol": marker, "color": shade,
                                "line": {"width": 1.4, "color": shade}}})
    quantity = f"Typical error ({unit}, log scale)" if unit else "Typical error (log scale)"
    low, high = (0.85 * lowest, 1.15 * top) if data else (0.1, 1.0)
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode="closest",
        xaxis=axis(theme, "Right guesses in 100, at most (50: a coin toss)", range=[49, 101],
                   nticks=7),
        yaxis=log_axis(theme, quantity, low, high, grid=True))}
    return Chart(spec, _alt(lines, chosen, unit), _table(lines))


def _alt(lines: Sequence[Line], chosen: Sequence[int], unit: str) -> str:
    at = [(line, line.errors[k], line.right[k]) for line in lines for k in chosen[:1]]
    said = "; ".join(f"{line.label} {with_unit(number(float(error)), unit)} at "
                     f"{100 * right:.0f} in 100" for line, error, right in at
                     if np.isfinite(error))
    return f"Typical errors against right guesses: {said}." if said else "Nothing is published."


def _table(lines: Sequence[Line]) -> dict[str, list[Any]]:
    return {"method": [line.label for line in lines for _ in line.errors],
            "right guess, at most": [float(np.ceil(1000 * v) / 1000) for line in lines
                                     for v in line.right],
            "typical error": [v for line in lines for v in _plain(line.errors)]}


def kept(epsilons: Sequence[float], found: Sequence[tuple[Line, Kept]], here: float | None,
         theme: Theme) -> Chart:
    """How many releases in 100 keep an answer at every budget, with what simulation leaves open.

    Budgets at which a method's errors are NaN have no point.
    """
    data: list[Spec] = []
    for line, share in found:
        shade, dash, marker = method_style(line.key, line.family, theme, line.variant)
        known = np.isfinite(line.errors)
        y, up, down = (np.where(known, 100 * values, np.nan) for values in (
            share.share, share.high - share.share, share.share - share.low))
        data.append({
            "type": "scatter", "mode": "lines+markers", "x": list(epsilons), "y": _plain(y),
            "name": line.label, "line": {"color": shade, "width": 2, "dash": dash},
            "marker": {"size": 6, "symbol": marker, "color": shade},
            "error_y": {"type": "data", "symmetric": False, "array": _plain(up),
                        "arrayminus": _plain(down), "color": translucent(shade, 0.6),
                        "thickness": 1.2, "width": 0},
            "hovertemplate": "%{y:.0f} in 100"})
    at = [*epsilons].index(here) if here is not None else None
    if at is not None and np.isfinite(found[0][0].errors[at]):
        data.append({"type": "scatter", "mode": "markers", "x": [here], "hoverinfo": "skip",
                     "y": [100 * float(found[0][1].share[at])], "showlegend": False,
                     "marker": {"symbol": "diamond", "size": 15, "color": colour("page", theme),
                                "line": {"color": colour("text", theme), "width": 2.4}}})
    spec = {"data": data, "layout": layout(
        theme, legend=len(found) > 1,
        xaxis=log_axis(theme, "Protection ε (log scale)", epsilons[0] * 0.93, epsilons[-1] * 1.07),
        yaxis=axis(theme, "Releases in 100 that keep it", grid=True, range=[-3, 103], nticks=6))}
    return Chart(spec, _kept_alt(epsilons, found), _kept_table(epsilons, found))


def _kept_alt(epsilons: Sequence[float], found: Sequence[tuple[Line, Kept]]) -> str:
    said = "; ".join(f"{line.label} {100 * share.share[-1]:.0f} in 100 at ε = {epsilons[-1]:g}"
                     for line, share in found if np.isfinite(line.errors[-1]))
    return f"Releases that keep the answer: {said or 'none'}."


def _kept_table(epsilons: Sequence[float], found: Sequence[tuple[Line, Kept]]
                ) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"ε": list(epsilons)}
    for line, share in found:
        for name, values in ((line.label, share.share), ("from", share.low), ("to", share.high)):
            title = name if name == line.label else f"{line.label}, {name}"
            columns[title] = _plain(np.where(np.isfinite(line.errors), 100 * values, np.nan))
    return columns


def joined(times: Array, curves: Array) -> tuple[list[float | None], list[float | None]]:
    """All curves as one broken line, which is drawn much faster than many."""
    x: list[float | None] = []
    y: list[float | None] = []
    for curve in curves:
        x += [*_plain(times), None]
        y += [*_plain(curve), None]
    return x, y


def _plain(values: Array) -> list[float | None]:
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in values]


def named(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
