"""Velocity and acceleration of the curve, and the time of its fastest change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.extremes import highest
from engine.answers.reply import measured, rate_unit, refused, when
from engine.core.registry import param

MIN_FOR_VELOCITY, MIN_FOR_ACCELERATION = 8, 11  # basis functions
_NEAR_END = 0.1
DOUBTFUL_END = (
    "Within a tenth of the time range of its ends, this is less certain than the interval says."
)
_FEW_WAVES = (
    f"With fewer than {MIN_FOR_ACCELERATION} basis functions the greatest speed is read "
    "off the band of velocity."
)


@dataclass(frozen=True, kw_only=True)
class Derivative(CurveQuestion):
    """A derivative of f at one time ± 1.96 standard errors."""

    derivative: ClassVar[int]
    min_size: ClassVar[int]

    time: float | None = param(
        None, "Time", "In the unit of times. Empty: the middle.", low=-1e12, high=1e12
    )

    def answer(self, curve: ReleasedCurve) -> Answer:
        t = curve.unit_time(self.time, "time", 0.5)
        reason = curve.refusal_of_derivative(self.derivative, self.min_size)
        if reason:
            return refused(reason)
        value, limits = curve.linear(lambda f: f(t), order=self.derivative)
        unit = (curve.facts.time_high - curve.facts.time_low) ** self.derivative
        is_near_end = self.derivative == 2 and not _NEAR_END <= t <= 1 - _NEAR_END
        return measured(
            f"{self.label} at {when(curve.facts, curve.time(t))}",
            value / unit,
            (limits[0] / unit, limits[1] / unit),
            rate_unit(curve.facts, self.derivative),
            curve.notes + (DOUBTFUL_END,) * is_near_end,
        )


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Velocity(Derivative):
    """f'(t) ± 1.96 standard errors, from eight basis functions on."""

    key, label, order = "velocity", "Velocity", 50
    derivative, min_size = 1, MIN_FOR_VELOCITY


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Acceleration(Derivative):
    """f''(t) ± 1.96 standard errors, from eleven basis functions on."""

    key, label, order = "acceleration", "Acceleration", 60
    derivative, min_size = 2, MIN_FOR_ACCELERATION


@dataclass(frozen=True, kw_only=True)
class Fastest(CurveQuestion):
    """Base of time and size of the fastest change."""

    direction: str = param(
        "rise",
        "Direction",
        "Rise: fastest growth. Fall: fastest decline.",
        choices=("rise", "fall"),
    )
    start: float | None = param(
        None, "From", "Start of the window. Empty: that of the range.", low=-1e12, high=1e12
    )
    end: float | None = param(
        None, "To", "End of the window. Empty: that of the range.", low=-1e12, high=1e12
    )

    @property
    def sign(self) -> int:
        return 1 if self.direction == "rise" else -1

    @property
    def change(self) -> str:
        return f"Fastest {self.direction}"


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class FastestTime(Fastest):
    """When the curve rises or falls fastest: the peak of velocity, with a 95 % set."""

    key, label, order = "fastest_time", "Time of fastest change", 110

    def answer(self, curve: ReleasedCurve) -> Answer:
        window = curve.window(self.start, self.end)
        reason = curve.refusal_of_derivative(1, MIN_FOR_VELOCITY)
        if reason:
            return refused(reason)
        peak = highest(
            curve.velocity, None if curve.jointly else curve.acceleration, self.sign, window
        )
        return peak.time_answer(curve, window, self.change, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class FastestSpeed(Fastest):
    """Speed of the curve at its fastest change."""

    key, label, order = "fastest_speed", "Greatest speed", 120

    def answer(self, curve: ReleasedCurve) -> Answer:
        window = curve.window(self.start, self.end)
        reason = curve.refusal_of_derivative(1, MIN_FOR_VELOCITY)
        if reason:
            return refused(reason)
        peak = highest(curve.velocity, curve.acceleration, self.sign, window)
        is_rough = curve.size < MIN_FOR_ACCELERATION
        value, limits = peak.height(is_rough or curve.jointly, window)
        unit = curve.facts.time_high - curve.facts.time_low
        notes = curve.notes + (_FEW_WAVES,) * is_rough
        return measured(
            self.change,
            value / unit,
            (limits[0] / unit, limits[1] / unit),
            rate_unit(curve.facts, 1),
            notes,
        )
