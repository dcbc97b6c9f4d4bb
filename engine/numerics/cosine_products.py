"""Products of cosines on the unit square."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array
from engine.numerics.bases import Basis
from engine.types import Truth


@dataclass(frozen=True)
class CosineProducts:
    """The first `size` functions e_i(x) e_j(y), e the cosines of `bases.Basis`; orthonormal.

    They come in the order of i² + j², those with a smaller i first where that is equal.
    """

    size: int

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """The pair (i, j) of every function: (size, 2)."""
        return _frequencies(self.size)

    def __call__(self, points: Array) -> Array:
        """Values at points (…, 2): (…, size)."""
        along = Basis(int(self.frequencies.max()) + 1, family="cosine")(np.asarray(points))
        i, j = self.frequencies.T
        return np.asarray(along[..., 0, i] * along[..., 1, j])

    def first(self, size: int) -> CosineProducts:
        return replace(self, size=size)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Coefficients (…, size) of the best approximation, and the energy (…) it leaves out."""
        nodes, weights = truth.quadrature
        best = (weights * truth.node_values) @ self(nodes)
        return np.asarray(best), np.maximum(truth.energy - (best**2).sum(axis=-1), 0.0)

    def squared_distance(self, difference: Array) -> Array:
        return np.asarray((difference**2).sum(axis=-1))


@lru_cache(maxsize=64)
def _frequencies(size: int) -> NDArray[np.int64]:
    """A quarter of a disc of radius 2√size holds more than `size` pairs."""
    side = np.arange(2 * math.isqrt(size) + 2)
    pairs = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    order = np.argsort((pairs**2).sum(axis=1), kind="stable")[:size]
    return np.asarray(pairs[order])
