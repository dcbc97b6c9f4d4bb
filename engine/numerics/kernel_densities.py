"""Kernel densities on a grid: what each record adds to them, in the functions of a release.

A record stands on one of K points of a public grid, so it is one of K atoms g_x, and a density is
the average of the atoms of its records. All lengths are shares of the range.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from engine.core.arrays import Array
from engine.core.types import FunctionBasis
from engine.numerics.bases import Basis, CosineProducts
from engine.numerics.bernstein import BernsteinBasis
from engine.numerics.difference_sets import Atoms
from engine.numerics.eigensystems import Eigenbasis, Grid, Kernel


@dataclass(frozen=True, eq=False)
class DensityAtoms:
    """Contribution of each of K records to a density, in the functions of a release."""

    basis: FunctionBasis
    on_grid: Array  # (K, r): their values at the points of the grid
    differences: Atoms  # the atoms (K, r), with their differences
    variances: Array  # (r,): of the process that a release may take its noise from

    @property
    def atoms(self) -> Array:
        return self.differences.atoms

    @cached_property
    def norms(self) -> Array:
        """Squared norms of the functions: (r,)."""
        return self.basis.squared_distance(np.eye(len(self.variances)))


@lru_cache(maxsize=16)
def spectral_atoms(kernel: Kernel, eta: float, grid: Grid) -> DensityAtoms:
    """g_x = c K^η(x, ·) = c Σ λ_j^η φ_j(x) φ_j, a spectral power of the kernel.

    K^η does not integrate to one; the public constant c makes it do so in the middle of the range.
    `printed` is Theorem 16 of Lin and Reimherr (arXiv 2309.00125), 2 M (tr K^{η−1})^{½} with
    M = max K^η(x, x), for scales √λ_j. The norm of K^η(x, ·) − K^η(x', ·) in the space of K^η is
    at most 2√M: the printed bound is too small wherever M is well below 1.
    """
    basis = Eigenbasis.whole(kernel, grid)
    values, powers = basis.functions.T, basis.eigenvalues**eta
    peak = float((values**2 @ powers).max())
    trace = float(basis.eigenvalues ** (eta - 1) @ np.ones(basis.size))
    constant = _to_unit_mass(values @ (powers * values[_middle(grid)]), grid)
    return DensityAtoms(
        basis,
        values,
        Atoms(constant * powers * values, 2 * constant * peak * np.sqrt(trace)),
        basis.eigenvalues,
    )


@lru_cache(maxsize=16)
def cosine_atoms(width: float, size: int, grid: Grid) -> DensityAtoms:
    """Project normal densities on the first `size` cosines, or their products on a square.

    `printed` takes every coefficient at its largest at once, as is published for means.
    """
    basis: FunctionBasis = Basis(size, family="cosine")
    if grid.dimension == 2:
        basis = CosineProducts(size)
    values = basis(_places(grid))
    atoms = bumps(width, grid) @ (grid.weights[:, None] * values)
    return DensityAtoms(
        basis, values, Atoms(atoms, 2 * size * float(np.abs(atoms).max())), np.ones(size)
    )


@lru_cache(maxsize=16)
def lattice_atoms(width: float, lattice: BernsteinBasis, grid: Grid) -> DensityAtoms:
    """Evaluate normal densities at the places of a lattice, at which its coefficients are values.

    `printed` is the number of places times the most that one value can change.
    """
    atoms = _normal(grid.points, lattice.lattice.reshape(-1, grid.dimension), width)
    atoms *= _to_unit_mass(_normal(grid.points, grid.points[[_middle(grid)]], width)[:, 0], grid)
    printed = lattice.size * float(np.ptp(atoms, axis=0).max())
    return DensityAtoms(
        lattice, lattice(_places(grid)), Atoms(atoms, printed), np.ones(lattice.size)
    )


@lru_cache(maxsize=16)
def bumps(width: float, grid: Grid) -> Array:
    """Evaluate normal densities around every one of K points of the grid: (K, K), row by centre.

    Mass is one in the middle of the grid.
    """
    values = _normal(grid.points, grid.points, width)
    return np.asarray(_to_unit_mass(values[_middle(grid)], grid) * values)


def nearest_density(values: Array, weights: Array) -> Array:
    """The function f ≥ 0 with Σ w f = 1 that is nearest to others: (…, K).

    It is max(values − t, 0) for one t, by the conditions of Karush, Kuhn and Tucker. Densities are
    a convex set, so the distance to each of them can only become smaller.

    Examples
    --------
    >>> nearest_density(np.array([3.0, 2.0, -2.0, -1.0]), np.full(4, 0.25)).tolist()
    [2.5, 1.5, 0.0, 0.0]
    """
    # (…, K) with the values falling: if so many stay positive, by what all are lowered
    order = np.argsort(-values, axis=-1)
    falling = np.take_along_axis(values, order, axis=-1)
    mass = np.cumsum(weights[order], axis=-1)
    shift = (np.cumsum(weights[order] * falling, axis=-1) - 1) / mass
    last = (falling > shift).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.maximum(values - np.take_along_axis(shift, last, axis=-1), 0.0))


def _normal(points: Array, centres: Array, width: float) -> Array:
    """exp(−‖p − c‖²/(2 width²)): (points, centres)."""
    squares = ((points[:, None] - centres) ** 2).sum(axis=-1)
    return np.asarray(np.exp(-squares / (2 * width**2)))


def _middle(grid: Grid) -> int:
    """The point just after the middle of every axis, as an index."""
    middle = len(grid.times) // 2
    return sum(middle * len(grid.times) ** axis for axis in range(grid.dimension))


def _to_unit_mass(values: Array, grid: Grid) -> float:
    return 1 / float(values @ grid.weights)


def _places(grid: Grid) -> Array:
    """Points of the grid as a basis takes them: (K,) on an interval, (K, 2) on a square."""
    return grid.points[:, 0] if grid.dimension == 1 else grid.points
