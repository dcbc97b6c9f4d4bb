"""Values at a few points, in the place of a basis: what a pointwise estimate consists of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.types import FunctionBasis, Truth

MAX_POINTS = 101


@dataclass(frozen=True)
class PointValues(FunctionBasis):
    """Coefficient l is the value at point l; drawn as a broken line.

    Examples
    --------
    >>> PointValues.stated("0.37, 0.2", "points").points
    (0.2, 0.37)
    """

    points: tuple[float, ...]  # on [0, 1] and rising

    @classmethod
    def stated(cls, text: str, field: str) -> PointValues:
        """Read points such as "0.2, 0.37", in any order."""
        try:
            points = tuple(sorted({float(part) for part in text.split(",")}))
        except ValueError:
            points = ()
        if not 0 < len(points) <= MAX_POINTS or not all(0 <= point <= 1 for point in points):
            raise InputError(
                f"“{field}” must be at most {MAX_POINTS} numbers from 0 to 1, "
                "with commas between them.",
                field=field,
                hint="For example 0.2, 0.37.",
            )
        return cls(points)

    @property
    def size(self) -> int:
        return len(self.points)

    def __call__(self, times: Array) -> Array:
        """Shares of the points in the broken line at `times` (...): (..., size)."""
        unit = np.eye(self.size)
        return np.stack([np.interp(times, self.points, row) for row in unit], axis=-1)

    def first(self, size: int) -> PointValues:
        return PointValues(self.points[:size])

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Values of the truth at the points, where nothing is left out, read between its nodes."""
        nodes, _ = truth.quadrature
        rows = np.atleast_2d(truth.node_values)
        values = np.stack([np.interp(self.points, nodes, row) for row in rows])
        shape = truth.node_values.shape[:-1]
        return values.reshape(*shape, self.size), np.zeros(shape)

    def squared_distance(self, difference: Array) -> Array:
        """Squared error, averaged over the points."""
        return np.asarray((difference**2).mean(axis=-1))
