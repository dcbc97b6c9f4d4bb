"""The one study behind every error that is shown: which data sets, how many releases, which noise.

A page, a command and a memo that show the same scenario run this study of it, with the seed of the
scenario, and so print the same number. How often is a matter of public sizes alone. All budgets
up to the highest step of the slider share their standard noise: a budget is always released
beside that step, so that its releases do not depend on which others are looked at together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData, Data, Estimate
from engine.mechanisms import Mechanism
from engine.mechanisms.families.adaptive import is_nothing_spent
from engine.simulation.metrics import distances, integrated_squared_errors
from engine.sources import Source

EPSILON_STEPS = (0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2,
                 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
SHOWN, FRESH = 0, 1  # block numbers of the random streams: curves on screen, and fresh data sets
SHOWN_DRAWS = 20
MOST_DATA_SETS, _FEWEST_DATA_SETS = 100, 4
_READINGS = 1_000_000  # of all fresh data sets
_FEWEST_RELEASES = 20
_MOST_DRAWS = 100  # releases of curves that cannot be drawn afresh
_MOST_WORK = 2e8  # gradient entries that the releases of such curves may cost
_ROUNDS_TIMES_SIZE = 50

D = TypeVar("D", bound=Data)
Budgets = tuple[Budget, ...]  # one for all sites, or one for each


def check_readings(source: Source[Any], most: int, hint: str = "Take fewer people or observations."
                   ) -> None:
    """Refuse data sets that are too large for a picture.

    Raises
    ------
    InputError
        Naming the number of readings and the limit.
    """
    n = source.sizes.n_observations
    if n > most:
        raise InputError(f"These sizes make {n:,} observations; a chart is drawn of at most "
                         f"{most:,}.", field="n_curves", hint=hint)


def data_sets(source: Source[Any]) -> int:
    """How many fresh data sets a study draws; one where curves are real."""
    if not source.is_random:
        return 1
    return int(np.clip(_READINGS // source.sizes.n_observations, _FEWEST_DATA_SETS,
                       MOST_DATA_SETS))


def draws(source: Source[Any]) -> int:
    """How many releases a study makes of each data set, at each budget."""
    if source.is_random:
        return -(-_FEWEST_RELEASES // data_sets(source))
    return draws_of_shown(source.sizes.n_curves)


def draws_of_shown(n_curves: int) -> int:
    """How many releases are made of curves on screen: fewer of very many, to stay prompt."""
    return int(np.clip(_MOST_WORK / (n_curves * _ROUNDS_TIMES_SIZE * len(EPSILON_STEPS)),
                       SHOWN_DRAWS, _MOST_DRAWS))


def block(source: Source[Any]) -> int:
    """The block of the random streams from which a study draws."""
    return FRESH if source.is_random else SHOWN


def data(source: Source[D], seed: int) -> D:
    """The data sets of a study."""
    return source.draw(data_sets(source), generator(seed, DATA_STREAM, block(source)))


def beside_the_highest(budgets: Sequence[Budgets]) -> list[Budgets]:
    """The budgets, and after them the highest step with the same δ, where it is not among them."""
    highest = tuple(replace(one, epsilon=max(EPSILON_STEPS[-1], one.epsilon))
                    for one in budgets[0])
    return [*budgets] if highest in budgets else [*budgets, highest]


def released(source: Source[Any], mechanism: Mechanism, drawn: Data,
             budgets: Sequence[Budgets], seed: int) -> Estimate:
    """The releases of a study at several budgets of one δ, the highest step after them."""
    return mechanism.release_many(drawn, beside_the_highest(budgets), draws(source),
                                  generator(seed, NOISE_STREAM, block(source)))


def errors(source: Source[Any], mechanism: Mechanism, drawn: Any, budgets: Sequence[Budgets],
           seed: int) -> Array:
    """Distances of the releases of a study from what the method estimates.

    Where a formula gives the mean squared error exactly, distances are scaled to it, so that their
    root mean square is the number that the formula gives.

    Parameters
    ----------
    source : Source
        Simulated data.
    mechanism : Mechanism
        With its settings.
    drawn : CurveData or SampleData
        The data sets of the study, where the noise is added.
    budgets : sequence of tuple of Budget
        Of one δ.
    seed : int
        Of data and noise.

    Returns
    -------
    (budgets, data sets, releases)
        In the unit of the result; NaN where nothing would be published.
    """
    estimate = released(source, mechanism, drawn, budgets, seed)
    total = integrated_squared_errors(estimate, mechanism.truth_of(drawn)).total
    assert total is not None
    squared = np.array(total[:len(budgets)])
    for place, asked in enumerate(budgets):
        verdict = mechanism.feasibility(drawn.sizes, asked)
        is_refused = verdict is not None and not verdict.is_feasible
        if is_refused or is_nothing_spent(estimate.spends[place]):
            squared[place] = np.nan
            continue
        exact = mechanism.exact_risk(source, asked)
        if exact is not None:
            squared[place] *= exact / squared[place].mean()
    return distances(squared)


def alike(budgets: Sequence[Budgets]) -> list[list[int]]:
    """Places of budgets that may be released together: equal δ, and ε on the slider's range."""
    groups: dict[object, list[int]] = {}
    for place, one in enumerate(budgets):
        is_on_slider = max(budget.epsilon for budget in one) <= EPSILON_STEPS[-1]
        key = tuple(budget.delta for budget in one) if is_on_slider else one
        groups.setdefault(key, []).append(place)
    return list(groups.values())


