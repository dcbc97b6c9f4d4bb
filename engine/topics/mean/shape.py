"""Questions about the shape of a curve that decisions turn on, and how often releases keep it.

Where is the peak, when does the curve rise fastest, does it rise or fall between two times, when
does it first reach a level, how long is it above it?
An integrated error does not tell. The functions here are pure: curves are (…, points) on `times`
(points,), any number of axes before, so that all budgets and releases are asked at once.

The questions of `engine.answers` are asked of one release and answered from it alone, with a range
for its noise. Here the same is read off many curves, without ranges, and counted:
`engine.topics.mean.asked.curve_question` says which of those questions belongs to which of these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.answers.times import length_above
from engine.core.errors import InputError
from engine.core.types import Array, PublicFacts
from engine.numerics.proportions import wilson

Curves = NDArray[np.floating]  # stored in single precision, or worked out in double
KINDS = ("peak", "fastest", "sign", "crossing", "above")
WITH_LEVEL = ("crossing", "above")
_DEFAULT_TOLERANCE = 0.05  # of the span of time


@dataclass(frozen=True)
class ShapeQuery:
    """A question with its numbers, public facts in the units of the source.

    `tolerance` (a length of time) belongs to all but the sign, `first` and `second` (times) to the
    sign of a difference and to the window of the fastest rise, `level` (a value) to the crossing
    and to the time above it.
    """

    kind: str
    tolerance: float
    first: float
    second: float
    level: float


def default(kind: str, facts: PublicFacts) -> ShapeQuery:
    """Propose a question from public facts: a twentieth of the span, its thirds, half the range.

    The window of the fastest rise is all of the span.
    """
    low, span = facts.time_low, facts.time_high - facts.time_low
    first, second = (
        (low, facts.time_high)
        if kind == "fastest"
        else (_plain(low + span / 3, 2), _plain(low + 2 * span / 3, 2))
    )
    return ShapeQuery(
        kind, _plain(_DEFAULT_TOLERANCE * span, 1), first, second, _plain(facts.value_middle, 3)
    )


def _plain(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def checked(question: ShapeQuery, facts: PublicFacts) -> ShapeQuery:
    """Return the question if it can be asked of these curves, else refuse it."""
    if question.kind not in KINDS:
        raise InputError(
            f"There is no question “{question.kind}”.",
            field="shape",
            hint=f"Ask one of: {', '.join(KINDS)}.",
        )
    low, high = facts.time_low, facts.time_high
    if question.kind in ("sign", "fastest"):
        for time in (question.first, question.second):
            if not low <= time <= high:
                raise InputError(
                    f"Both times must lie between {low:g} and {high:g}; got {time:g}.",
                    field="first",
                )
        if question.kind == "fastest" and question.second - question.first < (high - low) / 50:
            raise InputError(
                "The end must be after the start, by a fiftieth of the time range.",
                field="second",
                hint="Choose a longer stretch.",
            )
        if question.first == question.second:
            raise InputError(
                "The two times must differ.",
                field="second",
                hint="A curve cannot rise or fall at one time.",
            )
    if question.kind != "sign" and not 0 < question.tolerance <= high - low:
        raise InputError(
            f"The tolerance must be above 0 and at most {high - low:g}; got "
            f"{question.tolerance:g}.",
            field="tolerance",
            hint="How far off may it be and still be of use?",
        )
    if question.kind in WITH_LEVEL and not facts.value_low <= question.level <= facts.value_high:
        raise InputError(
            f"The level must lie between {facts.value_low:g} and "
            f"{facts.value_high:g}; got {question.level:g}.",
            field="level",
        )
    return question


# -- what a curve answers ---------------------------------------------------------------------


def peak_times(curves: Curves, times: Array) -> Array:
    """Find the time at which each curve (…, points) is largest, the first of several: (…)."""
    return np.asarray(times[np.argmax(curves, axis=-1)])


def _fastest_times(curves: Curves, times: Array, first: float, second: float) -> Array:
    """Find the time of each curve's fastest rise in a window, by differences of neighbours: (…)."""
    slack = (times[-1] - times[0]) * 1e-9
    among = np.flatnonzero((times >= first - slack) & (times <= second + slack))
    slopes = np.gradient(curves, times, axis=-1)[..., among]
    return np.asarray(times[among][np.argmax(slopes, axis=-1)])


