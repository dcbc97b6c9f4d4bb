"""Vectors whose entries are what is estimated, as coefficients of a basis like any other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.core.types import Truth
from engine.numerics.orthonormal import OrthonormalBasis


@dataclass(frozen=True)
class Coordinates(OrthonormalBasis):
    """The unit vectors of R^d: coefficient j is entry j, and distance is Euclidean.

    Where curves have times, vectors have positions 0 … size − 1.

    Examples
    --------
    >>> Coordinates(3)(np.array([1.0])).tolist()
    [[0.0, 1.0, 0.0]]
    """

    size: int

    def __call__(self, positions: Array) -> Array:
        """1 where a position from 0 to size − 1, rounded, is that of the entry, 0 elsewhere."""
        nearest = np.rint(np.asarray(positions))[..., None]
        return np.asarray(nearest == np.arange(self.size), dtype=float)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The vector itself, cut to `size` entries, and Σ of the squares of those cut off."""
        entries = truth.node_values[..., : self.size]
        return entries, np.asarray((truth.node_values[..., self.size :] ** 2).sum(axis=-1))


POSITIONS, SIGNS = ("first", "random"), ("equal", "random")


def sparse_vector(
    size: int, n_nonzero: int, positions: str, signs: str, rng: np.random.Generator
) -> Array:
    """A vector with entries of ±1, all 1 if "equal", the others zero: (size,)."""
    where = rng.permutation(size)[:n_nonzero] if positions == "random" else np.arange(n_nonzero)
    vector = np.zeros(size)
    vector[where] = rng.choice([-1.0, 1.0], n_nonzero) if signs == "random" else 1.0
    return vector
