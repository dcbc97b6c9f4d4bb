"""A sparse mean from a trusted server, which pools all rows: what trust is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.arrays import hard_threshold
from engine.core.enumerations import Guarantee, NoiseLaw
from engine.core.registry import param
from engine.core.tasks import SPARSE_MEAN
from engine.core.types import (
    Array,
    Budget,
    Composition,
    Fit,
    Plan,
    Public,
    PublicFacts,
    SampleData,
    Sizes,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.sparse.left_out import with_left_out
from engine.mechanisms.families.untrusted_means import bound, check, clipped, largest_mean
from engine.noise import selection
from engine.noise.selection import GUMBEL, ONE_SHOT, Scales, SelectionLaw
from engine.numerics.coordinates import Coordinates
from engine.privacy import accounting, transcript

CHOICE, VALUES = Step("choice"), Step("values")
MEANS = Step("means", charged_to=(CHOICE.key, VALUES.key))


@dataclass(frozen=True)
class CentrePlan(Plan):
    """One budget: how entries are chosen, how far a row moves the mean, and the noise."""

    law: SelectionLaw
    n_selected: int
    sensitivity: float  # Λ, the most by which a row moves an entry of the mean
    scales: Scales  # those of the noise in the choice and in the values
    bound: float  # numbers are clipped to plus and minus this
    largest_mean: float
    budgets: tuple[Budget, ...]  # the budget that each machine asked for


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseMeanTrusted(Mechanism[SampleData, CentrePlan]):
    """The server averages all N rows, chooses the s largest means with noise and releases those.

    Numbers are clipped to ±B, B = max|μ| + σ √(2 log 2N), both stated. With δ > 0 the choice is
    by Gumbel noise and values have Gaussian noise, half of ρ each; with δ = 0 one Laplace noise
    serves the choice, and fresh noise of the same scale 3sλ/ε the values.

    Notes
    -----
    *Unit of protection.* One row of one machine. The server sees exact sums: it must be trusted.

    *Privacy.* Replacing a row moves every entry of the mean by at most λ = 2B/N, and costs of the
    choice and of the values are those of `noise.selection`. One centre has one noise, so that the
    smallest budget of all machines holds for everybody. What is no number counts as 0.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithm 1; Durfee and Rogers (2019); Qiao,
    Su and Zhang (2021), with the cost of the values, which they leave out.
    """

    key = "sparse_mean_trusted"
    label = "Trusted server"
    order = 30
    dash, marker = "12px,3px,2px,3px", "square"
    measured = "Sparse regression over machines"
    tasks = frozenset({SPARSE_MEAN.key})
    guarantee = Guarantee.EITHER
    family = "sparse"
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287; Durfee and Rogers (2019)"
    formula = r"\hat\mu = P_S\big(\bar x + Z\big),\qquad S = \mathrm{top}_s(|\bar x_j| + G_j)"

    sparsity: int = param(
        5,
        "Means kept",
        "The largest, so many of them; stated, not from the data.",
        low=1,
        high=500,
        symbol="s",
    )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (Trial(budget=Budget(0.8, 1e-3)), Trial(budget=Budget(0.8)))

    def fitted(
        self, data: SampleData, plans: Sequence[CentrePlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """The mean of all rows, its largest entries chosen and noised; see `Mechanism.fitted`."""
        pooled = self.without_noise(data)
        streams = dict(zip((GUMBEL.key, ONE_SHOT.key), rng.spawn(2), strict=True))
        shape = (data.n_repeats, draws, pooled.shape[-1])
        noise = {
            law.key: selection.draw(law, plans[0].n_selected, shape, streams[law.key])
            for law in {plan.law.key: plan.law for plan in plans}.values()
        }
        quiet = hard_threshold(pooled, plans[0].n_selected)
        fit = Fit(
            basis=Coordinates(shape[-1]),
            unprotected=np.stack([quiet] * len(plans)),
            coefficients=np.stack(
                [self.means_of(pooled[:, None], plan, noise[plan.law.key]) for plan in plans]
            ),
        )
        sampling = data.facts.reading_sd / math.sqrt(data.n_curves)
        deviations = [
            math.hypot(sampling, plan.scales.choice, plan.law.value_deviation * plan.scales.values)
            for plan in plans
        ]
        return with_left_out(fit, deviations, plans[0].n_selected)

    def exact_fit(self, data: SampleData) -> Fit:
        """The largest means of all rows together."""
        size = data.sizes.n_covariates
        return Fit.exact(
            Coordinates(size), hard_threshold(self.without_noise(data), min(self.sparsity, size))
        )

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CentrePlan:
        """The law and the scales of the noise."""
        sizes, facts = public.sizes, public.facts
        check(sizes, facts)
        sparsity, feature_bound = min(self.sparsity, sizes.n_covariates), bound(sizes, facts)
        mean_sensitivity = 2 * feature_bound / sizes.n_curves
        if any(budget.is_pure and budget.is_private for budget in budgets):
            scale = selection.pure_one_shot_scale(
                sparsity, mean_sensitivity, min(b.epsilon for b in budgets)
            )
            law, scales = ONE_SHOT, Scales(scale, scale)
        else:
            law, scales = (
                GUMBEL,
                selection.scales_of(
                    GUMBEL, sparsity, mean_sensitivity, accounting.smallest_rho(budgets)
                ),
            )
        return CentrePlan(
            law, sparsity, mean_sensitivity, scales, feature_bound, largest_mean(facts), budgets
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Variance of the noise in the kept means, in squared response units."""
        plan: CentrePlan = self.plan(Public(sizes, facts), budgets)
        return plan.n_selected * (plan.law.value_deviation * plan.scales.values) ** 2

    def without_noise(self, data: SampleData) -> Array:
        """The mean of all rows, each number clipped to its bound: (repeats, d)."""
        return np.asarray(clipped(data.x, bound(data.sizes, data.facts)).mean(axis=1))

    def means_of(self, pooled: Array, plan: CentrePlan, noise: selection.Draw) -> Array:
        """Choose and noise the largest of the means, then hold them to the largest stated one.

        This is all of the method once rows are averaged: (repeats, 1, d) to (repeats, draws, d).
        """
        transcript.weighed(transcript.CENTRE, MEANS, pooled, plan.law, plan.n_selected, plan.scales)
        noisy = selection.noisy_hard_threshold(
            pooled, plan.n_selected, plan.scales.choice, plan.scales.values, noise
        )
        deviation = plan.law.value_deviation * plan.scales.values
        sent = transcript.sent(
            transcript.CENTRE, MEANS, noisy, np.where(noisy == 0, 0.0, deviation)
        )
        return np.clip(sent, -plan.largest_mean, plan.largest_mean)

    def ledger(self, plan: CentrePlan) -> tuple[Spend, ...]:
        """Two lines of the one centre, repeated for every machine."""
        lines = [
            Spend(
                step=step,
                server=0,
                sensitivity=(plan.sensitivity,),
                noise_scale=(scale,),
                count=1,
                composition=Composition.SEQUENTIAL,
                budget=plan.budgets[0],
                **cost,
                unit=Unit.ROW,
                norm="ℓ∞",
                noise=_noise(plan, step),
                why=(
                    "Protected is one row: replacing it moves each entry of the mean by at most "
                    "its sensitivity. One noise for all; the smallest budget is used."
                ),
            )
            for step, scale, cost in (
                (CHOICE, plan.scales.choice, _choice_cost(plan)),
                (VALUES, plan.scales.values, _value_cost(plan)),
            )
        ]
        return tuple(
            line.at(server, budget=budget)
            for server, budget in enumerate(plan.budgets)
            for line in lines
        )


def _noise(plan: CentrePlan, step: Step) -> NoiseLaw:
    if step == CHOICE:
        return NoiseLaw.CHOICE
    return NoiseLaw.LAPLACE if plan.law is ONE_SHOT else NoiseLaw.GAUSSIAN


def _choice_cost(plan: CentrePlan) -> dict[str, Any]:
    if plan.law is ONE_SHOT:
        return {"mu": None, "epsilon": 2 * plan.n_selected * plan.sensitivity / plan.scales.choice}
    rho, _ = selection.costs(plan.law, plan.n_selected, plan.sensitivity, plan.scales)
    return {"mu": None, "rho": rho}


def _value_cost(plan: CentrePlan) -> dict[str, Any]:
    if plan.law is ONE_SHOT:
        return {"mu": None, "epsilon": plan.n_selected * plan.sensitivity / plan.scales.values}
    scale = plan.scales.values
    return {"mu": math.sqrt(plan.n_selected) * plan.sensitivity / scale if scale else math.inf}
