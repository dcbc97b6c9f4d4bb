"""Releases of a table of noised counts, beside the ordinary curve and the truth.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import LEVEL
from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, EventData, EventFacts
from engine.mechanisms import Mechanism
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.study import Study
from engine.numerics import product_limit
from engine.numerics.counts.comparisons import (
    CurveDifference,
    HazardRatio,
    LogRank,
    difference,
    hazard_ratio,
    log_rank,
)
from engine.numerics.counts.contrasts import Contrasts
from engine.numerics.counts.curves import CountedCurve
from engine.numerics.counts.distributions import Calibration, Roc
from engine.numerics.counts.estimands import ESTIMANDS, CountedEstimand
from engine.numerics.counts.life_tables import MIN_SHOWN
from engine.numerics.counts.tables import CountTable
from engine.privacy.feasibility import CountFeasibility
from engine.simulation import studies
from engine.simulation.studies import check_readings
from engine.sources import Source
from engine.topics.simulated import Simulated, errors_and_baseline

_MAX_PEOPLE = 1_000_000  # of a data set on screen


@dataclass(frozen=True, kw_only=True, eq=False)
class CountingAnswer(Simulated):
    """Curves of one table of counts with their possible releases.

    Releases are (draws, functions, GRID_SIZE), as shares of people. The ordinary curves are
    Kaplan–Meier, Aalen–Johansen, the empirical distribution or the ROC curve, and the baseline is
    their error, or that of exact counts if it is smaller.
    """

    facts: EventFacts
    verdict: CountFeasibility
    task: str
    n_sites: int
    # (GRID_SIZE,): times at which curves are drawn, in their unit; of an ROC curve false-positive
    # shares
    times: Array
    names: tuple[str, ...]  # names of the curves; one empty name where there is only one curve
    table: CountTable | None  # the first release; None where nothing would be
    ordinary_test: tuple[float, float] | None  # z and p of the log-rank test of two groups
    min_at_risk: float = MIN_SHOWN

    @property
    def estimand(self) -> CountedEstimand:
        """Quantity computed from the counts."""
        return ESTIMANDS[self.task]

    @cached_property
    def curves(self) -> Sequence[CountedCurve]:
        """Curves of the first release with their bands; none for an ROC curve."""
        return () if self.table is None else self.estimand.bands(self.table, self.min_at_risk)

    @cached_property
    def roc(self) -> Roc | None:
        """The ROC curve of the first release."""
        return None if self.table is None else self.estimand.roc(self.table)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the first release."""
        return None if self.table is None else self.estimand.calibration(self.table)

    @property
    def has_groups(self) -> bool:
        """True if two groups are compared."""
        return self.table is not None and self.table.is_compared

    @cached_property
    def test(self) -> LogRank | None:
        """The log-rank test of the first release; none where people enter late."""
        is_tested = self.table is not None and self.table.is_tested
        return log_rank(self.table) if is_tested and self.table is not None else None

    @cached_property
    def hazard_ratio(self) -> HazardRatio | None:
        """The ratio of hazards of both groups, supposing that it is the same at all times."""
        is_tested = self.table is not None and self.table.is_tested
        return hazard_ratio(self.table) if is_tested and self.table is not None else None

    @cached_property
    def contrasts(self) -> Contrasts | None:
        """Survival and restricted means of two groups, compared halfway through the follow-up."""
        return Contrasts.of(self.curves) if self.difference is not None else None

    @cached_property
    def difference(self) -> CurveDifference | None:
        """The difference of two survival curves."""
        if not (self.has_groups and self.estimand.is_tested):
            return None
        return difference(self.curves[0].limits, self.curves[1].limits)


def counting_answer(
    source: Source[EventData], mechanism: Mechanism, budget: Budget, seed: int
) -> CountingAnswer:
    """A release at one budget of data that are drawn and counted, and its errors.

    Parameters
    ----------
    source : Source
        People with the time of an event or a value, and their public facts.
    mechanism : Mechanism
        The method of noised counts with its settings.
    budget : Budget
        ε of every site; δ is not used.
    """
    mechanism, budget = _of_counts(mechanism), replace(budget, delta=0.0)
    (picture,) = counting_over_budgets(source, mechanism, seed, (budget.epsilon,))
    errors, baseline = errors_and_baseline(
        Study(source=source, mechanism=mechanism, budgets=(budget,), seed=seed)
    )
    return replace(picture, errors=errors, baseline_by_function=baseline)


def counting_over_budgets(
    source: Source[EventData], mechanism: Mechanism, seed: int, epsilons: Sequence[float]
) -> tuple[CountingAnswer, ...]:
    """Release at several ε, without errors; each release has the noise of `counting_answer`."""
    mechanism = _of_counts(mechanism)
    check_readings(source, _MAX_PEOPLE, "Take fewer people.")
    data = studies.data_on_screen(source, seed)
    ordinary = _functions(mechanism.without_protection(data).coefficients[0, 0, 0])
    test = None
    if _is_tested(data, mechanism):
        assert data.group is not None
        test = product_limit.log_rank(
            data.time[0],
            data.status[0],
            data.group[0],
            len(data.facts.causes),
            data.facts.time_high,
        )
    return tuple(
        _picture(data, mechanism, Budget(epsilon), seed, ordinary, test) for epsilon in epsilons
    )


