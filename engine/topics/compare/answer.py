"""Methods side by side on the same curves, at every step of the slider, with one aim for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.errors import InputError, brief
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms import Mechanism
from engine.privacy import risk
from engine.privacy.accounting import exact_mu
from engine.privacy.tradeoff import Gaussian
from engine.rates.floor import least_errors
from engine.sources import Source
from engine.topics.mean.answer import (
    EPSILON_STEPS,
    MeanAnswer,
    Study,
    mean_over_budgets,
)

Draw = Callable[[Source[CurveData], Mechanism, float, int], MeanAnswer]
_EQUAL = (0.55, 0.6, 0.65, 0.7)  # right guesses at which errors may be read off


@dataclass(frozen=True)
class RefusedMethod:
    """A method that cannot use these curves or this δ, and why."""

    label: str
    mechanism: Mechanism
    problem: InputError


@dataclass(frozen=True)
class MethodAnswer:
    """A method with its picture, and its errors from what all methods aim at.

    Odds are those of a person with `units` protected units.
    """

    label: str
    mechanism: Mechanism
    picture: MeanAnswer
    study: Study
    units: int = 1

    @cached_property
    def odds(self) -> list[risk.Odds]:
        """At every budget."""
        return [risk.of_ledger(spends, self.units) for spends in self.picture.spends]

    @cached_property
    def right(self) -> Array:
        """The chance of a attacker’s accuracy, at most: (budgets,)."""
        return np.array([odds.right for odds in self.odds])

    @cached_property
    def error(self) -> Array:
        """Errors in response units, NaN where nothing is published: (budgets,)."""
        return np.where(self.picture.published, self.study.error, np.nan)


def side_by_side(source: Source[CurveData], methods: Sequence[Mechanism], delta: float, seed: int,
                 units: int = 1, draw: Draw = mean_over_budgets
                 ) -> list[MethodAnswer | RefusedMethod]:
    """Every method on the same curves; those that never need a δ get none.

    Real curves have no known truth: there all errors are from one non-private mean. `draw`
    computes; a page passes its own, which remembers.

    Parameters
    ----------
    source : Source
        Of curves.
    methods : sequence of Mechanism
    delta : float
        Of methods that need one.
    seed : int
        Of data and noise.
    units : int
        Protected units of the person whose odds are said.
    draw : callable
        As `mean_over_budgets`.

    Returns
    -------
    list of MethodAnswer or RefusedMethod
        In the order of the methods.
    """
    return [_drawn(source, method, delta, seed, units, draw) for method in methods]


def at_budgets(source: Source[CurveData], methods: Sequence[Mechanism], epsilons: Sequence[float],
               delta: float, seed: int, units: int = 1) -> list[MethodAnswer | RefusedMethod]:
    """The same as `side_by_side`, to be read at some steps of the slider.

    Parameters
    ----------
    source : Source
        Of the curves, the same for all methods.
    methods : sequence of Mechanism
        Each with its settings.
    epsilons : sequence of float
        Steps of the slider.
    delta : float
        δ of every site; methods that never need one get none.
    seed : int
        Of data and noise.
    units : int
        How many protected units a person has.

    Raises
    ------
    InputError
        For no method, what is no step, or no number of units.
    """
    if not methods or not epsilons or units < 1:
        raise InputError("There is nothing to compare.", field="methods",
                         hint="Give a method, an ε, and at least one unit of a person.")
    for epsilon in epsilons:
        step(epsilon)
    return side_by_side(source, methods, delta, seed, units)


@dataclass(frozen=True)
class Floor:
    """What no unbiased method with Gaussian noise is below, at every step of the slider.

    `errors` (steps,) in response units; `right` (steps,) the attacker’s accuracy at the μ of such
    noise, for a person with several protected units.
    """

    errors: Array
    right: Array


def floor(source: Source[CurveData], delta: float, units: int = 1) -> Floor | None:
    """The floor below all methods.

    Parameters
    ----------
    source : Source
        Of the curves.
    delta : float
        δ of every site.
    units : int
        How many protected units a person has.

    Returns
    -------
    Floor or None
        None where δ = 0, or people are not known to be normal.
    """
    budgets = [Budget(epsilon, delta) for epsilon in EPSILON_STEPS]
    least = None if delta == 0 else least_errors(source, [(budget,) for budget in budgets])
    if least is None:
        return None
    right = [float(Gaussian(units * exact_mu(budget.epsilon, budget.delta)).right())
             for budget in budgets]
    return Floor(least.errors, np.array(right))


def published(answers: Sequence[MethodAnswer | RefusedMethod]) -> list[MethodAnswer]:
    """Those that refuse nothing."""
    return [answer for answer in answers if isinstance(answer, MethodAnswer)]


def _drawn(source: Source[CurveData], method: Mechanism, delta: float, seed: int, units: int,
           draw: Draw) -> MethodAnswer | RefusedMethod:
    label = method.nearest_preset()[0]
    try:
        picture = draw(source, method, 0.0 if method.guarantee.is_pure else delta, seed)
    except InputError as problem:
        return RefusedMethod(label, method, problem)
    return MethodAnswer(label, method, picture, picture.study, units)


def step(epsilon: float) -> int:
    """The place of a budget among the steps of the slider.

    Parameters
    ----------
    epsilon : float
        A budget.

    Returns
    -------
    int
        Counted from 0.

    Raises
    ------
    InputError
        If it is none of them.
    """
    if epsilon not in EPSILON_STEPS:
        raise InputError(f"ε = {brief(epsilon)} is no step of the slider.", field="epsilons",
                         hint=f"The steps are {', '.join(f'{e:g}' for e in EPSILON_STEPS)}.")
    return EPSILON_STEPS.index(epsilon)


def at_equal_risk(answers: Sequence[MethodAnswer]) -> tuple[float, dict[str, float]]:
    """A round chance of a right guess that most methods reach, and their errors there.

    The smallest chance of those that equally many reach; NaN for methods that do not reach it.

    Parameters
    ----------
    answers : sequence of MethodAnswer

    Returns
    -------
    tuple of float and dict of str to float
        The chance, and errors in response units by the labels of methods.
    """
    by_chance = {chance: {answer.label: _error_at(answer, chance) for answer in answers}
                 for chance in _EQUAL}
    best = max(_EQUAL, key=lambda chance: (
        np.isfinite([*by_chance[chance].values()]).sum(), -chance))
    return best, by_chance[best]


def _error_at(answer: MethodAnswer, chance: float) -> float:
    """The error where the right guess is this, between steps on a log scale."""
    known = np.isfinite(answer.error)
    right, errors = answer.right[known], answer.error[known]
    if not len(right) or not right.min() <= chance <= right.max():
        return float("nan")
    return float(np.exp(np.interp(chance, right, np.log(errors))))
