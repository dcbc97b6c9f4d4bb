"""Intervals for coefficients of a sparse regression: correct the bias of selection, privately.

Private hard thresholding gives β̂, which is biased because most entries are set to zero. With a
private Θ̂ for the inverse of the features' covariance, the average of Θ̂_k'x (y − x'β̂) is what β̂_k
lacks, up to a product of two small errors:

    β̃_k − β_k = (Θ̂_k'Σ̂ − e_k')(β − β̂) + (1/N) Σ Θ̂_k'x w + noise .

So β̃_k = β̂_k + that average, published with noise of standard deviation s, is normal around β_k
with variance σ²V/n + s², V = Θ̂_k'Σ̂Θ̂_k. Both parts are published or follow from what is.

In order, each with its own share of the budget (`Shares`): β̂ (see `engine.families.sparse`); σ̂²,
the average squared residual; *one* coefficient: Θ̂_k by hard thresholding of ½θ'Σ̂θ − θ_k, and V;
*several*: the noisy Gram matrix, from which all Θ̂_k and V follow at no cost; last the corrections.
Bounds on what a row can do are those of `engine.families.sparse_averages`; noise is Gaussian, and
made for them.

Arrays are (repeats, columns, …): budgets × draws side by side, and one column without noise that
is not published (`Columns`). In the *pooled* averages all machines take part, in *own* ones those
whose coefficients are asked for: all of them if they are alike, one machine if they differ.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, sections 4.2 to 5 and Algorithms 3 to 7, with the
sign of (A.8) and the variance of (A.15). The division of budgets, clipped products, the Gram matrix
and the band were derived for this project. The correction: Javanmard and Montanari (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

from engine.bands import LEVEL
from engine.families.sparse import Steps, descend, ledger, sensitivity
from engine.families.sparse_averages import Averages
from engine.noise.selection import Indices, Law, Scales, scales_of
from engine.numerics.sparse_fits import largest_quantile, precision_rows
from engine.privacy import transcript
from engine.types import Array, Budget, Spend

PRECISION_ROUNDS = 40  # from the Gram matrix, at no cost
PRECISION_STEP = 0.5
LARGEST_PRECISION = 3.0  # a public bound on the norm of a column of the inverse covariance
LEAST_SPREAD = 0.1  # V is taken to be no smaller
_LEAST_VARIANCE = 1e-3  # σ̂² neither, in units of the public guess
_SAMPLE, _SEED = 2000, 20_240_416
_BLOCK = 2**20  # numbers worked on at once, to stay in cache


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
SEVERAL = Shares(coefficients=0.30, variance=0.03, precision=0.30, spread=0.0, correction=0.37)


def ball(n_entries: int, spread: float = 1.0) -> float:
    """A norm that vectors of so many entries rarely exceed: (√n + 3½) root mean squares.

    4½ standard deviations of one entry; 1.35 root mean square norms of a hundred, 1.12 of 800.
    """
    return (math.sqrt(n_entries) + 3.5) * spread


@dataclass(frozen=True)
class Constants:
    """Fixed by public facts: `residual` R, `product` τ and `row` B are clips.

    `column` are the steps for Θ̂_k, of which `column.sparsity` entries are kept; `guess` is the
    public guess of σ.
    """

    law: Law
    column: Steps
    feature: float
    residual: float
    product: float
    row: float
    guess: float


@dataclass(frozen=True)
class Noise:
    """Standard deviations of what is published at one budget.

    `column` are those of the rounds for Θ̂_k; `correction` is for products held to norm 1. Infinite
    where there is no share of the budget, and so no such message.
    """

    variance: float
    column: Scales
    gram: float
    spread: float
    correction: float


def gaussian(most: float, rho: float) -> float:
    """The standard deviation at which moving by `most` costs ρ."""
    return most / math.sqrt(2 * rho) if rho > 0 else math.inf


def column_sensitivity(c: Constants, n: int) -> float:
    """λ of a step towards Θ̂_k."""
    return sensitivity(c.column.size, c.product, c.feature, n)


def noise(c: Constants, shares: Shares, rho: float, pooled: int, own: int) -> Noise:
    """The noise that costs its shares of ρ, among `pooled` rows and `own` ones."""
    return Noise(
        variance=gaussian(c.residual**2 / own, shares.variance * rho),
        column=scales_of(c.law, c.column.sparsity, column_sensitivity(c, pooled),
                         shares.precision * rho / c.column.rounds),
        gram=gaussian(math.sqrt(2) * c.row**2 / pooled, shares.precision * rho),
        spread=gaussian(c.product**2 / pooled, shares.spread * rho),
        correction=gaussian(2 * c.residual / own, shares.correction * rho))


def line(what: str, most: float, rho: float, server: int, asked: Budget, why: str) -> Spend:
    """The ledger's line about Gaussian noise that costs ρ."""
    mu = math.sqrt(2 * rho)
    return Spend(what=what, server=server, mu=mu, sensitivity=(most,), noise_scale=(most / mu,),
                 count=1, composition="sequential", asked=asked, why=why, unit="row", norm="ℓ2",
                 noise="gaussian")


