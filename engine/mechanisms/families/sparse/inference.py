"""Intervals for coefficients of a sparse regression: correct the bias of selection, privately.

A first estimate β̂ is biased, because most entries are set to zero. Let Â be the noisy Gram matrix
that is released, A the one without noise, and Θ̂ = Â⁻¹. The average of Θ̂x (y − x'β̂) is what β̂
lacks, and since Θ̂A = I − Θ̂(Â − A), exactly,

    β̃ − β = Θ̂ ( (1/N) Σ x w  +  noise of the average  −  (Â − A)(β − β̂) ) .

All three parts have a known law: the first has covariance σ²A/N, the second is ours, and so is
Â − A, whose entries multiply β − β̂; how large that is, is bounded from what was released. So there
is no bias that limits would have to leave out, if Â has an inverse at all: where its least
eigenvalue is not clearly above its noise, limits are refused (`DISTINCT`).

The average is taken of Mx [y − x'β̂]_R with M = Θ̂^½ and ‖Mx‖ ≤ W, because Mx has uncorrelated
entries of variance 1: one W serves any correlation, and noise s in each entry adds s²Θ̂ to the
covariance, in proportion to σ²Θ̂/N. For g of the d coefficients M = (Θ̂_GG)^{−½} Θ̂_G. Residuals
beyond R are clipped; where they are normal, that multiplies the average by P, the share within R
(Stein's identity), which is released, too, and divided by: a guess of σ that is too small costs
accuracy, not coverage.

One coefficient can be had without the Gram matrix, as published ("column"): Θ̂_k by hard
thresholding of ½θ'Σ̂θ − θ_k, whose few entries are an assumption that nothing released can check.

In order, each with its own share of the budget (`InferenceShares`): the first estimate; Gram
matrix, or Θ̂_k and V; squared residuals with their share within R; last the corrections. Bounds
on what a row can do are those of `engine.mechanisms.families.sparse.averages`; noise is Gaussian,
and made for them.

Arrays are (repeats, columns, …): budgets × draws side by side, and one column without noise that
is not published (`Columns`). In the *pooled* averages all machines take part, in *own* ones those
whose coefficients are asked for: all of them if they are alike, one machine if they differ.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, sections 4.2 to 5 and Algorithms 3 to 7, with the
sign of (A.8) and the variance of (A.15). The division of budgets, clipped products, the Gram
matrix, whitened corrections and the band were derived for this project. The correction: Javanmard
and Montanari (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.types import (
    Array,
    Budget,
    Composition,
    Data,
    Estimate,
    Fit,
    Intervals,
    Plan,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms.base import Mechanism
from engine.mechanisms.families.sparse.averages import Averages
from engine.mechanisms.families.sparse.thresholding import (
    DescentSettings,
    Subject,
    ledger,
    sensitivity,
)
from engine.noise.selection import Scales, SelectionLaw, scales_of
from engine.privacy import accounting, transcript

P = TypeVar("P")
LARGEST_PRECISION = 3.0  # a public bound on the norm of a column of the inverse covariance
MIN_SPREAD = 0.1  # V is taken to be no smaller
DISTINCT = 0.25  # least eigenvalue of Â, over the norm of its noise, below which limits are refused
MIN_WITHIN = 0.3  # share of residuals within their clip below which limits are refused
MIN_VARIANCE = 1e-3  # σ̂² neither, in units of the public guess
NARROW = (
    "By what was released, at least one feature hardly varies within its stated range: privacy "
    "noise may hide what it does, and its coefficient and interval may be far off. State a tighter "
    "range for it, or leave it out."
)
_DRAWS = 2  # axis of what is released


# -- what is public -------------------------------------------------------------------------------


@dataclass(frozen=True)
class InferenceShares:
    """Division of the budget, as ρ; all shares sum to 1."""

    coefficients: float  # for β̂
    variance: float  # for squared residuals and the share within their clip
    precision: float  # for the Gram matrix, or Θ̂_k
    spread: float  # for V, where one coefficient is had without the matrix
    correction: float


ONE = InferenceShares(
    coefficients=0.35, variance=0.03, precision=0.25, spread=0.02, correction=0.35
)
SEVERAL = InferenceShares(
    coefficients=0.20, variance=0.05, precision=0.30, spread=0.0, correction=0.45
)


def ball(n_entries: int) -> float:
    """A norm that vectors with entries of mean square one rarely exceed: √n + 3½.

    4½ standard deviations of one entry; 1.35 root mean square norms of a hundred, 1.12 of 800.

    Examples
    --------
    >>> ball(100)
    13.5
    """
    return math.sqrt(n_entries) + 3.5


def row_norm(size: int, feature: float) -> float:
    """B: a norm that rows rarely exceed, and those with clipped features never."""
    return min(ball(size), math.sqrt(size) * feature)


@dataclass(frozen=True)
class IntervalConstants:
    """Constants fixed by public facts."""

    law: SelectionLaw
    # feature, residual, row, product: the clips c, R, B and τ
    feature: float
    residual: float
    row: float
    guess: float  # of σ
    response: float  # the clip of residuals of the first estimate from moments, those of β = 0
    radius: float  # a public guess of the norm of all coefficients
    column: DescentSettings  # the steps for Θ̂_k, of which `column.sparsity` entries are kept
    product: float
    # whether means of features and response are released first, and so the mean residual
    has_centre: bool = False


@dataclass(frozen=True)
class NoiseDeviations:
    """Standard deviations of what is published at one budget.

    Infinite where there is no share of the budget, and so no such message.
    """

    residuals: float  # for squared residuals in units of R², and the share within R
    column: Scales  # of the rounds for Θ̂_k
    gram: float  # of an entry beside the diagonal, √2 times as large on it
    spread: float  # of V
    correction: float  # for products clipped to norm 1
    # of the released means of features, in their standard deviations; None where there are none
    centre: float | None = None


def gaussian(sensitivity: float, rho: float) -> float:
    """The standard deviation at which moving by `sensitivity` costs ρ.

    Examples
    --------
    >>> gaussian(1.0, 0.5)
    1.0
    """
    return sensitivity / math.sqrt(2 * rho) if rho > 0 else math.inf


def gaussian_rho(budgets: Sequence[Budget]) -> float:
    """ρ = μ²/2 of Gaussian noise alone at the strictest budget: more than ρ-zCDP proves for it.

    Gaussian messages, each chosen after those before it, are together as one with the sum of their
    ρ, whose (ε, δ) are exact.
    """
    return min(
        math.inf
        if math.isinf(budget.epsilon)
        else accounting.exact_mu(budget.epsilon, budget.delta) ** 2 / 2
        for budget in budgets
    )


RESIDUALS, SPREAD, CORRECTIONS = Step("residuals"), Step("spread"), Step("corrections")
GRAM, GRAM_OF_CHOSEN = Step("Gram matrix"), Step("Gram matrix of chosen features")
DIRECTION = Subject("precision entries", "direction, ")


def stage_average(k: int) -> Step:
    """The message of one average of a first estimate from moments."""
    return Step(f"averages, stage {k + 1}")


def gram_noise(row: float, n: int, rho: float) -> float:
    """B²/(N√(2ρ)): the deviation, beside the diagonal, of noise in a Gram matrix that costs ρ.

    All entries of a symmetric matrix together move by at most √2 B²/N in the Frobenius norm, which
    counts entries beside the diagonal twice. Noise that is alike in all directions of that norm has
    deviation t = √2 B²/(N√(2ρ)) on the diagonal and t/√2 beside it. Noise of one size on and above
    the diagonal would be up to √2 times larger beside it at the same cost.
    """
    return gaussian(row**2 / n, rho)


def residuals_sensitivity(n: int, has_mean: bool) -> float:
    """Bound the move by one row of averages of squared residuals and of those within their clip.

    With u = [e]_R/R they are u² and 1{|e| ≤ R}: √2 between 0 and beyond R. The mean residual is u/2
    beside them. From u = −t to beyond R the square is 1 + (1 − t²)² + (1 + t)²/4, largest, 2.286,
    where 8t(1 − t) = 1; of two residuals within R it is less by 1, and beyond it at most 1.

    The mean residual is beside them if `has_mean`.
    """
    t = (1 - math.sqrt(0.5)) / 2
    return math.sqrt(1 + (1 - t**2) ** 2 + (1 + t) ** 2 / 4 if has_mean else 2) / n


def _column_sensitivity(c: IntervalConstants, n: int) -> float:
    """λ of a step towards Θ̂_k, averaged over n rows."""
    return sensitivity(c.column.learning_rate, c.product, c.feature, n)


def noise(
    c: IntervalConstants, shares: InferenceShares, rho: float, pooled: int, n_machine: int
) -> NoiseDeviations:
    """The noise that costs its shares of ρ."""
    return NoiseDeviations(
        residuals=gaussian(residuals_sensitivity(n_machine, c.has_centre), shares.variance * rho),
        column=scales_of(
            c.law,
            c.column.sparsity,
            _column_sensitivity(c, pooled),
            shares.precision * rho / c.column.rounds,
        ),
        gram=gram_noise(c.row, pooled, shares.precision * rho),
        spread=gaussian(c.product**2 / pooled, shares.spread * rho),
        correction=gaussian(2 * c.residual / n_machine, shares.correction * rho),
    )


def line(
    step: Step, sensitivity: float, rho: float, server: int, budget: Budget, why: str
) -> Spend:
    """The ledger's line about Gaussian noise that costs ρ."""
    mu = math.sqrt(2 * rho)
    return Spend(
        step=step,
        server=server,
        mu=mu,
        sensitivity=(sensitivity,),
        noise_scale=(sensitivity / mu,),
        count=1,
        composition=Composition.SEQUENTIAL,
        budget=budget,
        why=why,
        unit=Unit.ROW,
        norm="ℓ2",
        noise=NoiseLaw.GAUSSIAN,
    )


