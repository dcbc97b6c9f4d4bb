"""Preview of a release before it is made: on simulated data from what is stated alone.

Nothing here is given the data: facts and sizes hold no observation. The data are simulated by the
twin of these facts (`engine.sources.twins`), the method runs on them with the budget that the
rehearsal plans it with, and what the twin's true curve is, is known. So a release can be seen, with
its band, as often as one likes and at no cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from engine.core.bands import holds_a_constant, least_change
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.tasks import TASKS, Argument, DataType
from engine.core.types import Array, Budget, Data, Estimate, PublicFacts, Sizes
from engine.language import quality
from engine.mechanisms import Mechanism
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.mechanisms.study import Study
from engine.privacy.feasibility import Feasibility, verdict
from engine.release import sentences
from engine.release.certified import ReleaseCost
from engine.release.counts import curves_in, first_table
from engine.release.functions import axes_of
from engine.release.plan import Forecast
from engine.release.uncertainty import STAIRCASE, ReleasedBand, band_of
from engine.simulation import studies
from engine.simulation.metrics import distances, totals, within
from engine.sources import Source, sources
from engine.sources.twin import SimulatedTwin, Twin
from engine.sources.twins import ReadingTwin, twin_of
from engine.uploads.units import same_unit

SEED = 1  # of pages, too, until somebody changes it
MAX_OBSERVATIONS = 2_000_000  # of one simulated data set
PEAKS = 3  # of the simulated curve of which is asked how many a release shows
_RELEASES = 20  # behind the error
_STUDY = 400_000  # observations of all its data sets
_TIMES_ASKED = 10  # how often peaks are counted
_NEAR = 0.25  # of the distance between peaks: how far one may be from its place
_DAY = 24.0  # hours
_STANDS_OUT = 0.5  # of the true height over its valleys, from which a peak counts


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
    """Shares below each curve, and the time in ranges of the simulated release."""

    levels: Array  # (T,)
    ranges: TimeInRanges | None  # none without cut-offs
    # the two cut-offs around the range in the middle; empty where there is none
    target: tuple[float, ...]

    @classmethod
    def of(
        cls, mechanism: Mechanism, estimate: Estimate, facts: PublicFacts
    ) -> PreviewedPercentiles | None:
        """Read percentile curves off a release; None for other methods."""
        if not isinstance(mechanism, PercentileCurves):
            return None
        return cls(mechanism.levels, estimate.released[0], mechanism.target(facts))


@dataclass(frozen=True)
class ReleasePreview:
    """A simulated release and how far such releases are off."""

    facts: PublicFacts
    # (GRID_SIZE,) or (1,): where the functions are, in their own unit; one place of a number
    points: Array
    curves: tuple[PreviewedCurve, ...]
    band: str  # "pointwise", "simultaneous", "staircase", or empty without a band
    errors: Array  # (releases,): root mean squared distances of simulated releases from the truth
    verdict: Feasibility | None  # from the public sizes
    peaks: int | None  # how many of `PEAKS` peaks, each `peak_height` high, a release mostly shows
    peak_height: float
    # tuple of (str, float): what such releases say against themselves, each with the share of the
    # twin's that do
    warnings: tuple[tuple[str, float], ...]
    percentiles: PreviewedPercentiles | None = None
    # wide, change: of the bands of such releases: their average width as a share of the stated
    # range, and from which size on they tell a change over time; 0 where there is no single curve
    # over time
    wide: float = 0.0
    change: float = 0.0
    is_flat: bool = False  # whether a constant curve fits into most of these bands
    # of the band to either side, on average over places, functions and releases; None without
    half_width: float | None = None
    at_times: float = 0.0  # the same at few common times, between which it is wider; 0 without them
    # whether most of these releases warn that their bands cannot be relied on
    is_unreliable: bool = False
    # whether most of them test the stated facts that a release can contradict
    is_tested: bool = True
    # how far most people are guessed to be from the average; 0 where no error depends on it
    spread: float = 0.0
    # (float, float) or None: the error if people differ half as much as guessed, and twice as much
    error_range: tuple[float, float] | None = None
    # what the true curve of the picture is: that of a public source, or "" for an invented one
    typical: str = ""

    @property
    def grade(self) -> str | None:
        """The readable detail of such releases, graded like the real one."""
        return verdict(self.verdict, self.wide, self.is_flat, self.is_unreliable, self.is_tested)

    @property
    def error(self) -> float:
        """Root mean square of the errors."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def within(self) -> float:
        """The bound on the error in 95 % of releases."""
        return float(within(self.errors))

    def forecast(self, task: str) -> Forecast | None:
        """Return the forecast published beside the release; None if no error is known.

        Results of some tasks are not in the unit of values.
        """
        unit = self.facts.value_unit if TASKS[task].has_value_unit else ""
        is_known = math.isfinite(self.error) and math.isfinite(self.within)
        return Forecast(self.error, self.within, unit) if is_known else None


