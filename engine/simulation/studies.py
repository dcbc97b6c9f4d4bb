"""The one study behind every error that is shown: which data sets, how many releases, which noise.

A page, a command and a memo that show the same scenario run this study of it, with the seed of the
scenario, and so print the same number. How often is a matter of public sizes alone. All budgets
up to the highest step of the slider share their standard noise: a budget is always released
beside that step, so that its releases do not depend on which others are looked at together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from engine.core.errors import InputError
from engine.core.grids import read_only
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, Budget, CurveData, Data, DataKind, Estimate, Sizes, Spend
from engine.mechanisms import Mechanism
from engine.mechanisms.families.adaptive.rules import is_nothing_spent
from engine.mechanisms.study import Study
from engine.simulation import metrics
from engine.simulation.metrics import distances, root_mean_square, squared_distances_from, totals
from engine.simulation.non_private import non_private_mean
from engine.sources import Source

EPSILON_STEPS = (
    0.05,
    0.06,
    0.08,
    0.1,
    0.12,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
    0.6,
    0.8,
    1.0,
    1.2,
    1.5,
    2.0,
    2.5,
    3.0,
    4.0,
    5.0,
    6.0,
    8.0,
    10.0,
)
BUDGET_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # where errors are drawn over ε
SHOWN, FRESH = 0, 1  # block numbers of the random streams: curves on screen, and fresh data sets
SHOWN_DRAWS = 20
MAX_DATA_SETS, _FEWEST_DATA_SETS = 100, 4
_READINGS = 1_000_000  # of all fresh data sets
_FEWEST_RELEASES, _ENOUGH_RELEASES = 20, 100  # of all data sets; so many where that is quick
_RELEASED_READINGS = 20_000_000  # of all releases of a study at one budget
_MAX_DRAWS = 100  # releases of curves that cannot be drawn afresh
_MAX_WORK = 2e8  # gradient entries that the releases of such curves may cost
_ROUNDS_TIMES_SIZE = 50

D = TypeVar("D", bound=Data)
Budgets = tuple[Budget, ...]  # one for all sites, or one for each


def check_readings(
    source: Source[Any], max_observations: int, hint: str = "Take fewer people or observations."
) -> None:
    """Refuse data sets that are too large for a picture."""
    n = source.sizes.n_observations
    if n > max_observations:
        raise InputError(
            f"These sizes make {n:,} observations; a chart is drawn of at most "
            f"{max_observations:,}.",
            field="n_curves",
            hint=hint,
        )


def data_sets(source: Source[Any]) -> int:
    """Count the fresh data sets of a study; one if curves are real."""
    if not source.is_random:
        return 1
    max_data_sets = min(MAX_DATA_SETS, source.most_data_sets or MAX_DATA_SETS)
    return int(
        np.clip(_READINGS // source.n_drawn, min(_FEWEST_DATA_SETS, max_data_sets), max_data_sets)
    )


def draws(source: Source[Any]) -> int:
    """Count the releases of a study from each data set, at each budget."""
    if source.is_random:
        return -(-_draws_for_shares(source) // data_sets(source))
    return draws_of_shown(source.sizes.n_curves)


def _draws_for_shares(source: Source[Any]) -> int:
    """Count the releases for a share of 95 %: as many as are enough, if that is quick."""
    enough = _ENOUGH_RELEASES if source.most_data_sets is None else _FEWEST_RELEASES
    return int(
        np.clip(
            _RELEASED_READINGS // source.n_drawn, _FEWEST_RELEASES, max(enough, _FEWEST_RELEASES)
        )
    )


def draws_of_shown(n_curves: int) -> int:
    """Count the releases of curves on screen: fewer of very many, to stay prompt."""
    return int(
        np.clip(
            _MAX_WORK / (n_curves * _ROUNDS_TIMES_SIZE * len(EPSILON_STEPS)),
            SHOWN_DRAWS,
            _MAX_DRAWS,
        )
    )


def block(source: Source[Any]) -> int:
    """The block of the random streams from which a study draws: one data set is that on screen."""
    return FRESH if data_sets(source) > 1 else SHOWN


def beside_the_highest(budgets: Sequence[Budgets]) -> list[Budgets]:
    """The budgets, and after them the highest step with the same δ, where it is not among them."""
    highest = tuple(
        replace(budget, epsilon=max(EPSILON_STEPS[-1], budget.epsilon)) for budget in budgets[0]
    )
    return [*budgets] if highest in budgets else [*budgets, highest]


def data_on_screen(source: Source[D], seed: int) -> D:
    """Return the one data set on screen."""
    return source.draw(1, generator(seed, DATA_STREAM, SHOWN))


def shown_releases(
    mechanism: Mechanism,
    drawn: Data,
    budgets: Sequence[Budgets],
    seed: int,
    draws: int = SHOWN_DRAWS,
) -> Estimate:
    """Releases of the data set on screen, at every budget with the same standard noise.

    Releases at a budget do not depend on the others where these are `beside_the_highest`.
    """
    return mechanism.release_many(drawn, budgets, draws, generator(seed, NOISE_STREAM, SHOWN))


def data(study: Study[D]) -> D:
    """Draw the data sets of a study."""
    source = study.source
    return source.draw(data_sets(source), generator(study.seed, DATA_STREAM, block(source)))


def released(study: Study[Any], drawn: Data, budgets: Sequence[Budgets]) -> Estimate:
    """Release the data sets at several budgets of one δ, the highest step after them.

    `drawn` are the data sets, at the place where noise is added. Here and below, `budgets` take the
    place of the study's own.
    """
    return study.mechanism.release_many(
        drawn,
        beside_the_highest(budgets),
        draws(study.source),
        generator(study.seed, NOISE_STREAM, block(study.source)),
    )


def errors(study: Study[Any], drawn: Data, budgets: Sequence[Budgets]) -> Array:
    """Distances of releases from what the method estimates: (budgets, data sets, releases).

    In the unit of the result, of all functions together; NaN where nothing would be published.
    """
    return errors_of(study, drawn, released(study, drawn, budgets), budgets)


def errors_of(
    study: Study[Any], drawn: Data, estimate: Estimate, budgets: Sequence[Budgets]
) -> Array:
    """Measure the `errors` of releases that are there already: (budgets, data sets, releases)."""
    return totals(_distances(study, drawn, estimate, budgets))


def errors_by_function(study: Study[Any], budgets: Sequence[Budgets]) -> Array:
    """Errors by function: (budgets, data sets, releases, functions); `totals` gives `errors`."""
    drawn = data(study)
    return _distances(study, drawn, released(study, drawn, budgets), budgets)


def errors_and_baseline(study: Study[Any]) -> tuple[Array, Array | None]:
    """Errors at the study's own budgets, (data sets, releases, functions), and without privacy."""
    return errors_by_function(study, [study.budgets])[0], baseline_by_function(study)


