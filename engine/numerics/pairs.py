"""Symmetric functions of two times, in products of the functions of one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.numerics.eigensystems import Grid
from engine.types import Array, FunctionBasis, Truth


@dataclass(frozen=True)
class Pairs:
    """f(s, t) = Σ θ_jl b_j(s) b_l(t) with a symmetric θ, for functions b of `one` time.

    Coordinates are θ_jj, and √2 θ_jl for j < l, in the order of the upper triangle, so that their
    norm is that of θ: with orthonormal b it is the Hilbert–Schmidt norm of f. A `FunctionBasis`
    on points (…, 2) of the unit square; norms are those of `grid` squared.
    """

    one: FunctionBasis
    grid: Grid

    @property
    def size(self) -> int:
        return self.one.size * (self.one.size + 1) // 2

    @cached_property
    def index(self) -> tuple[np.ndarray, np.ndarray]:
        """j and l of every coordinate."""
        return np.triu_indices(self.one.size)

    @cached_property
    def multiplicity(self) -> Array:
        """1 on the diagonal and 2 beside it: (size,)."""
        j, k = self.index
        return np.where(j == k, 1.0, 2.0)

    def coordinates(self, matrices: Array) -> Array:
        """θ (…, r, r) → (…, size)."""
        j, k = self.index
        return np.asarray(matrices[..., j, k] * np.sqrt(self.multiplicity))

    def matrices(self, coordinates: Array) -> Array:
        """(…, size) → θ (…, r, r)."""
        j, k = self.index
        out = np.zeros((*coordinates.shape[:-1], self.one.size, self.one.size))
        out[..., j, k] = coordinates / np.sqrt(self.multiplicity)
        out[..., k, j] = out[..., j, k]
        return out

    def on_grid(self, coordinates: Array) -> Array:
        """Values at all pairs of grid points: (…, K, K)."""
        return np.asarray(self._values @ self.matrices(coordinates) @ self._values.T)

    def __call__(self, points: Array) -> Array:
        first, second = self.one(points[..., 0]), self.one(points[..., 1])
        j, k = self.index
        both = first[..., j] * second[..., k] + first[..., k] * second[..., j]
        return np.asarray(both * np.sqrt(self.multiplicity) / 2)

    def first(self, size: int) -> Pairs:
        """Of the first functions of one time, as many as make `size` pairs."""
        return Pairs(self.one.first(int(np.sqrt(2 * size))), self.grid)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Least squares on the grid, and what it leaves out there."""
        axis = self.grid.points[:, 0]
        points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
        root = np.sqrt(self.grid.weights)
        values = root[:, None] * truth.at(points) * root
        inverse = np.linalg.pinv(root[:, None] * self._values)
        best = self.coordinates(inverse @ values @ inverse.T)
        left = values - root[:, None] * self.on_grid(best) * root
        return best, np.asarray((left**2).sum())

    def squared_distance(self, difference: Array) -> Array:
        root = np.sqrt(self.grid.weights)[:, None] * self._values
        half = np.linalg.cholesky(root.T @ root + 1e-14 * np.eye(self.one.size))
        if np.allclose(half, np.eye(self.one.size), atol=1e-9):
            return np.asarray((difference**2).sum(axis=-1))
        inner = half.T @ self.matrices(difference) @ half
        return np.asarray((inner**2).sum(axis=(-2, -1)))

    def positive_part(self, coordinates: Array) -> Array:
        """The nearest function without negative eigenvalues, in coordinates."""
        root = np.linalg.svd(np.sqrt(self.grid.weights)[:, None] * self._values,
                             full_matrices=False)
        turn, stretch = root.Vh.T, np.maximum(root.S, 1e-12)
        inner = stretch[:, None] * (turn.T @ self.matrices(coordinates) @ turn) * stretch
        values, vectors = np.linalg.eigh(inner)
        kept = (vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2)
        return self.coordinates(turn @ (kept / stretch[:, None] / stretch) @ turn.T)

    @cached_property
    def _values(self) -> Array:
        """The functions of one time on the grid: (K, r)."""
        return self.one(self.grid.points[:, 0])
