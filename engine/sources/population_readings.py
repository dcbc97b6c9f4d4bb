"""Simulated readings of whole populations, of which the percentile curves are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.grids import PERCENTAGES, drawing_grid, quadrature
from engine.core.registry import param
from engine.core.tasks import PERCENTILE_CURVES
from engine.core.types import Array, CurveData, PublicFacts, Sizes, Truth
from engine.sources import Source, check_sites, dealt, sources

_PEOPLE, _SEED = 60_000, 20_261_123  # behind the known percentiles
_TOGETHER = 4  # times of all these people worked on at once
Draw = Callable[[Array, np.random.Generator], Array]  # times (people, m) to readings


def _glucose_day(times: Array) -> Array:
    """Level of glucose over a day in mg/dL, with a rise after each of three meals."""
    meals = ((20.0, 0.36, 0.06), (22.0, 0.55, 0.06), (26.0, 0.82, 0.07))
    rises = sum(height * np.exp(-(((times - at) / width) ** 2)) for height, at, width in meals)
    return np.asarray(138 + 16 * np.cos(2 * np.pi * (times - 0.6)) + rises)


def _glucose(times: Array, rng: np.random.Generator) -> Array:
    """People have a level, a rhythm and a size of fluctuations of their own; meters round."""
    people = len(times)
    level = 0.16 * rng.standard_normal((people, 1))
    rhythm = 0.08 * rng.standard_normal((2, people, 1))
    size = 0.26 * np.exp(0.22 * rng.standard_normal((people, 1)))
    angle = 2 * np.pi * times
    exponent = (
        level
        + rhythm[0] * np.cos(angle)
        + rhythm[1] * np.sin(angle)
        + size * rng.standard_normal(times.shape)
        - 0.04
    )
    return np.asarray(np.clip(np.round(_glucose_day(times) * np.exp(exponent)), 40.0, 400.0))


def _growth(times: Array, rng: np.random.Generator) -> Array:
    """Heights that spread with age, more to the tall side."""
    people = len(times)
    level, turn = rng.standard_normal((2, people, 1))
    mean = 85 + 95 * times - 12 * np.exp(-(((times - 0.55) / 0.2) ** 2)) + 4 * np.sin(5 * times)
    person = (0.85 * level + 0.4 * turn * (2 * times - 1)) * np.where(level > 0, 1.1, 0.95)
    return np.asarray(
        mean + (3.5 + 4.5 * times) * (person + 0.2 * rng.standard_normal(times.shape))
    )


def _activity(times: Array, rng: np.random.Generator) -> Array:
    """Counts of movement: zeros at rest, more of them at night, and a skewed rest."""
    people = len(times)
    phase, level = 0.04 * rng.standard_normal((people, 1)), 0.6 * rng.standard_normal((people, 1))
    day = 1 / (1 + np.exp(-5 * (np.cos(2 * np.pi * (times - 0.58 - phase)) + 0.25)))
    moves = rng.random(times.shape) >= 0.75 - 0.6 * day
    size = np.exp(3.2 + 2.6 * day + level + 0.9 * rng.standard_normal(times.shape))
    return np.asarray(np.where(moves, np.minimum(size, 10_000.0), 0.0))


_DRAWS: dict[str, Draw] = {"glucose": _glucose, "growth": _growth, "activity": _activity}
_DAY = PublicFacts(time_name="Time of day", time_unit="h", time_low=0, time_high=24, periodic=True)
_FACTS = {
    "glucose": replace(
        _DAY,
        name="Glucose over a day",
        value_name="Glucose",
        value_unit="mg/dL",
        value_low=40,
        value_high=400,
        origin="the range of continuous glucose monitors",
    ),
    "growth": PublicFacts(
        name="Heights of children",
        person="child",
        people="children",
        curve="growth",
        value_name="Height",
        value_unit="cm",
        value_low=50,
        value_high=220,
        time_name="Age",
        time_unit="years",
        time_low=2,
        time_high=18,
        origin="growth charts for ages 2 to 18",
    ),
    "activity": replace(
        _DAY,
        name="Activity over a day",
        value_name="Activity",
        value_unit="counts/min",
        value_low=0,
        value_high=10_000,
        origin="the range of wrist-worn accelerometers",
    ),
}


@sources.register
@dataclass(frozen=True, kw_only=True)
class PopulationReadings(Source[CurveData]):
    """Readings at times spread evenly, from people who differ in level, rhythm and spread.

    Glucose: days with three meals, on a logarithmic scale. Growth: heights that spread with age.
    Activity: counts with many zeros. The known percentile curves are those of 60 000 people who are
    drawn with a fixed seed.
    """

    most_data_sets = 8
    key = "population_readings"
    label = "Population with known percentiles, simulated"
    order = 16
    tasks = frozenset({PERCENTILE_CURVES.key})

    population: str = param("glucose", "Population", "What is measured.", choices=tuple(_DRAWS))
    n_curves: int = param(
        2000, "People", "How many take part, over all sites.", low=2, high=200_000, symbol="n"
    )
    n_observations_per_curve: int = param(
        30,
        "Observations each",
        "How many points are known of each person.",
        low=1,
        high=2000,
        symbol="m",
    )
    n_servers: int = param(
        1,
        "Sites",
        "Sites that keep their own data; people are split evenly.",
        low=1,
        high=1000,
        symbol="S",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sites(self.n_servers, self.n_curves, "people")

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Glucose over a day", {}),
            ("Heights of children", {"population": "growth", "n_observations_per_curve": 4}),
            ("Activity over a day", {"population": "activity"}),
        )

    @property
    def facts(self) -> PublicFacts:
        return _FACTS[self.population]

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            dealt(self.n_curves, self.n_servers),
            self.n_curves * self.n_observations_per_curve,
            self.n_observations_per_curve,
        )

    @property
    def truth(self) -> Truth:
        """The percentile curves of `PERCENTAGES`."""
        return _truth(self.population)

    def resized(self, people: int, readings: int, sites: int) -> PopulationReadings:
        """The same population with so many people at each of so many sites."""
        return replace(
            self, n_curves=people * sites, n_servers=sites, n_observations_per_curve=readings
        )

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Observe new people at times (people, m) on [0, 1], each row one person's."""
        return _DRAWS[self.population](times, rng)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets: times, then people."""
        n, m = self.n_curves, self.n_observations_per_curve
        times = rng.random((n_repeats, n, m))
        values = np.stack([_DRAWS[self.population](of_repeat, rng) for of_repeat in times])
        facts = self.facts
        values = np.clip(values, facts.value_low, facts.value_high)
        return CurveData(
            times.reshape(n_repeats, -1),
            values.reshape(n_repeats, -1),
            np.full(n, m),
            np.repeat(np.arange(self.n_servers), dealt(n, self.n_servers)),
            facts,
            self.truth,
        )


@lru_cache(maxsize=4)
def _truth(population: str) -> Truth:
    """On the drawing grid, and between its points by cubic splines."""
    from scipy.interpolate import CubicSpline  # on first use: the first page waits for it

    rng, grid = np.random.default_rng(_SEED), drawing_grid()
    draw, facts, levels = _DRAWS[population], _FACTS[population], np.array(PERCENTAGES) / 100
    parts = []
    for first in range(0, len(grid), _TOGETHER):
        times = grid[first : first + _TOGETHER]
        readings = draw(np.broadcast_to(times, (_PEOPLE, len(times))), rng)
        parts.append(
            np.quantile(np.clip(readings, facts.value_low, facts.value_high), levels, axis=0)
        )
    values = np.concatenate(parts, axis=1)
    return Truth(values, CubicSpline(grid, values, axis=1)(quadrature()[0]))