def release_preview(
    facts: PublicFacts,
    sizes: Sizes,
    mechanism: Mechanism,
    budget: Budget,
    seed: int,
    requested: Budget | None = None,
) -> ReleasePreview:
    """Simulate data from stated facts and release them.

    The mechanism is planned with `budget`; `requested` is the one asked for, of which certification
    leaves all but a thousandth. Errors of a mean curve are those of its study.
    """
    facts.check_stated()
    twin = _twin(facts, sizes, mechanism)
    n_drawn = _n_drawn(twin, sizes)
    if n_drawn > MAX_OBSERVATIONS:
        raise InputError(
            f"A preview by this method is simulated for at most {MAX_OBSERVATIONS:,} "
            f"observations; these are {n_drawn:,}.",
            field="sizes",
            hint="The cost is known all the same.",
        )
    drawn = _simulated(twin, n_drawn, mechanism, budget, seed)
    estimate, grid = drawn.estimate, drawing_grid()
    if mechanism.main_task.argument is Argument.NOTHING:
        grid = grid[:1]
    points, scale = _points(facts, mechanism, grid)
    # (1, repeats, draws[, functions], places)
    released = _values(estimate, mechanism, grid) * scale
    spread, error_range = 0.0, None
    if isinstance(twin, Twin) and mechanism.tasks & twin.tasks:
        study = Study(source=twin, mechanism=mechanism, budgets=(requested or budget,), seed=seed)
        errors = _errors_of_study(study)
        spread = twin.spread
        error_range = _error_range(study, twin)
    else:
        errors = _errors(released[0] - drawn.truths[:, None] * scale, bool(estimate.functions))
    peaks, height = _peaks(twin, mechanism, budget, seed)
    band = estimate.band_kind
    names = estimate.functions or (
        mechanism.estimand.quantity if isinstance(mechanism, NoisyCounts) else facts.value_name,
    )
    pictured, typical = drawn, ""
    if isinstance(twin, Twin) and (like := typical_twin(twin)) is not None:
        pictured, typical = _simulated(like[0], n_drawn, mechanism, budget, seed), like[1]
        released = _values(pictured.estimate, mechanism, grid) * scale
    curves = _curves(pictured.estimate, released, pictured, scale, names)
    if isinstance(mechanism, NoisyCounts):
        curves, band = _with_steps(curves, estimate, mechanism, points)
    ends = _ends_over_time(estimate, mechanism, facts)
    change, share_flat = 0.0, 0.0
    if ends is not None:
        change = least_change(*ends)
        flat = [holds_a_constant(*limits) for limits in zip(*ends, strict=True)]
        share_flat = float(np.mean(flat))
    released_band = _band(estimate, points, scale)
    return ReleasePreview(
        facts=facts,
        points=points,
        curves=curves,
        band=band,
        errors=errors,
        verdict=mechanism.feasibility(sizes, (budget,)),
        peaks=peaks,
        peak_height=height * scale,
        warnings=_warnings(estimate, facts, ends),
        percentiles=PreviewedPercentiles.of(mechanism, estimate, facts),
        wide=change / (2 * facts.value_half_width),
        change=change,
        is_flat=share_flat > 0.5,
        half_width=None if released_band is None else released_band.half_width,
        at_times=0.0 if released_band is None else released_band.at_times,
        is_unreliable=float(estimate.is_unreliable.mean()) > 0.5,
        is_tested=float(estimate.is_tested.mean()) > 0.5,
        spread=spread,
        error_range=error_range,
        typical=typical,
    )


