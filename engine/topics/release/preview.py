"""What a release would look like, before it is made: on simulated data from what is stated alone.

Nothing here is given the data: facts and sizes hold no observation. The data are simulated by the
twin of these facts (`engine.sources.twin`), the method runs on them with the budget that the quote
plans it with, and what the twin's true curve is, is known. So a release can be seen, with its band,
as often as one likes and at no cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.special import expit

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.tasks import DENSITY, INCIDENCE, RISK_MINIMISATION, Argument, DataType
from engine.core.types import (
    Array,
    Budget,
    CurveData,
    Data,
    Estimate,
    EventFacts,
    PublicFacts,
    SampleData,
    Sizes,
)
from engine.mechanisms import Mechanism
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.privacy.feasibility import Feasibility
from engine.release.counts import curves_in, first_table
from engine.release.functions import places as published_places
from engine.release.uncertainty import STAIRCASE, band_of
from engine.sources.event_twin import EventTwin
from engine.sources.reading_twin import ReadingTwin
from engine.sources.twin import Twin

MOST_OBSERVATIONS = 2_000_000  # of one simulated data set
PEAKS = 3  # of the simulated curve of which is asked how many a release shows
_RELEASES = 20  # behind the error
_STUDY = 400_000  # observations of all its data sets
_TIMES_ASKED = 10  # how often peaks are counted
_NEAR = 0.25  # of the distance between peaks: how far one may be from its place
_STANDS_OUT = 0.5  # of the true height over its valleys, from which a peak counts
_FOR_TRUTH = 2000  # curves behind the variance of the twin
_ODDS, _ABOUT = 2.0, 0.17  # largest log-odds of classes; spread of numbers, in half-ranges
_BUMPS, _BUMP_SD = (0.2, 0.5, 0.8), 0.06  # of simulated records, as shares of their range


@dataclass(frozen=True)
class PreviewedCurve:
    """One released function, its band where there is one, and the true one: (GRID_SIZE,) each."""

    name: str
    released: Array
    truth: Array
    low: Array | None
    high: Array | None


@dataclass(frozen=True)
class PreviewedPercentiles:
    """Shares below each curve, and the time in ranges of the simulated release.

    Parameters
    ----------
    levels : (T,)
    ranges : TimeInRanges or None
        None without cut-offs.
    target : tuple of float
        The two cut-offs around the range in the middle; empty where there is none.
    """

    levels: Array
    ranges: TimeInRanges | None
    target: tuple[float, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, estimate: Estimate, facts: PublicFacts
           ) -> PreviewedPercentiles | None:
        """None for all else than percentile curves."""
        if not isinstance(mechanism, PercentileCurves):
            return None
        return cls(mechanism.levels, estimate.released[0], mechanism.target(facts))


@dataclass(frozen=True)
class ReleasePreview:
    """A simulated release and how far such releases are off.

    Parameters
    ----------
    facts : PublicFacts
        As stated.
    places : (GRID_SIZE,) or (1,)
        Where the functions are, in their own unit; one place of a number.
    curves : tuple of PreviewedCurve
        In response units.
    band : str
        "pointwise", "simultaneous", "staircase", or empty without a band.
    errors : (releases,)
        Root mean squared distances of simulated releases from the truth.
    verdict : Feasibility or None
        From the public sizes.
    peaks : int or None
        How many of `PEAKS` peaks, each `peak_height` high, a release mostly shows.
    warnings : tuple of (str, float)
        What such releases say against themselves, each with the share of the twin's that do.
    percentiles : PreviewedPercentiles or None
        What belongs to percentile curves alone.
    half_width : float or None
        Of the band to either side, on average over places, functions and releases; None without.
    """

    facts: PublicFacts
    places: Array
    curves: tuple[PreviewedCurve, ...]
    band: str
    errors: Array
    verdict: Feasibility | None
    peaks: int | None
    peak_height: float
    warnings: tuple[tuple[str, float], ...]
    percentiles: PreviewedPercentiles | None = None
    half_width: float | None = None

    @property
    def error(self) -> float:
        """Root mean square of the errors."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def within(self) -> float:
        """In 95 % of releases the error is below this."""
        return float(np.quantile(self.errors, 0.95))


