"""Assignment of people's rows to cells: a total function of each row alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.enumerations import Enumeration

_BLOCK = 1 << 17  # rows that are counted at once


class Counted(Enumeration):
    """Distinction of cells beside the interval: how a time ended, nothing, or a label."""

    OUTCOMES = "outcomes"
    VALUES = "values"
    LABELS = "labels"


@dataclass(frozen=True)
class Cells:
    """The public cells of a table of counts; each person is in exactly one of them.

    Interval k is (e_{k−1}, e_k]. Of outcomes there are (J + 1)K + 1 cells: events of cause 1 by
    interval, …, of cause J, then people censored by interval, then those still under observation
    at the last edge. Of values there are K cells. Of labels there are 2K: those with the label by
    interval of their score, then those without.

    Examples
    --------
    >>> cells = Cells((0.0, 1.0, 2.0))
    >>> cells.size, cells.of_rows(np.array([0.5, 1.0, 1.5, 9.0]), np.array([1, 0, 1, 1])).tolist()
    (5, [0, 2, 1, 4])
    """

    edges: tuple[float, ...]  # e_0 < … < e_K, public, in the unit of the times
    counted: Counted = Counted.OUTCOMES  # what tells cells apart beside the interval
    n_causes: int = 1  # J, how many kinds of events are told apart
    # how many codes of events are stated, 1 … n_codes; with J = 1 all are one kind of event
    n_codes: int = 1
    n_groups: int = 1  # every group has all of the cells
    # in which times are recorded; 0 where it is not stated. What is counted does not depend on it.
    time_step: float = 0.0

    @property
    def n_intervals(self) -> int:
        """K."""
        return len(self.edges) - 1

    @property
    def size(self) -> int:
        """m, the cells of one group."""
        if self.counted is Counted.OUTCOMES:
            return (self.n_causes + 1) * self.n_intervals + 1
        return self.n_intervals * (2 if self.counted is Counted.LABELS else 1)

    @property
    def kinds(self) -> int:
        """Cells of each interval: outcomes, labels, or one."""
        return self.size // self.n_intervals

    def of_rows(
        self,
        time: Array,
        status: NDArray[np.int64],
        group: NDArray[np.int64] | None = None,
        without: Array | None = None,
    ) -> NDArray[np.int64]:
        """The cell of every row, group after group: (…), from 0 to n_groups · m − 1.

        A row has a cell whatever it holds. Outcomes: a time above the last edge is beyond, whatever
        the status; one at or below the first belongs to interval 1; one that is no number is
        censored in interval 1; a status that is no stated code is censored. Values and scores above
        the range belong to the last interval, what is no number to the first. A label is 1 or it is
        none. A group that is no stated code is the first group. `without` is for `VisitCells`.
        """
        last = self.n_intervals - 1
        interval = np.searchsorted(np.asarray(self.edges[1:]), time)  # the first edge at or above
        interval = np.where(np.isnan(time), 0, interval)
        inside = np.minimum(interval, last)
        if self.counted is Counted.VALUES:
            cell = inside
        elif self.counted is Counted.LABELS:
            cell = inside + self.n_intervals * (np.asarray(status) != 1)
        else:
            is_event = (status >= 1) & (status <= self.n_codes) & ~np.isnan(time)
            cause = np.asarray(status) - 1 if self.n_causes > 1 else 0
            kind = np.where(is_event, cause, self.n_causes)
            cell = np.where(interval > last, self.size - 1, kind * self.n_intervals + inside)
        return self._of_groups(cell, group)

    def _of_groups(
        self, cell: NDArray[np.int64], group: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Number cells of a group among those of all groups."""
        if self.n_groups > 1 and group is not None:
            codes = np.asarray(group)
            cell = cell + self.size * np.where((codes >= 1) & (codes < self.n_groups), codes, 0)
        return np.asarray(cell, dtype=np.int64)

    def counts(
        self,
        time: Array,
        status: NDArray[np.int64],
        group: NDArray[np.int64] | None,
        server: NDArray[np.int64],
        n_servers: int,
        without: Array | None = None,
    ) -> Array:
        """Count people in each cell, at every site: (repeats, S, groups, m)."""
        repeats, size = len(time), self.n_groups * self.size
        of_repeat = size * n_servers * np.arange(repeats)[:, None]
        counts = np.zeros(repeats * n_servers * size, dtype=np.int64)
        step = max(1, _BLOCK // repeats)
        for first in range(0, len(server), step):
            some = slice(first, first + step)
            cell = self.of_rows(
                time[:, some],
                status[:, some],
                None if group is None else group[:, some],
                None if without is None else without[:, some],
            )
            cell = cell + size * server[some] + of_repeat
            counts += np.bincount(cell.ravel(), minlength=len(counts))
        return counts.reshape(repeats, n_servers, self.n_groups, self.size).astype(float)


@dataclass(frozen=True)
class EntryCells(Cells):
    """The K + 2 cells of entries: at or before e_0, in interval 1 … K, and after e_K.

    The time of a row is that of its entry, which `entered` has made a function of the row alone.

    Examples
    --------
    >>> cells = EntryCells((0.0, 1.0, 2.0))
    >>> cells.of_rows(np.array([0.0, 0.5, 2.0, 9.0]), np.zeros(4, dtype=int)).tolist()
    [0, 1, 2, 3]
    """

    @property
    def size(self) -> int:
        return self.n_intervals + 2

    def of_rows(
        self,
        time: Array,
        status: NDArray[np.int64],
        group: NDArray[np.int64] | None = None,
        without: Array | None = None,
    ) -> NDArray[np.int64]:
        """The cell of the entry of every row, group after group; the status is not looked at."""
        return self._of_groups(np.searchsorted(np.asarray(self.edges), time), group)


@dataclass(frozen=True)
class VisitCells(Cells):
    """The (K + 1)(K + 2)/2 cells of people who are seen at public visits e_1 … e_K, or miss some.

    A cell is a last visit without the event, 0 … K with the start as 0, and a first visit with it,
    1 … K, or K + 1 where there was none. They are in order of the first, then of the second.

    Examples
    --------
    >>> cells = VisitCells((0.0, 1.0, 2.0))
    >>> first, last = np.array([1.0, 2.0, np.nan]), np.array([0.0, np.nan, 2.0])
    >>> cells.size, cells.of_rows(first, np.ones(3, dtype=int), without=last).tolist()
    (6, [0, 1, 5])
    """

    @property
    def size(self) -> int:
        return len(self.visits)

    @property
    def visits(self) -> NDArray[np.int64]:
        """Last visit without and first visit with the event of every cell: (m, 2)."""
        last, first = np.triu_indices(self.n_intervals + 1)
        return np.stack([last, first + 1], axis=-1)

    def of_rows(
        self,
        time: Array,
        status: NDArray[np.int64],
        group: NDArray[np.int64] | None = None,
        without: Array | None = None,
    ) -> NDArray[np.int64]:
        """The cell of every row, group after group; the status is not looked at.

        Both times are those of the nearest visit, so that one visit is not two by rounding. There
        is no visit with the event where `time` is no number, or half a gap or more beyond the last;
        the last one without it is the start where `without` is no number. Where the two contradict
        each other the visit with the event counts.
        """
        edges, n = np.asarray(self.edges), self.n_intervals
        middles = (edges[1:] + edges[:-1]) / 2
        beyond = edges[-1] + (edges[-1] - edges[-2]) / 2
        first = np.clip(np.searchsorted(middles, time, side="right"), 1, n)
        first = np.where(np.isnan(time) | (time >= beyond), n + 1, first)
        known = np.full(np.shape(time), np.nan) if without is None else without
        last = np.searchsorted(middles, np.where(np.isnan(known), -np.inf, known), side="right")
        last = np.minimum(last, first - 1)
        return self._of_groups(last * (n + 1) - last * (last - 1) // 2 + first - last - 1, group)


def entered(entry: Array, exit_: Array) -> Array:
    """When each row counts as entered, (…), by that row alone.

    What is no number is an entry at the start; an entry after the exit is one at the exit. A row
    whose exit is no number leaves in interval 1, and so enters at the start.

    Examples
    --------
    >>> entered(np.array([np.nan, 3.0, 1.0]), np.array([2.0, 2.0, np.nan])).tolist()
    [-inf, 2.0, -inf]
    """
    is_known = ~(np.isnan(entry) | np.isnan(exit_))
    return np.where(is_known, np.minimum(entry, exit_), -np.inf)


def equal_edges(low: float, high: float, n_intervals: int) -> tuple[float, ...]:
    """The K + 1 edges of equally wide intervals; both ends are exact."""
    inner = low + (high - low) * np.arange(1, n_intervals) / n_intervals
    return (float(low), *inner.tolist(), float(high))
