"""Families of adversarial neighbours: pairs of data sets that differ in one record.

One family for each type of data. It knows what is worst for a clip, an average or a basis: readings
far beyond every bound and of opposite signs, all at one time where a function peaks or anywhere,
covariates at the ends of their ranges and outside, tiny numbers, and what is no number at all. The
first pairs are those that are usually worst; after them everything is tried at random. Pairs are
repeats of two batches, so that hundreds are tried in one run.

They stand here and not with the methods: a method that brought its own worst pairs would be
attacked only where its author expects it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.audit.shapes import curves_of_pairs
from engine.core import tasks
from engine.core.errors import InputError
from engine.core.tasks import TASKS, DataType
from engine.core.types import (
    Array,
    Budget,
    Covariate,
    CurveData,
    Data,
    Design,
    EventData,
    EventFacts,
    PublicFacts,
    SampleData,
    Unit,
)
from engine.mechanisms import Mechanism
from engine.mechanisms.univariate_mean import Setting
from engine.numerics.eigensystems import midpoints

NO_NUMBERS = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324])
_SIGNS = np.array([-1.0, 1.0])
_PEAKS = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])  # where waves are tallest
_WILD = (-1e9, 1e300, np.nan, np.inf)  # covariates outside any range
# where edge functions of a cell of wavelets are tallest, and spread evenly
_FRACTIONS = np.unique(np.concatenate([np.arange(256) / 256, [1e-9, 1 - 1e-9]]))


@dataclass(frozen=True)
class Pairs:
    """Neighbouring data sets: those of the same number in both batches differ in one record."""

    usual: Any
    neighbour: Any
    server: NDArray[np.int64]  # (pairs,) array of int: the site of that record

    @property
    def count(self) -> int:
        return len(self.server)

    def pair(self, index: int) -> tuple[Any, Any]:
        """One pair."""
        return self.usual.repeat(index), self.neighbour.repeat(index)


@dataclass(frozen=True)
class PairRequest:
    """Purpose for which pairs are wanted."""

    mechanism: Any
    usual: Any
    budget: Budget


def as_it_is(mechanism: Any, pair: tuple[Any, Any]) -> tuple[Any, Any]:
    """The pair, of which nobody is left out."""
    return pair


@dataclass(frozen=True)
class Family:
    """Neighbours of one type of data."""

    label: str
    usual: Callable[[Any], Data]  # from a mechanism to small data of this type
    # from a question, how many are wanted and a generator to `Pairs`
    pairs: Callable[[PairRequest, int, np.random.Generator], Pairs]
    # leaves out of a pair whoever sends messages of their own that only add noise to what comes out
    # at the end
    alone: Callable[[Any, tuple[Any, Any]], tuple[Any, Any]] = as_it_is


def family_of(mechanism: Mechanism) -> Family:
    """The family that fits what a mechanism takes."""
    foreign = sorted(mechanism.served - TASKS.keys())
    task = foreign[0] if foreign else mechanism.main_task.key
    key = (task, "whole" if mechanism.family == "functional" else "")
    if key not in FAMILIES:
        raise InputError(
            f"No neighbours are known for mechanisms of the {mechanism.family} family "
            f"with the task {task!r}.",
            field="mechanism",
            hint="Add a family of pairs to engine.audit.neighbours.",
        )
    return FAMILIES[key]


def enlarged(usual: Any, copies: int) -> Any:
    """The same data with each record there several times."""
    return usual.of_people(np.repeat(np.arange(usual.n_curves), copies)) if copies > 1 else usual


def _opposite(k: int) -> bool:
    """Every other pair has mirror images, which saturate opposite clips."""
    return k % 2 == 1


# -- curves that are read here and there ----------------------------------------------------------


def usual_curves(
    mechanism: Any,
    n_curves: int = 24,
    readings: int = 4,
    n_covariates: int = 0,
    n_servers: int = 1,
    unequal: bool = False,
    seed: int = 1,
) -> CurveData:
    """Simulate ordinary curves of a few readings each, on unit scale, with covariates if asked for.

    `unequal` gives every third curve half of the readings.
    """
    rng = np.random.default_rng(seed)
    counts = np.full(n_curves, readings)
    if unequal:
        counts[::3] = readings // 2
    total = int(counts.sum())
    facts = PublicFacts(
        unit_scale=True,
        periodic=True,
        covariates=tuple(Covariate(f"G{k}", -2.0, 6.0) for k in range(n_covariates)),
    )
    times, values = rng.random((1, total)), rng.normal(size=(1, total))
    known = rng.uniform(-2.0, 6.0, (1, n_curves, n_covariates)) if n_covariates else None
    return CurveData(
        times, values, counts, np.arange(n_curves) * n_servers // n_curves, facts, covariates=known
    )


def _any_of(values: Sequence[float] | Array, rng: np.random.Generator) -> float:
    """Draw like `rng.choice`, which takes ten times as long to look at a few values."""
    drawn: float = values[int(rng.integers(len(values)))]
    return drawn


def _extreme_curve(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Times and values (count,): all where a wave peaks, or anywhere; readings of any size."""
    times = rng.random(count) if rng.random() < 0.3 else np.full(count, _any_of(_PEAKS, rng))
    kind, size = rng.integers(6), 10.0 ** rng.integers(0, 9)
    signs = rng.choice(_SIGNS, size=count) if kind == 1 else _any_of(_SIGNS, rng)
    values = np.full(count, size) * signs
    if kind == 2:
        values[rng.integers(count)] = _any_of((np.nan, np.inf, -np.inf, 1e308), rng)
    if kind == 3:
        times[rng.integers(count)] = _any_of((np.nan, np.inf, -1.0, 2.0), rng)
    if kind == 4:
        values = np.full(count, _any_of((0.0, -0.0, 5e-324), rng))
    return times, values


