"""Rates as pictures: curves of a rate, the map of its regimes, and measured errors on top."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.bands import NORMAL
from engine.core.types import Array
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, regime_shades
from engine.figures.traces import DASHES, plain
from engine.language.grammar import capital, uncapital
from engine.language.numbers import number
from engine.mechanisms.univariate_mean import Setting
from engine.rates import Rate, Symbol
from engine.rates.differing_sites import TERMS, DifferingSites
from engine.rates.fitted import Weighted
from engine.rates.functional_mean import PRIVATE_DENSE, PRIVATE_SPARSE
from engine.rates.trusted import Trust
from engine.rates.univariate_mean import RateSetting
from engine.topics.rates.answer import (
    Comparison,
    MeasuredError,
    RegimeMap,
    border,
    moved,
    regime_map,
)
from engine.topics.rates.by_trust import TrustLine
from engine.topics.rates.check import ByEye

_CELLS = 220  # of a map on screen, each way; the regimes are smooth
_TRUST = {
    setting.mechanism: setting.label.removesuffix(", many numbers each") for setting in RateSetting
}
_FITS = ("2px,3px", "2px,8px")  # rates fitted to several methods, all dotted


def regimes(weighted: Weighted, along: str, across: str, point: Mapping[str, float]) -> Chart:
    """Draw the map of ruling terms: named regions, phase boundaries and "you are here".

    Boundaries are drawn where they separate regimes, and only with all constants one: fitted
    constants move them.
    """
    regions = regime_map(weighted, along, across, point, _CELLS)
    terms = weighted.rate.terms
    private = [term.is_private for term in terms]
    data = [_heat(regions, [term.name for term in terms], regime_shades(private))]
    if weighted.is_plain:
        data += _borders(weighted.rate, regions, point)
    data.append(traces.diamond(point[along], point[across]))
    ruling = terms[int(weighted.dominant(**point))].name
    spec = {
        "data": data,
        "layout": layout(
            hovermode="closest",
            title=f"Largest term here: {ruling[:1].lower()}{ruling[1:]}",
            annotations=_names(regions, [t.name for t in terms]),
            xaxis=_axis_of(_symbol(weighted.rate, along), regions.x),
            yaxis=_axis_of(_symbol(weighted.rate, across), regions.y),
        ),
    }
    shares = {term.name: float((regions.regimes == k).mean()) for k, term in enumerate(terms)}
    return Chart(
        spec,
        f"Map of what limits the error: here it is “{ruling.lower()}”. "
        + "; ".join(
            f"{name} rules {100 * share:.0f} % of the map"
            for name, share in shares.items()
            if share
        )
        + ".",
        {"term": list(shares), "share of the map": [round(s, 3) for s in shares.values()]},
    )


@dataclass(frozen=True)
class MeasuredSeries:
    """Measured errors of one method, and how they compare with the rate."""

    name: str
    points: Sequence[MeasuredError]
    compared: Comparison | None  # with the rate; None where too few points were measured
    style: tuple[str, str, str]  # shade, dash and marker of the method

    @property
    def known(self) -> list[MeasuredError]:
        """Points at which anything was published."""
        return [p for p in self.points if math.isfinite(p.mean)]


def _slopes(each: Sequence[MeasuredSeries]) -> str:
    """State the slope of the first method that can be compared with its rate."""
    for series in each:
        if series.compared is not None:
            return (
                f"{series.name}: slope {series.compared.slope:.2f}, "
                f"rate {series.compared.theory:.2f}"
            ).replace("-", "−")
    return "Too few points for a slope"


def practice(
    each: Sequence[MeasuredSeries], along: Symbol, point: Mapping[str, float], unit: str
) -> Chart:
    """Draw squared errors of some methods with 95 % intervals, and the rate through each."""
    several = sum(series.compared is not None for series in each) > 1
    data = [
        trace
        for k, series in enumerate(each)
        for trace in _measured(
            series, along.name, point, unit, _FITS[k % len(_FITS)] if several else ""
        )
    ]
    x, heights = np.array([0.1, 1.0]), np.array([0.1, 1.0])
    if data:
        x = np.concatenate([trace["x"] for trace in data])
        heights = np.concatenate([_bar_ends(trace) for trace in data])
    quantity = (
        "Mean squared error (log scale)" if not unit else f"Mean squared error ({unit}², log scale)"
    )
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_slopes(each),
            xaxis=_axis_of(along, x, 0.06),
            yaxis=log_axis(quantity, float(heights.min()), float(heights.max()), room=0.1),
        ),
    }
    return Chart(spec, _practice_alt(each), _practice_table(each, along))


def _measured(
    series: MeasuredSeries, along: str, point: Mapping[str, float], unit: str, own_dash: str
) -> list[Spec]:
    """Draw points with their bars, and the fitted rate; one of several in its own look."""
    if not series.known:
        return []
    shade, _, marker = series.style
    x, mean, bar = np.array([(p.value, p.mean, NORMAL * p.se) for p in series.known]).T
    points = traces.points(
        series.name,
        x.tolist(),
        mean.tolist(),
        {"size": 10, "color": shade, "symbol": marker},
        error_y={"type": "data", "array": bar.tolist(), "color": shade},
        hovertemplate=f"%{{y:.3g}} {unit}²" if unit else "%{y:.3g}",
    )
    if series.compared is None:
        return [points]
    grid = np.geomspace(x.min(), x.max(), 60)
    compared, places = series.compared, moved(point, **{along: grid})
    rate = compared.fitted.squares(**places)
    name, look, dash = (
        (f"Rate, fitted to {uncapital(series.name)}", shade, own_dash)
        if own_dash
        else ("Rate, constants fitted", "without", "dot")
    )
    return [
        points,
        traces.line(name, grid.tolist(), rate.tolist(), look, 2, dash, hoverinfo="skip"),
    ]


def _bar_ends(trace: Spec) -> Array:
    """List heights of a trace with the ends of its bars, where these are above zero."""
    mean = np.asarray(trace["y"])
    bar = np.asarray(trace["error_y"]["array"]) if "error_y" in trace else np.zeros(len(mean))
    return np.concatenate([mean, mean + bar, np.maximum(mean - bar, mean / 3)])


def _practice_alt(each: Sequence[MeasuredSeries]) -> str:
    sentences = [
        f"{series.name}: {len(series.known)} measured errors"
        + (
            f", with slope {series.compared.slope:.2f} against {series.compared.theory:.2f} of the rate"
            if series.compared
            else ""
        )
        for series in each
    ]
    return "; ".join(sentences) + "."


def _practice_table(each: Sequence[MeasuredSeries], along: Symbol) -> dict[str, list[Any]]:
    rows = [
        (series.name, p.value, float(f"{p.mean:.4g}"), float(f"{p.se:.3g}"))
        for series in each
        for p in series.known
    ]
    names = ("method", along.written, "mean squared error", "standard error")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


_TRUST_LOOKS = {
    Trust.CENTRAL: ("gradient", "circle"),
    Trust.FEDERATED: ("functional", "square"),
    Trust.LOCAL: ("wavelet", "diamond"),
    Trust.NONE: ("without", "x"),
}


def by_trust(lines: Sequence[TrustLine], along: Symbol, unit: str) -> Chart:
    """Draw measured errors of every kind of trust with 95 % intervals, beside their rates.

    A rate is solid where privacy is its largest term and dotted where it is not, with a mark where
    the largest term changes.
    """
    data = [trace for each in lines for trace in _of_trust(each, unit)]
    x = lines[0].grid
    heights = np.concatenate([_bar_ends(trace) for trace in data if "error_y" in trace])
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_price_of_trust(lines),
            xaxis=_axis_of(along, x, 0.06),
            yaxis=log_axis(
                f"Mean squared error ({unit}², log scale)"
                if unit
                else "Mean squared error (log scale)",
                float(heights.min()),
                float(heights.max()),
                room=0.1,
            ),
        ),
    }
    return Chart(spec, _trust_alt(lines), _trust_table(lines, along))


def _of_trust(line: TrustLine, unit: str) -> list[Spec]:
    """Draw the points of one kind of trust, its rate in two dashes, and its elbows."""
    if not line.known:
        return []
    shade, marker = _TRUST_LOOKS[line.kind.trust]
    x, mean, bar = np.array([(p.value, p.mean, NORMAL * p.se) for p in line.known]).T
    name = capital(line.kind.trust.label)
    data = [
        traces.points(
            name,
            x.tolist(),
            mean.tolist(),
            {"size": 9, "color": shade, "symbol": marker},
            error_y={"type": "data", "array": bar.tolist(), "color": shade},
            hovertemplate=f"%{{y:.3g}} {unit}²" if unit else "%{y:.3g}",
        )
    ]
    if line.line is None or line.is_private is None:
        return data
    for is_private, dash in ((True, "solid"), (False, "dot")):
        here = line.is_private == is_private
        here[1:] |= here[:-1]  # the parts touch
        data.append(
            traces.line(
                f"{name}, rate",
                line.grid.tolist(),
                plain(np.where(here, line.line, np.nan)),
                shade,
                1.8,
                dash,
                hoverinfo="skip",
                showlegend=False,
            )
        )
    return [
        *data,
        *(
            traces.points(
                f"{name}, elbow",
                [at],
                [height],
                {"size": 11, "color": shade, "symbol": "diamond-open"},
                hovertemplate="the largest term changes",
                showlegend=False,
            )
            for at, height in line.elbows
        ),
    ]


def _price_of_trust(lines: Sequence[TrustLine]) -> str:
    """State how much larger errors are than with one trusted centre, at the middle value."""
    by_kind = {line.kind.trust: {p.value: p.mean for p in line.known} for line in lines}
    central = by_kind.get(Trust.CENTRAL, {})
    for trust in (Trust.LOCAL, Trust.FEDERATED):
        shared = sorted(central.keys() & by_kind.get(trust, {}).keys())
        if shared:
            at = shared[len(shared) // 2]
            ratio = math.sqrt(by_kind[trust][at] / central[at])
            return f"{trust.short}: {number(ratio, 2)} times the error of CDP"
    return "Measured errors beside the rates"


def _trust_alt(lines: Sequence[TrustLine]) -> str:
    return (
        "; ".join(
            f"{capital(line.kind.trust.label)}: {len(line.known)} measured errors"
            + (
                f", slope {line.slope[0]:.2f} against {line.theory:.2f} of the rate"
                if line.slope
                else ""
            )
            for line in lines
        )
        + "."
    )


def _trust_table(lines: Sequence[TrustLine], along: Symbol) -> dict[str, list[Any]]:
    rows = [
        (
            capital(line.kind.trust.label),
            p.value,
            float(f"{p.mean:.4g}"),
            float(f"{NORMAL * p.se:.3g}"),
        )
        for line in lines
        for p in line.known
    ]
    names = ("who is trusted", along.written, "mean squared error", "± (95 %)")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def per_site(sites: DifferingSites) -> Chart:
    """Draw the four terms of each site's error alone, and the error of all sites together."""
    terms, x = sites.alone(), list(range(1, len(sites.n) + 1))
    size = sites.size()
    whole = float(sites.d**2 * size**2 / sites.by_term(size).sum(axis=0))
    hover = [
        f"{number(float(n))} people, ε = {number(float(budget), 2)}"
        for n, budget in zip(
            sites.n.ravel(), np.broadcast_to(sites.epsilon, sites.n.shape), strict=True
        )
    ]
    shades = regime_shades([term in (PRIVATE_DENSE, PRIVATE_SPARSE) for term in TERMS])
    data = [
        traces.line_with_points(
            capital(name),
            x,
            line.ravel().tolist(),
            shade,
            2.2,
            DASHES[k],
            {"size": 8, "color": shade, "symbol": ("circle", "square", "diamond", "x")[k]},
            text=hover,
            hovertemplate="%{y:.3g}<br>%{text}",
        )
        for k, (name, line, shade) in enumerate(zip(TERMS, terms, shades, strict=True))
    ]
    data.append(
        traces.line("All sites together", [x[0], x[-1]], [whole] * 2, "text", 2.6, hoverinfo="skip")
    )
    limits = [TERMS[k] for k in terms.argmax(axis=0).ravel()]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"Together: {number(whole, 2)}",
            xaxis=axis("Site, by people", range=[0.7, len(x) + 0.3], dtick=1),
            yaxis=log_axis(
                "Variance of a site alone (constants dropped, log scale)",
                min(float(terms.min()), whole),
                max(float(terms.max()), whole),
                room=0.06,
            ),
        ),
    }
    counts = {name: limits.count(name) for name in TERMS if name in limits}
    return Chart(
        spec,
        "Four terms of each site alone. "
        + "; ".join(
            f"{name.lower()} is largest at {count} of {len(x)} sites"
            for name, count in counts.items()
        )
        + f". All sites together: {number(whole, 2)}.",
        {
            "site": x,
            "people": plain(sites.n.ravel(), 4),
            "ε": plain(np.broadcast_to(sites.epsilon, sites.n.shape).ravel(), 3),
            **{name: plain(line.ravel(), 3) for name, line in zip(TERMS, terms, strict=True)},
            "limited by": limits,
        },
    )