_WHY = ("An average over all rows, whose contributions are clipped. Noise is added once, by the "
        "trusted centre, and protects the rows of every machine alike.")
_WHY_OWN = ("An average over the rows of this machine alone, whose contributions are clipped; "
            "other machines hold other rows, so that all of them cost as much as one.")
_IN_UNITS = " In units of W, the clip of products that follows from the published Gram matrix."


def inference_lines(c: Constants, shares: Shares, rho: float, pooled: int, own: int, is_one: bool,
                    server: int, asked: Budget) -> list[Spend]:
    """The ledger of one machine after β̂: Θ̂_k and V, or the Gram matrix; σ̂² and corrections."""
    why = _WHY if own == pooled else _WHY_OWN
    lines = [line("noise variance", c.residual**2 / own, shares.variance * rho, server, asked, why)]
    if is_one:
        most = column_sensitivity(c, pooled)
        scales = noise(c, shares, rho, pooled, own).column
        lines += [replace(one, server=server) for one in
                  ledger(c.law, c.column, most, scales, [asked], "precision entries")]
        lines.append(line("spread", c.product**2 / pooled, shares.spread * rho, server, asked,
                          _WHY))
        most = 2 * c.product * c.residual / own
    else:
        lines.append(line("Gram matrix", math.sqrt(2) * c.row**2 / pooled, shares.precision * rho,
                          server, asked, _WHY))
        most, why = 2 * c.residual / own, why + _IN_UNITS
    lines.append(line("corrections", most, shares.correction * rho, server, asked, why))
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

    def released(self, values: Array) -> Array:
        """Columns that may be published: (budgets, repeats, draws, …)."""
        noisy = values[:, :-1].reshape(self.repeats, self.budgets, self.draws, *values.shape[2:])
        return noisy.swapaxes(0, 1)

    def quiet(self, values: Array) -> Array:
        """The column without noise: (budgets, repeats, …)."""
        own = values[:, -1]
        return np.broadcast_to(own, (self.budgets, *own.shape))


def _published(step: str, exact: Array, deviation: Array, standard: Array) -> Array:
    """Averages (repeats, columns, …) with noise of these deviations, as the centre publishes them.

    `deviation` is (columns,) or (repeats, columns).
    """
    size = deviation.reshape(*deviation.shape, *[1] * (exact.ndim - 2))
    return transcript.sent(transcript.CENTRE, step, exact + size * standard, size)


# -- the pieces -----------------------------------------------------------------------------------