WHY = (
    "An average over all rows, whose contributions are clipped. Noise is added once, by the "
    "trusted centre, and protects the rows of every machine alike."
)
_WHY_OWN = (
    "An average over the rows of this machine alone, whose contributions are clipped; "
    "other machines hold other rows, so that all of them cost as much as one."
)
_IN_UNITS = " In units of W, the clip of products whitened by the published Gram matrix."


def inference_lines(
    c: IntervalConstants,
    shares: InferenceShares,
    rho: float,
    pooled: int,
    n_machine: int,
    is_one: bool,
    server: int,
    budget: Budget,
) -> list[Spend]:
    """Write the ledger of one machine after β̂: Θ̂_k and V, or the Gram matrix; σ̂², corrections.

    `is_one` if a single coefficient is estimated without a Gram matrix.
    """
    why = WHY if n_machine == pooled else _WHY_OWN
    beside = f"the share within the clip{' and the mean' if c.has_centre else ''}"
    lines = [
        line(
            RESIDUALS,
            residuals_sensitivity(n_machine, c.has_centre),
            shares.variance * rho,
            server,
            budget,
            f"{why} In units of the squared clip; beside it {beside}.",
        )
    ]
    if is_one:
        step_sensitivity = _column_sensitivity(c, pooled)
        scales = noise(c, shares, rho, pooled, n_machine).column
        lines += [
            replace(spend, server=server)
            for spend in ledger(c.law, c.column, step_sensitivity, scales, [budget], DIRECTION)
        ]
        lines.append(line(SPREAD, c.product**2 / pooled, shares.spread * rho, server, budget, WHY))
        step_sensitivity = 2 * c.product * c.residual / n_machine
    else:
        lines.append(
            line(
                GRAM, math.sqrt(2) * c.row**2 / pooled, shares.precision * rho, server, budget, WHY
            )
        )
        step_sensitivity, why = 2 * c.residual / n_machine, why + _IN_UNITS
    lines.append(line(CORRECTIONS, step_sensitivity, shares.correction * rho, server, budget, why))
    return lines


