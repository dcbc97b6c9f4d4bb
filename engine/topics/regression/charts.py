"""Pictures of wavelet regression: the curve, its error by level, one point, what was sent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array, PublicFacts
from engine.figures import labels, small_charts, traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, time_axis
from engine.figures.traces import DASHES, UNPROTECTED, plain
from engine.language.grammar import capital
from engine.language.numbers import in_unit, named, number
from engine.mechanisms.families.wavelets.risk import RiskParts
from engine.topics.regression.answer import (
    ByLevel,
    CostOfPrivacy,
    PointAnswer,
    RegressionAnswer,
    WorstPair,
)
from engine.topics.regression.words import PARTS, shares

_ROLES = (("wavelet", ""), ("without", "/"), ("bias", "x"), ("raw", "."))
BAND_COLUMNS = ("95 % confidence from", "95 % confidence to")
_DASHES_OF_PARTS = ("8px,3px", "6px,4px", "2px,3px", "12px,3px,2px,3px")


def curve(answer: RegressionAnswer, one_release: bool = False) -> Chart:
    """Draw possible releases, or one with its noise range, over the true curve if it is known."""
    x = _positions(answer.facts, answer.times)
    data = _one_release(answer, x) if one_release else [_many(answer)]
    data.append(
        traces.unprotected(
            x,
            _values(answer.facts, answer.ordinary),
            hovertemplate=labels.hover(answer.facts.value_unit),
        )
    )
    table = {
        "position": x,
        "release 1": _values(answer.facts, answer.releases[0]),
        "non-private": _values(answer.facts, answer.ordinary),
    }
    if answer.truth is not None:
        data.append(_curve(answer, "True curve", answer.truth, "truth", 1.6))
        table["true"] = _values(answer.facts, answer.truth)
    if answer.noise_sd is not None:
        table["± 2 standard deviations of the privacy noise alone"] = plain(2 * answer.noise_sd)
    if answer.band is not None:
        for name, end in zip(BAND_COLUMNS, answer.band, strict=True):
            table[name] = _values(answer.facts, end)
    if answer.truth is None:
        off = f"typically {number(answer.known.apart)} from the curve without privacy"
        distance = in_unit(answer.known.apart, answer.facts.value_unit)
        finding = f"Distance to the non-private curve {distance}"
    else:
        off = f"off by {number(answer.error)} (root mean square)"
        finding = f"Error {in_unit(answer.error, answer.facts.value_unit)}"
    band = (
        f" No confidence band: {answer.no_band}."
        if answer.band is None
        else " With a pointwise 95 % confidence band around release 1."
    )
    return Chart(
        _over_positions(answer.facts, data, finding),
        f"{len(answer.releases)} possible releases of the curve, {off}.{band}",
        table,
    )


def _one_release(answer: RegressionAnswer, x: list[float]) -> list[Spec]:
    release = _curve(answer, "One release", answer.releases[0], "wavelet", 2.6)
    if answer.band is not None:
        low, high = (_values(answer.facts, end) for end in answer.band)
        return [
            traces.filled("95 % confidence band", x, low, high, "wavelet", hoverinfo="skip"),
            release,
        ]
    if answer.noise_sd is None:
        return [release]
    low, high = (
        _values(answer.facts, answer.releases[0] + sign * 2 * answer.noise_sd) for sign in (-1, 1)
    )
    return [
        traces.filled("Privacy noise alone", x, low, high, "wavelet", hoverinfo="skip"),
        release,
    ]


def _over_positions(facts: PublicFacts, data: list[Spec], title: str) -> Spec:
    """Make axes of values over positions, in the words and units of the observations."""
    return {
        "data": data,
        "layout": layout(
            legend=True,
            title=title,
            xaxis=time_axis(facts),
            yaxis=axis(named(facts.value_name, facts.value_unit), grid=True),
        ),
    }


def messages(answer: RegressionAnswer, names: Sequence[str]) -> Chart:
    """Draw the messages of the first site of the named kinds as a curve, beside all combined."""
    assert answer.messages is not None
    data = [
        _curve(answer, name, sent, "wavelet", 1.4, DASHES[k % len(DASHES)])
        for k, (name, sent) in enumerate(zip(names, answer.messages, strict=False))
    ]
    data.append(_curve(answer, "All together", answer.releases[0], "text", 2.4))
    return Chart(
        _over_positions(
            answer.facts, data, f"One site of each of {len(names)} kinds, and all together"
        ),
        "What one site of each kind sent, drawn as curves, and their average.",
        {
            "position": _positions(answer.facts, answer.times),
            **{
                name: _values(answer.facts, sent)
                for name, sent in zip(names, answer.messages, strict=False)
            },
        },
    )


def split(parts: RiskParts) -> Chart:
    """Draw one bar of squared error, cut into its four parts."""
    return small_charts.split_bar(shares(parts), PARTS, _ROLES)


def by_level(levels: ByLevel) -> Chart:
    """Draw the root of the error at every level on a log axis, and each part of it."""
    x, index = list(levels.levels), list(levels.levels).index(levels.chosen)
    squared = np.array([[p.privacy, p.data, p.projection, p.clip] for p in levels.parts])
    parts = np.sqrt(np.maximum(squared, 0))
    total = np.sqrt([p.total for p in levels.parts])
    floor = 0.02 * total.min()
    data = [_points("all together", x, total, "text", "solid", floor, 2.6)]
    looks = zip(PARTS, parts.T, _ROLES, _DASHES_OF_PARTS, strict=True)
    data += [_points(name, x, part, role, dash, floor) for name, part, (role, _), dash in looks]
    data.append(traces.diamond(x[index], float(total[index])))
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"The rule keeps {2**levels.chosen} basis functions; "
            f"{2 ** x[int(np.argmin(total))]} have the smallest error",
            xaxis=axis(
                "Basis functions kept (number)", tickvals=x, ticktext=[f"{2**level}" for level in x]
            ),
            yaxis=log_axis("Error (log scale)", floor, float(total.max()) * 1.2, grid=True),
        ),
    }
    return Chart(
        spec,
        f"Error by number of basis functions; the rule keeps {2**levels.chosen}, "
        f"with an error of {number(float(total[index]))}.",
        {
            "level": x,
            "all": plain(total),
            **{name: plain(part) for name, part in zip(PARTS, parts.T, strict=True)},
        },
    )


def point(answer: RegressionAnswer, estimate: PointAnswer) -> Chart:
    """Draw the released value at one point, over the true curve or the one without privacy."""
    position = _positions(answer.facts, np.array([estimate.point]))
    under = (
        _curve(answer, "True curve", answer.truth, "truth", 1.6)
        if answer.truth is not None
        else _curve(answer, "Non-private", answer.ordinary, "without", 2.2, UNPROTECTED)
    )
    table = {"position": position, "released": _values(answer.facts, np.array([estimate.released]))}
    more: Spec = {}
    text = f"no confidence interval: {estimate.no_interval}"
    if estimate.low is not None and estimate.high is not None:
        more["error_y"] = traces.off_by(
            [estimate.high - estimate.released],
            [estimate.released - estimate.low],
            "wavelet",
            2.4,
            7,
        )
        table |= {
            name: _values(answer.facts, np.array([end]))
            for name, end in zip(BAND_COLUMNS, (estimate.low, estimate.high), strict=True)
        }
        text = f"95 % confidence interval {number(estimate.low)} to {number(estimate.high)}"
    data = [
        under,
        traces.points(
            "Released value",
            position,
            [estimate.released],
            {"size": 11, "color": "wavelet"},
            **more,
        ),
    ]
    if estimate.truth is not None:
        table["true"] = plain([estimate.truth])
    finding = f"Released value {number(estimate.released)} at {position[0]:g}"
    return Chart(
        _over_positions(answer.facts, data, finding),
        f"At {position[0]:g} the released value is {number(estimate.released)}; {text}.",
        table,
    )


def cost(costs: CostOfPrivacy, planned: tuple[Array, Array]) -> Chart:
    """Draw the factor by which privacy raises the error, by ε, with the elbows of both tasks.

    `planned` has ε and the same factor for the whole curve by the bound of its plan.
    """
    epsilons, times = planned
    x, highest = (
        plain(costs.epsilons),
        float(max(v.max() for v in (costs.whole, costs.point, times))),
    )
    data = [
        traces.line("Whole curve, by the rate", x, plain(costs.whole), "wavelet", 1.8, "8px,3px"),
        traces.line("One point, by the rate", x, plain(costs.point), "wavelet", 1.8, "2px,3px"),
        traces.line("Whole curve, by its plan", plain(epsilons), plain(times), "wavelet", 2.4),
    ]
    data += [
        traces.line(
            "Elbow",
            [elbow, elbow],
            [1.0, highest],
            "raw",
            1.4,
            "dot",
            showlegend=False,
            hoverinfo="skip",
        )
        for elbow in costs.elbows
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"At ε = {epsilons[0]:g} privacy multiplies the error by "
            f"{number(float(times[0]))}",
            xaxis=log_axis("Privacy budget ε (log scale)", x[0], x[-1]),
            yaxis=log_axis("Error, times the non-private", 0.9, highest * 1.1, grid=True),
        ),
    }
    by_plan = np.exp(np.interp(np.log(costs.epsilons), np.log(epsilons), np.log(times)))
    return Chart(
        spec,
        f"Privacy raises the error of the whole curve {number(float(times[0]))} "
        f"times at ε = {epsilons[0]:g} and {number(float(times[-1]))} times at "
        f"ε = {epsilons[-1]:g}.",
        {
            "ε": x,
            "whole curve": plain(costs.whole),
            "one point": plain(costs.point),
            "whole curve, by its plan": plain(by_plan),
        },
    )


def worst(pair: WorstPair, facts: PublicFacts) -> Chart:
    """Draw the weight of an observation at each position in a message, with the worst marked."""
    x = _positions(facts, pair.times)
    index = int(pair.norms.argmax())
    marker = {
        "symbol": "diamond",
        "size": 13,
        "color": "page",
        "line": {"color": "text", "width": 2.2},
    }
    data = [
        traces.line("weight of an observation", x, plain(pair.norms), "wavelet"),
        traces.points("worst position", [x[index]], [float(pair.norms[index])], marker),
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=f"An observation at {x[index]:.4g} weighs most",
            xaxis=axis(named(f"{facts.time_name}, a few cells", facts.time_unit)),
            yaxis=axis("Weight of an observation ‖b(x)‖", grid=True, rangemode="tozero"),
        ),
    }
    return Chart(
        spec,
        f"An observation weighs most at {x[index]:.4g}.",
        {"position": x[::16], "weight": plain(pair.norms[::16])},
    )


def _curve(
    answer: RegressionAnswer,
    name: str,
    values: Array,
    shade: str,
    width: float,
    dash: str = "solid",
) -> Spec:
    """Draw a line on the grid of the answer, in the units of the observations."""
    return traces.line(
        name,
        _positions(answer.facts, answer.times),
        _values(answer.facts, values),
        shade,
        width,
        dash,
        hovertemplate=labels.hover(answer.facts.value_unit),
    )


def _points(
    name: str, x: list[int], y: Array, shade: str, dash: str, floor: float, width: float = 1.8
) -> Spec:
    """Draw a line with gaps where it falls below what is shown."""
    heights = [float(v) if v > floor and math.isfinite(v) else None for v in y]
    return traces.line_with_points(capital(name), x, heights, shade, width, dash, {"size": 6})


def _many(answer: RegressionAnswer) -> Spec:
    drawn = traces.releases(
        _positions(answer.facts, answer.times[::2]),
        [_values(answer.facts, release[::2]) for release in answer.releases],
        translucent("wavelet", 0.6),
    )
    return {**drawn, "hoverinfo": "skip"}


def _positions(facts: PublicFacts, times: Array) -> list[float]:
    """Convert times on [0, 1] to their own unit."""
    return _rounded(facts.from_unit_time(times), facts.time_high - facts.time_low)


def _values(facts: PublicFacts, values: Array) -> list[float]:
    return _rounded(values, facts.value_high - facts.value_low)


def _rounded(values: Array, span: float) -> list[float]:
    """Round to a hundred-thousandth of a range or less: years and pressures have a large offset."""
    return [float(v) for v in np.round(values, 5 - math.floor(math.log10(span)))]
