"""Do the bands of percentile curves hold on data as they come? A table of designs and people.

Each row repeats one scenario: data are drawn anew, released once, and the band of every percentile
is compared with the percentiles of the population. Releases with a warning are counted apart: what
is asked of a band is that it holds wherever it is given without one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.sources.population_readings import PopulationReadings
from engine.sources.sparse_curves import SparseCurves
from engine.topics.coverage.table import POINTWISE, notes_table

TIMES = (np.arange(24) + 0.5) / 24  # where bands are compared with the population
_PEOPLE, _SEED = 60_000, 20_261_123  # behind its percentiles
_COUNTS: dict[str, Any] = {"value_scale": "log1p", "log_offset": 20.0, "point_mass": 0.0}
_TRUNCATED = "1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0"


@dataclass(frozen=True)
class PercentileSetting:
    """One scenario: what is drawn, how it is released, and at which ε; δ is 1/n² of a site."""

    label: str
    source: SparseCurves | PopulationReadings
    mechanism: PercentileCurves = field(default_factory=PercentileCurves)
    epsilon: float = 1.0

    @property
    def budget(self) -> Budget:
        people = self.source.n_curves / self.source.n_servers
        return Budget(self.epsilon, people**-2.0)

    @property
    def truth(self) -> Array:
        """Percentiles of the population at `TIMES`: (T, times)."""
        return _percentiles(
            replace(self.source, n_servers=1), tuple(self.mechanism.levels.tolist())
        )


@dataclass(frozen=True)
class PercentileRow:
    """Measurements of one setting, percentile by percentile: (T,) each."""

    setting: PercentileSetting
    effective_size: float
    # (T,): root mean squared distances to the percentiles of the population, in response units
    error: Array
    # covered, uncertainty, each (T,): share of time and releases at which the band of a release
    # without a warning holds, with its standard error over data sets; NaN where all have a warning,
    # and no limit to the second of one release
    covered: Array
    uncertainty: Array
    covered_by_all: Array  # (T,): the same of all releases
    warned: float  # share of releases with a warning

    @property
    def holds(self) -> bool:
        """True if bands have the required coverage, up to two standard errors of chance.

        Each percentile must be covered often enough, and all together not too often.
        """
        if np.isnan(self.covered).any():
            return True
        low, high = POINTWISE
        is_enough = (self.covered >= low - 2 * self.uncertainty).all()
        return bool(is_enough and self.covered.mean() <= high + 2 * self.uncertainty.mean())


def settings() -> Iterator[PercentileSetting]:
    """List all rows: observations, designs, people who are not alike, sites, populations."""
    people = SparseCurves(mean="growth", n_curves=2000, n_observations_per_curve=6)
    for m in (1, 6, 30):
        yield PercentileSetting(f"{m} even times each", replace(people, n_observations_per_curve=m))
    yield PercentileSetting(
        "2 to 20 even times each", replace(people, n_observations_per_curve=2, more_observations=18)
    )
    designs = {
        "times mostly in the middle": replace(people, times="density", time_density="1, 2, 1"),
        "times end before the range": replace(people, times="density", time_density=_TRUNCATED),
        "visits a tenth apart": replace(people, times="visits", time_span=0.1),
        "windows of a fifth": replace(people, times="windows"),
        "24 common times": replace(people, times="common", n_observations_per_curve=24),
        "6 common times": replace(people, times="common"),
    }
    tails = {"two groups": "groups", "exponential levels": "skewed", "heavy tails": "heavy"}
    for label, source in designs.items():
        for epsilon in (1.0, 4.0):
            yield PercentileSetting(label, source, epsilon=epsilon)
    for label, law in tails.items():
        for n, epsilon in ((500, 3.0), (2000, 1.0), (2000, 4.0)):
            yield PercentileSetting(
                label, replace(people, n_curves=n, deviation_tails=law), epsilon=epsilon
            )
    outliers = replace(people, deviation_tails="outliers")
    yield PercentileSetting(
        "5 % outliers, up to 90 %", outliers, PercentileCurves(percentiles="10, 25, 50, 75, 90")
    )
    for n, epsilon in ((500, 1.0), (500, 3.0), (8000, 1.0)):
        yield PercentileSetting("6 even times each", replace(people, n_curves=n), epsilon=epsilon)
    growth = PopulationReadings(population="growth", n_observations_per_curve=4)
    for many in (people, growth):
        label = "6 even times each" if many is people else "heights"
        for n in (10_000, 50_000):
            yield PercentileSetting(label, replace(many, n_curves=n), epsilon=3.0)
    yield PercentileSetting("heights", growth)
    yield PercentileSetting("heights, four sites", replace(growth, n_servers=4))
    yield PercentileSetting("glucose", PopulationReadings())
    yield PercentileSetting("glucose", PopulationReadings(), epsilon=4.0)
    yield PercentileSetting(
        "activity", PopulationReadings(population="activity"), PercentileCurves(**_COUNTS)
    )


def measured(setting: PercentileSetting, repeats: int, seed: int) -> PercentileRow:
    """Measure a setting, repeated so often with random streams of its own each time."""
    mechanism, truth, grid = setting.mechanism, setting.truth, drawing_grid()
    squares, inside, warned = [], [], []
    for k in range(repeats):
        data = setting.source.draw(1, generator(seed, DATA_STREAM, k))
        estimate = mechanism.release(data, (setting.budget,), generator(seed, NOISE_STREAM, k))
        assert estimate.limits is not None
        curves, low, high = (
            np.stack([np.interp(TIMES, grid, row) for row in rows[0, 0, 0]])
            for rows in (estimate.coefficients, *estimate.limits)
        )
        squares.append(((curves - truth) ** 2).mean(axis=-1))
        inside.append(((low <= truth) & (truth <= high)).mean(axis=-1))
        warned.append(bool(estimate.warnings))
    each, clear = np.array(inside), ~np.array(warned)
    covered, uncertainty = np.full((2, len(truth)), math.nan)
    if clear.any():
        covered = each[clear].mean(axis=0)
        uncertainty = (
            each[clear].std(axis=0, ddof=1) / math.sqrt(clear.sum())
            if clear.sum() > 1
            else np.full(len(truth), math.inf)
        )
    effective = mechanism.feasibility(setting.source.sizes, (setting.budget,)).effective_size
    return PercentileRow(
        setting,
        effective,
        np.sqrt(np.mean(squares, axis=0)),
        covered,
        uncertainty,
        each.mean(axis=0),
        float(np.mean(warned)),
    )


@lru_cache(maxsize=64)
def _percentiles(source: SparseCurves | PopulationReadings, levels: tuple[float, ...]) -> Array:
    """Compute percentiles of many people's observations within the stated bounds: (T, times)."""
    rng, facts = np.random.default_rng(_SEED), source.facts
    values = [
        np.clip(
            source.values_at(np.full((_PEOPLE, 1), time), rng)[:, 0],
            facts.value_low,
            facts.value_high,
        )
        for time in TIMES
    ]
    return np.asarray(np.quantile(values, levels, axis=1))


def as_markdown(rows: list[PercentileRow]) -> str:
    """Write the table for the notes on the methods."""
    names = (
        "Design and people",
        "n",
        "m",
        "ε",
        "N",
        "Error of 50 %",
        "Without a warning",
        "All releases",
        "Warned",
    )
    return notes_table(names, map(_cells, rows))


def _cells(row: PercentileRow) -> Sequence[str]:
    sizes = row.setting.source.sizes
    middle = int(np.argmin(np.abs(row.setting.mechanism.levels - 0.5)))
    return (
        row.setting.label,
        f"{sizes.n_curves}",
        f"{sizes.fewest_per_curve}",
        f"{row.setting.epsilon:g}",
        f"{row.effective_size:.0f}",
        f"{row.error[middle]:.3g}",
        _range(row.covered),
        _range(row.covered_by_all),
        f"{row.warned:.0%}".replace("%", " %"),
    )


def _range(shares: Array) -> str:
    """Write the lowest and the highest share of all percentiles."""
    if np.isnan(shares).any():
        return "–"
    low, high = (f"{share:.2f}".removeprefix("0") for share in (shares.min(), shares.max()))
    return f"{low}–{high}"
