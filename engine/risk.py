"""What an attacker can gain, worked out from the noise that was really added.

The attacker knows every other curve and has narrowed one person's curve down to two. A mechanism
with Gaussian-type noise is described by one number, its total Gaussian-DP parameter μ: telling the
two curves apart is then as hard as telling N(0, 1) from N(μ, 1). The functions ending in `_cap`
say what (ε, δ) alone would allow; they are all there is for a mechanism whose noise is not
Gaussian. Every function works elementwise on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, ndtri

from engine.errors import InputError
from engine.types import Budget

FALSE_ALARMS = 0.05  # of the careful attacker
FIRST_GUESSES = (0.01, 0.1, 0.5)  # how likely the attacker held the curve to be before looking
_LARGEST_EXPONENT = 700.0  # e^700 is still finite; beyond it every cap is 1 anyway

Chances = NDArray[np.float64]


@dataclass(frozen=True)
class Odds:
    """The chances shown for one person; each is an upper bound for this attacker.

    `right` is a right guess between two curves, `detected` the share of right catches at
    `false_alarms`, `flagged_right` the share of flags that are right when the first guess is
    `first_guess`. The two caps are what the budget alone allows. `from_noise` is False when the
    caps are all that is known of the mechanism.
    """

    budget: Budget
    right: float
    detected: float
    flagged_right: float
    right_cap: float
    detected_cap: float
    first_guess: float = 0.5
    false_alarms: float = FALSE_ALARMS
    from_noise: bool = True


def odds(mu: float | None, budget: Budget, first_guess: float = 0.5) -> Odds:
    """All chances for one budget; `mu` is None when the noise is not of Gaussian type."""
    epsilon, delta = budget.epsilon, budget.delta
    right_most = float(right_guess_cap(epsilon, delta))
    detected_most = float(detection_cap(epsilon, delta))
    right = right_most if mu is None else float(right_guess(mu))
    detected = detected_most if mu is None else float(detection(mu))
    flagged = float(_precision(detected, first_guess, FALSE_ALARMS))
    return Odds(budget, right, detected, flagged, right_most, detected_most, first_guess,
                from_noise=mu is not None)


def right_guess(mu: ArrayLike) -> Chances:
    """Chance Φ(μ/2) of choosing the right one of two curves that seemed equally likely."""
    return np.asarray(ndtr(_at_least_zero(mu, "mu") / 2))


def detection(mu: ArrayLike, false_alarms: ArrayLike = FALSE_ALARMS) -> Chances:
    """Chance Φ(Φ⁻¹(α) + μ) of catching the right curve when a share α of flags may be false."""
    return np.asarray(ndtr(ndtri(_chance(false_alarms, "false_alarms"))
                           + _at_least_zero(mu, "mu")))


def flagged_right(
    mu: ArrayLike, first_guess: ArrayLike, false_alarms: ArrayLike = FALSE_ALARMS
) -> Chances:
    """Share of the people such an attacker flags who are rightly flagged (the precision)."""
    return _precision(detection(mu, false_alarms), first_guess, false_alarms)


def right_guess_cap(epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Chances:
    """Largest chance of a right guess that (ε, δ) allows: (e^ε + δ) / (e^ε + 1)."""
    epsilon = _at_least_zero(epsilon, "epsilon")
    return np.asarray(expit(epsilon) + _delta(delta) * expit(-epsilon))


def detection_cap(
    epsilon: ArrayLike, delta: ArrayLike = 0.0, false_alarms: ArrayLike = FALSE_ALARMS
) -> Chances:
    """Largest detection that (ε, δ) allows: the lower of the two lines of its trade-off."""
    epsilon = np.minimum(_at_least_zero(epsilon, "epsilon"), _LARGEST_EXPONENT)
    delta, alpha = _delta(delta), _chance(false_alarms, "false_alarms")
    few_alarms = np.exp(epsilon) * alpha + delta
    many_alarms = 1 - np.exp(-epsilon) * (1 - delta - alpha)
    return np.clip(np.minimum(few_alarms, many_alarms), 0.0, 1.0)


def flagged_right_cap(
    epsilon: ArrayLike,
    delta: ArrayLike,
    first_guess: ArrayLike,
    false_alarms: ArrayLike = FALSE_ALARMS,
) -> Chances:
    """Largest share of right flags that (ε, δ) allows."""
    return _precision(detection_cap(epsilon, delta, false_alarms), first_guess, false_alarms)


def _precision(detected: ArrayLike, first_guess: ArrayLike, false_alarms: ArrayLike) -> Chances:
    prior = _chance(first_guess, "first_guess")
    hits = prior * np.asarray(detected)
    return np.asarray(hits / (hits + (1 - prior) * _chance(false_alarms, "false_alarms")))


def _at_least_zero(value: ArrayLike, field: str) -> Chances:
    array = np.asarray(value, dtype=float)
    if not (array >= 0).all():  # also refuses NaN
        raise InputError(f"“{field}” must not be negative or missing.", field=field)
    return array


def _chance(value: ArrayLike, field: str) -> Chances:
    array = np.asarray(value, dtype=float)
    if not ((array > 0) & (array < 1)).all():
        raise InputError(f"“{field}” must lie between 0 and 1, both excluded.", field=field,
                         hint="For 5 in 100 use 0.05.")
    return array


def _delta(value: ArrayLike) -> Chances:
    array = np.asarray(value, dtype=float)
    if not ((array >= 0) & (array < 1)).all():
        raise InputError("δ must be at least 0 and below 1.", field="delta",
                         hint="Choose δ below 1/n, for example 1/n².")
    return array
