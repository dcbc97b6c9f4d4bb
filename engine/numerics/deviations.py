"""Deviations of curves from a centre, h_i(a) = T_i a − t_i, with E T_i ≈ I.

Curves weight their own readings as a mixed model would (within-curve weighting): with S_i and s_i
the moments of a curve of m readings, T_i = A⁻¹(S_i + Λ)⁻¹S_i and t_i = A⁻¹(S_i + Λ)⁻¹s_i for
Λ = diag(l³)/m. Readings of one curve depend on each other; this takes out the part of the variance
that comes from where a curve happened to be read. A = E (S + Λ)⁻¹S over the public law of the
times makes T_i the identity on average. On a common grid it changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.types import Design
from engine.numerics.bases import Basis
from engine.numerics.moments import Moments, curve_moments, product_table
from engine.numerics.observation_times import Stratified, draw_times
from engine.numerics.products import factors_times

Index = NDArray[np.int64]
_DESIGNS = 4000  # simulated curves behind A
_DESIGN_READINGS = 400_000  # long curves need fewer: their moments vary less
_MOST_READINGS = 10_000  # of a simulated design
_DESIGN_SEED = 20_241_206
_TOGETHER = 1000  # of these curves, to stay in cache
_MIN_SHARE = 0.1  # of what even times tell of a direction, for it to be inverted
_DEFAULT_MAX = 21  # functions: all smaller bases come from one pass over the designs


class Deviations(Protocol):
    """Interface of the curves of one site.

    They are common if they do not depend on the column: equal centres have equal deviations.
    """

    @property
    def is_common(self) -> bool: ...

    @property
    def n_curves(self) -> int: ...

    @property
    def entries(self) -> int:
        """Numbers of every curve from which deviations are made."""

    def blocks(self, most: int) -> Iterable[Deviations]:
        """The curves in blocks of so many at most, or of the size that suits them."""

    def of_repeats(self, repeats: slice) -> Deviations:
        """Those of some of the data sets."""

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute h_i(a): deviation of a centre from the mean, as every curve measures it.

        From a (repeats, columns, p), for the chosen repeats, to (repeats, columns, p, curves).
        """


@dataclass(frozen=True)
class AffineDeviations(Deviations):
    """The T_i and t_i of all curves, the same for every column.

    A curve that says nothing has T_i = 0 and t_i = 0: it deviates by 0 from any centre.
    """

    # (repeats, p + 1, p, curves): entry [·, j, l, i] is (T_i)_lj, and the last row is −t_i, so that
    # one product with (a, 1) gives h_i(a)
    rows: Array
    is_common: ClassVar[bool] = True

    @classmethod
    def of(cls, slopes: Array, targets: Array) -> AffineDeviations:
        """Build from slopes, entry [·, j, l, i] being (T_i)_lj, and targets t_i."""
        return cls(np.concatenate([slopes, -targets[:, None]], axis=1))

    @classmethod
    def joined(cls, parts: Sequence[AffineDeviations]) -> AffineDeviations:
        """Join several data sets of the same curves, one set of rows after the other.

        Rows lie side by side in memory afterwards, also those of views, so that reading them again
        and again costs no copy.
        """
        rows = [part.rows for part in parts]
        return cls(np.concatenate(rows) if len(rows) > 1 else np.ascontiguousarray(rows[0]))

    @property
    def slopes(self) -> Array:
        return self.rows[:, :-1]

    @property
    def targets(self) -> Array:
        return -self.rows[:, -1]

    @property
    def size(self) -> int:
        return int(self.rows.shape[2])

    @property
    def n_curves(self) -> int:
        return int(self.rows.shape[3])

    @property
    def entries(self) -> int:
        return self.rows[0, ..., 0].size

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """T_i a − t_i for all curves."""
        return self.products(centres, np.ones_like(centres[..., :1]), repeats)

    def products(self, centres: Array, shares: Array, repeats: slice) -> Array:
        """T_i a less a share of t_i for all curves, by one product: (repeats, columns, p, curves).

        Centres a and shares are of the chosen repeats; shares are 1, or 0 for T_i a alone.
        """
        factors = np.concatenate([centres, shares], axis=-1)
        return factors_times(factors, self.rows[repeats])

    def among(self, curves: slice) -> AffineDeviations:
        """Those of some of the curves; a view."""
        return AffineDeviations(self.rows[..., curves])

    def blocks(self, most: int) -> list[AffineDeviations]:
        """The curves in blocks of so many at most; views."""
        return [self.among(part) for part in blocks_of(self.n_curves, most)]

    def of_repeats(self, repeats: slice) -> AffineDeviations:
        """Those of some of the data sets; a view."""
        return AffineDeviations(self.rows[repeats])


