"""Base of orthonormal bases of functions."""

from __future__ import annotations

from dataclasses import Field, replace
from typing import Any, ClassVar, Self

import numpy as np

from engine.core.arrays import Array
from engine.core.types import Truth


class OrthonormalBasis:
    """The first `size` functions of an orthonormal sequence; a `FunctionBasis`.

    A subclass is a frozen dataclass with a field `size`, and says the values of its functions.
    Where these are not orthonormal, as with a Fourier basis of a longer period, or inner products
    are others, it says what differs.
    """

    size: int
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # subclasses are dataclasses

    def __call__(self, times: Array) -> Array:
        """Values (…, size) at times (…), or (…, 2) where functions are of two numbers."""
        raise NotImplementedError

    def first(self, size: int) -> Self:
        """The basis of the first functions alone."""
        return replace(self, size=size)

    def coefficients(self, truth: Truth) -> Array:
        """Compute the inner products of the basis with a known function, or several: (…, size)."""
        nodes, weights = truth.quadrature
        return np.asarray((weights * truth.node_values) @ self(nodes))

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The best approximation of known functions (…, size), and ∫ of the square of the rest."""
        best = self.coefficients(truth)
        return best, np.maximum(truth.energy - (best**2).sum(axis=-1), 0.0)

    def squared_distance(self, difference: Array) -> Array:
        """Compute the squared norm Σ_l d_l² of a difference d (…, size) of two functions: (…)."""
        return np.asarray((difference**2).sum(axis=-1))