def _extreme_covariates(facts: PublicFacts, rng: np.random.Generator) -> Array:
    """Covariates (d,) at the ends of the stated ranges, far outside, inside, or no numbers."""
    ends = [[covariate.low, covariate.high] for covariate in facts.covariates]
    if rng.random() < 0.7:
        return np.array([_any_of(both, rng) for both in ends])
    return np.array([_any_of([*both, sum(both) / 2, *_WILD], rng) for both in ends])


def pairs_of_curves(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """One curve is replaced, with its covariates; lengths are public and stay."""
    usual: CurveData = question.usual
    batches = [_repeated(usual, count) for _ in range(2)]
    stops, servers = np.cumsum(usual.counts), np.zeros(count, dtype=np.int64)
    for k in range(count):
        curve = int(rng.integers(usual.n_curves))
        length, servers[k] = int(usual.counts[curve]), usual.server[curve]
        readings = slice(int(stops[curve]) - length, int(stops[curve]))
        for batch, (times, values, known) in zip(
            batches, _ends(usual, k, length, rng), strict=True
        ):
            batch["times"][k, readings], batch["values"][k, readings] = times, values
            if "covariates" in batch:
                batch["covariates"][k, curve] = known
    first, second = (replace(usual, **batch) for batch in batches)
    return Pairs(first, second, servers)


def _ends(
    usual: CurveData, k: int, length: int, rng: np.random.Generator
) -> list[tuple[Array, Array, Array]]:
    """Two extreme curves; half of the time mirror images, a quarter with the same covariates."""
    first, second = _extreme_curve(length, rng), _extreme_curve(length, rng)
    known = [_extreme_covariates(usual.facts, rng) for _ in range(2)]
    if _opposite(k):
        second = (first[0], -first[1])
    if k % 4 == 1:
        known[1] = known[0]
    return [(*first, known[0]), (*second, known[1])]


def _repeated(usual: CurveData, count: int) -> dict[str, Any]:
    """Copies of everything that a neighbour may change."""
    names = ("times", "values", *(() if usual.covariates is None else ("covariates",)))
    return {name: np.repeat(getattr(usual, name), count, axis=0) for name in names}


# -- curves that are read on a grid ---------------------------------------------------------------


def usual_whole_curves(mechanism: Any, n_curves: int | None = None) -> CurveData:
    """Simulate curves on a common grid, whose norm is bounded far more tightly than readings.

    By default there are 50 for a mean, else 20.
    """
    n = n_curves or (50 if mechanism.task == tasks.MEAN_FUNCTION.key else 20)
    is_wide = mechanism.task == tasks.COVARIANCE.key and mechanism.key != "bernstein"
    grid, rng = midpoints(12 if is_wide else 30), np.random.default_rng(1)
    has_covariates = mechanism.task == tasks.VARYING_COEFFICIENTS.key
    names = (Covariate("G1", -2.0, 6.0), Covariate("G2")) if has_covariates else ()
    facts = PublicFacts(
        value_low=-60.0,
        value_high=60.0,
        norm_bound=1.3,
        design=Design.common(grid.times),
        covariates=names,
    )
    known = rng.uniform(-1.0, 1.0, (1, n, len(names))) if names else None
    return CurveData(
        np.tile(grid.times, n)[None],
        rng.normal(size=(1, n * grid.size)),
        np.full(n, grid.size),
        np.zeros(n, dtype=np.int64),
        facts,
        covariates=known,
    )


def pairs_of_whole_curves(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """One curve is replaced by a worst shape, with its covariates; others may be one shape, too.

    Covariates of everybody are drawn anew for each pair.
    """
    usual = question.usual
    values, curve = curves_of_pairs(question.mechanism, usual, question.budget, count, rng)
    grid = question.mechanism.grid(usual.facts)
    times = np.broadcast_to(np.tile(grid.times, usual.n_curves), values[0].shape)
    known = [None, None] if usual.covariates is None else _known_of_all(usual, curve, rng)
    first, second = (
        CurveData(
            times,
            values[side],
            np.full(usual.n_curves, grid.size),
            usual.server,
            usual.facts,
            covariates=known[side],
        )
        for side in range(2)
    )
    return Pairs(first, second, usual.server[curve])


def _known_of_all(
    usual: CurveData, curve: NDArray[np.int64], rng: np.random.Generator
) -> list[Any]:
    """Covariates of everybody in both data sets, which differ in those of the chosen curves."""
    first = np.stack(
        [[_extreme_covariates(usual.facts, rng) for _ in range(usual.n_curves)] for _ in curve]
    )
    second, far = first.copy(), np.array([known.high for known in usual.facts.covariates])
    for k, replaced in enumerate(curve):
        drawn = [_extreme_covariates(usual.facts, rng) for _ in range(2)]
        first[k, replaced], second[k, replaced] = (far, far) if _opposite(k) else drawn
    return [first, second]


# -- single readings ------------------------------------------------------------------------------


def usual_readings(mechanism: Any) -> CurveData:
    """Forty people at two sites, one reading each."""
    rng = np.random.default_rng(3)
    facts = PublicFacts(value_low=-1.0, value_high=1.0, reading_sd=0.1, unit_scale=True)
    return CurveData(
        rng.random((1, 40)),
        rng.normal(size=(1, 40)),
        np.ones(40, dtype=np.int64),
        np.repeat([0, 1], 20),
        facts,
    )


def _pairs_of_readings(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """One reading is replaced: the same time with the label turned over, or any other.

    Times run over a fine grid, so that wherever functions overlap or peak is tried. In some pairs
    all other readings are as large as they can be, and one of the two is missing.
    """
    usual: CurveData = question.usual
    batches = [_repeated(usual, count) for _ in range(2)]
    replaced = rng.integers(usual.n_curves, size=count)
    level = question.mechanism.level or 5
    times = (rng.integers(2**level, size=count) + rng.choice(_FRACTIONS, count)) / 2**level
    sizes = rng.choice([1e-3, 1.0, 2.5, 40.0, 1e9, np.inf, np.nan], count)
    sizes[1::2] = 1e9
    others = np.where(np.arange(count) % 4 == 0, rng.permutation(times), times)
    others[::16] = rng.choice([1.0, np.nan, -3.0, 7.0, np.inf], len(others[::16]))
    rows, crowd = np.arange(count), np.arange(count) % 8 == 3
    labels = [sizes, np.where(crowd, rng.choice(NO_NUMBERS, count), -sizes)]
    for batch, time, label in zip(batches, (times, others), labels, strict=True):
        batch["times"][crowd], batch["values"][crowd] = times[crowd, None], 1e9
        batch["times"][rows, replaced], batch["values"][rows, replaced] = time, label
    first, second = (replace(usual, **batch) for batch in batches)
    return Pairs(first, second, usual.server[replaced])


# -- rows -----------------------------------------------------------------------------------------


def _usual_rows(mechanism: Any) -> SampleData:
    """Rows on six machines of four rows: of six numbers, or twelve to choose from by one centre."""
    size = 6 if hasattr(mechanism, "per_machine") else 12
    facts = PublicFacts(reading_sd=1.0, covariates=(Covariate("Number"),) * size)
    x = np.random.default_rng(1).normal(size=(1, 24, size))
    return SampleData(x, None, np.repeat(np.arange(6), 4), facts)


def _pairs_of_rows(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """A row is replaced, or all rows of a machine where machines are what is protected.

    In some pairs all other rows are alike and far out, so that a choice of the largest means hangs
    on the row: half of its numbers add to them, half take away, and then the other way round.
    """
    usual: SampleData = question.usual
    x = [np.repeat(usual.x, count, axis=0) for _ in range(2)]
    rows = rng.integers(usual.n_curves, size=count)
    for k, row in enumerate(rows):
        whole = getattr(question.mechanism, "protects", Unit.ROW) is Unit.MACHINE
        replaced = usual.server == usual.server[row] if whole else np.arange(usual.n_curves) == row
        crowd, signs = k % 5 == 0, _balanced(usual.x.shape[2], rng)
        for side, end in enumerate((-1.0, 1.0)):
            odd = rng.choice(NO_NUMBERS, usual.x.shape[2])
            x[side][k] = 1e9 if crowd else x[side][k]
            x[side][k, replaced] = end * 10.0 ** rng.integers(0, 9) if rng.random() < 0.7 else odd
            x[side][k, replaced] = end * 1e9 * signs if crowd else x[side][k, replaced]
    first, second = (replace(usual, x=each) for each in x)
    return Pairs(first, second, usual.server[rows])


def _balanced(size: int, rng: np.random.Generator) -> Array:
    """Signs, as many of one kind as of the other."""
    return rng.permutation(np.where(np.arange(size) % 2, 1.0, -1.0))


def _usual_rows_with_response(mechanism: Any) -> SampleData:
    """Rows of twelve features and a response on three machines of ten rows."""
    rng = np.random.default_rng(1)
    facts = PublicFacts(
        unit_scale=True,
        reading_sd=0.5,
        value_low=-8.0,
        value_high=8.0,
        covariates=(Covariate("x", -4.0, 4.0),) * 12,
    )
    return SampleData(
        rng.standard_normal((1, 30, 12)), rng.standard_normal((1, 30)), np.arange(30) // 10, facts
    )


def _pairs_of_rows_with_response(
    question: PairRequest, count: int, rng: np.random.Generator
) -> Pairs:
    """A row at the clips and far beyond; in every other pair the response turns over.

    In some pairs all other rows are alike, so that a choice of the largest entries hangs on it.
    """
    usual: SampleData = question.usual
    assert usual.y is not None
    x, y = ([np.repeat(a, count, axis=0) for _ in range(2)] for a in (usual.x, usual.y))
    rows = rng.integers(usual.n_curves, size=count)
    for k, row in enumerate(rows):
        both = [_extreme_row(usual.x.shape[2], rng) for _ in range(2)]
        if _opposite(k):
            both = [(np.sign(both[0][0]) * 1e3, end * 1e308) for end in (-1.0, 1.0)]
        if k % 5 == 0:
            signs = _balanced(usual.x.shape[2], rng)
            both = [(signs * 1e3, end * 1e308) for end in (-1.0, 1.0)]
            for side in range(2):
                x[side][k], y[side][k] = 1e3, 1e308
        for side, (features, response) in enumerate(both):
            x[side][k, row], y[side][k, row] = features, response
    first, second = (replace(usual, x=x[side], y=y[side]) for side in range(2))
    return Pairs(first, second, usual.server[rows])


def _extreme_row(size: int, rng: np.random.Generator) -> tuple[Array, float]:
    """Draw a row at clips and far beyond, sign by sign; half of it zero; or no number in places."""
    kind, x = rng.integers(5), rng.choice([-1.0, 1.0], size)
    x = x * rng.choice([1.0, 4.0, 4.0 * (1 + 1e-9), 1e3, 1e300])
    if kind == 0:
        x = np.where(rng.random(size) < 0.5, x, 0.0)
    if kind == 1:
        x[rng.integers(size)] = rng.choice(NO_NUMBERS)
    y = (
        rng.choice(NO_NUMBERS)
        if kind == 2
        else rng.choice([-1.0, 1.0]) * rng.choice([0.0, 3.0, 1e6, 1e308])
    )
    return x, float(y)


# -- points, and points with a label --------------------------------------------------------------


def usual_points(mechanism: Any) -> SampleData:
    """Points of the line at two sites, of twenty and fifteen records."""
    x = np.random.default_rng(5).random((1, 35, 1))
    return SampleData(
        x, None, np.repeat([0, 1], [20, 15]), PublicFacts(covariates=(Covariate("x", 0.0, 1.0),))
    )


def _pairs_of_points(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """One point is replaced; the first pairs go from an end to everywhere."""
    usual: SampleData = question.usual
    x = [np.repeat(usual.x, count, axis=0) for _ in range(2)]
    row = rng.integers(usual.n_curves, size=count)
    outside = np.array([-5.0, 7.0, 1e300, -1e300, np.inf, -np.inf, np.nan])
    for side in range(2):
        places = np.where(
            rng.random((count, usual.x.shape[2])) < 0.1,
            rng.choice(outside, (count, usual.x.shape[2])),
            rng.random((count, usual.x.shape[2])),
        )
        x[side][np.arange(count), row] = _within(places, usual.facts)
    apart = np.arange(count) % 2 == 0  # the second at a given distance from the first
    from_end = rng.random((count, usual.x.shape[2])) * (np.arange(count) % 4 == 0)[:, None]
    x[0][apart, row[apart]] = _within(from_end[apart], usual.facts)
    first, second = (replace(usual, x=each) for each in x)
    return Pairs(first, second, usual.server[row])


def _within(unit: Array, facts: PublicFacts) -> Array:
    """Places on [0, 1]^d in the units of the columns."""
    low, high = (np.array([getattr(c, end) for c in facts.covariates]) for end in ("low", "high"))
    return np.asarray(low + unit * (high - low))


def _usual_labelled(mechanism: Any) -> SampleData:
    """Points of the line with labels around a wave."""
    points, rng = usual_points(mechanism), np.random.default_rng(7)
    labels = np.sin(7 * points.x[..., 0]) + 0.1 * rng.normal(size=points.x.shape[:2])
    return replace(points, y=labels)


def _pairs_of_labelled(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """A point and its label are replaced; of the others some pairs stand all in one place."""
    usual: SampleData = question.usual
    assert usual.y is not None
    x, y = np.repeat(usual.x, count, axis=0), np.repeat(usual.y, count, axis=0)
    facts, crowd = usual.facts, np.arange(count) % 3
    x[crowd > 0] = _within(np.full(usual.x.shape[2], 0.5), facts)
    y[crowd == 1] = facts.value_high
    y[crowd == 2] = np.where(np.arange(usual.n_curves) % 2, facts.value_low, facts.value_high)
    row, rows = rng.integers(usual.n_curves, size=count), np.arange(count)
    places = rng.choice([0.5, 0.5, 0.5, 0.02, 0.02, 0.98, -5.0, np.inf, np.nan], (2, count))
    anywhere = np.arange(count) % 4 < 2
    places[:, anywhere] = rng.random(anywhere.sum())
    labels = rng.choice([1.0, 0.97, 50.0, 1e4, 1e300, np.inf, np.nan], (2, count))
    labels[0], labels[1] = facts.value_low * labels[0], facts.value_high * labels[1]
    places[1, ::2] = places[0, ::2]
    sides = []
    for place, label in zip(places, labels, strict=True):
        own_x, own_y = x.copy(), y.copy()
        own_x[rows, row], own_y[rows, row] = _within(place[:, None], facts), label
        sides.append(replace(usual, x=own_x, y=own_y))
    return Pairs(sides[0], sides[1], usual.server[row])


# -- numbers --------------------------------------------------------------------------------------


def _usual_numbers(mechanism: Any) -> CurveData:
    """Six people at three sites; with many numbers each where people are protected and vote."""
    people, each = 6, 1500 if mechanism.setting.is_by_person else 5
    values = np.random.default_rng(2).uniform(-2, 3, size=(1, people * each))
    return CurveData(
        np.zeros_like(values),
        values,
        np.full(people, each),
        np.array([0, 0, 1, 1, 1, 2]),
        PublicFacts(value_low=-2.0, value_high=3.0),
    )


def _pairs_of_numbers(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """One number is replaced, or all numbers of one person where people are protected."""
    usual: CurveData = question.usual
    stops, by_person = np.cumsum(usual.counts), question.mechanism.setting.is_by_person
    sides, people = (
        [usual.values.repeat(count, axis=0) for _ in range(2)],
        rng.integers(usual.n_curves, size=count),
    )
    for k, person in enumerate(people):
        first = int(stops[person] - usual.counts[person])
        item = first + int(rng.integers(usual.counts[person]))
        replaced = slice(first, int(stops[person])) if by_person else slice(item, item + 1)
        for side, end in zip(sides, (-1.0, 1.0), strict=True):
            if k % 10 < 3:
                side[k] = np.array([usual.facts.value_low, usual.facts.value_high, np.nan])[k % 3]
            side[k, replaced] = (
                end * 10.0 ** rng.integers(0, 9) if rng.random() < 0.7 else (rng.choice(NO_NUMBERS))
            )
    times = np.zeros_like(sides[0])
    first_side, second_side = (replace(usual, times=times, values=side) for side in sides)
    return Pairs(first_side, second_side, usual.server[people])


def _alone_with_numbers(
    mechanism: Any, pair: tuple[CurveData, CurveData]
) -> tuple[CurveData, CurveData]:
    """Keep only the changed item, person or site if there is no centre: sums hide it."""
    if mechanism.setting.is_central:
        return pair
    first, second = pair
    item = int(np.argmax(first.values[0].view(np.int64) != second.values[0].view(np.int64)))
    person = int(np.searchsorted(np.cumsum(first.counts), item, side="right"))
    if mechanism.setting.is_by_site:
        site = [int(first.server[person])]
        return first.of_servers(site), second.of_servers(site)
    stop = int(np.cumsum(first.counts)[person])
    numbers = slice(stop - int(first.counts[person]), stop)
    if mechanism.setting is Setting.LOCAL_ITEM:
        numbers = slice(item, item + 1)
    count = np.array([numbers.stop - numbers.start])
    sides = [
        replace(
            data,
            times=data.times[:, numbers],
            values=data.values[:, numbers],
            counts=count,
            server=np.zeros(1, dtype=np.int64),
        )
        for data in pair
    ]
    return sides[0], sides[1]


# -- times and how they ended ---------------------------------------------------------------------


def usual_events(mechanism: Any) -> EventData:
    """Simulate people at two sites with a time, one of two events, and a group of private size.

    There are groups where times end in events. Some people enter late, and there are three groups,
    where the method takes that.
    """
    rng, n = np.random.default_rng(6), 240
    has_groups, enters = mechanism.estimand.is_followed, mechanism.estimand.takes_entry
    names = ("A", "B", "C")[: 2 + enters] if has_groups else ()
    facts = EventFacts(causes=("Relapse", "Death"), groups=names, late_entry=enters)
    return EventData(
        1.4 * rng.random((1, n)),
        rng.integers(0, 3, (1, n)),
        np.arange(n) * 2 // n,
        facts,
        rng.integers(0, len(names), (1, n)) if has_groups else None,
        entry=rng.random((1, n)) if enters else None,
    )


def usual_visits() -> EventData:
    """Simulate people at two sites who are seen at four visits, or miss some, in three groups."""
    rng, n = np.random.default_rng(7), 240
    edges = (0.0, 0.25, 0.5, 0.75, 1.0)
    facts = EventFacts(groups=("A", "B", "C"), edges=edges, at_visits=True)
    without = rng.choice(edges, (1, n))
    return EventData(
        without + rng.choice([0.25, 0.5, np.nan], (1, n)),
        np.ones((1, n), dtype=np.int64),
        np.arange(n) * 2 // n,
        facts,
        rng.integers(0, 3, (1, n)),
        without=without,
    )


def _pairs_of_events(question: PairRequest, count: int, rng: np.random.Generator) -> Pairs:
    """A person is replaced: another time, another end, another group, or what is none of these.

    In some pairs all others are in one cell, or nobody else is in the cells of the two. Where
    people enter late or are seen at visits, the two differ in their entry or last visit without the
    event alone, in their exit or first visit with it alone, or in both.
    """
    usual: EventData = question.usual
    n, rows = usual.n_curves, np.arange(count)
    person, sides = rng.integers(n, size=count), list[EventData]()
    times, status = usual.time.repeat(count, axis=0), usual.status.repeat(count, axis=0)
    group = None if usual.group is None else usual.group.repeat(count, axis=0)
    entry = None if usual.earlier is None else usual.earlier.repeat(count, axis=0)
    crowd = rows % 5 == 0
    times[crowd], status[crowd] = rng.choice([0.05, 0.5, 9.0], (crowd.sum(), 1)), 1
    # 0: entry and exit change; 1: exit alone, of somebody who entered at once; 2: entry alone, of
    # somebody who is there at the end
    changed = rows % 3 if entry is not None else np.zeros(count, dtype=int)
    ends = np.array([0.0, -1.0, 1.0, 1.0 + 1e-12, 5.0, *NO_NUMBERS])
    for _ in range(2):
        time, end, member = times.copy(), status.copy(), None if group is None else group.copy()
        time[rows, person] = np.where(
            rng.random(count) < 0.4, rng.choice(ends, count), rng.random(count)
        )
        end[rows, person] = rng.choice([0, 1, 2, 3, -1, 99], count)
        if member is not None:
            member[rows, person] = rng.choice([0, 1, 2, 7], count)
        late = None
        if entry is not None and member is not None:
            late, kept = entry.copy(), rows[changed == 2]
            late[rows, person] = np.where(
                rng.random(count) < 0.4, rng.choice(ends, count), rng.random(count)
            )
            late[rows[changed == 1], person[changed == 1]] = 0.0
            time[kept, person[kept]], member[kept, person[kept]] = 5.0, 0
        without, late = (late, None) if usual.facts.at_visits else (None, late)
        sides.append(
            replace(usual, time=time, status=end, group=member, entry=late, without=without)
        )
    return Pairs(sides[0], sides[1], usual.server[person])


_EVENTS = Family("times with an end", usual_events, _pairs_of_events)
_CURVES = Family("curves", usual_curves, pairs_of_curves)
_WITH_COVARIATES = Family(
    "curves with covariates",
    lambda mechanism: usual_curves(mechanism, n_covariates=1),
    pairs_of_curves,
)
_WHOLE = Family("whole curves", usual_whole_curves, pairs_of_whole_curves)
FAMILIES: dict[tuple[str, str], Family] = {
    (tasks.MEAN_FUNCTION.key, ""): _CURVES,
    (tasks.PERCENTILE_CURVES.key, ""): _CURVES,
    (tasks.VARYING_COEFFICIENTS.key, ""): _WITH_COVARIATES,
    (tasks.WAVELET_REGRESSION.key, ""): Family(
        "single observations", usual_readings, _pairs_of_readings
    ),
    (tasks.SPARSE_MEAN.key, ""): Family("rows", _usual_rows, _pairs_of_rows),
    (tasks.SPARSE_REGRESSION.key, ""): Family(
        "rows with a response", _usual_rows_with_response, _pairs_of_rows_with_response
    ),
    (tasks.UNIVARIATE_MEAN.key, ""): Family(
        "numbers", _usual_numbers, _pairs_of_numbers, _alone_with_numbers
    ),
    **{
        (task.key, "whole"): _WHOLE
        for task in (tasks.MEAN_FUNCTION, tasks.VARYING_COEFFICIENTS, tasks.COVARIANCE)
    },
    (tasks.DENSITY.key, "whole"): Family("points", usual_points, _pairs_of_points),
    (tasks.RISK_MINIMISATION.key, "whole"): Family(
        "labelled points", _usual_labelled, _pairs_of_labelled
    ),
}
# A task without a line above takes the pairs of such data with such a unit of protection; single
# observations and rows differ too much from task to task. Summaries are attacked as means.
_BY_DATA = {(DataType.CURVES, Unit.CURVE): _CURVES, (DataType.EVENTS, Unit.PERSON): _EVENTS}
FAMILIES |= {
    (task.key, ""): _BY_DATA[task.data, task.unit]
    for task in TASKS.values()
    if (task.data, task.unit) in _BY_DATA
    and not {(task.key, ""), (task.key, "whole")} & FAMILIES.keys()
}
