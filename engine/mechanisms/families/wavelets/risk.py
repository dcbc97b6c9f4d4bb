"""Exact mean squared errors of wavelet regression for a known curve: the engine's own oracle.

Readings are Y = f(X) + σξ with X of a known density g; a site averages w(X)[Y]_τ b(X) and adds
noise. Times are uniform and w = 1 unless stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.core.types import Array, Truth
from engine.numerics.clipping.normal_readings import clipped_mean, clipped_square
from engine.numerics.wavelet_bases import WaveletBasis

_PER_CELL = 2**11  # midpoints in each cell where a kernel is not zero


@dataclass(frozen=True)
class RiskParts:
    """Mean squared error, in squared response units, as a sum of four parts.

    For a single point the first two are a joint squared bias: `clip` is what the clip adds to it.
    """

    projection: float
    clip: float  # what clipping shifts, and a density that is not what it was taken for
    data: float
    privacy: float

    @property
    def total(self) -> float:
        return self.projection + self.clip + self.data + self.privacy


@dataclass(frozen=True)
class DesignDensity:
    """Density of the times and weight of a reading, as functions of the time."""

    # density, weight: from times (…) to numbers (…)
    density: Callable[[Array], Array] = np.ones_like
    weight: Callable[[Array], Array] = np.ones_like


UNIFORM = DesignDensity()


@dataclass(frozen=True, eq=False)
class CentreAverage:
    """A centre's average: n_j readings of each site clipped at ±τ, with weights u_j."""

    basis: WaveletBasis
    clip: float
    sigma: float  # σ of the readings around the curve
    # n, weights, each (sites,)):
    n: Array
    weights: Array
    # (sites,): variance of what each site adds to the quantity whose error is asked for
    noise: Array

    def means(self, curve: Array) -> Array:
        """E([Y]_τ | x): (…)."""
        return clipped_mean(curve, self.clip, self.sigma)

    def squares(self, curve: Array) -> Array:
        """E([Y]_τ² | x): (…)."""
        return clipped_square(curve, self.clip, self.sigma)

    @property
    def chance(self) -> float:
        """Σ u_j²/n_j: what the variance of one reading counts."""
        return float((self.weights**2 / self.n).sum())

    @property
    def privacy(self) -> float:
        """Σ u_j² noise_j."""
        return float((self.weights**2 * self.noise).sum())


def curve_risk(truth: Truth, average: CentreAverage, design: DesignDensity = UNIFORM) -> RiskParts:
    """E∫(f̂ − f)², part by part, for f around the middle of its bounds.

    ‖f‖² − ‖P_J f‖² + ‖P_J(m − f)‖² + A_J Σ u_j²/n_j + Σ u_j² noise_j, where m = E([Y]_τ | x) and
    A_J = ∫ E([Y]_τ² | x) K_J(x, x) dx − ‖P_J m‖².
    """
    basis, (nodes, share) = average.basis, truth.quadrature
    curve, weighting = truth.node_values, design.density(nodes) * design.weight(nodes)
    means = average.means(curve) * weighting
    best, clipped = basis.inner_products(nodes, share * np.stack([curve, means]))
    squares = average.squares(curve) * weighting * design.weight(nodes)
    spread = share @ (squares * basis.diagonal(nodes)) - (clipped**2).sum()
    return RiskParts(
        float(max(truth.energy - (best**2).sum(), 0.0)),
        float(((clipped - best) ** 2).sum()),
        float(spread * average.chance),
        average.privacy,
    )


def point_risk(curve: Callable[[Array], Array], point: float, average: CentreAverage) -> RiskParts:
    """E(f̂(x0) − f(x0))², integrated over the cells where K = K_J(x0, ·) is not zero.

    (∫mK − f(x0))² + Σ (u_j²/n_j)(∫E([Y]_τ²|x)K² − (∫mK)²) + Σ u_j² noise_j.
    """
    nodes, kernel, width = _kernel_nodes(point, average.basis)
    values = curve(nodes)
    mean = float((average.means(values) * kernel).sum() * width)
    square = float((average.squares(values) * kernel**2).sum() * width)
    truth = float(curve(np.array([point]))[0])
    projection = (float((values * kernel).sum() * width) - truth) ** 2
    return RiskParts(
        projection,
        (mean - truth) ** 2 - projection,
        (square - mean**2) * average.chance,
        average.privacy,
    )


def _kernel_nodes(point: float, basis: WaveletBasis) -> tuple[Array, Array, float]:
    """Midpoints where the kernel at a point is not zero, its values there, and their spacing."""
    width = 1 / (basis.size * _PER_CELL)
    cells = basis.kernel_on_cells(point)[0]
    nodes = (cells[:, None] / basis.size + (np.arange(_PER_CELL) + 0.5) * width).ravel()
    kernel = basis.curve(basis.scaling(np.array([point]))[0], nodes)
    return nodes, kernel, width
