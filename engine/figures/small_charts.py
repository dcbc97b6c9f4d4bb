"""The small figures of the cards: odds as dots, errors as dots, an error split as a bar."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.lists import shortened
from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, on_log_scale
from engine.figures.traces import DASHES, UNPROTECTED, plain
from engine.language.grammar import uncapital
from engine.language.numbers import at_most_percent, in_unit, named
from engine.privacy.risk import FALSE_POSITIVE_RATE, LOW_FALSE_POSITIVE_RATE, Odds
from engine.privacy.tradeoff import Approximate

_DOTS_IN_A_ROW, _DOTS = 20, 20


def odds(right: float, person: str) -> Chart:
    """Draw a hundred dots: right by chance, at most so many more (rounded up), wrong."""
    n_right = min(math.ceil(round(100 * right, 6)), 100)
    indices = np.arange(100)
    x, y = indices % _DOTS_IN_A_ROW, -(indices // _DOTS_IN_A_ROW)
    styles = (
        ("right by chance", slice(0, 50), {"color": "raw", "symbol": "circle"}),
        ("more", slice(50, n_right), {"color": "gradient", "symbol": "square"}),
        ("wrong", slice(n_right, 100), {"color": "raw", "symbol": "circle-open"}),
    )
    data = [
        traces.points(
            name, x[part].tolist(), y[part].tolist(), {"size": 9, **style}, hoverinfo="skip"
        )
        for name, part, style in styles
        if part.start < part.stop
    ]
    hidden = {"visible": False, "fixedrange": True}
    spec = {
        "data": data,
        "layout": layout(xaxis=hidden, yaxis=hidden, margin={"l": 2, "r": 2, "t": 2, "b": 2}),
    }
    alt = (
        f"100 attempts to pick the right {person}: 50 succeed by chance, and at most "
        f"{max(n_right - 50, 0)} more."
    )
    return Chart(
        spec,
        alt,
        {
            "outcome": ["right by chance", "at most more", "wrong"],
            "of 100": [50, max(n_right - 50, 0), 100 - n_right],
        },
    )


_ALARMS = np.concatenate([[0.0], np.geomspace(1e-4, 0.05, 40), np.linspace(0.05, 1, 96)[1:]])


def trade_off(odds: Odds) -> Chart:
    """Draw detections against false alarms: this noise, what its budget allows, and a blind guess.

    If `odds` have no trade-off curve, that of their budget is drawn.
    """
    cap = Approximate(odds.budget)
    curve = odds.curve or cap
    marks = np.array([LOW_FALSE_POSITIVE_RATE, FALSE_POSITIVE_RATE])
    looks = (
        ("No information", _ALARMS, "raw", 1.8, "6px,4px"),
        ("(ε, δ) alone, at most", cap.detection(_ALARMS), "without", 1.8, "2px,3px"),
        ("This noise, at most", curve.detection(_ALARMS), "gradient", 2.4, "solid"),
    )
    data = [
        traces.line(name, _ALARMS.tolist(), y.tolist(), role, width, dash, hovertemplate="%{y:.3f}")
        for name, y, role, width, dash in looks
    ]
    data.append(
        traces.points(
            "1 and 5 %",
            marks.tolist(),
            curve.detection(marks).tolist(),
            {"size": 9, "symbol": "diamond", "color": "gradient"},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    unit: Spec = {"range": [0, 1.01], "tickformat": ".1f", "nticks": 6}
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            xaxis=axis("False-positive rate", **unit),
            yaxis=axis("Power: share detected", grid=True, **unit),
        ),
    }
    at_1, at_5 = at_most_percent(odds.power_at_1_percent), at_most_percent(odds.power)
    alt = f"At a 1 % false-positive rate an attacker catches the right one {at_1}, at 5 % {at_5}."
    alarms = np.array([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
    return Chart(
        spec,
        alt,
        {
            "false alarms": alarms.tolist(),
            "caught": _up(curve.detection(alarms)),
            "(ε, δ) alone": _up(cap.detection(alarms)),
        },
    )


def _up(chances: Array) -> list[float]:
    rounded: list[float] = (np.ceil(np.round(1000 * chances, 6)) / 1000).tolist()
    return rounded


def error_dots(errors: Array, baseline: float | None, unit: str, floor: float = math.nan) -> Chart:
    """Twenty equally likely errors as a dot plot; a dashed line marks the non-private one.

    `floor` is what no unbiased method with Gaussian noise is below; NaN if unknown.
    """
    dots = np.quantile(errors, (np.arange(_DOTS) + 0.5) / _DOTS)
    marks = [mark for mark in (baseline, floor) if mark is not None and math.isfinite(mark)]
    top = float(max(dots.max(), *marks, 0.0)) * 1.08 or 1.0
    # Each dot (_DOTS,) stands in one of 28 columns, above those before it in the same one.
    columns = np.round(dots / top * 28)
    heights = np.array([int((columns[:k] == c).sum()) + 1 for k, c in enumerate(columns)])
    tallest = max(int(heights.max()), 6)
    marker = {"size": 9 if tallest < 9 else 6, "color": "gradient"}
    data = [
        traces.points(
            "one release", (columns * top / 28).tolist(), heights.tolist(), marker, hoverinfo="skip"
        )
    ]
    if baseline is not None:
        data.append(
            traces.line(
                "non-private",
                [baseline] * 2,
                [0, tallest + 1],
                "without",
                2,
                UNPROTECTED,
                hoverinfo="skip",
            )
        )
    if math.isfinite(floor):
        data.append(traces.floor([floor] * 2, [0, tallest + 1], hoverinfo="skip"))
    spec = {
        "data": data,
        "layout": layout(
            xaxis=axis(
                named("Error of a release", unit), range=[0, top], rangemode="tozero", nticks=5
            ),
            yaxis={"visible": False, "range": [0, tallest + 1], "fixedrange": True},
        ),
    }
    alt = (
        f"Twenty equally likely errors from {in_unit(float(dots[0]), unit)} to "
        f"{in_unit(float(dots[-1]), unit)}."
    )
    return Chart(spec, alt, {named("error", unit): dots.round(4).tolist()})


PARTS = (("gradient", ""), ("without", "/"), ("bias", "x"))  # roles and patterns


def split_bar(
    shares: Sequence[float], names: Sequence[str], looks: Sequence[tuple[str, str]] = PARTS
) -> Chart:
    """Draw one bar of squared error, cut into privacy noise, sampling and bias.

    `looks` are the (role, pattern) of the parts; see `core.palette`.
    """
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [float(share)],
            "y": [""],
            "name": name,
            "hovertemplate": f"{name} {100 * share:.0f} %<extra></extra>",
            "marker": pattern(role, shape),
        }
        for share, name, (role, shape) in zip(shares, names, looks, strict=True)
    ]
    hidden = {"visible": False, "fixedrange": True}
    spec = {
        "data": data,
        "layout": layout(
            barmode="stack",
            bargap=0,
            hovermode="closest",
            xaxis={**hidden, "range": [0, 1]},
            yaxis=hidden,
            margin={"l": 0, "r": 0, "t": 2, "b": 2},
        ),
    }
    alt = (
        "Shares of squared error: "
        + ", ".join(
            f"{name} {100 * share:.0f} %" for share, name in zip(shares, names, strict=True)
        )
        + "."
    )
    return Chart(spec, alt, {"part": list(names), "share": [round(float(s), 4) for s in shares]})


def pattern(main: str, shape: str) -> Spec:
    """Fill a bar so that it can be told apart without colours.

    `shape` is Plotly's sign of a pattern; empty for a plain fill.
    """
    if not shape:
        return {"color": main}
    return {
        "color": translucent(main, 0.12),
        "line": {"color": main, "width": 1},
        "pattern": {"shape": shape, "fgcolor": main, "size": 7, "solidity": 0.4},
    }


# -- several functions, each with its error -------------------------------------------------------

_MARKERS = (
    "circle",
    "diamond-open",
    "triangle-up-open",
    "square-open",
    "cross",
    "x",
    "star-open",
    "hexagon-open",
    "triangle-down-open",
)


def errors_of_functions(
    names: Sequence[str],
    error: Array,
    releases: Array,
    baseline: Array | None,
    kind: str,
    unit: str,
) -> Chart:
    """The error of every function with its 95 % range, and without privacy.

    Functions are from top to bottom, `releases` (functions, releases); NaN if nothing is published.
    """
    names, x = [*names], error
    low, high = np.quantile(releases, [0.025, 0.975], axis=1)
    bars = traces.off_by(plain(high - x), plain(x - low), "gradient", 2, 5)
    data = [
        traces.points(
            "This method", plain(x), names, {"size": 11, "color": "gradient"}, error_x=bars
        )
    ]
    table: dict[str, list[Any]] = {
        kind: names,
        "error": plain(x),
        "2.5 % below": plain(low),
        "2.5 % above": plain(high),
    }
    if baseline is not None:
        data.append(
            traces.points(
                "Non-private",
                plain(baseline),
                names,
                {"size": 11, "symbol": "line-ns-open", "color": "without", "line": {"width": 2.6}},
            )
        )
        table["non-private"] = plain(baseline)
    spec = {
        "data": data,
        "layout": layout(
            legend=baseline is not None,
            hovermode="closest",
            title=_largest(names, x, unit),
            xaxis=axis(named("Error", unit), grid=True, rangemode="tozero"),
            yaxis=axis(autorange="reversed", type="category"),
        ),
    }
    if not np.isfinite(x).all():
        return Chart(spec, "Nothing would be published.", table)
    summary = "; ".join(
        f"{name} {in_unit(float(each), unit)}" for name, each in zip(names, x, strict=True)
    )
    return Chart(spec, f"Errors: {summary}.", table)


def _largest(names: Sequence[str], errors: Array, unit: str) -> str:
    """Name the function with the largest error."""
    if not np.isfinite(errors).all():
        return "Nothing would be published"
    worst = int(np.argmax(errors))
    return (
        f"Largest error: {uncapital(shortened(names[worst], 24))}, "
        f"{in_unit(float(errors[worst]), unit)}"
    )


def errors_over_budgets(
    epsilons: Sequence[float],
    by_function: Array,
    names: Sequence[str],
    here: float,
    unit: str,
    together: Mapping[str, Array] | None = None,
    theory: Mapping[str, Array] | None = None,
) -> Chart:
    """The error of every function against ε, on log axes, and of all together, by name.

    Errors (epsilons, functions) are NaN if nothing would be published.

    Notes
    -----
    An error of 0, as of a percentile that is a stated bound at all times, has no place on a log
    axis: it is left out, and the legend says so where there is no other.
    """
    columns = {name: plain(by_function[:, k]) for k, name in enumerate(names)}
    totals = {name: plain(errors) for name, errors in (together or {}).items()}
    rates = {name: plain(errors) for name, errors in (theory or {}).items()}
    data = [
        traces.line_with_points(
            f"{name}: 0" if {*errors} - {None} == {0} else name,  # 0 has no place on a log scale
            epsilons,
            [error or None for error in errors],
            "gradient",
            2,
            DASHES[k % len(DASHES)],
            {"size": 7, "symbol": _MARKERS[k % len(_MARKERS)]},
        )
        for k, (name, errors) in enumerate(columns.items())
    ]
    data += [
        traces.line_with_points(name, epsilons, errors, "text", 2, "solid", {"size": 5})
        for name, errors in totals.items()
    ]
    data += traces.fitted(epsilons, rates) if rates else []
    heights = np.array(
        [*by_function.ravel(), *(error for errors in (together or {}).values() for error in errors)]
    )
    known = heights[np.isfinite(heights) & (heights > 0)]
    low, high = (known.min() * 0.85, known.max() * 1.15) if len(known) else (0.1, 1.0)
    data.append(traces.upright(here, low, high))
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_largest_at(epsilons, columns, here),
            xaxis=log_axis("Privacy budget ε (log scale)", epsilons[0] * 0.93, epsilons[-1] * 1.07),
            yaxis=log_axis(on_log_scale("Error", unit), low, high, grid=True),
        ),
    }
    return Chart(
        spec,
        _over_budgets_alt(epsilons, by_function, [*columns], unit),
        {"ε": list(epsilons), **columns, **totals, **rates},
    )


def _largest_at(
    epsilons: Sequence[float], columns: Mapping[str, Sequence[Any]], here: float
) -> str:
    """Name the function with the largest error at the budget nearest to the one on screen."""
    index = min(range(len(epsilons)), key=lambda k: abs(np.log(epsilons[k] / here)))
    known = {name: errors[index] for name, errors in columns.items() if errors[index] is not None}
    if not known:
        return f"Nothing would be published at ε = {epsilons[index]:g}"
    return f"Largest error at ε = {epsilons[index]:g}: {max(known, key=known.__getitem__)}"


def _over_budgets_alt(
    epsilons: Sequence[float], by_function: Array, names: Sequence[str], unit: str
) -> str:
    """Describe errors from the first to the last ε at which anything is published."""
    ranges = []
    for name, errors in zip(names, by_function.T, strict=True):
        known = np.flatnonzero(np.isfinite(errors))
        if len(known):
            ends = [in_unit(float(errors[k]), unit) for k in (known[0], known[-1])]
            ranges.append(
                f"{name}, {ends[0]} at ε = {epsilons[known[0]]:g} to {ends[1]} at "
                f"ε = {epsilons[known[-1]]:g}"
            )
    if not ranges:
        return f"At no ε from {epsilons[0]:g} to {epsilons[-1]:g} would anything be published."
    return f"Errors: {'; '.join(ranges)}."
