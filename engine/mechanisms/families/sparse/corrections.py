"""Corrected sparse coefficients, and how far off they may be.

See `engine.mechanisms.families.sparse.inference`, which says why this has no bias and what it
costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from engine.core.arrays import Indices
from engine.core.bands import LEVEL, NORMAL
from engine.core.types import Array
from engine.mechanisms.families.sparse.averages import Averages
from engine.mechanisms.families.sparse.inference import (
    CORRECTIONS,
    MIN_VARIANCE,
    MIN_WITHIN,
    RESIDUALS,
    Columns,
    NoiseDeviations,
    published,
)
from engine.numerics.sparse_fits import largest_quantile

_SAMPLE, _SEED = 2000, 20_240_416
_MOST_OF_NOISE = 0.5  # of a variance that noise is taken to make up
_BLOCK = 2**20  # numbers worked on at once, to stay in cache


# -- the pieces -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Rows, and the coefficients whose residuals are looked at."""

    averages: Averages  # over the rows that the coefficients belong to
    vectors: Array  # (repeats, columns, d): β̂
    clip: float  # R, to which residuals are held
    guess: float  # of σ


@dataclass(frozen=True, eq=False)
class CorrectionNoise:
    """Standard deviations of the noise in a correction, at every column."""

    residuals: Array  # (columns,): in squared residuals, and in the share within their clip
    corrections: Array  # (columns,): in averages of products that are clipped to norm 1
    # (columns,) or None: in released means of features; None where there are none
    centre: Array | None = None


@dataclass(frozen=True)
class Residuals:
    """Released statistics of residuals."""

    variance: Array  # (repeats, columns): average squared clipped residual
    within: Array  # (repeats, columns): P, the share within the clip
    # (repeats, columns) array of bool: where P is so large that it can be divided by; elsewhere it
    # counts as 0.3
    is_enough: NDArray[np.bool_]
    # (repeats, columns) or float: average clipped residual; 0 where it is not released
    mean: Array | float = 0.0


def _residual_law(
    rows: FittedRows,
    deviations: Array,
    columns: Columns,
    rng: np.random.Generator,
    has_mean: bool = False,
) -> Residuals:
    """Released squares of residuals and the share within their clip, as one message.

    With the mean residual, in units of twice the clip, where that is needed. The noise in both
    numbers has `deviations` (columns,).
    """
    averages, vectors, clip = rows.averages, rows.vectors, rows.clip
    squares = averages.squared_residuals(vectors, clip)
    unit = clip if math.isfinite(clip) else 1.0
    each = [squares / unit**2, averages.within(vectors, clip)]
    each += [averages.residuals(vectors, clip) / (2 * unit)] if has_mean else []
    exact = np.stack(each, axis=-1)
    released = published(RESIDUALS, exact, deviations, columns.normals(exact.shape[-1:], rng))
    within = np.minimum(released[..., 1], 1.0)
    return Residuals(
        np.maximum(unit**2 * released[..., 0], MIN_VARIANCE * rows.guess**2),
        np.maximum(within, MIN_WITHIN),
        within >= MIN_WITHIN,
        2 * unit * released[..., 2] if has_mean else 0.0,
    )


@dataclass(frozen=True)
class Directions:
    """Directions of corrections for g coefficients: w = Θx."""

    theta: Array  # (repeats, columns, g, d): Θ
    # (repeats, columns, g, g): takes average corrections to coefficients, so that root Θ is Θ̂_G
    root: Array
    spread: Array  # (repeats, columns, g, g): covariance of w
    norms: Array  # (repeats, columns): W, to which w is held
    deviation: Array  # (columns,): of noise in entries of the Gram matrix
    # (repeats, columns) array of bool: whether its least eigenvalue is clearly above that noise
    is_distinct: NDArray[np.bool_]
    gram: Array | None = None  # (repeats, columns, d, d): the released matrix; None without one
    # (repeats, columns) array of bool: whether a single feature varies so little that it may be
    # lost in that noise
    is_narrow: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((), dtype=bool))

    @property
    def shares_of_noise(self) -> Array:
        """Noise over the variance of features, each given the others: (repeats, columns, d)."""
        assert self.gram is not None
        given_others = np.diagonal(np.linalg.inv(self.gram), axis1=-2, axis2=-1)
        return np.asarray(math.sqrt(2) * self.deviation[:, None] * given_others)


