"""Variation of people's curves, from second moments of deviations.

People's curves differ from the mean by p(t)'ξ_i, in q shifted Legendre polynomials p: a level, a
trend and a bend are three of them, and infinitely many cosines. A person's deviation is h_i = −K_i
s_i − K_i e_i with s_i the sums of the functions of the release over the observations of p'ξ_i, e_i
those of errors. Its covariance is 𝓛(Σ) + σ²Q with Σ that of ξ, σ² the variance of an error and two
public maps over the design of the times,

    𝓛(Σ) = E UΣU',   U = K S^p,   S^p = (1/m) Σ_j φ(t_j) p(t_j)',   Q = E K S K'/m,

which hold what the functions of the release alias of people's curves. Both are averages over
simulated designs of a fixed seed, and over the public numbers of observations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.core.arrays import Array
from engine.core.bands import public_normals
from engine.core.types import Design
from engine.numerics.bases import Basis
from engine.numerics.deviations import mean_slopes_inverse, ridge, weighted_within_curves
from engine.numerics.legendre import polynomial_rows
from engine.numerics.moments import curve_moments, product_table
from engine.numerics.observation_times import Stratified, draw_times
from engine.numerics.symmetric_matrices import matrix_root, nearest_semidefinite

_DESIGNS, _SEED = 2000, 20_241_206
_BLOCK = 400_000  # observations whose functions are computed at once
_DRAWS = 200  # of Σ, for what is not known of it
Readings = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class SpreadMaps:
    """The maps 𝓛 and Q for releases in r functions and people in q, Σ of q × q."""

    of_curves: Array  # 𝓛 of the matrices with ones at (j, k) and (k, j), j ≤ k
    of_errors: Array  # (r, r): Q

    @property
    def n_functions(self) -> int:
        """q, of people's curves."""
        return int((np.sqrt(8 * len(self.of_curves) + 1) - 1) / 2)

    def moments_of(self, spread: PeopleSpread, stretch: Array) -> Array:
        """Second moments M (…, r, r) of people of this spread, in units of the shape D (r,)."""
        first, second = np.triu_indices(self.n_functions)
        of_curves = np.tensordot(spread.covariance[..., first, second], self.of_curves, axes=1)
        of_errors = spread.error[..., None, None] * self.of_errors
        return np.asarray((of_curves + of_errors) / (stretch[:, None] * stretch))


@lru_cache(maxsize=64)
def spread_maps(basis: Basis, readings: Readings, design: Design, n_functions: int) -> SpreadMaps:
    """Compute the maps of a public design, for people's curves in `n_functions` polynomials.

    `readings` pairs observations of a curve with the number of people who have so many.
    """
    people = sum(count for _, count in readings)
    parts = [
        (count / people, _maps_of_one(basis, length, design, n_functions))
        for length, count in readings
        if length > 0
    ]
    return SpreadMaps(
        np.asarray(sum(share * part.of_curves for share, part in parts)),
        np.asarray(sum(share * part.of_errors for share, part in parts)),
    )


@lru_cache(maxsize=512)
def _maps_of_one(basis: Basis, length: int, design: Design, n_functions: int) -> SpreadMaps:
    rng = Stratified(np.random.default_rng(_SEED))
    times = draw_times(design, _DESIGNS, length, rng)
    counts = np.full(_DESIGNS, length)
    flat = times.reshape(1, -1)
    moments = curve_moments(flat, np.zeros_like(flat), counts, basis)
    _, deviations = next(weighted_within_curves(moments, counts, [basis.size], design))
    slopes = deviations.slopes[0].transpose(2, 1, 0)  # T: (designs, r, r)
    products = np.tensordot(moments.waves[0], product_table(basis), axes=(0, 0))  # S: likewise
    penalty = ridge(basis.size, counts)[:, 0]
    gains = (mean_slopes_inverse(basis, length, design) - slopes) / penalty  # K = (P − T) Λ⁻¹
    of_people = gains @ _sums(basis, times, n_functions)  # U: (designs, r, q)
    pairs = np.einsum("dlj,dmk->jklm", of_people, of_people, optimize=True) / _DESIGNS
    first, second = np.triu_indices(n_functions)
    both = pairs[first, second] + pairs[second, first]
    of_curves = np.where((first == second)[:, None, None], both / 2, both)
    errors = np.einsum("dlm,dmn,dkn->lk", gains, products, gains, optimize=True)
    return SpreadMaps(of_curves, errors / (_DESIGNS * length))


