"""Functions given by their values on a grid, with straight lines in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.arrays import Array
from engine.numerics.eigensystems import Grid
from engine.types import Truth


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Coefficients are the values at the K points of a grid on [0, 1]^d; a `FunctionBasis`.

    Norms are those of the grid: ∫ f² is Σ w_k f_k².
    """

    grid: Grid

    @property
    def size(self) -> int:
        return len(self.grid.weights)

    def __call__(self, times: Array) -> Array:
        """Values at times (…), or points (…, d) for d > 1: (…, size); constant beyond the ends."""
        return self.grid.between(np.eye(self.size), times)

    def first(self, size: int) -> Tabulated:
        """Values have no order: only all of them make a function."""
        if size != self.size:
            raise ValueError("a function on a grid needs all its values")
        return self

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The truth at the points of the grid, where nothing is left out."""
        values = truth.at(self.grid.points[:, 0] if self.grid.dimension == 1 else self.grid.points)
        return values, np.zeros(values.shape[:-1])

    def squared_distance(self, difference: Array) -> Array:
        return np.asarray(difference**2 @ self.grid.weights)
