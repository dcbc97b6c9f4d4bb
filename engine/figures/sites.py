"""Sites as pictures: what could be published, who adds which error, and if a site left."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.figures.theme import (
    Chart,
    Spec,
    Theme,
    axis,
    colour,
    layout,
    method_style,
    time_axis,
    translucent,
)
from engine.types import Array
from engine.views.sites import Arrangement, Federation, WhatIf
from engine.words.grammar import capital
from engine.words.numbers import number, with_unit

_ROW_HEIGHT, _DENSE_ROW_HEIGHT, _MANY = 30, 22, 10  # pixels of one bar or one line of dots
_OPAQUE = 0.85  # draws: a single line still stands out


def height(sites: int, around: int) -> int:
    """Pixels of a chart with a row for each site, and so much around them."""
    return around + sites * (_ROW_HEIGHT if sites < _MANY else _DENSE_ROW_HEIGHT)


def panels(found: Federation, key: str, family: str, theme: Theme, difference: bool = True
           ) -> list[tuple[str, Chart]]:
    """Three pictures with the same axes, each with its title: 20 releases, dashed without noise.

    With `difference` all are drawn less the average without protection, since a small error is
    not seen on the scale of the values. Where nothing would be published a panel says so.
    """
    best = found.members[found.best].row.name
    named = (("Together, each its own noise", found.together),
             ("All at one trusted centre", found.pooled), (f"Best site alone: {best}", found.alone))
    base = found.without if difference else np.zeros_like(found.without)
    heights = _range(found, base)
    return [(name, _panel(found, one, name, base, heights, method_style(key, family, theme), theme))
            for name, one in named]


def _range(found: Federation, base: Array) -> tuple[float, float]:
    """Of the values of all three panels; far-out releases of one must not flatten the others."""
    shown = [one.releases - base for one in (found.together, found.pooled, found.alone)
             if not one.is_refused]
    every = np.concatenate([found.without - base,
                            *([] if found.truth is None else [found.truth - base]),
                            *(np.quantile(r, (0.05, 0.95), axis=0).ravel() for r in shown)])
    low, high = float(every.min()), float(every.max())
    room = 0.06 * max(high - low, 1e-9)
    return low - room, high + room


def _panel(found: Federation, one: Arrangement, name: str, base: Array,
           heights: tuple[float, float], style: tuple[str, str, str], theme: Theme) -> Chart:
    facts, refused = found.facts, one.is_refused
    data = [] if refused else [_releases(found.times, one.releases - base, style[0])]
    data.append(_line(found.times, found.without - base, "No protection",
                      colour("without", theme), 2.2, "6px,4px"))
    if found.truth is not None:
        data.append(_line(found.times, found.truth - base, "True average",
                          colour("truth", theme), 1.6, "solid"))
    notes = [{"text": "Nothing would be published", "showarrow": False, "xref": "paper",
              "yref": "paper", "x": 0.5, "y": 0.8, "font": {"size": 14}}] if refused else []
    quantity = facts.value_name if not base.any() else "Difference"
    spec = {"data": data, "layout": layout(
        theme, annotations=notes, hovermode=False,
        xaxis=time_axis(theme, facts),
        yaxis=axis(theme, _named(quantity, facts.value_unit), grid=True, range=list(heights),
                   nticks=7))}
    said = ("nothing would be published" if refused else
            f"{len(one.releases)} possible releases, typical error "
            f"{with_unit(number(one.typical), facts.value_unit)}")
    return Chart(spec, f"{name}: {said}.", _panel_table(found, one))


def _panel_table(found: Federation, one: Arrangement) -> dict[str, list[float]]:
    table = {found.facts.time_name: _rounded(found.times),
             "without protection": _rounded(found.without)}
    if found.truth is not None:
        table["true average"] = _rounded(found.truth)
    if not one.is_refused:
        table |= {"release 1": _rounded(one.releases[0]), "release 2": _rounded(one.releases[1])}
    return table


def _releases(times: Array, releases: Array, shade: str) -> Spec:
    """All draws in one trace, with gaps between them."""
    gap = [None]
    x = [v for _ in releases for v in [*_rounded(times), *gap]]
    y = [v for curve in releases for v in [*_rounded(curve), *gap]]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": "Releases",
            "hoverinfo": "skip", "line": {"color": translucent(shade, _OPAQUE), "width": 1}}


def _line(times: Array, values: Array, name: str, shade: str, width: float, dash: str) -> Spec:
    return {"type": "scatter", "mode": "lines", "x": _rounded(times), "y": _rounded(values),
            "name": name, "hoverinfo": "skip",
            "line": {"color": shade, "width": width, "dash": dash}}


def _named(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def _rounded(values: Array) -> list[float]:
    return [float(f"{v:.5g}") for v in values]


# -- shares of the error ------------------------------------------------------------------------


def shares(found: Federation, key: str, family: str, theme: Theme) -> Chart:
    """A bar for each site: its privacy noise and its chance in who takes part."""
    members = [member for member in found.members if not math.isnan(member.weight)]
    labels = [f"{m.row.name}, weight {100 * m.weight:.0f} %" for m in members]
    plain = colour("without", theme)
    looks = (("privacy noise", [m.noise for m in members],
              {"color": method_style(key, family, theme)[0]}),
             ("chance in who takes part", [m.sampling for m in members],
              {"color": translucent(plain, 0.12), "line": {"color": plain, "width": 1},
               "pattern": {"shape": "/", "fgcolor": plain, "size": 7, "solidity": 0.4}}))
    data = [{"type": "bar", "orientation": "h", "y": labels, "name": name, "marker": marker,
             "x": [round(100 * value, 2) for value in values],
             "hovertemplate": f"{name}: %{{x:.0f}} %<extra></extra>"}
            for name, values, marker in looks]
    spec = {"data": data, "layout": layout(
        theme, barmode="stack", bargap=0.35, hovermode="closest",
        xaxis=axis(theme, "Share of the squared error (%)", rangemode="tozero", nticks=6),
        yaxis=axis(theme, autorange="reversed", showline=False, ticks="", ticksuffix="  ",
                   type="category"))}
    biggest = max(members, key=lambda member: member.share, default=None)
    alt = ("No site adds to an error of 0: nothing would be published." if biggest is None else
           f"Shares of the squared error: the largest is {100 * biggest.share:.0f} % at "
           f"{biggest.row.name}.")
    return Chart(spec, alt, {
        "site": [m.row.name for m in found.members],
        "weight": [_share(m.weight) for m in found.members],
        "privacy noise": [_share(m.noise) for m in found.members],
        "chance in who takes part": [_share(m.sampling) for m in found.members]})


def _share(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


# -- if a site leaves or tightens ---------------------------------------------------------------


def what_if(cases: Sequence[WhatIf], unit: str, theme: Theme) -> Chart:
    """Dots of the typical error without a site and with half its ε; a dashed line is now."""
    names, now = [case.name for case in cases], cases[0].now
    indigo, text = colour("gradient", theme), colour("text", theme)
    looks = (("leaves", [c.leaves for c in cases], {"symbol": "circle-open", "color": text,
                                                   "line": {"width": 2, "color": text}}),
             ("half its ε", [c.tightens for c in cases], {"symbol": "circle", "color": indigo}))
    data: list[Spec] = [
        {"type": "scatter", "mode": "markers", "x": _plain(values), "y": names,
         "name": capital(name), "marker": {"size": 11, **marker},
         "hovertemplate": f"{name}: %{{x:.3g}} {unit}<extra></extra>"}
        for name, values, marker in looks]
    if math.isfinite(now):
        data.append({"type": "scatter", "mode": "lines", "x": [now, now],
                     "y": [names[0], names[-1]], "name": "Now", "hoverinfo": "skip",
                     "line": {"color": colour("without", theme), "width": 2, "dash": "6px,4px"}})
    title = f"Typical error ({unit})" if unit else "Typical error"
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode="closest", xaxis=axis(theme, title, nticks=6),
        yaxis=axis(theme, grid=True, type="category", autorange="reversed", showline=False,
                   ticks=""))}
    said = "nothing" if math.isnan(now) else with_unit(number(now), unit)
    return Chart(spec, f"Typical error if one of {len(cases)} sites leaves or halves its ε; now "
                 f"{said}.", {"site": names, "now": _plain([c.now for c in cases]),
                              "leaves": _plain([c.leaves for c in cases]),
                              "half its ε": _plain([c.tightens for c in cases])})


def _plain(values: Sequence[float]) -> list[float | None]:
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in values]
