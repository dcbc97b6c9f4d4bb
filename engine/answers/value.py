"""The curve at one time, how much it changes, its average over a stretch and the area under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.reply import Interval, measured, refused, span, when, within
from engine.core.registry import param

_NODES = 40
_START = "In the unit of times. Empty: the start of the range."
_END = "In the unit of times. Empty: the end of the range."


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Value(CurveQuestion):
    """f(t) ± 1.96 standard errors."""

    key, label, order = "value", "Value at a time", 10

    time: float | None = param(
        None, "Time", "In the unit of times. Empty: the middle.", low=-1e12, high=1e12
    )

    def answer(self, curve: ReleasedCurve) -> Answer:
        t = curve.unit_time(self.time, "time", 0.5)
        if curve.refusal:
            return refused(curve.refusal)
        facts = curve.facts
        value, limits = within(facts.value_low, facts.value_high, *curve.linear(lambda f: f(t)))
        what = f"{curve.facts.value_name} at {when(curve.facts, curve.time(t))}"
        return measured(what, value, limits, curve.facts.value_unit, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Difference(CurveQuestion):
    """f(t₂) − f(t₁) ± 1.96 standard errors."""

    key, label, order = "difference", "Change between two times", 20

    first: float | None = param(
        None, "From", "In the unit of times. Empty: the start.", low=-1e12, high=1e12
    )
    second: float | None = param(
        None, "To", "In the unit of times. Empty: the end.", low=-1e12, high=1e12
    )

    def answer(self, curve: ReleasedCurve) -> Answer:
        first = curve.unit_time(self.first, "first", 0.0)
        second = curve.unit_time(self.second, "second", 1.0)
        if curve.refusal:
            return refused(curve.refusal)
        most = curve.facts.value_high - curve.facts.value_low
        change, limits = within(-most, most, *curve.linear(lambda f: f(second), lambda f: f(first)))
        what = f"Change from {span(curve.facts, curve.time(first), curve.time(second))}"
        return measured(what, change, limits, curve.facts.value_unit, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Average(CurveQuestion):
    """The integral of f over [s, u], divided by u − s, ± 1.96 standard errors."""

    key, label, order = "average", "Average over a stretch", 30

    start: float | None = param(None, "From", _START, low=-1e12, high=1e12)
    end: float | None = param(None, "To", _END, low=-1e12, high=1e12)

    def answer(self, curve: ReleasedCurve) -> Answer:
        window = curve.window(self.start, self.end)
        if curve.refusal:
            return refused(curve.refusal)
        value, limits = within(
            curve.facts.value_low, curve.facts.value_high, *average(curve, window)
        )
        what = f"Average from {span(curve.facts, *map(curve.time, window))}"
        return measured(what, value, limits, curve.facts.value_unit, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Area(CurveQuestion):
    """The integral of f over [s, u], in time units, ± 1.96 standard errors."""

    key, label, order = "area", "Area under the curve", 40

    start: float | None = param(None, "From", _START, low=-1e12, high=1e12)
    end: float | None = param(None, "To", _END, low=-1e12, high=1e12)

    def answer(self, curve: ReleasedCurve) -> Answer:
        window, facts = curve.window(self.start, self.end), curve.facts
        if curve.refusal:
            return refused(curve.refusal)
        value, limits = within(
            curve.facts.value_low, curve.facts.value_high, *average(curve, window)
        )
        length = curve.time(window[1]) - curve.time(window[0])
        unit = " × ".join(each for each in (facts.value_unit, facts.time_unit) if each)
        return measured(
            f"Area from {span(facts, *map(curve.time, window))}",
            length * value,
            (length * limits[0], length * limits[1]),
            unit,
            curve.notes,
        )


def average(curve: ReleasedCurve, window: Interval) -> tuple[float, Interval]:
    """The average over a window with its 95 % limits, by 40 nodes of Gauss and Legendre."""
    nodes, weights = leggauss(_NODES)
    times = window[0] + (window[1] - window[0]) * (nodes + 1) / 2
    return curve.linear(lambda f: np.asarray(weights / 2 @ f(times)))
