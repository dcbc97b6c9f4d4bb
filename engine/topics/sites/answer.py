"""Cost and gain of each site: sites that protect their own curves, beside one trusted centre.

A table says who takes part, with how many curves and which budget. Compared are four ways to use
these curves: *together*, each site adding its own noise; *summed*, where sites add shares of the
noise and only sums can be read; *pooled* at one trusted centre; both under the smallest ε and δ of
all, so that everybody gets at least what they were promised; and the best site *alone*. Every case
is a scenario of its own, whose error is that of its study (`engine.simulation.studies`): the number
that another page shows for the same sites. Everything is simulated with a known seed and only for
looking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget, CurveData, PublicFacts, ServerParts, Spend
from engine.mechanisms import Mechanism
from engine.mechanisms.families import masked_sums
from engine.mechanisms.study import Study
from engine.privacy import accounting, risk, transcript
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.metrics import NOTHING, Accuracy, distances, integrated_squared_errors
from engine.simulation.non_private import non_private_mean
from engine.simulation.studies import SHOWN_DRAWS
from engine.sources import Source
from engine.topics.sites.site_table import SiteRow, budgets, checked

# -- what is found ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrangement:
    """One way to use the curves, and what it would publish.

    `releases` (SHOWN_DRAWS, GRID_SIZE) of the shown curves, in response units; `errors`
    (data sets, releases of each): distances from the truth over fresh data sets or, for real
    curves, from the average without protection. `fewest_in_a_round` is as in `Mechanism`.
    """

    budgets: tuple[Budget, ...]
    releases: Array
    errors: Array
    spends: tuple[Spend, ...]
    feasibility: Feasibility | None
    fewest_in_a_round: int | None

    @property
    def is_refused(self) -> bool:
        """True if nothing would be published, because nothing useful could be."""
        return self.feasibility is not None and not self.feasibility.is_feasible

    @property
    def accuracy(self) -> Accuracy:
        """The error and its 95 % value; NaN where nothing would be published."""
        return NOTHING if self.is_refused else Accuracy.of(self.errors)

    @property
    def error(self) -> float:
        """The root mean squared distance; NaN where nothing would be published."""
        return self.accuracy.error

    @property
    def standard_error(self) -> float:
        """Standard error of the error, from the number of simulated releases."""
        return self.accuracy.error * self.accuracy.log_se


@dataclass(frozen=True)
class SiteMember:
    """A site that takes part: what it adds and what its people get.

    `weight` is its share in the average. `noise` and `sampling` are what its noise, and chance in
    who takes part there, have in the squared error, as shares that sum to one over all members
    (NaN where nothing would be published). `guarantee` is proved from its own messages; `alone` is
    its error without the others, NaN where it would publish nothing.
    """

    row: SiteRow
    weight: float
    noise: float
    sampling: float
    guarantee: Budget
    odds: risk.Odds
    alone: float
    feasibility: Feasibility | None

    @property
    def share(self) -> float:
        return self.noise + self.sampling


@dataclass(frozen=True)
class SitesAnswer:
    """The sites together, beside masked sums, one trusted centre and the best site alone.

    `times`, `ordinary` and `truth` (GRID_SIZE,) in their own units; `ordinary` is the average
    without protection of all curves that take part, `baseline` the error without privacy where the
    truth is known. `best` is the number of the best member: it has the largest n μ. `summed` is
    None where sums cannot be made unread, and `why_not_summed` says why.
    """

    facts: PublicFacts
    times: Array
    ordinary: Array
    truth: Array | None
    baseline: float | None
    together: Arrangement
    pooled: Arrangement
    alone: Arrangement
    pooled_odds: risk.Odds
    members: tuple[SiteMember, ...]
    best: int
    summed: Arrangement | None = None
    why_not_summed: str = ""

    def for_group(self, records: int) -> SitesAnswer:
        """Return the answer with odds for a person who has so many curves."""
        odds = _odds(self.together.spends, records)
        return replace(
            self,
            pooled_odds=_odds(self.pooled.spends, records)[0],
            members=tuple(
                replace(member, odds=odds_of_site)
                for member, odds_of_site in zip(self.members, odds, strict=True)
            ),
        )

    @property
    def messages_each(self) -> int:
        """Messages that a site sends in all."""
        lines, *_ = accounting.by_server(self.together.spends).values()
        return sum(line.count for line in lines)

    @property
    def weakest(self) -> SiteMember:
        """The member whose people an attacker is most often right about."""
        return max(self.members, key=lambda member: member.odds.right)


Result = TypeVar("Result")


class Evaluator(Protocol):
    """Gives what a function of a module returns: computed here, or elsewhere and kept."""

    def __call__(self, function: Callable[..., Result], /, *arguments: Any) -> Result: ...


def _here(function: Callable[..., Result], /, *arguments: Any) -> Result:
    return function(*arguments)


def federation(
    source: Source[CurveData],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    seed: int,
    answer: Evaluator = _here,
) -> SitesAnswer:
    """The table, simulated: together, pooled, and each site alone.

    Rows that are not included are drawn all the same, so that the curves of the others stay.

    Parameters
    ----------
    source : Source
        Curves of one site, or of all sites where the data come with their sites.
    mechanism : Mechanism
        The method that every site uses, with its settings.
    rows : sequence of SiteRow
        The table of sites, a row for each.
    answer : callable
        Asked for every study and every release: those that do not change need no computing.
    """
    return replace(
        without_baseline(source, mechanism, rows, seed, answer),
        baseline=baseline(source, mechanism, rows, seed, answer),
    )


def without_baseline(
    source: Source[CurveData],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    seed: int,
    answer: Evaluator = _here,
) -> SitesAnswer:
    """Compute all but the error without privacy, which takes as long as all else together."""
    desk = _Desk.of(source, mechanism, rows, seed, answer)
    included, budgets = _taking_part(rows, mechanism)
    worths = [_worth(rows[k].n_curves, budget) for k, budget in zip(included, budgets, strict=True)]
    best = worths.index(max(worths))
    together = desk.arrangement(_Case(included, budgets), included)
    pooled = desk.arrangement(_Case(included, (_smallest(budgets),), pooled=True), included)
    summed, why_not = _summed(desk, included, _smallest(budgets))
    facts, truth = source.facts, desk.data.truth
    return SitesAnswer(
        facts,
        facts.from_unit_time(drawing_grid()),
        desk.average(included),
        None if truth is None else truth.grid_values,
        None,
        together,
        pooled,
        desk.arrangement(_Case((included[best],), (budgets[best],)), included),
        _odds(pooled.spends)[0],
        desk.members(rows, included, together),
        best,
        summed,
        why_not,
    )


def baseline(
    source: Source[CurveData],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    seed: int,
    answer: Evaluator = _here,
) -> float | None:
    """Measure the error without privacy of all who take part; None if the truth is unknown."""
    if not source.is_random:
        return None
    desk = _Desk.of(source, mechanism, rows, seed, answer)
    included, budgets = _taking_part(rows, mechanism)
    study, _ = desk.study(_Case(included, budgets))
    return answer(studies.baseline, study.at(1.0))  # it depends on no ε


def _summed(
    desk: _Desk, included: tuple[int, ...], budget: Budget
) -> tuple[Arrangement | None, str]:
    """Release by masked sums under one budget, or say why it cannot be done."""
    try:
        desk.mechanism.noised_by(NoisePlace.SUMS)
        shares = masked_sums.all_but_one(len(included))
        of_centre = masked_sums.centre_budget(shares, budget)
    except InputError as problem:
        return None, problem.message
    summed = desk.arrangement(_Case(included, (of_centre,), pooled=True), included)
    return replace(
        summed, budgets=(budget,), spends=masked_sums.of_every_site(summed.spends, shares, budget)
    ), ""


def _taking_part(
    rows: Sequence[SiteRow], mechanism: Mechanism
) -> tuple[tuple[int, ...], tuple[Budget, ...]]:
    """List the numbers of the rows that take part, and their budgets."""
    included = tuple(k for k, row in enumerate(rows) if row.included)
    of_all = budgets(rows, mechanism.guarantee.is_pure)
    return included, tuple(of_all[k] for k in included)


def _smallest(site_budgets: Sequence[Budget]) -> Budget:
    """Return the budget that keeps every site's promise when one release is about all curves."""
    return Budget(min(b.epsilon for b in site_budgets), min(b.delta for b in site_budgets))


