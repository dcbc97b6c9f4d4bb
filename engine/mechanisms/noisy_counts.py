"""Survival, incidence, distributions and ROC curves from one release of noised counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from engine.core.enumerations import Guarantee, NoiseLaw
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.registry import param
from engine.core.tasks import SURVIVAL, TASKS, Task
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Composition,
    EventData,
    EventFacts,
    Fit,
    LateCautions,
    Plan,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.adaptive.rules import nothing_spent
from engine.noise.laplace import laplace
from engine.numerics.counts.cells import Cells, EntryCells, VisitCells, entered, equal_edges
from engine.numerics.counts.estimands import ESTIMANDS, CountedEstimand
from engine.numerics.counts.tables import CountTable, discretised, variance_of_discrete
from engine.numerics.eigensystems import Grid
from engine.numerics.tabulated import Tabulated
from engine.privacy import transcript
from engine.privacy.feasibility import CountFeasibility

COUNTS = Step("counts", "counts of people by interval and outcome")
ENTRIES = Step("entries", "counts of people by interval of entry")
SENSITIVITY = 2.0  # of all counts of one table together, in sum of sizes
_ENTRY_SHARE = 0.35  # of ε: errors are .041, .034, .036 at .2, .35, .5 (500 people, ε = 1)
WEAK_LABELS = "People with or without the label are hardly more than the noise in their number."
_FEWEST, _MAX = 4, 60  # intervals by the rule
_PER_INTERVAL, _POWER = 0.85, 0.4
_FOR_CAUSES, _FOR_GROUPS = 0.8, 0.75  # times as many as for one survival curve


@dataclass(frozen=True)
class CountPlan(Plan):
    """The table that is released, fixed before any row is looked at."""

    cells: Cells
    # public numbers of people, for all cells or for each group; see `CountTable`
    totals: tuple[float, ...]
    # scales, weights: of each site: the scale of its noise, and what its counts are multiplied by
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    spread: float
    verdict: CountFeasibility
    group_weights: tuple[float, ...] = ()  # of one adjusted curve
    # of each site's counts of entries; none without late entry
    entry_scales: tuple[float, ...] = ()

    @property
    def entry_cells(self) -> EntryCells:
        """Cells of entries, with the intervals of exits."""
        return EntryCells(self.cells.edges, n_groups=self.cells.n_groups)

    @property
    def tuning(self) -> dict[str, Any]:
        return {"intervals": self.cells.n_intervals}

    def table(self, noisy: Array, noisy_entries: Array | None = None) -> CountTable:
        """Tabulate released counts from weighted sums over sites.

        Those of exits are (…, groups, m), and those of entries (…, groups, K + 2).
        """
        public = (self.weights, self.spread)
        entries = None
        if noisy_entries is not None:
            entries = CountTable(
                self.entry_cells, noisy_entries, self.totals, self.entry_scales, *public
            )
        return CountTable(
            self.cells, noisy, self.totals, self.scales, *public, self.group_weights, entries
        )

    def stand_in(self, shape: tuple[int, ...]) -> CountTable:
        """Make the table where nothing is released: everybody from the first cell to the last.

        `shape` holds the axes before groups and cells.
        """
        each = sum(self.totals) / self.cells.n_groups
        counts = np.zeros((*shape, self.cells.n_groups, self.cells.size))
        counts[..., -1] = each
        if not self.entry_scales:
            return self.table(counts)
        entries = np.zeros((*shape, self.cells.n_groups, self.entry_cells.size))
        entries[..., 0] = each
        return self.table(counts, entries)


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class NoisyCounts(Mechanism[EventData, CountPlan]):
    """Count people by interval and outcome, add whole-number noise to each count, and compute.

    The follow-up from 0 to a public horizon is cut into K public intervals. A person is in exactly
    one of m cells: an event in interval k, by cause; censored in interval k; or still under
    observation at the horizon. The m counts are released with independent discrete Laplace noise
    of scale 2/ε. Everything else follows from them and public numbers: they are moved to the
    nearest counts without a negative one that have the known total, and from these come the
    life table, cumulative incidence, numbers at risk, bands, and tests. For a distribution people
    are counted by interval of their value; for an ROC curve by interval of their score, and label.

    *How many intervals.* K = round(0.85 (nε)^0.4), from 4 to 60, from public numbers alone; for
    several causes 0.8 K, for groups 0.75 K of the smallest one, rounded up, for a distribution
    1.5 K. An adjusted curve has K of the smallest group. Noise in a curve grows like √K/(nε), what
    a monotone cubic misses falls like K⁻².

    *Sites.* Each adds its own noise, and the centre adds up what they send with weights
    1/(1 + mτ_s²/n_s), which supposes that they see alike people. Public sizes of groups are those
    over all sites; they are used where all weights are equal.

    Notes
    -----
    *Privacy.* The cell of a row is a function of that row alone, whatever it holds: no row is left
    out, so that the number of people n is public and stays. Replacing a person moves one count down
    by 1 and one up by 1, or none: ‖x − x′‖₁ ≤ 2. With P(noise = k) ∝ exp(−|k|ε/2) in each count,
    P(y | x)/P(y | x′) = exp((‖y − x′‖₁ − ‖y − x‖₁) ε/2) ≤ e^ε. It is attained where y is at most
    both counts in the one cell and at least both in the other. δ = 0, whatever δ is asked: the ℓ₂
    sensitivity is √2, so Gaussian noise at δ = 1/n² has 1.9 to 9 times the variance. Where the
    sizes of groups are public, neighbours keep their group and the same bound holds; where they are
    not, a person may change group, and moves two of the 2m counts as well. Sites share nobody.
    Sums over cells, such as numbers at risk, would have ℓ₁ sensitivity m − 1 if they were sent;
    they are computed afterwards.

    *Late entry* (left truncation). A person is (entry, exit, status), and there are two tables: the
    m cells of exits, and K + 2 cells of entries (at or before the start, in interval 1 … K, after
    the end). A row has one cell in each, whatever it holds and by that row alone: an entry that is
    no number is one at the start, an entry after the exit is one at the exit. Replacing a row moves
    each table by 2 or by 0 in ℓ₁. With noise scales b_in = 2/(wε) and b_out = 2/((1 − w)ε),
    P(both | x)/P(both | x′) ≤ exp(2/b_in + 2/b_out) = e^ε. It is attained where entry and exit both
    change their cells. Each table is a line of the ledger, and the lines of one person add.

    *Adjusted curves.* Groups with public weights w_g (strata) give one curve Σ w_g S_g. Its table
    is that of any groups: where sizes are public a neighbour keeps the group, and replacing a
    person moves two counts of one group; where they are not, as at sites that see their own people
    alone, it moves two of all counts. The bound is 2 with one group or with twelve, and everybody
    has the whole ε. Weights and sums come after the noise.

    *Visits* (interval censoring). Where everybody is seen at the same K public visits, of which
    some are missed, a person is (last visit without the event, first visit with it): one of
    (K + 1)(K + 2)/2 cells of one table, by that row alone. A time is that of the nearest visit;
    what is no number is the start, or no visit with the event. If the two contradict each other the
    visit with the event counts. The bound is 2, and everybody has the whole ε. Cells grow like K²,
    so there are at most ten visits.

    *Limits.* Bands suppose that censoring, late entry and missed visits are independent of events,
    as ordinary ones do.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2012) for discrete Laplace noise. The rest is derived for
    this project.

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.event_times import EventTimes
    >>> data = EventTimes(n_curves=228).draw(1, generator(1, 0, 0))
    >>> estimate = NoisyCounts().release(data, (Budget(1.0),), generator(1, 1, 0))
    >>> estimate.tuning[0], estimate.released[0].noisy.shape  # (repeats, draws, groups, cells)
    ({'intervals': 7}, (1, 1, 1, 15))
    """

    key = "noisy_counts"
    label = "Noised counts"
    order = 10
    tasks = frozenset(ESTIMANDS)
    sends_sums = True
    averages_all = True
    reads_any_size = True
    guarantee = Guarantee.PURE
    family = "counting"
    measured = "Counting curves"
    reference = "discrete Laplace noise on counts by interval; derived for this project"
    formula = (
        r"y = x + z,\quad P(z_j = k) \propto e^{-|k|\varepsilon/2},\qquad "
        r"\hat S(e_k) = \prod_{i \le k}\Big(1 - \tfrac{\hat d_i}{\hat Y_i - \hat c_i/2}"
        r"\Big)"
    )

    task: str = param(
        SURVIVAL.key, "Curve", "What is computed from the counts.", choices=tuple(ESTIMANDS)
    )
    intervals: int | None = param(
        None,
        "Intervals",
        "Into which the follow-up, or the stated range, is cut. Default: from "
        "the public numbers of people and ε.",
        low=2,
        high=400,
        symbol="K",
    )
    equal_weights: bool = param(
        False,
        "Count every person equally",
        "Over sites. Otherwise sites with more noise count "
        "less, which supposes that all see alike people.",
    )

    least_at_risk: int = param(
        10,
        "Fewest at risk",
        "A curve is shown while at least so many people are left at risk. It "
        "is compared with noised counts, never with true ones, and so costs no privacy.",
        low=5,
        high=10_000,
        only_for=tuple(key for key, estimand in ESTIMANDS.items() if estimand.is_followed),
    )

    entry_share: float = param(
        _ENTRY_SHARE,
        "Share of ε for entries",
        "Where people come under observation late, their entries are counted as well. The rest of "
        "ε is for exits.",
        low=0.1,
        high=0.9,
        only_for=tuple(key for key, estimand in ESTIMANDS.items() if estimand.takes_entry),
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return tuple((f"{cls.label}: {TASKS[task].label}", {"task": task}) for task in ESTIMANDS)

    @classmethod
    def presets_for(cls, task: str) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {"task": task}),)

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(Trial({"task": task}, Budget(1.5)) for task in ESTIMANDS)

    @property
    def served(self) -> frozenset[str]:
        return frozenset({self.task})

    @property
    def main_task(self) -> Task:
        return TASKS[self.task]

    @property
    def estimand(self) -> CountedEstimand:
        """Estimand computed from the counts."""
        return ESTIMANDS[self.task]

    def why_not_published(self, budget: Budget) -> str:
        return ""

    # -- fixed before any row is looked at ------------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CountPlan:
        """The table, its noise and the ledger."""
        facts, people = _of_events(public.facts), np.array(public.sizes.n_curves_per_server)
        if not people.all():
            raise InputError(
                "Every site needs at least one person.",
                field="server",
                hint="Number sites without gaps.",
            )
        self.estimand.check_facts(facts)
        entries, exits = self._split(facts, budgets)
        scales, entry_scales = (
            np.array([SENSITIVITY / budget.epsilon for budget in part]) for part in (exits, entries)
        )
        variances, of_entries = (
            np.array([variance_of_discrete(scale) for scale in each])
            for each in (scales, entry_scales)
        )
        cells = self.cells(facts, public.sizes.n_curves, self._effective_epsilon(budgets))
        noise_of_all = cells.size * variances
        if entries:
            noise_of_all = noise_of_all + EntryCells(cells.edges).size * of_entries
        weights = (
            np.ones(len(people))
            if self.equal_weights
            else (1 / (1 + cells.n_groups * noise_of_all / people))
        )
        weights = weights / weights.max()
        total = float(weights @ people)
        knows_groups = self._states_groups(facts) and bool((weights == 1).all())
        totals = tuple(map(float, facts.group_sizes)) if knows_groups else (total,)
        # by s of the smallest group: noise in one cumulative share, by its m cells
        smallest = min(totals) if len(totals) == cells.n_groups else sum(totals) / cells.n_groups
        noise = math.sqrt(float(weights**2 @ variances) * (cells.size + 1) / 6) / smallest
        verdict = CountFeasibility(smallest * self._effective_epsilon(exits), noise=noise)
        spends = tuple(
            _spend(s, step, part[s], budget)
            for s, budget in enumerate(budgets)
            for step, part in ((ENTRIES, entries), (COUNTS, exits))
            if part
        )
        if not verdict.is_feasible:
            spends = nothing_spent(budgets, Unit.PERSON)
        return CountPlan(
            cells,
            totals,
            tuple(scales.tolist()),
            tuple(weights.tolist()),
            float(weights**2 @ people) / total,
            verdict,
            facts.group_weights,
            tuple(entry_scales.tolist()),
            spends=spends,
        )

    def _split(
        self, facts: EventFacts, budgets: tuple[Budget, ...]
    ) -> tuple[tuple[Budget, ...], tuple[Budget, ...]]:
        """Budgets of the counts of entries, none without late entry, and of exits."""
        if not facts.late_entry:
            return (), budgets
        share = self.entry_share
        entries, exits = (
            tuple(replace(budget, epsilon=part * budget.epsilon) for budget in budgets)
            for part in (share, 1 - share)
        )
        return entries, exits

    def cells(self, facts: EventFacts, n_people: int, epsilon: float) -> Cells:
        """The cells that are counted, from public numbers alone.

        ε is that of one centre with as much noise as all sites together.
        """
        causes, has_groups = self.estimand.n_causes(facts), bool(self.estimand.groups(facts))
        edges, is_of_visits = facts.edges, facts.at_visits
        if not is_of_visits and (self.intervals is not None or not edges):
            if has_groups:  # people of the smallest one: as stated, or an equal part of all
                sizes = facts.group_sizes
                n_people = min(sizes) if sizes else n_people // len(facts.groups)
            are_compared = has_groups and not facts.group_weights
            n_intervals = self.intervals or self._n_intervals(
                n_people, epsilon, causes, are_compared
            )
            edges = equal_edges(facts.time_low, facts.time_high, n_intervals)
        kind = VisitCells if is_of_visits else Cells
        return kind(
            edges,
            self.estimand.counted,
            causes,
            len(facts.causes),
            len(facts.groups) if has_groups else 1,
            facts.time_step,
        )

    def _n_intervals(self, n_people: int, epsilon: float, n_causes: int, has_groups: bool) -> int:
        """K: its own rule for each kind of curve, from one rule for a survival curve."""
        share = _FOR_CAUSES if n_causes > 1 else self.estimand.refinement
        default = max(_FEWEST, round(share * usual_intervals(n_people, epsilon)))
        return max(_FEWEST, math.ceil(_FOR_GROUPS * default)) if has_groups else default

    def _effective_epsilon(self, budgets: tuple[Budget, ...]) -> float:
        """The ε of one centre whose counts have as much noise as the sum over sites.

        √(τ²(1)/Σ τ_s²), τ² the variance of a count; of a single site its own.
        """
        if len(budgets) == 1:
            return budgets[0].epsilon
        noise = sum(variance_of_discrete(SENSITIVITY / budget.epsilon) for budget in budgets)
        return math.sqrt(variance_of_discrete(SENSITIVITY) / noise) if noise else math.inf

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> CountFeasibility:
        """The verdict for one group and one cause, the least that these sizes can be used for."""
        facts = EventFacts(causes=("1", "2") if self.estimand.tells_causes else ("1",))
        plan: CountPlan = self.plan(Public(sizes, facts), budgets)
        return plan.verdict

    def _states_groups(self, facts: EventFacts) -> bool:
        """True if the size of each group over all sites is public.

        Where all sites have the same weight, their sum has these totals; else nobody knows them.
        """
        return bool(self.estimand.groups(facts) and facts.group_sizes)

    # -- releases ---------------------------------------------------------------------------------

    def validated(self, data: EventData) -> EventData:
        """The data, of which groups are as large as was stated."""
        if not isinstance(data, EventData):
            raise InputError(
                "Counts are made of people with one time each.",
                field="source",
                hint="Choose data with a time and a status.",
            )
        facts = data.facts
        if self._states_groups(facts) and data.group is not None and data.counts_as is None:
            sizes = facts.group_sizes
            found = np.stack([(data.group == g).sum(axis=1) for g in range(1, len(sizes))])
            others = np.array(sizes[1:])[:, None]
            if (found != others).any() or sum(sizes) != data.n_curves:
                raise InputError(
                    "The sizes of the groups are stated as public, and these are others.",
                    field="group_sizes",
                    hint="State them as they are, or leave them private.",
                )
        if self.estimand.groups(facts) and data.group is None:
            raise InputError("Groups are stated, but nobody’s group is known.", field="group")
        if facts.late_entry and data.entry is None:
            raise InputError("Late entry is stated, but nobody’s entry is known.", field="entry")
        if facts.at_visits and data.without is None:
            raise InputError(
                "Visits are stated, but nobody’s last visit without the event is known.",
                field="without",
            )
        return data

    def ignores_order(self, facts: PublicFacts) -> bool:
        """True: a count of people is the same whole number in any order."""
        return True

    def fitted(
        self, data: EventData, plans: Sequence[CountPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Counts of every site with noise, their weighted sum, and the curves they give."""
        n_cells = max(plan.cells.n_groups * plan.cells.size for plan in plans)
        shape = (data.n_repeats, draws, data.sizes.n_servers)
        standard = laplace((*shape, n_cells), rng)
        of_entries = None
        if data.facts.late_entry:
            n_cells = max(plan.cells.n_groups * plan.entry_cells.size for plan in plans)
            of_entries = laplace((*shape, n_cells), rng)
        exact = [self.counts(data, plan) for plan in plans]
        entries = [self.entries(data, plan) for plan in plans]
        tables = [
            self._with_entries(plan, self._released(data, plan, counts, standard), each, of_entries)
            for plan, counts, each in zip(plans, exact, entries, strict=True)
        ]
        curves = [
            self.estimand.curves(table or plan.stand_in(shape[:2]), self.least_at_risk)
            for table, plan in zip(tables, plans, strict=True)
        ]
        unprotected = [
            self.estimand.curves(self._noiseless(plan, counts, each), self.least_at_risk)
            for plan, counts, each in zip(plans, exact, entries, strict=True)
        ]
        judge = partial(_doubts, self.estimand, tables, (data.n_repeats, draws))
        return Fit(
            basis=_basis(),
            coefficients=np.stack(curves),
            unprotected=np.stack(unprotected),
            cautions=LateCautions(judge),
            functions=self.estimand.names(data.facts),
            released=tuple(tables),
        )

    def counts(self, data: EventData, plan: CountPlan) -> Array:
        """Count people in each cell at each site, before noise: (repeats, sites, groups, m)."""
        return plan.cells.counts(
            data.time, data.status, data.group, data.server, data.sizes.n_servers, data.without
        )

    def entries(self, data: EventData, plan: CountPlan) -> Array | None:
        """Count people by entry at each site, before noise: (repeats, sites, groups, K + 2)."""
        if data.entry is None or not plan.entry_scales:
            return None
        entry = entered(data.entry, data.time)
        return plan.entry_cells.counts(
            entry, data.status, data.group, data.server, data.sizes.n_servers
        )

    def _released(
        self, data: EventData, plan: CountPlan, exact: Array, standard: Array
    ) -> CountTable | None:
        """The table, counts with noise (repeats, draws, groups, m); None where none is released."""
        if not plan.verdict.is_feasible:
            return None
        scales = self.noise_scales(plan)
        return plan.table(self._sent(plan, COUNTS, exact, standard, scales, plan.scales))

    def _with_entries(
        self, plan: CountPlan, table: CountTable | None, exact: Array | None, standard: Array | None
    ) -> CountTable | None:
        """A released table with that of entries, if people enter late."""
        if table is None or exact is None or standard is None:
            return table
        scales = plan.entry_scales
        return plan.table(table.noisy, self._sent(plan, ENTRIES, exact, standard, scales, scales))

    def _sent(
        self,
        plan: CountPlan,
        step: Step,
        exact: Array,
        standard: Array,
        drawn: tuple[float, ...],
        stated: tuple[float, ...],
    ) -> Array:
        """Weighted sums over sites of counts with noise of the drawn scales."""
        flat = exact.reshape(*exact.shape[:2], -1)[:, None]  # (repeats, 1, sites, cells)
        noise = np.stack(
            [
                discretised(standard[:, :, s, : flat.shape[-1]], scale)
                for s, scale in enumerate(drawn)
            ],
            axis=2,
        )
        spread = np.sqrt([variance_of_discrete(scale) for scale in stated])
        sent = transcript.sent_by_each(step, flat + noise, spread[:, None])
        shape = (*sent.shape[:3], *exact.shape[2:])
        return self._combined(plan, sent.reshape(shape))

    def _noiseless(self, plan: CountPlan, exact: Array, entered: Array | None = None) -> CountTable:
        """The table of counts (repeats, sites, groups, cells) to which no noise is added."""
        entries = None if entered is None else self._combined(plan, entered)
        return plan.table(self._combined(plan, exact), entries).without_noise()

    def noise_scales(self, plan: CountPlan) -> tuple[float, ...]:
        """Scale b of the noise that each site draws, in people, as the plan states it: (sites,)."""
        return plan.scales

    def _combined(self, plan: CountPlan, by_site: Array) -> Array:
        """Weighted sums over sites of (…, sites, groups, m): (…, groups, m)."""
        return np.asarray(np.einsum("s,...sgm->...gm", np.asarray(plan.weights), by_site))

    def exact_fit(self, data: EventData) -> Fit:
        """The ordinary curves: product-limit, empirical distribution, or ROC curve."""
        estimand, facts, rows = self.estimand, data.facts, list[Array]()
        group = data.group if estimand.groups(facts) else None
        for r in range(data.n_repeats):
            parts: list[Any] = [slice(None)]
            if group is not None:
                others = [group[r] == g for g in range(1, len(facts.groups))]
                parts = [~np.logical_or.reduce(others), *others]
            curves = [
                estimand.exact(
                    data.time[r][part],
                    data.status[r][part],
                    facts,
                    None if data.earlier is None else data.earlier[r][part],
                )
                for part in parts
            ]
            if facts.group_weights:
                rows.append(np.asarray(facts.group_weights) @ np.stack(curves))
            elif len(parts) == 1:
                rows.append(curves[0])
            else:
                rows.append(np.concatenate([np.atleast_2d(each) for each in curves]))
        return Fit.exact(_basis(), np.stack(rows), functions=estimand.names(facts))


