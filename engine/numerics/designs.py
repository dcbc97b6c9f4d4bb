"""Public facts about the spread of reading times, and a basis over the ranks of times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.types import FunctionBasis, Truth
from engine.numerics.public_curves import PublicCurve
from engine.numerics.wavelet_bases import WaveletBasis


@dataclass(frozen=True)
class KnownDesign:
    """A stated density g of the times: a broken line above zero with integral one.

    Examples
    --------
    >>> design = KnownDesign.stated("0.5, 1.5", "density")
    >>> design.rank(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.375, 1.0]
    """

    density: PublicCurve  # g

    @classmethod
    def stated(cls, text: str, field: str) -> KnownDesign:
        """Read heights such as "0.5, 1.5" at equally spaced times; any integral will do."""
        density = PublicCurve.stated(text, field).as_density(field)
        if min(density.heights) <= 0:
            raise InputError(
                f"“{field}” must be above zero everywhere.",
                field=field,
                hint="For example 0.5, 1.5.",
            )
        return cls(density)

    @property
    def lowest_density(self) -> float:
        return min(self.density.heights)

    def weight(self, times: Array) -> Array:
        """Weights 1/g of readings, so that weighted averages are those of evenly spread times."""
        return 1 / self.density(times)

    def rank(self, times: Array) -> Array:
        """Evaluate the distribution function G(x), exactly: it is a parabola between the heights.

        Times are held within [0, 1].
        """
        heights = np.array(self.density.heights)
        pieces = len(heights) - 1
        position = np.clip(times, 0.0, 1.0) * pieces
        piece = np.minimum(position.astype(np.int64), pieces - 1)
        share = position - piece
        before = np.append(0.0, np.cumsum((heights[:-1] + heights[1:]) / 2))
        rise = heights[piece + 1] - heights[piece]
        return np.asarray((before[piece] + heights[piece] * share + rise * share**2 / 2) / pieces)


@dataclass(frozen=True)
class RankBasis(FunctionBasis):
    """b(G(x)): a basis over the ranks of times. Errors are weighted by the density."""

    basis: WaveletBasis
    design: KnownDesign

    @property
    def size(self) -> int:
        return self.basis.size

    def __call__(self, times: Array) -> Array:
        """Values at `times` (...): (..., size)."""
        return self.basis(self.design.rank(np.asarray(times)))

    def first(self, size: int) -> RankBasis:
        return RankBasis(self.basis.first(size), self.design)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """Project in L² under the density g."""
        nodes, weights = truth.quadrature
        weights = weights * self.design.density(nodes)
        inner = self.basis.inner_products(
            self.design.rank(nodes), weights * np.atleast_2d(truth.node_values)
        )
        best = self.basis.to_levels(inner).reshape(*truth.node_values.shape[:-1], self.size)
        energy = truth.node_values**2 @ weights
        return best, np.maximum(energy - (best**2).sum(axis=-1), 0.0)

    def squared_distance(self, difference: Array) -> Array:
        """∫ (Σ_l d_l b_l(G(x)))² g(x) dx."""
        return self.basis.squared_distance(difference)