def _worth(n_curves: int, budget: Budget) -> float:
    """Compute N μ, by which sites compare before anything is simulated; ε/4 for δ = 0."""
    mu = budget.epsilon / 4 if budget.is_pure else accounting.exact_mu(budget.epsilon, budget.delta)
    return n_curves * mu


def _odds(spends: Sequence[Spend], records: int = 1) -> list[risk.Odds]:
    """Compute the odds of one person at each server, from its noise."""
    return [risk.of_ledger(lines, records) for lines in accounting.by_server(spends).values()]


# -- if the table were different ----------------------------------------------------------------


@dataclass(frozen=True)
class WhatIf:
    """Errors now, without a site, with half its ε, each as the page shows it for such a table.

    `leaves` is NaN where nobody else is left or nothing would be published.
    """

    name: str
    now: float
    leaves: float
    tightens: float


def what_if(
    source: Source[CurveData],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    seed: int,
    answer: Evaluator = _here,
) -> Iterator[WhatIf]:
    """Try changes at each site that takes part, one after the other."""
    desk = _Desk.of(source, mechanism, rows, seed, answer)
    included, budgets = _taking_part(rows, mechanism)
    now = desk.error(_Case(included, budgets), included)
    for at, k in enumerate(included):
        halved = replace(budgets[at], epsilon=budgets[at].epsilon / 2)
        tighter = _Case(included, (*budgets[:at], halved, *budgets[at + 1 :]))
        left, fewer = _taking_part(
            [replace(row, included=row.included and index != k) for index, row in enumerate(rows)],
            mechanism,
        )
        others = _Case(left, fewer)
        yield WhatIf(
            rows[k].name,
            now,
            desk.error(others, left) if left else math.nan,
            desk.error(tighter, included),
        )


