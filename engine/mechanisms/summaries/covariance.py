"""The covariance of curves, as a function of two times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.core.tasks import COVARIANCE
from engine.core.types import (
    Array,
    Caution,
    CurveData,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
    Step,
)
from engine.mechanisms.summaries.covariance_cautions import FADED, SHRUNK, CovarianceJudgement
from engine.mechanisms.summaries.mean import ClippedCurves, clipped_curves
from engine.mechanisms.summaries.parts import (
    FunctionPlan,
    Linear,
    ReleasedBlock,
    Smoothing,
    Summary,
)
from engine.numerics.difference_sets import DifferenceSet
from engine.numerics.eigensystems import of_times
from engine.numerics.pairs import SymmetricSurfaces
from engine.numerics.tabulated import Tabulated

if TYPE_CHECKING:
    from engine.mechanisms.families.functional.release import FunctionalRelease


@dataclass(frozen=True, eq=False)
class CovarianceSmoothing:
    """Smoothing of the private mean and that of the second moments about it."""

    mean: Smoothing
    pairs: Linear

    def __call__(self, averages: Array) -> Array:
        return self.pairs(averages)

    def differences(self, radius: float, loose: float, n: float) -> DifferenceSet:
        return self.pairs.differences(radius, loose, n)


class CovarianceSummary(Summary[CurveData, ClippedCurves, CovarianceSmoothing]):
    """Second moments of curves, about a private mean, about nothing, or about their own mean.

    Only pairs j ≤ l are released, and θ is made symmetric from them, so noise is symmetric.

    *Differences*, in the Hilbert–Schmidt norm, for vectors of norm at most one: ‖xx' − yy'‖² =
    ‖x‖⁴ + ‖y‖⁴ − 2⟨x, y⟩² ≤ 2, so (1/n) Σ x_i x_i' moves by at most √2/n. About a mean that has
    been released before, deviations are clipped to norm one again and the same bound applies. About
    the sample mean, with a the mean of the other n − 1 curves, C − C' is (n − 1)/n² times
    (x − a)(x − a)' − (y − a)(y − a)', at most 4(n − 1)/n²: the terms share the sample mean and are
    no separate records. The filter acts on orthonormal coordinates of the ball.

    What is released may have negative eigenvalues; they are set to zero, which needs no budget.

    References
    ----------
    Lin and Reimherr (2023), arXiv 2309.00125, appendix C.1, with constants put right.
    """

    task = COVARIANCE.key
    basis: SymmetricSurfaces
    usual_grid = 50
    loose = (
        "The proof lets a change of second moments fall on one number alone; those that one "
        "person can make fall on two at least."
    )

    @classmethod
    def first_step(cls, release: FunctionalRelease) -> str:
        return "the mean that it is taken about" if release.centre == "private_mean" else ""

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        self.release, self.facts = release, facts
        self.grid = release.grid(facts)
        self.space = release.space(self.grid, sizes)
        self.basis = SymmetricSurfaces(self.space.basis, self.grid)
        self.norm_bound = release.norm_bound(facts)
        self.scale = self.norm_bound**2

    @property
    def _shares(self) -> tuple[float, ...]:
        first = self.release.share
        return (first, 1 - first) if self.release.centre == "private_mean" else (1.0,)

    def records(self, data: CurveData) -> ClippedCurves:
        return clipped_curves(data, self.space, self.grid, self.norm_bound)

    def smoothings(self, n: float, effective: float) -> tuple[CovarianceSmoothing, ...]:
        eigenvalues, (j, k) = self.space.eigenvalues, self.basis.index
        pairs = self.release.smoothings(
            eigenvalues[j] * eigenvalues[k], n, effective * self._shares[-1], np.maximum(j, k)
        )
        means = self.release.smoothings(eigenvalues, n, effective * self._shares[0])
        mean = means[self.usual_candidate(len(means))]
        return tuple(CovarianceSmoothing(mean, each) for each in pairs if isinstance(each, Linear))

    def blocks(self, smoothing: CovarianceSmoothing) -> tuple[ReleasedBlock, ...]:
        gain, eigenvalues, (j, k) = self.space.gain, self.space.eigenvalues, self.basis.index
        variances = eigenvalues[j] * eigenvalues[k] * self.basis.multiplicity
        moments = ReleasedBlock(
            Step("noisy second moments"),
            lambda n: smoothing.differences(gain**2 * self._sensitivity(n), 2 * gain**2 / n, n),
            self.release.shape(variances),
            self.basis.norms,
            self._shares[-1],
        )
        if len(self._shares) == 1:
            return (moments,)
        mean = ReleasedBlock(
            Step("noisy coefficients of the mean"),
            lambda n: smoothing.mean.differences(2 * gain / n, 2 * gain / n, n),
            self.release.shape(eigenvalues),
            self.space.norms,
            self._shares[0],
        )
        return mean, moments

    def _sensitivity(self, n: float) -> float:
        """Bound the move of second moments of unit vectors when one curve is replaced."""
        if self.release.centre == "sample_mean":
            return 4 * max(n - 1, 1) / n**2  # rounding errors of a single curve need noise too
        return math.sqrt(2) / n

    def values(
        self,
        block: int,
        records: ClippedCurves,
        smoothing: CovarianceSmoothing,
        earlier: Sequence[Array],
    ) -> Array:
        centre = self.release.centre
        if centre == "private_mean" and block == 0:
            return smoothing.mean(records.mean)[:, None]
        return smoothing(self._moments(records.coefficients, records.mean, earlier))

    def _moments(self, curves: Array, mean: Array, earlier: Sequence[Array]) -> Array:
        """Coordinates of second moments about the centre: (repeats, 1 or draws, pairs).

        Of `curves` (repeats, n, r). The centre is the `mean` (repeats, r) of all curves, or comes
        from the `earlier` vectors, (repeats, draws, r) each.
        """
        centre = self.release.centre
        if centre == "nothing":
            about, radius = np.zeros((len(curves), 1, self.space.size)), math.inf
        elif centre == "sample_mean":
            about, radius = mean[:, None], math.inf
        else:
            about, radius = earlier[0], self.space.gain
        return np.asarray(self.basis.coordinates(second_moments(curves, about, radius)))

    def cautions(
        self,
        release: FunctionalRelease,
        public: Public,
        plans: Sequence[FunctionPlan],
        coefficients: Array,
    ) -> tuple[Caution, ...]:
        """Warn if smoothing leaves little of any covariance, or less than forecast, or may.

        Nothing is said of smoothings that are chosen from the data.
        """
        applies: dict[str, NDArray[np.bool_]] = {}
        for k, plan in enumerate(plans):
            smoothing = plan.smoothings[0]
            if len(plan.smoothings) > 1 or not isinstance(smoothing, CovarianceSmoothing):
                continue
            judgement = CovarianceJudgement(
                self, smoothing, release.variances(public, plan), plan, public
            )
            for text, told in judgement.told(coefficients[k]).items():
                applies.setdefault(text, np.zeros(coefficients.shape[:3], dtype=bool))[k] = told
        return tuple(
            (
                Caution(text, where, SaidIn.LINE)
                if text in (FADED, SHRUNK)
                else Caution(text, where, SaidIn.STATED, ("such people",))
            )
            for text, where in applies.items()
            if where.any()
        )

    def second_moments(self, records: ClippedCurves) -> Array:
        """Coordinates of the second moments of one data set about their centre: (r,).

        A private mean is taken to be theirs.
        """
        about = [records.mean[:, None]]
        return np.asarray(self._moments(records.coefficients, records.mean, about)[0, 0])

    def fold_means(
        self, records: ClippedCurves, fold: NDArray[np.int64], earlier: Sequence[Array]
    ) -> Array:
        """Second moments about the centre that was released, or about nothing."""
        curves = records.coefficients
        return np.stack(
            [
                self._moments(curves[:, fold == k], records.mean, earlier)
                for k in range(fold.max() + 1)
            ],
            axis=2,
        )

    def most_move(self, smoothings: Sequence[CovarianceSmoothing], n_in: int, n_out: int) -> float:
        return math.sqrt(2) * max(2 / n_out, 4 / n_in)

    def finished(self, averages: Sequence[Array], smoothing: CovarianceSmoothing) -> Array:
        return self.basis.positive_part(averages[-1]) if self.release.positive else averages[-1]

    def reference(self, data: CurveData) -> Fit:
        """The sample covariance at all pairs of grid points."""
        curves = data.on_grid(self.grid.times)
        curves = curves - curves.mean(axis=1, keepdims=True)
        values = (curves.swapaxes(1, 2) @ curves / data.n_curves).reshape(data.n_repeats, -1)
        return Fit.exact(Tabulated(of_times(self.grid.times, 2)), values)


def second_moments(curves: Array, about: Array, radius: float) -> Array:
    """Mean of dd' for d = curve − centre, each d clipped in norm: (repeats, draws, r, r)."""
    squares = (
        (curves**2).sum(axis=-1)[:, None]
        - 2 * about @ curves.swapaxes(1, 2)
        + (about**2).sum(axis=-1)[..., None]
    )
    weights = np.minimum(1.0, radius**2 / np.maximum(squares, 1e-300))  # (repeats, draws, n)
    out = np.empty((*about.shape, about.shape[-1]))
    for r, curves_of_repeat in enumerate(curves):
        for d, (w, m) in enumerate(zip(weights[r], about[r], strict=True)):
            shifted = (curves_of_repeat - m) * np.sqrt(w)[:, None]
            out[r, d] = shifted.T @ shifted / len(curves_of_repeat)
    return out
