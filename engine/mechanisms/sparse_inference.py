"""Intervals and bands for sparse coefficients that are the same on all machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from engine.core.arrays import Indices
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import Array, Budget, Data, Fit, Public, Sizes
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.sparse.averages import Averages, of_rows
from engine.mechanisms.families.sparse.corrections import (
    Corrected,
    Directions,
    Distance,
    FittedRows,
    bias_of_shared_noise,
    correct,
)
from engine.mechanisms.families.sparse.directions import (
    noisy_gram,
    one_direction,
    several_directions,
)
from engine.mechanisms.families.sparse.eigenvalues import bias_factor, bias_unit, on_supports
from engine.mechanisms.families.sparse.inference import (
    WHY,
    AveragesPlan,
    Columns,
    FromAverages,
    IntervalConstants,
    NoiseDeviations,
    ball,
    gaussian_rho,
    inference_lines,
    line,
    noise,
    stage_average,
)
from engine.mechanisms.families.sparse.intervals import LAW, SparseIntervals, placed
from engine.mechanisms.families.sparse.pilot import (
    PILOTS,
    Pilot,
    PilotStage,
    RowClips,
    Thresholding,
    from_moments,
    stage_noise,
    suits_moments,
)
from engine.mechanisms.families.sparse.thresholding import AMPLE, SEVERAL_STEPS, descend, settled
from engine.numerics.coordinates import Coordinates
from engine.privacy import accounting

_FIRST_AVERAGES = replace(stage_average(0), label="first averages")


@dataclass(frozen=True)
class InferencePlan(AveragesPlan):
    """All that is fixed before any row is looked at.

    The first estimate comes from moments, with noise as in `stage`, or from hard thresholding.
    """

    # n, size: how many rows and features there are
    n: int
    size: int
    places: Indices  # (g,) array of int: features that limits are asked for
    is_one: bool  # whether the one coefficient asked for is had without a Gram matrix
    sparsity: int
    stage: PilotStage | None  # clip and noise of the first averages; None with hard thresholding
    thresholding: Thresholding | None  # its rounds; None with moments
    constants: IntervalConstants
    noise: NoiseDeviations
    centre_noise_sd: float | None = None

    @property
    def chooses_first(self) -> bool:
        return self.thresholding is not None

    @property
    def tuning(self) -> dict[str, Any]:
        clips = {"feature_clip": self.constants.feature, "residual_clip": self.constants.residual}
        if self.stage is not None:
            return {**clips, "response_clip": self.stage.clip}
        assert self.thresholding is not None
        return {**clips, **self.thresholding.tuning}


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseInference(FromAverages[InferencePlan], SparseIntervals[InferencePlan]):
    """β̃ = β̂ + Θ̂^½ (average of [Mx]_W [y − x'β̂]_R)/P + noise, with everything in it paid for.

    A first private estimate β̂ keeps s features; one more noisy average takes off the bias of
    selection; limits are β̃_k ± 1.96 standard errors, or a band from a simulation of what was
    published. See `engine.mechanisms.families.sparse.inference`.

    Notes
    -----
    *Privacy.* One ledger holds every release, and its ρ add up to that of the budget: first
    estimate 20 %, Gram matrix 30 %, residuals 5 %, all corrections together 45 %; inverse,
    spreads and the simulation follow from these. One coefficient without the Gram matrix: 35 % for
    β̂, 3 % residuals, 25 % Θ̂_k, 2 % V, 35 % β̃_k. Each average is over clipped contributions, whose
    bounds `engine.mechanisms.families.sparse.averages` states. Different budgets: the smallest ρ of
    all machines, since one noise serves all.

    *What limits count.* Chance in the rows, privacy noise in the corrections, and privacy noise in
    the Gram matrix times what β̂ lacks, as bounded from what was released; there is no further bias.
    Where the least eigenvalue of the released matrix is not clearly above its noise, or too many
    residuals are clipped, limits are refused and the estimate says so. The coefficients that are
    not asked for are those of β̂, most of them zero; so are all where limits are refused.

    *Centre.* Where values are not of size one, 5 % of ρ first goes to the means of features and
    response, from which everything is measured; limits count the noise in them
    (`engine.mechanisms.families.sparse.centre`).

    *As printed* the interval's parts would each have the whole budget, with the opposite sign of
    the correction; see `engine.mechanisms.families.sparse.printed`.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 2 to 4, 6 and 7 and equation
    (A.15), with division of the budget, the Gram matrix and its noise in the limits, whitened
    corrections and the band derived for this project.
    """

    key = "sparse_inference"
    label = "Private intervals for sparse coefficients"
    order = 20
    dash, marker = "4px,2px", "x"
    stands_beside = True
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 2 to 7"
    formula = (
        r"\tilde\beta = \hat\beta + \tfrac1{\hat P}\hat\Theta^{1/2}\Big(\tfrac1N\sum_{i,j}"
        r"[\hat\Theta^{1/2}x_{ij}]_W[y_{ij}-x_{ij}'\hat\beta]_R + sZ\Big),\qquad "
        r"\tilde\beta_k \pm 1.96\,\sqrt{\hat C_{kk}}"
    )

    sparsity: int = param(
        5,
        "Features kept",
        "How many coefficients are not zero. A public guess: more needs more noise on each.",
        low=1,
        high=500,
        symbol="s",
    )
    pilot: str = param(
        "auto",
        "First estimate",
        "Moments: the best features by noisy moments, whatever their "
        "correlation. Thresholding: private hard thresholding, as published. Auto: moments where "
        "their noise allows it.",
        choices=PILOTS,
    )
    conservative: bool = param(
        False,
        "Worst-case bias",
        "Widens intervals by the paper’s bound on the remaining bias. It "
        "is hundreds of times too wide at common sizes.",
    )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial(settings, AMPLE, 0.6, SEVERAL_STEPS)
            for settings in (
                {"pilot": "moments"},
                {"sparsity": 2, "rounds": 3, "features": "1", "directions": "column"},
                {"pilot": "moments", "centre": "released"},
            )
        )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Intervals, each coefficient on its own", {}),
            (
                "Interval for one coefficient, as published",
                {"features": "1", "directions": "column", "pilot": "thresholding"},
            ),
            ("Band around all coefficients", {"target": "band"}),
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pilot == "moments" and self.directions == "column":
            raise InputError(
                "A first estimate from moments needs the Gram matrix.",
                field="pilot",
                hint="Choose hard thresholding, or the Gram matrix.",
            )
        if self.conservative and self.directions == "column":
            raise InputError(
                "The bound on the bias needs the Gram matrix.",
                field="conservative",
                hint="Choose the Gram matrix, or leave the bound out.",
            )

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: Data, plans: Sequence[InferencePlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """A first estimate, then what takes off its bias, with limits; see `Mechanism.fitted`."""
        return self.from_centre(
            data,
            plans,
            draws,
            rng,
            lambda rows, *asked: self.fit_averages(
                self.averages(rows, plans[0].constants), asked[0], rows.n_repeats, *asked[1:]
            ),
        )

    def fit_alike(
        self,
        averages: Averages,
        plans: Sequence[InferencePlan],
        repeats: int,
        draws: int,
        rng: np.random.Generator,
    ) -> Fit:
        """Fit plans whose first estimates are of the same kind."""
        columns, plan = Columns(repeats, len(plans), draws), plans[0]
        vectors, directions, corrected = self.parts(averages, plans, columns, rng)
        refused = corrected.is_refused[..., None]
        centre = np.where(refused, vectors[..., plan.places], corrected.values)
        coefficients = placed(centre, plan.places, plan.size, vectors)
        limits = self.limits_around(
            replace(corrected, values=centre), plan.places, plan.size, columns.released
        )
        if self.conservative:
            bound = columns.released(self._bias_bounds(vectors, directions, plans, columns))
            limits = replace(limits, half_width=limits.half_width + bound[..., None])
        return Fit(
            basis=Coordinates(plan.size),
            coefficients=columns.released(coefficients),
            unprotected=columns.quiet(coefficients),
            intervals=limits,
            cautions=self.cautions([corrected], columns, plan.centre_noise_sd is not None),
        )

    def parts(
        self,
        averages: Averages,
        plans: Sequence[InferencePlan],
        columns: Columns,
        rng: np.random.Generator,
    ) -> tuple[Array, Directions, Corrected]:
        """A first estimate β̂, what it is corrected along, and the g corrected entries."""
        plan, noises, c = plans[0], [each.noise for each in plans], plans[0].constants
        if plan.is_one:
            vectors = self._thresholded(averages, plans, columns, rng)
            directions = one_direction(
                averages, int(plan.places[0]), plan.size, c, noises, columns, rng
            )
            rows = FittedRows(averages, vectors, c.residual, c.guess)
            return vectors, directions, correct(rows, directions, plan.places, noises, columns, rng)
        gram = noisy_gram(averages, c, noises, columns, rng)
        deviation = columns.per_budget([each.gram for each in noises])
        directions = several_directions(gram, plan.places, deviation)
        pilot = self._pilot(averages, gram, deviation, plans, columns, rng)
        corrected = correct(
            FittedRows(averages, pilot.vectors, c.residual, c.guess),
            directions,
            plan.places,
            noises,
            columns,
            rng,
            pilot.distance,
        )
        if plan.stage is not None:  # the matrix that directions come from has served once before
            corrected = corrected.less(bias_of_shared_noise(directions, pilot.vectors))
        return pilot.vectors, directions, corrected

    def _pilot(
        self,
        averages: Averages,
        gram: Array,
        deviation: Array,
        plans: Sequence[InferencePlan],
        columns: Columns,
        rng: np.random.Generator,
    ) -> Pilot:
        plan = plans[0]
        if plan.stage is not None:
            stage = replace(
                plan.stage,
                deviations=tuple(each.stage.deviations[0] for each in plans if each.stage),
            )
            everything = several_directions(gram, np.arange(plan.size), deviation)
            return from_moments(averages, everything, plan.sparsity, [stage], columns, rng)
        vectors = self._thresholded(averages, plans, columns, rng)
        return Pilot(vectors, Distance.bounded(vectors, plan.constants.radius))

    def _thresholded(
        self,
        averages: Averages,
        plans: Sequence[InferencePlan],
        columns: Columns,
        rng: np.random.Generator,
    ) -> Array:
        c, rounds = plans[0].constants, [each.thresholding for each in plans if each.thresholding]
        pace = rounds[0].pace(averages, c.row, rounds, columns, rng)
        return descend(
            partial(averages.gradient, clip=c.residual),
            (columns.repeats, columns.draws, plans[0].size),
            rounds[0].descent,
            LAW,
            [each.scales for each in rounds],
            rng,
            pace=pace,
        )

    def _bias_bounds(
        self,
        vectors: Array,
        directions: Directions,
        plans: Sequence[InferencePlan],
        columns: Columns,
    ) -> Array:
        """The paper's bound on the bias that is left, from what was published: (repeats, columns).

        Zero in the column without noise.
        """
        assert directions.gram is not None
        sparsity, n = plans[0].sparsity, plans[0].n
        largest, smallest = on_supports(directions.gram, vectors, sparsity)
        budgets = [
            min((line.budget for line in plan.spends), key=lambda budget: budget.epsilon)
            for plan in plans
        ]
        units = [
            bias_unit(sparsity, plans[0].size, n, budget.epsilon, budget.delta)
            for budget in budgets
        ]
        return bias_factor(largest, smallest) * columns.per_budget(units)

    def exact_fit(self, data: Data) -> Fit:
        """The same correction of plain hard thresholding, neither clipped nor noised."""
        rows = self.averages(data)
        places, size = self.places(data.sizes), data.sizes.n_covariates
        vectors = settled(rows.rows, min(self.sparsity, size))[:, None]
        moments, columns = of_rows(rows), Columns(data.n_repeats, 0, 0)
        c = replace(self.constants(data.sizes, data.facts), residual=math.inf)
        directions = several_directions(moments.gram()[:, None], places, np.zeros(1))
        unbiased = Distance(np.zeros_like(vectors), np.zeros((*vectors.shape, size)))
        corrected = correct(
            FittedRows(moments, vectors, c.residual, c.guess),
            directions,
            places,
            [],
            columns,
            np.random.default_rng(0),
            unbiased,
        )
        coefficients = placed(corrected.values, places, size, vectors)
        return Fit(
            basis=Coordinates(size),
            coefficients=coefficients[None],
            unprotected=coefficients[None, :, 0],
            intervals=self.limits_around(corrected, places, size, lambda values: values[None]),
        )

    # -- fixed before any row is looked at ------------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> InferencePlan:
        """Clips, steps, noise and ledger."""
        sizes, facts, n = public.sizes, public.facts, public.sizes.n_curves
        c, shares, is_one = self.constants(sizes, facts), self.shares(sizes), self.is_one(sizes)
        stage, rounds, rho = None, None, gaussian_rho(budgets)
        takes_moments = self._takes_moments(noise(c, shares, rho, n, n), sizes)
        if not takes_moments:  # a noisy choice is not Gaussian
            rho = accounting.smallest_rho(budgets)
        centre = self.planned_centre(public, budgets, rho)
        rho = centre.rest
        noises = self.noises(facts, c, rho, (n, n), shares, centre)
        first = shares.coefficients * rho
        if takes_moments:
            stage = PilotStage(c.response, (stage_noise(c.response, n, first),))
        else:
            rounds = Thresholding.planned(
                self.descent(sizes, facts, self.sparsity),
                self.step_size is not None,
                LAW,
                RowClips(c.residual, c.feature, c.row),
                n,
                sizes.n_covariates,
                first,
            )
        spends = [*centre.spends, *([] if rounds is None else rounds.lines(LAW, budgets))]
        for server, budget in enumerate(budgets):
            if stage is not None:
                spends.append(
                    line(
                        _FIRST_AVERAGES,
                        2 * ball(sizes.n_covariates) * c.response / n,
                        first,
                        server,
                        budget,
                        WHY,
                    )
                )
            spends += inference_lines(c, shares, rho, n, n, is_one, server, budget)
        return InferencePlan(
            n,
            sizes.n_covariates,
            self.places(sizes),
            is_one,
            min(self.sparsity, sizes.n_covariates),
            stage,
            rounds,
            c,
            noises,
            centre.deviation,
            spends=tuple(spends),
        )

    def _takes_moments(self, noises: NoiseDeviations, sizes: Sizes) -> bool:
        if self.pilot == "auto":
            return not self.is_one(sizes) and suits_moments(noises.gram, sizes.n_covariates)
        return self.pilot == "moments"
