"""Releases of a varying-coefficient model, function by function, and their cost.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.bands import limits
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms import Mechanism
from engine.mechanisms.study import Study
from engine.simulation import studies
from engine.simulation.metrics import root_mean_square, totals
from engine.simulation.studies import check_readings
from engine.sources import Source
from engine.topics.simulated import Simulated, errors_and_baseline

_MAX_READINGS = 1_000_000  # of one data set on screen


@dataclass(frozen=True, kw_only=True, eq=False)
class CoefficientsAnswer(Simulated):
    """K functions of one data set, the intercept first, with their possible releases.

    Releases are (draws, K, GRID_SIZE), in response units.
    """

    data: CurveData
    names: tuple[str, ...]  # of the K functions
    times: Array  # (GRID_SIZE,), in their own unit
    low: Array | None  # (draws, K, GRID_SIZE): lower limits of the band of each release
    high: Array | None  # (draws, K, GRID_SIZE): its upper limits
    # cautions, each with the share of `releases` that carry it
    warnings: tuple[tuple[str, float], ...] = ()
    not_shown: str = ""  # what the first release says that it would not show

    def difference(self) -> CoefficientsAnswer:
        """Subtract the functions without protection: what protection alone does."""

        def less(curves: Array | None) -> Array | None:
            return None if curves is None else np.asarray(curves - self.ordinary)

        return replace(
            self,
            releases=self.releases - self.ordinary,
            low=less(self.low),
            high=less(self.high),
            truth=less(self.truth),
            ordinary=np.zeros_like(self.ordinary),
        )


def coefficients_answer(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
) -> CoefficientsAnswer:
    """Draw, release at one budget, and measure.

    Returns
    -------
    CoefficientsAnswer
        One data set, possible releases of it, and their errors.
    """
    check_readings(source, _MAX_READINGS)
    data = studies.data_on_screen(source, seed)
    estimate = studies.shown_releases(mechanism, data, [(budget,)], seed)
    ordinary, grid = mechanism.without_protection(data), drawing_grid()
    curves = ordinary.values(grid)[0, 0, 0]
    low, high = (
        (None, None)
        if estimate.band is None
        else (end[0, 0] for end in limits(estimate, estimate.band))
    )
    errors, baseline = errors_and_baseline(
        Study(source=source, mechanism=mechanism, budgets=(budget,), seed=seed)
    )
    return CoefficientsAnswer(
        data=data,
        facts=data.facts,
        people=data.n_curves,
        names=estimate.functions,
        budget=budget,
        ordinary=curves,
        low=low,
        high=high,
        times=data.facts.from_unit_time(grid),
        releases=estimate.values(grid)[0, 0],
        truth=None if data.truth is None else data.truth.grid_values,
        errors=errors,
        baseline_by_function=baseline,
        spends=estimate.spends[0],
        tuning=estimate.tuning[0] if estimate.tuning else {},
        verdict=mechanism.feasibility(data.sizes, (budget,)),
        warnings=estimate.warning_shares(),
        not_shown=estimate.not_shown,
    )


@dataclass(frozen=True)
class CostOfCovariates:
    """Typical total error with 1, 2, … covariates, with and without protection: distances.

    The total is the root of the sum over functions of squared errors; NaN where nothing would be
    published. `here` is the present number of covariates.
    """

    counts: tuple[int, ...]
    private: Array
    ordinary: Array
    here: int


def cost_of_covariates(study: Study[CurveData]) -> CostOfCovariates:
    """Simulate the cost of further covariates at the same people, observations and budget."""
    source = study.source
    sizes = [_with_covariates(source, count) for count in range(1, 9)]
    changed = [variant for variant in sizes if variant is not None]
    if not source.is_random or not changed:
        raise InputError(
            "The number of covariates can only be changed in simulated curves.",
            field="source",
            hint="Choose simulated curves.",
        )
    private, ordinary = [], []
    for variant in changed:
        errors, baseline = studies.errors_and_baseline(replace(study, source=variant))
        private.append(root_mean_square(totals(errors), axis=None))
        ordinary.append(math.nan if baseline is None else totals(baseline))
    counts = tuple(variant.sizes.n_covariates for variant in changed)
    return CostOfCovariates(
        counts, np.array(private), np.array(ordinary), source.sizes.n_covariates
    )


def _with_covariates(source: Source[CurveData], count: int) -> Source[CurveData] | None:
    """Return the same recipe with so many covariates; None if it has no such variant."""
    if "n_covariates" not in source.values():
        return None
    changed: dict[str, Any] = {"n_covariates": count}
    try:
        return replace(source, **changed)
    except InputError:
        return None
