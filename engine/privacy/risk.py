"""What an attacker can gain, worked out from the noise that was really added.

The attacker knows every other curve and has narrowed one person's curve down to two. What they can
do is in the trade-off curve of the noise (`engine.privacy.tradeoff`), which `accounting.trade_off` finds
for a ledger: with Gaussian noise, of total μ, telling the two apart is as hard as telling N(0, 1)
from N(μ, 1). The functions ending in `_cap` say what (ε, δ) alone would allow, whatever the noise.
Those of μ and the caps work elementwise on arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr, ndtri

from engine.errors import InputError
from engine.privacy import accounting
from engine.privacy.tradeoff import Approximate, Chances, Curve, Gaussian, at_least_zero
from engine.types import Budget, Spend

FALSE_ALARMS = 0.05  # of the careful attacker
FEW_FALSE_ALARMS = 0.01  # of a very careful one
FIRST_GUESSES = (0.01, 0.1, 0.5)  # how likely the attacker held the curve to be before looking
_LARGEST_EXPONENT = 700.0  # e^700 is still finite; beyond it every cap is 1 anyway


@dataclass(frozen=True)
class Odds:
    """The chances shown for one person; each is an upper bound for this attacker.

    `right` is a right guess between two curves that seemed equally likely, `guessed` the same where
    one of them had the chance `first_guess`. `detected` is the share of right catches at
    `false_alarms`, `rarely` that at `FEW_FALSE_ALARMS`, `flagged_right` the share of flags that are
    right when the first guess is `first_guess`. The two caps are what the budget alone allows.
    `curve` is what all of it is read off, and `group` how many protected units the person has.
    """

    budget: Budget
    right: float
    detected: float
    flagged_right: float
    right_cap: float
    detected_cap: float
    first_guess: float = 0.5
    false_alarms: float = FALSE_ALARMS
    rarely: float = FEW_FALSE_ALARMS
    guessed: float = 0.5
    curve: Curve | None = None
    group: int = 1

    @property
    def from_noise(self) -> bool:
        """Whether more is known of the noise than its budget."""
        return self.curve is not None and self.curve.name != "budget"


def of_ledger(spends: Sequence[Spend], group: int = 1, first_guess: float = 0.5) -> Odds:
    """For one person at the server that is protected least, who has `group` protected units.

    The budget is the one that all of this proves: exact for one unit, larger for several.
    """
    own = accounting.weakest(accounting.for_group(spends, group))
    return odds(accounting.trade_off(own), accounting.proved(own), first_guess, group)


def odds(found: Curve | float | None, budget: Budget, first_guess: float = 0.5, group: int = 1
         ) -> Odds:
    """All chances from a curve, or from the μ of Gaussian noise; else what the budget allows."""
    cap = Approximate(budget)
    curve = cap if found is None else found if isinstance(found, Curve) else Gaussian(found)
    alarms = np.array([FALSE_ALARMS, FEW_FALSE_ALARMS])
    detected, rarely = map(float, np.minimum(curve.detection(alarms), cap.detection(alarms)))
    flagged = float(_precision(detected, first_guess, FALSE_ALARMS))
    right = min(float(curve.right()), float(cap.right()))  # both hold
    return Odds(budget, right, detected, flagged, float(cap.right()),
                float(cap.detection(FALSE_ALARMS)), first_guess, rarely=rarely, curve=curve,
                guessed=float(curve.right(_chance(first_guess, "first_guess"))), group=group)


def right_guess(mu: ArrayLike) -> Chances:
    """Chance Φ(μ/2) of choosing the right one of two curves that seemed equally likely."""
    return np.asarray(ndtr(at_least_zero(mu, "mu") / 2))


def detection(mu: ArrayLike, false_alarms: ArrayLike = FALSE_ALARMS) -> Chances:
    """Chance Φ(Φ⁻¹(α) + μ) of catching the right curve when a share α of flags may be false."""
    return np.asarray(ndtr(ndtri(_chance(false_alarms, "false_alarms"))
                           + at_least_zero(mu, "mu")))


def flagged_right(
    mu: ArrayLike, first_guess: ArrayLike, false_alarms: ArrayLike = FALSE_ALARMS
) -> Chances:
    """Share of the people such an attacker flags who are rightly flagged (the precision)."""
    return _precision(detection(mu, false_alarms), first_guess, false_alarms)


def right_guess_cap(epsilon: ArrayLike, delta: ArrayLike = 0.0) -> Chances:
    """Largest chance of a right guess that (ε, δ) allows: (e^ε + δ) / (e^ε + 1)."""
    epsilon = at_least_zero(epsilon, "epsilon")
    return np.asarray(expit(epsilon) + _delta(delta) * expit(-epsilon))


def detection_cap(
    epsilon: ArrayLike, delta: ArrayLike = 0.0, false_alarms: ArrayLike = FALSE_ALARMS
) -> Chances:
    """Largest detection that (ε, δ) allows: the lower of the two lines of its trade-off."""
    epsilon = np.minimum(at_least_zero(epsilon, "epsilon"), _LARGEST_EXPONENT)
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
