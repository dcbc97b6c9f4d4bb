"""Parts of a release of a whole function: functions, smoothings, vectors and their noise.

Mechanisms say in which functions (`Space`, or `Features` to predict by) and how averages are
smoothed (`Smoothing`); a `Summary` says what is averaged and which vectors (`ReleasedBlock`) are
released; a `Plan` holds the noise of each (`Calibrated`).
`engine.mechanisms.families.functional.release` says why that is private.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125: Algorithm 1, sections 5 and 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Data,
    Fit,
    FunctionBasis,
    Plan,
    Public,
    PublicFacts,
    ServerParts,
    Sizes,
    Step,
)
from engine.numerics.clipping.norms import norm_clip_factors
from engine.numerics.difference_sets import DifferenceSet, Ellipsoid, Thresholded
from engine.numerics.eigensystems import Eigenbasis, Grid, Kernel

if TYPE_CHECKING:
    from engine.mechanisms.families.functional.kernel_release import KernelRelease
    from engine.mechanisms.families.functional.release import FunctionalRelease

ROUND_UP = 1 + 1e-9  # sizes of difference sets, for rounding in eigenpairs and sums
_ETA_WITHOUT_DECAY = 1.5  # the Gaussian kernel's eigenvalues fall faster than any power


# -- the three choices -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Space:
    """The functions a mechanism works with, on a grid of K points.

    A curve is clipped to norm one on the grid; where coefficients are values on a lattice, to root
    mean square one there, or `by_sup` to values of size one at most.
    """

    basis: FunctionBasis
    grid: Grid
    analysis: Array  # (K, r): takes a curve on the grid to its coefficients
    eigenvalues: Array  # (r,): Decide how much each is smoothed
    is_lattice: bool = False  # whether coefficients are values on a lattice
    # whether curves on a lattice are clipped in their largest value rather than in root mean square
    by_sup: bool = False

    @property
    def size(self) -> int:
        return len(self.eigenvalues)

    @property
    def norms(self) -> Array:
        """Squared norms of the functions: (r,)."""
        return self.basis.squared_distance(np.eye(self.size))

    @property
    def gain(self) -> float:
        """The largest ‖coefficients‖₂ of a curve that is clipped."""
        return math.sqrt(self.size) if self.is_lattice else 1.0

    def clip_factors(self, curves: Array) -> Array:
        """min(1, 1/size) of each of curves (…, K), from that curve alone: (…)."""
        if self.is_lattice:
            values = (curves @ self.analysis) ** 2
            squares = values.max(axis=-1) if self.by_sup else values.mean(axis=-1)
        else:
            squares = np.einsum("...k,...k,k->...", curves, curves, self.grid.weights)
        return norm_clip_factors(np.sqrt(squares), 1.0)


@dataclass(frozen=True, eq=False)
class Features:
    """Functions f = Σ u_j h_j that records are to be predicted by, with the penalty ‖u‖²."""

    basis: FunctionBasis
    table: Array  # (K, J): h on the grid
    # (r,) or (r, J): times u it is the coefficients in `basis`: entry by entry, or as a matrix
    image: Array
    variances: Array  # (r,): of the process that a release may take its noise from

    def coefficients(self, u: Array) -> Array:
        """Compute the coefficients in `basis`, (…, r), of u (…, J)."""
        return np.asarray(self.image * u if self.image.ndim == 1 else u @ self.image.T)

    @cached_property
    def norms(self) -> Array:
        """Squared norms of the functions: (r,)."""
        return self.basis.squared_distance(np.eye(len(self.variances)))


@lru_cache(maxsize=16)
def penalised(basis: Eigenbasis, eta: float) -> Features:
    """The features λ_j^{η/2} φ_j of a kernel on its grid."""
    roots = basis.eigenvalues ** (eta / 2)
    return Features(basis, basis.functions.T * roots, roots, basis.eigenvalues)


def usual_power(kernel: Kernel, dimension: int, excess: float = 2.0) -> float:
    """η = 1 + excess/β, where β is the decay of the kernel's eigenvalues; excess = (η − 1)β."""
    beta = kernel.decay(dimension)
    if math.isinf(beta):
        return _ETA_WITHOUT_DECAY
    return 1 + excess / beta