def preview_before(
    source: Source[Data], mechanism: Mechanism, budget: Budget, cost: ReleaseCost, seed: int = SEED
) -> ReleasePreview | None:
    """Simulate the release to be published; None if the data are too large.

    Reads only facts and sizes of `source`.
    """
    facts, sizes = source.facts, source.sizes
    if _n_drawn(_twin(facts, sizes, mechanism), sizes) > MAX_OBSERVATIONS:
        return None
    return release_preview(facts, sizes, mechanism, cost.inner_budgets[0], seed, budget)


def _errors_of_study(study: Study[Any]) -> Array:
    """Measure root mean squared distances of the releases of the twin's study: (releases,)."""
    data = studies.data(study)
    estimate = studies.released(study, data, [study.budgets])
    squared = studies.squared_errors(study, data, estimate, [study.budgets])
    return totals(distances(squared)).ravel()


def _error_range(study: Study[Any], twin: Twin) -> tuple[float, float]:
    """Measure errors of twins with half and twice the spread, as far as bounds allow."""
    largest = twin.stated.value_half_width
    spreads = (min(factor * twin.spread, largest) for factor in (0.5, 2.0))
    others = (replace(study, source=replace(twin, spread=spread)) for spread in spreads)
    low, high = (float(np.sqrt((_errors_of_study(other) ** 2).mean())) for other in others)
    return low, high


def _errors(differences: Array, has_functions: bool) -> Array:
    """Take root mean squares over places, (repeats, draws[, functions], places): (releases,)."""
    squared = (differences**2).mean(axis=-1)
    return np.asarray(np.sqrt(squared.sum(axis=-1) if has_functions else squared).ravel())


def _band(estimate: Estimate, points: Array, scale: float) -> ReleasedBand | None:
    """Build the bands of all releases together, as each release would say it of its own."""
    if estimate.limits is None:
        return None
    low, high = (end.reshape(-1, end.shape[-1]) * scale for end in estimate.limits)
    if low.shape[-1] != len(points) or not np.isfinite(high - low).all():
        return None
    return band_of(estimate, list(zip(low, high, strict=True)), points)


def _ends_over_time(
    estimate: Estimate, mechanism: Mechanism, facts: PublicFacts
) -> tuple[Array, Array] | None:
    """Return ends of bands of simulated releases, within the bounds: (releases, places) each.

    None where the result is no single curve over time with a band.
    """
    task = mechanism.main_task
    if (
        task.argument is not Argument.TIME
        or task.data is DataType.EVENTS
        or estimate.functions
        or estimate.limits is None
    ):
        return None
    low, high = (
        np.clip(end.reshape(-1, end.shape[-1]), facts.value_low, facts.value_high)
        for end in estimate.limits
    )
    return (low, high) if np.isfinite(low).all() and np.isfinite(high).all() else None


def _warnings(
    estimate: Estimate, facts: PublicFacts, ends: tuple[Array, Array] | None
) -> tuple[tuple[str, float], ...]:
    """Collect the warnings of the twin's releases, each with its share of all of them."""
    shares = [(text, float(applies.mean())) for text, applies in estimate.warnings_by_kind(0)]
    if ends is not None:
        flat = [
            text
            for limits in zip(*ends, strict=True)
            if (text := quality.no_change(facts, *limits))
        ]
        shares.append((flat[0] if flat else "", len(flat) / len(ends[0])))
        released = estimate.values(drawing_grid())
        released = released.reshape(-1, released.shape[-1])
        beyond = ((released < facts.value_low) | (released > facts.value_high)).mean(axis=-1)
        shares.append(
            (
                sentences.moved(float(beyond[beyond > 0].mean())) if beyond.any() else "",
                float((beyond > 0).mean()),
            )
        )
    if (
        estimate.band_kind
        and estimate.band is not None
        and estimate.band.bias is None
        and (estimate.basis_sizes)
    ):
        few = quality.few_functions(estimate.basis_sizes[0])
        shares.append((few, float(bool(few))))
    return tuple((text, share) for text, share in shares if share)


