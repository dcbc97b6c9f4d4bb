"""Charts of the mean: the curve at one budget, errors at every budget, the steps of a release."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.answers import ReleasedCurve
from engine.answers.synthetic import SyntheticPeople
from engine.core.palette import translucent
from engine.core.types import Array, PublicFacts
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout, method_style, time_axis
from engine.figures.traces import plain
from engine.language.numbers import digits_up, in_unit, named, number, with_unit
from engine.mechanisms import Mechanism
from engine.topics.mean.answer import MeanAnswer
from engine.topics.mean.error_parts import Chosen, CurveByStep, ErrorParts
from engine.topics.mean.notes import Note

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
        """Build the line of a mechanism with errors (budgets,), None if only its look is wanted.

        Without a label it has that of the nearest named settings.
        """
        label = label or mechanism.nearest_preset()[0]
        variant = [name for name, _ in mechanism.offered()].index(label)
        return cls(label, mechanism.key, mechanism.family, np.asarray(errors), variant)


def steps(done: CurveByStep, times: Array, method: Method, facts: PublicFacts) -> Chart:
    """Draw the curve after each step, less the average without privacy, in response units."""
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