def _times_above(curves: Curves, times: Array, level: float) -> Array:
    """Compute each curve's time above a level: (…).

    Points are equally spaced and joined by lines.
    """
    return np.asarray((times[-1] - times[0]) * length_above(np.asarray(curves - level)))


def differences(curves: Curves, times: Array, first: float, second: float) -> Array:
    """Subtract the value at the first time from that at the second: (…). Lines join the points."""
    return _at(curves, times, second) - _at(curves, times, first)


def _at(curves: Curves, times: Array, time: float) -> Array:
    right = int(np.clip(np.searchsorted(times, time), 1, len(times) - 1))
    share = (time - times[right - 1]) / (times[right] - times[right - 1])
    return np.asarray((1 - share) * curves[..., right - 1] + share * curves[..., right])


def crossing_times(curves: Curves, times: Array, level: float) -> Array:
    """Find when each curve is first at the level: (…). Lines join the points; NaN for never."""
    gap = curves - level
    crosses = gap[..., :-1] * gap[..., 1:] <= 0  # (…, points − 1): between neighbouring points
    k = np.argmax(crosses, axis=-1)
    before = np.take_along_axis(gap, k[..., None], axis=-1)[..., 0]
    after = np.take_along_axis(gap, k[..., None] + 1, axis=-1)[..., 0]
    step = before - after
    share = np.divide(before, step, out=np.zeros_like(before), where=step != 0)
    return np.where(crosses.any(axis=-1), times[k] + share * (times[k + 1] - times[k]), np.nan)


def answers(question: ShapeQuery, curves: Curves, times: Array) -> Array:
    """Answer by each curve: a time or length of time (NaN for never), or a difference: (…)."""
    if question.kind == "peak":
        return peak_times(curves, times)
    if question.kind == "sign":
        return differences(curves, times, question.first, question.second)
    if question.kind == "fastest":
        return _fastest_times(curves, times, question.first, question.second)
    if question.kind == "above":
        return _times_above(curves, times, question.level)
    return crossing_times(curves, times, question.level)


def agrees(
    question: ShapeQuery, curves: Curves, reference: Array, times: Array
) -> NDArray[np.bool_]:
    """True for each curve that gives the answer of the reference (points,): (…).

    Places within the tolerance, the same sign, and no crossing where the reference has none.
    """
    features, right = answers(question, curves, times), answers(question, reference, times)
    if question.kind == "sign":
        return np.asarray(np.sign(features) == np.sign(right))
    close = np.abs(features - right) <= question.tolerance * (1 + 1e-9)
    return np.asarray(close | (np.isnan(features) & np.isnan(right)))


# -- how often --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreeing:
    """So many of `draws` simulated releases keep the answer; `counts` has any shape.

    `low` and `high` hold the chance itself 95 times in 100.
    """

    counts: NDArray[np.int_]
    draws: int

    @property
    def share(self) -> Array:
        return np.asarray(self.counts / self.draws)

    @property
    def low(self) -> Array:
        return wilson(self.share, self.draws)[0]

    @property
    def high(self) -> Array:
        return wilson(self.share, self.draws)[1]


def how_often(question: ShapeQuery, curves: Curves, reference: Array, times: Array) -> Agreeing:
    """Count the curves (…, draws, points) that keep the answer of the reference (points,): (…)."""
    same = agrees(question, curves, reference, times)
    return Agreeing(np.asarray(same.sum(axis=-1)), same.shape[-1])


def is_drowned(typical: Array, facts: PublicFacts) -> NDArray[np.bool_]:
    """True if an error (…), in response units, is not finite or at least half the range of values.

    There the noise is as large as the signal, and chance alone would answer.
    """
    typical = np.asarray(typical, dtype=float)
    return ~(typical < facts.value_half_width) | ~np.isfinite(typical)


def is_at_an_end(question: ShapeQuery, answer: float, facts: PublicFacts) -> bool:
    """True if a peak at time `answer` is within the tolerance of the first or the last time."""
    if question.kind != "peak" or math.isnan(answer):
        return False
    return min(answer - facts.time_low, facts.time_high - answer) <= question.tolerance
