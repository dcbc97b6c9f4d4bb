"""Rates of densities released with Laplace-like noise (Lin and Reimherr, arXiv 2309.00125)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.registry import param
from engine.core.tasks import DENSITY
from engine.core.types import Array, Data
from engine.mechanisms.base import Mechanism
from engine.mechanisms.iclp import Iclp
from engine.rates import Boundary, Rate, Symbol, Term, border, rates
from engine.rates.powers import Powers, constant, symbols
from engine.sources import Source
from engine.sources.density_points import DensityPoints

PRIVACY, PEOPLE, SMOOTHING = "Privacy", "Number of people", "Smoothing"
N = Symbol("n", "Records", 10, 1e7, 1000)
EPSILON = Symbol("epsilon", "Privacy budget", 0.01, 10, 1, "ε")
n, epsilon = symbols("n", "epsilon")


@rates.register
@dataclass(frozen=True, kw_only=True)
class DensityReleaseRate(Rate):
    """Privacy, records and smoothing: h^{−k}/(nε)² + 1/(n h^d) + h⁴ at h = c n^{−1/(4+d)}.

    Theorem 16 prints k = 2d. The trace of the noise kernel, scaled by h, grows like h^{−d}, which
    it leaves out: k = 3d is what noise of this kind adds. The sign of the exponent of h is that of
    the proof, not the printed one.
    """

    key = "density_release"
    label = "Density released whole"
    order = 45
    tasks = frozenset({DENSITY.key})
    reference = "Lin and Reimherr (2023), arXiv 2309.00125, Theorem 16 and Remark 17, put right"
    symbols = (N, EPSILON)

    dimension: int = param(1, "Dimension", "Numbers in a record.", low=1, high=2, symbol="d")
    constants: str = param(
        "tight",
        "Exponent of privacy",
        "Tight: as the noise has it. Published: as printed.",
        choices=("tight", "published"),
    )
    width: float = param(
        1.0, "Width at n = 1", "Constant of the bandwidth.", low=0.01, high=10.0, symbol="c"
    )

    def in_practice(self) -> tuple[Source[Data], Mechanism]:
        """Points with two modes, and the release whose privacy term this is."""
        design = "two_modes" if self.dimension == 1 else "two_modes_2d"
        return DensityPoints(design=design), Iclp(task=DENSITY.key, clean=False)

    @property
    def cost_power(self) -> int:
        """The exponent k of 1/h in the privacy term."""
        return self.dimension * (3 if self.constants == "tight" else 2)

    @property
    def terms(self) -> tuple[Term, ...]:
        h, d, k = self._bandwidth, self.dimension, self.cost_power
        return (
            Term(
                PRIVACY,
                h**-k / (n * epsilon) ** 2,
                is_private=True,
                formula=rf"h^{{-{k}}}(n\varepsilon)^{{-2}}",
            ),
            Term(PEOPLE, h**-d / n, formula=rf"n^{{-1}}h^{{-{d}}}"),
            Term(SMOOTHING, h**4),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The ε at which privacy starts to cost as much as the number of records."""
        private, people, _ = self.terms
        return (
            border("privacy", "epsilon", private, people, r"\varepsilon = n^{-1/2} h^{(d-k)/2}"),
        )

    @property
    def _bandwidth(self) -> Powers:
        """The width h."""
        return (constant(self.width) * n ** (-1 / (4 + self.dimension))).called("h")

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        return {"h": self._bandwidth.at(self.at(**point))}