def _sums(basis: Basis, times: Array, n_functions: int) -> Array:
    """Compute S^p of designs of times (designs, m): (designs, r, q)."""
    at_once = max(1, _BLOCK // times.shape[1])
    blocks = (times[start : start + at_once] for start in range(0, len(times), at_once))
    sums = [basis(block).swapaxes(1, 2) @ polynomial_rows(n_functions, block) for block in blocks]
    return np.asarray(np.concatenate(sums) / times.shape[1])


@dataclass(frozen=True, eq=False)
class PeopleSpread:
    """Variation of people's curves: Σ in q polynomials, and of observations about them."""

    covariance: Array  # (…, q, q): Σ, in squared response units
    error: Array  # (…): σ²


def people_spread(
    moments: Array, stretch: Array, maps: SpreadMaps, error: float | None = None
) -> PeopleSpread:
    """Σ and σ² by least squares of D⁻¹(𝓛(Σ) + σ²Q)D⁻¹ on M, all entries alike.

    A negative σ² is 0 and the rest fitted again; negative eigenvalues of Σ are 0. M is in units of
    the shape, D in response units; `error` is a stated σ².

    Examples
    --------
    >>> maps = spread_maps(Basis(4, family="cosine"), ((10, 1),), Design(), 3)
    >>> exact = np.einsum("prs,p->rs", maps.of_curves, [1., 0, 0, .5, 0, .2]) + .3 * maps.of_errors
    >>> spread = people_spread(exact, np.ones(4), maps)
    >>> np.round(np.diagonal(spread.covariance), 6).tolist(), round(float(spread.error), 6)
    ([1.0, 0.5, 0.2], 0.3)
    """
    units = stretch[:, None] * stretch
    of_curves = (maps.of_curves / units).reshape(len(maps.of_curves), -1)
    of_errors = (maps.of_errors / units).ravel()
    flat = moments.reshape(*moments.shape[:-2], -1)
    if error is None:
        solved = flat @ np.linalg.pinv(np.vstack([of_curves, of_errors]))
        entries, errors = solved[..., :-1], solved[..., -1]
        again = flat @ np.linalg.pinv(of_curves)
        entries = np.where(errors[..., None] < 0, again, entries)
        errors = np.maximum(errors, 0.0)
    else:
        entries = (flat - error * of_errors) @ np.linalg.pinv(of_curves)
        errors = np.full(entries.shape[:-1], error)
    size = maps.n_functions
    first, second = np.triu_indices(size)
    covariance = np.zeros((*entries.shape[:-1], size, size))
    covariance[..., first, second] = covariance[..., second, first] = entries
    return PeopleSpread(nearest_semidefinite(covariance), errors)


def moments_drawn(moments: Array, noise: float, people: int) -> Array:
    """Draw moments (draws, r, r) that could replace the released M, by a fixed public sample.

    M + τZ + √(2/n) M₊^½ Z' M₊^½ with Z, Z' symmetric, of variance 1 on the diagonal and ½ beside.
    """
    size = len(moments)
    normals = public_normals(2 * size * size, _DRAWS).T.reshape(_DRAWS, 2, size, size)
    square = normals.swapaxes(0, 1)
    # the mean of a matrix and its transpose: variance 1 on the diagonal, 1/2 beside it
    of_noise, of_people = iter((square + square.swapaxes(-1, -2)) / 2)
    root = matrix_root(moments)
    return np.asarray(moments + noise * of_noise + np.sqrt(2 / people) * (root @ of_people @ root))