def release_preview(facts: PublicFacts, sizes: Sizes, mechanism: Mechanism, budget: Budget,
                    seed: int) -> ReleasePreview:
    """Simulate data from stated facts and release them.

    Parameters
    ----------
    facts, sizes
        Of the data that would be published: all that is looked at.
    budget : Budget
        The one that the quote plans the mechanism with.
    seed : int
        Of the simulation; a release has none.

    Raises
    ------
    InputError
        If the sizes are too large to be simulated for a picture, or what the mechanism refuses.
    """
    if sizes.n_observations > MOST_OBSERVATIONS:
        raise InputError(f"A preview is simulated for at most {MOST_OBSERVATIONS:,} observations; "
                         f"these are {sizes.n_observations:,}.", field="sizes",
                         hint="The cost is known all the same.")
    simulate = _simulator(facts, sizes, mechanism)
    study = _study(simulate, sizes, mechanism, budget, seed)
    estimate, grid = study.estimate, drawing_grid()
    if mechanism.main_task.argument is Argument.NOTHING:
        grid = grid[:1]
    places, scale = _places(facts, mechanism, grid)
    # (1, repeats, draws[, functions], places)
    released = _values(estimate, mechanism, grid) * scale
    difference = released[0] - study.truths[:, None] * scale
    squared = (difference**2).mean(axis=-1)
    if estimate.functions:
        squared = squared.sum(axis=-1)
    peaks, height = _peaks(simulate, study, facts, mechanism, budget, seed)
    band = estimate.band_kind
    curves = _curves(estimate, released, study, scale, facts)
    if isinstance(mechanism, NoisyCounts):
        curves, band = _with_steps(curves, estimate, mechanism, places)
    return ReleasePreview(
        facts=facts, places=places, curves=curves, band=band,
        errors=np.sqrt(squared.ravel()), verdict=mechanism.feasibility(sizes, (budget,)),
        peaks=peaks, peak_height=height * scale, warnings=_warnings(estimate),
        percentiles=PreviewedPercentiles.of(mechanism, estimate, facts),
        half_width=_half_width(estimate, places, scale))


def _half_width(estimate: Estimate, places: Array, scale: float) -> float | None:
    """Of the bands of all releases, as each release would say it of its own."""
    if estimate.limits is None:
        return None
    low, high = (end.reshape(-1, end.shape[-1]) * scale for end in estimate.limits)
    if low.shape[-1] != len(places) or not np.isfinite(high - low).all():
        return None
    band = band_of(estimate, list(zip(low, high, strict=True)), places)
    return None if band is None else band.half_width


def _warnings(estimate: Estimate) -> tuple[tuple[str, float], ...]:
    """What releases of the twin carry, each with its share of all of them."""
    shares = ((caution.text, float(caution.applies.mean())) for caution in estimate.cautions)
    return tuple((text, share) for text, share in shares if share)


# -- simulated data -------------------------------------------------------------------------------

Simulate = Callable[[int, np.random.Generator, int], tuple[Data, Array]]


@dataclass(frozen=True)
class _Study:
    """Releases of simulated data, and what is true of them: (repeats[, functions], places)."""

    estimate: Estimate
    truths: Array


def _simulator(facts: PublicFacts, sizes: Sizes, mechanism: Mechanism) -> Simulate:
    """How data sets are simulated, with so many peaks or as usual, and their truth."""
    if isinstance(mechanism, NoisyCounts) and isinstance(facts, EventFacts):
        people = EventTwin.of(facts, sizes, mechanism.counted, mechanism.task == INCIDENCE.key)
        functions = people.truth(drawing_grid())
        return lambda repeats, rng, peaks: (
            people.draw(repeats, rng), np.broadcast_to(functions, (repeats, *functions.shape)))
    if mechanism.main_task is RISK_MINIMISATION:
        return lambda repeats, rng, peaks: _labelled(facts, sizes, repeats, rng)
    if isinstance(mechanism, PercentileCurves):
        scale, piled = mechanism.scale(facts), mechanism.piled_up(facts)
        readers = ReadingTwin.of(facts, sizes, scale.back, piled)
        percentiles = readers.truth(mechanism.levels, drawing_grid())
        return lambda repeats, rng, peaks: (
            readers.draw(repeats, rng), np.broadcast_to(
                percentiles, (repeats, *percentiles.shape)))
    if mechanism.main_task.data is DataType.RECORDS:
        return lambda repeats, rng, peaks: _records(facts, sizes, repeats, rng)
    twin = Twin.of(facts, sizes, facts.reading_sd or None)
    if mechanism.main_task.argument is Argument.TWO_TIMES:
        return lambda repeats, rng, peaks: _varying(twin, repeats, rng)

    def curves(repeats: int, rng: np.random.Generator, peaks: int) -> tuple[Data, Array]:
        source = replace(twin, peaks=peaks)
        data = source.draw(repeats, rng)
        truth = source.truth.grid_values
        if mechanism.main_task.argument is Argument.NOTHING:
            return data, _number(data)
        if facts.covariates:
            data, truth = _with_covariates(data, facts, rng), _without_effects(truth, facts)
        return data, np.broadcast_to(truth, (repeats, *truth.shape))

    return curves


