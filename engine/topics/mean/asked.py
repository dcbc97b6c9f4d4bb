"""A question of shape, asked of the releases on screen: each answers from itself alone.

The counterpart by simulation, how often releases keep the answer, is in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from engine.answers import Answer, CurveQuestion, ReleasedCurve, can_be_asked
from engine.answers.extremes import PeakHeight, PeakTime
from engine.answers.groups import DOUBTFUL, GroupComparison
from engine.answers.level import Crossing, TimeAbove
from engine.answers.people import NextPersonAt
from engine.answers.reply import Interval, Verdict
from engine.answers.spread import NextPerson, next_person
from engine.answers.times import GridBand
from engine.answers.value import Difference
from engine.answers.velocity import MIN_FOR_VELOCITY, FastestTime
from engine.core.errors import InputError
from engine.core.grids import GRID_SIZE
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData, Estimate, PublicFacts
from engine.mechanisms import Mechanism
from engine.mechanisms.study import Study
from engine.simulation.studies import SHOWN
from engine.sources import Source
from engine.topics.mean.answer import on_screen
from engine.topics.mean.shape import ShapeQuery

ASKED_DRAWS = 5  # releases at each budget that are asked
_NEW_PEOPLE = 2_000  # block of the random stream of people who are in no release
_PEOPLE_POINTS = 41  # times at which the range of people is computed
_EVERY = 2  # points of the grid of answers for each point that is drawn
_TOO_SMALL = "This release answers nothing."


@dataclass(frozen=True)
class AnswerMark:
    """An answer as it is drawn into the picture of the curve, in the units of the data."""

    text: str
    dots: tuple[tuple[float, float], ...] = ()
    # tuple of (float, float, float): stretches of time that are possible, each with the height it
    # is drawn at
    bars: tuple[tuple[float, float, float], ...] = ()
    # tuple of (float, float, float), optional: a time with the lower and the upper end of what the
    # height may be
    whisker: tuple[float, float, float] | None = None
    level: float | None = None
    is_filled: bool = False  # whether the curve is shaded where it is above the level


@dataclass(frozen=True, eq=False)
class AskedReleases:
    """Releases at several budgets with their answers.

    A line has the axes (3, budgets, ASKED_DRAWS, GRID_SIZE): first its middle, lower and upper
    limit, as `_lines_of` gives them. NaN where nothing can be told.
    """

    curves: Array  # the curves that answer, unshrunk, with their bands
    marks: tuple[tuple[AnswerMark, ...], ...]  # (budgets, ASKED_DRAWS) nested tuples
    # the velocities with their bands, per unit of time, where they are asked for
    speeds: Array | None = None
    # (2, budgets, ASKED_DRAWS, GRID_SIZE), or None: where about 95 of 100 new people would lie, if
    # that is the question: lower and upper limit
    people: Array | None = None
    # (budgets, ASKED_DRAWS) or None: then also the share of observations of new, simulated people
    # in the range for observations; NaN also where people cannot be simulated
    right: Array | None = None


def curve_question(question: ShapeQuery) -> CurveQuestion:
    """Translate a question of shape into a question to one release."""
    if question.kind == "peak":
        return PeakTime()
    if question.kind == "fastest":
        return FastestTime(start=question.first, end=question.second)
    if question.kind == "sign":
        return Difference(first=question.first, second=question.second)
    return (Crossing if question.kind == "crossing" else TimeAbove)(level=question.level)


def asked(
    source: Source[CurveData],
    mechanism: Mechanism,
    budgets: Sequence[Budget],
    seed: int,
    question: ShapeQuery,
) -> AskedReleases:
    """Ask the first releases of the picture at every budget."""
    data, estimate = on_screen(source, mechanism, budgets, seed)
    curves, marks = _nothing_told(len(budgets))
    speeds = np.full_like(curves, np.nan) if question.kind == "fastest" else None
    span = data.facts.time_high - data.facts.time_low
    for k, draw, curve in _answering(estimate, data.facts, len(budgets)):
        curves[:, k, draw] = _lines_of(curve.band)
        marks[k][draw] = _mark(curve, question)
        if speeds is not None and not curve.refusal_of_derivative(1, MIN_FOR_VELOCITY):
            speeds[:, k, draw] = _lines_of(curve.velocity) / span
    return AskedReleases(curves, tuple(map(tuple, marks)), speeds)


def asked_next(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> AskedReleases:
    """Ask the first releases of the picture where the next person would lie."""
    data, estimate = on_screen(source, mechanism, budgets, seed)
    new = source.draw(1, generator(seed, DATA_STREAM, _NEW_PEOPLE)) if source.is_random else None
    curves, marks = _nothing_told(len(budgets))
    people = np.full_like(curves[:2], np.nan)  # lower and upper limit
    right = np.full(people.shape[1:3], np.nan)  # (budgets, releases)
    times, grid = np.linspace(0.0, 1.0, _PEOPLE_POINTS), np.linspace(0.0, 1.0, GRID_SIZE)
    for k, draw, curve in _answering(estimate, data.facts, len(budgets)):
        curves[:, k, draw] = _lines_of(curve.band)
        answer = NextPersonAt().answer(curve)
        marks[k][draw] = AnswerMark(answer.text, whisker=_whisker(curve.time(0.5), answer.interval))
        if answer.verdict is not Verdict.TOLD:
            continue
        band = next_person(curve, times)
        people[:, k, draw] = [np.interp(grid, times, limit) for limit in (band.low, band.high)]
        if new is not None:
            right[k, draw] = _inside(next_person(curve, times, of_observation=True), times, new)
    return AskedReleases(curves, tuple(map(tuple, marks)), people=people, right=right)


def _nothing_told(n_budgets: int) -> tuple[Array, list[list[AnswerMark]]]:
    """Return a line without values, and a mark that says so, for every release at every budget."""
    return (
        np.full((3, n_budgets, ASKED_DRAWS, GRID_SIZE), np.nan),
        [[AnswerMark(_TOO_SMALL)] * ASKED_DRAWS for _ in range(n_budgets)],
    )


def _answering(
    estimate: Estimate, facts: PublicFacts, n_budgets: int
) -> Iterator[tuple[int, int, ReleasedCurve]]:
    """Yield the releases of which something can be told: budget, number of the release, curve.

    Refused, with the reason, if there is none at any budget.
    """
    budgets = [k for k in range(n_budgets) if can_be_asked(estimate, k)]
    if not budgets:
        ReleasedCurve.of(estimate, facts)  # refuses, and says why
    for k, draw in product(budgets, range(ASKED_DRAWS)):
        yield k, draw, ReleasedCurve.of(estimate, facts, k, draw=draw)


def _lines_of(band: GridBand) -> Array:
    """Put a band on the points of the picture: middle, lower and upper limit, (3, GRID_SIZE)."""
    return np.stack([band.middle, band.low, band.high])[:, ::_EVERY]


def _inside(band: NextPerson, times: Array, new: CurveData) -> float:
    """Compute the share of observations of new people in a range for observations."""
    low, high = (np.interp(new.times, times, limit) for limit in (band.low, band.high))
    return float(((new.values >= low) & (new.values <= high)).mean())


def first_release(study: Study[CurveData]) -> ReleasedCurve:
    """Return the first release on screen, as far as questions need it."""
    data, estimate = on_screen(study.source, study.mechanism, study.budgets, study.seed)
    return ReleasedCurve.of(estimate, data.facts, n_people=data.n_curves)


def _mark(curve: ReleasedCurve, question: ShapeQuery) -> AnswerMark:
    """Ask one release, and return its answer with what is drawn of it."""
    answer = curve_question(question).answer(curve)
    if question.kind in ("crossing", "above"):
        return _level_mark(answer, question)
    if answer.verdict not in (Verdict.TOLD, Verdict.OPEN):
        return AnswerMark(answer.text)
    if question.kind == "sign":
        return AnswerMark(
            answer.text,
            dots=tuple((time, _height(curve, time)) for time in (question.first, question.second)),
        )
    assert answer.value is not None
    height = _height(curve, answer.value)
    bars = tuple((low, high, height) for low, high in answer.pieces)
    dots = ((answer.value, height),) if answer.verdict is Verdict.TOLD else ()
    if question.kind == "fastest" or answer.verdict is Verdict.OPEN:
        return AnswerMark(answer.text, dots, bars)
    tall = PeakHeight().answer(curve)
    return AnswerMark(
        f"{answer.text} {tall.text}", dots, bars, _whisker(answer.value, tall.interval)
    )


def _level_mark(answer: Answer, question: ShapeQuery) -> AnswerMark:
    level = question.level
    if question.kind == "above":
        return AnswerMark(answer.text, level=level, is_filled=answer.verdict is not Verdict.REFUSED)
    return AnswerMark(
        answer.text,
        tuple((time, level) for time in answer.values),
        tuple((low, high, level) for low, high in answer.pieces),
        level=level,
    )


def _whisker(time: float, interval: Interval | None) -> tuple[float, float, float] | None:
    return None if interval is None else (time, *interval)


def _height(curve: ReleasedCurve, time: float) -> float:
    return curve.linear(lambda f: f(curve.unit_time(time, "time", 0.0)))[0]


# -- groups of people that are compared ------------------------------------------------------------
# A release of each group, their difference, and whether it tells them apart. The groups are the
# people of the picture, divided by what everybody may know of them. Each is released on its own at
# the budget of the picture, which holds for everybody: budgets of disjoint groups do not add. The
# difference is computed from the two releases alone.


_FIRST_STREAM = 1_000  # blocks of the noise of groups, apart from those of the picture
_FEWEST = 2  # people of a group
SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class GroupedReleases:
    """Releases of two groups at several budgets, compared."""

    names: tuple[str, str]
    sizes: tuple[int, int]  # how many people are in each: public
    # first, second, difference: in response units; NaN where they cannot be compared
    first: Array
    second: Array
    difference: Array
    p: Array  # (budgets, ASKED_DRAWS): of the test of no difference; NaN where there is none
    # (budgets, ASKED_DRAWS) nested tuples of str: what is told, or why nothing is
    texts: tuple[tuple[str, ...], ...]
    # (budgets, ASKED_DRAWS): True if a release of the pair says that it cannot be relied on
    is_void: NDArray[np.bool_]

    def void(self, budget: int) -> int:
        """Count the pairs of releases that cannot be relied on, which are not tested."""
        return int(self.is_void[budget].sum())

    def detected(self, budget: int) -> int:
        """Count the releases, of `ASKED_DRAWS`, that tell the groups apart at 5 %."""
        return int((self.p[budget] < SIGNIFICANT).sum())


def asked_groups(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> GroupedReleases:
    """Release the first two groups of the people on screen apart, and compare them."""
    if len(source.group_names) < 2:
        raise InputError(
            "These data have no groups.",
            field="source",
            hint="Choose data whose people are in groups.",
        )
    everybody = source.draw(1, generator(seed, DATA_STREAM, SHOWN))
    group = source.groups_drawn(generator(seed, DATA_STREAM, SHOWN))
    names = (source.group_names[0], source.group_names[1])
    people = [everybody.of_people(group == index) for index in range(2)]
    if min(data.n_curves for data in people) < _FEWEST:
        raise InputError("A group has nearly nobody.", field="source", hint="Choose larger groups.")
    estimates = [
        mechanism.release_many(
            data,
            [(budget,) * data.sizes.n_servers for budget in budgets],
            ASKED_DRAWS,
            generator(seed, NOISE_STREAM, _FIRST_STREAM + index),
        )
        for index, data in enumerate(people)
    ]
    shape = (3, len(budgets), ASKED_DRAWS, GRID_SIZE)
    first, second, difference = (np.full(shape, np.nan) for _ in range(3))
    p, texts = np.full(shape[1:3], np.nan), [[""] * ASKED_DRAWS for _ in budgets]
    unreliable = np.array([each.is_unreliable[:, 0, :ASKED_DRAWS] for each in estimates])
    for k in range(len(budgets)):
        for draw in range(ASKED_DRAWS):
            if unreliable[:, k, draw].any():
                doubted = [
                    name
                    for name, is_void in zip(names, unreliable[:, k, draw], strict=True)
                    if is_void
                ]
                texts[k][draw] = " ".join(map(DOUBTFUL.format, doubted))
                continue
            try:
                compared = _compared(names, people, estimates, k, draw)
            except InputError as problem:
                texts[k][draw] = problem.message
                continue
            bands = (*(curve.band for curve in compared.curves), compared.band())
            for lines, band in zip((first, second, difference), bands, strict=True):
                lines[:, k, draw] = _lines_of(band)
            p[k, draw] = compared.p
            texts[k][draw] = f"{compared.sentences()[1]} {compared.p_written}."
    return GroupedReleases(
        names,
        (people[0].n_curves, people[1].n_curves),
        first,
        second,
        difference,
        p,
        tuple(map(tuple, texts)),
        np.asarray(unreliable.any(axis=0)),
    )


def _compared(
    names: tuple[str, str],
    people: Sequence[CurveData],
    estimates: Sequence[Estimate],
    budget: int,
    draw: int,
) -> GroupComparison:
    if not all(can_be_asked(estimate, budget, 0, draw) for estimate in estimates):
        raise InputError(
            "Groups are compared by releases with a covariance only.",
            field="mechanism",
            hint="Choose the adaptive mean.",
        )
    curves = [
        ReleasedCurve.of(estimate, data.facts, budget, draw=draw, n_people=data.n_curves)
        for data, estimate in zip(people, estimates, strict=True)
    ]
    return GroupComparison(names, curves, are_disjoint=True)