@dataclass(frozen=True)
class SentMessage:
    """One message to the centre: `numbers` of them, their values and the size of their noise."""

    step: str
    site: str
    numbers: int
    values: Array
    noise: Array


def transcript_of(
    source: Source[CurveData], mechanism: Mechanism, rows: Sequence[SiteRow], seed: int
) -> list[SentMessage]:
    """List all that the centre sees of one release, message by message, in order."""
    desk = _Desk.of(source, mechanism, rows, seed, _here)
    included, budgets = _taking_part(rows, mechanism)
    with transcript.recorded() as messages:
        case = _Case(included, budgets)
        studies.shown_releases(mechanism, case.of(desk.data), [case.budgets], seed, draws=1)
    return [
        SentMessage(
            message.step.label,
            rows[included[message.server]].name,
            message.values.size,
            message.values.ravel(),
            message.noise.ravel(),
        )
        for message in messages
    ]


# -- simulation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """Rows that take part and their budgets, each for itself or pooled at one centre."""

    included: tuple[int, ...]
    budgets: tuple[Budget, ...]
    pooled: bool = False

    def of(self, data: CurveData) -> CurveData:
        mine = data.of_servers(self.included)
        return mine.pooled() if self.pooled else mine


@dataclass(frozen=True)
class _Measured:
    """Errors (data sets, releases of each) and parts."""

    errors: Array
    parts: ServerParts | None


@dataclass(frozen=True)
class _Possible:
    """Releases (draws, GRID_SIZE) of the shown curves, with parts and ledger."""

    releases: Array
    parts: ServerParts | None
    spends: tuple[Spend, ...]


def possible(source: Source[CurveData], mechanism: Mechanism, case: _Case, seed: int) -> _Possible:
    """Release the curves on screen; real ones as often as a study does."""
    data = case.of(studies.data_on_screen(source, seed))
    draws = SHOWN_DRAWS if source.is_random else studies.draws_of_shown(data.n_curves)
    estimate = studies.shown_releases(
        mechanism, data, studies.beside_the_highest([case.budgets]), seed, draws
    )
    return _Possible(estimate.values(drawing_grid())[0, 0], estimate.parts, estimate.spends[0])


def measured(study: Study[CurveData], is_to_pool: bool) -> _Measured:
    """Measure the study of one case, of curves that can be drawn afresh.

    If `is_to_pool` the curves of all sites are put together as those of one.
    """
    data = studies.data(study)
    if is_to_pool:
        data = data.pooled()
    estimate = studies.released(study, data, [study.budgets])
    total = integrated_squared_errors(estimate, data.truth).total
    assert total is not None
    return _Measured(distances(total[0]), estimate.parts)


def average(
    source: Source[CurveData], mechanism: Mechanism, included: tuple[int, ...], seed: int
) -> Array:
    """Average some rows' curves on screen without protection: (GRID_SIZE,)."""
    estimate = (
        mechanism.without_protection(studies.data_on_screen(source, seed).of_servers(included))
        if source.is_random
        else non_private_mean(source, included)
    )
    return np.asarray(estimate.values(drawing_grid())[0, 0, 0])


