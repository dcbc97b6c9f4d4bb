"""Charts as people know them: simulated people and method together."""

from __future__ import annotations

from typing import Any

from engine.mechanisms.percentile_curves import PercentileCurves
from engine.sources.population_readings import PopulationReadings

_PEOPLE = {"Ambulatory glucose profile": ("glucose", 30),  # population and observations a person
           "Growth chart": ("growth", 4), "Activity norm": ("activity", 30)}
NAMES = tuple(_PEOPLE)


def mechanism(name: str) -> PercentileCurves:
    """Percentiles, cut-offs and ranges as such a chart has them.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    """
    return PercentileCurves(**dict(PercentileCurves.presets())[name])


def people(name: str, before: Any = None) -> PopulationReadings:
    """Simulated people of such a chart.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    before : Source, optional
        What was chosen before. The numbers of people and sites of simulated people stay.
    """
    population, observations = _PEOPLE[name]
    sizes = {"n_curves": before.n_curves, "n_servers": before.n_servers} if isinstance(
        before, PopulationReadings) else {}
    return PopulationReadings(population=population, n_observations_per_curve=observations, **sizes)


def name_of(source: Any, method: Any) -> str | None:
    """The chart that people and method make up; None of other data and methods.

    Parameters
    ----------
    source : Source
    method : Mechanism
    """
    return next((name for name, (population, _) in _PEOPLE.items()
                 if isinstance(source, PopulationReadings) and source.population == population
                 and method == mechanism(name)), None)
