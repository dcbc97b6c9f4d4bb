"""Daubechies wavelets: filters, exact tables of φ and ψ, edges of [0, 1] and the filter bank.

φ is tabulated exactly on a dyadic grid and *declared* to be the broken line through its table. On
one cell of the table every sum of squares of shifts is then convex and every combination of shifts
linear, so that a largest value over the table's nodes is the largest value there is. What is proved
about sensitivities holds for the numbers that are computed, not for a limit of them. Orthonormality
suffers by less than 1e-6.

Shifts of φ that meet [0, 1] at level J are k = −2A + 2, …, 2^J − 1; vectors over all of them are
"extended". `Periodic` and `BoundaryCorrection` fold them into 2^J orthonormal coordinates.

References
----------
Daubechies (1992), Ten Lectures on Wavelets, chapters 6 and 7; Cohen, Daubechies and Vial (1993),
Applied and Computational Harmonic Analysis 1, 54–81, for the edges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array

_SHORT = 64  # coarse coefficients up to which a filter is a matrix
STEPS = 2**12  # cells of the table between two integers


@lru_cache
def low_pass(moments: int) -> Array:
    """The filter h of φ: Σh = √2, Σ h_i h_{i+2k} = 1{k=0}; (2A,), read-only.

    The reconstruction filter, in the orientation in which φ(x) = √2 Σ h_i φ(2x − i).

    Examples
    --------
    >>> low_pass(1).round(4).tolist()
    [0.7071, 0.7071]
    """
    import pywt  # on first use: it takes a moment

    return _fixed(pywt.Wavelet(f"db{moments}").rec_lo)


@lru_cache
def high_pass(moments: int) -> Array:
    """The filter of ψ: g_i = (−1)^i h_{2A−1−i}; (2A,), read-only."""
    h = low_pass(moments)
    return _fixed((-1.0) ** np.arange(len(h)) * h[::-1])


@lru_cache
def scaling_table(moments: int) -> Array:
    """φ(i + u) for i < 2A − 1 and u = 0, 1/4096, …, 1: (2A − 1, 4097), read-only.

    Values at integers are the eigenvector of the two-scale relation, its sum one; each halving of
    the step is exact. For A = 1 φ is 1 on its only cell, both ends included.
    """
    if moments == 1:
        return _fixed(np.ones((1, STEPS + 1)))
    h, values = low_pass(moments), _at_integers(moments)
    while len(values) - 1 < (2 * moments - 1) * STEPS:
        values = _refined(values, h, 2 * moments - 1)
    cells = np.arange(2 * moments - 1)[:, None] * STEPS + np.arange(STEPS + 1)
    return _fixed(values[cells])


def _at_integers(moments: int) -> Array:
    """φ(0), …, φ(2A − 1): the eigenvector of M_ij = √2 h_{2i−j} for the eigenvalue 1."""
    h, size = low_pass(moments), 2 * moments
    lag = 2 * np.arange(size)[:, None] - np.arange(size)
    matrix = np.where((lag >= 0) & (lag < size), h[np.clip(lag, 0, size - 1)], 0.0)
    values, vectors = np.linalg.eig(np.sqrt(2) * matrix)
    vector = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    vector[[0, -1]] = 0.0
    return np.asarray(vector / vector.sum())


def _refined(values: Array, h: Array, support: int) -> Array:
    """φ at half the step, by φ(x) = √2 Σ h_i φ(2x − i), from its values on [0, support]."""
    per_unit = (len(values) - 1) // support
    fine = np.zeros(2 * len(values) - 1)
    for i, weight in enumerate(h):
        # fine point p lies at p/(2 per_unit), so 2x − i is the coarse point p − i per_unit
        start = i * per_unit
        stop = min(start + len(values), len(fine))
        fine[start:stop] += np.sqrt(2) * weight * values[: stop - start]
    return fine


def sup_norms(moments: int) -> tuple[float, float]:
    """‖φ‖_∞ and ‖ψ‖_∞, over the nodes of the table."""
    table = scaling_table(moments)
    if moments == 1:
        return 1.0, 1.0
    flat = np.append(table[:, :-1].ravel(), 0.0)
    double = np.concatenate([flat, np.zeros(len(flat) - 1)])[::2]  # φ(2x) on the grid of x
    half, psi = STEPS // 2, np.zeros(len(flat))
    for i, weight in enumerate(high_pass(moments)):
        shifted = np.zeros(len(flat))
        shifted[i * half : i * half + len(double)] = double[: len(flat) - i * half]
        psi += np.sqrt(2) * weight * shifted
    return float(np.abs(flat).max()), float(np.abs(psi).max())


def _meeting_functions(moments: int) -> int:
    """c_A = 2A − 1, the functions of one level that are not zero at one point in the interior."""
    return 2 * moments - 1


def printed_sensitivity_constant(moments: int) -> float:
    """c_ψ = 2√2 √c_A ‖ψ‖_∞.

    References
    ----------
    Cai, Chakraborty and Vuursteen, arXiv 2406.06755, Lemma 3.1.
    """
    return float(2 * np.sqrt(2 * _meeting_functions(moments)) * sup_norms(moments)[1])


def printed_point_constant(moments: int) -> float:
    """c'_ψ = 2 c_A ‖ψ‖²_∞; too small by 2 for A = 1.

    References
    ----------
    Cai, Chakraborty and Vuursteen, arXiv 2406.06755, Lemma 3.3.
    """
    return float(2 * _meeting_functions(moments) * sup_norms(moments)[1] ** 2)


# -- edges ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edges(ABC):
    """Treatment of the shifts at the ends of [0, 1], with the filter bank that follows."""

    moments: int

    @property
    @abstractmethod
    def lowest_level(self) -> int:
        """The least J at which the ends do not get in each other's way."""

    @abstractmethod
    def fold(self, extended: Array) -> Array:
        """Fold sums (…, 2^J + 2A − 2) over shifts that meet [0, 1] into coordinates (…, 2^J)."""

    @abstractmethod
    def unfold(self, coordinates: Array) -> Array:
        """Transpose `fold`: what each shift is multiplied by, (…, 2^J + 2A − 2)."""

    @abstractmethod
    def analysis(self, coordinates: Array) -> tuple[Array, Array]:
        """Split a level (…, 2^J) into coarser scaling coefficients and details, (…, 2^{J−1})."""

    @abstractmethod
    def synthesis(self, coarse: Array, detail: Array) -> Array:
        """Invert, and transpose, `analysis`: (…, 2^J), from halves (…, 2^{J−1})."""