def noise_variance(own: Averages, vectors: Array, c: Constants, deviations: Array,
                   columns: Columns, rng: np.random.Generator) -> Array:
    """σ̂² from clipped squared residuals at β̂ (repeats, columns, d): (repeats, columns).

    A clip at four standard deviations loses nothing to speak of, so it is not made up for.
    """
    exact = own.squared_residuals(vectors, c.residual)
    released = _published("noise variance", exact, deviations, columns.normals((), rng))
    return np.maximum(released, _LEAST_VARIANCE * c.guess**2)


@dataclass(frozen=True)
class Directions:
    """What corrections are taken along: Θ̂ (repeats, columns, g, d) of g coefficients.

    `spread` V = Θ̂Σ̂Θ̂' (repeats, columns, g, g), no less than 0.1 on its diagonal; `norms` W, to
    which products Θ̂x are held: (repeats, columns); `gram` (repeats, columns, d, d), if released.
    """

    theta: Array
    spread: Array
    norms: Array
    gram: Array | None = None


def directions_of(pooled: Averages, places: Indices, size: int, is_one: bool, c: Constants,
                  noises: Sequence[Noise], columns: Columns, rng: np.random.Generator
                  ) -> Directions:
    """Directions for coefficients at `places` of `size`: one on its own, or through the Gram."""
    if is_one:
        return one_direction(pooled, int(places[0]), size, c, noises, columns, rng)
    return several_directions(noisy_gram(pooled, c, noises, columns, rng), places, c)


def one_direction(pooled: Averages, place: int, size: int, c: Constants, noises: Sequence[Noise],
                  columns: Columns, rng: np.random.Generator) -> Directions:
    """Θ̂_k by private hard thresholding, and V by clipped squares, for one coefficient.

    Products are held to ±τ everywhere, τ being about four of their standard deviations Θ_kk^½.
    """
    found = descend(partial(_column_gradient, pooled, place, c.product),
                    (columns.repeats, columns.draws, size), c.column, c.law,
                    [one.column for one in noises], rng, "direction, ").columns
    exact = pooled.squared_products(found, c.product)
    deviations = columns.per_budget([one.spread for one in noises])
    spread = _published("spread", exact, deviations, columns.normals((), rng))
    spread = np.maximum(spread, LEAST_SPREAD)[:, :, None, None]
    return Directions(found[:, :, None], spread, np.full(found.shape[:2], c.product))


def _column_gradient(pooled: Averages, place: int, clip: float, vectors: Array) -> Array:
    """Σ̂θ − e_k, with products x'θ held to ±clip."""
    gradient = pooled.products(vectors, clip)
    gradient[..., place] -= 1
    return gradient


def noisy_gram(pooled: Averages, c: Constants, noises: Sequence[Noise], columns: Columns,
               rng: np.random.Generator) -> Array:
    """The average of xx' with noise on and above the diagonal, mirrored: (repeats, columns, d, d).

    The entries on and above the diagonal move by no more than all of them do, √2 B²/N, which they
    attain for two orthogonal rows along axes.
    """
    exact = pooled.gram(c.row)[:, None]
    standard = np.triu(columns.normals(exact.shape[2:], rng))
    standard += np.triu(standard, 1).swapaxes(-1, -2)
    deviations = columns.per_budget([one.gram for one in noises])
    return _published("Gram matrix", exact, deviations, standard)


def several_directions(gram: Array, places: Indices, c: Constants) -> Directions:
    """Θ̂, V and W of several coefficients from the released Gram matrix: post-processing."""
    theta = precision_columns(gram, places, c.column.sparsity)
    spread = theta @ gram @ theta.swapaxes(-1, -2)
    diagonal = np.arange(len(places))
    spread[..., diagonal, diagonal] = np.maximum(spread[..., diagonal, diagonal], LEAST_SPREAD)
    return Directions(theta, spread, product_norms(theta, places), gram)


def product_norms(theta: Array, places: Indices) -> Array:
    """W: a norm that products Θ̂x rarely exceed, E‖Θx‖² being the trace of Θ there: (…,)."""
    own = theta[..., np.arange(len(places)), places]
    return ball(len(places)) * np.sqrt(np.maximum(own.mean(axis=-1), LEAST_SPREAD))