def _picture(
    data: EventData,
    mechanism: NoisyCounts,
    budget: Budget,
    seed: int,
    ordinary: Array,
    ordinary_test: tuple[float, float] | None,
) -> CountingAnswer:
    """Build the answer at one budget, without errors."""
    estimate = studies.shown_releases(mechanism, data, [(budget,)], seed)
    plan = mechanism.plan(data.public, (budget,))
    released, facts = estimate.released[0], data.facts
    return CountingAnswer(
        task=mechanism.task,
        facts=facts,
        people=data.n_curves,
        n_sites=data.sizes.n_servers,
        budget=budget,
        times=mechanism.estimand.points(facts),
        names=estimate.functions or ("",),
        table=None if released is None else released.picked(0, 0),
        releases=np.stack([_functions(curves) for curves in estimate.coefficients[0, 0]]),
        ordinary=ordinary,
        ordinary_test=ordinary_test,
        truth=None if data.truth is None else _functions(data.truth.grid_values),
        errors=np.empty((len(ordinary), 0)),
        baseline_by_function=None,
        spends=estimate.spends[0],
        tuning=estimate.tuning[0],
        verdict=plan.verdict,
        min_at_risk=mechanism.least_at_risk,
    )


def _is_tested(data: EventData, mechanism: NoisyCounts) -> bool:
    """True if there is an ordinary log-rank test of the data: of two groups from the start."""
    facts, is_of_two = data.facts, len(data.facts.groups) == 2 and data.group is not None
    return (
        is_of_two
        and mechanism.estimand.is_tested
        and not facts.group_weights
        and not facts.late_entry
        and not facts.at_visits
    )


def _functions(curves: Array) -> Array:
    """Return values (functions, GRID_SIZE), also of one function."""
    return np.atleast_2d(curves)


def _of_counts(mechanism: Mechanism) -> NoisyCounts:
    if not isinstance(mechanism, NoisyCounts):
        raise InputError(
            "Survival and other counts are released by noised counts.", field="mechanism"
        )
    return mechanism


# -- how often what is said is right ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CountingStudy:
    """Coverage of bands and rejection rates of tests over many data sets."""

    repeats: int  # number of data sets that are simulated
    edges_drawn: float  # average number of edges at which a curve is shown
    pointwise: float  # share of shown edges whose own interval covers the true curve
    # share of data sets whose whole band covers it, at all times that are shown
    simultaneous: float
    # rejected, rejected_without: share of data sets in which the private and the ordinary log-rank
    # test reject at 5 %; NaN for one group
    rejected: float
    rejected_without: float

    @property
    def error(self) -> float:
        """Standard error of a share of 95 %."""
        return float(np.sqrt(LEVEL * (1 - LEVEL) / self.repeats))


_BLOCK, _PEOPLE_IN_A_BLOCK = 200, 2_000_000


