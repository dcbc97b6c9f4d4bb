"""The small figures of the cards: odds as dots, errors as dots, an error split as a bar."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.palette import Theme, colour, translucent
from engine.core.types import Array
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout
from engine.figures.traces import UNPROTECTED
from engine.language.numbers import at_most_percent, number, with_unit
from engine.privacy.risk import FALSE_ALARMS, FEW_FALSE_ALARMS, Odds
from engine.privacy.tradeoff import Approximate

_DOTS_IN_A_ROW, _DOTS = 20, 20


def odds(right: float, person: str, theme: Theme) -> Chart:
    """A hundred dots: right by chance, at most so many more, wrong.

    Parameters
    ----------
    right : float
        Chance of a right guess, rounded up to whole dots.
    person : str
        The noun for one person.
    theme : {"light", "dark"}
        Of the page.
    """
    most = min(math.ceil(round(100 * right, 6)), 100)
    places = np.arange(100)
    x, y = places % _DOTS_IN_A_ROW, -(places // _DOTS_IN_A_ROW)
    method, raw = colour("gradient", theme), colour("raw", theme)
    styles = (("right by chance", slice(0, 50), {"color": raw, "symbol": "circle"}),
              ("more", slice(50, most), {"color": method, "symbol": "square"}),
              ("wrong", slice(most, 100), {"color": raw, "symbol": "circle-open"}))
    data = [traces.points(name, x[part].tolist(), y[part].tolist(), {"size": 9, **style},
                          hoverinfo="skip")
            for name, part, style in styles if part.start < part.stop]
    hidden = {"visible": False, "fixedrange": True}
    spec = {"data": data, "layout": layout(theme, xaxis=hidden, yaxis=hidden,
                                             margin={"l": 2, "r": 2, "t": 2, "b": 2})}
    alt = (f"Of 100 attempts to pick the right {person}, 50 succeed by chance and at most "
           f"{max(most - 50, 0)} more.")
    return Chart(spec, alt, {"outcome": ["right by chance", "at most more", "wrong"],
                             "of 100": [50, max(most - 50, 0), 100 - most]})


_ALARMS = np.concatenate([[0.0], np.geomspace(1e-4, 0.05, 40), np.linspace(0.05, 1, 96)[1:]])


def trade_off(odds: Odds, theme: Theme) -> Chart:
    """Detections against false alarms: this noise, what its budget allows, and a blind guess.

    Parameters
    ----------
    odds : Odds
        Its trade-off curve is drawn; without one, that of its budget.
    theme : {"light", "dark"}
        Of the page.
    """
    cap = Approximate(odds.budget)
    curve = odds.curve or cap
    marks = np.array([FEW_FALSE_ALARMS, FALSE_ALARMS])
    looks = (("No information", _ALARMS, "raw", 1.8, "6px,4px"),
             ("(ε, δ) alone, at most", cap.detection(_ALARMS), "without", 1.8, "2px,3px"),
             ("This noise, at most", curve.detection(_ALARMS), "gradient", 2.4, "solid"))
    data = [traces.line(name, _ALARMS.tolist(), y.tolist(), colour(role, theme), width, dash,
                        hovertemplate="%{y:.3f}") for name, y, role, width, dash in looks]
    data.append(traces.points(
        "1 and 5 %", marks.tolist(), curve.detection(marks).tolist(),
        {"size": 9, "symbol": "diamond", "color": colour("gradient", theme)}, hoverinfo="skip",
        showlegend=False))
    unit: Spec = {"range": [0, 1.01], "tickformat": ".1f", "nticks": 6}
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=axis(theme, "False-positive rate", **unit),
        yaxis=axis(theme, "Power: share detected", grid=True, **unit))}
    few, usual = at_most_percent(odds.rarely), at_most_percent(odds.detected)
    alt = (f"At a 1 % false-positive rate an attacker catches the right one {few}, at 5 % {usual}.")
    alarms = np.array([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
    return Chart(spec, alt, {"false alarms": alarms.tolist(),
                             "caught": _up(curve.detection(alarms)),
                             "(ε, δ) alone": _up(cap.detection(alarms))})


def _up(chances: Array) -> list[float]:
    rounded: list[float] = (np.ceil(np.round(1000 * chances, 6)) / 1000).tolist()
    return rounded


def error_dots(errors: Array, baseline: float | None, unit: str, theme: Theme,
               floor: float = math.nan) -> Chart:
    """Twenty equally likely errors as a dot plot; a dashed line marks no protection.

    Parameters
    ----------
    errors : (n_releases,)
        Root mean squared distances, in `unit`.
    baseline : float or None
        The error without protection, where it is known.
    unit : str
        Of the errors; may be empty.
    theme : {"light", "dark"}
        Of the page.
    floor : float
        What no unbiased method with Gaussian noise is below; NaN where it is unknown.
    """
    dots = np.quantile(errors, (np.arange(_DOTS) + 0.5) / _DOTS)
    marks = [mark for mark in (baseline, floor) if mark is not None and math.isfinite(mark)]
    top = float(max(dots.max(), *marks, 0.0)) * 1.08 or 1.0
    # Each dot (_DOTS,) stands in one of 28 columns, above those before it in the same one.
    columns = np.round(dots / top * 28)
    heights = np.array([int((columns[:k] == c).sum()) + 1 for k, c in enumerate(columns)])
    tallest = max(int(heights.max()), 6)
    marker = {"size": 9 if tallest < 9 else 6, "color": colour("gradient", theme)}
    data = [traces.points("one release", (columns * top / 28).tolist(), heights.tolist(), marker,
                          hoverinfo="skip")]
    if baseline is not None:
        data.append(traces.line("without protection", [baseline] * 2, [0, tallest + 1],
                                colour("without", theme), 2, UNPROTECTED, hoverinfo="skip"))
    if math.isfinite(floor):
        data.append(traces.floor([floor] * 2, [0, tallest + 1], theme, hoverinfo="skip"))
    spec = {"data": data, "layout": layout(
        theme, xaxis=axis(theme, with_unit("Error of a release", f"({unit})" if unit else ""),
                          range=[0, top], rangemode="tozero", nticks=5),
        yaxis={"visible": False, "range": [0, tallest + 1], "fixedrange": True})}
    alt = (f"Twenty equally likely errors from {with_unit(number(float(dots[0])), unit)} to "
           f"{with_unit(number(float(dots[-1])), unit)}.")
    return Chart(spec, alt, {f"error ({unit})" if unit else "error": dots.round(4).tolist()})


PARTS = (("gradient", ""), ("without", "/"), ("bias", "x"))  # roles and patterns


def split_bar(shares: Sequence[float], names: Sequence[str], theme: Theme,
              looks: Sequence[tuple[str, str]] = PARTS) -> Chart:
    """One bar of squared error, cut into privacy noise, sampling and bias.

    Parameters
    ----------
    shares : sequence of float
        Adding up to one.
    names : sequence of str
        Of the parts.
    theme : {"light", "dark"}
        Of the page.
    looks : sequence of (role, pattern)
        Of the parts; see `palette.colour`.
    """
    data = [{"type": "bar", "orientation": "h", "x": [float(share)], "y": [""], "name": name,
             "hovertemplate": f"{name} {100 * share:.0f} %<extra></extra>",
             "marker": pattern(colour(role, theme), shape)}
            for share, name, (role, shape) in zip(shares, names, looks, strict=True)]
    hidden = {"visible": False, "fixedrange": True}
    spec = {"data": data, "layout": layout(
        theme, barmode="stack", bargap=0, hovermode="closest", xaxis={**hidden, "range": [0, 1]},
        yaxis=hidden, margin={"l": 0, "r": 0, "t": 2, "b": 2})}
    alt = "Shares of squared error: " + ", ".join(
        f"{name} {100 * share:.0f} %" for share, name in zip(shares, names, strict=True)) + "."
    return Chart(spec, alt, {"part": list(names), "share": [round(float(s), 4) for s in shares]})


def pattern(main: str, shape: str) -> Spec:
    """How a bar is filled, so that it can be told apart without colours.

    Parameters
    ----------
    main : str
        Its colour.
    shape : str
        Plotly's sign of a pattern; empty for a plain fill.
    """
    if not shape:
        return {"color": main}
    return {"color": translucent(main, 0.12), "line": {"color": main, "width": 1},
            "pattern": {"shape": shape, "fgcolor": main, "size": 7, "solidity": 0.4}}
