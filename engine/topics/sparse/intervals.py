"""Intervals and bands for sparse coefficients, their coverage, and machines that differ.

For looking: simulated with a known seed, never a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.bands import LEVEL
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, Intervals, SampleData, Spend
from engine.mechanisms.families.sparse.averages import sample_moments
from engine.mechanisms.families.sparse.corrections import pointwise_half_widths, two_sided_p_values
from engine.mechanisms.sparse_heterogeneous import SparseHeterogeneous
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_newton import SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression
from engine.mechanisms.study import Study
from engine.privacy import accounting
from engine.simulation import studies
from engine.simulation.agreement import COVERAGE_TOLERANCE, Agreement
from engine.simulation.metrics import entry_coverage, root_mean_square
from engine.simulation.studies import FRESH
from engine.sources.sparse_rows import SparseRows
from engine.topics.sparse.answer import check_size

COVERAGE_REPEATS = 200
_DRAWS = 5  # releases by every way of fitting
_COMMON = (
    "sparsity",
    "noise_sd",
    "reach",
    "radius",
    "step_size",
    "rounds",
    "feature_clip",
    "residual_clip",
    "centre",
)  # options of estimates that intervals have, too
FITS = {
    "two_stage": "Two stages: shared, then own",
    "local": "Each machine alone",
    "pooled": "As if machines were alike",
}
IntervalMethod = SparseInference  # its name for pages, which import no mechanism


@dataclass(frozen=True)
class IntervalsAnswer:
    """One release with intervals: `centre`, `low`, `high`, `error` (d,), and without protection.

    `without_low` and `without_high` (d,) are the limits that the same rows would have without
    protection; `truth` (d,) where it is known. `warnings` are those of the release.
    """

    centre: Array
    low: Array
    high: Array
    error: Array
    without_low: Array
    without_high: Array
    truth: Array | None
    kind: str
    spends: tuple[Spend, ...]
    guarantee: Budget
    warnings: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """True if intervals are refused, for a reason in `warnings`."""
        return not np.isfinite(self.high).any()

    @property
    def length(self) -> float:
        """The average length of an interval; NaN if intervals are refused."""
        return math.nan if self.is_refused else float(np.nanmean(self.high - self.low))

    @property
    def without_length(self) -> float:
        return float(np.nanmean(self.without_high - self.without_low))

    @property
    def p_values(self) -> Array | None:
        """The p-value of each coefficient on its own being zero: (d,).

        None for a band, which tests all at once, and for refused intervals. The part of the limits
        beyond chance and noise (a bound on bias) is taken off |β̃|, so that a p-value is below .05
        exactly if its limits leave zero out.
        """
        if self.kind == "simultaneous" or self.is_refused:
            return None
        bias = (self.high - self.low) / 2 - pointwise_half_widths(self.error)
        return two_sided_p_values(np.maximum(np.abs(self.centre) - bias, 0), self.error)

    @property
    def missed(self) -> int | None:
        """The number of true values outside; None if they are unknown."""
        if self.truth is None:
            return None
        known = np.isfinite(self.low)
        return int((known & ((self.truth < self.low) | (self.truth > self.high))).sum())


def intervals_answer(study: Study[SampleData]) -> IntervalsAnswer:
    """Release the shown rows once, with intervals."""
    mechanism = study.mechanism
    check_size(study.source)
    data = studies.data_on_screen(study.source, study.seed)
    estimate = studies.shown_releases(mechanism, data, [study.budgets], study.seed, draws=1)
    plain = mechanism.without_protection(data).intervals
    private = estimate.intervals
    assert private is not None and plain is not None
    (low, high), (without_low, without_high) = (
        [end.reshape(-1) for end in each.limits] for each in (private, plain)
    )
    return IntervalsAnswer(
        centre=private.centre.reshape(-1),
        low=low,
        high=high,
        error=private.error.reshape(-1),
        without_low=without_low,
        without_high=without_high,
        kind=private.kind,
        truth=None if data.truth is None else data.truth.node_values,
        spends=estimate.spends[0],
        guarantee=accounting.least_guarantee(estimate.spends[0]),
        warnings=estimate.first_on_page,
    )


def interval_mechanism(estimator: SparseNewton | SparseRegression, target: str) -> SparseInference:
    """Build intervals with every guess and clip that was chosen for the estimate."""
    settings = {name: getattr(estimator, name) for name in _COMMON}
    settings["pilot"] = estimator.pilot if isinstance(estimator, SparseNewton) else "thresholding"
    return SparseInference(target=target, **settings)


@dataclass(frozen=True)
class CoverageStudy:
    """Coverage of intervals over fresh data sets, with standard errors.

    `average` over all coefficients, `of_nonzero` over those that matter, `joint` all at once;
    `naive` as `average`, or as `joint` for a band, with limits that leave the privacy noise out.
    `refused` is the share of data sets without limits, which the rest is not about.
    """

    repeats: int
    average: float
    of_nonzero: float
    joint: float
    joint_se: float
    average_se: float
    naive: float
    refused: float
    naive_se: float

    def beside(self, kind: str) -> tuple[Agreement, Agreement]:
        """Compare coverage of the stated kind, and that of naive intervals, with 95 %.

        Of a band it is a share of data sets, of intervals an average over coefficients.
        """
        if kind == "simultaneous":
            n = round(self.repeats * (1 - self.refused))
            return (
                Agreement.coverage(round(self.joint * n), n),
                Agreement.coverage(round(self.naive * n), n),
            )
        return (
            Agreement.normal(self.average, self.average_se, LEVEL, COVERAGE_TOLERANCE),
            Agreement.normal(self.naive, self.naive_se, LEVEL, COVERAGE_TOLERANCE),
        )


def coverage_study(study: Study[SampleData], repeats: int = COVERAGE_REPEATS) -> CoverageStudy:
    """Release again and again, each time from fresh moments of as many rows; nothing is clipped.

    Clips are so wide that they hardly matter here; the moments of normal rows are drawn as such.
    """
    source, mechanism = study.source, study.mechanism
    assert isinstance(source, SparseRows) and isinstance(mechanism, SparseInference)
    moments = sample_moments(
        source.covariance,
        source.truth.node_values,
        source.noise_sd,
        source.n_curves,
        repeats,
        generator(study.seed, DATA_STREAM, FRESH),
    )
    plan = mechanism.plan(source.public, study.budgets)
    noise = generator(study.seed, NOISE_STREAM, FRESH)
    estimate = mechanism.estimate(moments, [plan], repeats, 1, noise)
    covered, limits = entry_coverage(estimate, source.truth), estimate.intervals
    assert covered is not None and limits is not None
    naive = entry_coverage(
        replace(estimate, intervals=without_privacy(limits, source)), source.truth
    )
    assert naive is not None
    has_limits = np.isfinite(limits.half_width).any(axis=-1)
    if not has_limits.any():
        none = math.nan
        return CoverageStudy(
            repeats,
            average=none,
            of_nonzero=none,
            joint=none,
            joint_se=none,
            average_se=none,
            naive=none,
            refused=1.0,
            naive_se=none,
        )

    def mean(each: Array) -> float:
        return float(np.nanmean(each[has_limits]))

    def se(each: Array) -> float:
        count = has_limits.sum()
        return float(each[has_limits].std(ddof=1) / np.sqrt(count)) if count > 1 else 1.0

    naive_coverage = naive.joint if limits.kind == "simultaneous" else naive.average
    return CoverageStudy(
        repeats,
        mean(covered.average),
        mean(covered.of_nonzero),
        mean(covered.joint),
        se(covered.joint),
        se(covered.average),
        mean(naive_coverage),
        float(1 - has_limits.mean()),
        se(naive_coverage),
    )


def without_privacy(limits: Intervals, source: SparseRows) -> Intervals:
    """Narrow intervals to what sampling variability alone makes them: σ(Θ_kk/N)^{1/2}."""
    precision = np.diagonal(np.linalg.inv(source.covariance))
    sampling = source.noise_sd * np.sqrt(precision / source.n_curves)
    return replace(limits, half_width=limits.half_width * sampling / limits.error)


# -- machines that differ -------------------------------------------------------------------------


@dataclass(frozen=True)
class Machines:
    """Distances of machines' coefficients from the truth, by way of fitting: (draws, machines).

    `ordinary` (machines,) is that of two stages without protection.
    """

    errors: dict[str, Array]
    ordinary: Array
    guarantee: Budget

    @property
    def by_machine(self) -> dict[str, Array]:
        """The typical error on each machine, by way of fitting: (machines,)."""
        return {fit: root_mean_square(errors, 0) for fit, errors in self.errors.items()}

    @property
    def typical(self) -> dict[str, float]:
        """The typical error over all machines, by way of fitting."""
        return {fit: float(root_mean_square(errors, None)) for fit, errors in self.errors.items()}


def machines(source: SparseRows, budget: Budget, seed: int) -> Machines:
    """Fit the same rows in two stages, machine by machine, and all together."""
    check_size(source)
    data = studies.data_on_screen(source, seed)
    truth = np.broadcast_to(source.truth.node_values, (source.n_servers, source.n_features))
    errors, first = {}, None
    for fit, label in FITS.items():
        settings: dict[str, Any] = {
            "fit": fit,
            "n_shared": source.n_shared,
            "n_own": max(source.n_own, 1),
        }
        mechanism = SparseHeterogeneous(**settings)
        estimate = studies.shown_releases(mechanism, data, [(budget,)], seed, _DRAWS)
        errors[label] = np.linalg.norm(
            np.broadcast_to(estimate.coefficients[0, 0], (_DRAWS, *truth.shape)) - truth, axis=-1
        )
        if first is None:
            first = mechanism, estimate
    assert first is not None
    plain = first[0].without_protection(data).coefficients[0, 0, 0]
    return Machines(
        errors,
        np.linalg.norm(plain - truth, axis=-1),
        accounting.least_guarantee(first[1].spends[0]),
    )
