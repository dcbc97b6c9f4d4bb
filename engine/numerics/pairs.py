"""Symmetric functions of two times, in products of the functions of one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.arrays import Array
from engine.core.types import FunctionBasis, Truth
from engine.numerics.eigensystems import Grid
from engine.numerics.symmetric_matrices import nearest_semidefinite


@dataclass(frozen=True)
class SymmetricSurfaces(FunctionBasis):
    """f(s, t) = Σ θ_jl b_j(s) b_l(t) with a symmetric θ, for functions b of one time.

    Coordinates are θ_jj, and √2 θ_jl for j < l, in the order of the upper triangle, so that their
    norm is that of θ: with orthonormal b it is the Hilbert–Schmidt norm of f. A `FunctionBasis`
    on points (…, 2) of the unit square; norms are those of `grid` squared.
    """

    basis: FunctionBasis  # b, r functions of one time
    grid: Grid  # of K times, along one axis

    @property
    def size(self) -> int:
        return self.basis.size * (self.basis.size + 1) // 2

    @cached_property
    def index(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices j and l of every coordinate."""
        return np.triu_indices(self.basis.size)

    @cached_property
    def multiplicity(self) -> Array:
        """1 on the diagonal and 2 beside it: (size,)."""
        j, k = self.index
        return np.where(j == k, 1.0, 2.0)

    def coordinates(self, matrices: Array) -> Array:
        """Take the coordinates (…, size) of symmetric matrices θ (…, r, r)."""
        j, k = self.index
        return np.asarray(matrices[..., j, k] * np.sqrt(self.multiplicity))

    def matrices(self, coordinates: Array) -> Array:
        """Form the symmetric matrices θ (…, r, r) with these coordinates (…, size)."""
        j, k = self.index
        out = np.zeros((*coordinates.shape[:-1], self.basis.size, self.basis.size))
        out[..., j, k] = coordinates / np.sqrt(self.multiplicity)
        out[..., k, j] = out[..., j, k]
        return out

    def on_grid(self, coordinates: Array) -> Array:
        """Evaluate coordinates (…, size) at all pairs of grid points: (…, K, K)."""
        return np.asarray(self._values @ self.matrices(coordinates) @ self._values.T)

    def surface(self, coordinates: Array, axis: Array) -> Array:
        """Values at all pairs of some times: (…, m, m)."""
        values = self.basis(axis)
        return np.asarray(values @ self.matrices(coordinates) @ values.T)

    def __call__(self, points: Array) -> Array:
        """Values (…, size) at points (…, 2) of the unit square, for every coordinate."""
        first, second = self.basis(points[..., 0]), self.basis(points[..., 1])
        j, k = self.index
        both = first[..., j] * second[..., k] + first[..., k] * second[..., j]
        return np.asarray(both * np.sqrt(self.multiplicity) / 2)

    def first(self, size: int) -> SymmetricSurfaces:
        """Keep the pairs of the first functions of one time that make `size` = r(r + 1)/2 pairs."""
        return SymmetricSurfaces(self.basis.first(int(np.sqrt(2 * size))), self.grid)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Least squares on the grid; of one function on the square."""
        axis = self.grid.points[:, 0]
        points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
        root = np.sqrt(self.grid.weights)
        values = root[:, None] * truth.at(points) * root
        inverse = np.linalg.pinv(root[:, None] * self._values)
        best = self.coordinates(inverse @ values @ inverse.T)
        left = values - root[:, None] * self.on_grid(best) * root
        return best, np.asarray((left**2).sum())

    def squared_distance(self, difference: Array) -> Array:
        """∫∫ of the square of a difference, by the weights of the grid."""
        if self._is_orthonormal:
            return np.asarray((difference**2).sum(axis=-1))
        inner = self._stretch[:, None] * self._turned(difference) * self._stretch
        return np.asarray((inner**2).sum(axis=(-2, -1)))

    @cached_property
    def norms(self) -> Array:
        """∫∫ ψ² of the function of every coordinate: (size,)."""
        if self._is_orthonormal:
            return np.ones(self.size)
        return self.squared_distance(np.eye(self.size))

    def positive_part(self, coordinates: Array) -> Array:
        """Find the nearest function without negative eigenvalues: a covariance may have none.

        It takes and returns coordinates (…, size) of symmetric functions.
        """
        inner = self._stretch[:, None] * self._turned(coordinates) * self._stretch
        positive = nearest_semidefinite(inner) / self._stretch[:, None] / self._stretch
        return self.coordinates(self._turn @ positive @ self._turn.T)

    def _turned(self, coordinates: Array) -> Array:
        """θ in directions that are orthogonal as functions: (…, r, r)."""
        return np.asarray(self._turn.T @ self.matrices(coordinates) @ self._turn)

    @cached_property
    def _singular(self) -> tuple[Array, Array]:
        weighted = np.sqrt(self.grid.weights)[:, None] * self._values
        decomposition = np.linalg.svd(weighted, full_matrices=False)
        return decomposition.Vh.T, np.maximum(decomposition.S, 1e-12)

    @property
    def _turn(self) -> Array:
        return self._singular[0]

    @property
    def _stretch(self) -> Array:
        """Norms of the functions in those directions."""
        return self._singular[1]

    @cached_property
    def _is_orthonormal(self) -> bool:
        values = np.sqrt(self.grid.weights)[:, None] * self._values
        return bool(np.allclose(values.T @ values, np.eye(self.basis.size), atol=1e-9))

    @cached_property
    def _values(self) -> Array:
        """The functions of one time on the grid: (K, r)."""
        return self.basis(self.grid.points[:, 0])
