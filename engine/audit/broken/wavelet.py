"""Wavelet regression with one bug each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.audit.broken import Broken, bug
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms.families.wavelets.checked import FactMessages
from engine.mechanisms.wavelet_adaptive import WaveletAdaptive, WaveletStage
from engine.mechanisms.wavelet_global import CurvePlan, WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.wavelet_bases import WaveletBasis

_BUDGET, _CHUNK = Budget(200.0, 1e-5), 1000
_SMALL: dict[str, Any] = {"level": 4, "clip": 3.0, "radius": 1e-3}
_STAGED: dict[str, Any] = {"level": 4, "radius": 1e-3, "messages": "three"}
_POINT: dict[str, Any] = {**_SMALL, "noise": "laplace", "points": "0.37"}


class _Curve(Broken, WaveletGlobal):
    """The whole curve."""


class _Staged(Broken, WaveletAdaptive):
    """The whole curve, centred first."""


class _Point(Broken, WaveletPointwise):
    """Single points."""


@bug(_BUDGET, _CHUNK, **_SMALL)
class ReadingsNotClipped(_Curve):
    """Readings are averaged as they are, so one of them can be as large as it likes."""

    def _average(self, data: CurveData, plan: CurvePlan) -> Array:
        return super()._average(data, replace(plan, clip=1e6))


@bug(_BUDGET, _CHUNK, **_SMALL)
class AverageClipped(_Curve):
    """The average is clipped at the bound of a reading, so one reading can decide all of it."""

    def _average(self, data: CurveData, plan: CurvePlan) -> Array:
        return np.clip(super()._average(data, replace(plan, clip=1e12)), -plan.clip, plan.clip)


@bug(_BUDGET, _CHUNK, **_SMALL)
class LabelsCannotTurn(_Curve):
    """Noise for labels that can vanish, though they can go from one end of a clip to the other."""

    def _unit_scales(self, *args: Any) -> Array:
        return super()._unit_scales(*args) / 2


@bug(_BUDGET, _CHUNK, **_SMALL)
class SupportsThatDoNotMeet(_Curve):
    """The old and the new reading are believed to touch different functions."""

    def _unit_scales(self, *args: Any) -> Array:
        return np.asarray(super()._unit_scales(*args) / np.sqrt(2))


@bug(_BUDGET, _CHUNK, **_SMALL)
class AverageHeight(_Curve):
    """The average size of the functions at a time stands for the largest."""

    def _shape(self, basis: WaveletBasis) -> tuple[float, float]:
        return 1.0, float(np.sqrt(basis.size))


@bug(_BUDGET, _CHUNK, **_SMALL, edges="corrected")
class EdgesLikeTheInside(_Curve):
    """Functions at the ends are taller than inner ones, and the noise does not know."""

    def _shape(self, basis: WaveletBasis) -> tuple[float, float]:
        return 1.0, WaveletBasis(basis.size, basis.moments).sup_norm


@bug(_BUDGET, _CHUNK, **_SMALL, design="released")
class DensityIsFree(_Curve):
    """The spread of the times is sent beside the readings without budget of its own."""

    def _shape(self, basis: WaveletBasis) -> tuple[float, float]:
        return 1.0, basis.sup_norm / np.sqrt(2)


@bug(_BUDGET, _CHUNK, **_SMALL, design="weighted", density="0.5, 1.5")
class WeightsWithoutNoise(_Curve):
    """Readings count one over a density, with noise for readings that count once."""

    def _shape(self, basis: WaveletBasis) -> tuple[float, float]:
        return basis.edge_share, basis.weighted_sup_norm


def _known(data: CurveData) -> NDArray[np.bool_]:
    """True for readings that are numbers, on sites of equal size: (repeats, sites, readings)."""
    return np.isfinite(data.values).reshape(len(data.values), data.sizes.n_servers, -1)


@bug(_BUDGET, _CHUNK, **_SMALL)
class MissingReadingsLeave(_Curve):
    """Averages are over the readings that are there, and how many those are is private."""

    def _average(self, data: CurveData, plan: CurvePlan) -> Array:
        share = _known(data).mean(axis=2)
        return np.asarray(super()._average(data, plan) / share[:, :, None, None] ** 20)


@bug(_BUDGET, _CHUNK, **_SMALL)
class MissingReadingsSpread(_Curve):
    """A reading that is no number makes the whole message one."""

    def _average(self, data: CurveData, plan: CurvePlan) -> Array:
        broken = ~_known(data).all(axis=2)
        return super()._average(data, plan) + np.where(broken, np.nan, 0.0)[:, :, None, None]


@bug(_BUDGET, _CHUNK, **_SMALL)
class TimesBeyondTheRange(_Curve):
    """A reading counts the more, the further outside the range its time lies."""

    def _average(self, data: CurveData, plan: CurvePlan) -> Array:
        over = np.nan_to_num(np.abs(data.times - 0.5)).clip(0.5, None) * 2
        return np.asarray(super()._average(data, plan) * over.max(axis=1)[:, None, None, None])


class _QuietChecks(Broken, WaveletGlobal):
    quiet: ClassVar[str]  # which noise of the messages about facts is a tenth of what it must be

    def messages_about_facts(self, *args: Any) -> FactMessages | None:
        honest = super().messages_about_facts(*args)
        return (
            None
            if honest is None
            else replace(honest, **{self.quiet: getattr(honest, self.quiet) / 10})
        )


@bug(_BUDGET, _CHUNK, **_SMALL, checks="paid")
class FactsOfTimesAreFree(_QuietChecks):
    """Shares of times by part of the range are sent with a tenth of the noise."""

    quiet = "noise"


@bug(_BUDGET, _CHUNK, **_STAGED, checks="paid")
class SidesAreFree(_QuietChecks, WaveletAdaptive):
    """Observations beyond the clip are counted by side with a tenth of the noise."""

    quiet = "side_noise"


@bug(_BUDGET, _CHUNK, **_STAGED)
class SpreadAtHalfItsNoise(_Staged):
    """The size of residuals goes with the averages, at half the noise that makes it free."""

    def _stage(self, *args: Any) -> WaveletStage:
        stage = super()._stage(*args)
        return replace(stage, size_unit=stage.size_unit / 2)


@bug(_BUDGET, _CHUNK, **_STAGED)
class ResidualsCannotTurn(_Staged):
    """Noise for residuals that vanish at worst, though they can change their sign."""

    def _stage(self, *args: Any) -> WaveletStage:
        stage = super()._stage(*args)
        return replace(stage, unit=stage.unit / 2, size_unit=stage.size_unit / 2)


@bug(_BUDGET, _CHUNK, **_SMALL, moments=1, noise="laplace", points="0.37")
class PrintedForHaar(_Point):
    """The constant printed for the Haar wavelet is half of what it needs."""

    def _unit_scales(self, *args: Any) -> Array:
        return super()._unit_scales(*args) / 2


@bug(_BUDGET, _CHUNK, **{**_POINT, "points": "0.3, 0.32"})
class OnePointAtATime(_Point):
    """Every point gets the noise that it would need alone, though a reading can be near both."""

    def _kernel_bound(self, kind: str, basis: WaveletBasis) -> float:
        return max(basis.largest_kernel(x) for x in self.values_at.points)


@bug(_BUDGET, _CHUNK, **{**_POINT, "points": "0.46"})
class KernelAtThePoint(_Point):
    """The kernel is taken at the point itself, but it is larger beside it."""

    def _kernel_bound(self, kind: str, basis: WaveletBasis) -> float:
        return float(basis.diagonal(np.array(self.values_at.points)).max())


@bug(Budget(200.0, 1e-5), _CHUNK, **_POINT)
class ScaleForRate(_Point):
    """Laplace noise whose standard deviation, and not its scale, is the sensitivity over ε."""

    def _unit_scales(self, *args: Any) -> Array:
        return np.asarray(super()._unit_scales(*args) / np.sqrt(2))
