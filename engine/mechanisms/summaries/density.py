"""The density of records that are points of an interval or a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.tasks import DENSITY
from engine.core.types import (
    Array,
    Caution,
    Fit,
    FunctionBasis,
    Public,
    PublicFacts,
    SaidIn,
    SampleData,
    Sizes,
    Step,
)
from engine.mechanisms.summaries.parts import ROUND_UP, FunctionPlan, ReleasedBlock, Summary
from engine.numerics.bases import Basis
from engine.numerics.difference_sets import Averaged, DifferenceSet
from engine.numerics.eigensystems import Grid, Kernel
from engine.numerics.kernel_densities import DensityAtoms, bumps, nearest_density
from engine.numerics.tabulated import Tabulated
from engine.sources.twins import RecordTwin

GATHERED = (
    "By the released density the points gather more closely, or end more abruptly, than the atoms "
    "of this method draw. Its peaks and edges are flattened, and the error can be several times "
    "the forecast, which is for three wide peaks. Bounds that lie closely around the points help, "
    "as do more points."
)
GATHERING_NOT_SEEN = (
    "This release could not reliably show points that gather within a sixth of the stated range at "
    "a bound, or in one narrow peak: there are too few points, or too much noise. If they do, the "
    "error is more than 1.4 times the forecast, which is for three wide peaks."
)
# What smoothing a density once more takes away, over what it takes of the density of the forecast
# and of noise; the share of releases of that density in which chance may do so; and in forecast
# errors, as few functions may take hardly anything of either.
_GATHERED, _RANDOM, _BY_CHANCE, _GATHERED_OF_FEW = 1.25, 1.3, 0.01, 0.3
# Forecast errors by which cosines that are cut off are told; what a third of them leaves to the
# next third at most; and from how many cosines on thirds are compared.
_CUT, _SLOWEST, _THIRDS = 1.5, 0.75, 5
# Widths of points that gather, and in how many of so many releases they are to be told, where they
# make the error so many times the forecast.
_NARROW, _TOLD, _RELEASES, _BEYOND = (0.15, 0.1, 0.07), 0.9, 100, 1.4

if TYPE_CHECKING:
    from engine.mechanisms.families.functional.kernel_release import KernelRelease
    from engine.mechanisms.families.functional.release import FunctionalRelease


# Candidates for the width of atoms, over the one by formula: what is private pays for narrow ones.
WIDTHS = (0.5, 0.5**0.5, 1.0, 2**0.5, 2.0, 2**1.5, 4.0, 2**2.5, 8.0)


@dataclass(frozen=True, eq=False)
class Width:
    """Atoms of one width, by which shares of records on the grid become a density."""

    atoms: DensityAtoms  # K of them

    def __call__(self, averages: Array) -> Array:
        """Shares (…, K) → coefficients (…, r)."""
        return np.asarray(averages @ self.atoms.atoms)

    def differences(self, radius: float, loose: float, n: float) -> DifferenceSet:
        return Averaged(self.atoms.differences, n)

    @cached_property
    def on_grid(self) -> Array:
        """Values (K, K) of each atom at the points of the grid."""
        return self.atoms.atoms @ self.atoms.on_grid.T

    def most_move(self, weights: Array, n_in: int, n_out: int) -> float:
        """Bound the move of ∫ f² − 2 mean f(x) when one record is replaced.

        A record held out moves it by 2|f(x) − f(x')|/n_out, f being an average of atoms: at most
        twice the largest range of an atom. One of the training part moves f by D/n_in, D = g_a −
        g_b: ∫ f² − ∫ f'² − 2 mean (f − f') = (⟨D, f + f'⟩ − 2 mean D(x))/n_in, and f + f' is twice
        an average of atoms. So ⟨D, f + f'⟩ is at most 2 max_c (max_a − min_b) ⟨g, g_c⟩, and mean
        D(x) at most max_x (max_a − min_b) g(x).
        """
        products = self.on_grid * weights @ self.on_grid.T  # (a, c)
        held_out = 2 * np.ptp(self.on_grid, axis=1).max()
        training = 2 * np.ptp(products, axis=0).max() + 2 * np.ptp(self.on_grid, axis=0).max()
        return ROUND_UP * float(max(held_out / n_out, training / n_in))


@dataclass(frozen=True, eq=False)
class GridCounts:
    """Number of the n records of one site at each point of the grid."""

    counts: Array  # (repeats, K)
    n: int
    index: NDArray[np.int64]  # (repeats, n) array of int: the point of each

    @classmethod
    def of(cls, data: SampleData, grid: Grid) -> GridCounts:
        """Count the records of one site."""
        index = grid_indices(data, grid)
        apart = index + grid.size * np.arange(data.n_repeats)[:, None]
        counts = np.bincount(apart.ravel(), minlength=grid.size * data.n_repeats)
        return cls(counts.reshape(data.n_repeats, grid.size).astype(float), data.n_curves, index)


class DensitySummary(Summary[SampleData, GridCounts, Width]):
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
        self.candidates = tuple(
            Width(each.atoms(self.grid, self.n)) for each in release.of_widths(self.grid.dimension)
        )
        self.on_grid = release.clean or len(self.candidates) > 1
        atoms = self.candidates[self.usual_candidate(len(self.candidates))].atoms
        self.basis: FunctionBasis = Tabulated(self.grid) if self.on_grid else atoms.basis

    def records(self, data: SampleData) -> GridCounts:
        return GridCounts.of(data, self.grid)

    def smoothings(self, n: float, effective: float) -> tuple[Width, ...]:
        """Atoms are smooth already: candidates are their widths."""
        return self.candidates

    def blocks(self, smoothing: Width) -> tuple[ReleasedBlock, ...]:
        atoms = smoothing.atoms
        return (
            ReleasedBlock(
                Step("noisy coefficients of the density"),
                lambda n: Averaged(atoms.differences, n),
                self.release.shape(atoms.variances),
                atoms.norms,
            ),
        )

    def values(
        self, block: int, records: GridCounts, smoothing: Width, earlier: Sequence[Array]
    ) -> Array:
        return smoothing(records.counts / records.n)[:, None]

    def finished(self, averages: Sequence[Array], smoothing: Width) -> Array:
        if not self.on_grid:
            return averages[0]
        values = averages[0] @ smoothing.atoms.on_grid.T
        return nearest_density(values, self.grid.weights) if self.release.clean else values

    # -- choosing the width on the records -----------------------------------------------------

    def cautions(
        self,
        release: FunctionalRelease,
        public: Public,
        plans: Sequence[FunctionPlan],
        coefficients: Array,
    ) -> tuple[Caution, ...]:
        """Warn if released densities are narrower than what their atoms draw, or may be."""
        if self.grid.dimension > 1 or len(self.candidates) > 1:
            return ()
        gathered, unseen = np.zeros((2, *coefficients.shape[:3]), dtype=bool)
        for k, plan in enumerate(plans):
            variances = release.variances(public, plan)
            gathered[k] = self._is_gathered(self._on_grid(coefficients[k]), variances)
            unseen[k] = self._hides_gathering(variances)
        each = (
            Caution(GATHERED, gathered, SaidIn.LINE),
            Caution(GATHERING_NOT_SEEN, unseen & ~gathered, SaidIn.STATED, ("points that gather",)),
        )
        return tuple(caution for caution in each if caution.applies.any())

    def _on_grid(self, coefficients: Array) -> Array:
        """Evaluate finished densities at the points of the grid: (…, K)."""
        atoms = self.candidates[0].atoms
        return coefficients if self.on_grid else coefficients @ atoms.on_grid.T

    def _smoothed(self, densities: Array) -> Array:
        """S of densities (…, K): averages of atoms."""
        return np.asarray((densities * self.grid.weights) @ self.candidates[0].on_grid)

    def _energy(self, densities: Array) -> Array:
        return np.asarray((densities**2 * self.grid.weights).sum(axis=-1))

    def _random_error(self, variances: Array) -> float:
        """Squared error by noise and by chance; `variances` (r,) are of the noise of the atoms."""
        width = self.candidates[0]
        return float(
            variances @ self._energy(width.atoms.on_grid.T)
            + self._energy(width.on_grid).mean() / self.n
        )

    def _forecast(self, variances: Array) -> float:
        """The squared error that is forecast, of three wide peaks."""
        smooth = RecordTwin.density(self.grid.points[:, 0])
        return float(self._energy(smooth - self._smoothed(smooth))) + self._random_error(variances)

    def _is_gathered(self, curves: Array, variances: Array) -> NDArray[np.bool_]:
        """True if atoms wider than its peaks have flattened a released density (…, K).

        A release is S f + noise, with S f an average of atoms. What S takes away once more, of the
        release, is compared with what it takes of the density behind the forecast with its noise.
        It is less than what S took of f, and grows with it.
        """
        width = self.candidates[0]
        images, rows = width.on_grid, width.atoms.on_grid.T  # (K, K); (r, K)

        def taken(densities: Array) -> Array:
            return self._energy(densities - self._smoothed(densities))

        forecast, by_noise = self._forecast(variances), self._random_error(variances)
        smooth = RecordTwin.density(self.grid.points[:, 0])
        random = variances @ taken(rows) + taken(images).mean() / self.n
        by_chance = np.quantile(taken(self._simulated(smooth, variances)), 1 - _BY_CHANCE)
        is_flattened = taken(curves) > max(
            _GATHERED**2 * float(taken(self._smoothed(smooth))) + _RANDOM**2 * random,
            by_chance,
            _GATHERED_OF_FEW**2 * forecast,
        )
        return np.asarray(
            is_flattened | (self._cut_off(curves, variances) + by_noise > _CUT**2 * forecast)
        )

    def _hides_gathering(self, variances: Array) -> bool:
        """True if gathered points would err beyond the forecast without showing it.

        Follows from public facts: simulated releases of such points are put to the same question.
        """
        points = self.grid.points[:, 0]
        smooth = RecordTwin.density(points)
        forecast = self._energy(self._simulated(smooth, variances) - smooth).mean()
        for density in (
            *(np.exp(-points / width) for width in _NARROW),
            np.exp(-(((points - 0.5) / _NARROW[-1]) ** 2)),
        ):
            density /= density @ self.grid.weights
            curves = self._simulated(density, variances)
            if (
                self._energy(curves - density).mean() > _BEYOND**2 * forecast
                and self._is_gathered(curves, variances).mean() < _TOLD
            ):
                return True
        return False

    def _simulated(self, density: Array, variances: Array) -> Array:
        """Releases of points of a density (K,), always with the same noise: (releases, K)."""
        rng, shares = np.random.default_rng(1), density * self.grid.weights
        averages = self.candidates[0](
            rng.multinomial(self.n, shares / shares.sum(), _RELEASES) / self.n
        )
        noise = rng.standard_normal(averages.shape) * np.sqrt(variances)
        return self._on_grid(self.finished([averages + noise], self.candidates[0]))

    def _cut_off(self, curves: Array, variances: Array) -> Array:
        """Energy of the cosines that a release in few of them cuts off, of densities (…, K): (…).

        It is taken to go on falling from third to third as it falls from the second to the last.
        """
        atoms = self.candidates[0].atoms
        if not isinstance(atoms.basis, Basis) or len(variances) < _THIRDS:
            return np.zeros(curves.shape[:-1])
        size = max(2, (len(variances) - 1) // 3)
        cosines = (curves * self.grid.weights) @ atoms.on_grid[:, -2 * size :]
        squares = cosines**2 - variances[-2 * size :] - 1 / self.n
        middle, last = np.moveaxis(
            np.maximum(squares.reshape(*cosines.shape[:-1], 2, size).sum(axis=-1), 0.0), -1, 0
        )
        falling = np.minimum(last / np.maximum(middle, 1e-300), _SLOWEST)
        return np.asarray(last * falling / (1 - falling))

    def usual_candidate(self, count: int) -> int:
        return WIDTHS.index(1.0) if count > 1 else 0

    def fold_means(
        self, records: GridCounts, fold: NDArray[np.int64], earlier: Sequence[Array]
    ) -> Array:
        """The share of each part's records on every point of the grid."""
        n_parts = int(fold.max()) + 1
        shares = np.zeros((len(records.index), n_parts, self.grid.size))
        for repeat, index in enumerate(records.index):
            np.add.at(shares[repeat], (fold, index), 1.0)
        return np.asarray(shares / np.bincount(fold)[:, None])[:, None]

    def score(self, training: Array, held_out: Array, smoothing: Width) -> Array:
        """∫ f² − 2 mean f(x) over what is held out: that of least squares for densities."""
        density = training @ smoothing.on_grid
        return np.asarray(
            (density**2 * self.grid.weights).sum(axis=-1) - 2 * (density * held_out).sum(axis=-1)
        )

    def most_move(self, smoothings: Sequence[Width], n_in: int, n_out: int) -> float:
        return max(smoothing.most_move(self.grid.weights, n_in, n_out) for smoothing in smoothings)

    def reference(self, data: SampleData) -> Fit:
        """The density with Gaussian atoms of the same width, for every mechanism."""
        counts = self.records(data)
        atoms = bumps(self.release.width(self.n, self.grid.dimension), self.grid)
        return Fit.exact(Tabulated(self.grid), counts.counts @ atoms / counts.n)


def grid_of_samples(release: FunctionalRelease, facts: PublicFacts) -> Grid:
    """The public grid of the ranges of all columns."""
    dimension = len(facts.covariates)
    if dimension not in (1, 2):
        raise InputError(
            f"This needs records of one or two numbers; got {dimension}.",
            field="covariates",
            hint="Declare one or two columns with their ranges.",
        )
    return release.grid(facts, dimension)


def grid_indices(data: SampleData, grid: Grid) -> NDArray[np.int64]:
    """The grid point on which each record stands: (repeats, n)."""
    return grid.nearest(data.unit_x)
