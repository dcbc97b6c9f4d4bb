"""Algorithms 3 to 10 of sparse inference with the constants that are printed, and what they give.

For comparison alone: nothing here is a mechanism, so nothing of it can be published. Algorithms 2,
3 and 5 to 10 run here as they stand, from the moments of rows that respect their ranges; for
each algorithm `guarantees` says which ε it really gives.

Privacy
-------
*Held features.* The paper holds responses to ±R and lets ‖x‖_∞ ≤ c "with high probability". A row
beyond that moves every average without limit, so that literally no algorithm has a finite ε. All
that follows takes features that are clipped to ±c, as an implementation must.

*Algorithm 3.* x_j x'θ is within ±c √s c₁c for θ with s entries and ‖θ‖ ≤ c₁, so that a row moves
an entry of the step by 2η√s c₁c²/N: as printed.

*Algorithm 4.* A residual is within ±(R + √s c₀c), its square in [0, (R + √s c₀c)²], so that a row
moves the average by at most (R + √s c₀c)²/N, which x = −c sign(β), y = R and a row without residual
attain. The lemma prints 4(R² + s²c₀²c²)/N, which is more.

*Algorithm 5.* (x'v)² ≤ ‖x_S‖² ≤ s c² for a unit vector v with s entries; squares are not negative,
so that a row moves the average by s c²/N. With B₃ = 2sc²/n, which is 2m times that, choosing with
Lap(2B₃/ε) is ε/(2m)-private and the number with the same noise ε/(4m)-private: 3ε/(4m) in all, for
one of the two ends.

*Algorithms 7 and 10.* A draw is the maximum of N^{−1/2} Σ (Θ̂x)_k e with e ~ N(0, 1). Only the
replaced row's multipliers count, one in each of q draws, and none of them exceeds
a = Q⁻¹(δ/(4q)) but with probability δ/2, whatever the data. Up to that, a row moves an entry by
2a√s c₁c/√N, because Θ̂_k has s entries and norm c₁. Private Max with noise for λ is
(5/24)(λ'/λ)² ε²/log(1/δ)-zCDP where the entries move by λ'. The q draws add up, and δ/2 is left for
the conversion.

*Algorithm 8* has two stages as in Algorithm 2, the second within the norm c₀/2 of its proof: B₅ is
right, and both stages see a row.

*Algorithms 6 and 9* use Θ̂_k'Σ̂Θ̂_k, an average over rows, in the limits they return, without noise:
no finite ε.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 1 and 3 to 10, Lemmas 4.1 and 4.2. The
guarantees were derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from engine.core.types import Array
from engine.mechanisms.families.sparse.averages import RowMoments
from engine.mechanisms.families.sparse.printed import PEELING_COST
from engine.noise.laplace import laplace
from engine.noise.selection import PEELING, draw, noisy_hard_threshold, printed_scale
from engine.privacy import accounting

UNNOISED = "Θ̂ₖ′Σ̂Θ̂ₖ stands in its interval without noise: no finite ε"


@dataclass(frozen=True)
class PublishedConstants:
    """The printed constants of one setting."""

    machines: int
    rows: int
    size: int
    sparsity: int
    sd: float
    epsilon: float
    delta: float
    largest: float = 3.0  # L: eigenvalues of the covariance lie in [1/L, L]
    # radius, column_radius: c₀ and c₁, the largest norms of β and of a column of Θ
    radius: float = 1.0
    column_radius: float = 2.0
    draws: int = 500  # q, of a bootstrap

    @property
    def pooled(self) -> int:
        """N."""
        return self.machines * self.rows

    @property
    def feature(self) -> float:
        """c, 3(2L log d)^{1/2}."""
        return 3 * math.sqrt(2 * self.largest * math.log(self.size))

    @property
    def response(self) -> float:
        """R, σ(2 log N)^{1/2}."""
        return self.sd * math.sqrt(2 * math.log(self.pooled))

    @property
    def rounds(self) -> int:
        """T, L² log(8c₀²LN)."""
        return math.ceil(
            self.largest**2 * math.log(8 * self.radius**2 * self.largest * self.pooled)
        )

    @property
    def learning_rate(self) -> float:
        """η, 1/(6L); the s in its numerator is a misprint."""
        return 1 / (6 * self.largest)

    @property
    def gradient_bound(self) -> float:
        """B₀ as in Algorithm 2: 2(R + √s c₀c)c."""
        return (
            2
            * self.feature
            * (self.response + math.sqrt(self.sparsity) * self.radius * self.feature)
        )

    @property
    def column_bound(self) -> float:
        """B₁ as in Algorithm 3: 2√s c₁c²."""
        return 2 * math.sqrt(self.sparsity) * self.column_radius * self.feature**2

    @property
    def difference_bound(self) -> float:
        """B₅ as in Algorithm 8: c(2R + √s c₀c), for the norm c₀/2 of its proof."""
        return self.feature * (
            2 * self.response + math.sqrt(self.sparsity) * self.radius * self.feature
        )

    @property
    def variance_bound(self) -> float:
        """B₂ as in Lemma 4.1."""
        largest_prediction = self.sparsity * self.radius * self.feature
        return 4 * (self.response**2 + largest_prediction**2) / self.pooled

    @property
    def variance_sensitivity(self) -> float:
        """Largest move of the average of squared residuals by one row."""
        return (
            self.response + math.sqrt(self.sparsity) * self.radius * self.feature
        ) ** 2 / self.pooled

    @property
    def eigenvalue_bound(self) -> float:
        """B₃ as in Lemma 4.2."""
        return 2 * self.sparsity * self.feature**2 / self.rows

    @property
    def eigenvalue_sensitivity(self) -> float:
        """Largest move of the average of (x'v)² by one row."""
        return self.sparsity * self.feature**2 / self.pooled

    @property
    def pooled_draw_bound(self) -> float:
        """B₄ as in Algorithm 7."""
        residual = self.response + self.radius * self.feature * math.sqrt(self.sparsity)
        return (
            4
            * self.largest
            * math.sqrt(math.log(self.machines))
            * self.feature
            * residual
            / math.sqrt(self.pooled)
        )

    @property
    def local_draw_bound(self) -> float:
        """B₆ as in Algorithm 10."""
        return (
            2
            * math.sqrt(self.sparsity * math.log(self.rows) / self.rows)
            * self.feature
            * self.column_radius
        )

    @property
    def correction_bound(self) -> float:
        """Δ₁ as in Algorithm 6; a row moves a correction by 2Δ₁/N."""
        root = math.sqrt(self.sparsity)
        return (
            self.column_radius
            * self.feature
            * root
            * (self.response + root * self.radius * self.feature)
        )

    @property
    def largest_multiplier(self) -> float:
        """a: no multiplier of one row in any draw exceeds it, but with probability δ/2."""
        return float(-ndtri(self.delta / (4 * self.draws)))

    def draw_sensitivity(self, n: int, factor: float = 1.0) -> float:
        """Bound the move of an entry of a draw by one row, if no multiplier exceeds a.

        `factor` multiplies the draw: σ in Algorithm 10.
        """
        return (
            2
            * self.largest_multiplier
            * factor
            * math.sqrt(self.sparsity)
            * self.column_radius
            * self.feature
            / math.sqrt(n)
        )


# -- the algorithms as they stand -----------------------------------------------------------------


def _descent(
    gradient: Callable[[Array], Array],
    constants: PublishedConstants,
    n: int,
    bound: float,
    radius: float,
    shape: tuple[int, ...],
    rng: np.random.Generator,
) -> Array:
    """The loop of Algorithms 2, 3 and 8: T steps from 0, thresholded with noise and clipped.

    `gradient`, (…, d) to (…, d), averages over n rows, of which one moves a step's entries by ηB/n
    with B = `bound`. The ball around 0 with `radius` holds every iterate, of `shape` (…, d). Of
    the constants η, T, s, ε and δ count; s entries of the result may differ from zero.
    """
    rounds, s, rate = constants.rounds, constants.sparsity, constants.learning_rate
    scale = printed_scale(
        PEELING,
        s,
        rate * bound / n,
        constants.epsilon / rounds,
        constants.delta / rounds,
        shape[-1],
    )
    vector = np.zeros(shape)
    for _ in range(rounds):
        vector = noisy_hard_threshold(
            vector - rate * gradient(vector), s, scale, scale, draw(PEELING, s, shape, rng)
        )
        size = np.linalg.norm(vector, axis=-1, keepdims=True)
        vector *= radius / np.maximum(size, radius)
    return vector


def precision_column(
    rows: RowMoments, k: int, constants: PublishedConstants, rng: np.random.Generator
) -> Array:
    """Algorithm 3: column k of the inverse of the features' second moments, (repeats, d).

    It uses B₁ and c₁, beside the constants of `_descent`.
    """
    repeats, size, _ = rows.second.shape
    unit = np.eye(size)[k]
    return _descent(
        lambda column: rows.products(column[:, None])[:, 0] - unit,
        constants,
        rows.n,
        constants.column_bound,
        constants.column_radius,
        (repeats, size),
        rng,
    )


def pooled_coefficients(
    rows: RowMoments, constants: PublishedConstants, radius: float, rng: np.random.Generator
) -> Array:
    """Algorithm 2: coefficients that all machines share: (repeats, d)."""
    return _descent(
        lambda vector: rows.gradient(vector[:, None])[:, 0],
        constants,
        rows.n,
        constants.gradient_bound,
        radius,
        rows.cross.shape,
        rng,
    )


def two_stages(
    pooled: RowMoments, machine: RowMoments, constants: PublishedConstants, rng: np.random.Generator
) -> Array:
    """Algorithm 8: what all machines share, then by how much one of them differs: (repeats, d).

    Both stages take s, T, ε and δ from `constants`; both norms are at most c₀/2.
    """
    radius = constants.radius / 2
    common = pooled_coefficients(pooled, constants, radius, rng)
    return common + _descent(
        lambda difference: machine.gradient((common + difference)[:, None])[:, 0],
        constants,
        machine.n,
        constants.difference_bound,
        radius,
        common.shape,
        rng,
    )


def interval(
    rows: RowMoments,
    vectors: Array,
    column: Array,
    spread: Array,
    variances: Array,
    k: int,
    constants: PublishedConstants,
    rng: np.random.Generator,
    level: float = 0.95,
    sign: int = 1,
) -> tuple[Array, Array]:
    """Algorithm 6 (rows of all machines) or 9 (rows of one machine): an interval for β_k.

    Returns β̃_k with its noise and half of the width, without `bias_of_interval` on each side.
    `column` is Θ̂_k and `spread` Θ̂_k'Σ̂Θ̂_k, which the algorithms take as it is, without noise.
    The sign of the correction is −1 as equation (4.1) and Algorithm 6 print it.
    """
    correction = rows.corrections(vectors[:, None], column[:, None, None])[:, 0, 0]
    # Algorithms and intervals differ in the logarithm: log(1.25/δ) there, log(1/δ) here.
    unit = 2 * constants.correction_bound / rows.n
    noise = unit / accounting.printed_mu(constants.epsilon, constants.delta, "isotropic")
    centres = vectors[:, k] + sign * correction + noise * rng.standard_normal(len(vectors))
    privacy = rows.n * (unit / constants.epsilon) ** 2 * 2 * math.log(1 / constants.delta)
    half = ndtri((1 + level) / 2) * np.sqrt(variances * (spread + privacy) / rows.n)
    return centres, np.asarray(half)


def bias_of_interval(
    constants: PublishedConstants, largest: float, smallest: float, n: int
) -> float:
    """The bias term of Theorem 5's interval for n rows: γ(μ²/ν²)H(s, n).

    Algorithm 9 adds twice the sum of this for all rows and for its machine's.
    """
    c = constants
    gamma = max(largest * (9 * largest + 1 / 4), 17 / 16 * largest + 1 / 96)
    return float(
        gamma
        * (largest / smallest * c.sparsity * math.log(c.size)) ** 2
        * math.log(1 / c.delta)
        * math.log(n) ** 3
        / (n * c.epsilon) ** 2
    )


def private_max(
    values: Array, sensitivity: float, epsilon: float, delta: float, rng: np.random.Generator
) -> Array:
    """Private Max: the largest entry in size, |v_j + noise|, as Algorithm 1 does for s = 1."""
    scale = printed_scale(PEELING, 1, sensitivity, epsilon, delta, values.shape[-1])
    noise = draw(PEELING, 1, values.shape, rng)
    released = noisy_hard_threshold(values, 1, scale, scale, noise)
    return np.asarray(np.abs(released).max(axis=-1))


def restricted_eigenvalue(
    second: Array,
    constants: PublishedConstants,
    n_directions: int,
    is_largest: bool,
    rng: np.random.Generator,
) -> float:
    """Algorithm 5: the extreme of v'Σ̂v over random unit vectors with s entries, with noise.

    The lemma takes c·d^s directions n₁, which no machine can.
    """
    size, s = len(second), constants.sparsity
    where = rng.permuted(np.tile(np.arange(size), (n_directions, 1)), axis=1)[:, :s]
    vectors = rng.standard_normal((n_directions, s))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    inner = second[where[:, :, None], where[:, None, :]]
    exact = np.einsum("ka,kab,kb->k", vectors, inner, vectors)
    scale = 2 * constants.eigenvalue_bound / constants.epsilon
    noisy = (exact if is_largest else -exact) + scale * laplace((n_directions,), rng)
    return float(exact[noisy.argmax()] + scale * laplace((), rng))


def bootstrap(
    precision: Array,
    constants: PublishedConstants,
    bound: float | None,
    rng: np.random.Generator,
    factor: float = 1.0,
) -> Array:
    """Draws of Algorithms 7 and 10 for many rows: |N(0, Θ̂)|'s largest entry by Private Max.

    Given the rows, a draw is normal with covariance Θ̂Σ̂Θ̂', which is Θ if both are exact. `bound`
    is B₄ or B₆, None without noise; `factor` is σ in Algorithm 10, which has it in its draws.
    """
    root = np.linalg.cholesky(precision)
    draws = factor * rng.standard_normal((constants.draws, len(precision))) @ root.T
    if bound is None:
        return np.asarray(np.abs(draws).max(axis=-1))
    return private_max(draws, bound, constants.epsilon, constants.delta, rng)


# -- what they give -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PublishedGuarantee:
    """Guarantee of an algorithm, with all that it needs, if features are clipped to ±c."""

    algorithm: int
    # stated, delta: ε and δ of each of its releases, and δ of the guarantee
    stated: float
    delta: float
    epsilon: float  # that is proved; infinite where there is none
    reason: str

    @property
    def sentence(self) -> str:
        """Why it is not published, with what it gives."""
        if math.isinf(self.epsilon):
            return f"Algorithm {self.algorithm} as printed is not released. {self.reason}."
        return (
            f"Algorithm {self.algorithm} as printed is not released. Stated is "
            f"ε = {self.stated:g}; it gives ε = {self.epsilon:.3g} at δ = {self.delta:g} if "
            f"features are held to their range, and no finite ε if they are not. "
            f"{self.reason}."
        )


def guarantees(c: PublishedConstants) -> tuple[PublishedGuarantee, ...]:
    """List guarantees of Algorithms 3 to 10, each with all of its parts, every one at (ε, δ)."""
    rounds = c.rounds
    descent = rounds * PEELING_COST * (c.epsilon / rounds) ** 2 / math.log(rounds / c.delta)
    normal = accounting.printed_mu(c.epsilon, c.delta, "isotropic") ** 2 / 2
    variance = normal * (c.variance_sensitivity / c.variance_bound) ** 2
    choice = c.epsilon * c.eigenvalue_sensitivity / c.eigenvalue_bound
    maximum = c.draws * PEELING_COST * c.epsilon**2 / math.log(1 / c.delta)
    pooled = maximum * (c.draw_sensitivity(c.pooled) / c.pooled_draw_bound) ** 2
    local = maximum * (c.draw_sensitivity(c.rows, c.sd) / c.local_draw_bound) ** 2
    band = descent + variance + c.size * (descent + normal)
    anew = f"{c.draws} draws, {c.size} columns and {c.size} corrections each spend it anew"
    finite = {  # ρ, δ left for its conversion, why
        3: (descent, c.delta, "It adds up ε of its rounds, where ρ adds up to less"),
        4: (variance, c.delta, "Its noise is made for a larger bound than the true one"),
        7: (band + pooled, c.delta / 2, anew),
        8: (2 * descent, c.delta, "A row is used in both stages"),
        10: (band + descent + local, c.delta / 2, anew),
    }
    proved = {
        number: PublishedGuarantee(
            number, c.epsilon, c.delta, accounting.epsilon_of_rho(rho, delta), reason
        )
        for number, (rho, delta, reason) in finite.items()
    }
    proved[5] = PublishedGuarantee(
        5, c.epsilon, 0.0, 1.5 * choice, "Its noise is made for 2m times the true sensitivity"
    )
    for number in (6, 9):
        proved[number] = PublishedGuarantee(number, c.epsilon, c.delta, math.inf, UNNOISED)
    return tuple(proved[number] for number in sorted(proved))
