"""Pictures of counted curves: steps and bands, numbers at risk, differences, calibration, power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.arrays import Flags
from engine.core.bands import ROUNDED_NORMAL
from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import labels, traces
from engine.figures.theme import Chart, Spec, axis, layout, log_axis, time_axis
from engine.figures.traces import UNPROTECTED, numbers_at_risk, plain
from engine.language import counts
from engine.language.numbers import named, number
from engine.numerics.counts.curves import CountedCurve
from engine.topics.counting import words
from engine.topics.counting.answer import CountingAnswer, Power

_ROLES = ("gradient", "bias", "functional", "wavelet")


def curve(answer: CountingAnswer, with_releases: bool = True) -> Chart:
    """Draw released curves with bands, other possible releases, ordinary curve and truth."""
    x, data = answer.times.round(5).tolist(), list[Spec]()
    columns: dict[str, list[Any]] = {_axis_name(answer): plain(answer.times)}
    for k, name in enumerate(answer.names):
        shade, suffix = _ROLES[k % len(_ROLES)], f", {name}" if name else ""
        until = (answer.times <= _last(answer, k) + 1e-9) & (answer.times >= _first(answer, k))
        if with_releases:
            others = [_until(each[k], until) for each in answer.releases[1:8]]
            data.append(
                {
                    **traces.releases(x, others, translucent(shade, 0.35), 0.9),
                    "hoverinfo": "skip",
                    "showlegend": k == 0,
                }
            )
        if answer.curves:
            low, high = answer.curves[k].staircase(answer.times)
            data.append(_band(answer.curves[k], shade, suffix))
            columns |= {
                f"95 % confidence from{suffix}": plain(np.where(until, low, np.nan)),
                f"95 % confidence to{suffix}": plain(np.where(until, high, np.nan)),
            }
        data.append(
            traces.line(
                f"Release{suffix}",
                x,
                _until(answer.releases[0, k], until),
                shade,
                2.6,
                hovertemplate=labels.hover(decimals=3),
            )
        )
        data.append(
            traces.line(
                f"Non-private{suffix}",
                x,
                plain(answer.ordinary[k]),
                "without",
                1.6,
                UNPROTECTED,
                line={"shape": "hv", "dash": UNPROTECTED, "width": 1.6, "color": "without"},
                showlegend=k == 0,
                hovertemplate=labels.hover(decimals=3),
            )
        )
        columns |= {
            f"release{suffix}": plain(np.where(until, answer.releases[0, k], np.nan)),
            f"non-private{suffix}": plain(answer.ordinary[k]),
        }
        if answer.truth is not None:
            data.append(
                traces.line(
                    f"True{suffix}",
                    x,
                    plain(answer.truth[k]),
                    "truth",
                    1.4,
                    showlegend=k == 0,
                    hovertemplate=labels.hover(decimals=3),
                )
            )
            columns[f"true{suffix}"] = plain(answer.truth[k])
    notes, room = _at_risk(answer)
    estimand = answer.estimand
    across = axis(estimand.argument, range=[0, 1]) if estimand.argument else time_axis(answer.facts)
    look = layout(
        legend=True,
        title=words.finding(answer),
        annotations=notes,
        xaxis=across,
        yaxis=axis(estimand.quantity, grid=True, range=[0, 1.02]),
    )
    look["margin"] = {**look["margin"], "b": 8 + room}
    return Chart({"data": data, "layout": look}, _alt(answer), columns)


def _axis_name(answer: CountingAnswer) -> str:
    return answer.estimand.argument or named(answer.facts.time_name, answer.facts.time_unit)


def _last(answer: CountingAnswer, k: int) -> float:
    """Return the end of the k-th curve."""
    return float(answer.curves[k].last) if answer.curves else float(answer.times[-1])


def _first(answer: CountingAnswer, k: int) -> float:
    """Return the beginning of the k-th curve."""
    return float(answer.curves[k].first) if answer.curves else float(answer.times[0])


def _until(values: Array, drawn: Flags) -> list[Any]:
    return plain(np.where(drawn, values, np.nan))


def _band(counted: CountedCurve, shade: str, suffix: str) -> Spec:
    """Draw the band as steps: each interval has a lower and an upper side."""
    count = int(counted.drawn.sum())
    begin = 0 if counted.limits.before is None else int(counted.limits.before)
    edges = np.repeat(np.asarray(counted.edges[begin : count + 1]), 2)[1:-1]  # ends of intervals
    middle = (edges[::2] + edges[1::2]) / 2
    low, high = (np.repeat(side, 2) for side in counted.staircase(middle))
    return traces.filled(
        f"95 % confidence band{suffix}",
        plain(edges),
        plain(low),
        plain(high),
        shade,
        hoverinfo="skip",
    )


def _at_risk(answer: CountingAnswer) -> tuple[list[Spec], int]:
    """Write numbers at risk below the axis, a row for each group, and reserve room for them."""
    of_groups = answer.curves[:: answer.estimand.n_causes(answer.facts)]  # causes share people
    rows = [curve for curve in of_groups if len(curve.at_risk)]
    if not rows:
        return [], 0
    last = max(int(counted.drawn.sum()) for counted in rows)
    return numbers_at_risk(
        {
            "time": rows[0].edges[: last + 1],
            **{str(r): counted.at_risk[: last + 1].tolist() for r, counted in enumerate(rows)},
        }
    )


def height(answer: CountingAnswer, plot: int = 380) -> int:
    """Return the pixels of the picture, with the numbers at risk below it."""
    return plot + _at_risk(answer)[1]


def _alt(answer: CountingAnswer) -> str:
    parts = []
    for k, name in enumerate(answer.names):
        end = _last(answer, k)
        value = float(np.interp(end, answer.times, answer.releases[0, k]))
        at = counts.at_edge(end, answer.curves[k], "") if answer.curves else number(end)
        parts.append(f"{name or 'The release'} is at {number(value)} at {at}")
    return f"{answer.estimand.quantity} by {_axis_name(answer)}: {'; '.join(parts)}."


def difference(answer: CountingAnswer) -> Chart:
    """Draw the difference of two survival curves with its band."""
    groups = answer.difference
    assert groups is not None
    drawn = groups.drawn
    x = plain(np.asarray(answer.curves[0].edges[1:])[drawn])
    low, high = (plain((groups.values + sign * groups.half_width)[drawn]) for sign in (-1, 1))
    values = plain(groups.values[drawn])
    data = [
        traces.filled("95 % confidence band", x, low, high, "gradient", hoverinfo="skip"),
        traces.line_with_points(
            "Difference", x, values, "gradient", 2.2, "solid", {"size": 7, "color": "gradient"}
        ),
    ]
    verdict = "excludes 0 somewhere" if bool(groups.excludes_zero) else "includes 0 everywhere"
    first, second = answer.facts.groups
    spec = {
        "data": data,
        "layout": layout(
            title=f"The band {verdict}",
            xaxis=time_axis(answer.facts),
            yaxis=axis(f"{first} less {second}", grid=True, zeroline=True, zerolinecolor="raw"),
        ),
    }
    return Chart(
        spec,
        f"{first} less {second}: the band {verdict}.",
        {
            _axis_name(answer): x,
            "difference": values,
            "95 % confidence from": low,
            "95 % confidence to": high,
        },
    )


def calibration(answer: CountingAnswer) -> Chart:
    """Draw the share with the label in each bin of the score."""
    calibration, table = answer.calibration, answer.table
    assert calibration is not None and table is not None
    edges = np.asarray(table.cells.edges)
    x, y = ((edges[1:] + edges[:-1]) / 2)[calibration.drawn], calibration.rate[calibration.drawn]
    width = ROUNDED_NORMAL * calibration.error[calibration.drawn]
    right = int((np.abs(y - x) <= width + (edges[1] - edges[0]) / 2).sum())
    bars = traces.off_by(plain(width), plain(width), "gradient", 2, 4)
    data = [
        traces.line(
            "Right",
            [edges[0], edges[-1]],
            [edges[0], edges[-1]],
            "quiet",
            1.4,
            UNPROTECTED,
            hoverinfo="skip",
        ),
        traces.points(
            "Release", plain(x), plain(y), {"size": 9, "color": "gradient"}, error_y=bars
        ),
    ]
    spec = {
        "data": data,
        "layout": layout(
            title=f"The score is right in {right} of {len(x)} bins",
            xaxis=axis(named(answer.facts.time_name, answer.facts.time_unit)),
            yaxis=axis("Share with the label", grid=True, range=[0, 1.05]),
        ),
    }
    return Chart(
        spec,
        f"Share with the label in {len(x)} bins of the score.",
        {"score": plain(x), "share": plain(y), "95 % half-width": plain(width)},
    )


def over_budgets(epsilons: Sequence[float], errors: Array, here: float) -> Chart:
    """Draw the error (epsilons,) against ε; it is NaN where nothing would be published."""
    known = np.isfinite(errors)
    data = [
        traces.line_with_points(
            "Error",
            plain(epsilons),
            plain(errors),
            "gradient",
            2.4,
            "solid",
            {"size": 8, "color": "gradient"},
        )
    ]
    top = float(errors[known].max()) * 1.1 if known.any() else 1.0
    data.append(traces.upright(here, 0.0, top))
    first, last = errors[known][[0, -1]].tolist() if known.any() else (np.nan, np.nan)
    spec = {
        "data": data,
        "layout": layout(
            title=labels.changed("Error", first, last),
            xaxis=log_axis("Privacy budget ε", min(epsilons), max(epsilons), room=0.04),
            yaxis=axis("Error", grid=True, rangemode="tozero"),
        ),
    }
    return Chart(
        spec,
        f"{labels.changed('Error', first, last)} over ε.",
        {"ε": plain(epsilons), "error": plain(errors)},
    )


def power(tests: Power) -> Chart:
    """Draw the tests' power against the number of people."""
    x = list(tests.people)
    data = [
        traces.line_with_points(
            "Private test",
            x,
            plain(tests.private),
            "gradient",
            2.4,
            "solid",
            {"size": 8, "color": "gradient"},
        ),
        traces.line("Ordinary test", x, plain(tests.ordinary), "without", 2, UNPROTECTED),
        traces.line(
            "Wanted", [x[0], x[-1]], [tests.target] * 2, "quiet", 1.2, "2px,3px", hoverinfo="skip"
        ),
    ]
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=words.people_for(tests),
            xaxis=log_axis("People", x[0], x[-1], room=0.03),
            yaxis=axis("Power", grid=True, range=[0, 1.04], tickformat=".0%"),
        ),
    }
    return Chart(
        spec,
        f"Power of the private test: {number(float(tests.private[0]))} with {x[0]} "
        f"people, {number(float(tests.private[-1]))} with {x[-1]}.",
        {"people": x, "private test": plain(tests.private), "ordinary test": plain(tests.ordinary)},
    )
