"""Tables of counts with one bug each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, EventData, Public
from engine.mechanisms.noisy_counts import COUNTS, SENSITIVITY, CountPlan, NoisyCounts
from engine.numerics.counts.cells import Cells, equal_edges
from engine.numerics.counts.tables import CountTable
from engine.privacy import transcript

_BUDGET = Budget(1.5)
_NOISE_ON_TIMES = 0.1  # of the follow-up: enough to hide a day, and not that somebody died


class _Counts(Broken, NoisyCounts):
    """Counts of people by interval and outcome."""

    def of_each(self, data: EventData, plan: CountPlan, cells: list[Cells]) -> Array:
        """Counts by cells that differ between data sets, in a table as large as the planned one."""
        table = np.zeros(
            (data.n_repeats, data.sizes.n_servers, plan.cells.n_groups, plan.cells.size)
        )
        for r, cells_of in enumerate(cells):
            data_set = data.repeat(r)
            counts = cells_of.counts(
                data_set.time, data_set.status, data_set.group, data_set.server, table.shape[1]
            )
            used = min(cells_of.size, plan.cells.size)
            table[r, ..., :used] = counts[0, ..., :used]
        return table


@bug(_BUDGET)
class NumbersAtRiskAreSent(_Counts):
    """Sums over cells are sent with the noise of single cells, and one person moves many sums."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        return np.cumsum(super().counts(data, plan), axis=-1)


@bug(_BUDGET)
class NoiseForOneCount(_Counts):
    """The noise is that for one count that moves by 1, but a person who moves changes two."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CountPlan:
        plan = super().planned(public, budgets)
        return replace(plan, scales=tuple(scale / 2 for scale in plan.scales))


@bug(_BUDGET)
class IntervalsFromTheData(_Counts):
    """There is an interval for every two events, so that their number is told exactly."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        events = ((data.status > 0) & (data.time <= 1)).sum(axis=1)
        return self.of_each(
            data,
            plan,
            [replace(plan.cells, edges=equal_edges(0.0, 1.0, max(2, int(k) // 2))) for k in events],
        )


@bug(_BUDGET)
class EdgesAtQuantiles(_Counts):
    """Intervals are cut at quantiles of the times, which one person can move."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        shares = np.linspace(0.0, 1.0, plan.cells.n_intervals + 1)[1:-1]
        times = np.clip(np.nan_to_num(data.time, nan=0.0), 1e-6, 1 - 1e-6)
        inner = np.quantile(times, shares, axis=1).T
        return self.of_each(
            data,
            plan,
            [replace(plan.cells, edges=(0.0, *sorted(set(row.tolist())), 1.0)) for row in inner],
        )


@bug(_BUDGET)
class HorizonFromTheData(_Counts):
    """The follow-up ends at the longest time seen, which one person alone decides."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        last = np.nan_to_num(data.time, nan=0.0, posinf=1e9, neginf=0.0).max(axis=1)
        return self.of_each(
            data,
            plan,
            [
                replace(plan.cells, edges=equal_edges(0.0, float(end), plan.cells.n_intervals))
                for end in np.maximum(last, 1e-6)
            ],
        )


@bug(_BUDGET)
class UnknownStatusIsDropped(_Counts):
    """Rows whose status is no stated code are left out, and how many people are left is exact."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        known = (data.status >= 0) & (data.status <= plan.cells.n_codes)
        counts = super().counts(data, plan)
        return np.asarray(counts * known.mean(axis=1)[:, None, None, None])


@bug(_BUDGET)
class SmallCountsAreSuppressed(_Counts):
    """Cells with fewer than three people are printed as 0, which is decided by the true counts."""

    def _released(
        self, data: EventData, plan: CountPlan, exact: Array, standard: Array
    ) -> CountTable | None:
        table = super()._released(data, plan, exact, standard)
        if table is None:
            return None
        true = self._combined(plan, exact)[:, None]
        return replace(table, noisy=np.where(true < 3, 0.0, table.noisy))


@bug(_BUDGET)
class GroupSizesAreReadOff(_Counts):
    """The sizes of groups are private, but the released counts are made to add up to them."""

    def _released(
        self, data: EventData, plan: CountPlan, exact: Array, standard: Array
    ) -> CountTable | None:
        table = super()._released(data, plan, exact, standard)
        if table is None or data.group is None:
            return table
        size = self._combined(plan, exact).sum(axis=-1)[:, None, :, None]
        excess = table.noisy.sum(axis=-1, keepdims=True) - size
        return replace(table, noisy=table.noisy - excess / plan.cells.size)


@bug(_BUDGET)
class LessNoiseWhereFewAreAtRisk(_Counts):
    """Noise falls with the number at risk, as if few people at risk could change a curve less."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        exact = super().counts(data, plan)
        at_risk = np.cumsum(exact[..., ::-1], axis=-1)[..., ::-1]
        share = at_risk / at_risk.max(axis=-1, keepdims=True)
        return np.asarray(exact / np.maximum(share, 0.05))


@bug(_BUDGET)
class NoiseOnTimesAlone(_Counts):
    """Every time gets noise and how it ended gets none, so that the number of events is exact."""

    def _released(
        self, data: EventData, plan: CountPlan, exact: Array, standard: Array
    ) -> CountTable | None:
        repeats, draws, sites = standard.shape[:3]
        rng = np.random.default_rng(np.frombuffer(standard[:1, 0, 0, :2].tobytes(), np.uint64))
        shape = (repeats, draws, data.n_curves)
        times = data.time[:, None] + _NOISE_ON_TIMES * rng.laplace(size=shape)
        status, group = (
            None
            if each is None
            else np.broadcast_to(each[:, None], shape).reshape(-1, data.n_curves)
            for each in (data.status, data.group)
        )
        assert status is not None
        counts = plan.cells.counts(
            times.reshape(-1, data.n_curves), status, group, data.server, sites
        )
        flat = counts.reshape(repeats, draws, sites, -1)
        sent = transcript.sent_by_each(COUNTS, flat, np.ones((sites, 1)))
        return plan.table(self._combined(plan, sent.reshape(repeats, draws, *counts.shape[1:])))


@bug(_BUDGET)
class EntriesForNothing(_Counts):
    """Counts of exits have the noise of the whole ε, although entries have spent a part of it."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CountPlan:
        plan = super().planned(public, budgets)
        return replace(plan, scales=tuple(SENSITIVITY / budget.epsilon for budget in budgets))


@bug(_BUDGET)
class EntryDecidesTheInterval(_Counts):
    """Intervals begin at the earliest entry, which one person alone decides."""

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        first = (
            np.zeros(data.n_repeats) if data.entry is None else np.nan_to_num(data.entry, nan=0.0)
        )
        starts = np.clip(first.reshape(data.n_repeats, -1).min(axis=1), -1.0, 0.9)
        return self.of_each(
            data,
            plan,
            [
                replace(plan.cells, edges=equal_edges(float(start), 1.0, plan.cells.n_intervals))
                for start in starts
            ],
        )
