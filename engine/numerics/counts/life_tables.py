"""Survival and cumulative incidence from counts by interval: the actuarial life table.

With d events and c censored people in interval k, Y people at risk at its start, W = Y − c/2 and
the hazard h = d/W, held to [0, 1],

    S_k = Π_{i≤k} (1 − h_i),    CIF_jk = Σ_{i≤k} S_{i−1} h_i d_ji/d_i.

W would be Y − c if all c were censored at the start of the interval, and Y if at its end. The
counts do not tell, and limits allow for both.

Gradients count everybody: Y is the sum of all later cells, so that they hold whether the size of a
group is known or not. With a known total the two ways differ by a constant along the cells, which
`CountTable` takes off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.core.arrays import Array, Flags
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
    # the share of their interval that people censored within it are taken to miss
    unexposed: float = _ACTUARIAL

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
        leaving = np.concatenate(
            [self.events.sum(axis=-2) + self.censored, self.counts[..., -1:]], axis=-1
        )
        return np.asarray(np.cumsum(leaving[..., ::-1], axis=-1)[..., ::-1])

    @cached_property
    def hazards(self) -> Array:
        """H by cause, together at most 1: (…, J, K)."""
        exposed = self.at_risk[..., :-1] - self.unexposed * self.censored
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where((exposed > 0)[..., None, :], self.events / exposed[..., None, :], 0.0)
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
        """If all are censored at the start of their interval: fewest people at risk."""
        return replace(self, unexposed=1.0)

    @cached_property
    def of_late_censoring(self) -> LifeTable:
        """If all are censored at its end."""
        return replace(self, unexposed=0.0)

    @cached_property
    def survival_extremes(self) -> tuple[Array, Array]:
        """S if all are censored at the start of their interval, and at its end: (…, K) each.

        The counts do not tell when within its interval a person was censored. Between these two
        lies what the people of these counts would give, wherever that was; S takes the middle.
        """
        return self.of_early_censoring.survival, self.of_late_censoring.survival

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
        exposed, events = self._held
        rest = exposed - events
        of_events = -1 / rest
        of_exposed = events / (exposed * rest)
        steps = (
            of_events[..., None] * self.marks[0].sum(axis=0) + of_exposed[..., None] * self.marks[1]
        )
        return np.asarray(self.survival[..., None] * np.cumsum(steps, axis=-2))

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
        """∂Y_k/∂x, 1 for every cell that comes later: (K + 1, m)."""
        intervals = self.cells.n_intervals
        interval = np.concatenate(
            [np.tile(np.arange(intervals), self.cells.n_causes + 1), [intervals]]
        )
        return np.asarray(interval >= np.arange(intervals + 1)[:, None], dtype=float)

    @property
    def _held(self) -> tuple[Array, Array]:
        exposed = np.maximum(self.at_risk[..., :-1] - self.unexposed * self.censored, _FLOOR)
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


def life_tables(table: CountTable) -> list[LifeTable]:
    """The life table of every group of a released table."""
    return [LifeTable(table.estimated[..., g, :], table.cells) for g in range(table.cells.n_groups)]


def is_shown(table: CountTable, life: LifeTable, min_at_risk: float = MIN_SHOWN) -> Flags:
    """True for intervals that are drawn: those before too few are left, by the noisy counts.

    Interval k is, while the estimated number at risk at its end is `min_at_risk` or more, and three
    standard deviations of its noise or more. True counts are never compared with a limit: that
    would break the guarantee.
    """
    intervals, kinds = life.cells.n_intervals, life.cells.n_causes + 1
    remaining = life.cells.size - kinds * np.arange(1, intervals + 1)
    limit = np.maximum(min_at_risk, _CERTAIN * table.spread_of_remaining(remaining))
    return np.asarray(np.logical_and.accumulate(life.at_risk[..., 1:] >= limit, axis=-1))


def of_group(gradient: Array, group: int, n_groups: int) -> Array:
    """Extend a gradient (…, q, m) of one group by 0 for others: (…, q, groups, m)."""
    out = np.zeros((*gradient.shape[:-1], n_groups, gradient.shape[-1]))
    out[..., group, :] = gradient
    return out


def whole_at_risk(life: LifeTable) -> Array:
    """Numbers at risk as whole numbers that fall: (…, K + 1).

    Estimated counts in order of time are summed and rounded, so that every cell is within 1 of its
    estimate and all add up to the whole number of people.
    """
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
