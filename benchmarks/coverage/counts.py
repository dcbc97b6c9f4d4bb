"""Do the bands of counting curves hold? A table of outcomes, numbers of people and budgets.

Each row repeats one scenario: people are drawn anew and counted once, and the intervals at the
edges and the whole band are compared with the curve of the population.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.coverage.table import POINTWISE, SIMULTANEOUS, RepeatedStudy, notes_table
from engine.core.tasks import DISTRIBUTION, INCIDENCE, SURVIVAL
from engine.core.types import Array, Budget, EventData, Truth
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.study import Study
from engine.sources import Source
from engine.sources.bounded_values import BoundedValues
from engine.sources.competing_events import CompetingEvents
from engine.sources.event_times import SHAPES, EventTimes
from engine.topics.counting.answer import CountingStudy, counting_study

_LEAVE = 0.3  # share of people who leave at once


@dataclass(frozen=True, kw_only=True)
class LeavingPeople(EventTimes):
    """Times whose observation ends early or at once, in a follow-up that may be stated too long."""

    # of events, and of the end of observation where `leave_at` is 0: per follow-up as it was
    rate: float = 1.0
    censoring: float = 1.0
    leave_at: float = 0.0  # share of the follow-up at which three in ten leave; the others stay
    stated: float = 1.0  # how many times too long the follow-up is stated

    def survival(self, t: Array) -> Array:
        return np.asarray(np.exp(-self.rate * self.stated * t))

    @property
    def truth(self) -> Truth:
        return Truth.of(self.survival, "midpoints")

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        size = (n_repeats, self.n_curves)
        event = rng.exponential(1 / self.rate, size)
        if self.leave_at:
            end = np.where(rng.random(size) < _LEAVE, self.leave_at, np.inf)
        else:
            end = rng.exponential(1 / (self.censoring * self.rate), size)
        times = np.minimum(event, end) * self.follow_up / self.stated
        return EventData(
            times,
            (event <= end).astype(np.int64),
            np.zeros(self.n_curves, dtype=np.int64),
            self.facts,
            None,
            self.truth,
        )


@dataclass(frozen=True)
class CountRow:
    """Measurements of one setting."""

    setting: RepeatedStudy
    study: CountingStudy

    @property
    def holds(self) -> bool:
        """True if bands have the required coverage, up to two standard errors of chance.

        There is no upper limit: a curve that moves in a few steps, like one of rare events, is
        covered more often. Without a shown edge there is nothing to check.
        """
        if not self.study.edges_drawn:
            return True
        chance = 2 * self.study.error
        return (
            self.study.pointwise >= POINTWISE[0] - chance
            and self.study.simultaneous >= SIMULTANEOUS - chance
        )


def settings() -> Iterator[RepeatedStudy]:
    """List all rows: shapes of survival, competing causes, values, and sites."""
    for shape in SHAPES:
        for n, epsilon in ((228, 0.5), (228, 3.0), (1000, 1.0)):
            yield _repeated(f"survival, {shape}", EventTimes(design=shape, n_curves=n), epsilon)
    for n, epsilon in ((200, 0.5), (1000, 0.5), (1000, 3.0)):
        yield _repeated(
            "censored six times as often as events",
            LeavingPeople(n_curves=n, censoring=6.0),
            epsilon,
        )
        yield _repeated(
            "follow-up stated ten times too long",
            LeavingPeople(n_curves=n, censoring=0.3, stated=10.0),
            epsilon,
        )
        yield _repeated(
            "three in ten leave at once", LeavingPeople(n_curves=n, leave_at=0.02), epsilon
        )
    yield _repeated("survival, 4 sites", EventTimes(n_servers=4), 1.0)
    for n, epsilon in ((500, 1.0), (1000, 0.5)):
        yield _repeated("two causes", CompetingEvents(n_curves=n), epsilon, INCIDENCE.key)
        yield _repeated("values", BoundedValues(n_curves=n), epsilon, DISTRIBUTION.key)
    yield _repeated(
        "values near an end", BoundedValues(first=0.6, second=4.0), 1.0, DISTRIBUTION.key
    )


def _repeated(
    label: str, source: Source[EventData], epsilon: float, task: str = SURVIVAL.key
) -> RepeatedStudy:
    """Make the row of a counting curve, with δ = 0."""
    mechanism = NoisyCounts(task=task)
    return RepeatedStudy(
        label, Study(source=source, mechanism=mechanism, budgets=(Budget(epsilon),))
    )


def measured(setting: RepeatedStudy, repeats: int, seed: int) -> CountRow:
    """Repeat a setting and return its row."""
    return CountRow(setting, counting_study(replace(setting.study, seed=seed), repeats))


def as_markdown(rows: list[CountRow]) -> str:
    """Write the table for the notes on the methods."""
    names = ("Curve and people", "n", "ε", "Intervals shown", "Pointwise", "Simultaneous")
    return notes_table(names, map(_cells, rows))


def _cells(row: CountRow) -> Sequence[str]:
    return (
        row.setting.label,
        f"{row.setting.study.source.sizes.n_curves}",
        f"{row.setting.budget.epsilon:g}",
        f"{row.study.edges_drawn:.1f}",
        *(
            f"{share:.2f}" if row.study.edges_drawn else "–"
            for share in (row.study.pointwise, row.study.simultaneous)
        ),
    )
