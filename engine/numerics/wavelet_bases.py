"""Orthonormal wavelet bases of [0, 1], coarse functions first, and the constants privacy needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.types import Truth
from engine.numerics.orthonormal import OrthonormalBasis
from engine.numerics.wavelet_sums import curve_of_shifts, shift_sums, shifts_at
from engine.numerics.wavelets import (
    STEPS,
    BoundaryCorrection,
    Edges,
    Periodic,
    scaling_table,
    shift_gram,
)

EDGES = ("periodic", "corrected")
_HIGHEST_LEVEL = {"periodic": 14, "corrected": 10}  # the bank of corrected edges is a full matrix
_EDGE_SHARES = np.linspace(1.0, 20.0, 1901)  # ρ among which the cheapest is chosen
_ROWS = 32


def _edge_rule(moments: int, edges: str) -> Edges:
    """The treatment of the ends by its name; with one vanishing moment both are the same."""
    if moments == 1 or edges == "periodic":
        return Periodic(moments)
    return BoundaryCorrection(moments)


def allowed_levels(moments: int, edges: str) -> range:
    """The levels J that this kind of basis can have.

    Examples
    --------
    >>> allowed_levels(4, "corrected")
    range(3, 11)
    """
    return range(_edge_rule(moments, edges).lowest_level, _HIGHEST_LEVEL[edges] + 1)


@dataclass(frozen=True)
class WaveletBasis(OrthonormalBasis):
    """V_J of a Daubechies wavelet, coarse functions first.

    The first 2^K functions span V_K: first the scaling functions of the coarsest level, then the
    wavelets of level after level. Sums and noise live in *scaling coordinates*, those of 2^{J/2}
    φ(2^J x − k); `to_levels` is orthogonal, so white noise is white in both.

    Examples
    --------
    >>> haar = WaveletBasis(4, moments=1)
    >>> haar(np.array([0.1])).round(3).tolist()
    [[1.0, 1.0, 1.414, 0.0]]
    """

    size: int  # 2^J
    moments: int = 4  # a, vanishing moments; 1 is Haar's wavelet
    # {"periodic", "corrected"}: "periodic": for curves that end where they began; "corrected":
    # Cohen–Daubechies–Vial edges, which keep polynomials of degree below A. With A = 1 both are the
    # same.
    edges: str = "periodic"

    def __post_init__(self) -> None:
        if self.size != 2**self.level or self.level < self.rule.lowest_level:
            raise InputError(
                f"A wavelet basis has 2^J functions, J ≥ {self.rule.lowest_level}; "
                f"got {self.size}.",
                field="level",
            )

    @property
    def level(self) -> int:
        """J."""
        return int(self.size).bit_length() - 1

    @property
    def rule(self) -> Edges:
        """Rule for the ends."""
        return _edge_rule(self.moments, self.edges)

    # -- as every basis ---------------------------------------------------------------------

    def __call__(self, times: Array) -> Array:
        """Values of the functions."""
        flat = self.scaling(np.ravel(times))
        return self.to_levels(flat).reshape(*np.shape(times), self.size)

    def coefficients(self, truth: Truth) -> Array:
        """Integrate the truth by its rule "midpoints", whose nodes follow wavelets."""
        nodes, weights = truth.quadrature
        values = np.atleast_2d(truth.node_values)
        best = self.to_levels(self.inner_products(nodes, weights * values))
        return best.reshape(*truth.node_values.shape[:-1], self.size)

    # -- scaling coordinates ----------------------------------------------------------------

    def scaling(self, times: Array) -> Array:
        """Evaluate b(x), the scaling functions, (n, size), at times (n,) on [0, 1]."""
        return 2 ** (self.level / 2) * self.rule.fold(shifts_at(times, self.level, self.moments))

    def sums(self, times: Array, weights: Array, per_site: tuple[int, ...]) -> Array:
        """Σ_i w_i b(x_i) of every site, in scaling coordinates: (repeats, sites, size)."""
        extended = shift_sums(times, weights, per_site, self.level, self.moments)
        return 2 ** (self.level / 2) * self.rule.fold(extended)

    def inner_products(self, times: Array, weights: Array) -> Array:
        """Σ_i w_i b(x_i) for several weights: (rows, size), in scaling coordinates."""
        shared = np.broadcast_to(times, weights.shape)
        return self.sums(shared, weights, (len(times),))[:, 0]

    def curve(self, scaling: Array, times: Array) -> Array:
        """Evaluate a curve at times, (…), from scaling coordinates (size,), without a matrix."""
        extended = 2 ** (self.level / 2) * self.rule.unfold(scaling)
        return curve_of_shifts(extended, times, self.moments)

    def constant(self, value: float) -> Array:
        """Coefficients of a constant curve, coarse functions first.

        Shifts of φ add up to one, so the integral of a shift is the sum of its row of their Gram
        matrix.
        """
        whole = np.full(self.size, 1.0)
        if isinstance(self.rule, BoundaryCorrection):
            whole = self.rule.fold(shift_gram(self.moments, self.level).sum(axis=1))
        return value * self.to_levels(whole / np.sqrt(self.size))

    def to_levels(self, scaling: Array) -> Array:
        """Sort the same curves, coarse functions first, by the filter bank; both (…, size)."""
        details, lowest = [], 2**self.rule.lowest_level
        while scaling.shape[-1] > lowest:
            scaling, detail = self.rule.analysis(scaling)
            details.append(detail)
        return np.concatenate([scaling, *details[::-1]], axis=-1)

    def from_levels(self, coefficients: Array) -> Array:
        """Invert `to_levels`."""
        size = 2**self.rule.lowest_level
        scaling = coefficients[..., :size]
        while size < self.size:
            scaling = self.rule.synthesis(scaling, coefficients[..., size : 2 * size])
            size *= 2
        return scaling

    @property
    def levels(self) -> tuple[tuple[int, slice], ...]:
        """Level and place of the coefficients of every level; the first is that of V's coarsest."""
        low = self.rule.lowest_level
        return (
            (low, slice(0, 2**low)),
            *((level, slice(2**level, 2 ** (level + 1))) for level in range(low, self.level)),
        )

    # -- the projection kernel K(x, x') = b(x)'b(x') ------------------------------------------

    @property
    def kappa(self) -> float:
        """κ = sup_x K(x, x)/2^J, the same at every level."""
        edge, inner = self._squares
        return float((edge + inner).max())

    @property
    def sup_norm(self) -> float:
        """S_J = sup_x ‖b(x)‖ = (κ 2^J)^{1/2}.

        x ↦ ‖b(x)‖² is convex between nodes of the table, so the largest value is at a node.
        """
        return float(np.sqrt(self.kappa * self.size))

    def diagonal(self, times: Array) -> Array:
        """K(x, x) = ‖b(x)‖², (n,), at times (n,) on [0, 1]."""
        table, ours = scaling_table(self.moments), 2 * self.moments - 1
        scaled = np.clip(times, 0.0, 1.0) * self.size
        near = (scaled < ours) | (scaled > self.size - ours)
        if isinstance(self.rule, Periodic):
            near[:] = False
        position = (scaled % 1.0) * STEPS
        position[scaled >= self.size] = STEPS
        low = np.minimum(position.astype(np.int64), STEPS - 1)
        out = np.zeros(len(times))
        for row in table:
            out += (row[low] + (row[low + 1] - row[low]) * (position - low)) ** 2
        out *= self.size
        out[near] = (self.scaling(times[near]) ** 2).sum(axis=1)
        return out

    def largest_kernel(self, point: float) -> float:
        """M_J(x0) = sup_x |K(x0, x)|; K(x0, ·) is a line between nodes of the table."""
        return float(np.abs(self.kernel_on_cells(point)[1]).max())

    def largest_kernels(self, points: tuple[float, ...], order: int) -> float:
        """sup_x of the ℓ1 or ℓ2 norm of (K(x_1, x), …, K(x_k, x)).

        Norms of lines are convex, so the largest value is at a node of the table.
        """
        powers: dict[int, Array] = {}
        for point in points:
            for cell, values in zip(*self.kernel_on_cells(point), strict=True):
                powers[int(cell)] = powers.get(int(cell), 0.0) + np.abs(values) ** order
        return float(max(values.max() for values in powers.values()) ** (1 / order))

    def absolute_kernel(self, point: float) -> float:
        """Λ = ∫ |K(x0, x)| dx, by the trapezoidal rule on the table."""
        values = np.abs(self.kernel_on_cells(point)[1])
        return float((values[:, :-1] + values[:, 1:]).sum() / (2 * STEPS * self.size))

    def kernel_on_cells(self, point: float) -> tuple[NDArray[np.int64], Array]:
        """Find the cells on which K(x0, ·) is not zero, and its values there: (cells, 4097)."""
        extended = (
            self.size
            * self.rule.unfold(
                self.rule.fold(shifts_at(np.array([point]), self.level, self.moments))
            )[0]
        )
        ours = 2 * self.moments - 1
        windows = np.lib.stride_tricks.sliding_window_view(extended, ours)[:, ::-1]
        cells = np.flatnonzero(windows.any(axis=1))
        return cells, windows[cells] @ scaling_table(self.moments)

    def widest_pair(self) -> float:
        """Sup ‖b(x) − b(x')‖ over pairs; periodic edges only.

        Convex in x and in x' between nodes, so over pairs of nodes; the first x may be taken in
        the first cell, because shifting both by a cell only renumbers the functions.
        """
        if not isinstance(self.rule, Periodic):
            raise InputError(
                "Only periodic wavelets can release the density of the times.",
                field="design",
                hint="Choose periodic edges.",
            )
        return float(
            np.sqrt(_widest_square(self.moments, min(self.level, self._safe_level)) * self.size)
        )

    # -- noise that is larger at the edges -----------------------------------------------------

    @property
    def n_edge(self) -> int:
        """2A, the functions that are made for the ends; 0 for periodic edges."""
        return 2 * self.moments if isinstance(self.rule, BoundaryCorrection) else 0

    @property
    def edge_share(self) -> float:
        """ρ: edge coordinates get ρ times the variance, so that the total is least; 1 without."""
        return _edge_choice(self)[0]

    @property
    def weighted_sup_norm(self) -> float:
        """sup_x (‖b_edge(x)‖²/ρ + ‖b_inner(x)‖²)^{1/2}, at the chosen ρ."""
        return _edge_choice(self)[1]

    def noise_shape(self, share: float) -> Array:
        """Return the variances of the coordinates relative to the inner ones: (size,).

        `share` is ρ, that of the edge coordinates.
        """
        out, a = np.ones(self.size), self.n_edge // 2
        out[:a] = out[self.size - a :] = share
        return out

    @property
    def _safe_level(self) -> int:
        """Level from which the two ends do not meet and constants are those of every level."""
        return int(np.ceil(np.log2(4 * self.moments)))

    @property
    def _squares(self) -> tuple[Array, Array]:
        """‖b_edge(x)‖²/2^J and ‖b_inner(x)‖²/2^J at all nodes of the table."""
        return _squares(
            self.first(2 ** min(self.level, max(self._safe_level, self.rule.lowest_level)))
        )


