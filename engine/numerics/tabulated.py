"""Functions given by their values on a grid, with straight lines in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.core.types import FunctionBasis, Truth
from engine.numerics.eigensystems import Grid


@dataclass(frozen=True, eq=False)
class Tabulated(FunctionBasis):
    """Functions whose coefficients are their values at the points of a grid.

    Norms are those of the grid: ∫ f² is Σ w_k f_k².
    """

    grid: Grid  # of K points of [0, 1]^d

    @property
    def size(self) -> int:
        return len(self.grid.weights)

    def __call__(self, times: Array) -> Array:
        """Shares of the grid's values in the value between them; constant beyond the ends.

        At times (…), or (…, d) for d > 1, of [0, 1]^d: (…, size).
        """
        return self.grid.between(np.eye(self.size), times)

    def first(self, size: int) -> Tabulated:
        """The basis itself: values have no order, and only all of them make a function."""
        if size != self.size:
            raise ValueError("a function on a grid needs all its values")
        return self

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The truth at the points of the grid, where nothing is left out."""
        values = truth.at(self.grid.points[:, 0] if self.grid.dimension == 1 else self.grid.points)
        return values, np.zeros(values.shape[:-1])

    def squared_distance(self, difference: Array) -> Array:
        """Σ_k w_k d_k²."""
        return np.asarray(difference**2 @ self.grid.weights)
