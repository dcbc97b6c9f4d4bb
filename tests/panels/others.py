"""Ordinary data and failures of methods beyond the mean.

Percentile curves, effects of covariates, single observations, events and sparse rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from engine.core.types import Array, CurveData, DataKind, Estimate, EventData, SampleData
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_newton import SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression
from engine.mechanisms.wavelet_adaptive import WaveletAdaptive
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.numerics.counts.comparisons import hazard_ratio
from engine.numerics.counts.curves import survival_curves
from engine.simulation.metrics import entry_coverage
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.event_times import SHAPES, EventTimes
from engine.sources.population_readings import PopulationReadings
from engine.sources.regression_points import RegressionPoints
from engine.sources.sparse_rows import SparseRows
from tests.panels.cells import Cell

TIMES, CENTRE, BOUNDS = "law of times", "observations around the curve", "bounds"
FOLLOWS = "times beside covariates"
PERCENTILES = PercentileCurves(band="simultaneous")
EIGENVALUES, CLIPPED = "eigenvalues above noise", "spread of the noise"

# -- one observation each -----------------------------------------------------------------------------------------


def normal_errors(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    return rng.standard_normal(shape)


def skewed_errors(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Lognormal, of mean 0 and standard deviation 1."""
    return (np.exp(0.8 * rng.standard_normal(shape)) - np.exp(0.32)) / np.sqrt(
        np.exp(1.28) - np.exp(0.64)
    )


