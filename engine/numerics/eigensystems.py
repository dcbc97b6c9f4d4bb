"""Eigenfunctions of covariance kernels on a grid of [0, 1]^d: the coordinates of whole curves.

With quadrature weights W and the kernel's matrix G, an eigendecomposition W^½ G W^½ = U Λ Uᵀ gives
the eigenvalues λ_j = Λ_jj and functions φ_j(t_k) = U_kj/√w_k, orthonormal under the weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.grids import read_only
from engine.core.types import Truth
from engine.numerics.kernels import matern
from engine.numerics.orthonormal import OrthonormalBasis

KERNELS = ("matern", "exponential", "gaussian", "sobolev")
RTOL = 1e-12  # components below this share of the largest eigenvalue are rounding errors
_DIMENSIONS = (1, 2)
_EVEN = 1e-9  # how far steps between times may differ and still count as equal
_SIGN = 1e-8  # share of the largest value above which a value decides about the sign


@dataclass(frozen=True)
class Grid:
    """The points at which curves are read: all d-tuples of `times`, the last axis fastest.

    Weights are equal where the times are equally spaced. Elsewhere a time has the length of its
    cell: that between the midpoints to its neighbours, cut at 0 and 1. Weights add up to one.

    Examples
    --------
    >>> grid = Grid((0.0, 0.5, 0.75, 1.0))
    >>> grid.weights.tolist()
    [0.25, 0.375, 0.25, 0.125]
    """

    times: tuple[float, ...]  # m ≥ 2 times that rise within [0, 1]
    dimension: int = 1  # {1, 2}: d; the grid has K = m^d points

    def __post_init__(self) -> None:
        times = np.asarray(self.times)
        if self.dimension not in _DIMENSIONS:
            raise InputError(
                f"A grid has 1 or 2 dimensions; got {self.dimension}.", field="dimension"
            )
        if len(times) < 2 or not ((times >= 0) & (times <= 1)).all() or (np.diff(times) <= 0).any():
            raise InputError("A grid needs two or more times that rise from 0 to 1.", field="times")

    @property
    def size(self) -> int:
        """K."""
        return int(len(self.times) ** self.dimension)

    @cached_property
    def points(self) -> Array:
        """(K, d)."""
        axes = np.meshgrid(*(self.times,) * self.dimension, indexing="ij")
        return read_only(np.stack([axis.ravel() for axis in axes], axis=-1))

    @cached_property
    def weights(self) -> Array:
        """(K,)."""
        along = _cells(np.asarray(self.times))
        return read_only(along if self.dimension == 1 else np.outer(along, along).ravel())

    @property
    def axis(self) -> Grid:
        """The grid of one axis."""
        return replace(self, dimension=1)

    def nearest(self, points: Array) -> NDArray[np.int64]:
        """Find the index, 0 to K − 1, of the point nearest to each of (…, d) of the cube: (…)."""
        times = np.asarray(self.times)
        along = np.searchsorted((times[1:] + times[:-1]) / 2, points, side="right")
        return np.asarray(along @ len(times) ** np.arange(self.dimension)[::-1])

    def between(self, values: Array, points: Array) -> Array:
        """Functions (K, r) read off between the points of the grid: (…, r).

        Linear in each coordinate between the points of the grid, constant beyond its ends.
        """
        from scipy.interpolate import RegularGridInterpolator  # on first use: it takes a moment

        if self.dimension == 1:
            points = np.asarray(points)[..., None]
        each = values.reshape(*(len(self.times),) * self.dimension, -1)
        broken_lines = RegularGridInterpolator((np.asarray(self.times),) * self.dimension, each)
        return np.asarray(broken_lines(np.clip(points, self.times[0], self.times[-1])))


@lru_cache(maxsize=64)
def midpoints(size: int, dimension: int = 1) -> Grid:
    """The middles (k − ½)/`size` of equal cells along each axis: K = size^d points."""
    return of_times(tuple(((np.arange(size) + 0.5) / size).tolist()), dimension)


@lru_cache(maxsize=64)
def of_times(times: tuple[float, ...], dimension: int = 1) -> Grid:
    """Return the grid of known times rising within [0, 1]; equal times give the same object."""
    return Grid(times, dimension)


@dataclass(frozen=True)
class Kernel:
    """A covariance of variance one: everywhere, or on average over the range.

    All but "sobolev" depend on Euclidean distance. That one reproduces the values of functions on
    [0, 1] in the space with squared norm ∫f² + ρ²∫f′² (Wahba 1990, Spline Models for Observational
    Data, chapter 1): its eigenfunctions are 1 and √2 cos(πkt), its eigenvalues in proportion to
    1/(1 + (ρπk)²). On a square it is the product of those of the axes.

    Examples
    --------
    >>> Kernel("exponential", length=0.5)(np.array([0.0, 0.5])).round(3).tolist()
    [1.0, 0.368]
    >>> Kernel("sobolev", length=0.5).between(np.array([[0.0], [1.0]])).round(3).tolist()
    [[1.35, 0.359], [0.359, 1.35]]
    """

    # {"matern", "exponential", "gaussian", "sobolev"}: "exponential" is Matérn with ν = ½;
    # "gaussian" is exp(−r²/(2ρ²)). Only "matern" looks at `smoothness`.
    name: str = "matern"
    smoothness: float = 1.5  # ν > 0
    length: float = 0.1  # ρ > 0, as a share of the range

    def __post_init__(self) -> None:
        if self.name not in KERNELS:
            raise InputError(
                f"“name” must be one of {', '.join(KERNELS)}; got {self.name!r}.", field="name"
            )
        for field in ("smoothness", "length"):
            value = getattr(self, field)
            if not (value > 0 and math.isfinite(value)):
                raise InputError(
                    f"“{field}” must be a positive number; got {value:g}.", field=field
                )

    def __call__(self, distance: Array) -> Array:
        """Values at distances of at least 0, as shares of the range, by which alone it goes."""
        assert self.name != "sobolev", "depends on where points are, too"
        if self.name == "gaussian":
            return np.asarray(np.exp(-((distance / self.length) ** 2) / 2))
        return matern(distance, self._order, self.length, 1.0)

    def between(self, points: Array) -> Array:
        """Evaluate the kernel between all of the points (K, d) of the cube: (K, K)."""
        apart = np.abs(points[:, None] - points)  # (K, K, d)
        if self.name == "sobolev":
            return np.asarray(self._sobolev(apart, points[:, None] + points).prod(axis=-1))
        distances = np.round(np.sqrt((apart**2).sum(axis=-1)), 15)
        unique, index = np.unique(distances, return_inverse=True)  # each is computed once
        return self(unique)[index.reshape(distances.shape)]

    def _sobolev(self, apart: Array, together: Array) -> Array:
        """cosh(min/ρ) cosh((1 − max)/ρ)/sinh(1/ρ) from |s − t| and s + t, with mean 1 where s = t.

        The four exponentials are a point and its mirror images at both ends.
        """
        length = self.length
        images = sum(
            np.exp(-distance / length) for distance in (apart, together, 2 - together, 2 - apart)
        )
        end = np.exp(-2 / length)
        on_average = 1 + end + length * (1 - end)  # of the images where s = t
        return np.asarray(images / on_average)

    @property
    def _order(self) -> float:
        return 0.5 if self.name == "exponential" else self.smoothness

    def decay(self, dimension: int = 1) -> float:
        """β in λ_j ~ j^(−β): (2ν + d)/d.

        ∞ for the Gaussian kernel; 2 for the Sobolev kernel, in the plane up to logarithms.
        """
        if self.name == "gaussian":
            return math.inf
        if self.name == "sobolev":
            return 2.0
        return (2 * self._order + dimension) / dimension

    @property
    def is_separable(self) -> bool:
        """True if the kernel on a square is the product of those of its axes."""
        return self.name in ("gaussian", "sobolev")


@dataclass(frozen=True)
class Eigensystem:
    """Eigenvalues and eigenfunctions on a grid: Σ w φ_i φ_j = δ_ij.

    Each function is positive at the first point where it is more than 1e-8 of its largest size, so
    that coefficients mean the same on every machine.
    """

    values: Array  # (J,): falling
    functions: Array  # (J, K): values on the grid
    trace: float  # Σ w k(t, t), of all components

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))
        object.__setattr__(self, "functions", read_only(self.functions))

    @property
    def size(self) -> int:
        """J."""
        return len(self.values)

    @cached_property
    def paths(self) -> Array:
        """√λ_j φ_j: (J, K). Independent weights (…, J) of variance one times this are paths."""
        return read_only(np.sqrt(self.values)[:, None] * self.functions)


def eigensystem(kernel: Kernel, grid: Grid, rtol: float = RTOL) -> Eigensystem:
    """Eigenpairs of the kernel on the grid, with λ_j > rtol λ_1; kept in memory.

    On a square a separable kernel has the products of the eigenpairs of its axes.
    """
    return _eigensystem(kernel, grid, rtol)


@lru_cache(maxsize=16)  # 20 MB each on a square grid of 40 × 40 points, 2 MB on 500 times
def _eigensystem(kernel: Kernel, grid: Grid, rtol: float) -> Eigensystem:
    if grid.dimension == 2 and kernel.is_separable:
        axis = eigensystem(kernel, grid.axis, rtol)
        (values, functions), trace = _products(axis), axis.trace**2
    else:
        matrix = kernel.between(grid.points)
        root = np.sqrt(grid.weights)
        values, vectors = np.linalg.eigh(root[:, None] * matrix * root)
        values, functions = values[::-1], vectors[:, ::-1].T / root
        trace = float(grid.weights @ matrix.diagonal())
    is_kept = values > rtol * values[0]
    return Eigensystem(values[is_kept], _signed(functions[is_kept]), trace)


def _products(axis: Eigensystem) -> tuple[Array, Array]:
    """All products of two eigenpairs, falling; ties stay in the order of the axes."""
    values = np.outer(axis.values, axis.values).ravel()
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > 0]
    first, second = np.divmod(order, axis.size)
    # (pairs, K) of both axes to (pairs, K, K), the second axis fastest
    functions = axis.functions[first][:, :, None] * axis.functions[second][:, None, :]
    return values[order], functions.reshape(len(order), -1)


def _signed(functions: Array) -> Array:
    size = np.abs(functions)
    deciding = (size > _SIGN * size.max(axis=1, keepdims=True)).argmax(axis=1)
    return functions * np.sign(np.take_along_axis(functions, deciding[:, None], axis=1))


@dataclass(frozen=True)
class Eigenbasis(OrthonormalBasis):
    """The first eigenfunctions of a kernel on a grid, orthonormal under its weights.

    Between the points of the grid the functions are broken lines. The Nyström formula, the other
    usual choice, divides by λ_j: it turns rounding errors of small components into large values
    between points, while a broken line never leaves the range of the values beside it.
    """

    kernel: Kernel
    grid: Grid  # of K points
    size: int
    # share of the largest eigenvalue below which a component counts as rounding error
    rtol: float = RTOL

    def __post_init__(self) -> None:
        n_functions = self.system.size
        if not 1 <= self.size <= n_functions:
            raise InputError(
                f"This kernel has 1 to {n_functions} functions on a grid of "
                f"{self.grid.size} "
                f"points; got {self.size}.",
                field="size",
                hint="Take fewer functions, a rougher kernel or a finer grid.",
            )

    @classmethod
    def whole(cls, kernel: Kernel, grid: Grid) -> Eigenbasis:
        """The basis of all functions that are kept."""
        return cls(kernel, grid, eigensystem(kernel, grid).size)

    @property
    def system(self) -> Eigensystem:
        """All components, from which this basis takes the first."""
        return eigensystem(self.kernel, self.grid, self.rtol)

    @property
    def eigenvalues(self) -> Array:
        """λ_j of the functions: (size,)."""
        return self.system.values[: self.size]

    @property
    def functions(self) -> Array:
        """Values on the grid: (size, K)."""
        return self.system.functions[: self.size]

    def __call__(self, times: Array) -> Array:
        """Values at `times` (…), or at points (…, 2) of the square: (…, size)."""
        return self.grid.between(self.functions.T, times)

    def analyse(self, curves: Array) -> Array:
        """Compute coefficients Σ_k w_k x(t_k) φ_j(t_k), (…, size), of curves (…, K) on the grid."""
        return np.asarray(curves @ (self.grid.weights * self.functions).T)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Project by the weights of the grid; values between its points do not count."""
        points = self.grid.points
        curves = truth.at(points[:, 0] if self.grid.dimension == 1 else points)
        best = self.analyse(curves)
        return best, np.maximum(curves**2 @ self.grid.weights - (best**2).sum(axis=-1), 0.0)


def _cells(times: Array) -> Array:
    """Weights of the times of one axis: (m,)."""
    steps = np.diff(times)
    if np.ptp(steps) <= _EVEN:
        return np.full(len(times), 1 / len(times))
    ends = np.concatenate([[0.0], (times[1:] + times[:-1]) / 2, [1.0]])
    return np.diff(ends)
