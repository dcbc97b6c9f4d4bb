"""Known functions, and the bases in which functions are estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from engine.core.arrays import Array
from engine.core.grids import drawing_points, interpolated, quadrature, read_only


@dataclass(frozen=True)
class Truth:
    """A known function, as data: its values on a drawing grid and on quadrature nodes.

    Functions with jumps or kinks need the rule "midpoints", whose many nodes take the place of
    the 200. Functions on [0, 1]² have the rule "square": 96 × 96 midpoints, on which they are
    drawn as well, so that `grid_values` are the `node_values`. A vector has the rule "coordinates"
    (see `of_vector`): its entries are both kinds of values and its energy is their sum of squares.

    Examples
    --------
    >>> truth = Truth.of(lambda t: t**2)
    >>> round(float(truth.energy), 12), truth.at(np.array([0.3])).round(12).tolist()
    (0.2, [0.09])
    """

    # (GRID_SIZE,) or (d + 1, GRID_SIZE): on equally spaced points of [0, 1]; several functions, as
    # in a varying-coefficient model, come first
    grid_values: Array
    # (200,) or (d + 1, 200): on the nodes of the rule, from which coefficients and the energy of
    # the tail follow
    node_values: Array
    rule: str = "gauss"

    @classmethod
    def of(cls, function: Callable[[Array], Array], rule: str = "gauss") -> Truth:
        """Evaluate a function as the truth.

        It takes points (n,), or (n, 2) for "square", to values (n,) or (functions, n).
        """
        drawn, nodes = drawing_points(rule), quadrature(rule)[0]
        return cls(read_only(function(drawn)), read_only(function(nodes)), rule)

    @classmethod
    def of_vector(cls, entries: Array) -> Truth:
        """Take a vector as a truth, (d,), or one for each machine, (machines, d)."""
        values = read_only(np.array(entries, dtype=float))
        return cls(values, values, "coordinates")

    def less(self, curve: Callable[[Array], Array]) -> Truth:
        """Subtract a known curve."""
        drawn, nodes = drawing_points(self.rule), self.quadrature[0]
        return replace(
            self,
            grid_values=read_only(self.grid_values - curve(drawn)),
            node_values=read_only(self.node_values - curve(nodes)),
        )

    def at(self, points: Array) -> Array:
        """Evaluate at points of [0, 1], (…), or of the square, (…, 2): (…) or (functions, …).

        "gauss": the polynomial through the nodes, exact to rounding for the smooth truths it is
        used for. "midpoints": the broken line. "square": the bicubic spline. A vector has no
        values between its entries.
        """
        points = np.asarray(points)
        shape, dimension = points.shape, 1
        if self.rule == "square":
            shape, dimension = shape[:-1], 2
        rows = np.atleast_2d(self.node_values)
        values = interpolated(self.rule, rows, points.reshape(-1, dimension).T)
        return values.reshape(*self.node_values.shape[:-1], *shape)

    @property
    def quadrature(self) -> tuple[Array, Array]:
        """The nodes of `node_values` and their weights; for a vector, positions and ones."""
        if self.rule == "coordinates":
            size = self.node_values.shape[-1]
            return np.arange(size, dtype=float), np.ones(size)
        return quadrature(self.rule)

    @property
    def energy(self) -> Array:
        """∫ μ² over [0, 1], of each function; of a vector, Σ μ_j²."""
        return np.asarray(self.node_values**2 @ self.quadrature[1])


class FunctionBasis(Protocol):
    """Functions b_1 … b_size of an `Estimate`, as far as it needs them."""

    @property
    def size(self) -> int: ...

    def __call__(self, times: Array, /) -> Array:
        """Values at `times` (...): (..., size)."""
        ...

    def first(self, size: int) -> FunctionBasis:
        """The basis of the first functions alone."""
        ...

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Best approximation of known functions (…, size), and ∫ of the square of the rest."""
        ...

    def squared_distance(self, difference: Array) -> Array:
        """∫ (Σ_l d_l b_l)²: the squared norm of a difference d (…, size) of two functions."""
        ...
