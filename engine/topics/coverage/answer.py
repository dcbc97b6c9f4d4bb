"""Coverage of confidence bands and intervals: one after the other, on data drawn anew each time.

Beside those that a method gives stand naive ones: as wide as sampling alone makes them, as if what
was published carried no privacy noise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import ROUNDED_NORMAL, limits
from engine.core.errors import InputError, brief
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.tasks import (
    MEAN_FUNCTION,
    SPARSE_REGRESSION,
    VARYING_COEFFICIENTS,
    WAVELET_REGRESSION,
)
from engine.core.types import NON_PRIVATE, Array, Budget, Data
from engine.mechanisms import Mechanism, one_per_server
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.sparse.averages import sample_moments
from engine.mechanisms.families.wavelets.regression import WaveletRegression
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.simulation.agreement import Agreement
from engine.sources import Source
from engine.sources.regression_points import PointsOfCurve
from engine.topics.regression.intervals import stated
from engine.topics.sparse.intervals import without_privacy

REPEATS, EACH = 500, 10  # repetitions, and how many are made at once


@dataclass(frozen=True)
class LimitsKind:
    """One way of giving limits: what they are around, by which mechanism and settings.

    `repeat` makes some repetitions. `is_joint` says that limits must hold everything at once; a
    miss is then a miss anywhere.
    """

    label: str
    task: str
    repeat: Callable[[Experiment, np.random.Generator, np.random.Generator], CoverageAnswer]
    cls: type[Mechanism]
    settings: tuple[tuple[str, Any], ...] = ()
    is_joint: bool = False


def names() -> list[str]:
    """List the keys of what can be repeated."""
    return list(KINDS)


def usual_kind(task: str, mechanism: Mechanism) -> str | None:
    """Name the limits that a method gives as it is set, or else the last ones of the task.

    None where no method for the task gives limits around a truth that is known.
    """
    kinds = [key for key, kind in KINDS.items() if kind.task == task]
    for key in kinds:
        if isinstance(mechanism, KINDS[key].cls) and all(
            getattr(mechanism, name) == value for name, value in KINDS[key].settings
        ):
            return key
    return kinds[-1] if kinds else None


@dataclass(frozen=True)
class Experiment:
    """Limits of one kind at one budget; `where` is the time on [0, 1], where there is one.

    Raises
    ------
    InputError
        If there are no such limits, the mechanism gives no such, or the time is elsewhere.
    """

    kind: str
    source: Source[Data]
    mechanism: Mechanism
    budget: Budget
    seed: int = 1
    where: float = 0.37

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"There are no intervals {brief(self.kind)}.",
                field="kind",
                hint=f"Choose one of {', '.join(KINDS)}.",
            )
        requested = KINDS[self.kind]
        if not isinstance(self.mechanism, requested.cls) or not self.source.serves(requested.task):
            raise InputError(
                f"“{self.mechanism.key}” on “{self.source.key}” has no intervals.",
                field="mechanism",
                hint="Choose others.",
            )
        if not (0 <= self.where <= 1 and 0 <= self.seed < 2**63):
            raise InputError(
                "The time lies between 0 and 1, the seed between 0 and 2⁶³.", field="where"
            )


@dataclass(frozen=True)
class Limits:
    """Published value less the truth, and half the width of its limits: (repetitions,) each.

    Of limits that must hold many values at once, where they fail or come closest to failing.
    """

    off: Array
    half: Array

    @property
    def missed(self) -> NDArray[np.bool_]:
        return np.asarray(np.abs(self.off) > self.half)

    @property
    def coverage(self) -> Agreement:
        """The share that contains the truth, with its interval, beside the nominal one."""
        n = len(self.off)
        return Agreement.coverage(n - int(self.missed.sum()), n)

    @classmethod
    def of(cls, off: Array, half: Array) -> Limits:
        """Build the limits from differences to the truth and half widths, both (repetitions, …)."""
        worst = np.argmax(np.abs(off) / np.maximum(half, 1e-300), axis=1)[:, None]
        return cls(*(np.take_along_axis(a, worst, axis=1)[:, 0] for a in (off, half)))

    @classmethod
    def joined(cls, parts: Sequence[Limits]) -> Limits:
        return cls(
            np.concatenate([part.off for part in parts]),
            np.concatenate([part.half for part in parts]),
        )


@dataclass(frozen=True)
class CoverageAnswer:
    """Some repetitions: the limits as they are given, and naive ones around the same values."""

    proper: Limits
    naive: Limits

    @property
    def times_as_wide(self) -> float:
        """The mean width as a multiple of that of the naive limits."""
        return float(self.proper.half.mean() / self.naive.half.mean())

    @classmethod
    def joined(cls, parts: Sequence[CoverageAnswer]) -> CoverageAnswer:
        return cls(
            Limits.joined([part.proper for part in parts]),
            Limits.joined([part.naive for part in parts]),
        )


def mechanism_for(kind: str, mechanism: Mechanism, where: float) -> Mechanism:
    """Return the mechanism on screen, set accordingly, if it gives these limits, else another.

    `where` on [0, 1] is the place of limits at one time.
    """
    requested = KINDS[kind]
    if requested.cls is WaveletPointwise and isinstance(mechanism, WaveletRegression):
        return WaveletPointwise.like(mechanism, f"{where:.6g}")
    base = mechanism if isinstance(mechanism, requested.cls) else requested.cls()
    return replace(base, **dict(requested.settings))


def repetitions(experiment: Experiment) -> Generator[CoverageAnswer, None, None]:
    """Draw, release and look, `REPEATS` times, some at once."""
    if not experiment.source.is_random or experiment.source.facts.is_upload:
        raise InputError(
            "Repetitions need simulated data with a known truth.",
            field="source",
            hint="Choose simulated data.",
        )
    repeat = KINDS[experiment.kind].repeat
    for block in range(REPEATS // EACH):
        batch = repeat(
            experiment,
            generator(experiment.seed, DATA_STREAM, block),
            generator(experiment.seed, NOISE_STREAM, block),
        )
        if not (np.isfinite(batch.proper.off) & np.isfinite(batch.proper.half)).all():
            raise InputError(
                "At this budget nothing is released, so there are no intervals.",
                field="epsilon",
                hint="Choose a larger ε, or more records.",
            )
        yield batch


def coverage_answer(experiment: Experiment) -> CoverageAnswer:
    """All repetitions; see `repetitions`.

    Parameters
    ----------
    experiment : Experiment
        Kind of limits, method, simulated data and budget.
    """
    return CoverageAnswer.joined(list(repetitions(experiment)))


def _of_curves(
    experiment: Experiment, chance: np.random.Generator, noise: np.random.Generator
) -> CoverageAnswer:
    """Measure bands around curves; of several functions, around that of the first covariate.

    The naive width is that of the same method, with as many basis functions, and no budget to keep.
    """
    data: Any = experiment.source.draw(EACH, chance)
    estimate = experiment.mechanism.release_many(data, [(experiment.budget,)], 1, noise)
    as_many: dict[str, Any] = {"truncation": estimate.basis_sizes[0]}
    non_private = replace(experiment.mechanism, **as_many).release_many(
        data, [(NON_PRIVATE,)], 1, noise
    )
    assert estimate.band is not None and non_private.band is not None
    low, high = limits(estimate, estimate.band)
    narrow = np.subtract(*limits(non_private, non_private.band)[::-1]) / 2
    off = (low + high) / 2 - data.truth.grid_values
    # (budgets, data sets, draws, functions if any, GRID_SIZE) to (data sets, GRID_SIZE)
    index = (0, slice(None), 0, *((1,) if estimate.functions else ()))
    nearest = [int(np.argmin(np.abs(drawing_grid() - experiment.where)))]
    indices: Any = slice(None) if KINDS[experiment.kind].is_joint else nearest
    off, half, narrow = (each[index][:, indices] for each in (off, (high - low) / 2, narrow))
    return CoverageAnswer(Limits.of(off, half), Limits.of(off, narrow))


def _of_readings(
    experiment: Experiment, chance: np.random.Generator, noise: np.random.Generator
) -> CoverageAnswer:
    """Measure limits around a curve at one point; the naive ones leave out noise and bias.

    A curve that is rougher there than the method takes it to be is refused.
    """
    assert isinstance(experiment.mechanism, WaveletPointwise)
    assert isinstance(experiment.source, PointsOfCurve)
    budgets = one_per_server((experiment.budget,), experiment.source.sizes.n_servers)
    checked = stated(experiment.mechanism, experiment.source, budgets)
    if checked.refusal:
        raise InputError(
            f"No interval is given: {checked.refusal}.",
            field="mechanism",
            hint="Choose another curve or point, or state a rougher class.",
        )
    data: Any = experiment.source.draw(EACH, chance)
    estimate = checked.mechanism.release_many(data, [budgets], 1, noise)
    plain = checked.mechanism.without_protection(data)
    assert estimate.band is not None and plain.band is not None
    off = estimate.band.centre[0, :, 0] - experiment.source.curve(np.array([experiment.where]))
    half, narrow = (
        ROUNDED_NORMAL * np.sqrt(band.covariance[0, :, 0, :, 0])
        for band in (estimate.band, plain.band)
    )
    bias = checked.mechanism.plan(experiment.source.public, budgets).bias
    return CoverageAnswer(Limits.of(off, half + bias), Limits.of(off, narrow))


def _of_rows(
    experiment: Experiment, chance: np.random.Generator, noise: np.random.Generator
) -> CoverageAnswer:
    """Measure limits of sparse coefficients, from moments drawn without rows.

    Limits of one coefficient are those of the first that is not zero.
    """
    source: Any = experiment.source
    mechanism: Any = experiment.mechanism
    truth = source.truth.node_values
    moments = sample_moments(
        source.covariance, truth, source.noise_sd, source.n_curves, EACH, chance
    )
    plan = mechanism.plan(source.public, (experiment.budget,))
    intervals = mechanism.estimate(moments, [plan], EACH, 1, noise).intervals
    naive = without_privacy(intervals, source)
    indices: Any = slice(None) if KINDS[experiment.kind].is_joint else np.flatnonzero(truth)[:1]
    off, half, narrow = (
        each[0, :, 0][:, indices]
        for each in (intervals.centre - truth, intervals.half_width, naive.half_width)
    )
    return CoverageAnswer(Limits.of(off, half), Limits.of(off, narrow))


KINDS: dict[str, LimitsKind] = {
    "point": LimitsKind(
        "Average curve, at one time",
        MEAN_FUNCTION.key,
        _of_curves,
        AdaptiveMean,
        (("band", "pointwise"),),
    ),
    "curve": LimitsKind(
        "Average curve, all of it",
        MEAN_FUNCTION.key,
        _of_curves,
        AdaptiveMean,
        (("band", "simultaneous"),),
        is_joint=True,
    ),
    "effect": LimitsKind(
        "Effect of a covariate, at one time",
        VARYING_COEFFICIENTS.key,
        _of_curves,
        AdaptiveCoefficients,
        (("band", "pointwise"),),
    ),
    "effects": LimitsKind(
        "Effect of a covariate, all of it",
        VARYING_COEFFICIENTS.key,
        _of_curves,
        AdaptiveCoefficients,
        (("band", "simultaneous"),),
        is_joint=True,
    ),
    "reading": LimitsKind(
        "Regression curve, at one time", WAVELET_REGRESSION.key, _of_readings, WaveletPointwise
    ),
    "coefficient": LimitsKind(
        "Coefficient of a sparse regression", SPARSE_REGRESSION.key, _of_rows, SparseInference
    ),
    "coefficients": LimitsKind(
        "All coefficients of a sparse regression",
        SPARSE_REGRESSION.key,
        _of_rows,
        SparseInference,
        (("target", "band"),),
        is_joint=True,
    ),
}
