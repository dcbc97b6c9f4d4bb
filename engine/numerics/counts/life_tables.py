"""Survival and cumulative incidence from counts by interval: the actuarial life table.

With d events and c censored people in interval k, Y people at risk at its start, W = Y − c/2 and
the hazard h = d/W, held to [0, 1],

    S_k = Π_{i≤k} (1 − h_i),    CIF_jk = Σ_{i≤k} S_{i−1} h_i d_ji/d_i.

W would be Y − c if all c were censored at the start of the interval, and Y if at its end. The
counts do not tell, and limits allow for both.

Where people enter late (left truncation), a_0 at or before the start and a_k within interval k,

    Y_k = Σ_{j<k} a_j − Σ_{j<k} (d_j + c_j),    W_k = Y_k + a_k/2 − c_k/2,

and W lies between Y − c and Y + a. Where few are there at the start the curve begins at the first
edge e_b with enough people in every group, and is S(t | no event until e_b).

Gradients count everybody: Y is the sum of all later cells, so that they hold whether the size of a
group is known or not. With a known total the two ways differ by a constant along the cells, which
`CountTable` takes off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.core.arrays import Array, Flags, Indices
from engine.numerics.counts.cells import Cells
from engine.numerics.counts.tables import CountTable

MIN_SHOWN = 10.0  # people at risk at the end of an interval; a custodian may ask for more
_FLOOR = 2.0  # of people at risk, in gradients alone
_CERTAIN = 3.0  # standard deviations of noise that people at risk must exceed
_ACTUARIAL = 0.5  # of their interval that people censored within it are taken to miss


@dataclass(frozen=True, eq=False)
class LifeTable:
    """The life table of one group."""

    counts: Array  # (…, m): of outcomes
    cells: Cells
    # the share of their interval that people who are censored or enter within it are taken to miss
    unexposed: float = _ACTUARIAL
    entered: Array | None = None  # (…, K + 2): people by entry; None where all enter at the start
    begin: Indices | None = None  # (…): intervals before the curve begins; None: it begins at once

    @cached_property
    def events(self) -> Array:
        """D by cause: (…, J, K)."""
        inside = self.counts[..., :-1]
        return inside.reshape(*inside.shape[:-1], -1, self.cells.n_intervals)[..., :-1, :]

    @cached_property
    def censored(self) -> Array:
        """c: (…, K)."""
        return self.counts[..., -1 - self.cells.n_intervals : -1]

    @cached_property
    def at_risk(self) -> Array:
        """Y at the start of each interval, and beyond the last edge: (…, K + 1)."""
        leaving = self.events.sum(axis=-2) + self.censored
        if self.entered is not None:
            left = np.cumsum(_shifted(leaving), axis=-1)
            return np.asarray(np.cumsum(self.entered[..., :-1], axis=-1) - left)
        leaving = np.concatenate([leaving, self.counts[..., -1:]], axis=-1)
        return np.asarray(np.cumsum(leaving[..., ::-1], axis=-1)[..., ::-1])

    @cached_property
    def exposed(self) -> Array:
        """W: (…, K)."""
        exposed = self.at_risk[..., :-1] - self.unexposed * self.censored
        if self.entered is None:
            return np.asarray(exposed)
        return np.asarray(exposed + (1 - self.unexposed) * self.entered[..., 1:-1])

    @cached_property
    def follows(self) -> Flags | None:
        """True for intervals after the curve begins: (…, K) of bool; None if it does at once."""
        if self.begin is None:
            return None
        return np.asarray(np.arange(self.cells.n_intervals) >= self.begin[..., None])

    @cached_property
    def hazards(self) -> Array:
        """H by cause, together at most 1: (…, J, K)."""
        exposed = self.exposed
        is_used = exposed > 0 if self.follows is None else (exposed > 0) & self.follows
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(is_used[..., None, :], self.events / exposed[..., None, :], 0.0)
            total = each.sum(axis=-2, keepdims=True)
            return np.where(total > 1, each / total, each)

    @cached_property
    def survival(self) -> Array:
        """S at the edges e_1 … e_K: (…, K)."""
        return _survival(self.hazards)

    @cached_property
    def before(self) -> Array:
        """S at the start of each interval: (…, K)."""
        return _before(self.survival)

    @cached_property
    def incidence(self) -> Array:
        """CIF at the edges e_1 … e_K: (…, J, K); with 1 − S as the sum over causes."""
        return _incidence(self.hazards)

    # -- wherever within their interval people are censored -------------------------------------

    @cached_property
    def of_early_censoring(self) -> LifeTable:
        """If all leave at the start of their interval and enter at its end: fewest at risk."""
        return replace(self, unexposed=1.0)

    @cached_property
    def of_late_censoring(self) -> LifeTable:
        """If all are censored at its end and enter at its start."""
        return replace(self, unexposed=0.0)

    def survival_if_leavers_have(self, ratio: float) -> Array:
        """S if people who are censored have so many times the others' hazard from then on: (…, K).

        The counts cannot tell: they are silent about whoever is censored. Of the c_i people of
        interval i the share Π_{i<j≤k} (1 − h_j)^ratio is left at e_k, and half an interval's more
        is lost in the interval itself. What this moves the curve by, against a ratio of 1, is
        added to S.
        """
        return np.clip(self.survival + self._left(ratio) - self._left(1.0), 0.0, 1.0)

    def _left(self, ratio: float) -> Array:
        """Shares of all people who have had no event, censored or not: (…, K)."""
        kept = np.maximum(1 - self.hazards.sum(axis=-2), 0.0) ** ratio
        total, gone, left = self.at_risk[..., 0], np.zeros(self.at_risk.shape[:-1]), []
        for k in range(self.cells.n_intervals):
            gone = gone * kept[..., k] + self.censored[..., k] * np.sqrt(kept[..., k])
            left.append((self.at_risk[..., k + 1] + gone) / np.maximum(total, 1.0))
        return np.stack(left, axis=-1)

    @cached_property
    def incidence_extremes(self) -> tuple[Array, Array]:
        """The lowest and the highest CIF by when people are censored: (…, J, K) each.

        A cause of late events falls where others have more early ones, so that the two ends may
        cross; what they were once apart they stay apart.
        """
        start, end = self.of_early_censoring.incidence, self.of_late_censoring.incidence
        below = self.incidence - np.minimum(start, end)
        above = np.maximum(start, end) - self.incidence
        return (
            self.incidence - np.maximum.accumulate(below, axis=-1),
            self.incidence + np.maximum.accumulate(above, axis=-1),
        )

    # -- gradients ------------------------------------------------------------------------------

    @cached_property
    def survival_gradient(self) -> Array:
        """∂S_k/∂x: (…, K, m), with W held to 2 or more and d to W − 1 or less."""
        of_events, of_exposed = self._slopes
        steps = (
            of_events[..., None] * self.marks[0].sum(axis=0) + of_exposed[..., None] * self.marks[1]
        )
        return np.asarray(self.survival[..., None] * np.cumsum(steps, axis=-2))

    @cached_property
    def entry_gradient(self) -> Array:
        """∂S_k/∂a: (…, K, K + 2)."""
        intervals = self.cells.n_intervals
        k, j = np.arange(intervals)[:, None], np.arange(intervals + 2)
        marks = (j <= k) + (1 - self.unexposed) * (j == k + 1)
        steps = self._slopes[1][..., None] * marks
        return np.asarray(self.survival[..., None] * np.cumsum(steps, axis=-2))

    @cached_property
    def increments(self) -> Array:
        """Standard deviation of each step of log S by chance, √(d/(W(W − d))): (…, K)."""
        return np.asarray(np.sqrt(np.maximum(self._slopes[1], 0.0)))

    @cached_property
    def _slopes(self) -> tuple[Array, Array]:
        """∂ log(1 − d/W) by d and by W: (…, K) each."""
        exposed, events = self._held
        rest = exposed - events
        of_events, of_exposed = -1 / rest, events / (exposed * rest)
        if self.follows is None:
            return of_events, of_exposed
        return np.where(self.follows, of_events, 0.0), np.where(self.follows, of_exposed, 0.0)

    @cached_property
    def incidence_gradient(self) -> Array:
        """∂CIF_jk/∂x: (…, J, K, m)."""
        exposed = self._held[0][..., None, :, None]  # (…, 1, K, 1)
        hazards, before = self.hazards[..., None], self.before[..., None, :, None]
        slope = np.concatenate(
            [
                np.zeros_like(self.survival_gradient[..., :1, :]),
                self.survival_gradient[..., :-1, :],
            ],
            axis=-2,
        )
        steps = (
            slope[..., None, :, :] * hazards
            + before * (self.marks[0] - hazards * self.marks[1]) / exposed
        )
        return np.asarray(np.cumsum(steps, axis=-2))

    @cached_property
    def at_risk_gradient(self) -> Array:
        """∂Y_k/∂x: (K + 1, m).

        1 for every cell that comes later; where people enter late −1 for every earlier one.
        """
        intervals = self.cells.n_intervals
        interval = np.concatenate(
            [np.tile(np.arange(intervals), self.cells.n_causes + 1), [intervals]]
        )
        is_later = interval >= np.arange(intervals + 1)[:, None]
        return np.asarray(is_later, dtype=float) - (self.entered is not None)

    @property
    def _held(self) -> tuple[Array, Array]:
        exposed = np.maximum(self.exposed, _FLOOR)
        return exposed, np.minimum(self.events.sum(axis=-2), exposed - 1)

    @cached_property
    def marks(self) -> tuple[Array, Array]:
        """∂d_ji/∂x (J, K, m) and ∂W_i/∂x (K, m), the same for all counts."""
        intervals, causes = self.cells.n_intervals, self.cells.n_causes
        each = np.eye((causes + 1) * intervals + 1)[:-1].reshape(causes + 1, intervals, -1)
        return each[:-1], self.at_risk_gradient[:-1] - self.unexposed * each[-1]


def _survival(hazards: Array) -> Array:
    """S at the edges, from hazards by cause: (…, K)."""
    return np.asarray(np.cumprod(1 - np.minimum(hazards.sum(axis=-2), 1.0), axis=-1))


def _before(survival: Array) -> Array:
    """S at the start of each interval."""
    return np.concatenate([np.ones_like(survival[..., :1]), survival[..., :-1]], axis=-1)


def _incidence(hazards: Array) -> Array:
    """CIF at the edges: (…, J, K)."""
    return np.asarray(np.cumsum(_before(_survival(hazards))[..., None, :] * hazards, axis=-1))


def _shifted(steps: Array) -> Array:
    """0, and the steps after it: (…, K + 1)."""
    return np.concatenate([np.zeros_like(steps[..., :1]), steps], axis=-1)


def life_tables(table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[LifeTable]:
    """The life table of every group of a released table.

    Where people enter late all begin at one edge: the first with enough people in every group.
    """
    counts, groups = table.estimated, range(table.cells.n_groups)
    if table.entries is None:
        return [LifeTable(counts[..., g, :], table.cells) for g in groups]
    entered = table.entries.estimated
    lives = [LifeTable(counts[..., g, :], table.cells, entered=entered[..., g, :]) for g in groups]
    limit = _least(table, min_at_risk)[:-1]
    enough = np.logical_and.reduce([life.at_risk[..., :-1] >= limit for life in lives])
    begin = np.asarray(enough.argmax(axis=-1))
    return [replace(life, begin=begin) for life in lives]


def _least(table: CountTable, min_at_risk: float) -> Array:
    """The fewest people at risk at each edge e_0 … e_K that are enough: (K + 1,).

    `min_at_risk`, or three standard deviations of the noise in their number if that is more.
    """
    return np.asarray(np.maximum(min_at_risk, _CERTAIN * spread_at_risk(table)))


def spread_at_risk(table: CountTable) -> Array:
    """Standard deviation of noise in the people at risk at each edge e_0 … e_K: (K + 1,).

    They are the sum of all later cells; where people enter late, entries less exits so far.
    """
    edge = np.arange(table.cells.n_intervals + 1)
    passed = (table.cells.n_causes + 1) * edge
    if table.entries is None:
        return table.spread_of(table.cells.size - passed)
    return np.hypot(table.spread_of(passed), table.entries.spread_of(edge + 1))


def is_shown(table: CountTable, life: LifeTable, min_at_risk: float = MIN_SHOWN) -> Flags:
    """True for intervals that are drawn: those before too few are left, by the noisy counts.

    Interval k is, while the estimated number at risk at its end is `min_at_risk` or more, and three
    standard deviations of its noise or more. Intervals before the curve begins count as drawn, if
    any after them is. True counts are never compared with a limit: that would break the guarantee.
    """
    is_enough = life.at_risk[..., 1:] >= _least(table, min_at_risk)[1:]
    if life.begin is None or life.follows is None:
        return np.asarray(np.logical_and.accumulate(is_enough, axis=-1))
    drawn = np.logical_and.accumulate(is_enough | ~life.follows, axis=-1)
    return np.asarray(drawn & (drawn & life.follows).any(axis=-1, keepdims=True))


def of_group(gradient: Array, group: int, n_groups: int) -> Array:
    """Extend a gradient (…, q, m) of one group by 0 for others: (…, q, groups, m)."""
    out = np.zeros((*gradient.shape[:-1], n_groups, gradient.shape[-1]))
    out[..., group, :] = gradient
    return out


def whole_at_risk(life: LifeTable) -> Array:
    """Numbers at risk as whole numbers that fall: (…, K + 1).

    Estimated counts in order of time are summed and rounded, so that every cell is within 1 of its
    estimate and all add up to the whole number of people. Where people enter late numbers may rise.
    """
    if life.entered is not None:
        return np.maximum(np.floor(life.at_risk + 0.5), 0.0)
    leaving = np.cumsum(whole_cells(life), axis=-1)
    kinds = life.cells.n_causes + 1
    starts = np.concatenate(
        [np.zeros_like(leaving[..., :1]), leaving[..., kinds - 1 : -1 : kinds]], axis=-1
    )
    return np.asarray(leaving[..., -1:] - starts)


def whole_cells(life: LifeTable) -> Array:
    """Estimated counts as whole numbers in order of time: (…, m).

    Events by cause, then people censored, of interval 1, 2, …, and people beyond.
    """
    inside = life.counts[..., :-1]
    by_kind = inside.reshape(*inside.shape[:-1], -1, life.cells.n_intervals)
    in_time = by_kind.swapaxes(-1, -2).reshape(inside.shape)
    sums = np.cumsum(np.concatenate([in_time, life.counts[..., -1:]], axis=-1), axis=-1)
    return np.asarray(np.diff(np.floor(sums + 0.5), axis=-1, prepend=0.0))
