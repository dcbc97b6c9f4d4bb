"""What each site costs and adds: sites that protect their own curves, beside one trusted centre.

A table says who takes part, with how many curves and which budget. Compared are three ways to use
these curves: *together*, each site adding its own noise; *pooled* at one trusted centre, under the
smallest ε and δ of all, so that everybody gets at least what they were promised; and the best site
*alone*. Errors are typical distances over fresh data sets, with the same chance in every case, so
that small changes of the table show; everything is simulated with a known seed and only for
looking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.experiments import DATA_STREAM, NOISE_STREAM, generator
from engine.feasibility import Feasibility
from engine.identity import digest
from engine.mechanisms import Mechanism
from engine.metrics import integrated_squared_errors, typical_distance
from engine.numerics.grids import drawing_grid
from engine.privacy import accounting, risk, transcript
from engine.sources import Source
from engine.types import Array, Budget, CurveData, Estimate, PublicFacts, ServerParts, Spend
from engine.views.preview import SHOWN_DRAWS
from engine.views.site_table import SiteRow, checked

_RELEASES = 20  # behind every typical error, usually each of a data set of its own
_CURVES_OF_ALL = 20_000  # in all fresh data sets; larger ones are drawn less and released more
_SHOWN, _FRESH = 0, 1  # block numbers of the two random streams


# -- what is found ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrangement:
    """One way to use the curves, and what it would publish.

    `releases` (SHOWN_DRAWS, GRID_SIZE) of the shown curves, in response units; `errors`
    (releases,): distances from the truth over fresh data sets or, for real curves, from the
    average without protection. `fewest_in_a_round` is as in `Mechanism`.
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
    def typical(self) -> float:
        """The median error; NaN where nothing would be published."""
        return math.nan if self.is_refused else float(np.median(self.errors))

    @property
    def standard_error(self) -> float:
        """Of the typical error, from the number of simulated releases."""
        return float(1.25 * self.errors.std(ddof=1) / math.sqrt(len(self.errors)))


@dataclass(frozen=True)
class Member:
    """A site that takes part: what it adds and what its people get.

    `weight` is its share in the average. `noise` and `sampling` are what its noise, and chance in
    who takes part there, have in the squared error, as shares that sum to one over all members
    (NaN where nothing would be published). `guarantee` is proved from its own messages; `alone` is
    its typical error without the others, NaN where it would publish nothing.
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
    without protection of all curves that take part, `floor` its typical error where the truth is
    known. `best` is the number of the best member: it has the largest n μ.
    """

    facts: PublicFacts
    times: Array
    without: Array
    truth: Array | None
    floor: float | None
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


Keep = Callable[[str, Callable[[], Any]], Any]


def _afresh(key: str, compute: Callable[[], Any]) -> Any:
    return compute()


@dataclass(frozen=True)
class Memory:
    """Where drawn curves and results are kept under their digest; nowhere unless told."""

    data: Keep = _afresh
    results: Keep = _afresh


