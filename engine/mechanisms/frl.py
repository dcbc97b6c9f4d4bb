"""A few coefficients with equal noise: the finite-dimensional competitor of ICLP."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import Parameter, param
from engine.core.tasks import DENSITY
from engine.core.types import Array, Budget, Sizes
from engine.mechanisms import mechanisms
from engine.mechanisms.families.function_noise import FunctionNoise, NormNoise
from engine.mechanisms.families.kernel_release import KernelRelease
from engine.mechanisms.summaries.parts import (
    Features,
    Linear,
    Smoothing,
    Space,
    penalised,
    usual_power,
)
from engine.mechanisms.summaries.selection import Selection
from engine.numerics.eigensystems import Eigenbasis, Grid
from engine.numerics.kernel_densities import DensityAtoms, cosine_atoms


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class Frl(Selection, KernelRelease):
    """The first M coefficients, each with Lap(Δ₁/ε); or all with one draw ∝ exp(−ε‖z‖₂/Δ₂).

    For a mean Δ₁ = 2τ√M/n, the exact supremum; the published 2Mτ/n takes every coefficient at its
    largest at once. Δ₂ = 2τ/n. The squared noise is 2M²(Δ₂/ε)² for Laplace coordinates and
    M(M + 1)(Δ₂/ε)² by norm.
    """

    key = "frl"
    label = "A few coefficients (FRL)"
    order = 70
    dash, marker = "5px,3px", "square-open"
    reference = "Lin and Reimherr (2023), arXiv 2309.00125, section 5, finite-dimensional release"
    formula = (r"\tilde f = \sum_{j\le M}\Big(c_j + \tfrac{\Delta_1}{\varepsilon}L_j\Big)\phi_j,"
               r"\qquad L_j \sim \mathrm{Lap}(1)")

    n_functions: int | None = param(
        None, "Functions kept", "Default: the whole part of the cube root of n; of its square root "
        "for a density in the plane.", low=1, high=200, symbol="M")
    noise: NoiseLaw = param(
        NoiseLaw.LAPLACE, "Law of the noise",
        "Laplace: independent in each coefficient. Norm: one draw with a random length and "
        "direction, somewhat less in total.", choices=(NoiseLaw.LAPLACE, NoiseLaw.NORM))

    def check_task(self) -> None:
        """Refuse what is not proved for noise by norm.

        Raises
        ------
        InputError
            For noise by norm, if the constants are printed ones or the smoothing is chosen.
        """
        super().check_task()
        if self.noise is NoiseLaw.NORM and self.constants == "published":
            raise InputError("Nothing is published for noise by norm.", field="constants",
                             hint="Choose tight constants.")
        if self.noise is NoiseLaw.NORM and self.selection_rule != "formula":
            raise InputError("Noise by norm needs a number of functions that is fixed by formula.",
                             field="noise", hint="Choose Laplace noise.")

    @property
    def noise_law(self) -> NoiseLaw:
        return self.noise

    def why_not_published(self, budget: Budget) -> str:
        if self.noise is not NoiseLaw.NORM:
            return super().why_not_published(budget)
        return "There is no hardened sampler of noise by norm. Choose Laplace noise."

    def relevant_parameters(self) -> tuple[Parameter, ...]:
        """A density is released in cosines, where the kernel plays no part."""
        hidden = ("kernel", "smoothness") if self.task == DENSITY.key else ()
        return tuple(p for p in super().relevant_parameters() if p.name not in hidden)

    def usual(self, n: float) -> int:
        """M: the stated number of functions, else the cube root of n.

        Parameters
        ----------
        n : float
            How many curves.

        Returns
        -------
        int
        """
        return self.n_functions or max(1, math.floor(n ** (1 / 3) + 1e-9))

    def space(self, grid: Grid, sizes: Sizes) -> Space:
        """The first functions of the kernel, as many as the largest candidate needs."""
        every = Eigenbasis.whole(self.covariance, grid)
        size = min(max(self.counts(sizes.n_curves)), every.size)
        basis = every.first(size)
        return Space(basis, grid, (grid.weights * basis.functions).T, np.ones(size))

    def atoms(self, grid: Grid, n: float) -> DensityAtoms:
        """Gaussian atoms in the first n^{d/(2 + d)} cosines, or as many as the grid tells apart."""
        usual = math.floor(n ** (grid.dimension / (2 + grid.dimension)) + 1e-9)
        size = min(self.n_functions or max(1, usual), grid.size // grid.dimension)
        return cosine_atoms(self.width(n, grid.dimension), size, grid)

    def features(self, grid: Grid, sizes: Sizes) -> Features:
        """The first functions of the kernel, with the penalty that the other releases have."""
        every = Eigenbasis.whole(self.covariance, grid)
        return penalised(every.first(min(self.usual(sizes.n_curves), every.size)),
                         usual_power(self.covariance, grid.dimension))

    def counts(self, n: float) -> tuple[int, ...]:
        """The numbers of functions among which a rule chooses.

        Three more on each side than Corollary 15 admits, from n^{1/(ηβ)} to n^{1/3} with the η of
        the quadratic penalty.

        Parameters
        ----------
        n : float
            How many curves.

        Returns
        -------
        tuple of int
        """
        usual, beta = self.usual(n), self.covariance.decay(1)
        if self.selection_rule == "formula":
            return (usual,)
        fewest = math.ceil(n ** (1 / (usual_power(self.covariance, 1) * beta)) - 1e-9)
        return tuple(range(max(1, min(fewest, usual) - 3), usual + 4))

    def smoothings(self, eigenvalues: Array, n: float, effective: float) -> tuple[Smoothing, ...]:
        if self.selection_rule == "formula":
            return (Linear(np.ones(len(eigenvalues))),)
        order = np.arange(len(eigenvalues))
        return tuple(Linear((order < count).astype(float)) for count in self.counts(n))

    def shape(self, variances: Array) -> Array:
        """Equal noise on all coefficients."""
        return np.ones(len(variances))

    @property
    def process(self) -> FunctionNoise:
        return NormNoise() if self.noise is NoiseLaw.NORM else super().process
