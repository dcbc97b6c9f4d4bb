"""Beyond the sizes that are simulated: a number by a scaling law, or a floor of the error.

A simulator ends somewhere; nature does not. Where a target is missed at the largest size that is
simulated, the parts of the squared error there are carried on by the laws that they follow:

* over people on each site: privacy noise falls as n⁻² (and follows μ where δ moves with n),
  sampling as n⁻¹;
* over sites: both fall as S⁻¹, because every site adds noise of its own;
* bias, what the kept basis functions leave out, stays, or falls on as it was seen to fall. More
  people allow more basis functions as a larger ε does, so the bias at the same size with a hundred
  times the ε is where it ends, if that is the same with fewer people;
* over observations per person, and where errors are exact, the law a + b/x + c/x² is fitted to the
  largest sizes: what people differ in, and noise that hides a whole curve, stay.

If what stays is above the target no size reaches it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from engine.privacy import accounting
from engine.types import Array
from engine.views.preview import errors_and_shares

if TYPE_CHECKING:
    from engine.views.planner import Setting

FARTHEST = 100.0  # times the largest simulated size: laws are not carried on beyond
_DATA_SETS = 16
_FLAT = 0.8  # of a bias: if more is left, it is taken to stay
_STEPS = 60  # halvings
_FITTED = (1.0, 0.5, 0.25, 0.125)  # of the largest size, where a law is fitted

Law = Callable[[float], float]  # squared error at so many times the largest simulated size


@dataclass(frozen=True)
class Beyond:
    """What a dial does beyond `simulated`, the largest value that is simulated.

    `value` is where the target is met, by the law; None where it is met nowhere up to `most`.
    `floor` is the error that no size removes where that is above the target, else None, and `cause`
    what it consists of: "bias" or "people". `bias_falls` says that the law takes the bias to fall
    on as it was seen to fall.
    """

    simulated: float
    most: float
    value: float | None = None
    floor: float | None = None
    cause: str = ""
    bias_falls: bool = False


def beyond(setting: Setting, dial: str, target: float, error: float, seed: int) -> Beyond:
    """What more people, observations or sites than in `setting` would do.

    Parameters
    ----------
    setting : Setting
        At the largest simulated value of the dial.
    dial : "people", "readings", "sites" or "epsilon"
        Of ε, which ends where protection does, only the floor is asked: the error without noise.
    target : float
        Error to reach, in response units, below `error`.
    error : float
        What is measured at `setting`, on the scale of the target.
    """
    here = float(getattr(setting, dial))
    if dial == "epsilon":
        return _without_noise(setting, target, error, seed)
    exact = _exact(setting, dial)
    if exact is not None:
        law, floor, cause, falls = *exact, "people", False
    elif dial == "readings":
        law, floor, cause, falls = *_over_readings(setting, seed), "people", False
    else:
        law, floor, falls = _over_people(setting, dial, seed)
        cause = "bias"
    scale = error / math.sqrt(law(1.0))  # from root mean squares to what the target is about
    found = Beyond(here, FARTHEST * here, cause=cause, bias_falls=falls)
    if scale * math.sqrt(floor) >= target:
        return replace(found, floor=scale * math.sqrt(floor))
    times = _solved(lambda k: scale * math.sqrt(law(k)), target)
    return found if times is None else replace(found, value=math.ceil(here * times))


def _without_noise(setting: Setting, target: float, error: float, seed: int) -> Beyond:
    """What stays at any ε: the error that sampling and bias alone make."""
    found = Beyond(setting.epsilon, setting.epsilon, cause="people")
    if setting.mechanism.exact_risk(setting.curves, (setting.budget,)) is not None:
        return found
    last = _parts(replace(setting, epsilon=FARTHEST * setting.epsilon), seed)
    floor = error * math.sqrt(last[1:].sum() / _parts(setting, seed).sum())
    return replace(found, floor=floor) if floor >= target else found


def _solved(error: Law, target: float) -> float | None:
    """How many times the size a falling error meets the target; None if not by `FARTHEST`."""
    if error(FARTHEST) > target:
        return None
    low, high = 0.0, math.log(FARTHEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if error(math.exp(middle)) > target else (low, middle)
    return math.exp(high)


# -- laws -----------------------------------------------------------------------------------


def _over_people(setting: Setting, dial: str, seed: int) -> tuple[Law, float, bool]:
    """The law over people or sites, what of it stays, and whether the bias still falls."""
    here = float(getattr(setting, dial))
    fixed = replace(setting, delta=setting.budget.delta)
    fewer = fixed.moved(dial, max(here / 4, 2))
    privacy, sampling, bias = _parts(fixed, seed)
    before, (last, last_before) = _parts(fewer, seed)[2], _last_bias(fixed, fewer, seed)
    floor = min(last, bias) if last >= _FLAT * last_before else 0.0
    falls = bool(floor < _FLAT * bias)
    speed = min(max(math.log(before / max(bias, 1e-300)), 0.0) / math.log(4), 2.0)
    if floor > 0:  # it gets there by a hundred times the size
        speed = max(speed, math.log(bias / floor) / math.log(FARTHEST))
    power = 2 if dial == "people" else 1

    def law(k: float) -> float:
        return float(privacy * k**-power * _noisier(setting, dial, here * k) + sampling / k
                     + max(bias * k**-speed, floor))

    return law, floor, falls


def _last_bias(setting: Setting, fewer: Setting, seed: int) -> tuple[float, float]:
    """The bias where noise hardly counts, at this size and with fewer people."""
    last, before = (float(_parts(replace(one, epsilon=FARTHEST * one.epsilon), seed)[2])
                    for one in (setting, fewer))
    return last, before


def _noisier(setting: Setting, dial: str, value: float) -> float:
    """By what δ = 1/n², which falls with people, multiplies the variance of the noise."""
    if setting.delta is not None or setting.mechanism.guarantee == "pure":
        return 1.0
    here, there = setting.budget, setting.moved(dial, value).budget
    return (accounting.exact_mu(here.epsilon, here.delta)
            / accounting.exact_mu(there.epsilon, there.delta)) ** 2


def _parts(setting: Setting, seed: int) -> Array:
    """Mean squared error split into privacy noise, sampling and bias: (3,)."""
    errors, shares = errors_and_shares(setting.curves, setting.mechanism, setting.budget, seed,
                                       _DATA_SETS)
    return np.asarray(shares * (errors**2).mean())


def _over_readings(setting: Setting, seed: int) -> tuple[Law, float]:
    """The law a + b/m through the largest numbers of observations."""
    sizes = sorted({max(1, round(setting.readings * share)) for share in _FITTED}, reverse=True)
    squared = [_parts(setting.moved("readings", size), seed).sum() for size in sizes]
    return _fitted(np.array(sizes) / setting.readings, np.array(squared), 1)


def _exact(setting: Setting, dial: str) -> tuple[Law, float] | None:
    """The law through exact errors, where a formula gives them."""
    low = 2 if dial == "people" else 1
    here = getattr(setting, dial)
    sizes = sorted({max(low, round(here * share)) for share in _FITTED}, reverse=True)
    risks = [at.mechanism.exact_risk(at.curves, (at.budget,)) for at in
             (setting.moved(dial, size) for size in sizes)]
    known = [risk for risk in risks if risk is not None]
    if len(known) < len(sizes):
        return None
    return _fitted(np.array(sizes) / here, np.array(known), 2)


def _fitted(k: Array, squared: Array, power: int) -> tuple[Law, float]:
    """Σ c_j k^−j with c_j ≥ 0, j = 0 … `power`, by relative least squares; and c_0."""
    powers = np.arange(power + 1)
    c, _ = nnls(k[:, None] ** -powers / squared[:, None], np.ones(len(k)))
    return (lambda times: float(c @ times ** -powers.astype(float))), float(c[0])
