"""Smoothness that a release needs for its noise to exist, and what a printed bound omits.

On a grid every release has a finite sensitivity Δ. For curves without a grid it must stay finite
as the number of points K grows, which depends on η and on the decay β of the kernel, λ_j ~ j^(−β).
With scales √λ_j and φ_j of bounded size, Δ is finite if and only if

* averages of curves: Σ λ_j^{2η−1} < ∞, η > ½ + 1/(2β); as printed Σ λ_j^{η−½}, η > ½ + 1/β;
* densities: Σ λ_j^{η−½} < ∞, η > ½ + 1/β; as printed tr K^{η−1}, η > 1 + 1/β;
* regularised risk: tr C^{η−1} < ∞, η > 1 + 1/β.

A covariance has the first condition too, as its eigenvalues are the products λ_j λ_l. For the
Gaussian kernel β = ∞. Noise with the "optimal" shape has other conditions. Densities need less
than the norm of the kernel's space suggests, because their atoms are few among its unit vectors.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125: Theorems 7, 8, 14 and 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Array, Covariate, PublicFacts, Sizes
from engine.mechanisms import Mechanism
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.summaries import summaries
from engine.mechanisms.summaries.density import DensitySummary
from engine.numerics.eigensystems import Eigenbasis
from engine.numerics.kernel_densities import spectral_atoms

Release = Iclp  # whose sensitivity depends on smoothness
GRIDS = {1: (25, 50, 100, 200, 400), 2: (8, 12, 16, 20, 24, 28)}


@dataclass(frozen=True)
class PrintedDensity:
    """Sensitivities of a density for noise in units √λ_j: exact, and as Theorem 16 prints it."""

    exact: float
    printed: float

    @property
    def ratio(self) -> float:
        """The budget spent by the printed bound, as a multiple of ε; not private above 1."""
        return self.exact / self.printed


def printed_density(release: Iclp, n: int, dimension: int = 1) -> PrintedDensity:
    """Compute both sensitivities for a density of n records.

    Densities that are normalised at the end have c times the printed 2 M_K (tr K^{η−1})^{½}/n, with
    M_K that of K^η as it is. The bound is not homogeneous: in other units of K it may hold.
    """
    kernel = DensitySummary.kernel(release, n, dimension)
    grid = release.grid(PublicFacts(), dimension)
    atoms = spectral_atoms(kernel, release.power_in(dimension), grid)
    exact = atoms.differences.l1(np.sqrt(atoms.variances))
    return PrintedDensity(exact / n, atoms.differences.printed / n)


@dataclass(frozen=True)
class GridSweep:
    """Sensitivities and tr C^{η−1} for grids with `sizes` points on each axis.

    `is_finite` says whether the sensitivity converges as the grid becomes finer; `min_power` is the
    η above which it does.
    """

    sizes: tuple[int, ...]
    sensitivity: Array
    trace: Array
    min_power: float
    is_finite: bool


def has_least_power(mechanism: Mechanism) -> TypeGuard[Iclp]:
    """True if the sensitivity of this kind of noise depends on smoothness."""
    return isinstance(mechanism, Iclp) and mechanism.has_least_power


def sensitivity_by_grid(
    release: Iclp, n: int, dimension: int = 1, sizes: Sequence[int] | None = None
) -> GridSweep:
    """Compute Δ of n records, in units where records have size one, for finer and finer grids."""
    if not release.has_least_power or release.constants == "optimal":
        raise InputError(
            "Only with the quadratic penalty and noise from the kernel is it known "
            "which smoothness is enough.",
            field="constants",
            hint="Choose tight constants.",
        )
    sizes = tuple(sizes or GRIDS[dimension])
    each = [replace(release, grid_size=size) for size in sizes]
    min_power = least_power(release, dimension)
    return GridSweep(
        sizes,
        np.array([_sensitivity(variant, n, dimension) for variant in each]),
        np.array([_trace(variant, n, dimension) for variant in each]),
        min_power,
        is_feasible(release, dimension),
    )


def is_feasible(release: Mechanism, dimension: int = 1) -> bool:
    """True if the sensitivity is finite without a grid; also if no condition is known."""
    return (
        not has_least_power(release)
        or release.constants == "optimal"
        or release.power_in(dimension) > least_power(release, dimension)
    )


def least_power(release: Iclp, dimension: int = 1) -> float:
    """Compute the η above which the sensitivity is finite without a grid."""
    power: float = summaries[release.task].least_power(
        1 / release.covariance.decay(dimension), release.constants == "published"
    )
    return power


def _sensitivity(release: Iclp, n: int, dimension: int) -> float:
    """Compute the sensitivity of the last vector, whose noise is that of the summary."""
    columns = summaries[release.task].n_columns(dimension)
    facts = PublicFacts(covariates=tuple(Covariate(f"x{k}") for k in range(columns)))
    summary = release.summary(Sizes((n,), n, 1, columns), facts)
    block = summary.blocks(summary.smoothings(n, n)[0])[-1]
    differences = block.differences(n)
    is_printed = release.constants == "published"
    return differences.published(block.shape) if is_printed else differences.l1(block.shape)


def _trace(release: Iclp, n: int, dimension: int) -> float:
    kernel = summaries[release.task].kernel(release, n, dimension)
    basis = Eigenbasis.whole(kernel, release.grid(PublicFacts(), dimension))
    return float((basis.eigenvalues ** (release.power_in(dimension) - 1)).sum())
