"""Shared parts of releases smoothed in the eigenfunctions of a kernel: the kernel, η and ψ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.registry import param
from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import Array, Sizes
from engine.mechanisms.families.functional.release import CURVES, FunctionalRelease
from engine.mechanisms.summaries import summaries
from engine.mechanisms.summaries.density import DensitySummary
from engine.mechanisms.summaries.parts import (
    Features,
    Linear,
    Smoothing,
    Space,
    penalised,
    usual_power,
)
from engine.numerics.eigensystems import KERNELS, Eigenbasis, Grid, Kernel
from engine.numerics.kernel_densities import DensityAtoms, spectral_atoms


@dataclass(frozen=True, kw_only=True)
class KernelRelease(FunctionalRelease):
    """Curves are expressed in the eigenfunctions of a covariance kernel on the public grid.

    Paper symbol → name here: C `kernel`, ν (printed α) `smoothness`, ρ `length`.
    """

    kernel: str = param(
        "matern",
        "Kernel",
        "Covariance kernel whose eigenfunctions are used. "
        "Sobolev: of functions with a square-integrable derivative.",
        choices=KERNELS,
        when={"task=density": "gaussian"},
    )
    smoothness: float = param(
        1.5,
        "Smoothness of the kernel",
        "For the Matérn kernel; the others do not use it.",
        low=0.1,
        high=20.0,
        symbol="ν",
    )
    length: float = param(
        0.1,
        "Length of the kernel",
        "As a share of the range: how far times influence each other.",
        low=0.005,
        high=2.0,
        symbol="ρ",
        only_for=(*CURVES, RISK_MINIMISATION.key),
    )

    @property
    def covariance(self) -> Kernel:
        return Kernel(self.kernel, self.smoothness, self.length)

    def space(self, grid: Grid, sizes: Sizes) -> Space:
        basis = Eigenbasis.whole(self.covariance, grid)
        analysis = (grid.weights * basis.functions).T
        return Space(basis, grid, analysis, basis.eigenvalues)

    def shape(self, variances: Array) -> Array:
        """Noise from the same kernel: its standard deviations."""
        return np.asarray(np.sqrt(variances))


@dataclass(frozen=True, kw_only=True)
class PenalisedRelease(KernelRelease):
    """Averages are smoothed by the penalty ψ Σ c_j²/λ_j^η: s_j = λ_j^η/(λ_j^η + ψ).

    Paper symbol → name here: η `eta`, ψ `penalty_weight`.
    """

    eta: float | None = param(
        None,
        "Smoothness of the summary",
        "In powers of the kernel. Default: 1 + 2/β, twice that "
        "for the absolute penalty, β being the decay of the kernel; 1.5 for the Gaussian one, and "
        "for a density 1 + 9/(8β).",
        low=0.51,
        high=20.0,
        symbol="η",
    )
    penalty_weight: float | None = param(
        None,
        "Weight of the penalty",
        "Default: by the rule below.",
        low=1e-12,
        high=1e6,
        symbol="ψ",
        only_for=CURVES,
    )
    rule: str = param(
        "usual",
        "Rule for the weight",
        "Default: 1/n, and at least 1/(nε²). One over n: 1/n at every ε, as in the paper’s tables.",
        choices=("usual", "one_over_n"),
        only_for=CURVES,
    )

    @property
    def power(self) -> float:
        """η on an interval; see `power_in`."""
        return self.power_in(1)

    def power_in(self, dimension: int) -> float:
        """η: the stated one, else 1 + 2/β, the smallest for which the published theorem holds.

        The theorem for densities needs more than 1 + 1/β only, and smoothing hides their modes.

        β is the decay of the kernel in this dimension, 1 or 2.
        """
        if self.eta is not None:
            return self.eta
        return usual_power(self.covariance, dimension, summaries[self.task].power_excess)

    def atoms(self, grid: Grid, n: float) -> DensityAtoms:
        """Spectral powers of the kernel, whose length is h: noise comes from that kernel too."""
        kernel = DensitySummary.kernel(self, n, grid.dimension)
        return spectral_atoms(kernel, self.power_in(grid.dimension), grid)

    def features(self, grid: Grid, sizes: Sizes) -> Features:
        """λ_j^{η/2} φ_j: the penalty is the squared norm in the space of the kernel's power η."""
        return penalised(Eigenbasis.whole(self.covariance, grid), self.power_in(grid.dimension))

    def weight(self, n: float, effective: float) -> float:
        """ψ, in units where curves have norm at most one: 1/n or, where ε is small, n/(nε)².

        The minimum of 8 (Σ s_j)²/(nε)² + R²ψ/4, noise of the best shape and the largest bias, is no
        rule here: it needs a bound R on (Σ c_j²/λ_j^η)^½ of the true summary, which no public fact
        gives. For the four curves of the study, at the usual η, R is 4 to 330. Even with the true
        R, noise and bias at nε = 100 are up to seven times their least sum, and with this ψ within
        3 in 100 of it. At nε = 5000 it is the other way round: who knows R states the ψ of that
        minimum as `penalty_weight`.
        """
        if self.penalty_weight is not None:
            return self.penalty_weight
        smallest = n / effective**2 if self.rule == "usual" else 0.0
        return max(1 / n, smallest)

    def smoothings(
        self, eigenvalues: Array, n: float, effective: float, order: NDArray[np.int64] | None = None
    ) -> tuple[Smoothing, ...]:
        powers = eigenvalues**self.power
        return tuple(
            Linear(powers / (powers + psi)) for psi in self.candidates(self.weight(n, effective))
        )
