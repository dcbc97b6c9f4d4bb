"""Intervals and bands for sparse coefficients that are the same on all machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from engine.families.sparse import Steps, descend, ledger, sensitivity, settled
from engine.families.sparse_averages import Averages, of_rows
from engine.families.sparse_eigenvalues import bias_factor, bias_unit, on_supports
from engine.families.sparse_inference import (
    Columns,
    Constants,
    Corrected,
    Directions,
    Noise,
    correct,
    directions_of,
    inference_lines,
    noise,
    several_directions,
)
from engine.families.sparse_intervals import (
    LAW,
    SparseIntervals,
    placed,
    smallest_rho,
)
from engine.mechanisms import mechanisms, one_per_server
from engine.noise.selection import Indices, Scales, scales_of
from engine.numerics.coordinates import Coordinates
from engine.registry import param
from engine.tasks import SPARSE_REGRESSION
from engine.types import Array, Budget, Data, Estimate, PublicFacts, Sizes, Spend

_PLAIN_ROUNDS = 25  # without protection


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any row is looked at; `most` is λ of a step towards β̂."""

    n: int
    size: int
    places: Indices
    is_one: bool
    steps: Steps
    most: float
    scales: Scales
    constants: Constants
    noise: Noise
    spends: tuple[Spend, ...]


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseInference(SparseIntervals):
    """β̃_k = β̂_k + (1/N) Σ [Θ̂_k'x]_τ [y − x'β̂]_R + noise, with everything in it paid for.

    Private hard thresholding gives β̂; one more noisy average for each coefficient takes off the
    bias of selection; limits are β̃_k ± 1.96 (σ̂²V/N + s²)^{1/2}, or a band from a simulation of
    what was published. See `engine.families.sparse_inference`.

    Notes
    -----
    *Privacy.* One ledger holds every release, and its ρ add up to that of the budget. One
    coefficient: β̂ 35 %, σ̂² 3 %, Θ̂_k 25 %, V 2 %, β̃_k 35 %. Several: β̂ 30 %, Gram matrix 30 %,
    σ̂² 3 %, all β̃ together 37 %; columns, spreads and the simulation follow from these. Each average
    is over clipped contributions, whose bounds `engine.families.sparse_averages` states. Different budgets:
    the smallest ρ of all machines, since one noise serves all.

    *What limits promise.* β̃ is normal around β where the product of the errors of Θ̂ and β̂ is small
    beside the error of β̃: enough rounds, enough rows, and the right features found. The
    coefficients that are not asked for are those of β̂, most of them zero.

    *As printed* the interval's parts would each have the whole budget, with the opposite sign of
    the correction; see `engine.families.sparse_printed`.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 2 to 4, 6 and 7 and equation
    (A.15), with division of the budget, clipped products and the band derived for this project.
    """

    key = "sparse_inference"
    label = "Private intervals for sparse coefficients"
    order = 20
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 2 to 7"
    formula = (r"\tilde\beta_k = \hat\beta_k + \tfrac1N\sum_{i,j}[\hat\Theta_k'x_{ij}]_\tau"
               r"[y_{ij}-x_{ij}'\hat\beta]_R + sZ,\qquad \tilde\beta_k \pm 1.96\,"
               r"\sqrt{\hat\sigma^2\hat V_k/N + s^2}")

    sparsity: int = param(5, "Features kept", "How many coefficients are not zero. A public guess: "
                          "more needs more noise on each.", low=1, high=500, symbol="s")
    conservative: bool = param(
        False, "Worst-case bias", "Widens limits by the paper’s bound on the bias that is left. It "
        "is hundreds of times too wide at usual sizes.")

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (("Intervals, each coefficient on its own", {}),
                ("Interval for one coefficient", {"features": "1"}),
                ("Band around all coefficients", {"target": "band"}))

    @property
    def n_kept(self) -> int:
        return self.sparsity

    def is_one(self, sizes: Sizes) -> bool:
        return super().is_one(sizes) and not self.conservative  # its bound needs the Gram matrix

    # -- releases ---------------------------------------------------------------------------

    def release_many(
        self,
        data: Data,
        budgets: Sequence[tuple[Budget, ...]],
        draws: int,
        rng: np.random.Generator,
    ) -> Estimate:
        """Release at each budget; see `Mechanism.release_many`.

        Raises
        ------
        InputError
            If δ = 0, if σ is not stated, if a feature is asked for that does not exist, or if the
            number of budgets does not fit the machines.
        """
        plans = [self.plan(data.sizes, given, data.facts) for given in budgets]
        return self.estimate(self.averages(data), plans, data.n_repeats, draws, rng)

    def estimate(self, averages: Averages, plans: Sequence[Plan], repeats: int, draws: int,
                 rng: np.random.Generator) -> Estimate:
        """All of the method once rows can be averaged; for studies, from moments without rows."""
        columns, plan = Columns(repeats, len(plans), draws), plans[0]
        vectors, directions, found = self.parts(averages, plans, columns, rng)
        corrected = placed(found.values, plan.places, plan.size, vectors)
        limits = self.limits_around(found, plan.places, plan.size, columns.released)
        if self.conservative:
            bound = columns.released(self._bias_bounds(vectors, directions, plans, columns))
            limits = replace(limits, half_width=limits.half_width + bound[..., None])
        return Estimate(
            task=SPARSE_REGRESSION.key, basis=Coordinates(plan.size),
            coefficients=columns.released(corrected), unprotected=columns.quiet(corrected),
            spends=tuple(one.spends for one in plans), tuning=tuple(_tuning(one) for one in plans),
            kept=(plan.size,) * len(plans), intervals=limits)

    def parts(self, averages: Averages, plans: Sequence[Plan], columns: Columns,
              rng: np.random.Generator) -> tuple[Array, Directions, Corrected]:
        """β̂ (repeats, columns, d), what it is corrected along, and the corrected entries."""
        plan, noises = plans[0], [one.noise for one in plans]
        shape, c = (columns.repeats, columns.draws, plan.size), plan.constants
        vectors = descend(partial(averages.gradient, clip=c.residual), shape, plan.steps, LAW,
                          [one.scales for one in plans], rng).columns
        directions = directions_of(averages, plan.places, plan.size, plan.is_one, c, noises,
                                   columns, rng)
        return vectors, directions, correct(averages, vectors, directions, plan.places, c, noises,
                                            columns, rng)

    def _bias_bounds(self, vectors: Array, directions: Directions, plans: Sequence[Plan],
                     columns: Columns) -> Array:
        """The paper's bound on the bias that is left, from what was published: (repeats, columns).

        Zero in the column without noise.
        """
        assert directions.gram is not None
        kept, n = plans[0].steps.sparsity, plans[0].n
        most, least = on_supports(directions.gram, vectors, kept)
        asked = [min((line.asked for line in plan.spends), key=lambda one: one.epsilon)
                 for plan in plans]
        units = [bias_unit(kept, plans[0].size, n, one.epsilon, one.delta) for one in asked]
        return bias_factor(most, least) * columns.per_budget(units)

    def without_protection(self, data: Data) -> Estimate:
        """The same correction of plain hard thresholding, neither clipped nor noised."""
        rows = self.averages(data, math.inf)
        places, size = self.places(data.sizes), data.sizes.n_covariates
        kept = Steps(min(self.sparsity, size), _PLAIN_ROUNDS, self.step, math.inf)
        vectors = settled(rows.rows, kept)[:, None]
        moments, columns = of_rows(rows), Columns(data.n_repeats, 0, 0)
        c = replace(self.constants(data.sizes, data.facts), residual=math.inf)
        directions = several_directions(moments.gram()[:, None], places, c)
        found = correct(moments, vectors, directions, places, c, [], columns,
                        np.random.default_rng(0))
        coefficients = placed(found.values, places, size, vectors)
        return Estimate(
            task=SPARSE_REGRESSION.key, basis=Coordinates(size), coefficients=coefficients[None],
            unprotected=coefficients[None, :, 0], spends=((),), kept=(size,),
            intervals=self.limits_around(found, places, size, lambda own: own[None]))

    # -- fixed before any row is looked at ------------------------------------------------------

    def plan(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts) -> Plan:
        """Clips, steps, noise and ledger from public facts alone."""
        asked, n = one_per_server(budgets, sizes.n_servers), sizes.n_curves
        c, shares, is_one = self.constants(sizes, facts), self.shares(sizes), self.is_one(sizes)
        steps, rho = self.steps(sizes, facts, self.sparsity), smallest_rho(asked)
        most = sensitivity(steps.size, c.residual, c.feature, n)
        scales = scales_of(LAW, steps.sparsity, most, shares.coefficients * rho / steps.rounds)
        spends = [*ledger(LAW, steps, most, scales, asked)]
        for server, one in enumerate(asked):
            spends += inference_lines(c, shares, rho, n, n, is_one, server, one)
        return Plan(n, sizes.n_covariates, self.places(sizes), is_one, steps, most, scales, c,
                    noise(c, shares, rho, n, n), tuple(spends))


def _tuning(plan: Plan) -> dict[str, Any]:
    """The plan in plain numbers."""
    return {"rounds": plan.steps.rounds, "step_size": plan.steps.size,
            "feature_clip": plan.constants.feature, "residual_clip": plan.constants.residual,
            "sensitivity": plan.most, "choice_scale": plan.scales.choice}