@dataclass(frozen=True)
class Distance:
    """Released statistics of β − β̂."""

    values: Array  # (repeats, columns, d): an estimate of it
    covariance: Array  # (repeats, columns, d, d): of that estimate
    # (repeats, columns) or float: added to the squared norm, where there is a bound and no estimate
    added_square: Array | float = 0.0

    @classmethod
    def bounded(cls, vectors: Array, radius: float) -> Distance:
        """Assume only that ‖β‖ is at most what is stated; β̂ is (repeats, columns, d)."""
        norm = np.linalg.norm(vectors, axis=-1)
        return cls(
            np.zeros_like(vectors),
            np.zeros((*vectors.shape, vectors.shape[-1])),
            (norm + radius) ** 2,
        )

    def at_most(self, shares: Array) -> Distance:
        """Correct for noise in a Gram matrix that has made it look smaller.

        What was estimated is Θ̂A(β − β̂). Where Â_jj is too large by a share e of itself, entry j
        is only 1 − e of what β̂ lacks, and e is at most 1.96 of its standard deviations.

        `shares` (repeats, columns, d) are the standard deviations of e.
        """
        larger = 1 / (1 - np.minimum(NORMAL * shares, _MOST_OF_NOISE))
        return replace(
            self,
            values=larger * self.values,
            covariance=larger[..., :, None] * self.covariance * larger[..., None, :],
        )

    @property
    def square(self) -> Array:
        """An upper bound of ‖β − β̂‖², two standard deviations above what noise leaves of it."""
        noise = np.trace(self.covariance, axis1=-2, axis2=-1)
        spread = np.sqrt(2 * (self.covariance**2).sum(axis=(-2, -1)))
        norm = (self.values**2).sum(axis=-1) - noise
        return np.asarray(np.maximum(norm, 0.0) + 2 * spread + self.added_square)


@dataclass(frozen=True)
class Corrected:
    """β̃ and how far off it may be; where limits would not hold they are refused, with a reason."""

    values: Array  # (repeats, columns, g): β̃
    sampling: Array  # (repeats, columns, g, g): covariance by chance in rows
    # (repeats, columns, g, g): by noise: in the corrections, in the Gram matrix times β − β̂, and
    # in means of features times the mean residual
    privacy: Array
    variance: Array  # (repeats, columns): σ̂²
    # is_distinct, is_enough, each (repeats, columns) array of bool: whether Gram matrix and
    # residuals let limits hold):
    is_distinct: NDArray[np.bool_]
    is_enough: NDArray[np.bool_]
    # (repeats, columns) array of bool: as in `Directions`
    is_narrow: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((), dtype=bool))

    @property
    def is_refused(self) -> NDArray[np.bool_]:
        return ~(self.is_distinct & self.is_enough)

    @property
    def covariance(self) -> Array:
        """Covariance of the errors: (repeats, columns, g, g).

        σ does not multiply the privacy noise.
        """
        return np.asarray(self.sampling + self.privacy)

    @property
    def deviation(self) -> Array:
        """Root mean square of the privacy noise in an entry: (repeats, columns)."""
        return np.asarray(np.sqrt(np.diagonal(self.privacy, axis1=-2, axis2=-1).mean(axis=-1)))

    @property
    def errors(self) -> Array:
        """Standard errors: (repeats, columns, g)."""
        return np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))

    def less(self, bias: Array) -> Corrected:
        """Subtract a bias (repeats, columns, g) that is known on average, where limits are given.

        Its own size is counted once more as an error.
        """
        bias = np.where(self.is_refused[..., None], 0.0, bias)
        return replace(
            self,
            values=self.values - bias,
            privacy=self.privacy + bias[..., :, None] * bias[..., None, :],
        )


