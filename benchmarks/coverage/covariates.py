"""Errors of effects and coverage of their bands, for covariates of many kinds.

Simulated with a known seed: a table of covariate designs, budgets and what was measured there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.coverage.table import (
    POINTWISE,
    SIMULTANEOUS,
    RepeatedStudy,
    notes_table,
    share_text,
    standard_error,
)
from engine.core.bands import limits
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, Estimate, Truth
from engine.mechanisms import Mechanism
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.study import Study
from engine.simulation.metrics import errors_by_function
from engine.sources.coefficient_curves import CoefficientCurves

# What each design changes of the simulated curves; two covariates unless it says otherwise.
DESIGNS: Mapping[str, dict[str, Any]] = {
    "spread evenly": {},
    "narrow, sd 0.15 of the half-range": {"covariate_law": "narrow"},
    "narrow, sd 0.05": {"covariate_law": "narrow", "covariate_spread": 0.05},
    "narrow, sd 0.02": {"covariate_law": "narrow", "covariate_spread": 0.02},
    "off centre, mean 0.7, sd 0.15": {"covariate_law": "off centre"},
    "rare answer, 5 %": {"covariate_law": "rare"},
    "rare answer, 1 %": {"covariate_law": "rare", "rare_share": 0.01},
    "correlated 0.9": {"likeness": 0.674},
    "correlated 0.97": {"likeness": 0.8},
    "three, spread evenly": {"n_covariates": 3},
    "values near a bound of a range five times as wide": {"value_low": -3.0, "value_high": 37.0},
    "people with curves of their own, off the middle": {"value_high": 17.0, "deviation_sd": 0.7},
}
_COVARIATES, _PEOPLE, _USUAL = 2, 2000, AdaptiveCoefficients()
_BUDGETS = (Budget(1.0, 1e-3), Budget(4.0, 1e-3))
_STRICT = (Budget(1.0, _PEOPLE**-2.0), Budget(4.0, _PEOPLE**-2.0))


@dataclass(frozen=True)
class CovariateCoverage:
    """Measurements of one setting."""

    setting: RepeatedStudy
    # mean integrated squared error over that of least squares, largest among the functions
    error_ratio: float = math.nan
    # pointwise, simultaneous: coverage of the true functions by 95 % bands, lowest among them
    pointwise: float = math.nan
    simultaneous: float = math.nan
    # pointwise_unwarned, simultaneous_unwarned: the same among functions of releases without a
    # warning; NaN where all have one
    pointwise_unwarned: float = math.nan
    simultaneous_unwarned: float = math.nan
    # pointwise_error, simultaneous_error: standard errors of the two above, the largest among the
    # functions
    pointwise_error: float = math.nan
    simultaneous_error: float = math.nan
    warned: float = math.nan  # share of releases with a warning
    refused: bool = False  # whether nothing is released at these sizes; then all numbers are NaN

    @property
    def holds(self) -> bool:
        """True if bands without a warning cover enough, up to two standard errors of chance."""
        if np.isnan(self.pointwise_unwarned):
            return True
        return (
            self.pointwise_unwarned >= POINTWISE[0] - 2 * self.pointwise_error
            and self.simultaneous_unwarned >= SIMULTANEOUS - 2 * self.simultaneous_error
        )


def settings() -> Iterator[RepeatedStudy]:
    """List all rows: every design, at two ε and two δ."""
    for budget in (*_BUDGETS, *_STRICT):
        for label, changes in DESIGNS.items():
            yield _repeated(label, changes, budget)


def _repeated(
    label: str,
    changes: Mapping[str, Any],
    budget: Budget,
    people: int = _PEOPLE,
    mechanism: Mechanism = _USUAL,
) -> RepeatedStudy:
    """Make the row of one design at one budget."""
    source = CoefficientCurves(**{"n_curves": people, "n_covariates": _COVARIATES, **changes})
    return RepeatedStudy(label, Study(source=source, mechanism=mechanism, budgets=(budget,)))


def covariate_coverage(
    designs: Mapping[str, dict[str, Any]] = DESIGNS,
    budgets: Sequence[Budget] = _BUDGETS,
    people: int = _PEOPLE,
    repeats: int = 40,
    seed: int = 1,
    mechanism: Mechanism = _USUAL,
) -> list[CovariateCoverage]:
    """Measure every design at every budget, on fresh data sets with one release each.

    `designs` name what they change of `CoefficientCurves`; the mechanism has simultaneous bands.
    """
    return [
        measured(_repeated(label, changes, budget, people, mechanism), repeats, seed)
        for label, changes in designs.items()
        for budget in budgets
    ]


def measured(setting: RepeatedStudy, repeats: int, seed: int) -> CovariateCoverage:
    """Measure the row of a setting: so many data sets, one release of each."""
    mechanism, budgets = setting.study.mechanism, setting.study.budgets
    source: Any = setting.study.source
    data = source.draw(repeats, generator(seed, DATA_STREAM, 0))
    verdict = mechanism.feasibility(data.sizes, budgets)
    if verdict is not None and not verdict.is_feasible:
        return CovariateCoverage(setting, refused=True)
    estimate = mechanism.release_many(data, [budgets], 1, generator(seed, NOISE_STREAM, 0))
    non_private = errors_by_function(mechanism.without_protection(data), source.truth)
    errors = errors_by_function(estimate, source.truth).mean(axis=(0, 1, 2))
    pointwise, whole = (
        _covered(estimate, source.truth, kind) for kind in ("pointwise", "simultaneous")
    )
    clear = ~estimate.is_doubted
    return CovariateCoverage(
        setting,
        float((errors / non_private.mean(axis=(0, 1, 2))).max()),
        _lowest(pointwise),
        _lowest(whole),
        _lowest(pointwise[clear]),
        _lowest(whole[clear]),
        _uncertainty(pointwise[clear]),
        _uncertainty(whole[clear]),
        float(estimate.is_doubted.mean()),
    )


def _covered(estimate: Estimate, truth: Truth, kind: str) -> Array:
    """Compute shares of times in a band, or 1 if all are in it: (budgets, repeats, draws, K)."""
    assert estimate.band is not None
    band = replace(estimate.band, kind=kind)
    low, high = limits(replace(estimate, band=band), band)
    inside = (low <= truth.grid_values) & (truth.grid_values <= high)
    return np.asarray(
        inside.mean(axis=-1) if kind == "pointwise" else inside.all(axis=-1), dtype=float
    )


def _lowest(covered: Array) -> float:
    """Find the lowest mean among the functions, which are along the last axis; NaN for none."""
    rows = covered.reshape(-1, covered.shape[-1])
    return float(rows.mean(axis=0).min()) if len(rows) else math.nan


def _uncertainty(covered: Array) -> float:
    """Find the largest standard error among the functions, which are along the last axis."""
    return max(standard_error(column) for column in covered.reshape(-1, covered.shape[-1]).T)


def as_markdown(rows: list[CovariateCoverage]) -> str:
    """Write the table for the notes on the coefficients."""
    names = (
        "Covariates",
        "ε",
        "δ",
        "Error",
        "Pointwise",
        "Simultaneous",
        "Warned",
        "Pointwise, unwarned",
        "Simultaneous, unwarned",
    )
    return notes_table(names, map(_cells, rows))


def _cells(row: CovariateCoverage) -> Sequence[str]:
    budget = row.setting.budget
    error = "refused" if row.refused else f"{row.error_ratio:.1f}"
    return (
        row.setting.label,
        f"{budget.epsilon:g}",
        f"{budget.delta:g}",
        error,
        *map(
            share_text,
            (
                row.pointwise,
                row.simultaneous,
                row.warned,
                row.pointwise_unwarned,
                row.simultaneous_unwarned,
            ),
        ),
    )