@dataclass(frozen=True)
class Periodic(Edges):
    """Shifts that leave [0, 1] at one end come back at the other."""

    @property
    def lowest_level(self) -> int:
        """⌈log₂(2A − 1)⌉: from here on no shift meets itself."""
        return int(np.ceil(np.log2(2 * self.moments - 1)))

    def fold(self, extended: Array) -> Array:
        over = 2 * self.moments - 2
        out = extended[..., over:].copy()
        out[..., out.shape[-1] - over :] += extended[..., :over]
        return out

    def unfold(self, coordinates: Array) -> Array:
        over = 2 * self.moments - 2
        return np.concatenate([coordinates[..., coordinates.shape[-1] - over :], coordinates], -1)

    def analysis(self, coordinates: Array, short: int = _SHORT) -> tuple[Array, Array]:
        """Short vectors are multiplied by the whole matrix, long ones filtered tap by tap."""
        half = coordinates.shape[-1] // 2
        if half <= short:
            both = coordinates @ _periodic_bank(self.moments, half)
            return both[..., :half], both[..., half:]
        over = 2 * self.moments - 2
        phases = [
            np.concatenate([phase, phase[..., : over // 2]], axis=-1)
            for phase in (coordinates[..., ::2], coordinates[..., 1::2])
        ]
        coarse, detail = (np.zeros((*coordinates.shape[:-1], half)) for _ in range(2))
        taps = zip(low_pass(self.moments), high_pass(self.moments), strict=True)
        for k, (h, g) in enumerate(taps):
            met = phases[k % 2][..., k // 2 : k // 2 + half]
            coarse += h * met
            detail += g * met
        return coarse, detail

    def synthesis(self, coarse: Array, detail: Array) -> Array:
        half = coarse.shape[-1]
        out = np.zeros((*coarse.shape[:-1], 2 * half))
        pairs = zip(
            _periodic_places(self.moments, half).T,
            low_pass(self.moments),
            high_pass(self.moments),
            strict=True,
        )
        for rows, h, g in pairs:  # the rows of one filter tap are all different
            out[..., rows] += h * coarse + g * detail
        return out


@lru_cache(maxsize=64)
def _periodic_bank(moments: int, half: int) -> Array:
    """One level as a matrix: (2 half, 2 half), first coarse columns, then those of details."""
    bank, columns = np.zeros((2 * half, 2 * half)), np.arange(half)
    taps = zip(
        _periodic_places(moments, half).T, low_pass(moments), high_pass(moments), strict=True
    )
    for rows, h, g in taps:
        bank[rows, columns] += h
        bank[rows, half + columns] += g
    return bank


@lru_cache(maxsize=64)
def _periodic_places(moments: int, half: int) -> NDArray[np.int64]:
    """Find the fine coefficients that meet each coarse one: (half, 2A)."""
    return np.asarray((2 * np.arange(half)[:, None] + np.arange(2 * moments)) % (2 * half))


@dataclass(frozen=True)
class BoundaryCorrection(Edges):
    """A functions at each end that keep polynomials of degree below A, in place of 2A − 1 shifts.

    Left: Σ_k q(k) φ(x − k) over k = −2A + 2, …, 0 with powers q of k; right: powers of
    (k + A)/(A − 1) over k = −2A + 1, …, −1, counted from 2^J. Both are made orthonormal by the
    Cholesky factor of their Gram matrix; this choice of powers keeps it well conditioned.
    """

    @property
    def lowest_level(self) -> int:
        """⌈log₂ 2A⌉: the two ends must not share a shift."""
        return int(np.ceil(np.log2(2 * self.moments)))

    def fold(self, extended: Array) -> Array:
        """Coordinates are A left ones, 2^J − 2A inner ones and A right ones."""
        (left, right), ours = _edges(self.moments), 2 * self.moments - 1
        stop = extended.shape[-1] - ours
        return np.concatenate(
            [
                extended[..., :ours] @ left.T,
                extended[..., ours:stop],
                extended[..., stop:] @ right.T,
            ],
            axis=-1,
        )

    def unfold(self, coordinates: Array) -> Array:
        (left, right), a = _edges(self.moments), self.moments
        stop = coordinates.shape[-1] - a
        return np.concatenate(
            [
                coordinates[..., :a] @ left,
                coordinates[..., a:stop],
                coordinates[..., stop:] @ right,
            ],
            axis=-1,
        )

    def analysis(self, coordinates: Array) -> tuple[Array, Array]:
        coarse, detail = _corrected_bank(self.moments, coordinates.shape[-1])
        return coordinates @ coarse.T, coordinates @ detail.T

    def synthesis(self, coarse: Array, detail: Array) -> Array:
        up, across = _corrected_bank(self.moments, 2 * coarse.shape[-1])
        return np.asarray(coarse @ up + detail @ across)


@lru_cache
def _edges(moments: int) -> tuple[Array, Array]:
    """Left and right edge functions in terms of their shifts: (A, 2A − 1) each, read-only."""
    a, overlap = moments, _half_line_gram(moments)
    left = np.arange(-2 * a + 2.0, 1) ** np.arange(a)[:, None]
    right = ((np.arange(-2 * a + 1.0, 0) + a) / max(a - 1, 1)) ** np.arange(a)[:, None]
    beyond = np.zeros_like(overlap)
    beyond[1:, 1:] = overlap[:-1, :-1]
    return (
        _fixed(_orthonormal(left, overlap)),
        _fixed(_orthonormal(right, np.eye(2 * a - 1) - beyond)),
    )


def _orthonormal(rows: Array, gram: Array) -> Array:
    factor = np.linalg.cholesky(rows @ gram @ rows.T)
    return np.asarray(np.linalg.solve(factor, rows))


@lru_cache
def _half_line_gram(moments: int) -> Array:
    """∫_0^∞ φ(x − k) φ(x − l) dx for k, l = −2A + 2, …, 0: (2A − 1, 2A − 1), read-only.

    The two-scale relation gives M_kl = Σ_ab h_a h_b M_{2k+a, 2l+b}: linear equations once it is
    known that M_kl = 1{k = l} where k or l ≥ 0 and 0 where k or l ≤ −2A + 1.
    """
    h, last_shift = low_pass(moments), 2 * moments - 2
    n = last_shift + 1
    system, known = np.eye(n * n), np.zeros(n * n)
    for k in range(-last_shift, 1):
        for j in range(-last_shift, 1):
            row = (k + last_shift) * n + j + last_shift
            for a, first in enumerate(h):
                for b, second in enumerate(h):
                    p, q = 2 * k + a, 2 * j + b
                    if max(p, q) >= 0:
                        known[row] += first * second * (p == q)
                    elif min(p, q) >= -last_shift:
                        system[row, (p + last_shift) * n + q + last_shift] -= first * second
    return _fixed(np.linalg.solve(system, known).reshape(n, n))


def shift_gram(moments: int, level: int) -> Array:
    """Inner products over [0, 1] of all shifts k = −2A + 2, …, 2^J − 1 at one level."""
    ours = 2 * moments - 1
    gram = np.eye(2**level + ours - 1)
    gram[:ours, :ours] = _half_line_gram(moments)
    beyond = np.zeros((ours, ours))
    beyond[1:, 1:] = _half_line_gram(moments)[:-1, :-1]
    gram[-ours:, -ours:] = np.eye(ours) - beyond
    return gram


@lru_cache(maxsize=16)
def _corrected_bank(moments: int, size: int) -> tuple[Array, Array]:
    """Rows that take `size` coordinates to the coarser half, and to details orthogonal to them."""
    rule, level, h = BoundaryCorrection(moments), int(np.log2(size)), low_pass(moments)
    n_coarse, over = size // 2 + 2 * moments - 2, 2 * moments - 2
    refine = np.zeros((n_coarse, size + over))
    for e in range(n_coarse):
        rows = 2 * (e - over) + np.arange(2 * moments) + over
        inside = (rows >= 0) & (rows < refine.shape[1])
        refine[e, rows[inside]] = h[inside]
    coarse = rule.fold(refine.T).T  # coarse functions in fine shifts
    inner = rule.fold(coarse @ shift_gram(moments, level))  # and their products with fine functions
    basis = np.linalg.qr(inner.T, mode="complete")[0]
    return _fixed(inner), _fixed(basis[:, size // 2 :].T)


def _fixed(values: object) -> Array:
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array