def by_eye(by_trust: ByEye) -> Chart:
    """Draw estimates of a mean that is known as dots, a row for each kind of trust.

    Dots beyond the range of the numbers stand at its ends.
    """
    spread = {
        _TRUST[setting]: float(np.sqrt(((dots - by_trust.truth) ** 2).mean()))
        for setting, dots in by_trust.estimates.items()
    }
    rows = {
        _TRUST[setting]: np.clip(dots, 0.0, 1.0) for setting, dots in by_trust.estimates.items()
    }
    last = len(rows) - 1
    data = [
        traces.points(
            capital(name),
            dots.tolist(),
            [float(last - k)] * len(dots),
            {
                "size": 9,
                "opacity": 0.55,
                "symbol": "circle",
                "color": "without" if name == _TRUST[Setting.NONE] else "gradient",
            },
            hovertemplate="%{x:.3f}",
        )
        for k, (name, dots) in enumerate(rows.items())
    ]
    data.append(
        traces.line(
            "True mean", [by_trust.truth] * 2, [-0.5, last + 0.5], "text", 1.6, hoverinfo="skip"
        )
    )
    values = np.concatenate([*rows.values(), [by_trust.truth]])
    room = 0.04 * max(float(np.ptp(values)), 0.01)
    widest, narrowest = max(spread, key=spread.__getitem__), min(spread, key=spread.__getitem__)
    spec = {
        "data": data,
        "layout": layout(
            hovermode="closest",
            title=f"Farthest from the true mean: {widest}",
            xaxis=axis(
                "Estimate of the mean (numbers from 0 to 1)",
                grid=True,
                nticks=6,
                range=[float(values.min()) - room, float(values.max()) + room],
            ),
            yaxis=axis(
                tickvals=[last - k for k in range(len(rows))],
                ticktext=[_broken(capital(name), 0.0) for name in rows],
                range=[-0.6, last + 0.6],
            ),
        ),
    }
    return Chart(
        spec,
        f"Estimates of a mean of {number(by_trust.truth)}. Root mean squared error: "
        f"{number(spread[narrowest], 2)} ({narrowest}) to {number(spread[widest], 2)} "
        f"({widest}).",
        {
            "trust": [capital(name) for name in spread],
            "root mean squared error": plain([*spread.values()], 3),
        },
    )


