"""Releases of whole functions with one bug each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, PublicFacts, SampleData, Sizes
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.families.functional.noise import FunctionNoise
from engine.mechanisms.families.functional.release import FunctionalRelease
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import THEOREM_8_EXCESS, Iclp
from engine.mechanisms.summaries import summaries
from engine.mechanisms.summaries.coefficients import CoefficientSummary
from engine.mechanisms.summaries.covariance import (
    CovarianceSmoothing,
    CovarianceSummary,
    second_moments,
)
from engine.mechanisms.summaries.density import DensitySummary, GridCounts, Width
from engine.mechanisms.summaries.mean import CentredMean, ClippedCurves, MeanSummary, clip_of
from engine.mechanisms.summaries.parts import Calibrated, ReleasedBlock, Smoothing, Space
from engine.mechanisms.summaries.risk import RiskSummary
from engine.numerics.eigensystems import Grid

_BUDGET = Budget(0.8, 1e-3)
_COVARIANCE: dict[str, Any] = {"task": "covariance"}


class _Otherwise(Broken, FunctionalRelease):
    """A release with another summary, another space, or noise of another size."""

    summary_class: type | None = None
    space_class: type[Space] | None = None

    def summary(self, sizes: Sizes, facts: PublicFacts) -> Any:
        summary_class = type(self).summary_class or summaries[self.task]
        return summary_class(self, sizes, facts)

    def space(self, grid: Grid, sizes: Sizes) -> Any:
        honest = super().space(grid, sizes)
        other = type(self).space_class
        return honest if other is None else other(**vars(honest))

    def scaled(self, scales: Array, block: ReleasedBlock) -> Array:
        """Change the right scales of the noise: (r,)."""
        return scales

    @property
    def process(self) -> FunctionNoise:
        return _Scaled(super().process, self.scaled)


@dataclass(frozen=True)
class _Scaled:
    """Noise whose scales are not what they must be."""

    honest: FunctionNoise
    scaled: Callable[[Array, ReleasedBlock], Array]

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return self.honest.standard(shape, rng)

    def calibrated(self, block: ReleasedBlock, n: float, budget: Budget) -> Calibrated:
        honest = self.honest.calibrated(block, n, budget)
        return replace(honest, scales=self.scaled(honest.scales, block))


# -- noise of another size ------------------------------------------------------------------------


@bug(_BUDGET)
class PrintedScale(_Otherwise, Iclp):
    """The scale printed in Theorem 8 spends √2 times the ε it promises."""

    def scaled(self, scales: Array, block: ReleasedBlock) -> Array:
        return scales / THEOREM_8_EXCESS


@bug(_BUDGET, penalty="absolute", eta=3.0)
class LastCoordinateWithoutNoise(_Otherwise, Iclp):
    """The last coordinate that can change gets no noise, because it is so small."""

    def scaled(self, scales: Array, block: ReleasedBlock) -> Array:
        last = np.flatnonzero(scales)[-1]
        return np.where(np.arange(len(scales)) == last, 0.0, scales)


@bug(_BUDGET)
class NoiseOfAnotherKernel(_Otherwise, GaussianProcess):
    """The noise falls with frequency faster than the claim is computed for."""

    def scaled(self, scales: Array, block: ReleasedBlock) -> Array:
        return np.asarray(scales * block.shape / block.shape[0])


@bug(_BUDGET)
class RateForScale(_Otherwise, Frl):
    """Laplace noise whose standard deviation, and not its scale, is the sensitivity over ε."""

    def scaled(self, scales: Array, block: ReleasedBlock) -> Array:
        return np.asarray(scales / np.sqrt(2))


@bug(Budget(40.0), messages="three", n_functions=3)
class DeviationsNotDrawnBack(_Otherwise, Frl):
    """Deviations from a coarse mean are not drawn back to the size that noise is made for."""

    class _Unclipped(CentredMean):
        def values(self, block: int, records: Any, smoothing: Smoothing, earlier: Any) -> Array:
            if block < 2:
                return super().values(block, records, smoothing, earlier)
            mean = records.mean[:, None] - self._centre(earlier)
            return np.asarray(mean / clip_of(earlier[1]))

    summary_class = _Unclipped


# -- curves that are held otherwise ---------------------------------------------------------------


class _Unheld(Space):
    def clip_factors(self, curves: Array) -> Array:
        return np.ones(curves.shape[:-1])


@bug(_BUDGET)
class CurvesNotHeld(_Otherwise, Iclp):
    """Curves are not held to the stated size, so one can move the mean as far as it likes."""

    space_class = _Unheld


class _MeanSize(Space):
    def clip_factors(self, curves: Array) -> Array:
        return np.asarray(1 / np.maximum(np.abs(curves).mean(axis=-1), 1))


@bug(_BUDGET)
class HeldInMeanSize(_Otherwise, Frl):
    """The mean of sizes is held, which bounds no norm: a spike passes."""

    space_class = _MeanSize


class _OnTheGrid(Space):
    def clip_factors(self, curves: Array) -> Array:
        return np.asarray(1 / np.maximum(np.sqrt((curves**2).mean(axis=-1)), 1))


@bug(_BUDGET, degree=8)
class HeldOnTheGrid(_Otherwise, Bernstein):
    """Curves are held where they are read, but it is other values that are released."""

    space_class = _OnTheGrid


class _Raw(Space):
    def clip_factors(self, curves: Array) -> Array:
        return np.asarray(super().clip_factors(curves) * np.sqrt(curves.shape[-1]))


@bug(_BUDGET)
class RawEigenvectors(_Otherwise, Iclp):
    """Coefficients in eigenvectors of a matrix are those of curves times the root of K."""

    space_class = _Raw


# -- another mean ---------------------------------------------------------------------------------


class _OwnLargest(MeanSummary):
    def records(self, data: Any) -> Any:
        records = super().records(data)
        largest = np.sqrt(np.nan_to_num(records.curves**2).mean(axis=-1).max(axis=1))
        ones = np.ones_like(records.clip_factors)
        return replace(records, clip_factors=ones / np.maximum(largest, 1e-9)[:, None])


@bug(_BUDGET)
class DividesByTheLargestCurve(_Otherwise, Iclp):
    """Curves are divided by the norm of the largest, as “normalised” data often are."""

    summary_class = _OwnLargest


class _NanPasses(MeanSummary):
    def records(self, data: Any) -> Any:
        records = super().records(data)
        raw = data.values.reshape(records.curves.shape)
        return replace(records, curves=np.where(np.isnan(raw), np.nan, records.curves))


@bug(_BUDGET)
class MissingValuesSpread(_Otherwise, Iclp):
    """A reading that is no number makes the whole mean one."""

    summary_class = _NanPasses


class _SummaryByComplete(MeanSummary):
    def values(
        self, block: int, records: ClippedCurves, smoothing: Smoothing, earlier: Sequence[Array]
    ) -> Array:
        share = (np.abs(records.curves).sum(axis=-1) > 0).mean(axis=1)
        return np.asarray(super().values(block, records, smoothing, earlier) / share[:, None, None])


@bug(_BUDGET)
class DividesByCurvesThatAreThere(_Otherwise, Frl):
    """Curves without readings are left out, and how many there are is private."""

    summary_class = _SummaryByComplete


def _with_more(block: ReleasedBlock, factor: float) -> ReleasedBlock:
    """Pretend that there are so many times the records."""
    honest: Callable[[float], Any] = block.differences
    return replace(block, differences=lambda n: honest(factor * n))


class _OneSided(MeanSummary):
    def blocks(self, smoothing: Smoothing) -> Any:
        (block,) = super().blocks(smoothing)
        return (_with_more(block, 2.0),)


@bug(_BUDGET)
class NewCurvesReplaceNone(_Otherwise, Iclp):
    """A new curve is believed to add itself and to take nothing away: 1/n instead of 2/n."""

    summary_class = _OneSided


# -- other summaries ------------------------------------------------------------------------------


class _Uncentred(CovarianceSummary):
    def _sensitivity(self, n: float) -> Any:
        return np.sqrt(2) / n


@bug(_BUDGET, **_COVARIANCE, centre="sample_mean")
class ConstantOfUncentredCurves(_Otherwise, Frl):
    """The sample mean is taken off for free, with noise for curves that are not centred."""

    summary_class = _Uncentred


class _NotHeldAgain(CovarianceSummary):
    def values(
        self,
        block: int,
        records: ClippedCurves,
        smoothing: CovarianceSmoothing,
        earlier: Sequence[Array],
    ) -> Array:
        if block == 0:
            return super().values(block, records, smoothing, earlier)
        moments = second_moments(records.coefficients, earlier[0], np.inf)
        return smoothing(self.basis.coordinates(moments))


@bug(_BUDGET, **_COVARIANCE, centre="private_mean")
class NotHeldAboutTheMean(_Otherwise, Iclp):
    """Curves of norm one are not of norm one about another mean, and are not held again."""

    summary_class = _NotHeldAgain


class _PairsTwice(CovarianceSummary):
    def values(
        self,
        block: int,
        records: ClippedCurves,
        smoothing: CovarianceSmoothing,
        earlier: Sequence[Array],
    ) -> Array:
        honest = super().values(block, records, smoothing, earlier)
        return honest * np.sqrt(self.basis.multiplicity)


@bug(_BUDGET, **_COVARIANCE, centre="nothing", constants="optimal")
class EntriesCountOnce(_Otherwise, GaussianProcess):
    """Entries beside the diagonal stand for two and get the noise of one."""

    summary_class = _PairsTwice


class _Separate(CoefficientSummary):
    def blocks(self, smoothing: Smoothing) -> Any:
        first, second = super().blocks(smoothing)
        return first, _with_more(second, float(np.sqrt(self.p)))


@bug(_BUDGET, task="varying_coefficients")
class BudgetForEachFunction(_Otherwise, Iclp):
    """Every one of the functions has a budget of its own, though one person is in all of them."""

    summary_class = _Separate


class _BeyondRange(CoefficientSummary):
    def records(self, data: Any) -> Any:
        curves, x = super().records(data)
        wild = np.nan_to_num(data.covariates.swapaxes(1, 2), posinf=0, neginf=0).clip(-1e12, 1e12)
        return curves, np.concatenate([x[:, :1], wild], axis=1)


@bug(_BUDGET, task="varying_coefficients")
class RegressorsBeyondTheirRange(_Otherwise, Frl):
    """Covariates are moved to [−1, 1] by their stated range but not held in it."""

    summary_class = _BeyondRange


class _OfMassOne(DensitySummary):
    def values(
        self, block: int, records: GridCounts, smoothing: Width, earlier: Sequence[Array]
    ) -> Array:
        values = super().values(block, records, smoothing, earlier)
        mass = values @ smoothing.atoms.on_grid.T @ self.grid.weights
        return np.asarray(values / mass[..., None] ** 4)


@bug(_BUDGET, 1000, task="density")
class DividesByTheMass(_Otherwise, Iclp):
    """A density is divided by powers of its mass on the range, which one record changes for all."""

    summary_class = _OfMassOne


class _OwnRange(RiskSummary):
    def labels(self, data: SampleData) -> Array:
        assert data.y is not None
        y = np.nan_to_num(data.y, nan=0.0, posinf=1e9, neginf=-1e9)
        return np.asarray(y / np.abs(y).max(axis=1, keepdims=True))


@bug(_BUDGET, 60, task="risk_minimisation", grid_size=30, risk_weight=0.2, loss="huber")
class LabelsInTheirOwnRange(_Otherwise, Iclp):
    """Labels are divided by the largest at hand instead of a stated bound."""

    summary_class = _OwnRange
