"""Per-curve moments: all that an estimator linear in the readings needs to know of a curve.

For curve i with readings (t_j, y_j), j = 1 … m_i, they are M_i = (1/m_i) Σ_j Φ(t_j)Φ(t_j)' and
v_i = (1/m_i) Σ_j Φ(t_j) y_j. Products of cosines and sines are again cosines and sines of sums and
differences of frequencies, so the r² entries of M_i follow from the means of 2r − 1 waves or
fewer: those, and v_i, are what is kept. They are computed once; every later round, draw and budget
then costs the same whatever the number of readings.
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

Index = NDArray[np.int64]
_BLOCK = 20_000  # readings worked on at once: their arrays stay in the second-level cache


@dataclass(frozen=True)
class Moments:
    """Per-curve moments of `n_repeats` data sets for a basis of `size` functions.

    `features` (n_repeats, 2h + 1 + r, n_curves) with h = 2⌊r/2⌋: means of 1, cos 1 … cos h,
    sin 1 … sin h, and the r entries of v. Curves run along the last axis, so that every pass over
    them is contiguous. A curve with a non-finite number in it, or without readings, has zero
    features: it counts, and adds nothing.
    """

    features: Array
    size: int

    @property
    def n_curves(self) -> int:
        return self.features.shape[2]

    def curves(self, chosen: slice) -> Moments:
        return Moments(self.features[:, :, chosen], self.size)

    def first(self, size: int) -> Moments:
        """The moments of the first `size` basis functions."""
        if size == self.size:
            return self
        old, new = highest_wave(self.size), highest_wave(size)
        waves = [0, *range(1, new + 1), *range(old + 1, old + new + 1)]
        cross = range(2 * old + 1, 2 * old + 1 + size)
        return Moments(self.features[:, [*waves, *cross]], size)

    def average(self) -> tuple[Array, Array]:
        """The averages over curves of M_i and v_i: (repeats, r, r) and (repeats, r)."""
        mean = self.features.mean(axis=2)
        waves = 2 * highest_wave(self.size) + 1
        gram = np.tensordot(mean[:, :waves], product_table(self.size), axes=1)
        return gram, mean[:, waves:]

    def gradients(self, iterates: Array) -> Array:
        """M_i a − v_i for iterates a (repeats, columns, r): (repeats, columns, r, n_curves)."""
        repeats, columns, r = iterates.shape
        rows = gradient_map(iterates) @ self.features
        return np.asarray(rows.reshape(repeats, columns, r, -1))


def gradient_map(iterates: Array) -> Array:
    """The linear map from features to gradients at (repeats, columns, r) iterates.

    Returns (repeats, columns · r, features): rows for M_i a from the wave means, minus v_i.
    """
    repeats, columns, r = iterates.shape
    table = product_table(r).transpose(2, 1, 0).reshape(r, -1)
    waves = (iterates.reshape(-1, r) @ table).reshape(repeats, columns * r, -1)
    cross = np.broadcast_to(np.tile(-np.eye(r), (columns, 1)), (repeats, columns * r, r))
    return np.concatenate([waves, cross], axis=2)


def curve_moments(times: Array, values: Array, counts: Index, basis: Basis) -> Moments:
    """Moments of every curve; `times` and `values` are (n_repeats, N), curve after curve."""
    repeats, n = len(times), len(counts)
    n_features = 2 * highest_wave(basis.size) + 1 + basis.size
    features = np.zeros((n_features, repeats * n))  # the curves of all repeats side by side
    flat_times, flat_values = times.ravel(), values.ravel()
    for count, block, positions in _blocks(np.tile(counts, repeats)):
        t = _points_first(flat_times[positions], count)
        y = _points_first(flat_values[positions], count)
        with np.errstate(invalid="ignore", over="ignore"):
            features[:, block] = _block_features(t, y, basis)
    return Moments(features.reshape(n_features, repeats, n).swapaxes(0, 1), basis.size)


def highest_wave(size: int) -> int:
    """The highest frequency in a product of two of the first `size` basis functions."""
    return 2 * (size // 2)


def _points_first(x: Array, count: int) -> Array:
    """(curves · count,) → (count, curves): curves run along the fast axis."""
    return np.ascontiguousarray(x.reshape(-1, count).T)


def _blocks(counts: Index) -> Iterator[tuple[int, Index | slice, Index | slice]]:
    """Cut the curves into blocks of equal length: (readings, curves, positions of readings).

    Neighbours in storage are given as slices, which copy nothing; curves without readings are
    left out.
    """
    starts = np.cumsum(counts) - counts
    for count in np.unique(counts[counts > 0]).tolist():
        curves = np.flatnonzero(counts == count)
        size = max(1, _BLOCK // count)
        for first in range(0, len(curves), size):
            block = curves[first:first + size]
            if block[-1] - block[0] == len(block) - 1:
                start = int(starts[block[0]])
                yield (count, slice(int(block[0]), int(block[-1]) + 1),
                       slice(start, start + count * len(block)))
            else:
                yield count, block, (starts[block][:, None] + np.arange(count)).ravel()


def _block_features(times: Array, values: Array, basis: Basis) -> Array:
    """Features of one block, times and values (points, curves): (features, curves)."""
    points, curves = times.shape
    highest = highest_wave(basis.size)
    features = np.empty((2 * highest + 1 + basis.size, curves))
    cosines, sines = features[:highest + 1], features[highest:2 * highest + 1]
    cross = features[2 * highest + 1:]
    waves = _harmonics(basis.turns(times), highest // 2)
    for k, (cosine, sine) in enumerate(waves, start=1):
        cosine.sum(axis=0, out=cosines[k])
        sine.sum(axis=0, out=sines[k])
        np.einsum("pc,pc->c", cosine, values, out=cross[2 * k - 1])
        if 2 * k < basis.size:
            np.einsum("pc,pc->c", sine, values, out=cross[2 * k])
    _add_products(waves, cosines, sines, points)
    cosines[0], cross[0] = points, values.sum(axis=0)
    features /= points
    cross[1:] *= SUP_NORM
    features[:, ~np.isfinite(features.sum(axis=0))] = 0.0  # NaN would pass every later clip
    return features


def _harmonics(turns: Array, highest: int) -> list[tuple[Array, Array]]:
    """Cosine and sine of k · 2π · turns for k = 1 … highest, by the two-term recurrence."""
    if highest == 0:
        return []
    waves = [cos_sin(np.minimum(np.maximum(turns, 0.0), 1.0))]
    twice = 2 * waves[0][0]
    last: tuple[Array | float, Array | float] = (1.0, 0.0)
    while len(waves) < highest:
        this = waves[-1]
        waves.append((twice * this[0] - last[0], twice * this[1] - last[1]))
        last = this
    return waves


def _add_products(waves: list[tuple[Array, Array]], cosines: Array, sines: Array, points: int
                  ) -> None:
    """Sums of the waves up to twice the highest, from products: cos(i+j) = 2 cos i cos j − …"""
    for k in range(len(waves) + 1, 2 * len(waves) + 1):
        i, j = k // 2, k - k // 2
        (cosine_i, _), (cosine_j, sine_j) = waves[i - 1], waves[j - 1]
        np.einsum("pc,pc->c", cosine_i, cosine_j, out=cosines[k])
        np.einsum("pc,pc->c", cosine_i, sine_j, out=sines[k])
        cosines[k] = 2 * cosines[k] - (cosines[j - i] if j > i else points)
        sines[k] = 2 * sines[k] - (sines[j - i] if j > i else 0.0)


@lru_cache(maxsize=64)
def product_table(size: int) -> Array:
    """The linear map from wave means (1, cos k, sin k) to the entries of M: (waves, r, r)."""
    highest = highest_wave(size)
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
                add((a, b), "cos", j - k, w)
                add((a, b), "cos", j + k, w)
            elif cosine_a == cosine_b:
                add((a, b), "cos", j - k, w)
                add((a, b), "cos", j + k, -w)
            elif cosine_a:  # cos j · sin k
                add((a, b), "sin", j + k, w)
                add((a, b), "sin", k - j, w)
            else:
                add((a, b), "sin", j + k, w)
                add((a, b), "sin", j - k, w)
    return table