def counting_study(study: Study[EventData], repeats: int = 400) -> CountingStudy:
    """Repeat a simulated study and count how often bands cover, and tests reject.

    So many data sets are simulated; δ of the study is not used.
    """
    source, mechanism = study.source, _of_counts(study.mechanism)
    budgets = _pure(study.budgets)
    plan = mechanism.plan(source.public, budgets)
    if not (source.is_random and mechanism.estimand.has_bands):
        raise InputError(
            "Coverage is counted on simulated times or values.",
            field="source",
            hint="Choose simulated people.",
        )
    if not plan.verdict.is_feasible:
        raise InputError(
            "Nothing would be released, so there is nothing to count.",
            field="epsilon",
            hint="Raise ε, or take more people.",
        )
    counted: list[tuple[NDArray[Any], ...]] = []
    size = int(np.clip(_PEOPLE_IN_A_BLOCK // source.sizes.n_curves, 1, _BLOCK))
    for block, first in enumerate(range(0, repeats, size)):
        data = source.draw(
            min(size, repeats - first), generator(study.seed, DATA_STREAM, 2 + block)
        )
        estimate = mechanism.release_many(
            data, [budgets], 1, generator(study.seed, NOISE_STREAM, 2 + block)
        )
        table = estimate.released[0]
        counted.append(_counted(data, table.picked(slice(None), 0), mechanism))
    covered, at_edges, edges_drawn, rejected, ordinary = (
        np.concatenate(parts) for parts in zip(*counted, strict=True)
    )
    return CountingStudy(
        repeats,
        float(edges_drawn.mean()),
        float(at_edges.sum() / max(edges_drawn.sum(), 1e-9)),
        float(covered.mean()),
        float(rejected.mean()),
        float(ordinary.mean()),
    )


def _pure(budgets: tuple[Budget, ...]) -> tuple[Budget, ...]:
    """Return budgets with δ = 0, which noised counts need not have above 0."""
    return tuple(replace(budget, delta=0.0) for budget in budgets)


def _counted(
    data: EventData, table: CountTable, mechanism: NoisyCounts
) -> tuple[NDArray[Any], ...]:
    """Count for each data set: band covers, edges that cover, edges shown, tests that reject."""
    assert data.truth is not None
    estimand, facts = mechanism.estimand, data.facts
    curves = estimand.bands(table, mechanism.least_at_risk)
    times = np.linspace(facts.time_low, facts.time_high, 401)[1:]  # at the start all is known
    truth = [
        _functions(data.truth.at(facts.to_unit_time(each)))
        for each in (times, np.asarray(table.cells.edges[1:]))
    ]
    covered, at_edges, edges_drawn = np.ones(data.n_repeats), np.zeros(data.n_repeats), 0.0
    for j, curve in enumerate(curves):
        low, high = curve.staircase(times)
        begin = np.broadcast_to(curve.first, (data.n_repeats,))[:, None]
        until = np.interp(begin, [facts.time_low, *times], [1.0, *truth[0][j]])
        is_early = (times <= begin, np.asarray(curve.edges[1:]) <= begin)
        there = [
            np.where(early, 1.0, each[j] / until) if curve.falls else each[j]
            for early, each in zip(is_early, truth, strict=True)
        ]
        inside = (low - 1e-9 <= there[0]) & (there[0] <= high + 1e-9)
        covered = covered * (inside | (times > curve.last[:, None])).all(axis=1)
        holds = (curve.pointwise_low - 1e-9 <= there[1]) & (there[1] <= curve.pointwise_high + 1e-9)
        at_edges = at_edges + (holds & curve.drawn).sum(axis=1)
        edges_drawn = edges_drawn + curve.drawn.sum(axis=1)
    nothing = np.full(data.n_repeats, np.nan)
    if not _is_tested(data, mechanism) or data.group is None:
        return covered, at_edges, np.asarray(edges_drawn), nothing, nothing
    ordinary = [
        product_limit.log_rank(time, status, group, len(facts.causes), facts.time_high)[1]
        for time, status, group in zip(data.time, data.status, data.group, strict=True)
    ]
    return (
        covered,
        at_edges,
        np.asarray(edges_drawn),
        log_rank(table).p_value < 1 - LEVEL,
        np.asarray(ordinary) < 1 - LEVEL,
    )


@dataclass(frozen=True, eq=False)
class Power:
    """Share of log-rank tests that find a difference, by the number of people."""

    people: tuple[int, ...]  # numbers of people in both groups together
    # private, ordinary, each (people,): shares of data sets in which the test rejects at 5 %; 0
    # where nothing is released
    private: Array
    ordinary: Array
    target: float  # the power that was asked for, from 0 to 1

    def needed(self, is_private: bool = True) -> float:
        """Find the people at which the test first finds the difference often enough.

        Read off the broken line over the logarithm of the number of people; ∞ beyond the table.
        """
        share = np.maximum.accumulate(self.private if is_private else self.ordinary)
        if share[-1] < self.target:
            return float("inf")
        if share[0] >= self.target:
            return float(self.people[0])
        index = int(np.argmax(share >= self.target))
        part = (self.target - share[index - 1]) / (share[index] - share[index - 1])
        low, high = np.log(self.people[index - 1]), np.log(self.people[index])
        return float(np.exp(low + part * (high - low)))


POWER_STEPS = (100, 150, 228, 350, 500, 750, 1000, 1500, 2200, 3200)


def power_of_test(
    study: Study[EventData],
    target: float = 0.8,
    people: Sequence[int] = POWER_STEPS,
    repeats: int = 200,
) -> Power:
    """Find the fewest of some numbers of people for a log-rank test, with and without noise."""
    facts = study.source.facts
    if not (isinstance(facts, EventFacts) and facts.groups) or (
        facts.group_weights or facts.late_entry or facts.at_visits
    ):
        raise InputError(
            "A test compares two groups of people who are observed from the start, at all times.",
            field="comparison",
            hint="Choose data with two groups, without late entry or visits.",
        )
    shares = []
    for k, n in enumerate(people):
        sized = replace(study, source=study.source.resized(n, 1, 1), seed=study.seed + k)
        plan = _of_counts(study.mechanism).plan(sized.source.public, _pure(study.budgets))
        if plan.verdict.is_feasible:
            counted = counting_study(sized, repeats)
            shares.append((counted.rejected, counted.rejected_without))
        else:
            shares.append((0.0, 0.0))
    private, ordinary = np.array(shares).T
    return Power(tuple(people), private, ordinary, target)
