"""Trigonometric bases: Fourier, plain or extended to a longer period, and cosines with products."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.bands import EVERY_OTHER, Readings
from engine.core.grids import quadrature
from engine.core.types import Truth
from engine.numerics.end_slopes import MIN_WAVES, slope_rows
from engine.numerics.orthonormal import OrthonormalBasis

SUP_NORM = np.sqrt(2.0)  # |φ_l| ≤ √2 for every basis function, extended or not


@dataclass(frozen=True)
class Basis(OrthonormalBasis):
    """The first `size` functions of one trigonometric family.

    "fourier": φ_1 = 1, φ_2k = √2 cos(2πk u), φ_2k+1 = √2 sin(2πk u) with u = (t + ζ) / (1 + 2ζ).
    With `extension` ζ = 0 it is orthonormal on [0, 1] and made for curves that end where they
    began. With ζ > 0 the period is longer than the interval, so that a curve need not (Fourier
    extension); |φ_l| ≤ √2 still holds, and `gram` holds the inner products on [0, 1].

    "cosine": φ_1 = 1, φ_l = √2 cos(π(l − 1)t), orthonormal on [0, 1], for curves of any kind: its
    coefficients fall off like l⁻² where a curve has a slope at an end.

    Examples
    --------
    >>> basis = Basis(3, family="cosine")
    >>> basis(np.array([0.0, 0.5])).round(3).tolist()
    [[1.0, 1.414, 1.414], [1.0, 0.0, -1.414]]
    >>> coefficients, left_out = basis.project(Truth.of(lambda t: np.cos(np.pi * t)))
    >>> float(abs(coefficients[1]).round(4)), round(float(left_out), 6)
    (0.7071, 0.0)
    """

    size: int  # how many functions, at least 1
    extension: float = 0.0  # ζ ≥ 0, as a share of the time range at each end; for "fourier" alone
    family: str = field(kw_only=True)  # "fourier" or "cosine"

    def __call__(self, times: Array) -> Array:
        """Values of the functions."""
        angle = 2 * np.pi * self.turns(np.asarray(times))[..., None]
        waves = np.cos(angle * self.frequency)
        if self.family == "fourier":
            waves[..., 2::2] = np.sin(angle * self.frequency[2::2])
        waves[..., 1:] *= SUP_NORM
        return np.asarray(waves)

    @property
    def frequency(self) -> Array:
        """Whole turns each function makes over the period: (size,)."""
        order = np.arange(self.size)
        return np.asarray((order + 1) // 2 if self.family == "fourier" else order, dtype=float)

    @property
    def is_periodic(self) -> bool:
        """True if all curves of these functions end where they began."""
        return self.family == "fourier" and self.extension == 0

    def turns(self, times: Array) -> Array:
        """The position of a time within the period, in [0, 1]; cosines use half of theirs."""
        if self.family == "cosine":
            return np.asarray(times / 2)
        if self.extension == 0:
            return times
        return np.asarray((times + self.extension) / (1 + 2 * self.extension))

    @property
    def gram(self) -> Array:
        """Inner products ∫ φ_k φ_l over [0, 1]: (size, size)."""
        return _gram(self)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Project by inner products and their Gram matrix, on [0, 1]."""
        nodes, weights = truth.quadrature
        inner = (weights * truth.node_values) @ self(nodes)
        best = np.linalg.solve(self.gram, inner.T).T
        return np.asarray(best), np.maximum(truth.energy - (inner * best).sum(axis=-1), 0.0)

    def end_tails(self, size: int, times: Array) -> Array | None:
        """Compute rows τ(t), (n, size): τ(t)'a is what the first cosines leave out of sloping ends.

        None for fewer than four functions, which do not tell two slopes, and for Fourier functions.
        """
        if self.family != "cosine" or size < MIN_WAVES:
            return None
        rows = np.zeros((len(times), self.size))
        rows[:, :size] = slope_rows(size, times) - self(times)[:, :size]
        return rows

    def readings(self, size: int, places: Array) -> Readings:
        """The curve as its functions stand, and with end tails where there are any."""
        rows, tails = self.first(size)(places), self.end_tails(size, places)
        ways = (rows,) if tails is None else (rows, rows + tails[:, :size])
        return Readings(ways, tuple(way[EVERY_OTHER] for way in ways))

    def squared_distance(self, difference: Array) -> Array:
        """∫ (Σ_l d_l φ_l)² over [0, 1]."""
        if self.extension == 0:
            return np.asarray((difference**2).sum(axis=-1))
        return np.asarray(((difference @ self.gram) * difference).sum(axis=-1))


def with_whole_pairs(size: int) -> int:
    """The least odd size that is not smaller: a Fourier basis is 1 and pairs of cosine and sine.

    Examples
    --------
    >>> with_whole_pairs(6), with_whole_pairs(7)
    (7, 7)
    """
    return size if size % 2 else size + 1


@lru_cache(maxsize=64)
def _gram(basis: Basis) -> Array:
    if basis.extension == 0:
        return np.eye(basis.size)
    nodes, weights = quadrature()
    values = basis(nodes)
    return np.asarray(values.T @ (weights[:, None] * values))


@dataclass(frozen=True)
class CosineProducts(OrthonormalBasis):
    """The first `size` products e_i(x) e_j(y) of cosines of `Basis`, orthonormal on the square.

    They come in the order of i² + j², those with a smaller i first where that is equal.

    Examples
    --------
    >>> CosineProducts(4).frequencies.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """

    size: int  # how many functions, at least 1

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """The pair (i, j) of every function: (size, 2)."""
        return _frequencies(self.size)

    def __call__(self, points: Array) -> Array:
        """Values of the functions at points (…, 2) of the unit square."""
        along = Basis(int(self.frequencies.max()) + 1, family="cosine")(np.asarray(points))
        i, j = self.frequencies.T
        return np.asarray(along[..., 0, i] * along[..., 1, j])


@lru_cache(maxsize=64)
def _frequencies(size: int) -> NDArray[np.int64]:
    """A quarter of a disc of radius 2√size holds more than `size` pairs."""
    side = np.arange(2 * math.isqrt(size) + 2)
    pairs = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    order = np.argsort((pairs**2).sum(axis=1), kind="stable")[:size]
    return np.asarray(pairs[order])