def federation(source: Source, mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
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
    budgets = tuple(rows[k].budget for k in kept)
    without, floor = desk.without(kept)
    best = max(range(len(kept)), key=lambda k: _worth(rows[kept[k]]))
    together = desk.arrangement(_Case(kept, budgets), kept)
    pooled = desk.arrangement(_Case(kept, (_smallest(budgets),), pooled=True), kept)
    facts, truth = source.facts, desk.drawn.shown.truth
    return Federation(
        facts, facts.from_unit_time(drawing_grid()), without,
        None if truth is None else truth.grid_values, floor, together, pooled,
        desk.arrangement(_Case((kept[best],), (budgets[best],)), kept),
        _odds(pooled.spends)[0], desk.members(rows, kept, together), best)


def _smallest(budgets: Sequence[Budget]) -> Budget:
    """What keeps every site's promise when one release is about all curves."""
    return Budget(min(b.epsilon for b in budgets), min(b.delta for b in budgets))


def _worth(row: SiteRow) -> float:
    """N μ, by which sites can be compared before anything is simulated; ε/4 for δ = 0."""
    budget = row.budget
    mu = (budget.epsilon / 4 if budget.is_pure
          else accounting.exact_mu(budget.epsilon, budget.delta))
    return row.n_curves * mu


def _odds(spends: Sequence[Spend], records: int = 1) -> list[risk.Odds]:
    """Of one person at each server, from its noise."""
    return [risk.of_ledger(own, records) for own in accounting.by_server(spends).values()]


# -- if the table were different ----------------------------------------------------------------


@dataclass(frozen=True)
class WhatIf:
    """Typical errors with the same chance: now, without a site, with half its ε.

    `leaves` is NaN where nobody else is left or nothing would be published.
    """

    name: str
    now: float
    leaves: float
    tightens: float


def what_if(source: Source, mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
            memory: Memory | None = None) -> Iterator[WhatIf]:
    """For each site that takes part, one after the other."""
    desk = _Desk.of(source, mechanism, rows, seed, memory or Memory())
    kept = tuple(k for k, row in enumerate(rows) if row.included)
    budgets = [rows[k].budget for k in kept]
    now = desk.typical(_Case(kept, (*budgets,)), kept)
    for at, k in enumerate(kept):
        halved = replace(budgets[at], epsilon=budgets[at].epsilon / 2)
        before, after = budgets[:at], budgets[at + 1:]
        others = _Case(kept[:at] + kept[at + 1:], (*before, *after))
        tighter = _Case(kept, (*before, halved, *after))
        yield WhatIf(rows[k].name, now,
                     desk.typical(others, kept) if others.kept else math.nan,
                     desk.typical(tighter, kept))


@dataclass(frozen=True)
class Sent:
    """One message to the centre: `numbers` of them, their values and the size of their noise."""

    step: str
    site: str
    numbers: int
    values: Array
    noise: Array


def transcript_of(source: Source, mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
                  memory: Memory | None = None) -> list[Sent]:
    """All that the centre sees of one release, message by message, in order."""
    desk = _Desk.of(source, mechanism, rows, seed, memory or Memory())
    kept = tuple(k for k, row in enumerate(rows) if row.included)
    with transcript.recorded() as messages:
        desk.release(desk.drawn.shown, _Case(kept, tuple(rows[k].budget for k in kept)), 1, _SHOWN)
    return [Sent(message.step, rows[kept[message.server]].name, message.values.size,
                 message.values.ravel(), message.noise.ravel()) for message in messages]


# -- simulation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    """The curves of all rows: those on screen and, where they can be drawn, fresh data sets."""

    shown: CurveData
    fresh: CurveData | None


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
    """Errors (releases,) and parts of fresh data sets."""

    errors: Array
    parts: ServerParts | None


@dataclass(frozen=True)
class _Possible:
    """Releases (SHOWN_DRAWS, GRID_SIZE) of the shown curves, with parts and ledger."""

    releases: Array
    parts: ServerParts | None
    spends: tuple[Spend, ...]


@dataclass(frozen=True)
class _Desk:
    """One table's drawn curves, and results that are computed once for each case.

    A case depends on nothing but its own rows and budgets: when one ε changes, the curves and all
    cases without it stay as they are.
    """

    mechanism: Mechanism
    seed: int
    drawn: _Drawn
    key: str
    memory: Memory

    @classmethod
    def of(cls, source: Source, mechanism: Mechanism, rows: Sequence[SiteRow], seed: int,
           memory: Memory) -> _Desk:
        checked(rows, fixed=not source.has_free_sites)
        if source.has_free_sites:
            source = source.with_sites([row.n_curves for row in rows],
                                       [row.n_observations_per_curve for row in rows])
        key = digest((source, seed))
        drawn = memory.data(key, lambda: _draw(source, seed))
        if drawn.shown.sizes.n_servers != len(rows):
            raise InputError("The table does not fit the sites of these curves.", field="sites")
        return cls(mechanism, seed, drawn, key, memory)

    def release(self, data: CurveData, case: _Case, draws: int, block: int) -> Estimate:
        return self.mechanism.release_many(case.of(data), [case.budgets], draws,
                                           generator(self.seed, NOISE_STREAM, block))

    def once(self, what: str, case: _Case, compute: Callable[[], Any]) -> Any:
        return self.memory.results(digest((what, self.key, self.mechanism, case)), compute)

    def arrangement(self, case: _Case, everybody: tuple[int, ...]) -> Arrangement:
        possible = self.possible(case)
        sizes = case.of(self.drawn.shown).sizes
        return Arrangement(case.budgets, possible.releases, self.errors(case, everybody),
                           possible.spends, self.mechanism.feasibility(sizes, case.budgets),
                           self.mechanism.fewest_in_a_round(sizes))

    def possible(self, case: _Case) -> _Possible:
        def compute() -> _Possible:
            estimate = self.release(self.drawn.shown, case, SHOWN_DRAWS, _SHOWN)
            return _Possible(estimate.values(drawing_grid())[0, 0], estimate.parts,
                             estimate.spends[0])
        return self.once("possible", case, compute)

    def measured(self, case: _Case) -> _Measured:
        """On fresh data sets, released more than once each where there are few."""
        fresh = self.drawn.fresh
        assert fresh is not None

        def compute() -> _Measured:
            draws = -(-_RELEASES // fresh.n_repeats)
            estimate = self.release(fresh, case, draws, _FRESH)
            total = integrated_squared_errors(estimate, fresh.truth).total
            assert total is not None
            return _Measured(typical_distance(total).ravel(), estimate.parts)
        return self.once("measured", case, compute)

    def errors(self, case: _Case, everybody: tuple[int, ...]) -> Array:
        """Distances from the truth, or from the average of everybody without protection."""
        if self.drawn.fresh is not None:
            return self.measured(case).errors
        target = self.without(everybody)[0]
        squared = ((self.possible(case).releases - target) ** 2).mean(axis=-1)
        return typical_distance(squared)

    def typical(self, case: _Case, everybody: tuple[int, ...]) -> float:
        """The median error; NaN where nothing would be published."""
        verdict = self.mechanism.feasibility(case.of(self.drawn.shown).sizes, case.budgets)
        if verdict is not None and not verdict.is_feasible:
            return math.nan
        return float(np.median(self.errors(case, everybody)))

    def without(self, kept: tuple[int, ...]) -> tuple[Array, float | None]:
        """The average without protection, and its typical error where the truth is known."""
        def compute() -> tuple[Array, float | None]:
            estimate = self.mechanism.without_protection(self.drawn.shown.of_servers(kept))
            curve, fresh = estimate.values(drawing_grid())[0, 0, 0], self.drawn.fresh
            if fresh is None:
                return curve, None
            quiet = self.mechanism.without_protection(fresh.of_servers(kept))
            total = integrated_squared_errors(quiet, fresh.truth).total
            assert total is not None
            return curve, float(np.median(typical_distance(total)))
        return self.once("without", _Case(kept, ()), compute)

    def members(self, rows: Sequence[SiteRow], kept: tuple[int, ...], together: Arrangement
                ) -> tuple[Member, ...]:
        case = _Case(kept, together.budgets)
        parts = self.possible(case).parts if self.drawn.fresh is None else self.measured(case).parts
        weight, noise, sampling = _shares(parts, len(kept))
        proved, odds = accounting.guarantees(together.spends), _odds(together.spends)
        return tuple(Member(
            rows[k], float(weight[at]), float(noise[at]), float(sampling[at]), proved[at], odds[at],
            self.typical(_Case((k,), (rows[k].budget,)), kept),
            self.mechanism.feasibility(self.drawn.shown.of_servers((k,)).sizes, (rows[k].budget,)))
            for at, k in enumerate(kept))


def _shares(parts: ServerParts | None, count: int) -> tuple[Array, Array, Array]:
    """Weights, and both parts as shares of the error of all; NaN where there is no release."""
    total = 0.0 if parts is None else float((parts.noise + parts.sampling).sum())
    if parts is None or not total > 0:
        unknown = np.full(count, math.nan)
        return unknown, unknown, unknown
    return parts.weight[0], parts.noise[0] / total, parts.sampling[0] / total


def _draw(source: Source, seed: int) -> _Drawn:
    shown = source.draw(1, generator(seed, DATA_STREAM, _SHOWN))
    if not source.is_random:
        return _Drawn(shown, None)
    repeats = int(np.clip(_CURVES_OF_ALL // shown.n_curves, 2, _RELEASES))
    return _Drawn(shown, source.draw(repeats, generator(seed, DATA_STREAM, _FRESH)))
