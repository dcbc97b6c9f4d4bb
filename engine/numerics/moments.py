"""Per-curve moments: all that an estimator linear in the readings needs to know of a curve.

For curve i with readings (t_j, y_j), j = 1 … m_i, they are M_i = (1/m_i) Σ_j Φ(t_j)Φ(t_j)' and
v_i = (1/m_i) Σ_j Φ(t_j) y_j. Products of cosines and sines are again cosines and sines of sums and
differences of frequencies, so the r² entries of M_i follow from the means of about 2r waves:
those, and v_i, are what is kept. They are computed once; every later round, draw and budget
then costs the same whatever the number of readings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.tables import cos_sin, curves_at_once

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Moments:
    """Per-curve moments of `n_repeats` data sets for one basis.

    Curves run along the last axis, so that every pass over them is contiguous. A curve with a
    non-finite number in it, or without readings, has zero features: it counts, and adds nothing.
    """

    # (n_repeats, waves + r, n_curves): means of 1, cos 1 … cos h and, for a Fourier basis, sin 1 …
    # sin h, with h from `highest_wave`; then the r entries of v
    features: Array
    basis: Basis

    @property
    def size(self) -> int:
        return self.basis.size

    @property
    def n_curves(self) -> int:
        return int(self.features.shape[2])

    @property
    def waves(self) -> Array:
        """The wave means: (repeats, waves, curves)."""
        return self.features[:, : _n_waves(self.basis)]

    @property
    def cross(self) -> Array:
        """The v_i: (repeats, r, curves)."""
        return self.features[:, _n_waves(self.basis) :]

    def curves(self, part: slice) -> Moments:
        """The moments of some of the curves; a view."""
        return Moments(self.features[:, :, part], self.basis)

    def repeats(self, part: slice) -> Moments:
        """The moments of some of the data sets; a view."""
        return Moments(self.features[part], self.basis)

    def first(self, size: int) -> Moments:
        """The moments of the first basis functions."""
        if size == self.size:
            return self
        old, basis = highest_wave(self.basis), self.basis.first(size)
        new = highest_wave(basis)
        waves = [*range(new + 1)]
        if basis.family == "fourier":
            waves += range(old + 1, old + new + 1)
        cross = range(_n_waves(self.basis), _n_waves(self.basis) + size)
        return Moments(self.features[:, [*waves, *cross]], basis)

    def average(self) -> tuple[Array, Array]:
        """The averages over curves of M_i and v_i: (repeats, r, r) and (repeats, r)."""
        gram = np.tensordot(self.waves.mean(axis=2), product_table(self.basis), axes=1)
        return gram, self.cross.mean(axis=2)

    def linear_map(self, iterates: Array) -> Array:
        """Map features to gradients: rows for M_i a from the wave means, minus v_i.

        It depends on the iterates alone.

        From iterates a (repeats, columns, r) to (repeats, columns · r, features).
        """
        repeats, columns, r = iterates.shape
        waves = iterates.reshape(-1, r) @ wave_map(self.basis)
        return beside_minus_one(waves.reshape(repeats, columns * r, -1), r)

    def gradients(self, iterates: Array, linear: Array | None = None) -> Callable[[slice], Array]:
        """M_i a − v_i at iterates a (repeats, columns, r), as a function of a slice of the curves.

        The function returns (repeats, columns, r, curves).
        """
        repeats, columns, r = iterates.shape
        linear = self.linear_map(iterates) if linear is None else linear

        def of(curves: slice) -> Array:
            rows = linear @ self.features[:, :, curves]
            return np.asarray(rows.reshape(repeats, columns, r, -1))

        return of


def beside_minus_one(waves: Array, r: int) -> Array:
    """Put −1 beside the rows for the waves, for the row's entry of v.

    From (repeats, columns · r, width) to (repeats, columns · r, width + r).
    """
    repeats, rows, width = waves.shape
    out = np.zeros((repeats, rows, width + r))
    out[..., :width] = waves
    out.reshape(repeats, rows // r, -1)[..., width :: width + r + 1] = -1.0
    return out


@lru_cache(maxsize=64)
def wave_map(basis: Basis) -> Array:
    """The linear map from a to the rows of M a over wave means: (r, r · waves)."""
    return np.ascontiguousarray(product_table(basis).transpose(2, 1, 0).reshape(basis.size, -1))


def curve_moments(times: Array, values: Array, counts: Index, basis: Basis) -> Moments:
    """Moments of every curve; the basis has no gaps in its frequencies.

    Examples
    --------
    >>> times, values = np.array([[0.0, 0.5, 1.0]]), np.array([[1.0, 2.0, 6.0]])
    >>> moments = curve_moments(times, values, np.array([3]), Basis(2, family="cosine"))
    >>> moments.cross[0, :, 0].round(3).tolist()  # means of y and of √2 cos(πt) y
    [3.0, -2.357]
    """
    repeats, n = len(times), len(counts)
    n_features = _n_waves(basis) + basis.size
    features = np.zeros((n_features, repeats * n))  # the curves of all repeats side by side
    flat_times, flat_values = times.ravel(), values.ravel()
    for count, block, positions in _blocks(np.tile(counts, repeats)):
        t = _points_first(flat_times[positions], count)
        y = _points_first(flat_values[positions], count)
        # a slice is filled where it is
        out = features[:, block] if isinstance(block, slice) else np.empty((n_features, len(block)))
        with np.errstate(invalid="ignore", over="ignore"):
            fill_features(out, t, y, basis)
        if not isinstance(block, slice):
            features[:, block] = out
    return Moments(features.reshape(n_features, repeats, n).swapaxes(0, 1), basis)


def highest_wave(basis: Basis) -> int:
    """The highest frequency in products of two basis functions, in turns over the period."""
    return 2 * int(basis.frequency[-1])


def _n_waves(basis: Basis) -> int:
    """Count the wave means: 1 and the cosines, and for Fourier the sines."""
    highest = highest_wave(basis)
    return 1 + highest * (2 if basis.family == "fourier" else 1)


def _points_first(x: Array, count: int) -> Array:
    """(curves · count,) → (count, curves): curves run along the fast axis."""
    return np.ascontiguousarray(x.reshape(-1, count).T)


def _blocks(counts: Index) -> Iterator[tuple[int, Index | slice, Index | slice]]:
    """Cut the curves into blocks of equal length: (readings, curves, positions of readings).

    Neighbours in storage are given as slices, which copy nothing; curves without readings are
    left out.
    """
    starts = np.cumsum(counts) - counts
    used = counts[counts > 0]
    all_equal = len(used) and used.min() == used.max()
    for count in (used[:1] if all_equal else np.unique(used)).tolist():
        curves = np.flatnonzero(counts == count)
        size = curves_at_once(count)
        for first in range(0, len(curves), size):
            block = curves[first : first + size]
            if block[-1] - block[0] == len(block) - 1:
                start = int(starts[block[0]])
                yield (
                    count,
                    slice(int(block[0]), int(block[-1]) + 1),
                    slice(start, start + count * len(block)),
                )
            else:
                yield count, block, (starts[block][:, None] + np.arange(count)).ravel()


def fill_features(features: Array, times: Array, values: Array, basis: Basis) -> None:
    """Features (features, curves) of one block; times and values are (points, curves)."""
    points, highest = len(times), highest_wave(basis)
    cosines, sines = features[: highest + 1], features[highest + 1 : _n_waves(basis)]
    cross = features[_n_waves(basis) :]
    waves = harmonics(basis.turns(times), highest // 2, bool(len(sines)))
    cosines[0] = points
    _add_sums(waves, cosines, sines)
    _add_products(waves, cosines, sines)
    cross[0] = values.sum(axis=0)
    for row, wave in zip(cross[1:], in_order(waves), strict=False):
        np.einsum("pc,pc->c", wave, values, out=row)
    cross[1:] *= SUP_NORM
    features /= points
    is_finite = np.isfinite(features.sum(axis=0))
    if not is_finite.all():
        features[:, ~is_finite] = 0.0  # NaN would pass every later clip


def harmonics(turns: Array, highest: int, with_sines: bool) -> tuple[list[Array], list[Array]]:
    """Cosine and sine of k · 2π · turns for k = 1 … highest, by the two-term recurrence."""
    if highest == 0:
        return [], []
    cosine, sine = cos_sin(np.clip(turns, 0.0, 1.0))
    twice, cosines, sines = 2 * cosine, [cosine], [sine]
    for k in range(1, highest):
        cosines.append(_next(twice, cosines[-1], cosines[-2] if k > 1 else 1.0))
        if with_sines:
            sines.append(_next(twice, sines[-1], sines[-2] if k > 1 else None))
    return cosines, sines if with_sines else []


def _next(twice: Array, last: Array, before: Array | float | None) -> Array:
    """cos((k + 1)x) = 2 cos x cos kx − cos((k − 1)x), and the same for sines; None is 0."""
    wave = twice * last
    if before is not None:
        wave -= before
    return wave


def in_order(waves: Sequence[list[Array]]) -> list[Array]:
    """The waves as the basis has them: cosine 1, sine 1, cosine 2, …, or cosines alone."""
    cosine, sine = waves
    return [wave for pair in zip(cosine, sine, strict=True) for wave in pair] if sine else cosine


def _add_sums(waves: Sequence[list[Array]], cosines: Array, sines: Array) -> None:
    for k, wave in enumerate(waves[0], start=1):
        wave.sum(axis=0, out=cosines[k])
    for k, wave in enumerate(waves[1], start=1):
        wave.sum(axis=0, out=sines[k - 1])


def _add_products(waves: Sequence[list[Array]], cosines: Array, sines: Array) -> None:
    """Sums of the waves up to twice the highest, from products: cos(i+j) = 2 cos i cos j − …"""
    cosine, sine = waves
    highest = len(cosine)
    for k in range(highest + 1, 2 * highest + 1):
        i, j = k // 2, k - k // 2
        np.einsum("pc,pc->c", cosine[i - 1], cosine[j - 1], out=cosines[k])
        cosines[k] = 2 * cosines[k] - cosines[j - i]
        if len(sines):
            np.einsum("pc,pc->c", cosine[i - 1], sine[j - 1], out=sines[k - 1])
            sines[k - 1] = 2 * sines[k - 1] - (sines[j - i - 1] if j > i else 0.0)


@lru_cache(maxsize=64)
def product_table(basis: Basis) -> Array:
    """The linear map from wave means (1, cos k, sin k) to the entries of M: (waves, r, r)."""
    highest, order = highest_wave(basis), np.arange(basis.size)
    table = np.zeros((_n_waves(basis), basis.size, basis.size))
    is_sine = (order > 0) & (order % 2 == 0) & (basis.family == "fourier")
    scale = np.where(order == 0, 1.0, SUP_NORM)

    def add(entry: tuple[int, int], wave: str, frequency: int, weight: float) -> None:
        if wave == "cos":
            table[(abs(frequency), *entry)] += weight
        elif frequency:
            table[(highest + abs(frequency), *entry)] += weight * np.sign(frequency)

    for a in range(basis.size):
        for b in range(basis.size):
            j, k, w = int(basis.frequency[a]), int(basis.frequency[b]), scale[a] * scale[b] / 2
            if is_sine[a] == is_sine[b]:
                add((a, b), "cos", j - k, w)
                add((a, b), "cos", j + k, -w if is_sine[a] else w)
            elif is_sine[b]:  # cos j · sin k
                add((a, b), "sin", j + k, w)
                add((a, b), "sin", k - j, w)
            else:
                add((a, b), "sin", j + k, w)
                add((a, b), "sin", j - k, w)
    return table
