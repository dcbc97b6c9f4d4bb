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

In order, each with its own share of the budget (`Shares`): the first estimate; Gram matrix, or Θ̂_k
and V; squared residuals with their share within R; last the corrections. Bounds on what a row can
do are those of `engine.families.sparse_averages`; noise is Gaussian, and made for them.

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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.families.sparse import Steps, Subject, ledger, sensitivity
from engine.noise import NoiseLaw
from engine.noise.selection import Law, Scales, scales_of
from engine.privacy import accounting, transcript
from engine.types import Array, Budget, Composition, Spend, Step, Unit

LARGEST_PRECISION = 3.0  # a public bound on the norm of a column of the inverse covariance
LEAST_SPREAD = 0.1  # V is taken to be no smaller
DISTINCT = 0.25  # least eigenvalue of Â, over the norm of its noise, below which limits are refused
LEAST_WITHIN = 0.3  # share of residuals within their clip below which limits are refused
LEAST_VARIANCE = 1e-3  # σ̂² neither, in units of the public guess


# -- what is public -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shares:
    """How the budget, as ρ, is divided; they sum to 1."""

    coefficients: float
    variance: float
    precision: float
    spread: float
    correction: float


ONE = Shares(coefficients=0.35, variance=0.03, precision=0.25, spread=0.02, correction=0.35)
SEVERAL = Shares(coefficients=0.20, variance=0.05, precision=0.30, spread=0.0, correction=0.45)


def ball(n_entries: int, spread: float = 1.0) -> float:
    """A norm that vectors of so many entries rarely exceed: (√n + 3½) root mean squares.

    4½ standard deviations of one entry; 1.35 root mean square norms of a hundred, 1.12 of 800.
    """
    return (math.sqrt(n_entries) + 3.5) * spread


def row_norm(size: int, feature: float) -> float:
    """B: a norm that rows of so many features rarely exceed, and those with clipped ones never."""
    return min(ball(size), math.sqrt(size) * feature)


@dataclass(frozen=True)
class Constants:
    """Fixed by public facts: `residual` R, `product` τ and `row` B are clips.

    `response` is the clip of residuals of the first estimate from moments, those of β = 0.
    `column` are the steps for Θ̂_k, of which `column.sparsity` entries are kept; `guess` is the
    public guess of σ, `radius` that of the norm of all coefficients.
    """

    law: Law
    feature: float
    residual: float
    row: float
    guess: float
    response: float
    radius: float
    column: Steps
    product: float


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what is published at one budget.

    `residuals` is for squared residuals in units of R² and the share within R; `column` are those
    of the rounds for Θ̂_k; `gram` is that of an entry beside the diagonal, √2 times as large on it;
    `correction` is for products held to norm 1. Infinite where there is no share of the budget, and
    so no such message.
    """

    residuals: float
    column: Scales
    gram: float
    spread: float
    correction: float


def gaussian(most: float, rho: float) -> float:
    """The standard deviation at which moving by `most` costs ρ."""
    return most / math.sqrt(2 * rho) if rho > 0 else math.inf


def gaussian_rho(budgets: Sequence[Budget]) -> float:
    """ρ = μ²/2 of Gaussian noise alone at the strictest budget: more than ρ-zCDP proves for it.

    Gaussian messages, each chosen after those before it, are together as one with the sum of their
    ρ, whose (ε, δ) are exact.

    Raises
    ------
    InputError
        If δ = 0.
    """
    return min(accounting.exact_mu(one.epsilon, one.delta) ** 2 / 2 if math.isfinite(one.epsilon)
               else math.inf for one in budgets)


RESIDUALS, SPREAD, CORRECTIONS = Step("residuals"), Step("spread"), Step("corrections")
GRAM, GRAM_OF_CHOSEN = Step("Gram matrix"), Step("Gram matrix of chosen features")
DIRECTION = Subject("precision entries", "direction, ")


def stage_average(k: int) -> Step:
    """The average after k earlier stages of the first estimate."""
    return Step(f"averages, stage {k + 1}")


def gram_noise(row: float, n: int, rho: float) -> float:
    """B²/(N√(2ρ)): the deviation, beside the diagonal, of noise in a Gram matrix that costs ρ.

    All entries of a symmetric matrix together move by at most √2 B²/N in the Frobenius norm, which
    counts entries beside the diagonal twice. Noise that is alike in all directions of that norm has
    deviation t = √2 B²/(N√(2ρ)) on the diagonal and t/√2 beside it. Noise of one size on and above
    the diagonal would be up to √2 times larger beside it at the same cost.
    """
    return gaussian(row**2 / n, rho)


def column_sensitivity(c: Constants, n: int) -> float:
    """λ of a step towards Θ̂_k."""
    return sensitivity(c.column.size, c.product, c.feature, n)


def noise(c: Constants, shares: Shares, rho: float, pooled: int, own: int) -> Noise:
    """The noise that costs its shares of ρ, among `pooled` rows and `own` ones."""
    return Noise(
        residuals=gaussian(math.sqrt(2) / own, shares.variance * rho),
        column=scales_of(c.law, c.column.sparsity, column_sensitivity(c, pooled),
                         shares.precision * rho / c.column.rounds),
        gram=gram_noise(c.row, pooled, shares.precision * rho),
        spread=gaussian(c.product**2 / pooled, shares.spread * rho),
        correction=gaussian(2 * c.residual / own, shares.correction * rho))


def line(step: Step, most: float, rho: float, server: int, asked: Budget, why: str) -> Spend:
    """The ledger's line about Gaussian noise that costs ρ."""
    mu = math.sqrt(2 * rho)
    return Spend(step=step, server=server, mu=mu, sensitivity=(most,), noise_scale=(most / mu,),
                 count=1, composition=Composition.SEQUENTIAL, asked=asked, why=why,
                 unit=Unit.ROW, norm="ℓ2", noise=NoiseLaw.GAUSSIAN)


