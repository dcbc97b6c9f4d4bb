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
from engine.topics.mean.answer import EPSILON_STEPS, MeanAnswer, MeanStudy, mean_over_budgets

# From source, mechanism, δ and seed to the releases at every step of the slider.
RunMethod = Callable[[Source[CurveData], Mechanism, float, int], MeanAnswer]
_ROUND_ACCURACIES = (0.55, 0.6, 0.65, 0.7)  # of the attacker, where errors may be read off


@dataclass(frozen=True)
class RefusedMethod:
    """A method that cannot use these curves or this δ, and why."""

    label: str
    mechanism: Mechanism
    problem: InputError


@dataclass(frozen=True)
class MethodAnswer:
    """A method with its releases, and its errors from what all methods aim at."""

    label: str
    mechanism: Mechanism
    picture: MeanAnswer  # its releases at every step of the slider
    study: MeanStudy  # its errors over repetitions, at the same budgets
    units: int = 1

    @cached_property
    def odds(self) -> list[risk.Odds]:
        return [risk.of_ledger(spends, self.units) for spends in self.picture.spends]

    @cached_property
    def attacker_accuracy(self) -> Array:
        """Upper bound on the attacker’s accuracy at every budget: (budgets,), from 0.5 to 1."""
        return np.array([odds.right for odds in self.odds])

    @cached_property
    def error(self) -> Array:
        """Errors in response units, NaN where nothing is published: (budgets,)."""
        return np.where(self.picture.published, self.study.error, np.nan)


def side_by_side(
    source: Source[CurveData],
    methods: Sequence[Mechanism],
    delta: float,
    seed: int,
    units: int = 1,
    run_method: RunMethod = mean_over_budgets,
) -> list[MethodAnswer | RefusedMethod]:
    """Run every method on the same curves, at every step of the slider; pure methods have δ = 0.

    A page passes its own `run_method`, which keeps results.
    """
    return [_run(source, method, delta, seed, units, run_method) for method in methods]


def at_budgets(
    source: Source[CurveData],
    methods: Sequence[Mechanism],
    epsilons: Sequence[float],
    delta: float,
    seed: int,
    units: int = 1,
) -> list[MethodAnswer | RefusedMethod]:
    """The same as `side_by_side`, for a reader who looks at some steps of the slider only.

    Every step is computed, as in `side_by_side`; `epsilons` says which of them the numbers and the
    chart of the question show.

    Parameters
    ----------
    source : Source
        The curves, the same for all methods.
    methods : sequence of Mechanism
        Each with its settings.
    epsilons : sequence of float
        Steps of the slider that are shown; checked here, and used by the question.
    delta : float
        δ of every site; methods of pure differential privacy run with δ = 0.
    seed : int
        Fixes the simulated data and the noise.
    units : int
        How many protected units the person has whose odds are computed.

    Returns
    -------
    list of MethodAnswer or RefusedMethod
        In the order of the methods, each at every step of the slider.

    Raises
    ------
    InputError
        If there is no method or no ε, an ε is not one of `EPSILON_STEPS`, or `units` < 1.
    """
    if not methods or not epsilons or units < 1:
        raise InputError(
            "There is nothing to compare.",
            field="methods",
            hint="Give a method, an ε, and at least one unit of a person.",
        )
    for epsilon in epsilons:
        index_of_epsilon(epsilon)  # refuses what is no step
    return side_by_side(source, methods, delta, seed, units)


@dataclass(frozen=True)
class Floor:
    """Lower limit of errors of unbiased methods with Gaussian noise, at every step of the slider.

    `errors` (steps,) in response units; `attacker_accuracy` (steps,) at the μ of such noise, for a
    person with several protected units.
    """

    errors: Array
    attacker_accuracy: Array


def floor(source: Source[CurveData], delta: float, units: int = 1) -> Floor | None:
    """Compute the error floor of unbiased methods; None for δ = 0 or people who are not normal."""
    budgets = [Budget(epsilon, delta) for epsilon in EPSILON_STEPS]
    smallest = None if delta == 0 else least_errors(source, [(budget,) for budget in budgets])
    if smallest is None:
        return None
    accuracies = [
        float(Gaussian(units * exact_mu(budget.epsilon, budget.delta)).right())
        for budget in budgets
    ]
    return Floor(smallest.errors, np.array(accuracies))


def not_refused(answers: Sequence[MethodAnswer | RefusedMethod]) -> list[MethodAnswer]:
    """Keep the methods that can use these curves and this δ, in the same order."""
    return [answer for answer in answers if isinstance(answer, MethodAnswer)]


def _run(
    source: Source[CurveData],
    method: Mechanism,
    delta: float,
    seed: int,
    units: int,
    run_method: RunMethod,
) -> MethodAnswer | RefusedMethod:
    label = method.nearest_preset()[0]
    try:
        picture = run_method(source, method, 0.0 if method.guarantee.is_pure else delta, seed)
    except InputError as problem:
        return RefusedMethod(label, method, problem)
    return MethodAnswer(label, method, picture, picture.study, units)


def index_of_epsilon(epsilon: float) -> int:
    """Find the index of a budget among the steps of the slider, from 0; refuse any other."""
    if epsilon not in EPSILON_STEPS:
        raise InputError(
            f"ε = {brief(epsilon)} is no step of the slider.",
            field="epsilons",
            hint=f"The steps are {', '.join(f'{e:g}' for e in EPSILON_STEPS)}.",
        )
    return EPSILON_STEPS.index(epsilon)


def at_equal_risk(answers: Sequence[MethodAnswer]) -> tuple[float, dict[str, float]]:
    """Find a round accuracy of the attacker that most methods reach, and their errors there.

    The smallest of those that equally many methods reach. Errors are NaN for methods that do not.
    """
    by_accuracy = {
        accuracy: {answer.label: _error_at(answer, accuracy) for answer in answers}
        for accuracy in _ROUND_ACCURACIES
    }
    best = max(
        _ROUND_ACCURACIES,
        key=lambda accuracy: (np.isfinite([*by_accuracy[accuracy].values()]).sum(), -accuracy),
    )
    return best, by_accuracy[best]


def _error_at(answer: MethodAnswer, accuracy: float) -> float:
    """Interpolate the error at an accuracy of the attacker, on a log scale unless some are 0."""
    known = np.isfinite(answer.error)
    accuracies, errors = answer.attacker_accuracy[known], answer.error[known]
    if not len(accuracies) or not accuracies.min() <= accuracy <= accuracies.max():
        return float("nan")
    if not errors.all():  # such as of a flat line whose noise is shrunk away
        return float(np.interp(accuracy, accuracies, errors))
    return float(np.exp(np.interp(accuracy, accuracies, np.log(errors))))
