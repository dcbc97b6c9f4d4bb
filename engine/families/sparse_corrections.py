"""Corrected sparse coefficients, and how far off they may be.

See `engine.families.sparse_inference`, which says why this has no bias and what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from engine.bands import LEVEL
from engine.families.sparse_averages import Averages
from engine.families.sparse_inference import (
    CORRECTIONS,
    LEAST_VARIANCE,
    LEAST_WITHIN,
    RESIDUALS,
    Columns,
    Constants,
    Noise,
    published,
)
from engine.noise.selection import Indices
from engine.numerics.sparse_fits import largest_quantile
from engine.types import Array

_SAMPLE, _SEED = 2000, 20_240_416
_BLOCK = 2**20  # numbers worked on at once, to stay in cache


# -- the pieces -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Residuals:
    """Average squared clipped residual, and P, the share within the clip: (repeats, columns) each.

    `is_enough` says where P is so large that it can be divided by; elsewhere it counts as 0.3.
    """

    variance: Array
    within: Array
    is_enough: NDArray[np.bool_]


def residual_law(own: Averages, vectors: Array, clip: float, guess: float, deviations: Array,
                 columns: Columns, rng: np.random.Generator) -> Residuals:
    """Residuals at β̂ (repeats, columns, d), as one message of two numbers."""
    squares = own.squared_residuals(vectors, clip)
    unit = clip**2 if math.isfinite(clip) else 1.0
    exact = np.stack([squares / unit, own.within(vectors, clip)], axis=-1)
    released = published(RESIDUALS, exact, deviations, columns.normals((2,), rng))
    within = np.minimum(released[..., 1], 1.0)
    return Residuals(np.maximum(unit * released[..., 0], LEAST_VARIANCE * guess**2),
                     np.maximum(within, LEAST_WITHIN), within >= LEAST_WITHIN)


@dataclass(frozen=True)
class Directions:
    """What corrections are taken along, for g coefficients: w = `theta` x, theta (…, g, d).

    `root` (…, g, g) takes average corrections to coefficients, so that root theta is Θ̂_G;
    `spread` (…, g, g) is the covariance of w; `norms` W, to which w is held: (repeats, columns).
    `deviation` (columns,) is that of noise in entries of the Gram matrix, and `is_distinct`
    (repeats, columns) whether its least eigenvalue is clearly above that noise.
    """

    theta: Array
    root: Array
    spread: Array
    norms: Array
    deviation: Array
    is_distinct: NDArray[np.bool_]
    gram: Array | None = None


@dataclass(frozen=True)
class Distance:
    """What was released about β − β̂: an estimate (repeats, columns, d) and its covariance.

    `least` (repeats, columns) is added to the squared norm, where there is a bound and no estimate.
    """

    values: Array
    covariance: Array
    least: Array | float = 0.0

    @classmethod
    def bounded(cls, vectors: Array, radius: float) -> Distance:
        """No more than that ‖β‖ is at most `radius`, as stated."""
        norm = np.linalg.norm(vectors, axis=-1)
        return cls(np.zeros_like(vectors), np.zeros((*vectors.shape, vectors.shape[-1])),
                   (norm + radius) ** 2)

    @property
    def square(self) -> Array:
        """An upper bound of ‖β − β̂‖², two standard deviations above what noise leaves of it."""
        noise = np.trace(self.covariance, axis1=-2, axis2=-1)
        spread = np.sqrt(2 * (self.covariance**2).sum(axis=(-2, -1)))
        found = (self.values**2).sum(axis=-1) - noise
        return np.asarray(np.maximum(found, 0.0) + 2 * spread + self.least)


@dataclass(frozen=True)
class Corrected:
    """β̃ (repeats, columns, g) and how far off it may be.

    `sampling` (repeats, columns, g, g) is chance in rows, `privacy` that of noise: in the
    corrections, and in the Gram matrix times β − β̂. `variance` σ̂² (repeats, columns). Where limits
    would not hold they are refused, for a reason that has its own array (repeats, columns).
    """

    values: Array
    sampling: Array
    privacy: Array
    variance: Array
    is_distinct: NDArray[np.bool_]
    is_enough: NDArray[np.bool_]

    @property
    def is_refused(self) -> NDArray[np.bool_]:
        return ~(self.is_distinct & self.is_enough)

    @property
    def covariance(self) -> Array:
        """Of the errors: (repeats, columns, g, g). σ does not multiply the privacy noise."""
        return np.asarray(self.sampling + self.privacy)

    @property
    def deviation(self) -> Array:
        """Of the privacy noise in an entry, root mean square: (repeats, columns)."""
        return np.asarray(np.sqrt(np.diagonal(self.privacy, axis1=-2, axis2=-1).mean(axis=-1)))

    @property
    def errors(self) -> Array:
        """Standard errors: (repeats, columns, g)."""
        return np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))


def correct(own: Averages, vectors: Array, directions: Directions, places: Indices, c: Constants,
            noises: Sequence[Noise], columns: Columns, rng: np.random.Generator,
            distance: Distance | None = None, are_alike: bool = True) -> Corrected:
    """β̃ at `places` (g,), from rows the coefficients belong to; see `newton`.

    `distance` is what is known of β − β̂ where not all coefficients are asked for; none is needed
    without a Gram matrix.
    """
    deviations = tuple((one.residuals, one.correction) for one in noises)
    return newton(own, vectors, vectors[..., places], directions, c.residual, c.guess, deviations,
                  columns, rng, None if len(places) == vectors.shape[-1] else distance, are_alike)


def newton(own: Averages, vectors: Array, start: Array, directions: Directions, clip: float,
           guess: float, noises: Sequence[tuple[float, float]], columns: Columns,
           rng: np.random.Generator, distance: Distance | None = None, are_alike: bool = True
           ) -> Corrected:
    """β̃ = β̂ + root · (average of Θx [y − x'β̂]_R + noise)/P, with all of its errors.

    `vectors` are β̂ (repeats, columns, d) and `start` its corrected entries (repeats, columns, g);
    `noises` are those of residuals and of corrections at each budget. Without `distance` what β̂
    lacks is taken to be what is corrected here. `are_alike`: the Gram matrix is that of the same
    rows, so that chance in it cancels, and what β̂ lacks is no part of the sampling error.
    """
    of_residuals, of_averages = (columns.per_budget([one[k] for one in noises]) for k in (0, 1))
    law = residual_law(own, vectors, clip, guess, of_residuals, columns, rng)
    exact = own.corrections(vectors, directions.theta, clip, directions.norms)
    deviations = directions.norms * of_averages
    averages = published(CORRECTIONS, exact, deviations, columns.normals(start.shape[-1:], rng))
    moved = _times(directions.root, averages) / law.within[..., None]
    variance, has_gram = law.variance, directions.gram is not None
    if are_alike and has_gram:
        variance = _less_signal(law.variance, averages, own.n, deviations, guess)
    scale, across = law.within**-2.0, directions.root.swapaxes(-1, -2)
    sampling = (scale * variance / own.n)[..., None, None] * (
        directions.root @ directions.spread @ across)
    privacy = (scale * deviations**2)[..., None, None] * (directions.root @ across)
    if has_gram:
        inverse = directions.root @ (directions.root if distance is None else directions.theta)
        privacy = privacy + matrix_noise(inverse, directions.deviation, Distance(
            moved, sampling + privacy) if distance is None else distance)
    return Corrected(start + moved, sampling, privacy, variance, directions.is_distinct,
                     law.is_enough)


def _less_signal(variance: Array, averages: Array, n: int, deviations: Array, guess: float
                 ) -> Array:
    """Average squared residuals less what of them is x'(β − β̂), as far as averages surely show it.

    Averages of Mx [y − x'β̂]_R have squared norm P²(β − β̂)'A(β − β̂) but for noise.
    """
    g, noise = averages.shape[-1], variance / n + deviations**2
    signal = (averages**2).sum(axis=-1) - noise * (g + 2 * math.sqrt(2 * g))
    return np.asarray(np.maximum(variance - np.maximum(signal, 0.0), LEAST_VARIANCE * guess**2))


def matrix_noise(inverse: Array, deviation: Array, distance: Distance) -> Array:
    """Covariance of Θ̂_G(Â − A)(β − β̂), from noise of deviation t in Â: (…, g, g).

    (Â − A)v has covariance t²(‖v‖² I + vv') for a fixed v, its diagonal having twice the variance.
    `inverse` is Θ̂_G (…, g, k), `deviation` t (columns,), `distance` about k coefficients.
    """
    along = _times(inverse, distance.values)
    across = inverse @ inverse.swapaxes(-1, -2)
    return np.asarray((deviation**2)[:, None, None] * (
        distance.square[..., None, None] * across + along[..., :, None] * along[..., None, :]))


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray((matrix @ vector[..., None])[..., 0])


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


def _by_blocks(function: Callable[[Array], Array], matrices: Array, numbers: int) -> Array:
    """A function of matrices (…, d, d), each of which needs so many numbers, a few at a time."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    block = max(1, _BLOCK // numbers)
    parts = [function(flat[k:k + block]) for k in range(0, len(flat), block)]
    return np.concatenate(parts).reshape(*matrices.shape[:-2], *parts[0].shape[1:])