# -- parts ------------------------------------------------------------------------------------


def _heat(regions: RegimeMap, names: list[str], shades: list[str]) -> Spec:
    """Draw a map with one cell colour per term, without blending."""
    last = max(len(names) - 1, 1)
    scale: list[list[object]] = []
    for k, shade in enumerate(shades):
        scale += [[k / len(shades), shade], [(k + 1) / len(shades), shade]]
    return {
        "type": "heatmap",
        "x": plain(regions.x),
        "y": plain(regions.y),
        "z": regions.regimes.tolist(),
        "zmin": -0.5,
        "zmax": last + 0.5 if len(names) > 1 else 1,
        "colorscale": scale,
        "showscale": False,
        "hoverinfo": "skip",
        "zsmooth": False,
    }


def _borders(rate: Rate, regions: RegimeMap, point: Mapping[str, float]) -> list[Spec]:
    lines = []
    x = np.geomspace(regions.x[0], regions.x[-1], 400)
    for boundary in rate.boundaries:
        y = border(rate, boundary, regions.along, regions.across, x, point)
        inside = np.where((y >= regions.y[0]) & (y <= regions.y[-1]), y, np.nan)
        if np.isfinite(inside).any():
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines+text",
                    "x": plain(x),
                    "y": [None if math.isnan(v) else float(v) for v in inside],
                    "text": _once(boundary.key if len(boundary.key) == 1 else "", inside),
                    "textposition": "top center",
                    "textfont": {"size": 14, "color": "text"},
                    "hoverinfo": "skip",
                    "showlegend": False,
                    "name": boundary.key,
                    "line": {"color": "text", "width": 1.6, "dash": "6px,4px"},
                }
            )
    return lines