@dataclass(frozen=True)
class _Desk:
    """One table's curves on screen, and where it asks for results.

    A case is a scenario of its own: when one ε changes, all cases without it stay as they are, and
    sites that are alike share one study. `source` is the recipe of all rows.
    """

    mechanism: Mechanism
    seed: int
    source: Source[CurveData]
    rows: tuple[SiteRow, ...]
    data: CurveData
    answer: Evaluator

    @classmethod
    def of(
        cls,
        source: Source[CurveData],
        mechanism: Mechanism,
        rows: Sequence[SiteRow],
        seed: int,
        answer: Evaluator,
    ) -> _Desk:
        checked(rows, fixed=not source.has_free_sites)
        if source.has_free_sites:
            source = source.with_sites(
                [row.n_curves for row in rows], [row.n_observations_per_curve for row in rows]
            )
        data = studies.data_on_screen(source, seed)
        if data.sizes.n_servers != len(rows):
            raise InputError("The table does not fit the sites of these curves.", field="sites")
        return cls(mechanism, seed, source, tuple(rows), data, answer)

    def study(self, case: _Case) -> tuple[Study[CurveData], bool]:
        """Return the study of those who take part, and True if sites are still to be pooled."""
        rows = [self.rows[k] for k in case.included]
        people = [row.n_curves for row in rows]
        each = [row.n_observations_per_curve for row in rows]
        is_one_site = case.pooled and min(each) == max(each)
        study = Study(
            source=self.source.resized(sum(people), each[0], 1)
            if is_one_site
            else self.source.with_sites(people, each),
            mechanism=self.mechanism,
            budgets=case.budgets,
            seed=self.seed,
        )
        return study, case.pooled and not is_one_site

    def arrangement(self, case: _Case, everybody: tuple[int, ...]) -> Arrangement:
        releases = self.possible(case)
        sizes = case.of(self.data).sizes
        return Arrangement(
            case.budgets,
            releases.releases[:SHOWN_DRAWS],
            self.errors(case, everybody),
            releases.spends,
            self.mechanism.feasibility(sizes, case.budgets),
            self.mechanism.fewest_in_a_round(sizes),
        )

    def possible(self, case: _Case) -> _Possible:
        return self.answer(possible, self.source, self.mechanism, case, self.seed)

    def measured(self, case: _Case) -> _Measured:
        return self.answer(measured, *self.study(case))

    def average(self, included: tuple[int, ...]) -> Array:
        return self.answer(average, self.source, self.mechanism, included, self.seed)

    def errors(self, case: _Case, everybody: tuple[int, ...]) -> Array:
        """Measure distances from the truth, or from the average of everybody without protection."""
        if self.source.is_random:
            return self.measured(case).errors
        off = self.possible(case).releases - self.average(everybody)
        return distances((off**2).mean(axis=-1))[None]

    def error(self, case: _Case, everybody: tuple[int, ...]) -> float:
        """Measure the root mean squared distance; NaN if nothing would be published."""
        verdict = self.mechanism.feasibility(case.of(self.data).sizes, case.budgets)
        if verdict is not None and not verdict.is_feasible:
            return math.nan
        return Accuracy.of(self.errors(case, everybody)).error

    def members(
        self, rows: Sequence[SiteRow], included: tuple[int, ...], together: Arrangement
    ) -> tuple[SiteMember, ...]:
        case = _Case(included, together.budgets)
        parts = self.measured(case).parts if self.source.is_random else self.possible(case).parts
        weight, noise, sampling = _shares(parts, len(included))
        proved, odds = accounting.guarantees(together.spends), _odds(together.spends)
        return tuple(
            SiteMember(
                rows[k],
                float(weight[at]),
                float(noise[at]),
                float(sampling[at]),
                proved[at],
                odds[at],
                self.error(_Case((k,), (together.budgets[at],)), included),
                self.mechanism.feasibility(
                    self.data.of_servers((k,)).sizes, (together.budgets[at],)
                ),
            )
            for at, k in enumerate(included)
        )


def _shares(parts: ServerParts | None, count: int) -> tuple[Array, Array, Array]:
    """Split the error of all: weights, and both parts as shares; NaN without a release."""
    total = 0.0 if parts is None else float((parts.noise[0] + parts.sampling[0]).sum())
    if parts is None or not total > 0:
        unknown = np.full(count, math.nan)
        return unknown, unknown, unknown
    return parts.weight[0], parts.noise[0] / total, parts.sampling[0] / total