def correct(
    rows: FittedRows,
    directions: Directions,
    places: Indices,
    noises: Sequence[NoiseDeviations],
    columns: Columns,
    rng: np.random.Generator,
    distance: Distance | None = None,
    are_alike: bool = True,
) -> Corrected:
    """β̃ at some places, from rows the coefficients belong to; see `newton`."""
    of_centre = [noise.centre for noise in noises if noise.centre is not None]
    noise = CorrectionNoise(
        columns.per_budget([each.residuals for each in noises]),
        columns.per_budget([each.correction for each in noises]),
        columns.per_budget(of_centre) if of_centre else None,
    )
    is_whole = len(places) == rows.vectors.shape[-1]
    return newton(
        rows,
        rows.vectors[..., places],
        directions,
        noise,
        columns,
        rng,
        None if is_whole else distance,
        are_alike,
    )


def newton(
    rows: FittedRows,
    start: Array,
    directions: Directions,
    noise: CorrectionNoise,
    columns: Columns,
    rng: np.random.Generator,
    distance: Distance | None = None,
    are_alike: bool = True,
) -> Corrected:
    """β̃ = β̂ + root · (average of Θx [y − x'β̂]_R + noise)/P, with all of its errors.

    `distance` is what is known of β − β̂; None if it is what is corrected here. If the Gram matrix
    is that of the same rows (`are_alike`), chance in it cancels, and what β̂ lacks is no part of
    the sampling error.
    """
    n = rows.averages.n
    law = _residual_law(rows, noise.residuals, columns, rng, noise.centre is not None)
    exact = rows.averages.corrections(rows.vectors, directions.theta, rows.clip, directions.norms)
    deviations = directions.norms * noise.corrections
    noisy = published(CORRECTIONS, exact, deviations, columns.normals(start.shape[-1:], rng))
    moved = times(directions.root, noisy) / law.within[..., None]
    variance, has_gram = law.variance, directions.gram is not None
    if are_alike and has_gram:
        variance = _less_signal(law.variance, noisy, n, deviations, rows.guess)
    scale, across = law.within**-2.0, directions.root.swapaxes(-1, -2)
    sampling = (scale * variance / n)[..., None, None] * (
        directions.root @ directions.spread @ across
    )
    privacy = (scale * deviations**2)[..., None, None] * (directions.root @ across)
    if has_gram:
        inverse = directions.root @ (directions.root if distance is None else directions.theta)
        missing = Distance(moved, sampling + privacy) if distance is None else distance
        privacy = privacy + matrix_noise(
            inverse, directions.deviation, missing.at_most(directions.shares_of_noise)
        )
    if noise.centre is not None:
        privacy = privacy + _mean_noise(directions, noise.centre, law.mean / law.within)
    return Corrected(
        start + moved,
        sampling,
        privacy,
        variance,
        directions.is_distinct,
        law.is_enough,
        directions.is_narrow,
    )


def _less_signal(
    variance: Array, averages: Array, n: int, deviations: Array, guess: float
) -> Array:
    """Average squared residuals less what of them is x'(β − β̂), as far as averages surely show it.

    Averages of Mx [y − x'β̂]_R have squared norm P²(β − β̂)'A(β − β̂) but for noise.
    """
    g, noise = averages.shape[-1], variance / n + deviations**2
    signal = (averages**2).sum(axis=-1) - noise * (g + 2 * math.sqrt(2 * g))
    return np.asarray(np.maximum(variance - np.maximum(signal, 0.0), MIN_VARIANCE * guess**2))


