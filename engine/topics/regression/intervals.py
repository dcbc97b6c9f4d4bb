"""The interval of a wavelet estimate, or the reason for its refusal.

An interval is given where the class of curves that bounds the bias is a stated fact. Of simulated
observations everything is known, so there the curve itself is compared with the class: where it is
rougher, the interval is refused instead of shown to be wrong. Of other observations only the person
who asks can state it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.types import Budget, Data
from engine.mechanisms.families.wavelets.bias import left_out
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.sources import Source
from engine.sources.regression_points import PointsOfCurve

Estimator = WaveletGlobal | WaveletPointwise

_NOT_STATED = (
    "nothing bounds the bias, because it has not been stated as a fact that the curve "
    "is as smooth as the plan takes it to be"
)
_ROUGHER = (
    "the simulated curve is rougher than the class that is stated: what {size} basis "
    "functions leave out is up to {off:.2g}, and the class allows {bound:.2g}"
)
_OTHER_TIMES = (
    "the simulated times rise, and the method takes them to be spread evenly: that "
    "bias has no bound"
)
_NOT_RELEASED = "at this budget nothing is released"


@dataclass(frozen=True)
class StatedClass:
    """An estimator whose class of curves is stated, or `refusal`: why there is no interval.

    `refusal` completes "No interval is given: …" and is "" where there is one.
    """

    mechanism: Estimator
    refusal: str


def stated(mechanism: Estimator, source: Source[Data], budgets: tuple[Budget, ...]) -> StatedClass:
    """Return the estimator with an interval if it can have one, else with the reason.

    Only public numbers decide, and for simulated observations the curve that is known.
    """
    plan = mechanism.plan(source.public, budgets)
    refusal = mechanism.why_no_band if isinstance(mechanism, WaveletGlobal) else ""
    if not plan.released:
        refusal = _NOT_RELEASED
    elif not refusal and isinstance(source, PointsOfCurve):
        refusal = _of_known_curve(mechanism, source, plan.basis.level)
    elif not refusal and not mechanism.class_stated:
        refusal = _NOT_STATED
    return StatedClass(replace(mechanism, class_stated=not refusal), refusal)


def _of_known_curve(mechanism: Estimator, source: PointsOfCurve, level: int) -> str:
    is_even = isinstance(mechanism, WaveletPointwise) or mechanism.design == "even"
    if is_even and source.times != "even":
        return _OTHER_TIMES
    basis, curves = mechanism.wavelets(level), mechanism.curve_class(source.facts)
    off = left_out(
        source.truth,
        basis,
        np.array(mechanism.values_at.points)
        if isinstance(mechanism, WaveletPointwise)
        else drawing_grid(),
    )
    if curves.allows(off, level, source.bound):
        return ""
    return _ROUGHER.format(
        size=basis.size, off=float(np.abs(off).max()), bound=curves.detail_bound(level)
    )
