"""The Fourier basis on [0, 1], plain or extended to a longer period."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.types import Array, Truth, quadrature

SUP_NORM = np.sqrt(2.0)  # |φ_l| ≤ √2 for every basis function, extended or not


@dataclass(frozen=True)
class Basis:
    """φ_1 = 1, φ_2k = √2 cos(2πk u), φ_2k+1 = √2 sin(2πk u) with u = (t + ζ) / (1 + 2ζ).

    With `extension` ζ = 0 the basis is orthonormal on [0, 1]. With ζ > 0 the period is longer than
    the interval, so that a curve need not end where it began (Fourier extension); |φ_l| ≤ √2 still
    holds, and `gram` holds the inner products on [0, 1].
    """

    size: int
    extension: float = 0.0

    def __call__(self, times: Array) -> Array:
        """Values at `times` (...): (..., size)."""
        angle = 2 * np.pi * self.turns(np.asarray(times))[..., None]
        frequency = np.arange(1, self.size + 1) // 2
        is_cosine = np.arange(1, self.size + 1) % 2 == 0
        waves = np.where(is_cosine, np.cos(angle * frequency), np.sin(angle * frequency))
        waves[..., 1:] *= SUP_NORM
        waves[..., 0] = 1.0
        return waves

    def turns(self, times: Array) -> Array:
        """The position of a time within the period, in [0, 1]."""
        if self.extension == 0:
            return times
        return np.asarray((times + self.extension) / (1 + 2 * self.extension))

    @property
    def gram(self) -> Array:
        """Inner products ∫ φ_k φ_l over [0, 1]: (size, size)."""
        return _gram(self)

    def project(self, truth: Truth) -> tuple[Array, float]:
        """Coefficients of the best approximation of the truth, and the energy it leaves out."""
        nodes, weights = quadrature()
        inner = (weights * truth.node_values) @ self(nodes)
        best = np.linalg.solve(self.gram, inner)
        return np.asarray(best), max(truth.energy - float(inner @ best), 0.0)

    def squared_distance(self, difference: Array) -> Array:
        """∫ (Σ_l d_l φ_l)² for coefficients d (..., size): (...)."""
        if self.extension == 0:
            return np.asarray((difference**2).sum(axis=-1))
        return np.asarray(((difference @ self.gram) * difference).sum(axis=-1))


@lru_cache(maxsize=64)
def _gram(basis: Basis) -> Array:
    if basis.extension == 0:
        return np.eye(basis.size)
    nodes, weights = quadrature()
    values = basis(nodes)
    return np.asarray(values.T @ (weights[:, None] * values))
