"""The density of records that are points of an interval or a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.tasks import DENSITY
from engine.core.types import Array, Fit, FunctionBasis, PublicFacts, SampleData, Sizes, Step
from engine.mechanisms.summaries.parts import Block, Linear, Smoothing, Summary
from engine.numerics.difference_sets import Averaged
from engine.numerics.eigensystems import Grid, Kernel
from engine.numerics.kernel_densities import bumps, nearest_density
from engine.numerics.tabulated import Tabulated

if TYPE_CHECKING:
    from engine.mechanisms.families.functional_release import FunctionalRelease
    from engine.mechanisms.families.kernel_release import KernelRelease


class DensitySummary(Summary):
    """A kernel density on [0, 1]^d, the stated ranges of the records; so its unit is one.

    Every record is moved into its range and to the nearest of K grid points on its own: what is no
    number goes to the middle. It is then one of K public atoms g_x, and the density is the average
    of the atoms of all records. The width of atoms follows from the number of records.

    *Differences.* Replacing one of n records by another moves the average by (g_x − g_x')/n, for
    any pair of atoms: the size of this set is found by trying all pairs, and is exact.

    With `clean` the nearest density takes the place of what was released, as values on the grid;
    that uses nothing else. It cannot increase the distance to the true density on the grid.

    References
    ----------
    Lin and Reimherr (2023), arXiv 2309.00125, Theorem 16 and section 6.2. The printed bound there
    can be too small; it is refused where it is (`engine.topics.summaries.feasible_smoothness`).
    """

    task = DENSITY.key
    usual_grid = 200
    pairs = 1000
    power_excess = 9 / 8  # 1 is where Theorem 16 begins to hold
    scale = 1.0

    @classmethod
    def n_columns(cls, dimension: int) -> int:
        return dimension

    @classmethod
    def kernel(cls, release: KernelRelease, n: float, dimension: int) -> Kernel:
        """Atoms are as wide as the kernel is long."""
        return replace(release.covariance, length=release.width(n, dimension))

    @classmethod
    def least_power(cls, inverse: float, is_printed: bool) -> float:
        return 1 + inverse if is_printed else 0.5 + inverse

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        self.release, self.n = release, sizes.n_curves
        self.grid = grid_of_samples(release, facts)
        self.atoms = release.atoms(self.grid, self.n)
        self.basis: FunctionBasis = Tabulated(self.grid) if release.clean else self.atoms.basis

    def records(self, data: SampleData) -> Counts:
        return Counts.of(data, self.grid)

    def smoothings(self, n: float, effective: float) -> tuple[Smoothing, ...]:
        """Atoms are smooth already."""
        return (Linear(np.ones(len(self.atoms.variances))),)

    def blocks(self, smoothing: Smoothing) -> tuple[Block, ...]:
        return (Block(Step("noisy coefficients of the density"),
                      lambda n: Averaged(self.atoms.differences, n),
                      self.release.shape(self.atoms.variances), self.atoms.norms),)

    def values(self, block: int, records: Counts, smoothing: Smoothing, earlier: Sequence[Array]
               ) -> Array:
        return (records.counts @ self.atoms.atoms / records.n)[:, None]

    def finished(self, averages: Sequence[Array], smoothing: Smoothing) -> Array:
        if not self.release.clean:
            return averages[0]
        return nearest_density(averages[0] @ self.atoms.on_grid.T, self.grid.weights)

    def reference(self, data: SampleData) -> Fit:
        """The density with Gaussian atoms of the same width, for every mechanism."""
        counts = self.records(data)
        atoms = bumps(self.release.width(self.n, self.grid.dimension), self.grid)
        return Fit.exact(Tabulated(self.grid), counts.counts @ atoms / counts.n)


@dataclass(frozen=True, eq=False)
class Counts:
    """How many of the n records of one site stand on each point of the grid.

    Parameters
    ----------
    counts : (repeats, K)
    n : int
        How many records.
    """

    counts: Array
    n: int

    @classmethod
    def of(cls, data: SampleData, grid: Grid) -> Counts:
        """Count the records of one site.

        Parameters
        ----------
        data : SampleData
        grid : Grid
            The points.

        Returns
        -------
        Counts
        """
        place = places(data, grid) + grid.size * np.arange(data.n_repeats)[:, None]
        counts = np.bincount(place.ravel(), minlength=grid.size * data.n_repeats)
        return cls(counts.reshape(data.n_repeats, grid.size).astype(float), data.n_curves)


def grid_of_samples(release: FunctionalRelease, facts: PublicFacts) -> Grid:
    """The public grid of the ranges of all columns.

    Parameters
    ----------
    release : FunctionalRelease
        The mechanism.
    facts : PublicFacts
        Stated facts.

    Returns
    -------
    Grid

    Raises
    ------
    InputError
        If records have no column, or more than two.
    """
    dimension = len(facts.covariates)
    if dimension not in (1, 2):
        raise InputError(f"This needs records of one or two numbers; got {dimension}.",
                         field="covariates", hint="Declare one or two columns with their ranges.")
    return release.grid(facts, dimension)


def places(data: SampleData, grid: Grid) -> NDArray[np.int64]:
    """The grid point on which each record stands.

    Parameters
    ----------
    data : SampleData
    grid : Grid
        The points.

    Returns
    -------
    (repeats, n) array of int
    """
    return grid.nearest(data.unit_x)