# -- simulated releases ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Simulated:
    """Releases of simulated data, and what is true of them: (repeats[, functions], places)."""

    estimate: Estimate
    truths: Array


def _twin(facts: PublicFacts, sizes: Sizes, mechanism: Mechanism) -> SimulatedTwin:
    """Simulate data from the stated facts, with the truth that the mechanism aims at."""
    if isinstance(mechanism, PercentileCurves):
        return ReadingTwin.of(
            facts, sizes, mechanism.scale(facts).back, mechanism.levels, mechanism.piled_up(facts)
        )
    twin = twin_of(mechanism.main_task, facts, sizes)
    return twin.of_few() if mechanism.averages_all else twin


_PUBLIC_SHAPES = ("glucose_days", "growth_curves", "electricity_days")


def typical_twin(twin: Twin) -> tuple[Twin, str] | None:
    """Return the twin with the mean of a public source of the same kind, and what that is called.

    A source is of the same kind if it measures the same in the same unit over a range of time that
    holds the stated one.
    """
    facts = twin.stated
    for key in _PUBLIC_SHAPES:
        source = sources.build(key, {})
        like = source.facts
        name = like.value_name.casefold()
        holds = like.time_low <= facts.time_low and facts.time_high <= like.time_high
        if not (
            name in facts.value_name.casefold()
            and like.value_unit == facts.value_unit
            and same_unit(like.time_unit, facts.time_unit)
            and holds
        ):
            continue
        assert source.truth is not None
        times = like.to_unit_time(facts.from_unit_time(drawing_grid()))
        mean = np.interp(times, drawing_grid(), source.truth.grid_values)
        mean = np.clip(mean, facts.value_low, facts.value_high)
        period = "day" if like.time_high == _DAY else "curve"
        return replace(twin, typical=tuple(mean.tolist())), f"a typical {name} {period}"
    return None


def _n_drawn(twin: SimulatedTwin, sizes: Sizes) -> int:
    """Count the observations of one simulated data set."""
    return twin.n_drawn or sizes.n_observations


