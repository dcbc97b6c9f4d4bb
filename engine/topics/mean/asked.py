"""A question of shape, asked of the releases on screen: each answers from itself alone.

The counterpart by simulation, how often releases keep the answer, is in `shape`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.answers import Answer, CurveQuestion, ReleasedCurve, can_be_asked
from engine.answers.extremes import PeakHeight, PeakTime
from engine.answers.grids import GridBand
from engine.answers.level import Crossing, TimeAbove
from engine.answers.people import NextPersonAt
from engine.answers.reply import Interval, Verdict
from engine.answers.spread import NextPerson, next_person
from engine.answers.value import Difference
from engine.answers.velocity import LEAST_FOR_VELOCITY, FastestTime
from engine.core.grids import GRID_SIZE
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms import Mechanism
from engine.sources import Source
from engine.topics.mean.answer import on_screen
from engine.topics.mean.shape import Question

ASKED_DRAWS = 5  # releases at each budget that are asked
_NEW_PEOPLE = 2_000  # block of the random stream of people who are in no release
_PEOPLE_POINTS = 41  # times at which the range of people is computed
_EVERY = 2  # points of the grid of answers for each point that is drawn
_TOO_SMALL = "Nothing can be told of this release."


@dataclass(frozen=True)
class Mark:
    """An answer as it is drawn into the picture of the curve, in the units of the data.

    Parameters
    ----------
    text : str
        The answer in words.
    dots : tuple of pairs of float
        Times with heights.
    bars : tuple of (float, float, float)
        Stretches of time that are possible, each with the height it is drawn at.
    whisker : tuple of (float, float, float), optional
        A time with the lower and the upper end of what the height may be.
    level : float or None
        Drawn across.
    is_filled : bool
        Whether the curve is shaded where it is above the level.
    """

    text: str
    dots: tuple[tuple[float, float], ...] = ()
    bars: tuple[tuple[float, float, float], ...] = ()
    whisker: tuple[float, float, float] | None = None
    level: float | None = None
    is_filled: bool = False


@dataclass(frozen=True, eq=False)
class AskedReleases:
    """Releases at several budgets with their answers.

    Parameters
    ----------
    question : Question
        What they were asked.
    curves, low, high : (budgets, ASKED_DRAWS, GRID_SIZE)
        The curves that answer, unshrunk, with their bands; NaN where nothing can be told.
    speeds : tuple of three such arrays, or None
        The velocities with their bands, per unit of time, where they are asked for.
    marks : (budgets, ASKED_DRAWS) nested tuples of Mark
    people : (2, budgets, ASKED_DRAWS, GRID_SIZE), or None
        Where about 95 of 100 new people would lie, if that is the question: lower and upper limit,
        NaN where it is not told.
    right : (budgets, ASKED_DRAWS) or None
        Then also the share of observations of new, simulated people in the range for observations;
        NaN where it is not told, or people cannot be simulated.
    """

    question: Question | None
    curves: Array
    low: Array
    high: Array
    speeds: tuple[Array, Array, Array] | None
    marks: tuple[tuple[Mark, ...], ...]
    people: Array | None = None
    right: Array | None = None


def curve_question(question: Question) -> CurveQuestion:
    """The question to one release that belongs to a question of shape.

    Parameters
    ----------
    question : Question

    Returns
    -------
    CurveQuestion
    """
    if question.kind == "peak":
        return PeakTime()
    if question.kind == "fastest":
        return FastestTime(start=question.first, end=question.second)
    if question.kind == "sign":
        return Difference(first=question.first, second=question.second)
    return (Crossing if question.kind == "crossing" else TimeAbove)(level=question.level)


def asked(source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int,
          question: Question) -> AskedReleases:
    """The first releases of the picture, asked at every budget.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : Mechanism
        With its settings.
    budgets : sequence of Budget
        All with one δ.
    seed : int
        Of data and noise.
    question : Question
        Checked.

    Returns
    -------
    AskedReleases

    Raises
    ------
    InputError
        If the method has no covariance at any budget.
    """
    data, estimate = on_screen(source, mechanism, budgets, seed)
    curves, low, high, *speeds = np.full((6, len(budgets), ASKED_DRAWS, GRID_SIZE), np.nan)
    marks = [[Mark(_TOO_SMALL)] * ASKED_DRAWS for _ in budgets]
    known = [k for k in range(len(budgets)) if can_be_asked(estimate, k)]
    for k in known or [0]:
        for draw in range(ASKED_DRAWS):
            curve = ReleasedCurve.of(estimate, data.facts, k, draw=draw)
            marks[k][draw] = mark(curve, question)
            _draw(curve.band, (curves, low, high), (k, draw), 1.0)
            if question.kind == "fastest" and not curve.refusal_of_derivative(
                    1, LEAST_FOR_VELOCITY):
                per = data.facts.time_high - data.facts.time_low
                _draw(curve.velocity, (speeds[0], speeds[1], speeds[2]), (k, draw), per)
    return AskedReleases(
        question, curves, low, high,
        (speeds[0], speeds[1], speeds[2]) if question.kind == "fastest" else None,
        tuple(map(tuple, marks)))


def asked_next(source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget],
               seed: int) -> AskedReleases:
    """The first releases of the picture, asked where the next person would lie.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : Mechanism
        With its settings.
    budgets : sequence of Budget
        All with one δ.
    seed : int
        Of data and noise.

    Returns
    -------
    AskedReleases

    Raises
    ------
    InputError
        If the method has no covariance at any budget.
    """
    data, estimate = on_screen(source, mechanism, budgets, seed)
    new = source.draw(1, generator(seed, DATA_STREAM, _NEW_PEOPLE)) if source.is_random else None
    shape = (len(budgets), ASKED_DRAWS)
    curves, low, high, below, above = np.full((5, *shape, GRID_SIZE), np.nan)
    right, times = np.full(shape, np.nan), np.linspace(0.0, 1.0, _PEOPLE_POINTS)
    marks = [[Mark(_TOO_SMALL)] * ASKED_DRAWS for _ in budgets]
    for k in [k for k in range(len(budgets)) if can_be_asked(estimate, k)] or [0]:
        for draw in range(ASKED_DRAWS):
            curve = ReleasedCurve.of(estimate, data.facts, k, draw=draw)
            _draw(curve.band, (curves, low, high), (k, draw), 1.0)
            answer = NextPersonAt().answer(curve)
            marks[k][draw] = Mark(answer.text, whisker=_whisker(
                curve.time(0.5), answer.interval))
            if answer.verdict is not Verdict.TOLD:
                continue
            band = next_person(curve, times)
            for array, limit in ((below, band.low), (above, band.high)):
                array[k, draw] = np.interp(np.linspace(0, 1, GRID_SIZE), times, limit)
            if new is not None:
                right[k, draw] = _inside(next_person(curve, times, of_observation=True), times, new)
    return AskedReleases(None, curves, low, high, None, tuple(map(tuple, marks)),
                         np.stack([below, above]), right)


def _inside(band: NextPerson, times: Array, new: CurveData) -> float:
    """The share of observations of new people in a range for observations."""
    low, high = (np.interp(new.times, times, limit) for limit in (band.low, band.high))
    return float(((new.values >= low) & (new.values <= high)).mean())


def first_release(source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
                  ) -> ReleasedCurve:
    """The first release on screen, as far as questions need it.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        Of every site.
    seed : int
        Of data and noise.

    Returns
    -------
    ReleasedCurve

    Raises
    ------
    InputError
        If the method has no covariance.
    """
    data, estimate = on_screen(source, mechanism, (budget,), seed)
    return ReleasedCurve.of(estimate, data.facts, n_people=data.n_curves)


def _draw(band: GridBand, arrays: tuple[Array, Array, Array], where: tuple[int, int], per: float
          ) -> None:
    for array, values in zip(arrays, (band.middle, band.low, band.high), strict=True):
        array[where] = values[::_EVERY] / per


def mark(curve: ReleasedCurve, question: Question) -> Mark:
    """The answer of one release, and what is drawn of it.

    Parameters
    ----------
    curve : ReleasedCurve
    question : Question
        Checked.

    Returns
    -------
    Mark
    """
    answer = curve_question(question).answer(curve)
    if question.kind in ("crossing", "above"):
        return _level_mark(answer, question)
    if answer.verdict not in (Verdict.TOLD, Verdict.OPEN):
        return Mark(answer.text)
    if question.kind == "sign":
        return Mark(answer.text, dots=tuple(
            (time, _height(curve, time)) for time in (question.first, question.second)))
    assert answer.value is not None
    height = _height(curve, answer.value)
    bars = tuple((low, high, height) for low, high in answer.pieces)
    dots = ((answer.value, height),) if answer.verdict is Verdict.TOLD else ()
    if question.kind == "fastest" or answer.verdict is Verdict.OPEN:
        return Mark(answer.text, dots, bars)
    tall = PeakHeight().answer(curve)
    return Mark(f"{answer.text} {tall.text}", dots, bars, _whisker(answer.value, tall.interval))


def _level_mark(answer: Answer, question: Question) -> Mark:
    level = question.level
    if question.kind == "above":
        return Mark(answer.text, level=level, is_filled=answer.verdict is not Verdict.REFUSED)
    return Mark(answer.text, tuple((time, level) for time in answer.values),
                tuple((low, high, level) for low, high in answer.pieces), level=level)


def _whisker(time: float, interval: Interval | None) -> tuple[float, float, float] | None:
    return None if interval is None else (time, *interval)


def _height(curve: ReleasedCurve, time: float) -> float:
    return curve.linear(lambda f: f(curve.unit_time(time, "time", 0.0)))[0]
