"""Directions of corrections of sparse coefficients: from a noisy Gram matrix, or a column.

See `engine.mechanisms.families.sparse.inference` for what they are for, and
`engine.mechanisms.families.sparse.averages` for what one row can do to each average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from engine.core.arrays import Indices, largest
from engine.core.types import Array, Step
from engine.mechanisms.families.sparse.averages import Averages
from engine.mechanisms.families.sparse.corrections import Directions
from engine.mechanisms.families.sparse.inference import (
    DIRECTION,
    DISTINCT,
    GRAM,
    GRAM_OF_CHOSEN,
    MIN_SPREAD,
    SPREAD,
    Columns,
    IntervalConstants,
    NoiseDeviations,
    ball,
    published,
)
from engine.mechanisms.families.sparse.thresholding import descend

_NARROW = 1 / 3  # of the median variance, below which it is the feature that is at fault
_HIDDEN = 6.0  # deviations of its noise, below which a variance is too small to divide by
_MIN_EIGENVALUE = 0.01  # of a released matrix, where it has to be inverted nevertheless


# -- several coefficients -------------------------------------------------------------------------


def _symmetric(columns: Columns, size: int, rng: np.random.Generator) -> Array:
    """Standard noise in all directions of symmetric matrices: (repeats, columns, d, d).

    Variance 1 beside the diagonal and 2 on it, so that its law depends on the Frobenius norm alone.
    """
    standard = np.triu(columns.normals((size, size), rng))
    return np.asarray(
        standard
        + np.triu(standard, 1).swapaxes(-1, -2)
        + (math.sqrt(2) - 1) * standard * np.eye(size)
    )


def noisy_gram(
    pooled: Averages,
    c: IntervalConstants,
    noises: Sequence[NoiseDeviations],
    columns: Columns,
    rng: np.random.Generator,
) -> Array:
    """Release the average of xx' with symmetric noise, rows clipped to B: (repeats, columns, d, d).

    Replacing a row moves it by at most √2 B²/N in the Frobenius norm, which two orthogonal rows of
    norm B attain, and noise is alike in all directions of that norm.
    """
    exact = pooled.gram(c.row)[:, None]
    return with_noise(
        GRAM, exact, columns.per_budget([noise.gram for noise in noises]), columns, rng
    )


def with_noise(
    step: Step, exact: Array, deviations: Array, columns: Columns, rng: np.random.Generator
) -> Array:
    """Publish symmetric matrices with noise, of these deviations beside the diagonal."""
    size = exact.shape[-1]
    sizes = deviations[:, None, None] * (1 + (math.sqrt(2) - 1) * np.eye(size))
    standard = _symmetric(columns, size, rng) / (1 + (math.sqrt(2) - 1) * np.eye(size))
    return published(step, exact, sizes, standard)


def several_directions(gram: Array, places: Indices, deviation: Array) -> Directions:
    """Whitened directions of several coefficients from a released matrix: post-processing.

    The norm of its noise is about 2√d times as large as the deviation.
    """
    size = gram.shape[-1]
    values, vectors = np.linalg.eigh(gram)
    norm = math.sqrt(size) * deviation
    min_gap = np.maximum(2 * DISTINCT * norm, _MIN_EIGENVALUE / 10)
    is_distinct = values[..., 0] >= min_gap
    variances = np.diagonal(gram, axis1=-2, axis2=-1)
    narrowest = variances.min(axis=-1)
    hidden = np.maximum(2 * min_gap, _HIDDEN * math.sqrt(2) * deviation)
    is_narrow = (narrowest < hidden) & (narrowest < _NARROW * np.median(variances, axis=-1))
    floored = np.maximum(values, np.maximum(norm, _MIN_EIGENVALUE / 10)[:, None])
    if len(places) == size:
        root = theta = _power(floored, vectors, -0.5)
    else:
        rows = _power(floored, vectors, -1.0)[..., places, :]
        inner, axes = np.linalg.eigh(rows[..., places])
        root, theta = _power(inner, axes, 0.5), _power(inner, axes, -0.5) @ rows
    spread = np.broadcast_to(np.eye(len(places)), root.shape)
    norms = np.full(gram.shape[:2], ball(len(places)))
    return Directions(
        theta, root, spread, norms, deviation, is_distinct, _power(floored, vectors, 1.0), is_narrow
    )


def _power(values: Array, vectors: Array, exponent: float) -> Array:
    """A power of symmetric matrices with these eigenvalues and eigenvectors."""
    return np.asarray((vectors * values[..., None, :] ** exponent) @ vectors.swapaxes(-1, -2))


def on_support(
    averages: Averages,
    vectors: Array,
    s: int,
    deviations: Array,
    columns: Columns,
    rng: np.random.Generator,
) -> tuple[Indices, Directions]:
    """Places (repeats, columns, s) of entries that are not zero, and directions for them.

    Only the Gram matrix of the s chosen features is released, whose rows are so much shorter.
    """
    where = np.sort(largest(np.abs(vectors), s), axis=-1)
    gram = with_noise(GRAM_OF_CHOSEN, averages.gram_on(where, ball(s)), deviations, columns, rng)
    small = several_directions(gram, np.arange(s), deviations)
    theta = np.zeros((*where.shape, vectors.shape[-1]))
    np.put_along_axis(
        theta, np.broadcast_to(where[..., None, :], (*where.shape, s)), small.theta, axis=-1
    )
    return where, Directions(
        theta,
        small.root,
        small.spread,
        small.norms,
        small.deviation,
        small.is_distinct,
        small.gram,
        small.is_narrow,
    )


# -- one coefficient without a Gram matrix --------------------------------------------------------


def one_direction(
    pooled: Averages,
    place: int,
    size: int,
    c: IntervalConstants,
    noises: Sequence[NoiseDeviations],
    columns: Columns,
    rng: np.random.Generator,
) -> Directions:
    """Θ̂_k by private hard thresholding, and V by clipped squares, for one coefficient.

    Products are clipped to ±τ, `c.product`, about four of their standard deviations Θ_kk^½.
    """
    vectors = descend(
        partial(_column_gradient, pooled, place, c.product),
        (columns.repeats, columns.draws, size),
        c.column,
        c.law,
        [noise.column for noise in noises],
        rng,
        DIRECTION,
    )
    exact = pooled.squared_products(vectors, c.product)
    deviations = columns.per_budget([noise.spread for noise in noises])
    spread = published(SPREAD, exact, deviations, columns.normals((), rng))
    spread = np.maximum(spread, MIN_SPREAD)[:, :, None, None]
    shape = vectors.shape[:2]
    return Directions(
        vectors[:, :, None],
        np.ones((*shape, 1, 1)),
        spread,
        np.full(shape, c.product),
        np.zeros(shape[1]),
        np.ones(shape, dtype=bool),
    )


def _column_gradient(pooled: Averages, place: int, clip: float, vectors: Array) -> Array:
    """Σ̂θ − e_k, with products x'θ clipped to ±clip."""
    gradient = pooled.products(vectors, clip)
    gradient[..., place] -= 1
    return gradient
