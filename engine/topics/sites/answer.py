"""What each site costs and adds: sites that protect their own curves, beside one trusted centre.

A table says who takes part, with how many curves and which budget. Compared are three ways to use
these curves: *together*, each site adding its own noise; *pooled* at one trusted centre, under the
smallest ε and δ of all, so that everybody gets at least what they were promised; and the best site
*alone*. Every case is a scenario of its own, whose error is that of its study (`engine.studies`):
the number that another page shows for the same sites. Everything is simulated with a known seed and
only for looking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from engine import studies
from engine.errors import InputError
from engine.feasibility import Feasibility
from engine.grids import drawing_grid
from engine.identity import digest
from engine.mechanisms import Mechanism
from engine.metrics import NOTHING, Accuracy, distances, integrated_squared_errors
from engine.privacy import accounting, risk, transcript
from engine.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.sources import Source
from engine.studies import SHOWN, SHOWN_DRAWS
from engine.topics.sites.site_table import SiteRow, budgets, checked
from engine.types import Array, Budget, CurveData, PublicFacts, ServerParts, Spend

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
        """Whether nothing would be published, because nothing useful could be."""
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
        """Of the error, from the number of simulated releases."""
        return self.accuracy.error * self.accuracy.log_se


@dataclass(frozen=True)
class Member:
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
class Federation:
    """The sites together, beside one trusted centre and the best site alone.

    `times`, `without` and `truth` (GRID_SIZE,) in their own units; `without` is the average
    without protection of all curves that take part, `baseline` the error without privacy where the
    truth is known. `best` is the number of the best member: it has the largest n μ.
    """

    facts: PublicFacts
    times: Array
    without: Array
    truth: Array | None
    baseline: float | None
    together: Arrangement
    pooled: Arrangement
    alone: Arrangement
    pooled_odds: risk.Odds
    members: tuple[Member, ...]
    best: int

    def for_group(self, records: int) -> Federation:
        """The same with odds for a person who has so many curves."""
        odds = _odds(self.together.spends, records)
        return replace(self, pooled_odds=_odds(self.pooled.spends, records)[0], members=tuple(
            replace(member, odds=own) for member, own in zip(self.members, odds, strict=True)))

    @property
    def weakest(self) -> Member:
        """The member whose people an attacker is most often right about."""
        return max(self.members, key=lambda member: member.odds.right)


Result = TypeVar("Result")


class Keep(Protocol):
    """A place for results: what is kept under a digest, or else computed and kept."""

    def __call__(self, key: str, compute: Callable[[], Result], /) -> Result: ...


def _afresh(key: str, compute: Callable[[], Result]) -> Result:
    return compute()


@dataclass(frozen=True)
class Memory:
    """Where drawn curves and results are kept under their digest; nowhere unless told."""

    data: Keep = _afresh
    results: Keep = _afresh


def federation(source: Source[CurveData], mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
               memory: Memory | None = None) -> Federation:
    """Simulate the table: together, pooled, and each site alone.

    Rows that are not included are drawn all the same, so that the curves of the others stay.

    Raises
    ------
    InputError
        If the table cannot be simulated, or whatever the mechanism refuses.
    """
    desk = _Desk.of(source, mechanism, rows, seed, memory or Memory())
    kept = tuple(k for k, row in enumerate(rows) if row.included)
    asked = _budgets(rows, mechanism)
    own = tuple(asked[k] for k in kept)
    without, baseline = desk.without(kept, own)
    best = max(range(len(kept)), key=lambda at: _worth(rows[kept[at]].n_curves, own[at]))
    together = desk.arrangement(_Case(kept, own), kept)
    pooled = desk.arrangement(_Case(kept, (_smallest(own),), pooled=True), kept)
    facts, truth = source.facts, desk.shown.truth
    return Federation(
        facts, facts.from_unit_time(drawing_grid()), without,
        None if truth is None else truth.grid_values, baseline, together, pooled,
        desk.arrangement(_Case((kept[best],), (own[best],)), kept),
        _odds(pooled.spends)[0], desk.members(rows, kept, together), best)


def _budgets(rows: Sequence[SiteRow], mechanism: Mechanism) -> tuple[Budget, ...]:
    return budgets(rows, mechanism.guarantee == "pure")


def _smallest(asked: Sequence[Budget]) -> Budget:
    """What keeps every site's promise when one release is about all curves."""
    return Budget(min(b.epsilon for b in asked), min(b.delta for b in asked))


