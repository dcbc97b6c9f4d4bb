"""Survival at a time, the mean time up to it, medians, and curves adjusted for groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.answers.reply import Answer, Interval, Verdict, refused, when, with_unit, written
from engine.answers.survival import ReleasedSurvival, SurvivalQuestion, survival_questions
from engine.core.errors import InputError
from engine.core.registry import param
from engine.numerics.counts.bands import restricted_mean
from engine.numerics.counts.contrasts import COMPARED_AT, Contrast, Contrasts, nearest_edge
from engine.numerics.counts.curves import CountedCurve

_TIME = "In the unit of times; the nearest edge of an interval is taken. Empty: halfway."
_AT_EDGES = (
    "Counts are known at edges of intervals. State a time among the edges before the release to "
    "have it exactly."
)
_Reading = tuple[float, Interval] | None


@survival_questions.register
@dataclass(frozen=True, kw_only=True)
class Milestone(SurvivalQuestion):
    """S at an edge with its pointwise interval; of two groups also their difference."""

    key, label, order = "milestone", "Survival at a time", 10

    time: float | None = param(None, "Time", _TIME, low=-1e12, high=1e12)

    def answer(self, released: ReleasedSurvival) -> Answer:
        edge, until = _edge(released, self.time)
        return _answer(
            released,
            f"Without an event at {when(released.facts, until)}",
            [_survival(curve, edge) for curve in released.curves],
            "%",
            lambda compared: compared.milestone,
            self.time,
        )


@survival_questions.register
@dataclass(frozen=True, kw_only=True)
class MeanUntil(SurvivalQuestion):
    """The area under S up to an edge with its interval; of two groups also their difference."""

    key, label, order = "restricted_mean", "Mean time without an event", 20

    until: float | None = param(None, "Until", _TIME, low=-1e12, high=1e12)

    def answer(self, released: ReleasedSurvival) -> Answer:
        edge, until = _edge(released, self.until)
        return _answer(
            released,
            f"Mean time without an event within {when(released.facts, until)}",
            [_mean(curve, edge) for curve in released.curves],
            released.facts.time_unit,
            lambda compared: compared.mean,
            self.until,
        )


@survival_questions.register
@dataclass(frozen=True, kw_only=True)
class Median(SurvivalQuestion):
    """When half have had the event, with its interval."""

    key, label, order = "median", "Median", 30

    def answer(self, released: ReleasedSurvival) -> Answer:
        found = [
            (float(curve.median.time), (float(curve.median.low), float(curve.median.high)))
            for curve in released.curves
            if curve.median is not None
        ]
        if not all(math.isfinite(time) for time, _ in found) or not found:
            return Answer(
                Verdict.OPEN,
                "Median: not reached in every group within what is shown.",
                notes=_notes(released, None),
            )
        readings: list[_Reading] = [(time, limits) for time, limits in found]
        return _answer(released, "Half have had the event", readings, released.facts.time_unit)


@survival_questions.register
@dataclass(frozen=True, kw_only=True)
class Adjusted(SurvivalQuestion):
    """Σ w_g S_g at an edge: survival if groups had such shares."""

    key, label, order = "adjusted", "Survival adjusted for groups", 40

    weights: str = param(
        "",
        "Weights of the groups",
        "Shares of a standard population, such as 0.4,0.3,0.3, in the order of the groups. Empty: "
        "those of the release, else equal ones.",
    )
    time: float | None = param(None, "Time", _TIME, low=-1e12, high=1e12)

    def answer(self, released: ReleasedSurvival) -> Answer:
        groups = released.facts.groups
        if not groups:
            return refused("A curve is adjusted for groups; this release has none.")
        adjusted = released.adjusted(_weights(self.weights, released))
        edge, until = _edge(adjusted, self.time)
        (curve,) = adjusted.curves
        return _answer(
            adjusted,
            f"Adjusted for {', '.join(groups)}, without an event at {when(adjusted.facts, until)}",
            [_survival(curve, edge)],
            "%",
            time=self.time,
        )


def _weights(text: str, released: ReleasedSurvival) -> tuple[float, ...]:
    facts = released.facts
    if not text.strip():
        return facts.group_weights or (1 / len(facts.groups),) * len(facts.groups)
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            "“weights” must be numbers with commas between them.",
            field="weights",
            hint="For example 0.4,0.3,0.3.",
        ) from None


def _edge(released: ReleasedSurvival, time: float | None) -> tuple[int, float]:
    """The interval that ends nearest to a time, and where it ends."""
    edges = released.table.cells.edges
    if time is None:
        time = edges[0] + COMPARED_AT * (edges[-1] - edges[0])
    if not edges[0] < time <= edges[-1]:
        raise InputError(
            f"The time must lie within the follow-up, {edges[0]:g} to {edges[-1]:g}.", field="time"
        )
    edge = nearest_edge(edges, time)
    return edge, edges[edge + 1]


def _survival(curve: CountedCurve, edge: int) -> _Reading:
    if not bool(curve.limits.follows(edge)):
        return None
    value, low, high = (
        100 * float(each[..., edge])
        for each in (curve.values, curve.pointwise_low, curve.pointwise_high)
    )
    return value, (low, high)


def _mean(curve: CountedCurve, edge: int) -> _Reading:
    found = restricted_mean(curve.edges, curve.limits, edge)
    mean, half = float(found.mean), float(found.half_width)
    return (mean, (mean - half, mean + half)) if math.isfinite(mean) else None


def _answer(
    released: ReleasedSurvival,
    what: str,
    readings: Sequence[_Reading],
    unit: str,
    compared: Callable[[Contrasts], Contrast] | None = None,
    time: float | None = None,
) -> Answer:
    """Write the reading of each curve, and the difference of two groups."""
    shown = [each for each in readings if each is not None]
    if len(shown) < len(readings) or not shown:
        return refused(f"{what}: not shown, because too few {released.facts.people} are left.")
    parts = [
        f"{name} {_written(*reading, unit)}".strip()
        for name, reading in zip(released.names, shown, strict=True)
    ]
    text = f"{what}: {'; '.join(parts)}."
    if compared is not None and released.table.is_compared:
        contrast = compared(Contrasts.of(released.curves, time))
        times = 100.0 if unit == "%" else 1.0
        value, half = times * float(contrast.difference), times * float(contrast.half_width)
        points = "percentage points" if unit == "%" else unit
        names = released.facts.groups
        difference = _written(value, (value - half, value + half), points)
        text += f" {names[0]} minus {names[1]}: {difference}."
    return Answer(
        Verdict.TOLD,
        text,
        shown[0][0],
        (shown[0][1],),
        unit,
        tuple(value for value, _ in shown),
        _notes(released, time),
    )


def _written(value: float, limits: Interval, unit: str) -> str:
    low, high = limits
    width = high - low if np.isfinite(high) else max(abs(value), 1e-9)
    number, *ends = written([value, low, *((high,) if math.isfinite(high) else ())], width)
    until = f"to {ends[1]}" if len(ends) > 1 else "to beyond what is shown"
    return f"{with_unit(number, unit)} (95 %: {ends[0]} {until})"


def _notes(released: ReleasedSurvival, time: float | None) -> tuple[str, ...]:
    """Say how a stated time was taken, and where curves begin late."""
    edges, notes = released.table.cells.edges, list[str]()
    if time is not None and time not in edges:
        notes.append(_AT_EDGES)
    first = max(float(curve.first) for curve in released.curves)
    if first > edges[0]:
        notes.append(
            f"Curves begin at {when(released.facts, first)} and are about "
            f"{released.facts.people} without an event until then."
        )
    return tuple(notes)