def _doubts(
    estimand: CountedEstimand, tables: Sequence[CountTable | None], releases: tuple[int, int]
) -> tuple[Caution, ...]:
    """Compare released tables with the curves that follow from them."""
    weak = np.zeros((len(tables), *releases), dtype=bool)
    for k, table in enumerate(tables):
        curve = None if table is None else estimand.roc(table)
        if curve is not None:
            weak[k] = curve.is_weak
    return (Caution(WEAK_LABELS, weak, SaidIn.LINE),) if weak.any() else ()


def usual_intervals(n_people: int, epsilon: float) -> int:
    """K = round(0.85 (nε)^0.4), from 4 to 60.

    Examples
    --------
    >>> usual_intervals(228, 1.0), usual_intervals(1000, 1.0), usual_intervals(100, 0.5)
    (7, 13, 4)
    """
    target = _PER_INTERVAL * min(n_people * epsilon, 1e12) ** _POWER
    return int(min(max(round(target), _FEWEST), _MAX))


def _of_events(facts: PublicFacts) -> EventFacts:
    if not isinstance(facts, EventFacts):
        raise InputError(
            "Counts are made of people with one time each.",
            field="source",
            hint="Choose data with a time and a status.",
        )
    return facts


def _spend(server: int, step: Step, part: Budget, budget: Budget) -> Spend:
    return Spend(
        step=step,
        server=server,
        mu=None,
        epsilon=part.epsilon,
        sensitivity=(SENSITIVITY,),
        noise_scale=(SENSITIVITY / part.epsilon,),
        count=1,
        composition=Composition.SEQUENTIAL,
        budget=budget,
        unit=Unit.PERSON,
        norm="ℓ1",
        noise=NoiseLaw.DISCRETE_LAPLACE,
        why=(
            "Each person is in one cell: replacing a person moves one count up by 1 and another "
            "down by 1. All that is drawn follows from the noised counts."
        ),
    )


@lru_cache(maxsize=1)
def _basis() -> Tabulated:
    return Tabulated(Grid(tuple(drawing_grid().tolist())))
