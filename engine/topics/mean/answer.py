"""Everything one picture shows: what would be published, at every budget of the slider.

A preview is for looking. It is simulated with a known seed, shares its noise across budgets so
that the slider moves smoothly, and shows the curator's own curves: never a release.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import limits
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget, CurveData, Estimate, PublicFacts, Spend
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.study import Study
from engine.numerics.proportions import Proportion
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.metrics import (
    distances,
    integrated_squared_errors,
    root_mean_square,
    squared_distances_from,
    within,
)
from engine.simulation.non_private import non_private_mean
from engine.simulation.studies import EPSILON_STEPS as EPSILON_STEPS
from engine.simulation.studies import SHOWN_DRAWS
from engine.sources import Source
from engine.sources.twin import studied

Put = TypeVar("Put", "MeanAnswer", "MeanStudy", "PlausibleBand")  # what another budget is put into
MAX_READINGS = 2_000_000  # of one data set on screen


@dataclass(frozen=True)
class MeanStudy:
    """Errors at every budget and what they are made of; for real curves, those of their twin."""

    errors: Array  # (budgets, releases): distances from the truth, in response units
    # the error without privacy, tuned as well as with it: `engine.simulation.studies.baseline`
    baseline: float | None
    shares: Array  # (budgets, 3): of squared error, in the order of `error_words.PARTS`

    @property
    def error(self) -> Array:
        """The root mean squared distance at each budget: (budgets,)."""
        return root_mean_square(self.errors)

    @property
    def within(self) -> Array:
        """The distance that 95 % of the releases stay within, at each budget: (budgets,)."""
        return within(self.errors)

    def simulated(self, at: int, n_data_sets: int) -> Proportion:
        """Count the releases of a budget within its distance, over `n_data_sets` data sets."""
        return Proportion.within(self.errors[at].reshape(n_data_sets, -1), float(self.within[at]))

    def quantile(self, level: float) -> Array:
        return np.asarray(np.quantile(self.errors, level, axis=1))


@dataclass(frozen=True)
class PlausibleBand:
    """Limits that come with every release, `low` and `high` (budgets, SHOWN_DRAWS, GRID_SIZE).

    `ordinary` (GRID_SIZE,) is the half-width of the same band around the average without
    protection; `kind` is "pointwise" or "simultaneous", `n_functions` (budgets,) how many functions
    are kept, `few_times` the common times, on [0, 1], between which it is wider than at them. NaN
    where nothing is published.
    """

    low: Array
    high: Array
    ordinary: Array
    kind: str
    n_functions: tuple[int, ...]
    few_times: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)  # known by itself: what was made of it is kept beside it
class MeanAnswer:
    """One data set with its possible releases at every budget.

    `releases` (budgets, SHOWN_DRAWS, GRID_SIZE); `noise_low` and `noise_high` (budgets,
    GRID_SIZE): the middle 95 of 100 simulated releases, and `half_low` and `half_high` the middle
    50; `ordinary` and `sampling` (GRID_SIZE,): the average without protection and the half-width
    of its sampling range; all in response units on `times` (GRID_SIZE,) in their own unit.

    `band` is where each release itself says that the true curve plausibly lies; `planned`
    (budgets,) the error that privacy was expected to add, a distance, NaN where there is no rule;
    `warnings` what most releases at a budget are published with, and `not_shown` what they say
    that they would not show.
    """

    data: CurveData
    budgets: tuple[Budget, ...]
    times: Array
    releases: Array
    noise_low: Array
    noise_high: Array
    half_low: Array
    half_high: Array
    ordinary: Array
    sampling: Array
    truth: Array | None
    spends: tuple[tuple[Spend, ...], ...]
    tuning: tuple[dict[str, object], ...]
    study: MeanStudy
    verdicts: tuple[Feasibility | None, ...]
    planned: Array
    band: PlausibleBand | None = None
    warnings: tuple[tuple[str, ...], ...] = ()
    not_shown: tuple[str, ...] = ()
    # (budgets,), root mean square: of releases of real curves from their average without
    # protection, for their holder alone; NaN for simulated curves
    from_own_mean: Array | None = None

    @property
    def facts(self) -> PublicFacts:
        """Names, units and ranges of the curves."""
        return self.data.facts

    def is_refused(self, budget: int) -> bool:
        """True if nothing would be published at this budget, because nothing useful could be."""
        verdict = self.verdicts[budget]
        return verdict is not None and not verdict.is_feasible

    @property
    def published(self) -> NDArray[np.bool_]:
        """The budgets at which something would be published: (budgets,)."""
        return np.array([not self.is_refused(k) for k in range(len(self.budgets))])


@dataclass(frozen=True)
class Draws:
    """The releases behind errors, as curves on the drawing grid, in response units.

    `curves` (budgets, draws, GRID_SIZE), `ordinary` (data sets, GRID_SIZE) and `reference`
    (GRID_SIZE,), which they are compared with: the truth, or where there is none the average
    without protection. `times` (GRID_SIZE,) are in their own unit.
    """

    times: Array
    curves: NDArray[np.float32]
    ordinary: Array
    reference: Array
    is_truth: bool


def mean_over_budgets(
    source: Source[CurveData],
    mechanism: Mechanism,
    delta: float,
    seed: int,
    epsilons: Sequence[float] = EPSILON_STEPS,
) -> MeanAnswer:
    """Draw, release at every ε of each site, increasing, and measure in response units."""
    budgets = tuple(Budget(epsilon, delta) for epsilon in epsilons)
    studies.check_readings(
        source,
        MAX_READINGS,
        "Take fewer people or observations here, or run it on the command line.",
    )
    data, estimate = on_screen(source, mechanism, budgets, seed)
    ordinary = mechanism.without_protection(data) if source.is_random else non_private_mean(source)
    grid = drawing_grid()
    count = len(budgets)
    curves = estimate.values(grid)[:count, 0]
    return MeanAnswer(
        data=data,
        budgets=budgets,
        times=data.facts.from_unit_time(grid),
        releases=curves[:, :SHOWN_DRAWS],
        ordinary=ordinary.values(grid)[0, 0, 0],
        sampling=_half_width(ordinary, "pointwise"),
        band=_plausible(estimate, ordinary, count),
        noise_low=np.quantile(curves, 0.025, axis=1),
        noise_high=np.quantile(curves, 0.975, axis=1),
        half_low=np.quantile(curves, 0.25, axis=1),
        half_high=np.quantile(curves, 0.75, axis=1),
        truth=None if data.truth is None else data.truth.grid_values,
        spends=estimate.spends[:count],
        tuning=estimate.tuning[:count] or ({},) * count,  # a method may have none
        verdicts=tuple(mechanism.feasibility(data.sizes, (b,)) for b in budgets),
        planned=np.array([_planned(mechanism, data, b) for b in budgets]),
        study=simulated_study(studied(source), mechanism, budgets, seed),
        from_own_mean=None if source.is_random else _from_own_mean(estimate, ordinary, count),
        warnings=tuple(map(estimate.usual_warnings, range(count))),
        not_shown=tuple(map(estimate.usually_not_shown, range(count))),
    )


def with_budget(
    steps: MeanAnswer, source: Source[CurveData], mechanism: Mechanism, seed: int, epsilon: float
) -> MeanAnswer:
    """Put one more budget into a picture, with the δ of the others; only that one is computed.

    It is computed beside the last step, which draws the same noise for both as all steps have.
    """
    last = steps.budgets[-1]
    added = mean_over_budgets(source, mechanism, last.delta, seed, (epsilon, last.epsilon))
    k = int(np.searchsorted([budget.epsilon for budget in steps.budgets], epsilon))

    def put(field: str, into: Any, of: Any) -> Any:
        values, value = getattr(into, field), getattr(of, field)
        if isinstance(values, tuple):
            return (*values[:k], value[0], *values[k:])
        return np.insert(values, k, value[0], axis=0)

    def all_put(into: Put, of: Put, *names: str) -> Put:
        return replace(into, **{name: put(name, into, of) for name in names})

    band = None
    if steps.band is not None and added.band is not None:
        band = all_put(steps.band, added.band, "low", "high", "n_functions")
    study = all_put(steps.study, added.study, "errors", "shares")
    return replace(
        all_put(
            steps,
            added,
            "budgets",
            "releases",
            "noise_low",
            "noise_high",
            "half_low",
            "half_high",
            "spends",
            "tuning",
            "verdicts",
            "planned",
            "warnings",
            "not_shown",
        ),
        band=band,
        study=study,
        from_own_mean=(None if steps.from_own_mean is None else put("from_own_mean", steps, added)),
    )


def mean_answer(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
) -> MeanAnswer:
    """The picture with all steps of the slider, and with this budget if it is none of them.

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
    MeanAnswer
        At the steps of the slider and this budget.
    """
    steps = mean_over_budgets(source, mechanism, budget.delta, seed)
    if budget.epsilon in EPSILON_STEPS:
        return steps
    return with_budget(steps, source, mechanism, seed, budget.epsilon)


def _half_width(ordinary: Estimate, kind: str) -> Array:
    """Return half the width of a band around the average without protection: (GRID_SIZE,)."""
    assert ordinary.band is not None
    low, high = limits(ordinary, replace(ordinary.band, kind=kind))
    return np.asarray((high - low)[0, 0, 0] / 2)


def _plausible(estimate: Estimate, ordinary: Estimate, count: int) -> PlausibleBand | None:
    """Build the bands of the releases that are shown, at the first budgets."""
    if estimate.band is None:
        return None
    low, high = limits(estimate, estimate.band.of(slice(count), 0, slice(SHOWN_DRAWS)))
    kind = estimate.band.kind
    return PlausibleBand(
        low,
        high,
        _half_width(ordinary, kind),
        kind,
        estimate.basis_sizes[:count],
        getattr(estimate.basis, "times", ()),
    )


def _planned(mechanism: Mechanism, data: CurveData, budget: Budget) -> float:
    """Compute the distance from the true curve that privacy is expected to add."""
    squared = mechanism.expected_error(data.sizes, (budget,), data.facts)
    return math.nan if squared is None else math.sqrt(squared)


def simulated_study(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> MeanStudy:
    """Measure errors from the truth over fresh data sets, usually one release of each."""
    data, estimate = simulated(source, mechanism, budgets, seed)
    errors, shares = _measured(data, estimate, len(budgets))
    return MeanStudy(
        errors.reshape(len(budgets), -1),
        _baseline(source, mechanism, data, estimate, budgets, seed),
        shares,
    )


def _measured(data: CurveData, estimate: Estimate, n_budgets: int) -> tuple[Array, Array]:
    """Measure distances (budgets, data sets, releases of each) and shares (budgets, 3)."""
    total = integrated_squared_errors(estimate, data.truth).total
    assert total is not None and data.truth is not None
    return (
        distances(total)[:n_budgets],
        _shares(estimate, *estimate.project(data.truth))[:n_budgets],
    )


def _baseline(
    source: Source[CurveData],
    mechanism: Mechanism,
    data: CurveData,
    estimate: Estimate,
    budgets: Sequence[Budget],
    seed: int,
) -> float | None:
    """Return the error without privacy, from the releases at hand if all steps are among them."""
    if tuple(budget.epsilon for budget in budgets) == EPSILON_STEPS:
        return studies.baseline_among(mechanism, data, estimate, budgets)
    return studies.baseline(
        Study(source=source, mechanism=mechanism, budgets=(budgets[0],), seed=seed)
    )


def squared_parts(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> Array:
    """Split the mean squared error into privacy noise, sampling and bias: (budgets, 3).

    In squared units.
    """
    distance, shares = errors_and_shares(source, mechanism, budgets, seed)
    return np.asarray(shares * (distance**2).mean(axis=(1, 2))[:, None])


def errors_and_shares(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> tuple[Array, Array]:
    """Measure distances from the truth (budgets, data sets, releases of each) and their `shares`.

    Shares (budgets, 3) are those of `MeanStudy`.
    """
    data, estimate = simulated(source, mechanism, budgets, seed)
    return _measured(data, estimate, len(budgets))


def simulated(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> tuple[CurveData, Estimate]:
    """Draw fresh data sets and their releases (budgets + 1, data sets, draws); see `studies`.

    The step after the budgets is the highest.
    """
    study = Study(source=source, mechanism=mechanism, budgets=(budgets[0],), seed=seed)
    data = studies.data(study)
    return data, studies.released(study, data, [(b,) for b in budgets])


def _shares(estimate: Estimate, best: Array, tail: Array) -> Array:
    """Split the squared error by the noise-free steps: noise, spread over data sets, and bias."""
    # `unprotected` (budgets, data sets, basis); coefficients also have releases, before the last.
    distance, noise_free = estimate.squared_distance, estimate.unprotected
    repeats = noise_free.shape[1]
    centre = noise_free.mean(axis=1, keepdims=True)
    sampling = distance(noise_free - centre).sum(axis=1) / max(repeats - 1, 1)
    bias = np.maximum(distance(centre[:, 0] - best) - sampling / repeats, 0) + tail.sum()
    privacy = distance(estimate.coefficients - noise_free[:, :, None]).mean(axis=(1, 2))
    parts = np.stack([privacy, sampling, bias], axis=1)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _from_own_mean(estimate: Estimate, ordinary: Estimate, count: int) -> Array:
    """Measure how far releases of real curves are from their own mean: (budgets,)."""
    off = distances(squared_distances_from(estimate, ordinary)[:count, 0, :, 0])
    return root_mean_square(off)


def drawn(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> Draws:
    """Draw releases with what they are compared with: one per fresh data set, or many of one.

    Simulated ones are those behind `MeanStudy.errors`. Real curves are compared with
    `simulation.non_private.non_private_mean`.
    """
    grid = drawing_grid()
    if source.is_random:
        data, estimate = simulated(source, mechanism, budgets, seed)
        assert data.truth is not None
        reference = data.truth.grid_values
        ordinary = mechanism.without_protection(data).values(grid)[0, :, 0]
    else:
        data, estimate = on_screen(source, mechanism, budgets, seed)
        ordinary = non_private_mean(source).values(grid)[0, :, 0]
        reference = ordinary[0]
    count = len(budgets)
    curves = estimate.values(grid)[:count].reshape(count, -1, len(grid)).astype(np.float32)
    return Draws(
        data.facts.from_unit_time(grid), curves, ordinary, reference, data.truth is not None
    )


def on_screen(
    source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> tuple[CurveData, Estimate]:
    """Draw the curves on screen, one data set, and their releases (budgets + 1, 1, draws).

    The step after the budgets is the highest.
    """
    data = studies.data_on_screen(source, seed)
    return data, studies.shown_releases(
        mechanism,
        data,
        studies.beside_the_highest([(b,) for b in budgets]),
        seed,
        studies.draws_of_shown(data.n_curves),
    )


def other_methods(
    task: str, source: Source[CurveData], mechanism: Mechanism, budgets: Sequence[Budget], seed: int
) -> dict[str, tuple[Mechanism, Array]]:
    """Measure every other method of the same task at the same budgets: errors by label.

    Errors (budgets,) are those of `MeanStudy.error`; NaN where a method
    publishes nothing. Methods that refuse these sizes or this δ are left out, as is `mechanism`.
    """
    present, errors = mechanism.nearest_preset()[0], {}
    source = studied(source)
    for cls in mechanisms.for_task(task):
        for label, settings in cls.presets_for(task):
            other = cls(**settings).comparable(source.facts)
            if type(mechanism) is cls and present == label:
                continue
            with contextlib.suppress(InputError):
                errors[label] = (other, _error(source, other, budgets, seed))
    return errors


def _error(
    source: Source[CurveData], other: Mechanism, budgets: Sequence[Budget], seed: int
) -> Array:
    """Measure another method, if it publishes anything, with the δ that it needs."""
    asked_for = [other.suited(budget) for budget in budgets]
    errors = errors_and_shares(source, other, asked_for, seed)[0].reshape(len(budgets), -1)
    verdicts = [other.feasibility(source.sizes, (budget,)) for budget in asked_for]
    return np.where(
        [v is None or v.is_feasible for v in verdicts], root_mean_square(errors), np.nan
    )
