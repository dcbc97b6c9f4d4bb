"""Releases of percentile curves, their errors, and the time in ranges.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.grids import drawing_grid, nearest_to_median
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.mechanisms.study import Study
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.studies import check_readings
from engine.sources import Source
from engine.sources.population_readings import PopulationReadings
from engine.topics.simulated import Simulated, errors_and_baseline

_DRAWS = 1  # releases on screen
_MAX_READINGS = 1_000_000  # of one data set on screen


@dataclass(frozen=True, kw_only=True, eq=False)
class PercentilesAnswer(Simulated):
    """T percentile curves of one data set, rising, with their possible releases.

    Releases are (draws, T, GRID_SIZE), in response units.
    """

    verdict: Feasibility
    names: tuple[str, ...]  # of the T curves
    levels: Array  # (T,), from 0 to 1
    times: Array  # (GRID_SIZE,), in their own unit
    low: Array  # (draws, T, GRID_SIZE): lower limits of the band of each release
    high: Array  # (draws, T, GRID_SIZE): its upper limits
    ranges: TimeInRanges | None  # the time in stated ranges; None without limits
    target: tuple[float, ...]  # both cut-offs around the range in the middle
    warnings: tuple[str, ...] = ()  # cautions of the first release

    @property
    def middle(self) -> int:
        """The place of the curve nearest to the median."""
        return nearest_to_median(self.levels)


def percentiles_answer(
    source: Source[CurveData], mechanism: PercentileCurves, budget: Budget, seed: int
) -> PercentilesAnswer:
    """Draw, release at one budget, and measure.

    Returns
    -------
    PercentilesAnswer
        One data set, possible releases of it, and their errors.
    """
    (picture,) = percentiles_over_budgets(source, mechanism, budget.delta, seed, (budget.epsilon,))
    errors, baseline = errors_and_baseline(
        Study(source=source, mechanism=mechanism, budgets=(budget,), seed=seed)
    )
    return replace(picture, errors=errors, baseline_by_function=baseline)


def percentiles_over_budgets(
    source: Source[CurveData],
    mechanism: PercentileCurves,
    delta: float,
    seed: int,
    epsilons: Sequence[float],
) -> tuple[PercentilesAnswer, ...]:
    """Release at several ε, without errors, which take longer than all releases together.

    Each release has the noise of `percentiles_answer` at its ε.
    """
    check_readings(source, _MAX_READINGS)
    data = studies.data_on_screen(source, seed)
    ordinary = mechanism.without_protection(data).coefficients[0, 0, 0]
    return tuple(
        _picture(data, mechanism, Budget(epsilon, delta), seed, ordinary) for epsilon in epsilons
    )


def _picture(
    data: CurveData, mechanism: PercentileCurves, budget: Budget, seed: int, ordinary: Array
) -> PercentilesAnswer:
    """Build the answer at one budget, without errors."""
    facts = data.facts
    estimate = studies.shown_releases(mechanism, data, [(budget,)], seed, _DRAWS)
    assert estimate.limits is not None
    low, high = (end[0, 0] for end in estimate.limits)
    truth = mechanism.truth_of(data)
    return PercentilesAnswer(
        facts=facts,
        names=estimate.functions,
        levels=mechanism.levels,
        people=data.n_curves,
        budget=budget,
        times=facts.from_unit_time(drawing_grid()),
        releases=estimate.coefficients[0, 0],
        low=low,
        high=high,
        ordinary=ordinary,
        truth=None if truth is None else truth.grid_values,
        errors=np.empty((len(ordinary), 0)),
        baseline_by_function=None,
        ranges=estimate.released[0],
        target=mechanism.target(facts),
        spends=estimate.spends[0],
        tuning=estimate.tuning[0],
        verdict=mechanism.feasibility(data.sizes, (budget,)),
        warnings=estimate.first_on_page,
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
    """Set percentiles, cut-offs and ranges as on a chart of `CHARTS`."""
    return PercentileCurves(**dict(PercentileCurves.presets())[name])


def chart_people(name: str, before: Any = None) -> PopulationReadings:
    """Simulate the people of a chart of `CHARTS`; numbers of people and sites stay as before."""
    population, observations = _PEOPLE_OF_CHARTS[name]
    sizes = (
        {"n_curves": before.n_curves, "n_servers": before.n_servers}
        if isinstance(before, PopulationReadings)
        else {}
    )
    return PopulationReadings(population=population, n_observations_per_curve=observations, **sizes)


def chart_of(source: Any, method: Any) -> str | None:
    """Name the chart that people and method make up; None for other data and methods."""
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