def precision_columns(gram: Array, places: Indices, sparsity: int) -> Array:
    """Columns of the inverse of matrices (…, d, d) by hard thresholding: (…, g, d).

    Held to a public norm in every round, because a noisy matrix may have eigenvalues at which
    steps would grow.
    """
    size = gram.shape[-1]
    return _by_blocks(
        lambda own: precision_rows(own, min(sparsity, size), PRECISION_ROUNDS, PRECISION_STEP,
                                   places, LARGEST_PRECISION),
        gram, len(places) * size * sparsity)


def _by_blocks(function: Callable[[Array], Array], matrices: Array, numbers: int) -> Array:
    """A function of matrices (…, d, d), each of which needs so many numbers, a few at a time."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    block = max(1, _BLOCK // numbers)
    parts = [function(flat[k:k + block]) for k in range(0, len(flat), block)]
    return np.concatenate(parts).reshape(*matrices.shape[:-2], *parts[0].shape[1:])


@dataclass(frozen=True)
class Corrected:
    """β̃ (repeats, columns, g) and how far off it may be.

    `sampling` σ̂²V/n (repeats, columns, g, g) is chance in rows, `deviation` s that of the privacy
    noise in each entry, and `variance` σ̂²: (repeats, columns).
    """

    values: Array
    sampling: Array
    deviation: Array
    variance: Array

    @property
    def covariance(self) -> Array:
        """Of the errors: σ̂²V/n + s² I, (repeats, columns, g, g). σ does not multiply s."""
        size = self.values.shape[-1]
        return np.asarray(self.sampling + (self.deviation**2)[..., None, None] * np.eye(size))

    @property
    def errors(self) -> Array:
        """Standard errors: (repeats, columns, g)."""
        chance = np.diagonal(self.sampling, axis1=-2, axis2=-1)
        return np.sqrt(chance + (self.deviation**2)[..., None])


def correct(own: Averages, vectors: Array, directions: Directions, places: Indices, c: Constants,
            noises: Sequence[Noise], columns: Columns, rng: np.random.Generator) -> Corrected:
    """σ̂², and β̃ = β̂ + average of Θ̂x (y − x'β̂) + noise, from rows the coefficients belong to."""
    variance = noise_variance(own, vectors, c, columns.per_budget([n.variance for n in noises]),
                              columns, rng)
    exact = own.corrections(vectors, directions.theta, c.residual, directions.norms)
    deviations = directions.norms * columns.per_budget([one.correction for one in noises])
    standard = columns.normals((len(places),), rng)
    moved = _published("corrections", exact, deviations, standard)
    return Corrected(vectors[..., places] + moved,
                     (variance / own.n)[..., None, None] * directions.spread, deviations, variance)


# -- how far off they may be ----------------------------------------------------------------------


def pointwise_half_widths(errors: Array) -> Array:
    """1.96 standard errors: each coefficient on its own, 95 in 100."""
    return np.asarray(float(ndtri((1 + LEVEL) / 2)) * errors)


def two_sided_p_values(distances: Array, errors: Array) -> Array:
    """2Φ(−|β̃ − b|/error) for the hypothesis that β = b, from distances β̃ − b: below .05 exactly
    where the pointwise limits leave b out. Nothing but what is published goes in.
    """
    return np.asarray(2 * ndtr(-np.abs(distances) / errors))


def simultaneous_half_width(covariance: Array) -> Array:
    """The 95 % quantile of the largest error of g coefficients together: (…,).

    Simulated from the covariance (…, g, g) of what was published, its negative part set to zero:
    post-processing, with a fixed public sample, so that a release always has the same band.
    """
    return _by_blocks(
        lambda own: largest_quantile(own, LEVEL, _SAMPLE, np.random.default_rng(_SEED)),
        covariance, covariance.shape[-1] * _SAMPLE)
