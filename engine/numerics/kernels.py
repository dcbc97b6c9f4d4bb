"""Covariance kernels on [0, 1] and their Karhunen–Loève expansions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln, kve

from engine.core.arrays import Array
from engine.core.grids import quadrature

_TAIL = 2e-6  # share of the variance at any point that the dropped terms may hold
_DEGREE = 48  # degree at which eigenfunctions are interpolated before trimming


def matern(distance: Array, smoothness: float, length: float, sd: float) -> Array:
    """Matérn covariance sd² 2^(1−ν)/Γ(ν) z^ν K_ν(z), z = √(2ν) |x − y| / length.

    Evaluated through logarithms, with the limit sd² at distance zero.

    Examples
    --------
    >>> matern(np.array([0.0, 0.5]), smoothness=0.5, length=0.5, sd=1.0).round(3).tolist()
    [1.0, 0.368]
    """
    z = np.sqrt(2 * smoothness) * np.abs(distance) / length
    positive = np.where(z > 0, z, 1.0)
    log = (
        (1 - smoothness) * np.log(2)
        - gammaln(smoothness)
        + smoothness * np.log(positive)
        + np.log(kve(smoothness, positive))
        - positive
    )
    return np.asarray(sd**2 * np.where(z > 0, np.exp(log), 1.0))


@lru_cache(maxsize=32)
def _eigen(smoothness: float, length: float, sd: float) -> tuple[Array, Array]:
    nodes, weights = quadrature()
    root = np.sqrt(weights)
    kernel = matern(nodes[:, None] - nodes, smoothness, length, sd)
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
    return values[::-1].clip(min=0), vectors[:, ::-1] / root[:, None]


@lru_cache(maxsize=32)
def path_polynomials(smoothness: float, length: float, sd: float) -> Array:
    """Scaled eigenfunctions √λ_k φ_k as polynomials in z = 2x − 1: (degree + 1, terms).

    Standard normal weights on the columns give Gaussian paths whose covariance is exact to about
    3e-6 · sd². The eigenfunctions are extended off the quadrature nodes by the Nyström formula and
    interpolated at Chebyshev points, which costs less than 1e-6 · sd at the degree kept.
    """
    values, functions = _eigen(smoothness, length, sd)
    dropped = sd**2 - np.cumsum(values * functions**2, axis=1).min(axis=0)
    terms = int(np.argmax(dropped < _TAIL * sd**2)) + 1
    nodes, weights = quadrature()
    z = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    kernel = matern((z[:, None] + 1) / 2 - nodes, smoothness, length, sd)
    extended = kernel @ (weights[:, None] * functions[:, :terms]) / np.sqrt(values[:terms])
    chebyshev = np.polynomial.chebyshev.chebfit(z, extended, _DEGREE)
    degree = _trimmed_degree(np.asarray(chebyshev), 1e-6 * sd)
    return np.stack([_monomials(column[: degree + 1]) for column in chebyshev.T], axis=1)


def _trimmed_degree(chebyshev: Array, tolerance: float) -> int:
    """Smallest degree whose dropped Chebyshev terms add up to less than the tolerance."""
    tail = np.sqrt((np.abs(chebyshev)[::-1].cumsum(axis=0) ** 2).sum(axis=1))[::-1]
    return int(max(np.flatnonzero(tail > tolerance), default=0))


def _monomials(chebyshev: Array) -> Array:
    out = np.polynomial.chebyshev.cheb2poly(chebyshev)
    return np.pad(out, (0, len(chebyshev) - len(out)))
