"""Place and height of the highest or lowest point of a curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.reply import (
    Interval,
    Verdict,
    measured,
    refused,
    stretches,
    when,
    within,
    written,
)
from engine.answers.times import STEP, GridBand, grid, inside, pieces_of, total
from engine.core.bands import NORMAL
from engine.core.names import uncapital
from engine.core.registry import param
from engine.core.types import Array

_START = "Start of the window. Empty: that of the range."
_END = "End of the window. Empty: that of the range."
_NOT_PURE = "A release with δ = 0 gives no peaks, because its noise is not normal."


@dataclass(frozen=True)
class Highest:
    """Place of the highest point in a window, with a 95 % set, and its possible height."""

    place: float
    pieces: list[Interval]  # the set, the piece with `place` first among its words
    value: float
    # by_error, by_band: 95 % limits of the height: at that place, and off the simultaneous band
    by_error: Interval
    by_band: Interval

    def height(self, by_band: bool, window: Interval) -> tuple[float, Interval]:
        """Read the height with its limits, off the band (always if `by_band`) or at the place.

        Off the band also where the place may be an end of the window: errors are largest there, and
        the highest of several places near an end is there by chance (coverage .87 of a line).
        """
        low, high = next(piece for piece in self.pieces if piece[0] <= self.place <= piece[1])
        at_end = low <= window[0] or high >= window[1]
        return self.value, self.by_band if by_band or at_end else self.by_error

    def time_answer(
        self, curve: ReleasedCurve, window: Interval, word: str, notes: tuple[str, ...]
    ) -> Answer:
        """The place as an answer, with notes beside it."""
        time, facts = curve.time(self.place), curve.facts
        pieces, name = curve.in_time(self.pieces), uncapital(facts.time_name)
        is_open = total(self.pieces) > (window[1] - window[0]) / 2
        number = written([time], min(high - low for low, high in pieces))[0]
        if is_open:
            text = f"Open: at this budget any {name} in {stretches(pieces)} could be the place."
        elif self.place - window[0] < STEP / 2:
            text = f"{word} at the start of the range (95 % set: {stretches(pieces)})."
        elif window[1] - self.place < STEP / 2:
            text = f"{word} at the end of the range (95 % set: {stretches(pieces)})."
        else:
            text = f"{word} at {name} {number} (95 % set: {stretches(pieces)})."
        return Answer(
            Verdict.OPEN if is_open else Verdict.TOLD,
            text,
            time,
            pieces,
            facts.time_unit,
            notes=notes,
        )


def highest(band: GridBand, slope: GridBand | None, sign: int, window: Interval) -> Highest:
    """Find the largest of sign · f, and where it may be; sign is 1 or −1, for the lowest.

    Places are those that the band leaves possible and at which the slope may be zero; at an end of
    the window it need only point outwards. Without a slope the band alone decides.
    """
    among = inside(window)
    middle = np.where(among, sign * band.middle, -np.inf)
    low, high = (band.low, band.high) if sign > 0 else (-band.high, -band.low)
    peak = int(np.argmax(middle))
    best = float(low[among].max())
    possible = among & (high >= best)
    if slope is not None:
        possible &= _may_be_flat(sign * slope.middle, NORMAL * slope.error, among)
    possible[peak] = True
    half_width, top = NORMAL * float(band.error[peak]), float(middle[peak])
    limits = (top - half_width, top + half_width), (best, float(high[among].max()))
    by_error, by_band = ((float(sign * a), float(sign * b))[::sign] for a, b in limits)
    return Highest(
        float(grid()[peak]),
        pieces_of(possible, STEP, window),
        sign * top,
        (by_error[0], by_error[1]),
        (by_band[0], by_band[1]),
    )


def _may_be_flat(slope: Array, half_width: Array, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    flat = np.abs(slope) <= half_width
    first, last = np.flatnonzero(among)[[0, -1]]
    flat[first] |= slope[first] - half_width[first] <= 0
    flat[last] |= slope[last] + half_width[last] >= 0
    return np.asarray(flat)


@dataclass(frozen=True, kw_only=True)
class Extreme(CurveQuestion):
    """Base of peaks and troughs."""

    sign: ClassVar[int]

    start: float | None = param(None, "From", _START, low=-1e12, high=1e12)
    end: float | None = param(None, "To", _END, low=-1e12, high=1e12)

    @property
    def word(self) -> str:
        return "Highest" if self.sign > 0 else "Lowest"

    def refusal(self, curve: ReleasedCurve) -> str:
        """Why it is not answered; empty where it is."""
        return curve.refusal or (_NOT_PURE if curve.is_pure else "")

    def place(self, curve: ReleasedCurve, window: Interval) -> Highest:
        """Locate the point, by the slope as well if the release has one."""
        has_slope = (
            curve.is_whole
            and curve.has_flat_offset
            and not curve.is_shown_raw
            and not curve.jointly
        )
        return highest(curve.band, curve.velocity if has_slope else None, self.sign, window)


@dataclass(frozen=True, kw_only=True)
class ExtremeTime(Extreme):
    """When the curve is highest or lowest in a window, with a 95 % set."""

    def answer(self, curve: ReleasedCurve) -> Answer:
        window, reason = curve.window(self.start, self.end), self.refusal(curve)
        if reason:
            return refused(reason)
        return self.place(curve, window).time_answer(curve, window, self.word, curve.notes)


@dataclass(frozen=True, kw_only=True)
class ExtremeHeight(Extreme):
    """Height of the curve at its extreme."""

    def answer(self, curve: ReleasedCurve) -> Answer:
        window, reason = curve.window(self.start, self.end), self.refusal(curve)
        if reason:
            return refused(reason)
        place = self.place(curve, window)
        value, limits = within(
            curve.facts.value_low,
            curve.facts.value_high,
            *place.height(curve.jointly or not curve.is_whole, window),
        )
        what = f"{self.word}, at {when(curve.facts, curve.time(place.place))}"
        return measured(what, value, limits, curve.facts.value_unit, curve.notes)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class PeakTime(ExtremeTime):
    """When the curve is highest, with a 95 % set."""

    key, label, order, sign = "peak_time", "Time of the peak", 70, 1


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class PeakHeight(ExtremeHeight):
    """Height of the peak."""

    key, label, order, sign = "peak_height", "Height of the peak", 80, 1


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class TroughTime(ExtremeTime):
    """When the curve is lowest, with a 95 % set."""

    key, label, order, sign = "trough_time", "Time of the trough", 90, -1


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class TroughHeight(ExtremeHeight):
    """Height of the trough."""

    key, label, order, sign = "trough_height", "Height of the trough", 100, -1