def _once(text: str, heights: Array) -> list[str]:
    """Put the letter of a boundary in the middle of what is seen of it."""
    visible = np.flatnonzero(np.isfinite(heights))
    middle = visible[len(visible) // 2]
    return [text if k == middle else "" for k in range(len(heights))]


def _names(regions: RegimeMap, names: list[str]) -> list[Spec]:
    """Put each regime's name in the middle of its region, if the region is large enough."""
    notes = []
    for k, name in enumerate(names):
        rows, columns = np.nonzero(regions.regimes == k)
        if len(rows) < 0.02 * regions.regimes.size:
            continue
        row = int(np.median(rows))
        inside = columns[rows == row]
        column = int(np.median(inside)) if len(inside) else int(np.median(columns))
        notes.append(
            {
                "x": math.log10(regions.x[column]),
                "y": math.log10(regions.y[row]),
                "text": _broken(name, len(inside) / regions.regimes.shape[1]),
                "showarrow": False,
                "font": {"size": 14, "color": "text"},
            }
        )
    return notes


def _broken(name: str, width: float) -> str:
    """Break a name into two lines if its region is narrow."""
    words = name.split()
    if width > 0.45 or len(words) < 2:
        return name
    half = (len(words) + 1) // 2
    return f"{' '.join(words[:half])}<br>{' '.join(words[half:])}"


def _symbol(rate: Rate, name: str) -> Symbol:
    return next(symbol for symbol in rate.symbols if symbol.name == name)


def _axis_of(symbol: Symbol, values: Array, room: float = 0.0) -> Spec:
    return log_axis(
        f"{symbol.label} {symbol.written} (log scale)",
        float(values.min()),
        float(values.max()),
        room=room,
    )
