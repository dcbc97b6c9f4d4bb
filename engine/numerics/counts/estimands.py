"""Estimands computed from counts: one class for each, and nothing else tells them apart.

A new one is its task in `engine.core.tasks`, a class here, and its meaning in
`engine.topics.counting.words`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.tasks import DISTRIBUTION, INCIDENCE, ROC, SURVIVAL, Task
from engine.core.types import EventFacts
from engine.numerics import product_limit
from engine.numerics.counts import visits
from engine.numerics.counts.bands import monotone_cubic
from engine.numerics.counts.cells import Counted, VisitCells
from engine.numerics.counts.curves import (
    CountedCurve,
    distribution_curve,
    incidence_curves,
    survival_curves,
)
from engine.numerics.counts.distributions import Calibration, Roc, calibration, distribution, roc
from engine.numerics.counts.life_tables import MIN_SHOWN, life_tables
from engine.numerics.counts.tables import CountTable


class CountedEstimand(ABC):
    """Curves that follow from a table of counts.

    Attributes
    ----------
    task : Task
    counted : Counted
        What tells cells apart beside the interval.
    quantity : str
        What a curve is the value of: its axis, and the one curve in what is published.
    argument : str
        What it is a function of; empty: the times, or what is counted by interval.
    falls : bool
        Whether a curve falls from 1; else it rises from 0.
    tells_causes : bool
        Whether each cause has a curve.
    has_bands : bool
        Whether curves have confidence bands.
    is_tested : bool
        Whether two groups have an ordinary test beside that of noised counts.
    refinement : float
        Times as many intervals as for one survival curve.
    takes_entry : bool
        True if people may enter late or be seen at visits alone, and groups may have weights.
    """

    task: ClassVar[Task]
    counted: ClassVar[Counted] = Counted.OUTCOMES
    quantity: ClassVar[str]
    argument: ClassVar[str] = ""
    falls: ClassVar[bool] = False
    tells_causes: ClassVar[bool] = False
    has_bands: ClassVar[bool] = True
    is_tested: ClassVar[bool] = False
    refinement: ClassVar[float] = 1.0
    takes_entry: ClassVar[bool] = False

    @property
    def start(self) -> float:
        """The value at the lowest edge, which is known."""
        return 1.0 if self.falls else 0.0

    @property
    def is_followed(self) -> bool:
        """True if people are followed until something happens to them, and may be in groups."""
        return self.counted is Counted.OUTCOMES

    def check_facts(self, facts: EventFacts) -> None:
        """Refuse late entry, visits and weights of groups where no errors are derived for them."""
        if self.takes_entry:
            return
        if facts.at_visits:
            raise InputError(
                "Only survival curves are computed from visits: at which visit each cause would "
                "have been found is not told apart.",
                field="without",
                hint=f"Choose {SURVIVAL.label.lower()}: until the first of all events.",
            )
        if facts.late_entry:
            raise InputError(
                "Only survival curves take late entry: the errors of other curves suppose that "
                "everybody is observed from the start.",
                field="entry",
                hint=f"Choose {SURVIVAL.label.lower()}: until the first of all events, if there are "
                "several causes.",
            )
        if facts.group_weights:
            raise InputError(
                "Only survival curves are adjusted: bands of several causes hold for one group.",
                field="group_weights",
                hint="Leave the weights out: then each group has its own curves.",
            )

    def n_causes(self, facts: EventFacts) -> int:
        """Count the kinds of events that are told apart."""
        return len(facts.causes) if self.tells_causes else 1

    def groups(self, facts: EventFacts) -> tuple[str, ...]:
        """Names of the groups that are told apart; empty where there is one."""
        return facts.groups if self.is_followed else ()

    def names(self, facts: EventFacts) -> tuple[str, ...]:
        """Names of the curves, group after group; empty where there is one curve."""
        groups = () if facts.group_weights else self.groups(facts)
        causes = facts.causes if self.n_causes(facts) > 1 else ()
        if groups and causes:
            return tuple(f"{group}: {cause}" for group in groups for cause in causes)
        return groups or causes

    def points(self, facts: EventFacts) -> Array:
        """Times at which curves are drawn, in their own unit: (GRID_SIZE,)."""
        return facts.from_unit_time(drawing_grid())

    @abstractmethod
    def curves(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> Array:
        """The curves of a table on the drawing grid: (…, [functions,] GRID_SIZE).

        Fewer people at risk than `min_at_risk` decide where a curve with late entry begins.
        """

    @abstractmethod
    def exact(
        self,
        time: Array,
        status: NDArray[np.int64],
        facts: EventFacts,
        earlier: Array | None = None,
    ) -> Array:
        """The ordinary curves of people (n,) of one group: ([causes,] GRID_SIZE).

        `earlier` (n,) are entries of people who enter late, or last visits without the event.
        """

    def bands(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> Sequence[CountedCurve]:
        """The curves of a table at its edges, with their bands; empty where there are none.

        Parameters
        ----------
        min_at_risk : float
            People at risk below which nothing is shown.
        """
        return ()

    def roc(self, table: CountTable) -> Roc | None:
        """The ROC curve of a table; None of all other estimands."""
        return None

    def calibration(self, table: CountTable) -> Calibration | None:
        """Compute how often people of each bin of a score have the label; None elsewhere."""
        return None

    def _drawn(self, table: CountTable, values: Array) -> Array:
        """Monotone cubics through values (…, K) at the edges of a table: (…, GRID_SIZE)."""
        edges = table.cells.edges
        times = edges[0] + (edges[-1] - edges[0]) * drawing_grid()
        return np.asarray(monotone_cubic(edges, values, self.start)(times))


class SurvivalCurve(CountedEstimand):
    """The share of people to whom nothing has happened yet, of each group."""

    task, quantity, falls, is_tested = SURVIVAL, "Share without an event", True, True
    takes_entry = True

    def curves(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> Array:
        curves = (
            visits.curves_of(table)
            if table.is_of_visits
            else np.stack([life.survival for life in life_tables(table, min_at_risk)], axis=-2)
        )
        if table.group_weights:
            return self._drawn(table, np.asarray(table.group_weights) @ curves)
        return _alone(self._drawn(table, curves))

    def exact(
        self,
        time: Array,
        status: NDArray[np.int64],
        facts: EventFacts,
        earlier: Array | None = None,
    ) -> Array:
        codes, entry = len(facts.causes), earlier
        if facts.at_visits:
            cells = VisitCells(facts.edges)
            places = cells.of_rows(time, status, without=earlier)
            counts = np.bincount(places, minlength=cells.size).astype(float)
            values = visits.survival(counts, cells)
            return np.asarray(monotone_cubic(facts.edges, values)(self.points(facts)))
        if entry is not None:
            entry = np.where(entry <= facts.time_low, -np.inf, entry)
        return product_limit.kaplan_meier(time, status, self.points(facts), codes, entry)[0]

    def bands(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[CountedCurve]:
        return survival_curves(table, min_at_risk)


class CumulativeIncidence(CountedEstimand):
    """The share of people to whom each cause has happened, of each group."""

    task, quantity, tells_causes = INCIDENCE, "Share with the event", True

    def curves(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> Array:
        return _alone(
            self._drawn(
                table, np.concatenate([life.incidence for life in life_tables(table)], axis=-2)
            )
        )

    def exact(
        self,
        time: Array,
        status: NDArray[np.int64],
        facts: EventFacts,
        earlier: Array | None = None,
    ) -> Array:
        return _alone(
            product_limit.aalen_johansen(time, status, self.points(facts), len(facts.causes))
        )

    def bands(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[CountedCurve]:
        return incidence_curves(table, min_at_risk)


class DistributionFunction(CountedEstimand):
    """The share of people whose value is at most so large."""

    task, counted, quantity, refinement = DISTRIBUTION, Counted.VALUES, "Share at or below", 1.5

    def curves(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> Array:
        return self._drawn(table, distribution(table)[0])

    def exact(
        self,
        time: Array,
        status: NDArray[np.int64],
        facts: EventFacts,
        earlier: Array | None = None,
    ) -> Array:
        known = np.sort(np.where(np.isnan(time), -np.inf, time))
        inside = np.minimum(known, facts.time_high)
        return np.searchsorted(inside, self.points(facts), side="right") / len(time)

    def bands(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[CountedCurve]:
        return [distribution_curve(table)]


class RocCurve(CountedEstimand):
    """The share of people with a label above the threshold that so many without it exceed."""

    task, counted, has_bands = ROC, Counted.LABELS, False
    quantity, argument = "True-positive share", "False-positive share"

    def points(self, facts: EventFacts) -> Array:
        return drawing_grid()

    def curves(self, table: CountTable, min_at_risk: float = MIN_SHOWN) -> Array:
        """The broken lines of a table, read off on the drawing grid."""
        lines = roc(table)
        rows = [
            np.interp(drawing_grid(), x, y)
            for x, y in zip(
                lines.false_positive.reshape(-1, lines.false_positive.shape[-1]),
                lines.true_positive.reshape(-1, lines.true_positive.shape[-1]),
                strict=True,
            )
        ]
        return np.stack(rows).reshape(*lines.false_positive.shape[:-1], -1)

    def exact(
        self,
        time: Array,
        status: NDArray[np.int64],
        facts: EventFacts,
        earlier: Array | None = None,
    ) -> Array:
        return product_limit.roc_curve(time, status, self.points(facts))

    def roc(self, table: CountTable) -> Roc:
        return roc(table)

    def calibration(self, table: CountTable) -> Calibration:
        return calibration(table)


# All of them by the key of their task, in the order in which they are offered.
ESTIMANDS: dict[str, CountedEstimand] = {
    each.task.key: each
    for each in (SurvivalCurve(), CumulativeIncidence(), DistributionFunction(), RocCurve())
}


def _alone(curves: Array) -> Array:
    """Curves (…, functions, n), without that axis where there is one."""
    return curves if curves.shape[-2] > 1 else curves[..., 0, :]
