"""What percentile curves would be published, how far off they are, and the time in ranges.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget, CurveData, PublicFacts, Spend
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.privacy.feasibility import Feasibility
from engine.simulation.experiments import DATA_STREAM, NOISE_STREAM, generator
from engine.simulation.metrics import distances, root_mean_square, within
from engine.simulation.studies import FRESH, SHOWN, check_readings
from engine.sources import Source

BUDGET_STEPS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_DRAWS = 8  # releases on screen
_REPEATS, _FEWEST = 20, 4  # fresh data sets behind errors
_STUDY_READINGS = 300_000  # of all data sets of a study
_MOST_READINGS = 1_000_000  # of one data set on screen


@dataclass(frozen=True)
class PercentilesAnswer:
    """One data set with its possible releases at one budget, on `times` in their own unit.

    T percentile curves, rising, in response units: `releases`, `low` and `high` (draws, T,
    GRID_SIZE), of which the last two are bands, `without` and `truth` (T, GRID_SIZE). `errors`
    (T, releases) are distances from the truth where it is known, else from the curves without
    protection; `baseline` (T,) is the error of those. `ranges` is the time in stated ranges of the
    same releases, None without limits. `warnings` are the cautions that releases carry.
    """

    facts: PublicFacts
    names: tuple[str, ...]
    levels: Array
    n_people: int
    budget: Budget
    times: Array
    releases: Array
    low: Array
    high: Array
    without: Array
    truth: Array | None
    errors: Array
    baseline: Array | None
    ranges: TimeInRanges | None
    spends: tuple[Spend, ...]
    tuning: dict[str, Any]
    feasibility: Feasibility
    warnings: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether nothing would be published, because nothing useful could be."""
        return not self.feasibility.is_feasible

    @property
    def error(self) -> Array:
        """The root mean squared distance of each curve: (T,)."""
        return root_mean_square(self.errors)

    @property
    def within(self) -> float:
        """The distance of the middle curve that 95 % of releases stay within."""
        return float(within(self.errors[self.middle]))

    @property
    def middle(self) -> int:
        """The place of the curve nearest to the median."""
        return int(np.argmin(np.abs(self.levels - 0.5)))


def percentiles_answer(source: Source[CurveData], mechanism: PercentileCurves, budget: Budget,
                       seed: int) -> PercentilesAnswer:
    """Draw, release at one budget, and measure.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : PercentileCurves
        With its settings.
    budget : Budget
        Of every site.
    seed : int
        Of data and noise.

    Returns
    -------
    PercentilesAnswer
        One data set, its releases, and their errors.

    Raises
    ------
    InputError
        Whatever the mechanism refuses, and data sets that are too large for a picture.
    """
    check_readings(source, _MOST_READINGS)
    data, grid = source.draw(1, generator(seed, DATA_STREAM, SHOWN)), drawing_grid()
    facts = data.facts

    def noise() -> np.random.Generator:
        return generator(seed, NOISE_STREAM, SHOWN)

    estimate = mechanism.release_many(data, [(budget,)], _DRAWS, noise())
    without = mechanism.without_protection(data).coefficients[0, 0, 0]
    assert estimate.limits is not None
    low, high = (end[0, 0] for end in estimate.limits)
    verdict = mechanism.feasibility(data.sizes, (budget,))
    ranges = None
    if verdict.is_feasible and mechanism.stated_limits(facts):
        ranges, = mechanism.time_in_ranges(data, [(budget,)], _DRAWS, noise())
    errors, baseline = errors_of(source, mechanism, [budget], seed)
    return PercentilesAnswer(
        facts=facts, names=estimate.functions, levels=mechanism.levels, n_people=data.n_curves,
        budget=budget, times=facts.from_unit_time(grid), releases=estimate.coefficients[0, 0],
        low=low, high=high, without=without,
        truth=None if data.truth is None else known(source, mechanism), errors=errors[0],
        baseline=baseline, ranges=ranges, spends=estimate.spends[0], tuning=estimate.tuning[0],
        feasibility=verdict, warnings=estimate.warnings)


def known(source: Any, mechanism: PercentileCurves) -> Array:
    """The percentile curves of a simulated population on the drawing grid: (T, GRID_SIZE).

    Parameters
    ----------
    source : PopulationReadings
        The population.
    mechanism : PercentileCurves
        Whose percentiles.
    """
    return np.asarray(source.known_percentiles(tuple(mechanism.levels.tolist()),
                                               tuple(drawing_grid().tolist())))


def errors_of(source: Source[CurveData], mechanism: PercentileCurves, budgets: Sequence[Budget],
              seed: int) -> tuple[Array, Array | None]:
    """Distances of releases from the truth on fresh data sets, and those without protection.

    Of real data they are distances from the curves without protection.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : PercentileCurves
        With its settings.
    budgets : sequence of Budget
        Of every site.
    seed : int
        Of data and noise.

    Returns
    -------
    errors : (budgets, T, releases)
        In response units; NaN where nothing is published.
    baseline : (T,) or None
        The error of the better of two estimates without protection, least squares and the same
        releases without noise; None for real data.
    """
    repeats = 1
    if source.is_random:
        repeats = int(np.clip(_STUDY_READINGS // source.sizes.n_observations, _FEWEST, _REPEATS))
    data = source.draw(repeats, generator(seed, DATA_STREAM, FRESH))
    draws = -(-_REPEATS // repeats)
    estimate = mechanism.release_many(data, [(budget,) for budget in budgets], draws,
                                      generator(seed, NOISE_STREAM, FRESH))
    exact = mechanism.without_protection(data)
    truth = known(source, mechanism) if source.is_random else exact.coefficients[0, 0, 0]
    squared = ((estimate.coefficients - truth) ** 2).mean(axis=-1)  # (budgets, repeats, draws, T)
    feasible = [mechanism.feasibility(data.sizes, (budget,)).is_feasible for budget in budgets]
    squared[np.logical_not(feasible)] = np.nan
    errors = np.moveaxis(squared, -1, 1).reshape(len(budgets), len(mechanism.levels), -1)
    if not source.is_random:
        return distances(errors), None
    quiet = ((estimate.unprotected - truth) ** 2).mean(axis=(1, -1))  # (budgets, T)
    smooth = ((exact.coefficients[0, :, 0] - truth) ** 2).mean(axis=(0, -1))
    return distances(errors), distances(np.minimum(quiet.min(axis=0), smooth))


def errors_over_budgets(source: Source[CurveData], mechanism: PercentileCurves, delta: float,
                        seed: int, epsilons: Sequence[float] = BUDGET_STEPS) -> Array:
    """Error of each curve at every ε; NaN where nothing is published.

    Parameters
    ----------
    source : Source
        What is drawn from.
    mechanism : PercentileCurves
        With its settings.
    delta : float
        Of every budget.
    seed : int
        Of data and noise.
    epsilons : sequence of float
        Increasing.

    Returns
    -------
    (epsilons, T)
    """
    errors, _ = errors_of(source, mechanism, [Budget(each, delta) for each in epsilons], seed)
    return root_mean_square(errors)
