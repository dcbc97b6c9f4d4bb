"""How fast the curve changes: velocity, acceleration, and when it changes fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.extremes import highest
from engine.answers.reply import Verdict, measured, rate_unit, refused, when
from engine.core.registry import param

VELOCITY_FROM, ACCELERATION_FROM = 8, 11  # waves
_NEAR_END = 0.1
DOUBTFUL_END = "Within a tenth of the time range of an end it is less certain than it says."
_FEW_WAVES = ("With fewer than 11 basis functions the greatest speed is read off the band of "
              "velocity.")


@dataclass(frozen=True, kw_only=True)
class Derivative(CurveQuestion):
    """A derivative of f at one time ± 1.96 standard errors."""

    derivative: ClassVar[int]
    least: ClassVar[int]

    time: float | None = param(None, "Time", "In the unit of times. Empty: the middle.",
                               low=-1e12, high=1e12)

    def answer(self, curve: ReleasedCurve) -> Answer:
        t = curve.unit_time(self.time, "time", 0.5)
        reason = curve.refusal_of_derivative(self.derivative, self.least)
        if reason:
            return refused(reason)
        value, limits = curve.linear(lambda f: f(t), order=self.derivative)
        per = (curve.facts.time_high - curve.facts.time_low) ** self.derivative
        near_end = self.derivative == 2 and not _NEAR_END <= t <= 1 - _NEAR_END
        return measured(
            f"{self.label} at {when(curve.facts, curve.time(t))}", value / per,
            (limits[0] / per, limits[1] / per), rate_unit(curve.facts, self.derivative),
            curve.notes + (DOUBTFUL_END,) * near_end)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Velocity(Derivative):
    """f'(t) ± 1.96 standard errors, from eight waves on."""

    key, label, order = "velocity", "Velocity", 50
    derivative, least = 1, VELOCITY_FROM


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Acceleration(Derivative):
    """f''(t) ± 1.96 standard errors, from eleven waves on."""

    key, label, order = "acceleration", "Acceleration", 60
    derivative, least = 2, ACCELERATION_FROM


@dataclass(frozen=True, kw_only=True)
class Fastest(CurveQuestion):
    """What is common to time and size of the fastest change."""

    direction: str = param("rise", "Direction", "Rise: fastest growth. Fall: fastest decline.",
                           choices=("rise", "fall"))
    start: float | None = param(None, "From", "Start of the window. Empty: that of the range.",
                                low=-1e12, high=1e12)
    end: float | None = param(None, "To", "End of the window. Empty: that of the range.",
                              low=-1e12, high=1e12)

    @property
    def sign(self) -> int:
        return 1 if self.direction == "rise" else -1


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class FastestTime(Fastest):
    """When the curve rises or falls fastest: the peak of velocity, with a 95 % set."""

    key, label, order = "fastest_time", "Time of fastest change", 110

    def answer(self, curve: ReleasedCurve) -> Answer:
        window = curve.window(self.start, self.end)
        reason = curve.refusal_of_derivative(1, VELOCITY_FROM)
        if reason:
            return refused(reason)
        found = highest(curve.velocity, None if curve.jointly else curve.acceleration, self.sign,
                        window)
        word = "Fastest rise" if self.sign > 0 else "Fastest fall"
        return found.time_answer(curve, window, word, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class FastestSpeed(Fastest):
    """How fast the curve changes where it does so fastest."""

    key, label, order = "fastest_speed", "Greatest speed", 120

    def answer(self, curve: ReleasedCurve) -> Answer:
        window = curve.window(self.start, self.end)
        reason = curve.refusal_of_derivative(1, VELOCITY_FROM)
        if reason:
            return refused(reason)
        found = highest(curve.velocity, curve.acceleration, self.sign, window)
        rough = curve.size < ACCELERATION_FROM
        value, limits = found.height(rough or curve.jointly, window)
        per = curve.facts.time_high - curve.facts.time_low
        notes = curve.notes + (_FEW_WAVES,) * rough
        answer = measured("Fastest rise" if self.sign > 0 else "Fastest fall", value / per,
                          (limits[0] / per, limits[1] / per), rate_unit(curve.facts, 1), notes)
        assert answer.verdict is Verdict.TOLD
        return answer