def _worth(n_curves: int, budget: Budget) -> float:
    """N μ, by which sites can be compared before anything is simulated; ε/4 for δ = 0."""
    mu = (budget.epsilon / 4 if budget.is_pure
          else accounting.exact_mu(budget.epsilon, budget.delta))
    return n_curves * mu


def _odds(spends: Sequence[Spend], records: int = 1) -> list[risk.Odds]:
    """Of one person at each server, from its noise."""
    return [risk.of_ledger(own, records) for own in accounting.by_server(spends).values()]


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


def what_if(source: Source[CurveData], mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
            memory: Memory | None = None) -> Iterator[WhatIf]:
    """For each site that takes part, one after the other."""
    desk = _Desk.of(source, mechanism, rows, seed, memory or Memory())
    kept = tuple(k for k, row in enumerate(rows) if row.included)
    asked = _budgets(rows, mechanism)
    own = [asked[k] for k in kept]
    now = desk.error(_Case(kept, (*own,)), kept)
    for at, k in enumerate(kept):
        halved = replace(own[at], epsilon=own[at].epsilon / 2)
        tighter = _Case(kept, (*own[:at], halved, *own[at + 1:]))
        left = kept[:at] + kept[at + 1:]
        fewer = _budgets([replace(row, included=row.included and place != k)
                          for place, row in enumerate(rows)], mechanism)
        others = _Case(left, tuple(fewer[place] for place in left))
        yield WhatIf(rows[k].name, now, desk.error(others, left) if left else math.nan,
                     desk.error(tighter, kept))


@dataclass(frozen=True)
class Sent:
    """One message to the centre: `numbers` of them, their values and the size of their noise."""

    step: str
    site: str
    numbers: int
    values: Array
    noise: Array


def transcript_of(source: Source[CurveData], mechanism: Mechanism, rows: Sequence[SiteRow],
                  seed: int, memory: Memory | None = None) -> list[Sent]:
    """All that the centre sees of one release, message by message, in order."""
    desk = _Desk.of(source, mechanism, rows, seed, memory or Memory())
    kept = tuple(k for k, row in enumerate(rows) if row.included)
    with transcript.recorded() as messages:
        asked = _budgets(rows, mechanism)
        case = _Case(kept, tuple(asked[k] for k in kept))
        mechanism.release(case.of(desk.shown), case.budgets, generator(seed, NOISE_STREAM, SHOWN))
    return [Sent(message.step.label, rows[kept[message.server]].name, message.values.size,
                 message.values.ravel(), message.noise.ravel()) for message in messages]


# -- simulation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """Which rows take part under which budgets, each for itself or pooled at one centre."""

    kept: tuple[int, ...]
    budgets: tuple[Budget, ...]
    pooled: bool = False

    def of(self, data: CurveData) -> CurveData:
        mine = data.of_servers(self.kept)
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