@lru_cache(maxsize=32)
def _squares(basis: WaveletBasis) -> tuple[Array, Array]:
    table = scaling_table(basis.moments)
    if not basis.n_edge:
        inner = (table**2).sum(axis=0)
        return np.zeros_like(inner), inner
    nodes = np.arange(basis.size * STEPS + 1) / (basis.size * STEPS)
    squares = basis.scaling(nodes) ** 2 / basis.size
    is_edge = basis.noise_shape(2.0) > 1
    return squares[:, is_edge].sum(axis=1), squares[:, ~is_edge].sum(axis=1)


@lru_cache(maxsize=64)
def _edge_choice(basis: WaveletBasis) -> tuple[float, float]:
    """ρ with the least total noise, and the largest norm in units of that noise."""
    if not basis.n_edge:
        return 1.0, basis.sup_norm
    edge, inner = _outermost(*basis._squares)
    sup = np.array([(edge / share + inner).max() for share in _EDGE_SHARES])
    best = int(np.argmin((basis.size + basis.n_edge * (_EDGE_SHARES - 1)) * sup))
    return float(_EDGE_SHARES[best]), float(np.sqrt(sup[best] * basis.size))


def _outermost(edge: Array, inner: Array) -> tuple[Array, Array]:
    """The pairs that no other pair exceeds in both: the only ones that can be a supremum."""
    order = np.argsort(-edge, kind="stable")
    inner = inner[order]
    new = np.append(True, inner[1:] > np.maximum.accumulate(inner)[:-1])
    return edge[order][new], inner[new]


@lru_cache(maxsize=32)
def _widest_square(moments: int, level: int) -> float:
    """Largest ‖b(x) − b(x')‖²/2^J, with shifts folded at this level."""
    table, ours = scaling_table(moments), 2 * moments - 1
    squares, widest = (table**2).sum(axis=0), 0.0
    for cell in range(2**level):  # of x', x being in cell 0
        other = np.zeros((ours, table.shape[1]))
        for i in range(ours):  # the shift k = −i of x is i' = cell − k of x', modulo 2^J
            meets = np.arange((cell + i) % 2**level, ours, 2**level)
            other[i] = table[meets].sum(axis=0)
        for first in range(0, len(squares), _ROWS):  # blocks, to stay in cache
            x = slice(first, first + _ROWS)
            half_distances = (table[:, x].T @ other - squares / 2).min(axis=1)
            widest = max(widest, float((squares[x] - 2 * half_distances).max()))
    return widest
