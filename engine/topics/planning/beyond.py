"""Beyond the sizes that are simulated: a number by a scaling law, or a floor of the error.

A simulator ends somewhere; nature does not. Where a target is missed at the largest size that is
simulated, the law by which the error goes on is used:

* People. Noise is hidden by n μ alone, so k times the people have the noise, the basis functions
  and the bias that the present ones have at k times the μ, and a k-th of the sampling variance.
* Sites. Every site adds noise of its own, so k times the sites count as √k times the μ.
* Observations per person, and errors that are known exactly: a + b/x + c/x², fitted to the largest
  sizes. What people differ in, and noise that hides a whole curve, stay.

If what stays is above the target no size reaches it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.core.types import Array, Budget
from engine.privacy import accounting
from engine.topics.mean.answer import squared_parts

if TYPE_CHECKING:
    from engine.topics.planning.answer import PlannedStudy

FARTHEST = 100.0  # times the largest simulated size: laws are not carried on beyond
_FLAT = 0.8  # of a bias: if more is left, it is taken to stay
_TIMES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, FARTHEST)  # the largest size, by the law
_STEPS = 60  # halvings
_FITTED = (1.0, 0.5, 0.25, 0.125)  # of the largest size, where a law is fitted

ErrorLaw = Callable[[float], float]  # squared error at so many times the largest simulated size


@dataclass(frozen=True)
class Beyond:
    """The reach of a dial beyond `simulated`, the largest value that is simulated.

    `value` is where the target is met, by the law; None where it is met nowhere up to `most`.
    `floor` is the error that no size removes where that is above the target, else None, and `cause`
    what it consists of: "bias" or "people".
    """

    simulated: float
    most: float
    value: float | None = None
    floor: float | None = None
    cause: str = ""


def beyond(setting: PlannedStudy, dial: str, target: float, error: float, seed: int) -> Beyond:
    """Compute the effect of more people, observations or sites than in `setting`.

    `error` is measured at `setting`, the largest that is simulated, and above the target. For ε,
    which ends where protection does, only the floor is asked: the error without noise.
    """
    here = float(getattr(setting, dial))
    if dial == "epsilon":
        return _without_noise(setting, target, error, seed)
    exact = _exact(setting, dial)
    cause = "people" if exact or dial == "readings" else "bias"
    law, floor = exact or (
        _over_readings(setting, seed) if dial == "readings" else _over_people(setting, dial, seed)
    )
    if cause == "people":  # it varies from release to release: a mean square, not yet the target's
        floor *= error**2 / law(1.0)
        law = _times(law, error**2 / law(1.0))
    extrapolation = Beyond(here, FARTHEST * here, cause=cause)
    if math.sqrt(floor) >= target:
        return replace(extrapolation, floor=math.sqrt(floor))
    # what varies from release to release, on the scale of the target instead of its mean square
    scale = max(error**2 - floor, 0.0) / max(law(1.0) - floor, 1e-300)
    times = _solved(lambda k: math.sqrt(floor + scale * max(law(k) - floor, 0.0)), target)
    return extrapolation if times is None else replace(extrapolation, value=math.ceil(here * times))


def _times(law: ErrorLaw, factor: float) -> ErrorLaw:
    return lambda k: factor * law(k)


def _without_noise(setting: PlannedStudy, target: float, error: float, seed: int) -> Beyond:
    """Compute the error left at any ε: that of sampling and bias alone."""
    limit = Beyond(setting.epsilon, setting.epsilon, cause="people")
    if setting.mechanism.exact_risk(setting.curves, (setting.budget,)) is not None:
        return limit
    here, last = _parts(setting, [setting.budget, _as_if(setting, "people", FARTHEST)], seed)
    floor = error * math.sqrt(last[1:].sum() / here.sum())
    return replace(limit, floor=floor) if floor >= target else limit


def _solved(error: ErrorLaw, target: float) -> float | None:
    """Return the multiple of the size at which an error meets the target, up to `FARTHEST`."""
    if error(FARTHEST) > target:
        return None
    low, high = 0.0, math.log(FARTHEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if error(math.exp(middle)) > target else (low, middle)
    return math.exp(high)


# -- laws -----------------------------------------------------------------------------------


def _over_people(setting: PlannedStudy, dial: str, seed: int) -> tuple[ErrorLaw, float]:
    """Fit the law over people or sites, and the bias that stays: 0 if its end is not seen."""
    budgets = [_as_if(setting, dial, k) for k in _TIMES]
    privacy, sampling, bias = _parts(setting, budgets, seed).T
    squared = privacy + sampling / np.array(_TIMES) + bias
    low = 2 if dial == "people" else 1
    fewer = setting.moved(dial, max(getattr(setting, dial) / 4, low))
    before = _parts(fewer, budgets[-1:], seed)[0, 2]
    stays = bias[-1] >= _FLAT * max(bias[-3], before)

    def law(k: float) -> float:
        return float(np.exp(np.interp(math.log(k), np.log(_TIMES), np.log(squared))))

    return law, float(bias[-1]) if stays else 0.0


def _as_if(setting: PlannedStudy, dial: str, k: float) -> Budget:
    """Find the budget at which the present sizes have the noise of k times the people, or sites."""
    here, there = setting.budget, setting.moved(dial, k * getattr(setting, dial)).budget
    times = k if dial == "people" else math.sqrt(k)
    if here.is_pure or setting.mechanism.guarantee.is_pure:
        return replace(here, epsilon=times * here.epsilon)
    mu = times * accounting.exact_mu(there.epsilon, there.delta)
    return replace(here, epsilon=accounting.exact_epsilon(mu, here.delta))


def _parts(setting: PlannedStudy, budgets: Sequence[Budget], seed: int) -> Array:
    """Split the mean squared error at each budget into privacy noise, sampling and bias."""
    return squared_parts(setting.curves, setting.mechanism, budgets, seed)


def _over_readings(setting: PlannedStudy, seed: int) -> tuple[ErrorLaw, float]:
    """Fit the law a + b/m through the largest numbers of observations."""
    sizes = sorted({max(1, round(setting.readings * share)) for share in _FITTED}, reverse=True)
    squared = [
        _parts(setting.moved("readings", size), [setting.budget], seed).sum() for size in sizes
    ]
    return _fitted(np.array(sizes) / setting.readings, np.array(squared), 1)


def _exact(setting: PlannedStudy, dial: str) -> tuple[ErrorLaw, float] | None:
    """Fit the law through exact errors, if a formula gives them."""
    low = 2 if dial == "people" else 1
    here = getattr(setting, dial)
    sizes = sorted({max(low, round(here * share)) for share in _FITTED}, reverse=True)
    risks = [
        at.mechanism.exact_risk(at.curves, (at.budget,))
        for at in (setting.moved(dial, size) for size in sizes)
    ]
    known = [risk for risk in risks if risk is not None]
    if len(known) < len(sizes):
        return None
    return _fitted(np.array(sizes) / here, np.array(known), 2)


def _fitted(k: Array, squared: Array, power: int) -> tuple[ErrorLaw, float]:
    """Fit Σ c_j k^−j with c_j ≥ 0, j = 0 … `power`, by relative least squares; also return c_0."""
    from scipy.optimize import nnls  # on first use: it takes a moment

    powers = np.arange(power + 1)
    c, _ = nnls(k[:, None] ** -powers / squared[:, None], np.ones(len(k)))
    return (lambda times: float(c @ times ** -powers.astype(float))), float(c[0])
