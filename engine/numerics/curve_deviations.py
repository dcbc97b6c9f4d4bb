"""Deviations of curves from few centres, made anew in each pass: nothing of size r² is kept.

With Φ (m × r) the basis at the m times of a curve, D = diag(l⁻³), Λ = D⁻¹/m and P = A⁻¹ of
`mean_slopes_inverse`, the deviation of `engine.numerics.deviations` is, at a centre a,

    h(a) = T a − t = −P (S + Λ)⁻¹ (s − S a) = −P D Φ' G⁻¹ (y − Φ a),    G = I + Φ D Φ',

because (S + Λ)⁻¹ (1/m) Φ' = (Φ'Φ + D⁻¹)⁻¹ Φ' = D Φ' (I + Φ D Φ')⁻¹. The smallest eigenvalue of G is
at least 1, and that of S + Λ above 0, so both have a Cholesky factor. What is kept of a curve is

* W y for W = −P (Φ'Φ + D⁻¹)⁻¹ Φ', where it is observed at all stated common times (*shared*);
* its times and values, where it has at most 1.5 r of them (*kernel*);
* the sums of `engine.numerics.moments` elsewhere (*sums*), and where readings are not weighted
  within their curves because the law of the times is unknown: h(a) = S a − s (*plain*).

`StreamedDeviations` are made of curves that are read anew in each pass.

Which of these holds, and h itself, follow from the curve's own readings and from public facts. All
operations run along the curves of a block of 64, 128, … lanes, so that none is a remainder: h has
the same bits wherever a curve stands. Lanes that fill a block have h = 0, and so has a curve with a
number that is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.types import Design
from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.deviations import Deviations, blocks_of, mean_slopes_inverse, ridge
from engine.numerics.moments import fill_features, harmonics, highest_wave, in_order, product_table
from engine.numerics.regressor_maps import RegressorMap

Index = NDArray[np.int64]
MOST_COLUMNS = 3  # for which a pass of its own costs less than what several passes would share
_LANES = 64
_BLOCK, _SHARED = 512, 4  # curves, to stay in cache; times as many at common times take as much
_OBSERVATIONS, _TOGETHER = 500_000, 1000  # of a block, and of each curve, worked on at once
_DENSE = 1.5  # observations for each function, from which sums are smaller
_SAME_TIME = 1e-9  # how near an observation at a stated time is to it


@dataclass(frozen=True)
class CurveDeviations(Deviations):
    """The curves of one site and data set, in blocks of one kind each."""

    parts: tuple[CurveBlock, ...]
    people: int
    size: int
    is_common: ClassVar[bool] = True

    @property
    def n_curves(self) -> int:
        return self.people

    @property
    def entries(self) -> int:
        return self.size

    def blocks(self, most: int) -> Sequence[CurveBlock]:
        """All blocks, of their own size."""
        return self.parts

    def of_repeats(self, repeats: slice) -> CurveDeviations:
        """The same: there is one data set."""
        return self

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute the deviations of all lanes, block after block."""
        return np.concatenate([part.from_centres(centres, repeats) for part in self.parts], axis=-1)

    @classmethod
    def of(
        cls,
        times: Array,
        values: Array,
        counts: Index,
        basis: Basis,
        design: Design | None,
        is_single: bool = False,
        block: int = _BLOCK,
    ) -> CurveDeviations:
        """Choose for every curve how its deviation is computed; without a law of times all alike.

        Observations (N,) are in unit scale, curve after curve. If `is_single`, curves with few of
        them are solved for in single precision. `block` curves at most are worked on at once.
        """
        starts = np.cumsum(counts) - counts
        parts = list[CurveBlock]()
        for m in np.unique(counts[counts > 0]).tolist():
            mine = np.flatnonzero(counts == m)
            if design is None:
                for places in in_lanes(mine, m, block):
                    read = (times, values, starts, m)
                    parts.append(PlainBlock.of(places, *read, basis, np.eye(basis.size)))
                continue
            inverse = mean_slopes_inverse(basis, m, design)
            is_shared = np.zeros(len(mine), dtype=bool)
            if m == len(design.times):
                is_shared = _is_at(times, starts, mine, np.array(design.times))
            for places in in_lanes(mine[is_shared], m, _SHARED * block):
                y = rows_of(values, starts, places, m)
                parts.append(SharedBlock.of(places, y, np.array(design.times), basis, inverse))
            for places in in_lanes(mine[~is_shared], m, block):
                if m <= _DENSE * basis.size:
                    parts.append(
                        KernelBlock(inverse, places, times, values, starts, m, basis, is_single)
                    )
                else:
                    parts.append(SumBlock.of(places, times, values, starts, m, basis, inverse))
        return cls(tuple(parts), len(counts), basis.size)