def squared_errors(
    study: Study[Any], drawn: Any, estimate: Estimate, budgets: Sequence[Budgets]
) -> Array:
    """Compute squared distances of releases: (budgets, data sets, releases, functions).

    They are measured from what the method estimates, or if that is not known from what would be
    published without privacy: for a mean curve the non-private mean of all methods, else their own
    estimate. Where a formula gives the mean squared error exactly, they are scaled to it, so that
    their mean is the number that the formula gives. They are in squared units of the result.
    `estimate` holds releases at the budgets, and perhaps at others after them.
    """
    source, mechanism = study.source, study.mechanism
    truth = mechanism.truth_of(drawn)
    if truth is None:
        non_private = (
            non_private_mean(source)
            if mechanism.main_task is MEAN_FUNCTION and not source.is_random
            else mechanism.without_protection(drawn)
        )
        return squared_distances_from(estimate, non_private)[: len(budgets)]
    squared = np.array(metrics.errors_by_function(estimate, truth)[: len(budgets)])
    for index, site_budgets in enumerate(budgets):
        if is_published(mechanism, drawn.sizes, site_budgets, estimate.spends[index]):
            exact = mechanism.exact_risk(source, site_budgets)
            if exact is not None:
                squared[index] *= exact / squared[index].sum(axis=-1).mean()
    return squared


def _distances(
    study: Study[Any], drawn: Any, estimate: Estimate, budgets: Sequence[Budgets]
) -> Array:
    """Compute distances (budgets, data sets, releases, functions); NaN: nothing published."""
    squared = squared_errors(study, drawn, estimate, budgets)
    for index, site_budgets in enumerate(budgets):
        if not is_published(study.mechanism, drawn.sizes, site_budgets, estimate.spends[index]):
            squared[index] = np.nan
    return distances(squared)


def baseline(study: Study[Any]) -> float | None:
    """Measure the error without privacy, of an estimator tuned as well as the private one.

    The smallest error, on the data sets of the study, of the method's own estimate without
    protection and of its private estimates before noise is added, each with the basis size,
    weighting, clipping and shrinkage of one of six budgets. A private release is one of these plus
    noise, so that privacy never seems to help. None if the truth is unknown.
    """
    by_function = baseline_by_function(study)
    return None if by_function is None else float(totals(by_function))


def baseline_by_function(study: Study[Any]) -> Array | None:
    """Measure the error of each function of the estimate that gives `baseline`: (functions,).

    It depends on δ, not on ε, and is worked out once for simulated data; of what people stated of
    theirs nothing is kept.
    """
    source = study.source
    if not source.is_random:
        return None
    least = _kept_baseline if source.facts.kind is DataKind.SIMULATED else _baseline
    return least(source, study.mechanism, study.delta, study.seed, data_sets(source))


