"""Values on a lattice with Laplace noise, joined by Bernstein polynomials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from engine.core.registry import param
from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import PublicFacts, Sizes
from engine.mechanisms import mechanisms
from engine.mechanisms.families.functional.release import CURVES, FunctionalRelease
from engine.mechanisms.summaries.parts import Features, Space, penalised, usual_power
from engine.numerics.bernstein import BernsteinBasis
from engine.numerics.eigensystems import Eigenbasis, Grid, Kernel
from engine.numerics.kernel_densities import DensityAtoms, lattice_atoms

_KERNEL = Kernel()  # of the space in which a regression function is looked for


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class Bernstein(FunctionalRelease):
    """f̃(x) = Σ_v (f(v/k) + Lap(b)) b_v(x): lattice values with equal noise; pure ε-privacy.

    A bound on the norm of a curve bounds none of its values. So a curve's vector of lattice values
    is clipped to root mean square τ before it is averaged: replacing the curve moves the average by
    at most 2τ√m/n in norm, m = k + 1 values, and by 2τm/n in sum. For a density, and for a
    regression function, the exact sum of changes of the lattice values is used.

    With `held` "sup" a curve is clipped until no lattice value exceeds B, half the range of the
    values: its vector then has norm B√m at most, and b = 2Bm/(nε), which is what is published.

    References
    ----------
    Aldà and Rubinstein (2017), AAAI; `iterations` is the order h of the iterated operator
    I − (I − B)^h, which has less bias and is computed from the same noisy values.
    """

    key = "bernstein"
    label = "Bernstein polynomials"
    order = 80
    dash, marker = "2px,2px", "square-cross-open"
    attains: ClassVar[Mapping[str, float]] = {RISK_MINIMISATION.key: 0.55}
    reference = "Aldà and Rubinstein (2017), The Bernstein mechanism"
    formula = (
        r"\tilde f(x) = \sum_{v=0}^{k}\Big(f(v/k) + \tfrac{\Delta_1}{\varepsilon}L_v\Big)"
        r"\tbinom{k}{v}x^v(1-x)^{k-v}"
    )

    degree: int = param(
        20,
        "Degree",
        "The lattice has k + 1 points on each axis.",
        low=1,
        high=50,
        symbol="k",
        when={"task=covariance": 10, "task=density": 30},
    )
    iterations: int = param(
        1,
        "Order of iteration",
        "1 is the plain polynomial; larger ones follow curves more closely.",
        low=1,
        high=5,
        symbol="h",
        when={"task=density": 5},
    )

    held: str = param(
        "rms",
        "Curves are held by",
        "Rms: their root mean square at the lattice, to τ. Sup: their "
        "largest value there, to half the range of the values.",
        choices=("rms", "sup"),
        only_for=CURVES,
    )

    def norm_bound(self, facts: PublicFacts) -> float:
        if self.held == "sup":
            return self.size or facts.value_half_width
        return super().norm_bound(facts)

    def space(self, grid: Grid, sizes: Sizes) -> Space:
        basis = BernsteinBasis(self.degree, self.iterations, grid.dimension)
        return Space(
            basis,
            grid,
            basis.on_lattice(grid).T,
            np.ones(basis.size),
            is_lattice=True,
            by_sup=self.held == "sup",
        )

    def atoms(self, grid: Grid, n: float) -> DensityAtoms:
        """Values of Gaussian atoms at the lattice."""
        lattice = BernsteinBasis(self.degree, self.iterations, grid.dimension)
        return lattice_atoms(self.width(n, grid.dimension), lattice, grid)

    def features(self, grid: Grid, sizes: Sizes) -> Features:
        """The usual features of a kernel, of which the values at the lattice are released."""
        return _on_lattice(BernsteinBasis(self.degree, self.iterations, grid.dimension), grid)


@lru_cache(maxsize=16)
def _on_lattice(lattice: BernsteinBasis, grid: Grid) -> Features:
    default = penalised(Eigenbasis.whole(_KERNEL, grid), usual_power(_KERNEL, grid.dimension))
    image = lattice.on_lattice(grid) @ default.table
    return Features(lattice, default.table, image, np.ones(lattice.size))