class Smoothing(Protocol):
    """Transformation of averaged coefficients before noise is added."""

    def __call__(self, averages: Array) -> Array:
        """Averages (…, r) → coefficients of the summary."""
        ...

    def differences(self, radius: float, loose: float, n: float) -> DifferenceSet:
        """Return the changes of the summary when those of the averages fill a ball.

        `loose` is the largest change of one coordinate as papers count it.
        """
        ...


@dataclass(frozen=True, eq=False)
class Linear:
    """s∘c, averages through a filter."""

    shrink: Array  # (r,): s, with 0 ≤ s ≤ 1

    def __call__(self, averages: Array) -> Array:
        return np.asarray(self.shrink * averages)

    def differences(self, radius: float, loose: float, n: float) -> DifferenceSet:
        return Ellipsoid(self.shrink, radius, loose)


@dataclass(frozen=True, eq=False)
class Soft:
    """sgn(c_j) max(|c_j| − T_j, 0); only for averages of unit vectors."""

    thresholds: Array  # (r,): T

    def __call__(self, averages: Array) -> Array:
        return np.asarray(np.sign(averages) * np.maximum(np.abs(averages) - self.thresholds, 0.0))

    def differences(self, radius: float, loose: float, n: float) -> DifferenceSet:
        return Thresholded(self.thresholds, n)