def _number(data: CurveData) -> Array:
    """The mean over people of the means of their observations: (repeats, 1)."""
    per_person = data.values.reshape(data.n_repeats, data.n_curves, -1).mean(axis=2)
    return np.asarray(per_person.mean(axis=1, keepdims=True))


def _with_covariates(data: CurveData, facts: PublicFacts, rng: np.random.Generator) -> CurveData:
    """The same with covariates that are evenly spread over their stated ranges."""
    low, high = np.array([(c.low, c.high) for c in facts.covariates]).T
    drawn = low + (high - low) * rng.random((data.n_repeats, data.n_curves, len(low)))
    return replace(data, covariates=drawn, truth=None,
                   facts=replace(data.facts, covariates=facts.covariates))


def _without_effects(truth: Array, facts: PublicFacts) -> Array:
    """The baseline and effects of zero: what a release shows beside zero is noise."""
    return np.concatenate([truth[None], np.zeros((len(facts.covariates), len(truth)))])


def _records(facts: PublicFacts, sizes: Sizes, repeats: int, rng: np.random.Generator
             ) -> tuple[Data, Array]:
    """Records of one number with three equal bumps inside its range, and their density."""
    stated, n = facts.covariates[0], sizes.n_curves
    unit = np.array(_BUMPS)[rng.integers(len(_BUMPS), size=(repeats, n))]
    unit = np.clip(unit + _BUMP_SD * rng.standard_normal((repeats, n)), 0, 1)
    x = (stated.low + (stated.high - stated.low) * unit)[..., None]
    server = np.repeat(np.arange(sizes.n_servers), sizes.n_curves_per_server)
    z = (drawing_grid()[:, None] - np.array(_BUMPS)) / _BUMP_SD
    density = (np.exp(-z * z / 2) / (_BUMP_SD * math.sqrt(2 * math.pi))).mean(axis=1)
    data = SampleData(x, None, server, replace(facts, covariates=(stated,)))
    return data, np.broadcast_to(density, (repeats, len(density)))


def _labelled(facts: PublicFacts, sizes: Sizes, repeats: int, rng: np.random.Generator
              ) -> tuple[Data, Array]:
    """Records of one number and a response that follows three bumps, and what predicts it.

    Numbers spread about the bumps as a sixth of their range; of two classes the odds follow them.
    """
    stated, n = facts.covariates[0], sizes.n_curves
    unit = rng.random((repeats, n))
    height, truth = _bumpy(unit), _bumpy(drawing_grid())
    if facts.two_classes:
        log_odds = _ODDS * (2 * height - 1)
        is_one = rng.random(unit.shape) < expit(log_odds)
        y = np.where(is_one, facts.value_high, facts.value_low)
        truth = _ODDS * (2 * truth - 1)
    else:
        middle, half = facts.value_middle, facts.value_half_width
        y = middle + half * ((height - 0.5) + _ABOUT * rng.standard_normal(unit.shape))
        y, truth = np.clip(y, facts.value_low, facts.value_high), middle + half * (truth - 0.5)
    x = (stated.low + (stated.high - stated.low) * unit)[..., None]
    server = np.repeat(np.arange(sizes.n_servers), sizes.n_curves_per_server)
    return (SampleData(x, y, server, replace(facts, covariates=(stated,))),
            np.broadcast_to(truth, (repeats, len(truth))))


def _bumpy(unit: Array) -> Array:
    """Three bumps of height one, at places on [0, 1]."""
    z = (unit[..., None] - np.array(_BUMPS)) / (2 * _BUMP_SD)
    return np.asarray(np.exp(-z * z / 2).sum(axis=-1))


def _varying(twin: Twin, repeats: int, rng: np.random.Generator) -> tuple[Data, Array]:
    """Curves of the twin, and their variance over the grid, from many more of them."""
    many = replace(twin, people=(_FOR_TRUTH,), stated=replace(
        twin.stated, observations_per_curve=twin.n_observations))
    times = tuple(drawing_grid().tolist())
    variance = many.draw(1, rng).on_grid(times).var(axis=1)[0]
    return twin.draw(repeats, rng), np.broadcast_to(variance, (repeats, len(variance)))


# -- releases -------------------------------------------------------------------------------------


