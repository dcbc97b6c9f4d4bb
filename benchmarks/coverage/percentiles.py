"""Do the bands of percentile curves hold on data as they come? A table of designs and people.

Each row repeats one scenario: data are drawn anew, released once, and the band of every percentile
is compared with the percentiles of the population. Releases with a warning are counted apart: what
is asked of a band is that it holds wherever it is given without one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.coverage.table import POINTWISE, RepeatedStudy, notes_table
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.mechanisms.study import Study
from engine.sources.population_readings import PopulationReadings
from engine.sources.sparse_curves import SparseCurves

TIMES = (np.arange(24) + 0.5) / 24  # where bands are compared with the population
_PEOPLE, _SEED = 60_000, 20_261_123  # behind its percentiles
_COUNTS: dict[str, Any] = {"value_scale": "log1p", "log_offset": 20.0, "point_mass": 0.0}
_USUAL = PercentileCurves()
_TRUNCATED = "1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0"


def _repeated(
    label: str,
    source: SparseCurves | PopulationReadings,
    mechanism: PercentileCurves = _USUAL,
    epsilon: float = 1.0,
) -> RepeatedStudy:
    """Make the row of percentile curves, with δ = 1/n² for the n people of a site."""
    budgets = (Budget(epsilon, (source.n_curves / source.n_servers) ** -2.0),)
    return RepeatedStudy(label, Study(source=source, mechanism=mechanism, budgets=budgets))


def _truth(study: Study[Any]) -> Array:
    """Compute the percentiles of the population at `TIMES`: (T, times)."""
    source, mechanism = study.source, study.mechanism
    assert isinstance(mechanism, PercentileCurves)
    assert isinstance(source, SparseCurves | PopulationReadings)
    return _percentiles(replace(source, n_servers=1), tuple(mechanism.levels.tolist()))


@dataclass(frozen=True)
class PercentileRow:
    """Measurements of one setting, percentile by percentile: (T,) each."""

    setting: RepeatedStudy
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


def settings() -> Iterator[RepeatedStudy]:
    """List all rows: observations, designs, people who are not alike, sites, populations."""
    people = SparseCurves(mean="growth", n_curves=2000, n_observations_per_curve=6)
    for m in (1, 6, 30):
        yield _repeated(f"{m} even times each", replace(people, n_observations_per_curve=m))
    yield _repeated(
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
            yield _repeated(label, source, epsilon=epsilon)
    for label, law in tails.items():
        for n, epsilon in ((500, 3.0), (2000, 1.0), (2000, 4.0)):
            yield _repeated(
                label, replace(people, n_curves=n, deviation_tails=law), epsilon=epsilon
            )
    outliers = replace(people, deviation_tails="outliers")
    yield _repeated(
        "5 % outliers, up to 90 %", outliers, PercentileCurves(percentiles="10, 25, 50, 75, 90")
    )
    for n, epsilon in ((500, 1.0), (500, 3.0), (8000, 1.0)):
        yield _repeated("6 even times each", replace(people, n_curves=n), epsilon=epsilon)
    growth = PopulationReadings(population="growth", n_observations_per_curve=4)
    for many in (people, growth):
        label = "6 even times each" if many is people else "heights"
        for n in (10_000, 50_000):
            yield _repeated(label, replace(many, n_curves=n), epsilon=3.0)
    yield _repeated("heights", growth)
    yield _repeated("heights, four sites", replace(growth, n_servers=4))
    yield _repeated("glucose", PopulationReadings())
    yield _repeated("glucose", PopulationReadings(), epsilon=4.0)
    yield _repeated(
        "activity", PopulationReadings(population="activity"), PercentileCurves(**_COUNTS)
    )


def measured(setting: RepeatedStudy, repeats: int, seed: int) -> PercentileRow:
    """Measure a setting, repeated so often with random streams of its own each time."""
    study, truth, grid = setting.study, _truth(setting.study), drawing_grid()
    squares, inside, warned = [], [], []
    for k in range(repeats):
        data = study.source.draw(1, generator(seed, DATA_STREAM, k))
        estimate = study.mechanism.release(data, study.budgets, generator(seed, NOISE_STREAM, k))
        assert estimate.limits is not None
        curves, low, high = (
            np.stack([np.interp(TIMES, grid, row) for row in rows[0, 0, 0]])
            for rows in (estimate.coefficients, *estimate.limits)
        )
        squares.append(((curves - truth) ** 2).mean(axis=-1))
        inside.append(((low <= truth) & (truth <= high)).mean(axis=-1))
        warned.append(bool(estimate.is_doubted.all()))
    each, clear = np.array(inside), ~np.array(warned)
    covered, uncertainty = np.full((2, len(truth)), math.nan)
    if clear.any():
        covered = each[clear].mean(axis=0)
        uncertainty = (
            each[clear].std(axis=0, ddof=1) / math.sqrt(clear.sum())
            if clear.sum() > 1
            else np.full(len(truth), math.inf)
        )
    verdict = study.mechanism.feasibility(study.source.sizes, study.budgets)
    assert verdict is not None
    return PercentileRow(
        setting,
        verdict.effective_size,
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
    sizes, mechanism = row.setting.study.source.sizes, row.setting.study.mechanism
    assert isinstance(mechanism, PercentileCurves)
    middle = int(np.argmin(np.abs(mechanism.levels - 0.5)))
    return (
        row.setting.label,
        f"{sizes.n_curves}",
        f"{sizes.fewest_per_curve}",
        f"{row.setting.budget.epsilon:g}",
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