def blocks_of(n: int, most: int) -> list[slice]:
    """Cut n curves into blocks of so many at most."""
    return [slice(first, min(first + most, n)) for first in range(0, n, most)]


def weighted_within_curves(
    moments: Moments, counts: Index, sizes: Collection[int], design: Design
) -> Iterator[tuple[int, AffineDeviations]]:
    """Yield sizes of the basis that are wanted, smallest first, and their deviations.

    `moments` are of the largest basis, with readings weighted as `design` says.
    """
    penalty = ridge(moments.size, counts)
    for size, inverse in _inverses(moments, penalty):
        if size in sizes:
            cross = moments.cross[:, :size]
            yield size, _unbiased(inverse, cross, penalty[:size], moments.basis, counts, design)


def plain(moments: Moments) -> AffineDeviations:
    """T_i = S_i and t_i = s_i: every reading counts the same."""
    table = product_table(moments.basis)
    slopes = np.tensordot(moments.waves, table, axes=(1, 0)).transpose(0, 2, 3, 1)
    return AffineDeviations.of(slopes, moments.cross)


def ridge(size: int, counts: Index) -> Array:
    """Λ of every curve, l³/m: (size, curves), one column if all have the same length."""
    counts = counts[:1] if len(counts) and (counts == counts[0]).all() else counts
    return np.asarray(np.arange(1.0, size + 1)[:, None] ** 3 / np.maximum(counts, 1))


def _inverses(moments: Moments, penalty: Array) -> Iterator[tuple[int, Array]]:
    """(S_i + Λ)⁻¹ for bases of 1, 2, … functions, each from the one before by bordering.

    Yields (size, (repeats, size, size, curves)); the array changes with the next size.
    """
    repeats, _, n = moments.waves.shape
    whole = np.zeros((repeats, moments.size, moments.size, n))
    table = product_table(moments.basis)
    for r in range(moments.size):
        # row r of S_i: (repeats, r + 1, curves); border beside the diagonal, corner on it
        row = np.tensordot(table[:, r, : r + 1], moments.waves, axes=(0, 1)).swapaxes(0, 1)
        border, corner = row[:, :r], row[:, r] + penalty[r]
        inverse = whole[:, :r, :r]
        solved = np.einsum("rjkn,rkn->rjn", inverse, border)
        scale = 1 / (corner - (border * solved).sum(axis=1))
        scaled = solved * scale[:, None]
        inverse += solved[:, :, None] * scaled[:, None]
        whole[:, r, :r] = whole[:, :r, r] = -scaled
        whole[:, r, r] = scale
        yield r + 1, whole[:, : r + 1, : r + 1]


def _unbiased(
    inverse: Array, cross: Array, penalty: Array, basis: Basis, counts: Index, design: Design
) -> AffineDeviations:
    """T_i = A⁻¹ − K_iΛ and t_i = K_i v_i for K_i = A⁻¹(S_i + Λ)⁻¹; A depends on a curve's length.

    `inverse` (repeats, size, size, curves), `cross` (repeats, size, curves).
    """
    repeats, size, _, n = inverse.shape
    rows = np.zeros((repeats, size + 1, size, n))
    slopes, negated = rows[:, :size], rows[:, size]
    for count in np.unique(counts[counts > 0]).tolist():
        same_count = slice(None) if (counts == count).all() else np.flatnonzero(counts == count)
        mean = mean_slopes_inverse(basis.first(len(penalty)), count, design)
        weighed = mean @ inverse[..., same_count]
        negated[..., same_count] = -np.einsum("rjln,rjn->rln", weighed, cross[..., same_count])
        weighed *= -penalty[:, None, same_count if penalty.shape[1] > 1 else slice(None)]
        weighed += mean.T[..., None]
        slopes[..., same_count] = weighed
    return AffineDeviations(rows)