# -- what is released ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ReleasedBlock:
    """One vector that every site releases."""

    step: Step
    # the set of its changes, from the number of records of a site
    differences: Callable[[float], DifferenceSet]
    shape: Array  # (r,): the mechanism's own shape of the noise
    norms: Array  # (r,): squared norms of the functions
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Noise of one vector at one site: `scales` times standard noise, of cost ε or μ."""

    scales: Array  # (r,): of the noise of each coefficient
    norms: Array  # (r,): squared norms of the functions
    # sensitivity, multiplier: in units of the noise's shape
    sensitivity: float
    multiplier: float
    _: KW_ONLY
    epsilon: float | None = None  # ε; None of Gaussian noise
    mu: float | None = None  # μ of Gaussian noise; None of any other
    variance: float = 2.0
    norm: str = "weighted ℓ1"  # the norm of the sensitivity, as in `Spend`
    law: NoiseLaw = NoiseLaw.LAPLACE

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.mu is None):
            raise ValueError("the cost of noise is either ε or μ")

    @property
    def cost(self) -> float:
        """ε, or μ of Gaussian noise."""
        if self.epsilon is not None:
            return self.epsilon
        assert self.mu is not None  # as __post_init__ sees to
        return self.mu

    @property
    def energy(self) -> float:
        """E‖noise‖² of the function."""
        return self.variance * float((self.norms * self.scales**2).sum())


@dataclass(frozen=True, eq=False)
class FunctionPlan(Plan):
    """All that is fixed before any record is looked at."""

    smoothings: tuple[Smoothing, ...]
    blocks: tuple[
        tuple[ReleasedBlock, ...], ...
    ]  # for every candidate the vectors that are released
    # for every candidate and site the noise of each vector
    noise: tuple[tuple[tuple[Calibrated, ...], ...], ...]
    weights: Array  # (candidates, sites): the share of each site
    budgets: tuple[Budget, ...]
    default: int = 0  # the candidate that stands for all of them where one must

    def sizes(self, block: int) -> list[int]:
        """Count the numbers in a vector with each candidate."""
        return [len(vectors[block].shape) for vectors in self.blocks]

    def energy(self, candidate: int) -> float:
        """E‖noise‖² of the last vector after sites are averaged."""
        each = np.array([site[-1].energy for site in self.noise[candidate]])
        return float((self.weights[candidate] ** 2 * each).sum())


D = TypeVar("D", bound=Data)
R = TypeVar("R")
S = TypeVar("S", bound=Smoothing)


class Summary(ABC, Generic[D, R, S]):
    """Estimand of a functional release; one for each task.

    Generic in the data, in what is kept of a site's records, and in how averages are smoothed. It
    knows the coefficients of the function, and the set of all changes that one record can make
    to them (`blocks`). `scale` turns its unit into response units. A release adds noise to each
    block and hands the centre's averages back to `finished`.

    Class facts: `usual_grid`, the number of points on a line where nothing else decides it. An
    audit tries `trial` settings with `pairs` of neighbours at a time, and `loose` says why a method
    may attain less of its claim than it does elsewhere. `why_not_published` says why it cannot be
    hardened, and `is_inverted` that what is released passes through an inverse, so that the error
    of its noise has no formula, and `power_excess` the usual (η − 1)β.
    """

    task: ClassVar[str]
    usual_grid: ClassVar[int] = 100
    trial: ClassVar[Mapping[str, Any]] = {}
    pairs: ClassVar[int] = 400
    loose: ClassVar[str] = ""
    why_not_published: ClassVar[str] = ""
    is_inverted: ClassVar[bool] = False
    power_excess: ClassVar[float] = 2.0
    basis: FunctionBasis
    scale: float
    functions: tuple[str, ...] = ()
    offset: Callable[[Array], Array] | None = None

    @abstractmethod
    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None: ...

    @classmethod
    def first_step(cls, release: FunctionalRelease) -> str:
        """Name the step that a share of the budget goes to before the summary; empty if none."""
        return ""

    @classmethod
    def aims_at_the_truth(cls, release: FunctionalRelease, facts: PublicFacts) -> bool:
        """True if the estimate aims at the function that simulated records are drawn from."""
        return True

    @classmethod
    def n_columns(cls, dimension: int) -> int:
        """Count the stated columns of the records."""
        return 0

    @classmethod
    def kernel(cls, release: KernelRelease, n: float, dimension: int) -> Kernel:
        """The kernel that smooths the function, and that noise of its shape comes from."""
        return replace(release.covariance, length=release.length)

    @classmethod
    def least_power(cls, inverse: float, is_printed: bool) -> float:
        """Return the η above which the sensitivity is finite without a grid.

        `inverse` is 1/β, β being the decay of the kernel.
        """
        return 0.5 + inverse if is_printed else 0.5 + inverse / 2

    @abstractmethod
    def records(self, data: D) -> R:
        """Keep what is needed of one site's records, each clipped to the unit ball on its own."""

    @abstractmethod
    def smoothings(self, n: float, effective: float) -> tuple[S, ...]:
        """Candidates for the smoothing; one where it is fixed by a formula."""

    @abstractmethod
    def blocks(self, smoothing: S) -> tuple[ReleasedBlock, ...]:
        """The vectors that are released one after another, with the changes one record can make."""

    @abstractmethod
    def values(self, block: int, records: R, smoothing: S, earlier: Sequence[Array]) -> Array:
        """Compute one vector of one site without noise: (repeats, 1 or draws, r).

        `earlier` holds the centre's averages (repeats, draws, r) of earlier vectors.
        """

    def finished(self, averages: Sequence[Array], smoothing: S) -> Array:
        """Compute coefficients in `basis`, (repeats, draws, …), from the centre's averages.

        `averages` holds (repeats, draws, r) of each vector.
        """
        return averages[-1]

    def parts(self, plans: Sequence[FunctionPlan], records: Sequence[R]) -> ServerParts | None:
        """Collect what every site brings to the error; None if nobody asks for it."""
        return None

    def cautions(
        self,
        release: FunctionalRelease,
        public: Public,
        plans: Sequence[FunctionPlan],
        coefficients: Array,
    ) -> tuple[Caution, ...]:
        """Compare releases with their smoothing, beside the forecast; often nothing.

        `coefficients` (budgets, repeats, draws, r) are as released, in response units.
        """
        return ()

    # -- choosing among candidates on the records, where there are several; see `selection` ----

    def usual_candidate(self, count: int) -> int:
        """Return the middle candidate, which stands for all until records are looked at."""
        return count // 2

    def fold_means(self, records: R, fold: NDArray[np.int64], earlier: Sequence[Array]) -> Array:
        """Average over the records of each part: (repeats, 1 or draws, parts, …).

        `fold` (n,) is the part of each record, from 0.
        """
        raise NotImplementedError

    def score(self, training: Array, held_out: Array, smoothing: S) -> Array:
        """Compute the mean squared distance of held-out averages from a fit, up to a constant.

        Averages are those of `fold_means`; distances are (repeats, draws, parts).
        """
        fit = smoothing(training)
        return np.asarray((fit**2).sum(axis=-1) - 2 * (fit * held_out).sum(axis=-1))

    def most_move(self, smoothings: Sequence[S], n_in: int, n_out: int) -> float:
        """Bound the move of any score when one record is replaced, as proved in `selection`.

        `n_in` records are in the training part, `n_out` held out.
        """
        raise NotImplementedError

    @abstractmethod
    def reference(self, data: D) -> Fit:
        """Estimate (1, repeats, 1, …) without any protection, the same for every mechanism."""