def matrix_noise(inverse: Array, deviation: Array, distance: Distance) -> Array:
    """Covariance of Θ̂_G(Â − A)(β − β̂), from noise of deviation t in Â: (repeats, columns, g, g).

    (Â − A)v has covariance t²(‖v‖² I + vv') for a fixed v, its diagonal having twice the variance.
    """
    along = times(inverse, distance.values)
    across = inverse @ inverse.swapaxes(-1, -2)
    return np.asarray(
        (deviation**2)[:, None, None]
        * (distance.square[..., None, None] * across + along[..., :, None] * along[..., None, :])
    )


def bias_of_shared_noise(directions: Directions, vectors: Array) -> Array:
    """Estimate the mean of −Θ̂_G(Â − A)(β − β̂), (repeats, columns, g), β̂ being of Â on S.

    Then β̂ = K(Aβ + noise) with K = (Â_SS + tI)⁻¹ on S and 0 elsewhere, so that β − β̂ has the part
    K(Â − A)β. Whatever A is, entries of the noise N = Â − A have variance t², and 2t² on the
    diagonal, so that E NKN = t²(tr K I + K). It shrinks coefficients, and most of all those of
    features that vary little.

    β̂ (repeats, columns, d) stands in for β.
    """
    assert directions.gram is not None
    is_kept, deviation = vectors != 0, directions.deviation[:, None]
    both = is_kept[..., :, None] & is_kept[..., None, :]
    diagonal = np.where(is_kept, deviation, 1.0)
    chosen = np.where(both, directions.gram, 0.0) + diagonal[..., None] * np.eye(vectors.shape[-1])
    inverse = np.where(both, np.linalg.inv(chosen), 0.0)
    trace = np.trace(inverse, axis1=-2, axis2=-1)[..., None]
    twice = deviation**2 * (trace * vectors + times(inverse, vectors))
    return -times(directions.root @ directions.theta, twice)


def _mean_noise(directions: Directions, deviation: Array, offset: Array) -> Array:
    """Covariance of Θ̂_G δa, from noise δ in the means that features are measured from.

    `deviation` (columns,) of the noise in each mean, and a = `offset` (repeats, columns), the mean
    residual, give (repeats, columns, g, g).
    """
    inverse = directions.root @ directions.theta
    return np.asarray(
        ((deviation * offset) ** 2)[..., None, None] * (inverse @ inverse.swapaxes(-1, -2))
    )


def times(matrices: Array, vectors: Array) -> Array:
    """Products of matrices (…, g, k) with vectors (…, k): (…, g)."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])


# -- how far off they may be ----------------------------------------------------------------------


def pointwise_half_widths(errors: Array) -> Array:
    """1.96 standard errors: each coefficient on its own, 95 in 100: (…)."""
    return np.asarray(NORMAL * errors)


def two_sided_p_values(distances: Array, errors: Array) -> Array:
    """Compute 2Φ(−|β̃ − b|/error) for the hypothesis that β = b: (…), from β̃ − b (…).

    Below .05 exactly where the pointwise limits leave b out. Nothing but what is published goes in.

    Examples
    --------
    >>> two_sided_p_values(np.array([0.0, 1.96]), np.array([1.0, 1.0])).round(3)
    array([1.  , 0.05])
    """
    return np.asarray(2 * ndtr(-np.abs(distances) / errors))


def simultaneous_half_width(covariance: Array) -> Array:
    """Simulate the 95 % quantile of the largest error of g coefficients, (…), by covariance.

    Simulated from the covariance of what was published, its negative part set to zero:
    post-processing, with a fixed public sample, so that a release always has the same band.
    """
    return _by_blocks(
        lambda matrices: largest_quantile(matrices, LEVEL, _SAMPLE, np.random.default_rng(_SEED)),
        covariance,
        covariance.shape[-1] * _SAMPLE,
    )


def _by_blocks(function: Callable[[Array], Array], matrices: Array, numbers: int) -> Array:
    """A function of matrices (…, d, d), each of which needs so many numbers, a few at a time."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    block = max(1, _BLOCK // numbers)
    parts = [function(flat[k : k + block]) for k in range(0, len(flat), block)]
    return np.concatenate(parts).reshape(*matrices.shape[:-2], *parts[0].shape[1:])
