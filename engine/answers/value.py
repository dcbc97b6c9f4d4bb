"""The curve at one time, and how much it changes between two."""

from __future__ import annotations

from dataclasses import dataclass

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.reply import measured, refused, span, when
from engine.core.registry import param


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Value(CurveQuestion):
    """f(t) ± 1.96 standard errors."""

    key, label, order = "value", "Value at a time", 10

    time: float | None = param(None, "Time", "In the unit of times. Empty: the middle.",
                               low=-1e12, high=1e12)

    def answer(self, curve: ReleasedCurve) -> Answer:
        t = curve.unit_time(self.time, "time", 0.5)
        if curve.refusal:
            return refused(curve.refusal)
        value, limits = curve.linear(lambda f: f(t))
        what = f"{curve.facts.value_name} at {when(curve.facts, curve.time(t))}"
        return measured(what, value, limits, curve.facts.value_unit, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Difference(CurveQuestion):
    """f(t₂) − f(t₁) ± 1.96 standard errors."""

    key, label, order = "difference", "Change between two times", 20

    first: float | None = param(None, "From", "In the unit of times. Empty: the start.",
                                low=-1e12, high=1e12)
    second: float | None = param(None, "To", "In the unit of times. Empty: the end.",
                                 low=-1e12, high=1e12)

    def answer(self, curve: ReleasedCurve) -> Answer:
        first = curve.unit_time(self.first, "first", 0.0)
        second = curve.unit_time(self.second, "second", 1.0)
        if curve.refusal:
            return refused(curve.refusal)
        change, limits = curve.linear(lambda f: f(second), lambda f: f(first))
        what = f"Change from {span(curve.facts, curve.time(first), curve.time(second))}"
        return measured(what, change, limits, curve.facts.value_unit, curve.notes)