# -- releases side by side ------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """Releases at several budgets, side by side, and then one column without noise."""

    repeats: int
    budgets: int
    draws: int

    def per_budget(self, values: Sequence[float]) -> Array:
        """One value for each budget, 0 for the column without noise: (columns,)."""
        return np.append(np.repeat(np.asarray(values, dtype=float), self.draws), 0.0)

    def normals(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Standard normals that draws share across budgets; zeros in the column without noise."""
        drawn = rng.standard_normal((self.repeats, 1, self.draws, *shape))
        shared = np.broadcast_to(drawn, (self.repeats, self.budgets, self.draws, *shape))
        noisy = shared.reshape(self.repeats, self.budgets * self.draws, *shape)
        return np.concatenate([noisy, np.zeros((self.repeats, 1, *shape))], axis=1)

    def released(self, values: NDArray[Any]) -> NDArray[Any]:
        """Take the publishable columns (budgets, repeats, draws, …) of (repeats, columns, …)."""
        noisy = values[:, :-1].reshape(self.repeats, self.budgets, self.draws, *values.shape[2:])
        return noisy.swapaxes(0, 1)

    def quiet(self, values: Array) -> Array:
        """Take the column without noise, (budgets, repeats, …), of values (repeats, columns, …)."""
        column = values[:, -1]
        return np.broadcast_to(column, (self.budgets, *column.shape))


def by_kind(
    plans: Sequence[P], kind: Callable[[P], Hashable], fit: Callable[[Sequence[P]], Fit]
) -> Fit:
    """Fit neighbouring plans of the same kind at once, and put the fits together along the budgets.

    What suits a budget is decided by public numbers, for each on its own, so that a release does
    not depend on which others are asked for beside it.
    """
    return joined([fit(tuple(alike)) for _, alike in groupby(plans, kind)], axis=0)


def joined(fits: Sequence[Fit], axis: int) -> Fit:
    """Join fits along budgets (0), repeats (1) or draws (2), and their cautions.

    Along draws the first fit gives what is the same without noise.
    """
    if len(fits) == 1:
        return fits[0]
    every = [fit.intervals for fit in fits if fit.intervals is not None]
    first = {caution.text: caution for fit in reversed(fits) for caution in fit.cautions}
    return replace(
        fits[0],
        coefficients=np.concatenate([fit.coefficients for fit in fits], axis),
        unprotected=fits[0].unprotected
        if axis == _DRAWS
        else np.concatenate([fit.unprotected for fit in fits], axis),
        intervals=None
        if not every
        else Intervals(
            np.concatenate([limits.centre for limits in every], axis),
            np.concatenate([limits.half_width for limits in every], axis),
            np.concatenate([limits.error for limits in every], axis),
            every[0].kind,
        ),
        cautions=tuple(
            replace(
                caution,
                applies=np.concatenate(
                    [
                        next(
                            (caution.applies for caution in fit.cautions if caution.text == text),
                            np.zeros(fit.coefficients.shape[:3], dtype=bool),
                        )
                        for fit in fits
                    ],
                    axis,
                ),
            )
            for text, caution in first.items()
        ),
    )


class AveragesPlan(Plan):
    """A plan that says whether features are chosen before their averages are released."""

    @property
    def chooses_first(self) -> bool:
        raise NotImplementedError


A = TypeVar("A", bound=AveragesPlan)


@dataclass(frozen=True, kw_only=True)
class FromAverages(Mechanism[Data, A]):
    """A method that needs nothing of the rows but their averages."""

    def estimate(
        self,
        averages: Averages,
        plans: Sequence[A],
        repeats: int,
        draws: int,
        rng: np.random.Generator,
    ) -> Estimate:
        """Estimate once rows can be averaged; for studies, from moments without rows."""
        return self.estimate_of(plans, self.fit_averages(averages, plans, repeats, draws, rng))

    def fit_averages(
        self,
        averages: Averages,
        plans: Sequence[A],
        repeats: int,
        draws: int,
        rng: np.random.Generator,
    ) -> Fit:
        """Compute what `estimate` is made of, at every budget."""
        return by_kind(
            plans,
            lambda plan: plan.chooses_first,
            lambda alike: self.fit_alike(averages, alike, repeats, draws, rng),
        )

    def fit_alike(
        self,
        averages: Averages,
        plans: Sequence[A],
        repeats: int,
        draws: int,
        rng: np.random.Generator,
    ) -> Fit:
        """The same by plans that all choose features first, or none of which does."""
        raise NotImplementedError


def published(step: Step, exact: Array, deviation: Array, standard: Array) -> Array:
    """Averages with noise, as the centre publishes them: (repeats, columns, …)."""
    size = (
        deviation
        if deviation.ndim == exact.ndim - 1 > 2
        else deviation.reshape(*deviation.shape, *[1] * (exact.ndim - 2))
    )
    return transcript.sent(transcript.CENTRE, step, exact + size * standard, size)