def far_errors(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """One in twenty observations lies ten standard deviations above."""
    return np.where(rng.random(shape) < 0.05, 10.0, rng.standard_normal(shape))


def points(
    n: int,
    repeats: int,
    rng: np.random.Generator,
    *,
    sites: int = 1,
    times: Callable[[Array], Array] = lambda t: t,
    errors: Callable[[tuple[int, ...], np.random.Generator], Array] = normal_errors,
) -> CurveData:
    """Single observations of a smooth curve, as from a file: times stated as even, σ = 1 and |f| ≤ 4."""
    source = RegressionPoints(n_curves=n, n_servers=sites, bound=4.0)
    data = source.draw(repeats, rng)
    at = times(data.times)
    return replace(
        data,
        times=at,
        values=source.curve(at) + errors(at.shape, rng),
        facts=replace(data.facts, kind=DataKind.PUBLIC, symmetric=False),
    )


def no_band(estimate: Estimate, data: CurveData) -> Array:
    """False: without a band no release is held to be right, and only what is told counts."""
    return np.zeros(data.n_repeats, dtype=bool)


# -- several functions of curves ----------------------------------------------------------------------------------


def readings(
    n: int, repeats: int, rng: np.random.Generator, times: Callable[[Array], Array] = lambda t: t
) -> CurveData:
    """Readings of a population whose percentile curves are known, at times that are stated as even."""
    data = PopulationReadings(n_curves=n, n_observations_per_curve=8).draw(repeats, rng)
    return replace(data, times=times(data.times))


def holds_median_curve(estimate: Estimate, data: CurveData) -> Array:
    """Whether the band of the median holds all of its curve."""
    found = entry_coverage(estimate, PERCENTILES.truth_of(data))
    assert found is not None
    return np.asarray(found.joint[0, :, 0, found.joint.shape[-1] // 2] == 1)


def effects(
    n: int,
    repeats: int,
    rng: np.random.Generator,
    times: Callable[[Array], Array] = lambda t: t,
    follows: float = 0.0,
) -> CurveData:
    """An average and one effect; times stated as even may be Beta(1 + c x, 1 + c(1 − x)) of the covariate x."""
    source = CoefficientCurves(n_curves=n, n_covariates=1, n_observations_per_curve=5)
    data = source.draw(repeats, rng)
    x = np.repeat((data.regressors[:, 1] + 1) / 2, 5, axis=-1)
    drawn = rng.beta(1 + follows * x, 1 + follows * (1 - x)) if follows else times(data.times)
    return replace(data, times=drawn)


# -- times until an event -----------------------------------------------------------------------------------------


def events(
    n: int, repeats: int, rng: np.random.Generator, *, step: float = 0.0, **settings
) -> EventData:
    """Times in years; of a step they are recorded upwards, and no step is stated."""
    data = EventTimes(n_curves=n, **settings).draw(repeats, rng)
    if not step:
        return data
    time = np.minimum(np.ceil(data.time / step) * step, data.facts.time_high)
    return replace(data, time=time, facts=replace(data.facts, time_step=0.0))


def holds_median(estimate: Estimate, data: EventData, *, design: str, step: float) -> Array:
    """Whether the limits of the median hold that of all people."""
    true = 5 * float(SHAPES[design].inverse(np.array(0.5)))
    true = np.ceil(true / step) * step if step else true
    median = survival_curves(estimate.released[0])[0].median
    return np.asarray((median.low <= true) & (true <= median.high))[:, 0]


def holds_band(estimate: Estimate, data: EventData) -> Array:
    """Whether the steps of a survival curve's band hold the curve of all people."""
    curve = survival_curves(estimate.released[0])[0]
    times = np.linspace(0, data.facts.time_high, 401)
    low, high = curve.staircase(times)
    true = np.interp(
        times / data.facts.time_high,
        np.linspace(0, 1, data.truth.grid_values.shape[-1]),
        data.truth.grid_values,
    )
    return np.asarray(
        (((low <= true + 1e-9) & (true - 1e-9 <= high)) | (times > curve.last[..., None])).all(
            axis=-1
        )
    )[:, 0]


def holds_ratio(estimate: Estimate, data: EventData, *, ratio: float) -> Array:
    """Whether the interval of the hazard ratio holds it."""
    found = hazard_ratio(estimate.released[0])
    return np.asarray((found.low <= ratio) & (ratio <= found.high))[:, 0]


def _median(design: str, n: int, epsilon: float, step: float) -> Cell:
    heaped = f"heaped on {step:.2g} years" if step else "in days"
    return Cell(
        f"median, {design}, times {heaped}, n = {n:,}, ε = {epsilon:g}",
        partial(events, n, step=step, design=design),
        epsilon,
        mechanism=NoisyCounts(),
        holds=partial(holds_median, design=design, step=step),
    )


def _ratio(ratio: float, design: str, n: int) -> Cell:
    return Cell(
        f"hazard ratio {ratio:g}, {design}, n = {n:,}, ε = 1",
        partial(events, n, design=design, comparison="hazard ratio", ratio=ratio),
        1.0,
        mechanism=NoisyCounts(),
        holds=partial(holds_ratio, ratio=ratio),
    )


# -- sparse rows --------------------------------------------------------------------------------------------------


def rows(n: int, repeats: int, rng: np.random.Generator, **settings) -> SampleData:
    return SparseRows(n_curves=n, **settings).draw(repeats, rng)


def keeps_what_matters(estimate: Estimate, data: SampleData) -> Array:
    """Whether every feature that matters has a coefficient."""
    assert data.truth is not None
    matters = np.broadcast_to(data.truth.node_values != 0, estimate.coefficients[0, :, 0].shape)
    return np.asarray(((estimate.coefficients[0, :, 0] != 0) | ~matters).all(axis=-1))


def _sparse_band(what: str, n: int, epsilon: float, sparsity: int, **settings) -> Cell:
    return Cell(
        f"sparse band, {what}, n = {n:,}, ε = {epsilon:g}",
        partial(rows, n, **settings),
        epsilon,
        mechanism=SparseInference(sparsity=sparsity, target="band"),
    )


_SPARSE = (
    _sparse_band("3 of 20 features matter", 50_000, 2, 3, n_features=20, n_shared=3),
    _sparse_band(
        "neighbours correlated .8", 50_000, 2, 3, n_features=20, n_shared=3, design="ar1_strong"
    ),
    _sparse_band("2 of 5 that matter kept", 50_000, 2, 2, n_features=20, n_shared=5),
    *(
        Cell(
            f"{name}: 5 of 50 features matter, n = 50,000, ε = 2",
            partial(rows, 50_000, n_features=50, n_shared=5),
            2.0,
            mechanism=mechanism,
            holds=keeps_what_matters,
        )
        for name, mechanism in (
            ("hard thresholding", SparseRegression(sparsity=5)),
            ("features, then a Newton step", SparseNewton(sparsity=5)),
        )
    ),
)

_ORDINARY_POINTS = tuple(
    Cell(
        f"{name}, n = {n:,}, {sites} site{'s' * (sites > 1)}, ε = 1",
        partial(points, n, sites=sites),
        1.0,
        mechanism=mechanism,
        holds=no_band,
    )
    for name, mechanism in (
        ("wavelets at once", WaveletGlobal()),
        ("wavelets, centred first", WaveletAdaptive()),
    )
    for n, sites in ((4000, 1), (16_000, 4))
)
_ORDINARY_CURVES = tuple(
    Cell(
        f"{name}, n = {n:,}, ε = {epsilon:g}",
        partial(draw, n),
        epsilon,
        mechanism=mechanism,
        holds=holds,
    )
    for name, draw, mechanism, holds in (
        ("median curve", readings, PERCENTILES, holds_median_curve),
        ("effect of a covariate", effects, AdaptiveCoefficients(), None),
    )
    for n, epsilon in ((1000, 2.0), (3000, 1.0))
)
ORDINARY = (
    *_ORDINARY_CURVES,
    *_ORDINARY_POINTS,
    *(
        Cell(
            f"survival, {design}, n = {n:,}, ε = 1",
            partial(events, n, design=design),
            1.0,
            mechanism=NoisyCounts(),
            holds=holds_band,
        )
        for design, n in (("lung", 228), ("early", 1000))
    ),
    _median("lung", 1000, 1, 0),
    _ratio(1.5, "lung", 500),
    *_SPARSE,
)
_FAILURES = (
    ("times Beta-like (t^.4)", TIMES, {"times": lambda t: t**0.4}),
    ("no times in .4–.6", TIMES, {"times": lambda t: np.where(t < 0.5, 0.8 * t, 0.8 * t + 0.2)}),
    ("12 common times", TIMES, {"times": lambda t: (np.floor(12 * t) + 0.5) / 12}),
)
FAILURES = (
    *(
        Cell(
            f"{name}: {what}, n = 3,000, ε = 1",
            partial(draw, 3000, **settings),
            1.0,
            told_by=told_by,
            mechanism=mechanism,
            holds=no_band,
        )
        for name, draw, mechanism in (
            ("percentile curves", readings, PERCENTILES),
            ("effect of a covariate", effects, AdaptiveCoefficients()),
        )
        for what, told_by, settings in _FAILURES
    ),
    Cell(
        "effect of a covariate: times follow it, n = 3,000, ε = 1",
        partial(effects, 3000, follows=3.0),
        1.0,
        told_by=FOLLOWS,
        mechanism=AdaptiveCoefficients(),
        holds=no_band,
    ),
    *(
        Cell(
            f"{name}: {what}, n = 4,000, ε = 1",
            partial(points, 4000, **settings),
            1.0,
            told_by=told_by,
            mechanism=mechanism,
            holds=no_band,
        )
        for name, mechanism in (
            ("wavelets at once", WaveletGlobal()),
            ("wavelets, centred first", WaveletAdaptive()),
        )
        for what, told_by, settings in _FAILURES
    ),
    Cell(
        "wavelets, centred first: skewed errors, n = 4,000, ε = 1",
        partial(points, 4000, errors=skewed_errors),
        1.0,
        told_by=CENTRE,
        mechanism=WaveletAdaptive(),
        holds=no_band,
    ),
    Cell(
        "wavelets at once: one in twenty 10 σ away, n = 16,000, ε = 1",
        partial(points, 16_000, errors=far_errors),
        1.0,
        told_by=BOUNDS,
        mechanism=WaveletGlobal(),
        holds=no_band,
    ),
    replace(
        _sparse_band("few rows", 2000, 1, 3, n_features=20, n_shared=3, n_servers=1),
        told_by=EIGENVALUES,
        holds=no_band,
    ),
    replace(
        _sparse_band("spread of noise .5, stated as .05", 50_000, 2, 3, n_features=20, n_shared=3),
        told_by=CLIPPED,
        mechanism=SparseInference(sparsity=3, target="band", noise_sd=0.05),
        holds=no_band,
    ),
    _median("lung", 5000, 1, 0.25),
    _median("early", 1000, 1, 0.5),
    _median("wei2", 5000, 1, 1 / 12),
    _ratio(0.3, "early", 5000),
    _ratio(0.5, "bump", 50_000),
)