@dataclass(frozen=True)
class _Desk:
    """One table's curves on screen, and results that are computed once for each case.

    A case is a scenario of its own: when one ε changes, all cases without it stay as they are, and
    sites that are alike share one study. `source` is the recipe of all rows.
    """

    mechanism: Mechanism
    seed: int
    source: Source[CurveData]
    rows: tuple[SiteRow, ...]
    shown: CurveData
    memory: Memory

    @classmethod
    def of(cls, source: Source[CurveData], mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
           memory: Memory) -> _Desk:
        checked(rows, fixed=not source.has_free_sites)
        if source.has_free_sites:
            source = source.with_sites([row.n_curves for row in rows],
                                       [row.n_observations_per_curve for row in rows])
        shown = memory.data(digest(("shown", source, seed)), lambda: source.draw(
            1, generator(seed, DATA_STREAM, SHOWN)))
        if shown.sizes.n_servers != len(rows):
            raise InputError("The table does not fit the sites of these curves.", field="sites")
        return cls(mechanism, seed, source, tuple(rows), shown, memory)

    def once(self, what: str, case: _Case, compute: Callable[[], Result]) -> Result:
        key = (what, self.source, self.seed, self.mechanism, case)
        return self.memory.results(digest(key), compute)

    def curves(self, case: _Case) -> tuple[Source[CurveData], bool]:
        """The recipe of those who take part, and whether its sites are still to be pooled."""
        rows = [self.rows[k] for k in case.kept]
        people = [row.n_curves for row in rows]
        each = [row.n_observations_per_curve for row in rows]
        if case.pooled and min(each) == max(each):
            return self.source.resized(sum(people), each[0], 1), False
        return self.source.with_sites(people, each), case.pooled

    def arrangement(self, case: _Case, everybody: tuple[int, ...]) -> Arrangement:
        possible = self.possible(case)
        sizes = case.of(self.shown).sizes
        return Arrangement(case.budgets, possible.releases[:SHOWN_DRAWS],
                           self.errors(case, everybody), possible.spends,
                           self.mechanism.feasibility(sizes, case.budgets),
                           self.mechanism.fewest_in_a_round(sizes))

    def possible(self, case: _Case) -> _Possible:
        """Releases of the curves on screen; of real ones as many as a study makes."""
        def compute() -> _Possible:
            data = case.of(self.shown)
            draws = (SHOWN_DRAWS if self.source.is_random
                     else studies.draws_of_shown(data.n_curves))
            estimate = self.mechanism.release_many(
                data, studies.beside_the_highest([case.budgets]), draws,
                generator(self.seed, NOISE_STREAM, SHOWN))
            return _Possible(estimate.values(drawing_grid())[0, 0], estimate.parts,
                             estimate.spends[0])
        return self.once("possible", case, compute)

    def measured(self, case: _Case) -> _Measured:
        """The study of one case, of curves that can be drawn afresh."""
        source, is_to_pool = self.curves(case)

        def compute() -> _Measured:
            drawn = self.memory.data(digest(("fresh", source, self.seed)),
                                     lambda: studies.data(source, self.seed))
            data = drawn.pooled() if is_to_pool else drawn
            estimate = studies.released(source, self.mechanism, data, [case.budgets], self.seed)
            total = integrated_squared_errors(estimate, data.truth).total
            assert total is not None
            return _Measured(distances(total[0]), estimate.parts)
        key = ("study", source, is_to_pool, self.seed, self.mechanism, case.budgets)
        return self.memory.results(digest(key), compute)

    def errors(self, case: _Case, everybody: tuple[int, ...]) -> Array:
        """Distances from the truth, or from the average of everybody without protection."""
        if self.source.is_random:
            return self.measured(case).errors
        off = self.possible(case).releases - self.average(everybody)
        return distances((off**2).mean(axis=-1))[None]

    def error(self, case: _Case, everybody: tuple[int, ...]) -> float:
        """The root mean squared distance; NaN where nothing would be published."""
        verdict = self.mechanism.feasibility(case.of(self.shown).sizes, case.budgets)
        if verdict is not None and not verdict.is_feasible:
            return math.nan
        return Accuracy.of(self.errors(case, everybody)).error

    def average(self, kept: tuple[int, ...]) -> Array:
        """Of those who take part, without protection: (GRID_SIZE,)."""
        def compute() -> Array:
            estimate = self.mechanism.without_protection(self.shown.of_servers(kept))
            return np.asarray(estimate.values(drawing_grid())[0, 0, 0])
        return self.once("average", _Case(kept, ()), compute)

    def without(self, kept: tuple[int, ...], own: tuple[Budget, ...]) -> tuple[Array, float | None]:
        """The average without protection, and the error without privacy where it is known."""
        average = self.average(kept)
        if not self.source.is_random:
            return average, None
        source, delta = self.curves(_Case(kept, own))[0], min(one.delta for one in own)
        key = ("baseline", source, self.mechanism, delta, self.seed)
        return average, self.memory.results(digest(key), lambda: studies.baseline(
            source, self.mechanism, delta, self.seed))

    def members(self, rows: Sequence[SiteRow], kept: tuple[int, ...], together: Arrangement
                ) -> tuple[Member, ...]:
        case = _Case(kept, together.budgets)
        parts = self.measured(case).parts if self.source.is_random else self.possible(case).parts
        weight, noise, sampling = _shares(parts, len(kept))
        proved, odds = accounting.guarantees(together.spends), _odds(together.spends)
        return tuple(Member(
            rows[k], float(weight[at]), float(noise[at]), float(sampling[at]), proved[at], odds[at],
            self.error(_Case((k,), (together.budgets[at],)), kept),
            self.mechanism.feasibility(self.shown.of_servers((k,)).sizes,
                                       (together.budgets[at],)))
            for at, k in enumerate(kept))


def _shares(parts: ServerParts | None, count: int) -> tuple[Array, Array, Array]:
    """Weights, and both parts as shares of the error of all; NaN where there is no release."""
    total = 0.0 if parts is None else float((parts.noise[0] + parts.sampling[0]).sum())
    if parts is None or not total > 0:
        unknown = np.full(count, math.nan)
        return unknown, unknown, unknown
    return parts.weight[0], parts.noise[0] / total, parts.sampling[0] / total