WHY = ("An average over all rows, whose contributions are clipped. Noise is added once, by the "
        "trusted centre, and protects the rows of every machine alike.")
_WHY_OWN = ("An average over the rows of this machine alone, whose contributions are clipped; "
            "other machines hold other rows, so that all of them cost as much as one.")
_IN_UNITS = " In units of W, the clip of products whitened by the published Gram matrix."


def inference_lines(c: Constants, shares: Shares, rho: float, pooled: int, own: int, is_one: bool,
                    server: int, asked: Budget) -> list[Spend]:
    """The ledger of one machine after β̂: Θ̂_k and V, or the Gram matrix; σ̂² and corrections."""
    why = WHY if own == pooled else _WHY_OWN
    lines = [line(RESIDUALS, math.sqrt(2) / own, shares.variance * rho, server, asked,
                  why + " In units of the squared clip; beside it the share within the clip.")]
    if is_one:
        most = column_sensitivity(c, pooled)
        scales = noise(c, shares, rho, pooled, own).column
        lines += [replace(one, server=server) for one in
                  ledger(c.law, c.column, most, scales, [asked], DIRECTION)]
        lines.append(line(SPREAD, c.product**2 / pooled, shares.spread * rho, server, asked,
                          WHY))
        most = 2 * c.product * c.residual / own
    else:
        lines.append(line(GRAM, math.sqrt(2) * c.row**2 / pooled, shares.precision * rho,
                          server, asked, WHY))
        most, why = 2 * c.residual / own, why + _IN_UNITS
    lines.append(line(CORRECTIONS, most, shares.correction * rho, server, asked, why))
    return lines


# -- releases side by side ------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """Releases at several budgets, side by side, and then one column without noise."""

    repeats: int
    budgets: int
    draws: int

    def per_budget(self, values: Sequence[float]) -> Array:
        """One value for each budget: (columns,), 0 for the column without noise."""
        return np.append(np.repeat(np.asarray(values, dtype=float), self.draws), 0.0)

    def normals(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Standard normals (repeats, columns, …) that draws share across budgets."""
        drawn = rng.standard_normal((self.repeats, 1, self.draws, *shape))
        shared = np.broadcast_to(drawn, (self.repeats, self.budgets, self.draws, *shape))
        noisy = shared.reshape(self.repeats, self.budgets * self.draws, *shape)
        return np.concatenate([noisy, np.zeros((self.repeats, 1, *shape))], axis=1)

    def released(self, values: NDArray[Any]) -> NDArray[Any]:
        """Columns that may be published: (budgets, repeats, draws, …)."""
        noisy = values[:, :-1].reshape(self.repeats, self.budgets, self.draws, *values.shape[2:])
        return noisy.swapaxes(0, 1)

    def quiet(self, values: Array) -> Array:
        """The column without noise: (budgets, repeats, …)."""
        own = values[:, -1]
        return np.broadcast_to(own, (self.budgets, *own.shape))


def published(step: Step, exact: Array, deviation: Array, standard: Array) -> Array:
    """Averages (repeats, columns, …) with noise of these deviations, as the centre publishes them.

    `deviation` is (columns,) or (repeats, columns), or (columns, …) where entries differ.
    """
    size = deviation if deviation.ndim == exact.ndim - 1 > 2 else deviation.reshape(
        *deviation.shape, *[1] * (exact.ndim - 2))
    return transcript.sent(transcript.CENTRE, step, exact + size * standard, size)
