"""When the curve crosses a level, and how long it is above or below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.reply import Interval, Verdict, refused, stretches, with_unit, written
from engine.answers.times import crossings, grid, length_above, pieces_between, total
from engine.core.bands import NORMAL, public_normals
from engine.core.names import uncapital
from engine.core.registry import param
from engine.numerics.symmetric_matrices import matrix_root

_CURVES = 1000  # simulated, for the time above
_TAIL = 0.025
_PURE_REFUSED = (
    "A release with δ = 0 does not show when a level is crossed: its noise is not normal."
)
OF_THE_MEAN = (
    "This is the time that the mean curve spends there, not the mean of the times that "
    "people spend there."
)


@dataclass(frozen=True, kw_only=True)
class LevelQuestion(CurveQuestion):
    """Base of questions about a level."""

    level: float | None = param(
        None,
        "Level",
        "In the unit of values. Empty: the middle of the bounds.",
        low=-1e12,
        high=1e12,
    )

    def height(self, curve: ReleasedCurve) -> float:
        """The level in response units."""
        return curve.facts.value_middle if self.level is None else self.level

    def written_level(self, curve: ReleasedCurve) -> str:
        """The level with its unit."""
        return with_unit(f"{self.height(curve):g}".replace("-", "−"), curve.facts.value_unit)

    def settled(self, curve: ReleasedCurve) -> Answer | None:
        """The answer where the band leaves no doubt, or leaves everything open."""
        reason = curve.refusal or (_PURE_REFUSED if curve.is_pure else "")
        if reason:
            return refused(reason)
        level, low, high = self.height(curve), curve.band.low, curve.band.high
        if (high < level).all():
            return Answer(
                Verdict.NEVER, f"Never above {self.written_level(curve)}.", notes=curve.notes
            )
        if (low > level).all():
            return Answer(
                Verdict.ALWAYS, f"Always above {self.written_level(curve)}.", notes=curve.notes
            )
        if ((low <= level) & (level <= high)).all():
            return Answer(
                Verdict.OPEN,
                "Open: at this budget the curve could be above or"
                f" below {self.written_level(curve)} at any time.",
                notes=curve.notes,
            )
        return None


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Crossing(LevelQuestion):
    """When the curve crosses a level: the times at which it may be there, with 95 % each.

    Each crossing is in the set with a probability of 95 %; where the limits hold for the whole
    curve, all crossings are together.
    """

    key, label, order = "crossing", "Crossing of a level", 130

    def answer(self, curve: ReleasedCurve) -> Answer:
        settled = self.settled(curve)
        if settled is not None:
            return self._without_time(curve) if settled.verdict is Verdict.OPEN else settled
        level, band = self.height(curve), curve.band
        crossing_times = crossings(band.middle - level)
        if curve.jointly or not curve.is_whole:
            possible_times = pieces_between(band.low, band.high, level)
        else:
            half_width = NORMAL * band.error
            possible_times = pieces_between(
                band.middle - half_width, band.middle + half_width, level
            )
        if not crossing_times and not ((band.low > level) | (band.high < level)).any():
            return self._without_time(curve)
        return self._answer_of(curve, crossing_times, possible_times)

    def _answer_of(
        self, curve: ReleasedCurve, crossing_times: list[float], possible_times: list[Interval]
    ) -> Answer:
        facts, in_time = curve.facts, curve.in_time(possible_times)
        name, level = uncapital(facts.time_name), self.written_level(curve)
        times = tuple(map(curve.time, crossing_times))
        if not possible_times:
            text, verdict = f"No crossing of {level} was found.", Verdict.TOLD
        elif total(possible_times) > 0.5:
            text, verdict = (
                (
                    f"Open: at this budget {level} could be crossed at any "
                    f"{name} in {stretches(in_time)}."
                ),
                Verdict.OPEN,
            )
        elif not times:
            text, verdict = (
                (
                    f"No crossing of {level} was found; one remains possible at {name} "
                    f"{stretches(in_time)}."
                ),
                Verdict.TOLD,
            )
        else:
            width = min(high - low for low, high in in_time)
            numbers = " and ".join(written(times, width))
            text, verdict = (
                (f"Crosses {level} at {name} {numbers} (95 % set: {stretches(in_time, 'and')})."),
                Verdict.TOLD,
            )
        return Answer(
            verdict, text, times[0] if times else None, in_time, facts.time_unit, times, curve.notes
        )

    def _without_time(self, curve: ReleasedCurve) -> Answer:
        low, high = curve.time(0.0), curve.time(1.0)
        return Answer(
            Verdict.OPEN,
            f"Open: at this budget {self.written_level(curve)} "
            "could be crossed at any time, or never.",
            None,
            ((low, high),),
            curve.facts.time_unit,
            notes=curve.notes,
        )


@dataclass(frozen=True, kw_only=True)
class TimeBeyond(LevelQuestion):
    """Time that the mean curve is on one side of a level, with 95 % by simulation."""

    is_above: ClassVar[bool]

    def answer(self, curve: ReleasedCurve) -> Answer:
        settled = self.settled(curve)
        if settled is not None:
            return settled
        level, band = self.height(curve), curve.band
        value = float(length_above(band.middle - level))
        outer = float(length_above(band.low - level)), float(length_above(band.high - level))
        limits = outer
        if curve.is_whole and not curve.jointly:
            limits = _simulated(curve, level)
        if not self.is_above:
            value, limits, outer = 1 - value, _mirrored(limits), _mirrored(outer)
        return self._answer_of(curve, value, limits, outer)

    def _answer_of(
        self, curve: ReleasedCurve, value: float, limits: Interval, outer: Interval
    ) -> Answer:
        facts, word = curve.facts, "Above" if self.is_above else "Below"
        length = facts.time_high - facts.time_low
        limits, outer = ((length * a, length * b) for a, b in (limits, outer))
        number, low, high = written([length * value, *limits], limits[1] - limits[0])
        return Answer(
            Verdict.TOLD,
            f"{word} {self.written_level(curve)} for "
            f"{with_unit(number, facts.time_unit)} (95 %: {low} to {high}).",
            length * value,
            (limits,),
            facts.time_unit,
            notes=(*curve.notes, OF_THE_MEAN),
            outer=outer,
        )


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class TimeAbove(TimeBeyond):
    """Time that the mean curve is above a level."""

    key, label, order, is_above = "time_above", "Time above a level", 140, True


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class TimeBelow(TimeBeyond):
    """Time that the mean curve is below a level."""

    key, label, order, is_above = "time_below", "Time below a level", 150, False


def _mirrored(limits: Interval) -> Interval:
    return 1 - limits[1], 1 - limits[0]


def _simulated(curve: ReleasedCurve, level: float) -> Interval:
    """2.5 and 97.5 % of the length above, over curves w(t)'(a + C^½ Z) of a fixed public sample."""
    root = matrix_root(curve.covariance)
    rows = curve.row_maps[0](grid(), 0)
    drawn = curve.band.middle + (rows @ (root @ public_normals(len(root), _CURVES))).T
    low, high = np.quantile(length_above(drawn - level), [_TAIL, 1 - _TAIL])
    return float(low), float(high)