def _simulated(
    twin: SimulatedTwin, n_drawn: int, mechanism: Mechanism, budget: Budget, seed: int
) -> _Simulated:
    """Release each of some data sets a few times: fewer data sets if they are large."""
    repeats = int(np.clip(_STUDY // n_drawn, 1, _RELEASES))
    data, truths = twin.simulated(repeats, generator(seed, DATA_STREAM, 0))
    return _Simulated(_released(data, mechanism, budget, -(-_RELEASES // repeats), seed), truths)


def _released(data: Data, mechanism: Mechanism, budget: Budget, draws: int, seed: int) -> Estimate:
    budgets = [(budget,)]
    return mechanism.release_many(cast(Any, data), budgets, draws, generator(seed, NOISE_STREAM, 0))


def _values(estimate: Estimate, mechanism: Mechanism, grid: Array) -> Array:
    """Evaluate released functions on the grid; of a covariance the variance, at equal times."""
    if mechanism.main_task.argument is Argument.TWO_TIMES:
        return estimate.values(np.column_stack([grid, grid]))
    return estimate.values(grid)


def _points(facts: PublicFacts, mechanism: Mechanism, grid: Array) -> tuple[Array, float]:
    """Return places in their own unit, and the unit of the values there."""
    if mechanism.main_task.argument in (Argument.NOTHING, Argument.TWO_TIMES):
        return facts.from_unit_time(grid), 1.0
    axes = axes_of(mechanism, facts)
    return axes.x, axes.scale


def _curves(
    estimate: Estimate, released: Array, drawn: _Simulated, scale: float, names: Sequence[str]
) -> tuple[PreviewedCurve, ...]:
    """Return the first release, one curve for each function."""
    first, truth = np.atleast_2d(released[0, 0, 0]), np.atleast_2d(drawn.truths[0]) * scale
    ends: list[Array] = []
    if estimate.limits is not None:
        ends = [np.atleast_2d(end[0, 0, 0]) * scale for end in estimate.limits]
        if not all(np.isfinite(end).all() for end in ends):
            ends = []
    return tuple(
        PreviewedCurve(name, first[k], truth[k], *(end[k] for end in ends))
        if ends
        else PreviewedCurve(name, first[k], truth[k], None, None)
        for k, name in enumerate(names)
    )


def _with_steps(
    curves: tuple[PreviewedCurve, ...], estimate: Estimate, mechanism: NoisyCounts, points: Array
) -> tuple[tuple[PreviewedCurve, ...], str]:
    """Add bands to counted curves, as far as enough people are left, and name the band."""
    counted = curves_in(first_table(estimate), mechanism) if estimate.released[0] else []
    if not counted:
        return curves, ""
    stepped = []
    for curve, steps in zip(curves, counted, strict=True):
        until = points <= float(steps.last) * (1 + 1e-12)
        low, high, released = (
            np.where(until, row, np.nan) for row in (*steps.staircase(points), curve.released)
        )
        stepped.append(replace(curve, released=released, low=low, high=high))
    return tuple(stepped), STAIRCASE


# -- what survives --------------------------------------------------------------------------------


def _peaks(
    twin: SimulatedTwin, mechanism: Mechanism, budget: Budget, seed: int
) -> tuple[int | None, float]:
    """Count the peaks that a release of a simulated curve mostly shows, and return their height.

    A peak counts if it is near its true place and stands out by half of what it truly does. None
    for several functions or a number.
    """
    peaked = twin.with_peaks(PEAKS)
    if peaked is None:
        return None, 0.0
    with_peaks, where = peaked
    data, truths = with_peaks.simulated(1, generator(seed, DATA_STREAM, 1))
    released = _released(data, mechanism, budget, _TIMES_ASKED, seed + 1).values(drawing_grid())
    height = float(np.ptp(truths[0]))
    counts = [peaks_shown(curve, where, _STANDS_OUT * height) for curve in released[0, 0]]
    return int(np.bincount(counts).argmax()), height


def peaks_shown(curve: Array, where: Array, prominence: float) -> int:
    """Count the true peaks, at `where` (peaks,) on [0, 1], that a curve (places,) shows.

    It shows one where a maximum inside the range stands out so much, within a quarter of the
    distance between peaks.
    """
    tops = np.array(maxima(curve, prominence)) / (len(curve) - 1)
    return int(
        (np.abs(where[:, None] - tops).min(axis=1, initial=np.inf) <= _NEAR / len(where)).sum()
    )


def maxima(curve: Array, prominence: float) -> list[int]:
    """List the places inside the range where a curve is highest and stands out so much.

    A maximum stands out over the higher of the valleys beside it, up to where the curve is higher.
    A flat one is in its middle.
    """
    changes, found = np.flatnonzero(np.diff(curve)), list[int]()
    for first, last in zip(changes[:-1] + 1, changes[1:], strict=True):
        height, place = curve[first], int(first + last) // 2
        if height <= curve[first - 1] or height <= curve[last + 1]:
            continue
        higher = np.flatnonzero(curve > height)
        left = higher[higher < place].max(initial=-1) + 1
        right = higher[higher > place].min(initial=len(curve))
        valley = max(curve[left : place + 1].min(), curve[place:right].min())
        if height - valley >= prominence:
            found.append(place)
    return found
