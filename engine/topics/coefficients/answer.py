"""What a varying-coefficient model would publish, function by function, and what it costs.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.bands import limits
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget, CurveData, Estimate, PublicFacts, Spend
from engine.mechanisms import Mechanism
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.experiments import DATA_STREAM, NOISE_STREAM, generator
from engine.simulation.metrics import distances, errors_by_function, root_mean_square, within
from engine.simulation.studies import SHOWN, SHOWN_DRAWS, check_readings
from engine.sources import Source

BUDGET_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_MOST_READINGS = 1_000_000  # of one data set on screen


@dataclass(frozen=True)
class CoefficientsAnswer:
    """One data set with its possible releases at one budget, on `times` in their own unit.

    K functions, the intercept first, in response units: `releases`, `low` and `high` (draws, K,
    GRID_SIZE), `without` and `truth` (K, GRID_SIZE). `low` and `high` are the bands that come with
    each release. `errors` (K, releases) are distances from the truth where it is known, else from
    the functions without protection; `baseline` (K,) is the error of those. `warnings` are the
    cautions that releases carry, each with the share of `releases` that do; those of the first one
    alone are in `first_warnings`.
    """

    data: CurveData
    names: tuple[str, ...]
    budget: Budget
    times: Array
    releases: Array
    low: Array | None
    high: Array | None
    without: Array
    truth: Array | None
    errors: Array
    baseline: Array | None
    spends: tuple[Spend, ...]
    tuning: dict[str, Any]
    feasibility: Feasibility | None
    warnings: tuple[tuple[str, float], ...] = ()
    first_warnings: tuple[str, ...] = ()

    @property
    def facts(self) -> PublicFacts:
        """Names, units and ranges of the curves."""
        return self.data.facts

    @property
    def is_refused(self) -> bool:
        """Whether nothing would be published, because nothing useful could be."""
        return self.feasibility is not None and not self.feasibility.is_feasible

    def difference(self) -> CoefficientsAnswer:
        """The same less the functions without protection: what protection alone does."""
        def less(curves: Array | None) -> Array | None:
            return None if curves is None else np.asarray(curves - self.without)

        return replace(self, releases=self.releases - self.without, low=less(self.low),
                       high=less(self.high), truth=less(self.truth),
                       without=np.zeros_like(self.without))

    @property
    def error(self) -> Array:
        """The root mean squared distance of each function: (K,)."""
        return root_mean_square(self.errors)

    @property
    def within(self) -> float:
        """The distance, over all functions, that 95 % of the releases stay within."""
        return float(within(np.sqrt((self.errors**2).sum(axis=0))))


def coefficients_answer(source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
                     ) -> CoefficientsAnswer:
    """Draw, release at one budget, and measure.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        Of every site.
    seed : int
        Of data and noise.

    Returns
    -------
    CoefficientsAnswer
        One data set, its releases, and their errors.

    Raises
    ------
    InputError
        Whatever the mechanism refuses, and data sets that are too large for a picture.
    """
    check_readings(source, _MOST_READINGS)
    data = source.draw(1, generator(seed, DATA_STREAM, SHOWN))
    estimate = mechanism.release_many(data, [(budget,)], SHOWN_DRAWS,
                                      generator(seed, NOISE_STREAM, SHOWN))
    without, grid = mechanism.without_protection(data), drawing_grid()
    quiet = without.values(grid)[0, 0, 0]
    low, high = (None, None) if estimate.band is None else (
        end[0, 0] for end in limits(estimate, estimate.band))
    errors, baseline = (_simulated_errors(source, mechanism, [budget], seed)
                     if source.is_random else (_distances(estimate, quiet), None))
    return CoefficientsAnswer(
        data=data, names=estimate.functions, budget=budget, without=quiet, low=low, high=high,
        times=data.facts.from_unit_time(grid), releases=estimate.values(grid)[0, 0],
        truth=None if data.truth is None else data.truth.grid_values, errors=errors[0],
        baseline=baseline, spends=estimate.spends[0],
        tuning=estimate.tuning[0] if estimate.tuning else {},
        feasibility=mechanism.feasibility(data.sizes, (budget,)),
        warnings=estimate.warning_shares(),
        first_warnings=estimate.warnings)


def _simulated_errors(source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget],
                      seed: int) -> tuple[Array, Array]:
    """Distances from the truth in the study, (budgets, K, releases), and without protection.

    The second is (K,): of the method's own estimate without protection, or of that of these budgets
    before noise, whichever is closer in all.
    """
    data = studies.data(source, seed)
    assert data.truth is not None
    asked = [(budget,) for budget in budgets]
    estimate, count = studies.released(source, mechanism, data, asked, seed), len(budgets)
    private = errors_by_function(estimate, data.truth)[:count]
    untuned = errors_by_function(mechanism.without_protection(data), data.truth
                                 ).mean(axis=(0, 1, 2))
    tuned = errors_by_function(replace(
        estimate, coefficients=estimate.unprotected[:, :, None]), data.truth
        ).mean(axis=(1, 2))[:count]
    least = min([untuned, *tuned], key=lambda errors: float(errors.sum()))
    # (budgets, data sets, draws, K) to (budgets, K, releases)
    by_function = np.moveaxis(private, -1, 1).reshape(len(budgets), private.shape[-1], -1)
    return distances(by_function), distances(least)


def _distances(estimate: Estimate, target: Array) -> Array:
    """From the functions without protection (K, GRID_SIZE): (budgets, K, draws)."""
    squared = ((estimate.values(drawing_grid())[:, 0] - target) ** 2).mean(axis=-1)
    return distances(squared.swapaxes(1, 2))


def errors_over_budgets(source: Source[CurveData], mechanism: Mechanism, delta: float, seed: int,
                        epsilons: Sequence[float] = BUDGET_STEPS) -> Array:
    """Error of each function at every ε: (epsilons, K); NaN where nothing is published.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : Mechanism
        With its settings.
    delta : float
        Of every budget.
    seed : int
        Of data and noise.
    epsilons : sequence of float
        Increasing.
    """
    budgets = [Budget(epsilon, delta) for epsilon in epsilons]
    if source.is_random:
        errors = _simulated_errors(source, mechanism, budgets, seed)[0]
    else:
        data = source.draw(1, generator(seed, DATA_STREAM, SHOWN))
        target = mechanism.without_protection(data).values(drawing_grid())[0, 0, 0]
        estimate = mechanism.release_many(data, [(b,) for b in budgets], SHOWN_DRAWS,
                                          generator(seed, NOISE_STREAM, SHOWN))
        errors = _distances(estimate, target)
    verdicts = [mechanism.feasibility(source.sizes, (budget,)) for budget in budgets]
    known = np.array([v is None or v.is_feasible for v in verdicts])
    return np.where(known[:, None], root_mean_square(errors, axis=2), np.nan)


def with_present_budget(answer: CoefficientsAnswer, epsilons: Sequence[float], errors: Array
             ) -> tuple[list[float], Array]:
    """Steps of ε and their errors with what the view has at its own ε, from more data sets.

    So that a chart of `errors_over_budgets` and the errors above it say the same.

    Parameters
    ----------
    answer : CoefficientsAnswer
        At its own ε.
    epsilons : sequence of float
        Increasing.
    errors : (epsilons, K)
        Of `errors_over_budgets`.
    """
    here = np.full_like(answer.error, np.nan) if answer.is_refused else answer.error
    rows = {**dict(zip(epsilons, errors, strict=True)), answer.budget.epsilon: here}
    return sorted(rows), np.array([rows[epsilon] for epsilon in sorted(rows)])


@dataclass(frozen=True)
class CostOfCovariates:
    """Typical total error with 1, 2, … covariates, with and without protection: distances.

    The total is the root of the sum over functions of squared errors; NaN where nothing would be
    published. `here` is the present number of covariates.
    """

    counts: tuple[int, ...]
    private: Array
    without: Array
    here: int


def cost_of_covariates(source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
                       ) -> CostOfCovariates:
    """What each further covariate costs at the same people, observations and budget.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        Of every site.
    seed : int
        Of data and noise.

    Raises
    ------
    InputError
        If the number of covariates of this source cannot be changed.
    """
    sizes = [_with_covariates(source, count) for count in range(1, 9)]
    changed = [variant for variant in sizes if variant is not None]
    if not source.is_random or not changed:
        raise InputError("The number of covariates can only be changed in simulated curves.",
                         field="source", hint="Choose simulated curves.")
    private, without = [], []
    for variant in changed:
        errors, baseline = _simulated_errors(variant, mechanism, [budget], seed)
        verdict = mechanism.feasibility(variant.sizes, (budget,))
        private.append(total(root_mean_square(errors[0])) if verdict is None or verdict.is_feasible
                       else math.nan)
        without.append(total(baseline))
    counts = tuple(variant.sizes.n_covariates for variant in changed)
    return CostOfCovariates(counts, np.array(private), np.array(without),
                            source.sizes.n_covariates)


def _with_covariates(source: Source[CurveData], count: int) -> Source[CurveData] | None:
    """The same recipe with so many covariates; None if it has no such variant."""
    if "n_covariates" not in source.values():
        return None
    changed: dict[str, Any] = {"n_covariates": count}
    try:
        return replace(source, **changed)
    except InputError:
        return None


def total(errors: Array) -> float:
    """The root of the summed squares of the errors of all functions.

    Parameters
    ----------
    errors : (K,)
        In response units.
    """
    return float(totals(errors))


def totals(errors: Array) -> Array:
    """The same at several budgets.

    Parameters
    ----------
    errors : (..., K)
        In response units.

    Returns
    -------
    (...)
    """
    return np.asarray(np.sqrt((errors**2).sum(axis=-1)))