def _study(simulate: Simulate, sizes: Sizes, mechanism: Mechanism, budget: Budget, seed: int
           ) -> _Study:
    """Some releases of each of some data sets: fewer data sets where they are large."""
    repeats = int(np.clip(_STUDY // sizes.n_observations, 1, _RELEASES))
    data, truths = simulate(repeats, generator(seed, DATA_STREAM, 0), 0)
    return _Study(_released(data, mechanism, budget, -(-_RELEASES // repeats), seed), truths)


def _released(data: Data, mechanism: Mechanism, budget: Budget, draws: int, seed: int) -> Estimate:
    budgets = [(budget,)]
    return mechanism.release_many(cast(Any, data), budgets, draws, generator(seed, NOISE_STREAM, 0))


def _values(estimate: Estimate, mechanism: Mechanism, grid: Array) -> Array:
    """Released functions on the grid; of a covariance the variance, where both times are one."""
    if mechanism.main_task.argument is Argument.TWO_TIMES:
        return estimate.values(np.column_stack([grid, grid]))
    return estimate.values(grid)


def _places(facts: PublicFacts, mechanism: Mechanism, grid: Array) -> tuple[Array, float]:
    """Places in their own unit, and the unit of the values there."""
    if isinstance(mechanism, NoisyCounts):
        return published_places(mechanism, facts)[0], 1.0
    if mechanism.main_task.argument is Argument.FEATURE:
        feature, is_density = facts.covariates[0], mechanism.main_task is DENSITY
        width = feature.high - feature.low
        return feature.low + grid * width, 1 / width if is_density else 1.0
    return facts.from_unit_time(grid), 1.0


def _curves(estimate: Estimate, released: Array, study: _Study, scale: float, facts: PublicFacts
            ) -> tuple[PreviewedCurve, ...]:
    """The first release, one curve for each function."""
    first, truth = np.atleast_2d(released[0, 0, 0]), np.atleast_2d(study.truths[0]) * scale
    ends: list[Array] = []
    if estimate.limits is not None:
        ends = [np.atleast_2d(end[0, 0, 0]) * scale for end in estimate.limits]
        if not all(np.isfinite(end).all() for end in ends):
            ends = []
    names = estimate.functions or (facts.value_name,)
    return tuple(PreviewedCurve(name, first[k], truth[k], *(end[k] for end in ends)) if ends else
                 PreviewedCurve(name, first[k], truth[k], None, None)
                 for k, name in enumerate(names))


def _with_steps(curves: tuple[PreviewedCurve, ...], estimate: Estimate, mechanism: NoisyCounts,
                places: Array) -> tuple[tuple[PreviewedCurve, ...], str]:
    """Counted curves with their bands, as far as enough people are left; which band it is."""
    counted = curves_in(first_table(estimate), mechanism) if estimate.released[0] else []
    if not counted:
        return curves, ""
    stepped = []
    for curve, steps in zip(curves, counted, strict=True):
        until = places <= float(steps.last) * (1 + 1e-12)
        low, high, released = (np.where(until, row, np.nan) for row in (
            *steps.staircase(places), curve.released))
        stepped.append(replace(curve, released=released, low=low, high=high))
    return tuple(stepped), STAIRCASE


# -- what survives --------------------------------------------------------------------------------


def _peaks(simulate: Simulate, study: _Study, facts: PublicFacts, mechanism: Mechanism,
           budget: Budget, seed: int) -> tuple[int | None, float]:
    """How many of the peaks of a simulated curve a release mostly shows, and their height.

    A peak counts if it is near its true place and stands out by half of what it truly does. Nothing
    of several functions or of a number.
    """
    estimate, task = study.estimate, mechanism.main_task
    if (estimate.functions or task.argument in (Argument.NOTHING, Argument.TWO_TIMES)
            or task.data is DataType.EVENTS):
        return None, 0.0
    data, truths = simulate(1, generator(seed, DATA_STREAM, 1), PEAKS)
    released = _released(data, mechanism, budget, _TIMES_ASKED, seed + 1).values(drawing_grid())
    height = float(np.ptp(truths[0]))
    where = (np.arange(PEAKS) + 0.5) / PEAKS
    if mechanism.main_task.argument is Argument.FEATURE:
        where = np.array(_BUMPS)
    counts = [peaks_shown(curve, where, _STANDS_OUT * height) for curve in released[0, 0]]
    return int(np.bincount(counts).argmax()), height


def peaks_shown(curve: Array, where: Array, prominence: float) -> int:
    """How many true peaks, at `where` (peaks,) on [0, 1], a curve (places,) shows.

    It shows one where a maximum inside the range stands out so much, within a quarter of the
    distance between peaks.
    """
    from scipy.signal import find_peaks  # on first use: it takes a moment

    tops = find_peaks(curve, prominence=prominence)[0] / (len(curve) - 1)
    return int((np.abs(where[:, None] - tops).min(axis=1, initial=np.inf) <= _NEAR / len(where)
                ).sum())