@dataclass(frozen=True)
class CurveBlock(Deviations):
    """Some curves of one length, in a multiple of 64 lanes."""

    inverse: Array  # P, (r, r)
    places: Index  # (lanes,): the number of each curve, −1 in lanes that fill the block
    is_common: ClassVar[bool] = True

    @property
    def n_curves(self) -> int:
        return int((self.places >= 0).sum())

    @property
    def entries(self) -> int:
        return len(self.inverse)

    def blocks(self, most: int) -> Sequence[CurveBlock]:
        """The block itself."""
        return [self]

    def of_repeats(self, repeats: slice) -> CurveBlock:
        """The same: there is one data set."""
        return self

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute h(a) of all lanes: (1, columns, r, lanes)."""
        return self.at(centres[0][..., None])[None]

    def at(self, centres: Array) -> Array:
        """Compute h(a), (columns, r, lanes), at centres (columns, r, lanes or 1)."""
        raise NotImplementedError


@dataclass(frozen=True)
class SharedBlock(CurveBlock):
    """Curves at all stated common times: h(a) = W y − W Φ a."""

    targets: Array  # W y, (r, lanes)
    slopes: Array  # −W Φ, (r, r)
    tells: Array  # (lanes,): 0 of a curve with a number that is none

    @classmethod
    def of(
        cls, places: Index, values: Array, times: Array, basis: Basis, inverse: Array
    ) -> SharedBlock:
        """Build from values (m, lanes) at the stated times (m,)."""
        waves = basis(times)
        told = waves.T @ waves + np.diag(1 / _scales(basis))
        weights = -inverse @ np.linalg.solve(told, waves.T)
        tells = np.isfinite(values).all(axis=0)
        known = np.where(tells, values, 0.0)
        targets = np.einsum("lm,mb->lb", weights, known)
        return cls(inverse, places, targets, -weights @ waves, tells.astype(float))

    def at(self, centres: Array) -> Array:
        moved = np.einsum("lk,ckb->clb", self.slopes, centres)
        return np.asarray(self.targets + (moved if self.tells.all() else moved * self.tells))


@dataclass(frozen=True)
class KernelBlock(CurveBlock):
    """Curves with few observations: h(a) = −P D Φ' G⁻¹ (y − Φ a)."""

    times: Array  # (N,), of all curves: nothing is kept of each
    values: Array  # (N,)
    starts: Index  # (curves,): where each curve begins
    readings: int  # m
    basis: Basis
    is_single: bool  # whether waves and factors are in single precision

    def at(self, centres: Array) -> Array:
        (waves, y), root = self._waves(), np.sqrt(_scales(self.basis))
        kernel = np.empty((len(y), *y.shape), waves.dtype)
        for j in range(len(y)):
            np.einsum("lib,lb->ib", waves[:, j:], waves[:, j], out=kernel[j:, j])
            kernel[j, j] += 1.0
        rest = y - np.einsum("lib,clb->cib", waves, (centres / root[:, None]).astype(waves.dtype))
        solve_along(kernel, rest)
        along = np.einsum("lib,cib->clb", waves, rest).astype(float, copy=False)
        return _mapped(-self.inverse * root, along)

    def _waves(self) -> tuple[Array, Array]:
        """√D Φ', (r, m, lanes), and y; both 0 of a curve with a number that is none."""
        times, y = (
            rows_of(each, self.starts, self.places, self.readings)
            for each in (self.times, self.values)
        )
        tells = are_numbers(times, y)
        times = np.where(tells, times, 0.0)
        waves = np.empty((self.basis.size, *times.shape), np.float32 if self.is_single else float)
        waves[0] = tells
        highest = highest_wave(self.basis) // 2
        is_fourier = self.basis.family == "fourier"
        found = in_order(harmonics(self.basis.turns(times), highest, is_fourier))
        sizes = SUP_NORM * np.sqrt(_scales(self.basis))
        for row, wave, size in zip(waves[1:], found, sizes[1:], strict=False):
            np.multiply(wave, size * tells, out=row)
        return waves, np.where(tells, y, 0.0).astype(waves.dtype, copy=False)


