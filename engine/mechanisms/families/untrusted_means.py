"""Sparse means from machines that trust nobody: each answers for a few coordinates, privately.

Who answers for what is public: machine i, counted from 0, is asked for the k coordinates
(ik + a) mod d, a = 0 … k − 1, so that all coordinates are asked equally often, give or take one.
The server averages the answers for each coordinate, keeps the largest averages and turns them into
means. What an answer is, and what it hides, is up to the two mechanisms that share this module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import hard_threshold
from engine.core.enumerations import Guarantee, NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import SPARSE_MEAN
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Composition,
    Fit,
    Plan,
    Public,
    PublicFacts,
    SaidIn,
    SampleData,
    Sizes,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms.base import Mechanism
from engine.mechanisms.families.sparse.left_out import MORE_MATTER, chance_limit
from engine.numerics.coordinates import Coordinates
from engine.privacy import transcript


@dataclass(frozen=True)
class AnswerPlan(Plan):
    """Assignment of questions to machines, and their privacy, fixed before any row is read."""

    size: int  # D, the number of coordinates
    per_machine: int  # K, for how many of them each of m machines answers
    epsilon: Array  # (m,): that of one answer
    rows: NDArray[np.int64]  # (m,) array of int64: how many rows of a machine are used
    # sd, bound: numbers have this stated standard deviation and are moved into ±`bound`
    sd: float
    bound: float
    largest_mean: float  # means lie within plus and minus this
    budgets: tuple[Budget, ...] = ()  # the budget that each machine asked for

    @property
    def tuning(self) -> dict[str, Any]:
        return {"per machine": self.per_machine}

    @property
    def coordinates(self) -> NDArray[np.int64]:
        """The coordinates of every machine: (m, k)."""
        machines = len(self.rows)
        return (np.arange(machines * self.per_machine) % self.size).reshape(machines, -1)

    @property
    def is_noisy(self) -> bool:
        return bool(np.isfinite(self.epsilon).any())


@dataclass(frozen=True, kw_only=True)
class UntrustedMean(Mechanism[SampleData, AnswerPlan]):
    """Base of both mechanisms; `protects` says whether a row or a whole machine is hidden.

    A subclass says how many coordinates a machine answers for (`usual_per_machine`), how many rows
    it uses (`rows_used`), what it answers without noise (`answers`) and with it (`private`), and
    how the server reads that: answers are multiplied by `gain`, have variance `variance` of which
    `noise_variance` is due to privacy, and their averages are turned into means by `means`, whose
    slope at 0 is `slope`. Means are held to the largest stated one, which costs nothing. What an
    answer can reveal is in `sensitivity`, `scale` and, in words, `why`.
    """

    tasks = frozenset({SPARSE_MEAN.key})
    guarantee = Guarantee.PURE
    family = "sparse"
    measured = "Sparse regression over machines"
    protects: ClassVar[Unit]
    noise_law: ClassVar[NoiseLaw]
    step: ClassVar[Step]
    why: ClassVar[str]

    sparsity: int | None = param(
        5,
        "Means kept",
        "The largest averages, so many of them; stated, not from the data. Empty: "
        "all beyond a threshold that chance alone rarely passes.",
        low=1,
        high=500,
        symbol="s",
    )
    per_machine: int | None = param(
        None,
        "Coordinates for each machine",
        "Each costs its share of ε. Empty: by a formula from public sizes.",
        low=1,
        high=2000,
        symbol="k",
    )

    def usual_per_machine(self, sizes: Sizes, epsilon: float, facts: PublicFacts) -> int:
        """k, for how many coordinates a machine answers, by a formula."""
        raise NotImplementedError

    def rows_used(self, per_machine: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the rows used from each machine: (m,)."""
        return per_machine

    def answers(self, means: Array) -> Array:
        """Answer for machines from means of their rows, without noise; both (repeats, m, k)."""
        return means

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Randomness of answers, before it has a size: (repeats, draws, m, k)."""
        raise NotImplementedError

    def private(self, answers: Array, plan: AnswerPlan, standard: Array) -> Array:
        """Protect answers (repeats, 1, m, k) as they leave the machines: (repeats, draws, m, k)."""
        raise NotImplementedError

    def noise_sd(self, plan: AnswerPlan) -> Array:
        """Standard deviation of what leaves machines, of equal answers: (m,)."""
        raise NotImplementedError

    def gain(self, plan: AnswerPlan) -> Array:
        """Return the factors of the answers: (m,)."""
        return np.ones(len(plan.rows))

    def variance(self, plan: AnswerPlan) -> Array:
        """Variance of an answer that was multiplied by its gain: (m,)."""
        raise NotImplementedError

    def noise_variance(self, plan: AnswerPlan) -> Array:
        """The part of `variance` that is due to privacy: (m,)."""
        raise NotImplementedError

    def means(self, averages: Array, plan: AnswerPlan) -> Array:
        """Compute means in response units from averages of answers; both (…, d)."""
        return averages

    def slope(self, plan: AnswerPlan) -> float:
        """Slope of `means` at 0."""
        return 1.0

    def sensitivity(self, plan: AnswerPlan) -> Array:
        """The most by which what is protected moves one answer of every machine: (m,)."""
        raise NotImplementedError

    def scale(self, plan: AnswerPlan) -> Array:
        """Noise in one answer of every machine, as the ledger states it: (m,)."""
        raise NotImplementedError

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: SampleData, plans: Sequence[AnswerPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Answers of all machines, averaged by the server; see `Mechanism.fitted`."""
        answers = [self.answers(machine_means(data, plan)) for plan in plans]
        n_answers = max((plan.per_machine for plan in plans if plan.is_noisy), default=0)
        standard = self.standard((data.n_repeats, draws, data.sizes.n_servers, n_answers), rng)
        averages = [
            self.averages(plan, exact, standard) for plan, exact in zip(plans, answers, strict=True)
        ]
        released = [self.read(plan, each) for plan, each in zip(plans, averages, strict=True)]
        noise_free = [
            self.means_of(plan, exact)[:, 0] for plan, exact in zip(plans, answers, strict=True)
        ]
        shape = (data.n_repeats, draws, plans[0].size)
        more = np.stack(
            [
                np.broadcast_to(self._leaves_out(plan, each), shape[:-1])
                for plan, each in zip(plans, averages, strict=True)
            ]
        )
        return Fit(
            basis=Coordinates(plans[0].size),
            unprotected=np.stack(noise_free),
            coefficients=np.stack([np.broadcast_to(means, shape) for means in released]),
            cautions=(Caution(MORE_MATTER, more, SaidIn.LINE),) if more.any() else (),
        )

    def exact_fit(self, data: SampleData) -> Fit:
        """The largest means of all rows together."""
        sizes, facts = data.sizes, data.facts
        check(sizes, facts)
        pooled = clipped(data.x, bound(sizes, facts)).mean(axis=1)
        error = np.full(pooled.shape[-1], facts.reading_sd / math.sqrt(sizes.n_curves))
        return Fit.exact(Coordinates(pooled.shape[-1]), self._largest(pooled, error))

    def means_of(self, plan: AnswerPlan, answers: Array, standard: Array | None = None) -> Array:
        """Means (repeats, draws, d) from answers (repeats, m, k): all of the method on averages.

        For sizes at which rows would not fit into memory. Without randomness, or without any limit,
        no noise is added and there is one draw.
        """
        return self.read(plan, self.averages(plan, answers, standard))

    def averages(self, plan: AnswerPlan, answers: Array, standard: Array | None = None) -> Array:
        """Average the answers that the server hears for each coordinate, as of `means_of`."""
        sent, gain = answers[:, None], np.ones(len(plan.rows))
        if standard is not None and plan.is_noisy:
            gain = self.gain(plan)
            sent = self.private(sent, plan, standard[..., : plan.per_machine])
            sent = transcript.sent_by_each(self.step, sent, self.noise_sd(plan)[:, None])
        weight = 1 / self.variance(plan)
        return np.asarray(
            per_coordinate(sent * (weight * gain)[:, None], plan.size) / self._total(plan, weight)
        )

    def read(self, plan: AnswerPlan, averages: Array) -> Array:
        """Estimate means from what the server hears: the largest averages, and zeros."""
        largest = self._largest(averages, self._error(plan))
        return np.clip(self.means(largest, plan), -plan.largest_mean, plan.largest_mean)

    def _error(self, plan: AnswerPlan) -> Array:
        """Standard error of the averages: (d,)."""
        return np.asarray(1 / np.sqrt(self._total(plan, 1 / self.variance(plan))))

    def _leaves_out(self, plan: AnswerPlan, averages: Array) -> NDArray[np.bool_]:
        """True if an average beyond what chance explains is left out: (repeats, draws)."""
        error = self._error(plan)
        is_left_out = self._largest(averages, error) == 0
        beyond = np.abs(averages) > chance_limit(plan.size) * error
        return np.asarray((is_left_out & beyond).any(axis=-1))

    def _total(self, plan: AnswerPlan, each: Array) -> Array:
        """The sum over machines (m,) that answer for a coordinate, for each: (d,)."""
        return per_coordinate(np.repeat(each[:, None], plan.per_machine, axis=1), plan.size)

    def _largest(self, averages: Array, error: Array) -> Array:
        """The largest of the averages (…, d), the others zero; or those beyond the threshold."""
        sizes = np.abs(averages)
        if self.sparsity is None:
            beyond = sizes > 2 * math.sqrt(2 * math.log(sizes.shape[-1])) * error
            return np.where(beyond, averages, 0.0)
        return hard_threshold(averages, min(self.sparsity, averages.shape[-1]))

    # -- fixed before any row is looked at ----------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> AnswerPlan:
        sizes, facts = public.sizes, public.facts
        check(sizes, facts)
        epsilon = np.array([budget.epsilon for budget in budgets])
        size, machines = sizes.n_covariates, sizes.n_servers
        per_machine = self.per_machine or self.usual_per_machine(sizes, float(epsilon.min()), facts)
        per_machine = min(per_machine, size)
        if per_machine * machines < size:
            raise InputError(
                f"{machines} machines that answer for {per_machine} of {size} coordinates "
                "each leave some unasked.",
                field="n_servers",
                hint="Take more machines, or let each answer for more coordinates.",
            )
        rows = self.rows_used(np.array(sizes.n_curves_per_server))
        return AnswerPlan(
            size,
            per_machine,
            epsilon / per_machine,
            rows,
            facts.reading_sd,
            bound(sizes, facts),
            largest_mean(facts),
            budgets,
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """Forecast the squared error from privacy in the kept means, if they are the right ones.

        In squared response units, near zero; None where a threshold decides what is kept.
        """
        if self.sparsity is None:
            return None
        plan: AnswerPlan = self.plan(Public(sizes, facts), budgets)
        weight = 1 / self.variance(plan)
        added = self._total(plan, weight**2 * self.noise_variance(plan))
        each = added / self._total(plan, weight) ** 2
        return self.slope(plan) ** 2 * min(self.sparsity, plan.size) * float(each.mean())

    def ledger(self, plan: AnswerPlan) -> tuple[Spend, ...]:
        """One line for every machine: its k answers are about the same rows."""
        first = Spend(
            step=self.step,
            server=0,
            mu=None,
            epsilon=0.0,
            count=plan.per_machine,
            composition=Composition.SEQUENTIAL,
            sensitivity=(0.0,),
            noise_scale=(0.0,),
            budget=plan.budgets[0],
            why=self.why,
            unit=self.protects,
            noise=self.noise_law,
            norm="bits that differ" if self.noise_law is NoiseLaw.BITS else "|·|",
        )
        return tuple(
            first.at(
                server,
                epsilon=epsilon,
                sensitivity=(sensitivity,),
                noise_scale=(scale,),
                budget=budget,
            )
            for server, (epsilon, sensitivity, scale, budget) in enumerate(
                zip(
                    plan.epsilon.tolist(),
                    self.sensitivity(plan).tolist(),
                    self.scale(plan).tolist(),
                    plan.budgets,
                    strict=True,
                )
            )
        )


def bound(sizes: Sizes, facts: PublicFacts) -> float:
    """B: the largest stated mean and √(2 log 2N) standard deviations, as for N normal numbers."""
    return largest_mean(facts) + facts.reading_sd * math.sqrt(2 * math.log(2 * sizes.n_curves))


def largest_mean(facts: PublicFacts) -> float:
    """The largest size that a mean may have, from its stated bounds."""
    return max(abs(facts.value_low), abs(facts.value_high))


def machine_means(data: SampleData, plan: AnswerPlan) -> Array:
    """Means of the first rows of every machine, for the coordinates it is asked: (repeats, m, k).

    Numbers are moved into ±B first, and what is no number counts as 0.
    """
    server, counts = data.server, np.bincount(data.server)
    index = np.arange(len(server)) - np.repeat(np.cumsum(counts) - counts, counts)
    used = np.flatnonzero(index < plan.rows[server])
    inside = clipped(data.x[:, used[:, None], plan.coordinates[server[used]]], plan.bound)
    sums = np.add.reduceat(inside, np.cumsum(plan.rows) - plan.rows, axis=1)
    return np.asarray(sums / plan.rows[:, None])


def per_coordinate(values: Array, size: int) -> Array:
    """Sum the machines' values (…, m, k), each for the coordinates it is asked: (…, d).

    Examples
    --------
    >>> per_coordinate(np.array([[1.0, 2.0], [3.0, 4.0]]), size=3)  # asked for 0, 1 and for 2, 0
    array([5., 2., 3.])
    """
    flat = values.reshape(*values.shape[:-2], -1)
    whole, rest = divmod(flat.shape[-1], size)
    rounds = flat[..., : whole * size].reshape(*flat.shape[:-1], whole, size)
    sums = rounds.sum(axis=-2)
    sums[..., :rest] += flat[..., whole * size :]
    return np.asarray(sums)


def clipped(values: Array, limit: float) -> Array:
    """Move values into ±limit; what is no number becomes 0: (…)."""
    inside = np.clip(values, -limit, limit)
    inside[np.isnan(inside)] = 0.0
    return inside


def check(sizes: Sizes, facts: PublicFacts) -> None:
    """Refuse machines without rows and numbers whose spread is not stated."""
    if not all(sizes.n_curves_per_server):
        raise InputError(
            "Every machine needs at least one row.",
            field="server",
            hint="Number machines without gaps.",
        )
    if facts.reading_sd <= 0:
        raise InputError(
            "The standard deviation of the numbers must be stated.",
            field="reading_sd",
            hint="Give a public guess above zero.",
        )
