"""Noisy gradient descent with one bug each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, CurveData, Estimate, Public
from engine.mechanisms.families.descent import DescentPlan, Participation
from engine.mechanisms.noisy_gradient_coefficients import NoisyGradientCoefficients
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.numerics.moments import Moments
from engine.numerics.regression_moments import RegressionMoments

_BUDGET = Budget(1.0, 1e-3)
_SMALL_SETTINGS: dict[str, Any] = {"truncation": 3, "n_iterations": 3}


def _with_radii(servers: list[Any], change: Any) -> list[Any]:
    return [replace(server, radii=change(server.radii)) for server in servers]


class _ScaledDescent(Broken, NoisyGradientMean):
    """Noise of another size than the ledger pays for."""

    def factor(self, plan: DescentPlan, public: Public) -> Any:
        """Return the factor of the scales of the noise: one, or (servers, p)."""
        raise NotImplementedError

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> DescentPlan:
        honest = super().planned(public, budgets)
        return replace(honest, scales=honest.scales * self.factor(honest, public))


@bug(_BUDGET, **_SMALL_SETTINGS)
class NoClipping(Broken, NoisyGradientMean):
    """Gradients are not clipped, so one curve can move an average as far as it likes."""

    def _servers(self, *args: Any) -> list[Any]:
        return _with_radii(super()._servers(*args), lambda radii: radii * 1e9)


@bug(_BUDGET, **_SMALL_SETTINGS)
class ClipTenPercentLoose(Broken, NoisyGradientMean):
    """Gradients are clipped a tenth wider than the noise is made for."""

    def _servers(self, *args: Any) -> list[Any]:
        return _with_radii(super()._servers(*args), lambda radii: radii * 1.1)


@bug(_BUDGET, **_SMALL_SETTINGS)
class ClipEachReadingThenAdd(Broken, NoisyGradientMean):
    """Each observation is clipped, not the curve: the bound grows with a curve’s observations."""

    def _servers(self, data: CurveData, *args: Any) -> list[Any]:
        return _with_radii(super()._servers(data, *args), lambda radii: radii * data.counts.max())


@bug(_BUDGET, **_SMALL_SETTINGS)
class ClipAfterAveraging(Broken, NoisyGradientMean):
    """The average is clipped instead of every curve, so one curve can decide all of it."""

    def clipped_average(self, server: Any, *args: Any) -> Array:
        loose = replace(server, radii=server.radii * 1e9)
        average = super().clipped_average(loose, *args)
        return np.clip(average, -server.radii[0], server.radii[0])


@bug(_BUDGET, scheme=Participation.SPLIT, **_SMALL_SETTINGS)
class BatchesOverlap(Broken, NoisyGradientMean):
    """The last round takes the curves of the round before once more."""

    def clipped_average(self, server: Any, batch: int, *args: Any) -> Array:
        return super().clipped_average(server, min(batch, 1), *args)


@bug(_BUDGET, **_SMALL_SETTINGS)
class RadiusFromTheData(Broken, NoisyGradientMean):
    """The clip follows the spread of the readings, which one curve can blow up."""

    def _servers(self, data: CurveData, *args: Any) -> list[Any]:
        known = np.nan_to_num(data.values, nan=0.0, posinf=1e9, neginf=-1e9)
        spread = float(np.clip(known, -1e9, 1e9).std())
        return _with_radii(super()._servers(data, *args), lambda radii: radii * max(spread, 1.0))


@bug(_BUDGET, **_SMALL_SETTINGS)
class DividesByActiveCurves(Broken, NoisyGradientMean):
    """The divisor counts only curves that are small, and how many those are is private."""

    def clipped_average(self, server: Any, batch: int, batch_size: int, *args: Any) -> Array:
        average = super().clipped_average(server, batch, batch_size, *args)
        large = np.abs(server.moments.features).sum(axis=1) > 1e3
        active = np.maximum(batch_size - 1 - large.sum(axis=1), 1)
        return np.asarray(average * (batch_size / active)[:, None, None])


@bug(_BUDGET, **_SMALL_SETTINGS)
class MissingNumbersPass(Broken, NoisyGradientMean):
    """A missing number goes through the clip and makes the whole release NaN."""

    def curves(self, data: CurveData, moments: Moments) -> Moments:
        starts = np.cumsum(data.counts) - data.counts
        missing = np.add.reduceat(~np.isfinite(data.values), starts, axis=1) > 0
        return replace(moments, features=np.where(missing[:, None], np.nan, moments.features))


@bug(_BUDGET, **_SMALL_SETTINGS)
class OneSidedSensitivity(_ScaledDescent):
    """Noise for a curve that is left out, though it can go from one end of a clip to the other."""

    def factor(self, plan: DescentPlan, public: Public) -> float:
        return 0.5


@bug(_BUDGET, scheme=Participation.SPLIT, **_SMALL_SETTINGS)
class ForgetsTheBatchSize(_ScaledDescent):
    """Noise for an average over all curves is added to the average of one batch."""

    def factor(self, plan: DescentPlan, public: Public) -> float:
        return plan.batch_sizes[0] / public.sizes.n_curves


@bug(_BUDGET, **_SMALL_SETTINGS)
class EachRoundSpendsEverything(_ScaledDescent):
    """Every round spends the whole budget, although all curves take part in each."""

    def factor(self, plan: DescentPlan, public: Public) -> float:
        return float(1 / np.sqrt(plan.rounds))


@bug(_BUDGET, **_SMALL_SETTINGS)
class NoiseForTheSmallestRadius(_ScaledDescent):
    """All coefficients get the noise of the one that is clipped hardest."""

    def factor(self, plan: DescentPlan, public: Public) -> Array:
        return np.asarray(plan.scales.min(axis=1, keepdims=True) / plan.scales)


@bug(_BUDGET, **_SMALL_SETTINGS)
class VarianceForDeviation(_ScaledDescent):
    """The standard deviation of the noise is what its variance should be."""

    def factor(self, plan: DescentPlan, public: Public) -> Array:
        return np.minimum(plan.scales, 0.9)


@bug(_BUDGET, **_SMALL_SETTINGS)
class NoiseBeyondNeed(_ScaledDescent):
    """All curves take part in every round, with noise as if only a batch did: too much of it."""

    def factor(self, plan: DescentPlan, public: Public) -> float:
        return float(np.sqrt(plan.rounds))


@bug(_BUDGET, 2000, **_SMALL_SETTINGS)
class SameNoiseInEveryRound(Broken, NoisyGradientMean):
    """The noise is drawn once and used in all rounds, so that differences of rounds are exact."""

    def _servers(self, *args: Any) -> list[Any]:
        return [
            replace(server, normals=np.broadcast_to(server.normals[:1], server.normals.shape))
            for server in super()._servers(*args)
        ]


@bug(_BUDGET, 2000, **_SMALL_SETTINGS)
class QuieterThanSaid(Broken, NoisyGradientMean):
    """A fifth of the noise is missing from what is average, though the ledger has all of it."""

    def _servers(self, *args: Any) -> list[Any]:
        return [replace(server, normals=0.8 * server.normals) for server in super()._servers(*args)]


@bug(_BUDGET, **_SMALL_SETTINGS)
class LooksPastItsMessages(Broken, NoisyGradientMean):
    """The centre adds the raw average of the readings to what it has heard."""

    def release_many(self, data: Any, *args: Any) -> Estimate:
        honest = super().release_many(data, *args)
        middle = np.clip(np.nan_to_num(data.values), -1, 1).mean(axis=1)[:, None, None]
        return replace(honest, coefficients=honest.coefficients + middle)


class _Regression(Broken, NoisyGradientCoefficients):
    """The model with covariates."""


@bug(_BUDGET, **_SMALL_SETTINGS)
class ClippedBeforeTheCovariates(_Regression):
    """Residuals are clipped, then multiplied with covariates that nothing holds in their range."""

    def curves(self, data: CurveData, moments: Moments) -> RegressionMoments:
        assert data.covariates is not None
        raw = np.clip(np.nan_to_num(data.covariates), -1e3, 1e3).swapaxes(1, 2)
        honest, ones = super().curves(data, moments), np.ones((len(raw), 1, data.n_curves))
        return replace(honest, regressors=np.concatenate([ones, raw], axis=1))

    def _servers(self, *args: Any) -> list[Any]:
        servers: list[Any] = super()._servers(*args)
        return [
            replace(server, radii=server.radii * np.abs(server.moments.regressors).max())
            for server in servers
        ]


@bug(_BUDGET, **_SMALL_SETTINGS)
class OnlyTheInterceptIsClipped(_Regression):
    """Gradients are clipped for the intercept and not for the effects of covariates."""

    def _servers(self, *args: Any) -> list[Any]:
        return _with_radii(
            super()._servers(*args),
            lambda radii: np.where(np.arange(radii.shape[1]) < radii.shape[1] // 2, radii, 1e9),
        )


@bug(_BUDGET, **_SMALL_SETTINGS)
class NoiseForOneFunction(_Regression):
    """Every function gets the noise that it would need if it were released alone."""

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> DescentPlan:
        honest = super().planned(public, budgets)
        return replace(honest, scales=honest.scales / np.sqrt(honest.n_functions))


@bug(_BUDGET, **_SMALL_SETTINGS)
class MissingCovariatesPass(_Regression):
    """A covariate that is no number makes the whole release NaN."""

    def curves(self, data: CurveData, moments: Moments) -> RegressionMoments:
        honest = super().curves(data, moments)
        assert data.covariates is not None
        missing: Any = ~np.isfinite(data.covariates).all(axis=2)
        return replace(honest, features=np.where(missing[:, None], np.nan, honest.features))
