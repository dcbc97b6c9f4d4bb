"""The twin for each task: data simulated from stated facts, of which its truth is known.

Twins are given public facts and public sizes, two types that hold no observation, so that no value
of a file can reach them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit, ndtr, ndtri

from engine.core.grids import drawing_grid
from engine.core.tasks import RISK_MINIMISATION, Argument, DataType, Task
from engine.core.types import (
    Array,
    CurveData,
    DataKind,
    EventData,
    EventFacts,
    PublicFacts,
    SampleData,
    Sizes,
    Truth,
)
from engine.numerics.counts.cells import Counted
from engine.numerics.counts.estimands import ESTIMANDS, CountedEstimand
from engine.numerics.observation_times import Stratified, draw_times
from engine.sources import Source
from engine.sources.event_times import seen_at
from engine.sources.twin import SimulatedTwin, Twin

_FOR_TRUTH = 2000  # curves behind the variance of a twin, and behind the mean of its numbers
_SEED = 20_270
_BUMPS, _BUMP_SD = np.array([0.2, 0.5, 0.8]), 0.06  # as shares of the stated range
_ODDS, SPREAD = 2.0, 0.17  # largest log-odds of classes; spread of responses, in half-ranges


def twin_of(task: Task, facts: PublicFacts, sizes: Sizes) -> SimulatedTwin:
    """The twin of data of which facts and sizes are public.

    Percentile curves have a `ReadingTwin`, which depends on the scale on which the method estimates
    them.
    """
    if isinstance(facts, EventFacts):
        return EventTwin.of(facts, sizes, ESTIMANDS[task.key])
    if task.data is DataType.RECORDS:
        kind = LabelledTwin if task is RISK_MINIMISATION else RecordTwin
        return kind(facts, sizes)
    twin = Twin.of(facts, sizes)
    if task.argument is Argument.TWO_TIMES:
        return VaryingTwin(twin)
    if task.argument is Argument.NOTHING:
        return NumberTwin(twin)
    return CovariateTwin(twin, facts) if facts.covariates else twin


@dataclass(frozen=True)
class VaryingTwin(SimulatedTwin):
    """Curves of a twin, and their variance at each time, from many more of them."""

    curves: Twin

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        many = replace(
            self.curves,
            people=(_FOR_TRUTH,),
            stated=replace(self.curves.stated, observations_per_curve=self.curves.n_observations),
        )
        times = tuple(drawing_grid().tolist())
        variance = many.draw(1, rng).on_grid(times).var(axis=1)[0]
        return (
            self.curves.draw(n_repeats, rng),
            np.broadcast_to(variance, (n_repeats, len(variance))),
        )


@dataclass(frozen=True)
class NumberTwin(SimulatedTwin):
    """Numbers of people, and the mean that a person's numbers have on average: (repeats, 1).

    It is that of all people such as these, and not of those who are drawn, as with curves.
    """

    numbers: Twin

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        twin = self.numbers
        evenly = Stratified(np.random.default_rng(_SEED))
        times = draw_times(twin.facts.design, _FOR_TRUTH, twin.n_observations, evenly)
        mean = float(twin.truth.at(times).mean())
        return twin.draw(n_repeats, rng), np.full((n_repeats, 1), mean)


@dataclass(frozen=True)
class CovariateTwin(SimulatedTwin):
    """Curves with covariates that are evenly spread over their stated ranges and have no effect.

    What a release shows of effects beside zero is noise.
    """

    curves: Twin
    stated: PublicFacts

    @property
    def n_drawn(self) -> int:
        return self.curves.n_drawn

    def of_few(self) -> CovariateTwin:
        return replace(self, curves=self.curves.of_few())

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        data = self.curves.draw(n_repeats, rng)
        low, high = np.array([(c.low, c.high) for c in self.stated.covariates]).T
        groups = self.curves.groups
        covariates = low + (high - low) * rng.random((n_repeats, groups.max() + 1, len(low)))
        covariates = covariates[:, groups]
        facts = replace(data.facts, covariates=self.stated.covariates)
        baseline = self.curves.truth.grid_values
        truth = np.concatenate([baseline[None], np.zeros((len(low), len(baseline)))])
        return (
            replace(data, covariates=covariates, truth=None, facts=facts),
            np.broadcast_to(truth, (n_repeats, *truth.shape)),
        )


@dataclass(frozen=True)
class RecordTwin(SimulatedTwin):
    """Records of one number that gather at three equal bumps; their density is known."""

    stated: PublicFacts
    sizes: Sizes

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[SampleData, Array]:
        size = (n_repeats, self.sizes.n_curves)
        unit = _BUMPS[rng.integers(len(_BUMPS), size=size)]
        unit = np.clip(unit + _BUMP_SD * rng.standard_normal(size), 0, 1)
        density = self.density(drawing_grid())
        return self._records(unit), np.broadcast_to(density, (n_repeats, len(density)))

    @staticmethod
    def density(points: Array) -> Array:
        """Evaluate the density of the records at shares of the stated range: (n,)."""
        z = (points[:, None] - _BUMPS) / _BUMP_SD
        return np.asarray((np.exp(-z * z / 2) / (_BUMP_SD * math.sqrt(2 * math.pi))).mean(axis=1))

    def with_peaks(self, count: int) -> tuple[RecordTwin, Array]:
        """These records as they are: they have three peaks, however many are asked for."""
        return self, _BUMPS

    def _records(self, unit: Array, response: Array | None = None) -> SampleData:
        """Records of numbers (repeats, n) on [0, 1], in the unit of the stated range."""
        feature = self.stated.covariates[0]
        x = (feature.low + (feature.high - feature.low) * unit)[..., None]
        server = np.repeat(np.arange(self.sizes.n_servers), self.sizes.n_curves_per_server)
        return SampleData(x, response, server, replace(self.stated, covariates=(feature,)))


@dataclass(frozen=True)
class LabelledTwin(RecordTwin):
    """Records of one number and a response that follows three bumps; what predicts it is known.

    Responses spread about the bumps as a sixth of half their range; of two classes the odds follow
    them.
    """

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[SampleData, Array]:
        stated, unit = self.stated, rng.random((n_repeats, self.sizes.n_curves))
        known, truth = (self.predictor(x, stated.two_classes) for x in (unit, drawing_grid()))
        if stated.two_classes:
            is_one = rng.random(unit.shape) < expit(known)
            response = np.where(is_one, stated.value_high, stated.value_low)
        else:
            middle, half = stated.value_middle, stated.value_half_width
            noise = SPREAD * rng.standard_normal(unit.shape)
            response = np.clip(middle + half * (known + noise), stated.value_low, stated.value_high)
            truth = middle + half * truth
        return self._records(unit, response), np.broadcast_to(truth, (n_repeats, len(truth)))

    @staticmethod
    def predictor(points: Array, two_classes: bool) -> Array:
        """Predict the response: log-odds, or a number in half-ranges from the middle."""
        height = _bumpy(points)
        return np.asarray(_ODDS * (2 * height - 1) if two_classes else height - 0.5)


def _bumpy(unit: Array) -> Array:
    """Three bumps of height one, at places on [0, 1]."""
    z = (unit[..., None] - _BUMPS) / (2 * _BUMP_SD)
    return np.asarray(np.exp(-z * z / 2).sum(axis=-1))


# -- people with one time each ---------------------------------------------------------------------


Codes = NDArray[np.int64]

_EVENT_FREE = 0.5  # share of the first group at the end
_RATIO = 1.5  # hazard of the first group over that of the second
_BETA = (2.0, 4.0)  # of values, over the stated range
_LATE, _LATEST_ENTRY = 0.6, 0.5  # share of people who enter late, and when as a share of follow-up
_GAP = 1.0  # of scores, in standard deviations: an area of 0.76


@dataclass(frozen=True)
class EventTwin(SimulatedTwin):
    """People simulated from stated facts, with one time each.

    Half of them have an event by the end of the follow-up, values lie as concentrations do, and a
    score tells labels apart about as well as risk scores of medicine.
    """

    stated: EventFacts
    people: tuple[int, ...]
    # whose truth is asked for: whether outcomes, values or scores are drawn follows from it
    estimand: CountedEstimand

    @classmethod
    def of(cls, facts: EventFacts, sizes: Sizes, estimand: CountedEstimand) -> EventTwin:
        """The twin of people of whom facts and sizes are public."""
        return cls(facts, sizes.n_curves_per_server, estimand)

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[EventData, Array]:
        truth = self.truth(drawing_grid())
        return self.draw(n_repeats, rng), np.broadcast_to(truth, (n_repeats, *truth.shape))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Draw data sets of equal sizes."""
        size = (n_repeats, sum(self.people))
        server = np.repeat(np.arange(len(self.people)), self.people)
        group = self._groups(size) if self.estimand.is_followed else None
        entry = without = None
        if group is not None and self.stated.at_visits:
            time, status, without = self._at_visits(size, group, rng)
        elif group is not None:
            time, status, entry = self._seen(size, group, rng)
        elif self.estimand.counted is Counted.VALUES:
            time, status = rng.beta(*_BETA, size), np.ones(size, dtype=np.int64)
        else:
            status = rng.integers(2, size=size)
            marker = rng.standard_normal(size) + _GAP * status
            time = expit(_GAP * marker - _GAP**2 / 2)
        facts = replace(self.stated, kind=DataKind.TWIN)
        exits, entries, visits = (
            None if each is None else self.stated.from_unit_time(each)
            for each in (time, entry, without)
        )
        assert exits is not None
        return EventData(exits, status, server, facts, group, entry=entries, without=visits)

    def _groups(self, size: tuple[int, int]) -> Codes:
        """The group of everybody: of public sizes where those are stated, else in turn."""
        index = np.arange(size[1])
        sizes, n_groups = self.stated.group_sizes, max(1, len(self.stated.groups))
        group = (
            np.searchsorted(np.cumsum(sizes), index, side="right") if sizes else index % n_groups
        )
        return np.broadcast_to(group.astype(np.int64), size)

    @property
    def _hazards(self) -> Array:
        """Hazard of each group as a multiple of that of the first: (groups,)."""
        return np.asarray(_RATIO ** -np.linspace(0.0, 1.0, max(1, len(self.stated.groups))))

    def _outcomes(
        self, size: tuple[int, int], group: Codes, rng: np.random.Generator
    ) -> tuple[Array, Codes]:
        """Shares of the follow-up, and codes of events, all causes alike."""
        event, censored = self._ends(size, group, rng)
        cause = 1 + rng.integers(len(self.stated.causes), size=size)
        return np.minimum(event, censored), np.where(event <= censored, cause, 0)

    def _ends(
        self, size: tuple[int, int], group: Codes, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Shares of the follow-up at which events are, and observation ends."""
        event = rng.standard_exponential(size) / -math.log(_EVENT_FREE)
        return event / self._hazards[group], 0.5 + rng.random(size)

    def _at_visits(
        self, size: tuple[int, int], group: Codes, rng: np.random.Generator
    ) -> tuple[Array, Codes, Array]:
        """First visits with the event, whether there is one, and last visits without it."""
        visits = self.stated.to_unit_time(np.asarray(self.stated.edges[1:]))
        first, last = seen_at(visits, *self._ends(size, group, rng), rng)
        return first, (~np.isnan(first)).astype(np.int64), last

    def _seen(
        self, size: tuple[int, int], group: Codes, rng: np.random.Generator
    ) -> tuple[Array, Codes, Array | None]:
        """Exits, what they are, and entries; whoever leaves before entering is somebody else."""
        if not self.stated.late_entry:
            return *self._outcomes(size, group, rng), None
        time, status, entry = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size)
        while (unseen := entry >= time).any():
            again, ends = self._outcomes(size, group, rng)
            late = np.where(rng.random(size) < _LATE, _LATEST_ENTRY * rng.random(size), 0.0)
            time, status = np.where(unseen, again, time), np.where(unseen, ends, status)
            entry = np.where(unseen, late, entry)
        return time, status, entry

    def truth(self, grid: Array) -> Array:
        """Evaluate the true functions: group after group, and in each of them cause after cause.

        `grid` (n,) holds shares of the stated range, for an ROC curve false-positive rates. Returns
        (n,) or (functions, n).
        """
        if self.estimand.counted is Counted.VALUES:
            return np.asarray(betainc(*_BETA, grid))
        if self.estimand.counted is Counted.LABELS:
            return np.asarray(ndtr(ndtri(grid) + _GAP))
        free = np.stack([_EVENT_FREE ** (grid * hazard) for hazard in self._hazards])
        if self.stated.group_weights:
            free = np.asarray(self.stated.group_weights) @ free
            return np.asarray(free)
        if self.estimand.tells_causes:
            free = np.repeat((1 - free) / len(self.stated.causes), len(self.stated.causes), axis=0)
        return free if len(free) > 1 else free[0]


@dataclass(frozen=True, kw_only=True)
class EventStandIn(Source[EventData]):
    """An `EventTwin` as a source, whose sizes can change: what a plan simulates."""

    key = "event_stand_in"
    label = "Twin from stated facts"
    tasks = frozenset(ESTIMANDS)

    twin: EventTwin

    @property
    def facts(self) -> EventFacts:
        return replace(self.twin.stated, kind=DataKind.TWIN)

    @property
    def sizes(self) -> Sizes:
        return Sizes(self.twin.people, sum(self.twin.people), 1)

    @property
    def truth(self) -> Truth:
        return Truth.of(self.twin.truth, "midpoints")

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        return replace(self.twin.draw(n_repeats, rng), truth=self.truth)

    def resized(self, people: int, readings: int, sites: int) -> EventStandIn:
        """So many people at each site; groups of public size keep their shares of all."""
        stated, total = self.twin.stated, people * sites
        if stated.group_sizes:
            ends = np.cumsum(stated.group_sizes) / sum(stated.group_sizes)
            sizes = np.maximum(np.diff(np.rint(ends * total), prepend=0.0), 1.0)
            sizes[-1] = max(1.0, total - sizes[:-1].sum())
            stated = replace(stated, group_sizes=tuple(int(size) for size in sizes))
        return replace(self, twin=replace(self.twin, stated=stated, people=(people,) * sites))


# -- people with several readings, whose percentile curves are known -------------------------------


PILED_UP = 0.3  # share of readings at a stated value
Back = Callable[[Array], Array]  # from [−1, 1] to response units


@dataclass(frozen=True)
class ReadingTwin(SimulatedTwin):
    """People simulated from stated facts: a `Twin` on the scale on which percentiles are estimated.

    Readings follow a normal law there, so that the percentile curves are known.
    """

    stated: PublicFacts
    twin: Twin
    back: Back  # to response units
    levels: tuple[float, ...]  # shares below each curve
    point_mass: float | None = None  # a value at which readings pile up

    @classmethod
    def of(
        cls,
        facts: PublicFacts,
        sizes: Sizes,
        back: Back,
        levels: Array,
        point_mass: float | None = None,
    ) -> ReadingTwin:
        """The twin of people of whom facts and sizes are public.

        Readings pile up at `point_mass`; `back` leads from [−1, 1] to response units.
        """
        on_unit = replace(facts, value_low=-1.0, value_high=1.0, guessed_spread=0.0, covariates=())
        if facts.guessed_spread:
            step = np.ptp(back(np.array([-0.01, 0.01]))) / 0.02  # response units near the middle
            on_unit = replace(on_unit, guessed_spread=min(facts.guessed_spread / step, 1.0))
        return cls(facts, Twin.of(on_unit, sizes), back, tuple(levels.tolist()), point_mass)

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        truth = self.truth(drawing_grid())
        return self.draw(n_repeats, rng), np.broadcast_to(truth, (n_repeats, *truth.shape))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets of equal sizes."""
        data = self.twin.draw(n_repeats, rng)
        values = self.back(data.values)
        if self.point_mass is not None:
            values = np.where(rng.random(values.shape) < PILED_UP, self.point_mass, values)
        facts = replace(
            data.facts, value_low=self.stated.value_low, value_high=self.stated.value_high
        )
        return replace(data, values=values, facts=facts, truth=None)

    def truth(self, grid: Array) -> Array:
        """Evaluate the true percentile curves, (T, n), in response units."""
        mean, sd, levels = self.twin.mean(grid), self.twin.spread, np.array(self.levels)

        def at(shares: Array) -> Array:
            inside = np.clip(shares, 1e-9, 1 - 1e-9)[:, None]
            return self.back(np.clip(mean + sd * ndtri(inside), -1.0, 1.0))

        if self.point_mass is None:
            return at(levels)
        # of all readings a share is at the value; the rest lie as they would without it
        below, above = at(levels / (1 - PILED_UP)), at((levels - PILED_UP) / (1 - PILED_UP))
        above[levels <= PILED_UP] = self.point_mass  # of so few readings none lie above it
        return np.where(below < self.point_mass, below, np.maximum(above, self.point_mass))