@dataclass(frozen=True)
class SumBlock(CurveBlock):
    """Curves with many observations: h(a) = −P (S + Λ)⁻¹ (s − S a)."""

    features: Array  # (waves + r, lanes), of `engine.numerics.moments`
    basis: Basis
    readings: int

    @classmethod
    def of(
        cls,
        places: Index,
        times: Array,
        values: Array,
        starts: Index,
        m: int,
        basis: Basis,
        inverse: Array,
    ) -> SumBlock:
        """Build from times and values (N,), the sums of whose pieces are added in order.

        Where curves leave lanes free, later pieces of theirs fill these.
        """
        n = int((places >= 0).sum())  # the first n lanes have curves
        sums = np.zeros((len(product_table(basis)) + basis.size, len(places)))
        are_all = np.arange(len(places)) < n
        for some, pieces in _pieces(m, max(1, _LANES // n)):
            t, y = (rows_of(each, starts, places, m, some, pieces) for each in (times, values))
            means, lanes = np.empty((len(sums), t.shape[1])), n * pieces
            with np.errstate(invalid="ignore", over="ignore"):
                fill_features(means, t, y, basis)
            for piece in range(pieces):
                sums[:, :n] += len(t) * means[:, piece:lanes:pieces]
            are_all[:n] &= are_numbers(t, y)[:lanes].reshape(n, pieces).all(axis=1)
        sums[:, ~are_all] = 0.0
        return cls(inverse, places, sums / m, basis, m)

    def at(self, centres: Array) -> Array:
        gram, rest = self._rest(centres)
        r = self.basis.size
        gram[range(r), range(r)] += ridge(r, np.array([self.readings]))
        solve_along(gram, rest)
        return _mapped(-self.inverse, rest)

    def _rest(self, centres: Array) -> tuple[Array, Array]:
        """S, (r, r, lanes), and s − S a, (columns, r, lanes)."""
        r, n_waves = self.basis.size, len(self.features) - self.basis.size
        gram = np.empty((r, r, len(self.places)))
        for (j, k), waves in _products(self.basis).items():
            gram[j, k] = sum(weight * self.features[wave] for wave, weight in waves)
            gram[k, j] = gram[j, k]
        return gram, self.features[n_waves:] - np.einsum("jkb,ckb->cjb", gram, centres)


@dataclass(frozen=True)
class PlainBlock(SumBlock):
    """Curves whose readings all count the same: h(a) = S a − s."""

    def at(self, centres: Array) -> Array:
        return -self._rest(centres)[1]


@dataclass(frozen=True)
class StreamedDeviations(Deviations):
    """The curves of one site and data set, read anew in each pass: a few of them are in memory."""

    # applies a function to the curves of each part of the site, a few at a time
    of_parts: Callable[[Callable[[Iterator[Deviations]], Any]], Sequence[Any]]
    people: int
    size: int
    has_one_centre: bool  # for all people, so that equal centres have equal deviations

    @property
    def is_common(self) -> bool:
        return self.has_one_centre

    @property
    def n_curves(self) -> int:
        return self.people

    @property
    def entries(self) -> int:
        return self.size

    def of_repeats(self, repeats: slice) -> StreamedDeviations:
        """The same: there is one data set."""
        return self

    def blocks(self, most: int) -> Sequence[StreamedDeviations]:
        """All as one: its parts may be elsewhere."""
        return [self]

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute the deviations of all lanes, part after part."""
        parts = self.of_parts(_Lanes(centres))
        return np.concatenate([lanes for part in parts for lanes in part], axis=-1)


@dataclass(frozen=True)
class _Lanes:
    """The deviations of the lanes of a part, block after block."""

    centres: Array

    def __call__(self, curves: Iterator[Deviations]) -> list[Array]:
        return [
            block.from_centres(self.centres, slice(0, 1))
            for some in curves
            for block in some.blocks(_BLOCK)
        ]


@dataclass(frozen=True)
class RegressionCurves(Deviations):
    """Deviations of coefficient functions, as `RegressionDeviations` has them, of such curves.

    h_i(b) = w F_i ⊗ h_i(Σ_h G_ih a_h): the centre of a curve is its own.
    """

    curves: CurveDeviations
    regressors: Array  # (K, curves)
    map: RegressorMap  # of one data set
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return self.curves.n_curves

    @property
    def entries(self) -> int:
        return self.curves.entries

    def blocks(self, most: int) -> Sequence[RegressionCurves]:
        """One for each block of curves."""
        return [
            replace(self, curves=replace(self.curves, parts=(part,)))
            for part in self.curves.blocks(most)
        ]

    def of_repeats(self, repeats: slice) -> RegressionCurves:
        """The same: there is one data set."""
        return self

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute the deviations of all lanes, block after block."""
        by_function = centres.reshape(*centres.shape[:2], len(self.regressors), -1)
        coefficients = self.map.coefficients(by_function)[0]
        lanes = []
        for part in self.curves.parts:
            own = self.regressors[:, part.places]  # of some curve in lanes that fill the block
            deviations = part.at(np.einsum("ckr,kb->crb", coefficients, own))
            directions = self.map.directions(own[None, None])[0]
            products = directions[:, :, None] * deviations[:, None]
            lanes.append(products.reshape(len(products), -1, own.shape[1]))
        return np.concatenate(lanes, axis=-1)[None]


def solve_along(matrices: Array, rest: Array) -> None:
    """Solve A x = b for the positive definite matrices of all lanes, by Cholesky factors.

    Parameters
    ----------
    matrices : (m, m, lanes)
        A, of which the lower triangle is read; becomes the factor.
    rest : (columns, m, lanes)
        b; becomes x.
    """
    m = len(matrices)
    for j in range(m):
        column = matrices[j:, j]
        if j:
            column -= np.einsum("ikb,kb->ib", matrices[j:, :j], matrices[j, :j])
            rest[:, j] -= np.einsum("ckb,kb->cb", rest[:, :j], matrices[j, :j])
        column /= np.sqrt(column[0])
        rest[:, j] /= column[0]
    for j in reversed(range(m)):
        if j + 1 < m:
            rest[:, j] -= np.einsum("ckb,kb->cb", rest[:, j + 1 :], matrices[j + 1 :, j])
        rest[:, j] /= matrices[j, j]


@lru_cache(maxsize=64)
def _products(basis: Basis) -> dict[tuple[int, int], list[tuple[int, float]]]:
    """Map the entries (j, k ≤ j) of S to the wave means they are made of, with weights."""
    table = product_table(basis)
    return {
        (j, k): [
            (wave, float(table[wave, j, k])) for wave in np.flatnonzero(table[:, j, k]).tolist()
        ]
        for j in range(basis.size)
        for k in range(j + 1)
    }


def _scales(basis: Basis) -> Array:
    """The diagonal of D, l⁻³."""
    return np.asarray(np.arange(1.0, basis.size + 1) ** -3)


def _mapped(rows: Array, vectors: Array) -> Array:
    """Rows (r, r) times vectors (columns, r, lanes)."""
    return np.asarray(np.einsum("lk,ckb->clb", rows, vectors))


def are_numbers(times: Array, values: Array) -> NDArray[np.bool_]:
    """True for curves (…, lanes) without a number that is none."""
    return np.asarray(~np.isnan(times).any(axis=0) & np.isfinite(values).all(axis=0))


def _is_at(array: Array, starts: Index, curves: Index, stated: Array) -> NDArray[np.bool_]:
    """True for curves whose observations are at the stated times, one at each, in order."""
    is_at = np.empty(len(curves), dtype=bool)
    for some in blocks_of(len(curves), _SHARED * _BLOCK):
        rows = _rows_as_read(array, starts, curves[some], len(stated))
        is_at[some] = (np.abs(rows - stated) <= _SAME_TIME).all(axis=1)
    return is_at


def in_lanes(curves: Index, m: int, block: int = _BLOCK) -> list[Index]:
    """The numbers of the curves of each block, −1 for lanes that fill it up."""
    blocks, most = [], min(block, max(_LANES, _OBSERVATIONS // m))
    for part in blocks_of(len(curves), most // _LANES * _LANES):
        mine = curves[part]
        empty = np.full(-len(mine) % _LANES, -1, dtype=np.int64)
        blocks.append(np.concatenate([mine, empty]))
    return blocks


def _pieces(m: int, most: int) -> Iterator[tuple[slice, int]]:
    """Cut m observations into so many pieces at most at a time, and the rest."""
    whole = m // _TOGETHER
    for some in blocks_of(whole, most):
        yield slice(_TOGETHER * some.start, _TOGETHER * some.stop), some.stop - some.start
    if m % _TOGETHER:
        yield slice(_TOGETHER * whole, m), 1


def rows_of(
    array: Array, starts: Index, places: Index, m: int, some: slice = slice(None), pieces: int = 1
) -> Array:
    """Some of the m numbers of each curve of a block, (…, lanes), in pieces of equal length.

    The pieces of a curve are in neighbouring lanes. Lanes that fill the block up are NaN.
    """
    n = int((places >= 0).sum())  # the first n lanes have curves
    read = _rows_as_read(array, starts, places[:n], m, some).reshape(n * pieces, -1)
    rows = np.empty((read.shape[1], -(-len(read) // _LANES) * _LANES))
    rows[:, : len(read)] = read.T
    rows[:, len(read) :] = np.nan
    return rows


def _rows_as_read(
    array: Array, starts: Index, curves: Index, m: int, some: slice = slice(None)
) -> Array:
    """Some of the m numbers of each curve: a view where the curves are neighbours."""
    if len(curves) and curves[-1] - curves[0] == len(curves) - 1:
        first = starts[curves[0]]
        return array[first : first + m * len(curves)].reshape(-1, m)[:, some]
    return np.asarray(array[starts[curves][:, None] + np.arange(m)[some]])
