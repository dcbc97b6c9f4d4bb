"""Charts of the mean: the curve at one budget, errors at every budget, the steps of a release."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from engine.answers import ReleasedCurve
from engine.answers.synthetic import SyntheticPeople
from engine.core.palette import translucent
from engine.core.types import Array, PublicFacts
from engine.figures import labels, traces
from engine.figures.theme import (
    Chart,
    Spec,
    axis,
    layout,
    log_axis,
    method_style,
    on_log_scale,
    time_axis,
)
from engine.figures.traces import UNPROTECTED, plain
from engine.language import error_words
from engine.language.grammar import capital, uncapital
from engine.language.numbers import digits_up, in_unit, named, number, times, with_unit
from engine.language.odds_words import odds_short
from engine.mechanisms import Mechanism
from engine.privacy.risk import Odds
from engine.topics.mean.answer import MeanAnswer
from engine.topics.mean.error_parts import Chosen, CurveByStep, ErrorParts
from engine.topics.mean.notes import Note

_BUDGETS = "Privacy budget ε (log scale)"
_STEPS = ("Fewer coefficients", "Clipped and smoothed", "With noise: one release")
Shows = Literal["release", "releases", "difference"]


@dataclass(frozen=True)
class Method:
    """A line of the chart."""

    label: str
    key: str
    family: str
    errors: Array  # (budgets,): in response units, NaN where it gives nothing
    variant: int = 0  # counts the named settings of one mechanism

    @classmethod
    def of(
        cls, mechanism: Mechanism, errors: Sequence[float] | Array = (), label: str = ""
    ) -> Method:
        """Build the line of a mechanism as it is set.

        Parameters
        ----------
        errors : (budgets,)
            None where only its look is wanted.
        label : str
            One of its named settings; if empty, the nearest.
        """
        label = label or mechanism.nearest_preset()[0]
        variant = [name for name, _ in mechanism.offered()].index(label)
        return cls(label, mechanism.key, mechanism.family, np.asarray(errors), variant)


def against_budget(
    answer: MeanAnswer,
    here: int,
    method: Method,
    *,
    odds: Sequence[Odds] = (),
    others: Sequence[Method] = (),
    in_table: Sequence[Method] = (),
    theory: Mapping[str, Array] | None = None,
    floor: Array | None = None,
) -> Chart:
    """Draw error and 95 % range of releases against ε, with floor, theory and the present ε.

    Below every ε stands the attacker's accuracy with the method of the answer: so it never stands
    alone. The axis ends at the range of the values, from where on an error says nothing.

    Parameters
    ----------
    here : int
        The place of the budget that is marked.
    odds : sequence of Odds
        Of an attacker against the method, at every budget.
    theory : mapping of str to (budgets,), optional
        Rates with fitted constants by their names, in response units.
    floor : (budgets,), optional
        What no unbiased method with Gaussian noise is below, in response units.
    """
    study, facts = answer.study, answer.facts
    x, unit = [budget.epsilon for budget in answer.budgets], facts.value_unit
    errors = method.errors
    low, high = (np.where(answer.published, study.quantile(q), np.nan) for q in (0.025, 0.975))
    data = [_range(x, low, high, method)]
    data += [_line(x, line, unit) for line in (method, *others)]
    if study.baseline is not None:
        data.append(
            traces.line(
                "Non-private",
                [x[0], x[-1]],
                [study.baseline, study.baseline],
                "without",
                2.2,
                UNPROTECTED,
                hovertemplate=f"%{{y:.3g}} {unit}",
            )
        )
    data += traces.fitted(
        x,
        {name: _gaps(rate) for name, rate in (theory or {}).items()},
        hovertemplate=f"%{{y:.3g}} {unit}",
    )
    if floor is not None:
        data.append(traces.floor(x, _gaps(floor), hovertemplate=f"%{{y:.3g}} {unit}"))
    if np.isfinite(errors[here]):
        data.append(traces.diamond(x[here], float(errors[here])))
    heights = np.concatenate(
        [
            low,
            high,
            *(line.errors for line in others),
            [study.baseline or np.nan],
            [] if floor is None else floor[np.isfinite(errors)],
        ]
    )
    frame = layout(
        legend=True,
        title=_finding(method, others, study.baseline, x[here], here),
        xaxis=_budgets(x, method.label, odds),
        yaxis=_errors(heights, facts),
    )
    return Chart(
        {"data": data, "layout": frame},
        _alt(x, errors, here, unit),
        _table(x, errors, low, high, study.baseline, (*others, *in_table), floor, theory or {}),
    )


def _finding(
    method: Method, others: Sequence[Method], baseline: float | None, epsilon: float, here: int
) -> str:
    """Name the best of several methods, or how much larger privacy makes the error."""
    if others:
        errors = {each.label: float(each.errors[here]) for each in (method, *others)}
        return labels.smallest_error(errors, f"ε = {epsilon:g}")
    error = float(method.errors[here])
    if not math.isfinite(error):
        return f"Nothing would be published at ε = {epsilon:g}"
    if not baseline:
        return f"The error is {number(error)} at ε = {epsilon:g}"
    if error < 1.05 * baseline:
        return f"Privacy hardly adds to the error at ε = {epsilon:g}"
    factor = times(error / baseline).removesuffix(" times")
    return f"At ε = {epsilon:g} privacy multiplies the error by {factor}"


def _alt(x: list[float], errors: Array, here: int, unit: str) -> str:
    known = np.flatnonzero(np.isfinite(errors))
    if not len(known):
        return f"At no ε from {x[0]:g} to {x[-1]:g} would anything be published."

    def error_at(k: int) -> str:
        return f"{in_unit(float(errors[k]), unit)} at ε = {x[k]:g}"

    present = (
        f"At ε = {x[here]:g} the error is {in_unit(float(errors[here]), unit)}"
        if here in known
        else f"At ε = {x[here]:g} nothing would be published"
    )
    return f"{present}; it falls from {error_at(int(known[0]))} to {error_at(int(known[-1]))}."


def _range(x: list[float], low: Array, high: Array, method: Method) -> Spec:
    """Draw the middle 95 % of releases, where anything is published."""
    known = np.isfinite(method.errors)
    return traces.filled(
        "95 % of releases",
        np.array(x)[known].tolist(),
        low[known].tolist(),
        high[known].tolist(),
        method.family,
        hoverinfo="skip",
        showlegend=False,
    )


def _line(x: list[float], method: Method, unit: str) -> Spec:
    shade, dash, symbol = method_style(method.key, method.family, method.variant)
    marker = {"size": 7, "symbol": symbol, "line": {"width": 1.4, "color": shade}}
    return traces.line_with_points(
        method.label,
        x,
        _gaps(method.errors),
        shade,
        2,
        dash,
        marker,
        hovertemplate=f"%{{y:.3g}} {unit}",
    )


def _gaps(values: Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


def _errors(heights: Array, facts: PublicFacts) -> Spec:
    """Scale the axis of errors to `heights`, as far as the range of the values."""
    heights = heights[np.isfinite(heights) & (heights > 0)]
    bottom, top = (heights.min() * 0.85, heights.max() * 1.15) if len(heights) else (0.1, 1.0)
    width = 2 * facts.value_half_width
    name = on_log_scale(capital(error_words.error_name(facts)), facts.value_unit)
    return log_axis(name, bottom, max(min(top, width), 2 * bottom), grid=True)


def _budgets(x: list[float], label: str, odds: Sequence[Odds]) -> Spec:
    """Label the axis of budgets with what an attacker gains from the method at each."""
    allowed = {epsilon: _allowed(each) for epsilon, each in zip(x, odds, strict=False)}
    below = f"<br>attacker’s accuracy in %, {uncapital(label)}" if odds else ""
    spec = log_axis(_BUDGETS + below, x[0] * 0.93, x[-1] * 1.07)
    spec["ticktext"] = [
        f"{text}<br>{allowed[epsilon]}" if epsilon in allowed else text
        for text, epsilon in zip(spec["ticktext"], spec["tickvals"], strict=True)
    ]
    return spec


def _allowed(odds: Odds) -> str:
    """Write right guesses in 100, rounded up."""
    return odds_short(odds).partition(" %")[0].replace(" ", "")


def _table(
    x: list[float],
    errors: Array,
    low: Array,
    high: Array,
    baseline: float | None,
    others: Sequence[Method],
    floor: Array | None,
    theory: Mapping[str, Array],
) -> dict[str, list[Any]]:
    columns = {"error": errors, "2.5 % below": low, "2.5 % above": high}
    if baseline is not None:
        columns["non-private"] = np.full(len(x), baseline)
    if floor is not None:
        columns[traces.FLOOR.lower()] = floor
    columns |= {name.lower(): rate for name, rate in theory.items()}
    columns |= {other.label: other.errors for other in others}
    return {"ε": x, **{name: _gaps(values.round(4)) for name, values in columns.items()}}


# -- one budget taken apart --------------------------------------------------------------------


def steps(done: CurveByStep, times: Array, method: Method, facts: PublicFacts) -> Chart:
    """Draw the curve after each step, less the average without privacy.

    Parameters
    ----------
    done : CurveByStep
        Curves after each step, in response units.
    times : (points,)
        In their own unit.
    """
    shade, dash, _ = method_style(method.key, method.family, method.variant)
    looks = (("raw", 2.2, "2px,3px"), ("bias", 2.2, "8px,3px"), (shade, 2.6, dash))
    away = {
        name: plain(curve - done.ordinary)
        for name, curve in zip(_STEPS, (done.fewer, done.noise_free, done.released), strict=True)
    }
    data = [
        traces.line(name, plain(times), curve, *look, hoverinfo="skip")
        for (name, curve), look in zip(away.items(), looks, strict=True)
    ]
    spec = {
        "data": [*data, traces.zero(facts)],
        "layout": _difference_axes(facts, _largest_move(done, facts), legend=True),
    }
    far = ", ".join(
        f"{name.lower()} {in_unit(move, facts.value_unit)}"
        for name, move in zip(_STEPS, done.moves, strict=True)
    )
    return Chart(
        spec,
        f"How far each step moves the average: {far}.",
        {named(facts.time_name, facts.time_unit): times.round(3).tolist(), **away},
    )


def left(parts: ErrorParts, switched_on: Chosen, method: Method, facts: PublicFacts) -> Chart:
    """Draw errors of twenty releases from some of their three parts, on the axes of the whole.

    Parts are in the order of `language.error_words.parts`.
    """
    shade, dash, _ = method_style(method.key, method.family, method.variant)
    lines, whole = parts.lines(switched_on), parts.lines((True, True, True))
    edge = 1.1 * float(np.quantile(np.abs(whole), 0.99)) or 1.0
    x, y = traces.joined(plain(parts.times, 4), [plain(line, 4) for line in lines])
    errors = traces.line(
        "Errors of releases", x, y, translucent(shade, 0.85), 1.1, dash, hoverinfo="skip"
    )
    typical = in_unit(parts.error[switched_on], facts.value_unit)
    spec = {
        "data": [errors, traces.zero(facts)],
        "layout": _difference_axes(facts, f"Error {typical}", range=[-edge, edge]),
    }
    low, middle, high = np.quantile(lines, (0.05, 0.5, 0.95), axis=0)
    return Chart(
        spec,
        f"Errors of {len(lines)} releases with the parts that are switched on: "
        f"typically {typical}.",
        {
            named(facts.time_name, facts.time_unit): parts.times.round(3).tolist(),
            "5 % quantile": plain(low),
            "median": plain(middle),
            "95 % quantile": plain(high),
        },
    )


def _largest_move(done: CurveByStep, facts: PublicFacts) -> str:
    name, move = max(zip(_STEPS, done.moves, strict=True), key=lambda step: step[1])
    return f"{name.split(':')[0]}: {in_unit(move, facts.value_unit)}, the largest step"


def _difference_axes(
    facts: PublicFacts, title: str, legend: bool = False, **changes: object
) -> Spec:
    return layout(
        legend=legend,
        hovermode=False,
        title=title,
        xaxis=time_axis(facts),
        yaxis=axis(named("Difference", facts.value_unit), grid=True, nticks=6, **changes),
    )


def curve(
    answer: MeanAnswer, budget: int, shows: Shows = "release", notes: Sequence[Note] = ()
) -> Chart:
    """Draw the private mean beside the non-private one, at one budget.

    `shows` is one "release" with its 95 % confidence band, equally likely "releases", or the
    "difference": these less the non-private mean. Numbers of notes stand at their places.
    """
    facts, x = answer.facts, answer.times.round(4).tolist()
    less = answer.ordinary if shows == "difference" else np.zeros_like(answer.ordinary)
    releases = answer.releases[budget] - less
    if shows == "release":
        data = [
            *_band(answer, budget, x),
            traces.line("Private mean", x, plain(releases[0]), "gradient", 2.8),
        ]
    else:
        data = [traces.releases(x, map(plain, releases), translucent("gradient", 0.6))]
    data.append(
        traces.line(
            "Non-private mean", x, plain(answer.ordinary - less), "without", 2.2, traces.UNPROTECTED
        )
    )
    if answer.truth is not None and shows != "difference":
        data.append(traces.line("True mean", x, plain(answer.truth), "truth", 1.6))
    if notes:
        data.append(_numbers(notes))
    quantity = "Private less non-private mean" if shows == "difference" else facts.value_name
    finding = _curve_finding(answer, budget, shows)
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=finding,
            xaxis=time_axis(facts),
            yaxis=axis(named(quantity, facts.value_unit), grid=True),
        ),
    }
    return Chart(spec, f"{finding}.", _columns(answer, budget))


def _numbers(notes: Sequence[Note]) -> Spec:
    """Number the notes, each in a circle at its place."""
    circle = {
        "symbol": "circle",
        "size": 21,
        "color": "page",
        "line": {"color": "text", "width": 1},
    }
    return traces.points(
        "Notes",
        [note.x for note in notes],
        [note.y for note in notes],
        circle,
        mode="markers+text",
        text=[str(k) for k in range(1, len(notes) + 1)],
        textposition="middle center",
        hoverinfo="skip",
        showlegend=False,
    )


def _curve_finding(answer: MeanAnswer, budget: int, shows: Shows) -> str:
    """State the distance of the drawn release, or of each, from the non-private mean."""
    facts, far = answer.facts, np.abs(answer.releases[budget] - answer.ordinary).max(axis=-1)
    if shows == "release":
        within = number(digits_up(float(far[0]), 3))
        return f"Release within {with_unit(within, facts.value_unit)} of the non-private mean"
    nearest, furthest = number(float(far.min())), number(digits_up(float(far.max()), 3))
    return (
        f"Largest distance from the non-private mean: {nearest} to "
        f"{with_unit(furthest, facts.value_unit)}"
    )


def _band(answer: MeanAnswer, budget: int, x: list[float]) -> list[Spec]:
    """Draw a confidence band, if the method gives one."""
    if answer.band is None:
        return []
    return [
        traces.filled(
            "95 % confidence band",
            x,
            plain(answer.band.low[budget, 0]),
            plain(answer.band.high[budget, 0]),
            "gradient",
            hoverinfo="skip",
        )
    ]


def _columns(answer: MeanAnswer, budget: int) -> dict[str, list[float]]:
    columns: dict[str, Array] = {
        answer.facts.time_name: answer.times,
        "private mean": answer.releases[budget, 0],
        "non-private mean": answer.ordinary,
    }
    if answer.band is not None:
        columns |= {
            "95 % band from": answer.band.low[budget, 0],
            "95 % band to": answer.band.high[budget, 0],
        }
    if answer.truth is not None:
        columns["true mean"] = answer.truth
    return {name: plain(values) for name, values in columns.items()}


# -- synthetic people, with their watermark in the picture -----------------------------------------


SHOWN_PEOPLE = 40
_WATERMARK_WIDTH = 58  # characters of a line of the watermark
_BELOW, _LINE = 52, 15  # pixels from the axis to its first line, and of a line


def synthetic_curves(people: SyntheticPeople, curve: ReleasedCurve, mark: str) -> Chart:
    """Draw curves of the first synthetic people around the released mean, with the watermark."""
    facts, x = curve.facts, plain(people.at)
    drawn = people.curves[:SHOWN_PEOPLE]
    unit_times = np.asarray(facts.to_unit_time(people.at))
    mean = curve.row_maps[0](unit_times, 0) @ curve.centre + curve.public(unit_times)
    joined = traces.joined(x, map(plain, drawn))
    data = [
        traces.line(
            "Synthetic people", *joined, translucent("without", 0.5), 1.0, hoverinfo="skip"
        ),
        traces.line("Private mean", x, plain(mean), "gradient", 2.8),
    ]
    lines = textwrap.wrap(mark, _WATERMARK_WIDTH)
    on_paper = {"xref": "paper", "yref": "paper", "showarrow": False}
    stamp = {
        **on_paper,
        "text": "SYNTHETIC",
        "x": 0.95,
        "y": 0.05,
        "xanchor": "right",
        "yanchor": "bottom",
        "opacity": 0.25,
        "font": {"size": 30, "color": "text"},
    }
    words = {
        **on_paper,
        "text": "<br>".join(lines),
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "yshift": -_BELOW,
        "align": "left",
        "font": {"size": 11, "color": "text"},
    }
    frame = layout(legend=True, title="Synthetic people around the private mean")
    frame["margin"]["b"] = _BELOW + _LINE * len(lines)
    spec = {
        "data": data,
        "layout": frame
        | dict(
            annotations=[stamp, words],
            xaxis=time_axis(facts),
            yaxis=axis(named(facts.value_name, facts.value_unit), grid=True),
        ),
    }
    low, high = np.quantile(people.curves, [0.1, 0.9], axis=0)
    return Chart(
        spec,
        mark,
        {
            facts.time_name: x,
            "private mean": plain(mean),
            "10th percentile of synthetic people": plain(low),
            "90th percentile of synthetic people": plain(high),
        },
    )