def errors_over_budgets(
    source: Source[Any],
    mechanism: Mechanism,
    delta: float,
    seed: int,
    epsilons: Sequence[float] = BUDGET_STEPS,
) -> Array:
    """Compute the error of each function at every ε, (epsilons, functions); NaN if unpublished."""
    budgets = [(Budget(epsilon, delta),) for epsilon in epsilons]
    study = Study(source=source, mechanism=mechanism, budgets=budgets[-1], seed=seed)
    return root_mean_square(errors_by_function(study, budgets), axis=(1, 2))


def is_published(
    mechanism: Mechanism, sizes: Sizes, budgets: Budgets, spends: Sequence[Spend]
) -> bool:
    """True if a method publishes anything at these sizes and budgets."""
    verdict = mechanism.feasibility(sizes, budgets)
    return (verdict is None or verdict.is_feasible) and not is_nothing_spent(spends)


def with_present(
    epsilons: Sequence[float], errors: Array, epsilon: float, error: Array | float
) -> tuple[list[float], Array]:
    """Insert the ε on screen and its error into the steps of ε and their errors.

    Returned steps (epsilons,) increase; errors are (epsilons, ...).
    """
    rows = {**dict(zip(epsilons, errors, strict=True)), epsilon: error}
    steps = sorted(rows)
    return steps, np.array([rows[step] for step in steps])


def grouped_by_delta(budgets: Sequence[Budgets]) -> list[list[int]]:
    """Places of budgets that may be released together: equal δ, and ε on the slider's range."""
    groups: dict[object, list[int]] = {}
    for index, per_server in enumerate(budgets):
        is_on_slider = max(budget.epsilon for budget in per_server) <= EPSILON_STEPS[-1]
        key = tuple(budget.delta for budget in per_server) if is_on_slider else per_server
        groups.setdefault(key, []).append(index)
    return list(groups.values())


# -- the error without privacy -----------------------------------------------------------------

_TUNED_AT = (0.1, 0.3, 1.0, 2.0, 4.0, 10.0)  # steps whose basis, weights and shrinkage are tried


def _baseline(
    source: Source[Any], mechanism: Mechanism, delta: float, seed: int, n_data_sets: int
) -> Array | None:
    drawn = source.draw(n_data_sets, generator(seed, DATA_STREAM, block(source)))
    if mechanism.truth_of(drawn) is None:
        return None
    budgets = [(Budget(epsilon, delta),) for epsilon in _TUNED_AT]
    estimate = mechanism.release_many(drawn, budgets, 1, generator(seed, NOISE_STREAM, FRESH))
    least = least_errors(mechanism, drawn, estimate, budgets)
    return None if least is None else read_only(least)


_kept_baseline = lru_cache(maxsize=64)(_baseline)  # a few numbers each


def baseline_among(
    mechanism: Mechanism, drawn: CurveData, estimate: Estimate, budgets: Sequence[Budget]
) -> float | None:
    """The same from releases of the study at all steps of the slider."""
    indices = [[budget.epsilon for budget in budgets].index(epsilon) for epsilon in _TUNED_AT]
    few = replace(
        estimate,
        unprotected=estimate.unprotected[indices],
        coefficients=estimate.coefficients[indices],
    )
    return _least_error(mechanism, drawn, few, [(budgets[index],) for index in indices])


def _least_error(
    mechanism: Mechanism, drawn: CurveData, estimate: Estimate, budgets: Sequence[Budgets]
) -> float | None:
    """The smallest error without noise: the method's own, or as tuned at one of these budgets."""
    by_function = least_errors(mechanism, drawn, estimate, budgets)
    return None if by_function is None else float(totals(by_function))


def least_errors(
    mechanism: Mechanism, drawn: Any, estimate: Estimate, budgets: Sequence[Budgets]
) -> Array | None:
    """The errors (functions,) of the estimate that has the smallest error of all together."""
    truth = mechanism.truth_of(drawn)
    if truth is None:
        return None
    unprotected = metrics.errors_by_function(mechanism.without_protection(drawn), truth)
    tuned = metrics.errors_by_function(
        replace(estimate, coefficients=estimate.unprotected[:, :, None]), truth
    )
    candidates = [unprotected.mean(axis=(0, 1, 2))]
    for site_budgets, squares in zip(budgets, tuned, strict=True):
        verdict = mechanism.feasibility(drawn.sizes, site_budgets)
        if verdict is None or verdict.is_feasible:
            candidates.append(squares.mean(axis=(0, 1)))
    return distances(min(candidates, key=lambda squares: float(squares.sum())))
