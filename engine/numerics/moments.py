"""Per-curve moments: all that an estimator linear in the readings needs to know of a curve.

For curve i with readings (t_j, y_j), j = 1 … m_i, the moments are M_i = (1/m_i) Σ_j Φ(t_j)Φ(t_j)'
and v_i = (1/m_i) Σ_j Φ(t_j) y_j. They are computed once; every later round, draw and budget then
costs r² operations per curve whatever the number of readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.tables import cos_sin
from engine.types import Array

_BLOCK = 16_000  # readings worked on at once: their arrays stay in the second-level cache


@dataclass(frozen=True)
class Moments:
    """Per-curve moments of `n_repeats` data sets.

    `gram` (n_repeats, n_curves, r, r) and `cross` (n_repeats, n_curves, r). A curve with a
    non-finite number in it, or with no readings, has zero moments: it counts, and adds nothing.
    """

    gram: Array
    cross: Array

    def first(self, size: int) -> Moments:
        """The moments of the first `size` basis functions."""
        if size == self.cross.shape[-1]:
            return self
        return Moments(np.ascontiguousarray(self.gram[..., :size, :size]),
                       np.ascontiguousarray(self.cross[..., :size]))

    def curves(self, chosen: slice) -> Moments:
        return Moments(self.gram[:, chosen], self.cross[:, chosen])


def curve_moments(times: Array, values: Array, counts: NDArray[np.int64], basis: Basis) -> Moments:
    """Moments of every curve; `times` and `values` are (n_repeats, N), curve after curve."""
    repeats, n, r = len(times), len(counts), basis.size
    gram, cross = np.zeros((repeats, n, r * r)), np.zeros((repeats, n, r))
    for count, curves in _groups_of_equal_length(counts):
        for block, positions in _blocks(count, curves, counts):
            t, y = times[:, positions], values[:, positions]
            flat = (count, repeats * len(block))
            means = _block_means(_points_first(t, count, flat), _points_first(y, count, flat), basis)
            gram[:, block] = means[0].reshape(repeats, len(block), r * r)
            cross[:, block] = means[1].reshape(repeats, len(block), r)
    return Moments(gram.reshape(repeats, n, r, r), cross)


def _points_first(x: Array, count: int, shape: tuple[int, int]) -> Array:
    """(repeats, curves · count) → (count, repeats · curves): curves run along the fast axis."""
    return np.ascontiguousarray(x.reshape(shape[1], count).T)


def _groups_of_equal_length(counts: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """(number of readings, curves that have it), skipping curves without readings."""
    for count in np.unique(counts[counts > 0]):
        yield int(count), np.flatnonzero(counts == count)


def _blocks(
    count: int, curves: NDArray[np.int64], counts: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64] | slice]]:
    """Cut one group into blocks of curves, each with the positions of its readings."""
    starts = np.cumsum(counts) - counts
    size = max(1, _BLOCK // count)
    for first in range(0, len(curves), size):
        block = curves[first:first + size]
        if block[-1] - block[0] == len(block) - 1:  # neighbours in storage: no copy needed
            yield block, slice(int(starts[block[0]]), int(starts[block[-1]]) + count)
        else:
            yield block, (starts[block][:, None] + np.arange(count)).ravel()


def _block_means(times: Array, values: Array, basis: Basis) -> tuple[Array, Array]:
    """Moments of a block, times and values (points, curves): (curves, r²) and (curves, r).

    Products of cosines and sines are again cosines and sines of sums and differences, so the r²
    entries of M_i follow linearly from the means of 2(r − 1) waves.
    """
    points, curves = times.shape
    highest = 2 * (basis.size // 2)
    waves = np.empty((2 * highest + 1, curves))  # means of 1, cos 1…highest, sin 1…highest
    cross = np.empty((basis.size, curves))
    waves[0], cross[0] = 1.0, values.mean(axis=0)
    for k, (cosine, sine) in enumerate(_harmonics(basis.turns(times), highest), start=1):
        waves[k], waves[highest + k] = cosine.sum(axis=0), sine.sum(axis=0)
        if 2 * k <= basis.size:
            cross[2 * k - 1] = np.einsum("pc,pc->c", cosine, values)
        if 2 * k + 1 <= basis.size:
            cross[2 * k] = np.einsum("pc,pc->c", sine, values)
    waves[1:] /= points
    cross[1:] *= SUP_NORM / points
    broken = ~(np.isfinite(waves.sum(axis=0)) & np.isfinite(cross.sum(axis=0)))
    waves[:, broken], cross[:, broken] = 0.0, 0.0  # NaN would pass through every later clip
    return waves.T @ _product_table(basis.size), cross.T


def _harmonics(turns: Array, highest: int) -> Iterator[tuple[Array, Array]]:
    """cos and sin of k · 2π · turns for k = 1 … highest, by the two-term recurrence."""
    if highest == 0:
        return
    with np.errstate(invalid="ignore"):
        cosine, sine = cos_sin(np.minimum(np.maximum(turns, 0.0), 1.0))
    yield cosine, sine
    twice = 2 * cosine
    last = (np.ones_like(cosine), np.zeros_like(sine))
    this = (cosine, sine)
    for _ in range(highest - 1):
        last, this = this, (twice * this[0] - last[0], twice * this[1] - last[1])
        yield this


@lru_cache(maxsize=64)
def _product_table(size: int) -> Array:
    """The linear map from wave means (1, cos k, sin k) to the entries of M: (waves, r²)."""
    highest = 2 * (size // 2)
    table = np.zeros((2 * highest + 1, size, size))

    def add(entry: tuple[int, int], wave: str, frequency: int, weight: float) -> None:
        if wave == "cos":
            table[(abs(frequency), *entry)] += weight
        elif frequency:
            table[(highest + abs(frequency), *entry)] += weight * np.sign(frequency)

    scale = np.where(np.arange(size) == 0, 1.0, SUP_NORM)
    for a in range(size):
        for b in range(size):
            j, k, w = (a + 1) // 2, (b + 1) // 2, scale[a] * scale[b] / 2
            cosine_a, cosine_b = a % 2 == 1 or a == 0, b % 2 == 1 or b == 0
            if cosine_a and cosine_b:
                add((a, b), "cos", j - k, w), add((a, b), "cos", j + k, w)
            elif cosine_a == cosine_b:
                add((a, b), "cos", j - k, w), add((a, b), "cos", j + k, -w)
            elif cosine_a:  # cos j · sin k
                add((a, b), "sin", j + k, w), add((a, b), "sin", k - j, w)
            else:
                add((a, b), "sin", j + k, w), add((a, b), "sin", j - k, w)
    return table.reshape(2 * highest + 1, size * size)
