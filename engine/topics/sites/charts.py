"""Sites as pictures: what could be published, who adds which error, and if a site left."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import traces
from engine.figures.small_charts import pattern
from engine.figures.theme import Chart, Spec, axis, layout, method_style, time_axis
from engine.figures.traces import UNPROTECTED, plain
from engine.language.grammar import capital
from engine.language.numbers import in_unit, named, number
from engine.topics.sites.answer import Arrangement, SitesAnswer, WhatIf

_ROW_HEIGHT, _DENSE_ROW_HEIGHT, _MANY = 30, 22, 10  # pixels of one bar or one line of dots
_OPAQUE = 0.85  # draws: a single line still stands out
PARTS = ("privacy noise", "sampling variability")


def height(sites: int, around: int) -> int:
    """Return the pixels of a chart with a row for each site, and so much around them."""
    return around + sites * (_ROW_HEIGHT if sites < _MANY else _DENSE_ROW_HEIGHT)


def panels(
    federation: SitesAnswer, key: str, family: str, difference: bool = True
) -> list[tuple[str, Chart]]:
    """Draw pictures with the same axes, each with its title: 20 releases, dashed without noise.

    A refused panel says so. A `difference` from the non-private mean shows a small error.
    """
    best = federation.members[federation.best].row.name
    named = (
        ("Together, each its own noise", federation.together),
        *(
            []
            if federation.summed is None
            else [("Masked sums: noise in shares", federation.summed)]
        ),
        ("All at one trusted centre", federation.pooled),
        (f"Best site alone: {best}", federation.alone),
    )
    base = federation.ordinary if difference else np.zeros_like(federation.ordinary)
    heights, style = _range(federation, base), method_style(key, family)
    return [
        (name, _panel(federation, arrangement, name, base, heights, style))
        for name, arrangement in named
    ]


def _range(federation: SitesAnswer, base: Array) -> tuple[float, float]:
    """Return a range for all panels; outlying releases of one must not flatten the others."""
    arrangements = filter(
        None, (federation.together, federation.summed, federation.pooled, federation.alone)
    )
    releases = [
        arrangement.releases - base for arrangement in arrangements if not arrangement.is_refused
    ]
    every = np.concatenate(
        [
            federation.ordinary - base,
            *([] if federation.truth is None else [federation.truth - base]),
            *(np.quantile(r, (0.05, 0.95), axis=0).ravel() for r in releases),
        ]
    )
    low, high = float(every.min()), float(every.max())
    margin = 0.06 * max(high - low, 1e-9)
    return low - margin, high + margin


def _panel(
    federation: SitesAnswer,
    arrangement: Arrangement,
    name: str,
    base: Array,
    heights: tuple[float, float],
    style: tuple[str, str, str],
) -> Chart:
    facts, refused, x = federation.facts, arrangement.is_refused, plain(federation.times)
    data = [] if refused else [_releases(x, arrangement.releases - base, style[0])]
    data.append(_behind("Non-private", x, federation.ordinary - base, "without", 2.2, UNPROTECTED))
    if federation.truth is not None:
        data.append(_behind("True mean", x, federation.truth - base, "truth", 1.6))
    notes = (
        [
            {
                "text": "Nothing would be published",
                "showarrow": False,
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.8,
                "font": {"size": 14},
            }
        ]
        if refused
        else []
    )
    quantity = facts.value_name if not base.any() else "Difference"
    spec = {
        "data": data,
        "layout": layout(
            annotations=notes,
            hovermode=False,
            title=(
                "Nothing would be published"
                if refused
                else f"Error {in_unit(arrangement.error, facts.value_unit)}"
            ),
            xaxis=time_axis(facts),
            yaxis=axis(named(quantity, facts.value_unit), grid=True, range=list(heights), nticks=7),
        ),
    }
    summary = (
        "nothing would be published"
        if refused
        else f"{len(arrangement.releases)} possible releases, error "
        f"{in_unit(arrangement.error, facts.value_unit)}"
    )
    return Chart(spec, f"{name}: {summary}.", _panel_table(federation, arrangement))


def _panel_table(federation: SitesAnswer, arrangement: Arrangement) -> dict[str, list[float]]:
    table = {
        federation.facts.time_name: plain(federation.times),
        "non-private": plain(federation.ordinary),
    }
    if federation.truth is not None:
        table["true mean"] = plain(federation.truth)
    if not arrangement.is_refused:
        table |= {
            "release 1": plain(arrangement.releases[0]),
            "release 2": plain(arrangement.releases[1]),
        }
    return table


def _releases(x: list[float], releases: Array, shade: str) -> Spec:
    xs, ys = traces.joined(x, [plain(release) for release in releases])
    return traces.line("Releases", xs, ys, translucent(shade, _OPAQUE), 1, hoverinfo="skip")


def _behind(
    name: str, x: list[float], y: Array, shade: str, width: float, dash: str = "solid"
) -> Spec:
    return traces.line(name, x, plain(y), shade, width, dash, hoverinfo="skip")


# -- shares of the error ------------------------------------------------------------------------


def shares(federation: SitesAnswer, family: str) -> Chart:
    """Draw a bar for each site: its privacy noise and its sampling variability."""
    members = [member for member in federation.members if not math.isnan(member.weight)]
    labels = [f"{m.row.name}, weight {100 * m.weight:.0f} %" for m in members]
    data = [
        _bars(PARTS[0], labels, [m.noise for m in members], pattern(family, "")),
        _bars(PARTS[1], labels, [m.sampling for m in members], pattern("without", "/")),
    ]
    biggest = max(members, key=lambda member: member.share, default=None)
    spec = {
        "data": data,
        "layout": layout(
            barmode="stack",
            bargap=0.35,
            hovermode="closest",
            title="Nothing would be published"
            if biggest is None
            else f"{biggest.row.name}: {100 * biggest.share:.0f} % of the squared error",
            xaxis=axis("Share of the squared error (%)", rangemode="tozero", nticks=6),
            yaxis=axis(
                autorange="reversed", showline=False, ticks="", ticksuffix="  ", type="category"
            ),
        ),
    }
    alt = (
        "No site adds to an error of 0: nothing would be published."
        if biggest is None
        else f"Shares of the squared error: the largest is {100 * biggest.share:.0f} % at "
        f"{biggest.row.name}."
    )
    return Chart(
        spec,
        alt,
        {
            "site": [m.row.name for m in federation.members],
            "weight": [_share(m.weight) for m in federation.members],
            PARTS[0]: [_share(m.noise) for m in federation.members],
            PARTS[1]: [_share(m.sampling) for m in federation.members],
        },
    )


def _bars(name: str, labels: list[str], values: list[float], marker: Spec) -> Spec:
    return {
        "type": "bar",
        "orientation": "h",
        "y": labels,
        "name": name,
        "marker": marker,
        "x": [round(100 * value, 2) for value in values],
        "hovertemplate": f"{name}: %{{x:.0f}} %<extra></extra>",
    }


def _share(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


# -- if a site leaves or tightens ---------------------------------------------------------------


def what_if(cases: Sequence[WhatIf], unit: str) -> Chart:
    """Draw dots of the error, in `unit`, without a site and with half its ε; a line marks now."""
    names, current = [case.name for case in cases], cases[0].now
    columns = {
        "leaves": plain([c.leaves for c in cases], 4),
        "half its ε": plain([c.tightens for c in cases], 4),
    }
    markers: tuple[Spec, Spec] = (
        {"symbol": "circle-open", "color": "text", "line": {"width": 2, "color": "text"}},
        {"symbol": "circle", "color": "gradient"},
    )
    data = [
        traces.points(
            capital(name),
            x,
            names,
            {"size": 11, **marker},
            hovertemplate=f"{name}: %{{x:.3g}} {unit}<extra></extra>",
        )
        for (name, x), marker in zip(columns.items(), markers, strict=True)
    ]
    if math.isfinite(current):
        data.append(
            traces.line(
                "Now",
                [current, current],
                [names[0], names[-1]],
                "without",
                2,
                UNPROTECTED,
                hoverinfo="skip",
            )
        )
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title=_most_missed(cases),
            xaxis=axis(named("Error", unit), nticks=6),
            yaxis=axis(grid=True, type="category", autorange="reversed", showline=False, ticks=""),
        ),
    }
    summary = "nothing" if math.isnan(current) else in_unit(current, unit)
    return Chart(
        spec,
        f"Error if one of {len(cases)} sites leaves or halves its ε; now {summary}.",
        {"site": names, "now": plain([c.now for c in cases], 4), **columns},
    )


def _most_missed(cases: Sequence[WhatIf]) -> str:
    """Name the site without which the error grows most, and the factor by which it grows."""
    known = [case for case in cases if math.isfinite(case.leaves / case.now)]
    if not known:
        return "Nothing would be published"
    site = max(known, key=lambda case: case.leaves / case.now)
    return f"Without {site.name} the error is {number(site.leaves / site.now)} times as large"