# -- the error without privacy -----------------------------------------------------------------

_TUNED_AT = (0.1, 0.3, 1.0, 2.0, 4.0, 10.0)  # steps whose basis, weights and shrinkage are tried


def baseline(source: Source[CurveData], mechanism: Mechanism, delta: float, seed: int
            ) -> float | None:
    """The error without privacy, of an estimator tuned as well as the private one.

    The smallest error, on the data sets of the study, of the method's own estimate without
    protection and of its private estimates before noise is added, each with the basis size,
    weighting, clipping and shrinkage of one of six budgets. A private release is one of these plus
    noise, so that privacy never seems to help.

    Returns
    -------
    Root mean squared distance in response units; None where the truth is unknown.
    """
    if not source.is_random:
        return None
    drawn = data(source, seed)
    if drawn.truth is None:
        return None
    budgets = [(Budget(epsilon, delta),) for epsilon in _TUNED_AT]
    estimate = mechanism.release_many(drawn, budgets, 1, generator(seed, NOISE_STREAM, FRESH))
    return least_error(mechanism, drawn, estimate, budgets)


def baseline_among(mechanism: Mechanism, drawn: CurveData, estimate: Estimate,
                   budgets: Sequence[Budget]) -> float | None:
    """The same from releases of the study at all steps of the slider."""
    places = [[budget.epsilon for budget in budgets].index(epsilon) for epsilon in _TUNED_AT]
    few = replace(estimate, unprotected=estimate.unprotected[places],
                  coefficients=estimate.coefficients[places])
    return least_error(mechanism, drawn, few, [(budgets[place],) for place in places])


def least_error(mechanism: Mechanism, drawn: CurveData, estimate: Estimate,
                budgets: Sequence[Budgets]) -> float | None:
    """The smallest error without noise: the method's own, or as tuned at one of these budgets."""
    truth = mechanism.truth_of(drawn)
    own = integrated_squared_errors(mechanism.without_protection(drawn), truth).total
    tuned = integrated_squared_errors(estimate, truth).estimation
    if own is None or tuned is None:
        return None
    squares = [float(own.mean())]
    for one, found in zip(budgets, tuned, strict=True):
        verdict = mechanism.feasibility(drawn.sizes, one)
        if verdict is None or verdict.is_feasible:
            squares.append(float(found.mean()))
    return math.sqrt(min(squares))