@lru_cache(maxsize=2048)
def mean_slopes_inverse(basis: Basis, readings: int, design: Design) -> Array:
    """P ≈ A⁻¹ of one length, from simulated designs with a fixed seed, so public: (r, r).

    Directions of which the design tells less than a tenth of what evenly spread times would are not
    blown up: there P A stays below the identity. With Λ^½AΛ^-½ symmetric, eigenvalues are compared
    with those of even times.
    """
    slopes = _mean_slopes(basis, readings, design)
    if design == Design():
        return np.asarray(np.linalg.inv(slopes))
    root = np.sqrt(ridge(basis.size, np.array([readings]))[:, 0])
    values, vectors = np.linalg.eigh(_symmetric(_mean_slopes(basis, readings, Design()), root))
    whiten = vectors / np.sqrt(values)
    share, turns = np.linalg.eigh(whiten.T @ _symmetric(slopes, root) @ whiten)
    if share[0] >= _MIN_SHARE:
        return np.asarray(np.linalg.inv(slopes))
    back = whiten @ turns
    inverse = (back / np.maximum(share, _MIN_SHARE)) @ back.T
    return np.asarray(inverse / root[:, None] * root)


@lru_cache(maxsize=512)
def are_told_apart(basis: Basis, design: Design) -> bool:
    """True if the stated times tell all r functions φ from each other.

    Common times may be fewer than functions, or so close together that some functions hardly
    differ there; other laws have times everywhere.

    Examples
    --------
    >>> from engine.core.types import Design, TimeLaw
    >>> visits = Design(law=TimeLaw.COMMON, times=(0.0, 0.04, 0.12, 0.25, 0.5, 1.0))
    >>> [are_told_apart(Basis(size, family="fourier"), visits) for size in (2, 6)]
    [True, False]
    """
    if not design.times:
        return True
    values = basis(np.array(design.times))
    return bool(
        len(values) >= basis.size
        and np.linalg.eigvalsh(values.T @ values / len(values))[0] >= _MIN_SHARE
    )


def largest_norm(basis: Basis, design: Design, observations: int) -> float:
    """Find a norm that no t_i exceeds if values lie in [−1, 1]; infinite if none is known.

    It is known if everybody is observed at all q common times: t_i = B z_i is then linear in the
    values, ‖z_i‖ ≤ √q, and so ‖t_i‖ ≤ √q ‖B‖. It is 1 for equally spaced times that tell the
    functions apart.

    >>> from engine.core.types import Design
    >>> design = Design.common([0.125, 0.375, 0.625, 0.875])
    >>> round(largest_norm(Basis(3, family="fourier"), design, 4), 12)
    1.0
    """
    q = len(design.times)
    if not 0 < q <= observations:
        return math.inf
    values = basis(np.array(design.times))
    told = values.T @ values / q + np.diag(ridge(basis.size, np.array([q]))[:, 0])
    inverse = mean_slopes_inverse(basis, q, design)
    return float(np.linalg.norm(inverse @ np.linalg.solve(told, values.T / q), 2) * math.sqrt(q))


def _symmetric(slopes: Array, root: Array) -> Array:
    turned = root[:, None] * slopes / root
    return np.asarray((turned + turned.T) / 2)


def _mean_slopes(basis: Basis, readings: int, design: Design) -> Array:
    """A = E (S + Λ)⁻¹S of one length: (r, r)."""
    largest = basis.first(max(basis.size, _DEFAULT_MAX))
    return _all_mean_slopes(largest, readings, design)[basis.size]


@lru_cache(maxsize=256)  # as many lengths as irregular curves have
def _all_mean_slopes(basis: Basis, readings: int, design: Design) -> dict[int, Array]:
    drawn = readings if design.times else min(readings, _MOST_READINGS)  # then S hardly varies
    designs = max(min(_DESIGNS, _DESIGN_READINGS // drawn), 100)
    rng = Stratified(np.random.default_rng(_DESIGN_SEED))
    times = draw_times(design, designs, drawn, rng).reshape(1, -1)
    moments = curve_moments(times, np.zeros_like(times), np.full(designs, drawn), basis)
    penalty = ridge(basis.size, np.full(designs, readings))
    summed: dict[int, Array] = {size: np.zeros((size, size)) for size in range(1, basis.size + 1)}
    for first in range(0, designs, _TOGETHER):
        for size, inverse in _inverses(moments.curves(slice(first, first + _TOGETHER)), penalty):
            summed[size] += inverse[0].sum(axis=2)
    return {
        size: np.asarray(np.eye(size) - total / designs * penalty[:size, 0])
        for size, total in summed.items()
    }
