"""What a varying-coefficient model would publish, function by function, and what it costs.

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
from engine.core.types import Array, Budget, CurveData, PublicFacts, Spend
from engine.mechanisms import Mechanism
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.metrics import root_mean_square, totals, within
from engine.simulation.studies import Study, check_readings
from engine.sources import Source

_MAX_READINGS = 1_000_000  # of one data set on screen


@dataclass(frozen=True)
class CoefficientsAnswer:
    """One data set with its possible releases at one budget, on `times` in their own unit.

    K functions, the intercept first, in response units: `releases`, `low` and `high` (draws, K,
    GRID_SIZE), `non_private` and `truth` (K, GRID_SIZE). `low` and `high` are the bands with
    each release. `errors` (K, releases) are distances from the truth where it is known, else from
    the functions without protection, and NaN where nothing is published; `baseline` (K,) is the
    error without privacy. `warnings` are the
    cautions that releases carry, each with the share of `releases` that do; those of the first one
    alone are in `first_warnings`, and `not_shown` is what it says that it would not show.
    """

    data: CurveData
    names: tuple[str, ...]
    budget: Budget
    times: Array
    releases: Array
    low: Array | None
    high: Array | None
    non_private: Array
    truth: Array | None
    errors: Array
    baseline: Array | None
    spends: tuple[Spend, ...]
    tuning: dict[str, Any]
    feasibility: Feasibility | None
    warnings: tuple[tuple[str, float], ...] = ()
    first_warnings: tuple[str, ...] = ()
    not_shown: str = ""

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
            return None if curves is None else np.asarray(curves - self.non_private)

        return replace(
            self,
            releases=self.releases - self.non_private,
            low=less(self.low),
            high=less(self.high),
            truth=less(self.truth),
            non_private=np.zeros_like(self.non_private),
        )

    @property
    def error(self) -> Array:
        """The root mean squared distance of each function: (K,)."""
        return root_mean_square(self.errors)

    @property
    def within(self) -> float:
        """The distance, over all functions, that 95 % of the releases stay within."""
        return float(within(totals(self.errors, axis=0)))

    @property
    def total(self) -> float:
        """The root mean squared distance over all functions."""
        return float(totals(self.error))


def coefficients_answer(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
) -> CoefficientsAnswer:
    """Draw, release at one budget, and measure.

    Parameters
    ----------
    source : Source
        Simulated or uploaded data, with sizes and public facts.
    mechanism : Mechanism
        The method with its settings.
    budget : Budget
        ε and δ of every site.
    seed : int
        Fixes the simulated data and the noise.

    Returns
    -------
    CoefficientsAnswer
        One data set, possible releases of it, and their errors.

    Raises
    ------
    InputError
        Whatever the mechanism refuses, and data sets that are too large for a picture.
    """
    check_readings(source, _MAX_READINGS)
    data = studies.data_on_screen(source, seed)
    estimate = studies.shown_releases(mechanism, data, [(budget,)], seed)
    non_private, grid = mechanism.without_protection(data), drawing_grid()
    curves = non_private.values(grid)[0, 0, 0]
    low, high = (
        (None, None)
        if estimate.band is None
        else (end[0, 0] for end in limits(estimate, estimate.band))
    )
    errors, baseline = Study(source, mechanism, seed).errors_and_baseline([(budget,)])
    return CoefficientsAnswer(
        data=data,
        names=estimate.functions,
        budget=budget,
        non_private=curves,
        low=low,
        high=high,
        times=data.facts.from_unit_time(grid),
        releases=estimate.values(grid)[0, 0],
        truth=None if data.truth is None else data.truth.grid_values,
        errors=errors[0].reshape(-1, errors.shape[-1]).T,
        baseline=baseline,
        spends=estimate.spends[0],
        tuning=estimate.tuning[0] if estimate.tuning else {},
        feasibility=mechanism.feasibility(data.sizes, (budget,)),
        warnings=estimate.warning_shares(),
        first_warnings=estimate.warnings,
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
    non_private: Array
    here: int


def cost_of_covariates(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
) -> CostOfCovariates:
    """What each further covariate costs at the same people, observations and budget.

    Raises
    ------
    InputError
        If the number of covariates of this source cannot be changed.
    """
    sizes = [_with_covariates(source, count) for count in range(1, 9)]
    changed = [variant for variant in sizes if variant is not None]
    if not source.is_random or not changed:
        raise InputError(
            "The number of covariates can only be changed in simulated curves.",
            field="source",
            hint="Choose simulated curves.",
        )
    private, non_private = [], []
    for variant in changed:
        errors, baseline = Study(variant, mechanism, seed).errors_and_baseline([(budget,)])
        private.append(root_mean_square(totals(errors), axis=None))
        non_private.append(math.nan if baseline is None else totals(baseline))
    counts = tuple(variant.sizes.n_covariates for variant in changed)
    return CostOfCovariates(
        counts, np.array(private), np.array(non_private), source.sizes.n_covariates
    )


def _with_covariates(source: Source[CurveData], count: int) -> Source[CurveData] | None:
    """The same recipe with so many covariates; None if it has no such variant."""
    if "n_covariates" not in source.values():
        return None
    changed: dict[str, Any] = {"n_covariates": count}
    try:
        return replace(source, **changed)
    except InputError:
        return None
