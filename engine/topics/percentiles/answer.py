"""What percentile curves would be published, how far off they are, and the time in ranges.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.grids import drawing_grid, nearest_to_median
from engine.core.types import Array, Budget, CurveData, PublicFacts, Spend
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.metrics import root_mean_square, totals, within
from engine.simulation.studies import Study, check_readings
from engine.sources import Source
from engine.sources.population_readings import PopulationReadings

_DRAWS = 1  # releases on screen
_MAX_READINGS = 1_000_000  # of one data set on screen


@dataclass(frozen=True, eq=False)
class PercentilesAnswer:
    """One data set with its possible releases at one budget, on `times` in their own unit.

    T percentile curves, rising, in response units: `releases`, `low` and `high` (draws, T,
    GRID_SIZE), of which the last two are bands, `non_private` and `truth` (T, GRID_SIZE). `errors`
    (T, releases) are distances from the truth where it is known, else from the curves without
    protection, and NaN where nothing is published; `baseline` (T,) is the error without privacy.
    `ranges` is the time in stated ranges of the same releases, None without limits; `target` are
    the two cut-offs around the range in the middle. `warnings` are the cautions that releases
    carry.
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
    non_private: Array
    truth: Array | None
    errors: Array
    baseline: Array | None
    ranges: TimeInRanges | None
    target: tuple[float, ...]
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
    def total(self) -> float:
        """The root mean squared distance of all curves together."""
        return float(totals(self.error))

    @property
    def within(self) -> float:
        """The distance of all curves together that 95 % of releases stay within."""
        return float(within(totals(self.errors, axis=0)))

    @property
    def middle(self) -> int:
        """The place of the curve nearest to the median."""
        return nearest_to_median(self.levels)


def percentiles_answer(
    source: Source[CurveData], mechanism: PercentileCurves, budget: Budget, seed: int
) -> PercentilesAnswer:
    """Draw, release at one budget, and measure.

    Parameters
    ----------
    source : Source
        Simulated or uploaded data, with sizes and public facts.
    mechanism : PercentileCurves
        The method with its settings.
    budget : Budget
        ε and δ of every site.
    seed : int
        Fixes the simulated data and the noise.

    Returns
    -------
    PercentilesAnswer
        One data set, possible releases of it, and their errors.

    Raises
    ------
    InputError
        Whatever the mechanism refuses, and data sets that are too large for a picture.
    """
    (picture,) = percentiles_over_budgets(source, mechanism, budget.delta, seed, (budget.epsilon,))
    errors, baseline = Study(source, mechanism, seed).errors_and_baseline([(budget,)])
    return replace(picture, errors=errors[0].reshape(-1, errors.shape[-1]).T, baseline=baseline)


def percentiles_over_budgets(
    source: Source[CurveData],
    mechanism: PercentileCurves,
    delta: float,
    seed: int,
    epsilons: Sequence[float],
) -> tuple[PercentilesAnswer, ...]:
    """The same at several ε, without errors, which take longer than all releases together.

    Each release has the noise of `percentiles_answer` at its ε.

    Raises
    ------
    InputError
        Whatever the mechanism refuses, and data sets that are too large for a picture.
    """
    check_readings(source, _MAX_READINGS)
    data = studies.data_on_screen(source, seed)
    non_private = mechanism.without_protection(data).coefficients[0, 0, 0]
    return tuple(
        _picture(data, mechanism, Budget(epsilon, delta), seed, non_private) for epsilon in epsilons
    )


def _picture(
    data: CurveData, mechanism: PercentileCurves, budget: Budget, seed: int, non_private: Array
) -> PercentilesAnswer:
    """One budget, without errors."""
    facts = data.facts
    estimate = studies.shown_releases(mechanism, data, [(budget,)], seed, _DRAWS)
    assert estimate.limits is not None
    low, high = (end[0, 0] for end in estimate.limits)
    truth = mechanism.truth_of(data)
    return PercentilesAnswer(
        facts=facts,
        names=estimate.functions,
        levels=mechanism.levels,
        n_people=data.n_curves,
        budget=budget,
        times=facts.from_unit_time(drawing_grid()),
        releases=estimate.coefficients[0, 0],
        low=low,
        high=high,
        non_private=non_private,
        truth=None if truth is None else truth.grid_values,
        errors=np.empty((len(non_private), 0)),
        baseline=None,
        ranges=estimate.released[0],
        target=mechanism.target(facts),
        spends=estimate.spends[0],
        tuning=estimate.tuning[0],
        feasibility=mechanism.feasibility(data.sizes, (budget,)),
        warnings=estimate.warnings,
    )


# -- charts as people know them: simulated people and method together ------------------------------


# Population, and observations of a person.
_PEOPLE_OF_CHARTS = {
    "Ambulatory glucose profile": ("glucose", 30),
    "Growth chart": ("growth", 4),
    "Activity norm": ("activity", 30),
}
CHARTS = tuple(_PEOPLE_OF_CHARTS)


def chart_method(name: str) -> PercentileCurves:
    """Percentiles, cut-offs and ranges as such a chart has them.

    Parameters
    ----------
    name : str
        Name of a chart, one of `CHARTS`.
    """
    return PercentileCurves(**dict(PercentileCurves.presets())[name])


def chart_people(name: str, before: Any = None) -> PopulationReadings:
    """Simulated people of such a chart.

    Parameters
    ----------
    name : str
        Name of a chart, one of `CHARTS`.
    before : Source, optional
        What was chosen before. The numbers of people and sites of simulated people stay.
    """
    population, observations = _PEOPLE_OF_CHARTS[name]
    sizes = (
        {"n_curves": before.n_curves, "n_servers": before.n_servers}
        if isinstance(before, PopulationReadings)
        else {}
    )
    return PopulationReadings(population=population, n_observations_per_curve=observations, **sizes)


def chart_of(source: Any, method: Any) -> str | None:
    """The chart that people and method make up; None of other data and methods."""
    return next(
        (
            name
            for name, (population, _) in _PEOPLE_OF_CHARTS.items()
            if isinstance(source, PopulationReadings)
            and source.population == population
            and method == chart_method(name)
        ),
        None,
    )
