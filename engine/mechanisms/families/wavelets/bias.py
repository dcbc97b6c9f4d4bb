"""Bound on the bias of a wavelet estimate, from public numbers alone.

The curve is stated to lie in a class: from the level J of the plan on, the details of level l are
at most R 2^{−γl} at every time that is asked about, with γ the stated smoothness and R the radius.
That is a Hölder–Zygmund ball, written in wavelets; the plans minimise errors over it. Then

    |E f̂(x) − f(x)| ≤ R 2^{−γJ}/(1 − 2^{−γ}) + Λ(x) b(τ),    Λ(x) = ∫ |K_J(x, x')| dx',

because the sites' averages all have the mean ∫ E([Y]_τ | x') K_J(x, x') dx', the details from level
J on add up to the first term, and clipping moves the mean of an observation by at most b(τ). An
interval that is wider by this bound on both sides covers every curve of the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.core.types import Array, Truth
from engine.numerics.wavelet_bases import WaveletBasis
from engine.numerics.wavelets import STEPS

_ROUNDING = 1e-6  # of the size of the curve: what tables and midpoints can be off by


@dataclass(frozen=True)
class CurveClass:
    """Curves with details of at most R 2^{−γl} at level l."""

    smoothness: float  # Γ > 0
    radius: float  # R > 0, in response units

    def detail_bound(self, level: int) -> float:
        """R 2^{−γJ}/(1 − 2^{−γ}), in response units: the most that V_J leaves out at a time.

        Examples
        --------
        >>> CurveClass(smoothness=1.0, radius=2.0).detail_bound(4)
        0.25
        """
        return float(self.radius * 2 ** (-self.smoothness * level) / (1 - 2**-self.smoothness))

    def allows(self, left_out: Array, level: int, size: float) -> bool:
        """True if what V_J leaves out of a known curve stays within the bound.

        Rounding is measured against `size`, that of the curve.
        """
        return bool(np.abs(left_out).max() <= self.detail_bound(level) + _ROUNDING * size)


def left_out(truth: Truth, basis: WaveletBasis, times: Array) -> Array:
    """f(x) − P_J f(x) of a known curve: (n,), in response units."""
    best = basis.project(truth)[0]
    return np.asarray(truth.at(times) - basis(times) @ best)


@lru_cache(maxsize=32)
def largest_kernel_mass(moments: int, edges: str) -> float:
    """Bound sup_x Λ(x), alike at every level: sup_x Σ_k |b_k(x)| ∫ |b_k|.

    Sums of sizes of broken lines are convex between the nodes of the table, so that the supremum
    is a maximum over nodes, and the trapezoidal rule on nodes is above the integral. At coarser
    levels periodic functions are folded, which makes sums of sizes smaller.

    `moments` is A, the number of vanishing moments of the wavelet.
    """
    safe = WaveletBasis(2 ** max(int(np.ceil(np.log2(4 * moments))), 1), moments, edges)
    n_cells = safe.size * STEPS
    nodes = np.arange(n_cells + 1) / n_cells
    sizes = np.abs(safe.scaling(nodes))
    masses = (sizes[:-1] + sizes[1:]).sum(axis=0) / (2 * n_cells)
    return float((sizes @ masses).max())
