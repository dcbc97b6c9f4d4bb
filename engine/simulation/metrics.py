"""Errors of released curves: always the same three, exact in coefficients, and how they are stated.

An error that is shown is the root of the mean squared distance from the truth over the curve and
over releases, in response units, with the distance that 95 % of releases stay within. Squared
errors are for theory alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import LEVEL
from engine.core.grids import drawing_grid
from engine.core.types import Array, Estimate, Truth


@dataclass(frozen=True)
class Errors:
    """Integrated squared errors of every release, each (budgets, repeats, draws).

    Errors of several functions are summed.
    """

    # squared distance of the release from the estimate without noise on the same data
    privacy: Array
    # that of the estimate without noise from the truth; None without a known truth
    estimation: Array | None
    total: Array | None  # that of the release from the truth; None without a known truth


def integrated_squared_errors(estimate: Estimate, truth: Truth | None) -> Errors:
    """Compute the three errors; the part of the truth outside the basis is added as its energy.

    They are in squared response units, integrated over [0, 1].
    """
    distance, released = estimate.squared_distance, estimate.coefficients
    unprotected = estimate.unprotected[:, :, None]  # (budgets, repeats, 1, …), the same for draws
    privacy = distance(released - unprotected)
    if truth is None:
        return Errors(privacy, None, None)
    best, tail = estimate.project(truth)
    estimation = distance(unprotected - best) + tail.sum()
    return Errors(
        privacy, np.broadcast_to(estimation, privacy.shape), distance(released - best) + tail.sum()
    )


def squared_distances_from(estimate: Estimate, average: Estimate) -> Array:
    """Squared distances of releases from the estimate without protection of the same data.

    On the drawing grid, in squared response units: (budgets, repeats, draws, functions).
    """
    grid = drawing_grid()
    squared = ((estimate.values(grid) - average.values(grid)) ** 2).mean(axis=-1)
    return np.asarray(squared if estimate.functions else squared[..., None])


def errors_by_function(estimate: Estimate, truth: Truth) -> Array:
    """Integrated squared errors of every function: (budgets, repeats, draws, functions)."""
    best, tail = estimate.project(truth)
    squared = estimate.basis.squared_distance(estimate.coefficients - best) + tail
    return np.asarray(squared if estimate.functions else squared[..., None])


def totals(errors: Array, axis: int = -1) -> Array:
    """Compute the error of all functions together: the root of their summed squares.

    Examples
    --------
    >>> float(totals(np.array([3.0, 4.0])))
    5.0
    """
    return np.asarray(np.sqrt(np.square(errors).sum(axis=axis)))


@dataclass(frozen=True)
class Coverage:
    """Coverage of a band, each (budgets, repeats, draws).

    For pointwise bands the share of the time range, for simultaneous ones 1 where the whole curve
    lies inside and 0 elsewhere. Both are averages where there are several functions.
    """

    of_kept: Array  # about the best curve with the waves that are kept
    of_curve: Array  # about the truth with all its details, which is what a band promises


def coverage(estimate: Estimate, truth: Truth | None) -> Coverage | None:
    """Compute the coverage of the band on the drawing grid.

    For intervals of a vector's entries, it is the share that hold their entries, or whether all do.
    None without a band or intervals, or without a known truth.
    """
    entries = entry_coverage(estimate, truth)
    if entries is not None and estimate.intervals is not None:
        covered = entries.joint if estimate.intervals.kind == "simultaneous" else entries.average
        if estimate.functions:
            covered = covered.mean(axis=-1)
        return Coverage(covered, covered)
    limits = estimate.limits
    if limits is None or truth is None or estimate.band is None:
        return None
    inside = [
        (limits[0] <= target) & (target <= limits[1])
        for target in (best_kept(estimate, truth), truth.grid_values)
    ]
    whole = estimate.band.kind == "simultaneous"
    shares = [hit.all(axis=-1).astype(float) if whole else hit.mean(axis=-1) for hit in inside]
    if estimate.functions:
        shares = [share.mean(axis=-1) for share in shares]
    return Coverage(*shares)


def best_kept(estimate: Estimate, truth: Truth) -> Array:
    """Compute the best curve with the waves that each budget keeps, on the drawing grid."""
    basis, grid = estimate.basis, drawing_grid()
    left = truth if estimate.offset is None else truth.less(estimate.offset)
    curves = []
    for size in estimate.basis_sizes or (basis.size,) * len(estimate.coefficients):
        kept = basis.first(size)
        curves.append(kept.project(left)[0] @ kept(grid).T)
    offset = 0.0 if estimate.offset is None else estimate.offset(grid)
    return np.array(curves)[:, None, None] + offset


@dataclass(frozen=True)
class EntryCoverage:
    """Coverage of intervals for entries of a vector, each (budgets, repeats, draws[, machines]).

    The paper's Tables 2 and 5 both report averages; what a simultaneous band promises is `joint`.
    """

    average: Array  # share of the entries with an interval
    of_nonzero: Array  # share of those that are not zero; NaN if there are none
    joint: Array  # 1 where all are held


def entry_coverage(estimate: Estimate, truth: Truth | None) -> EntryCoverage | None:
    """Coverage of entries of vectors, or values of curves; None without intervals or truth."""
    if estimate.intervals is None or truth is None:
        return None
    low, high = estimate.intervals.limits
    known, entries = np.isfinite(low), np.broadcast_to(truth.grid_values, low.shape)
    inside = (low <= entries) & (entries <= high)

    def share(entry_mask: NDArray[np.bool_]) -> Array:
        count = entry_mask.sum(axis=-1)
        covered = (inside & entry_mask).sum(axis=-1)
        return np.where(count > 0, covered / np.maximum(count, 1), np.nan)

    return EntryCoverage(
        share(known),
        share(known & (entries != 0)),
        np.asarray((inside | ~known).all(axis=-1), dtype=float),
    )


def distances(squared_errors: Array) -> Array:
    """Roots of integrated squared errors: distances averaged over the curve."""
    return np.asarray(np.sqrt(squared_errors))


def root_mean_square(errors: Array, axis: int | tuple[int, ...] | None = -1) -> Array:
    """Compute the root mean squared distance over the axes of releases; None for all axes.

    Distances and result are in response units.

    Examples
    --------
    >>> float(root_mean_square(np.array([1.0, 7.0])))
    5.0
    """
    return np.asarray(np.sqrt(np.mean(np.square(errors), axis=axis)))


def within(errors: Array, axis: int | tuple[int, ...] | None = -1, share: float = LEVEL) -> Array:
    """Compute the distance that at least 95 % of releases stay within, over an axis of releases.

    It is the distance of one of the releases, so that those within it can be counted.

    Examples
    --------
    >>> float(within(np.arange(1.0, 109.0)))  # 103 of 108
    103.0
    """
    return np.asarray(np.quantile(errors, share, axis=axis, method="inverted_cdf"))


@dataclass(frozen=True)
class Accuracy:
    """Distances of releases from their target, in response units."""

    error: float
    within: float  # distance that 95 % of releases stay within; NaN where only `error` is known
    # standard error of the logarithm of `error`, from how often it was simulated
    log_se: float = 0.0

    @classmethod
    def of(cls, errors: Array) -> Accuracy:
        """Summarise simulated distances (data sets, releases of each), in response units.

        Releases of one data set are alike, so the standard error is over data sets, or over
        releases if there is one.
        """
        squares = np.square(errors)
        mean = float(squares.mean())
        independent = squares.mean(axis=1) if len(squares) > 1 else squares[0]
        spread = float(independent.std(ddof=1)) if len(independent) > 1 else 0.0
        log_se = spread / math.sqrt(len(independent)) / (2 * mean) if mean > 0 else 0.0
        return cls(math.sqrt(mean), float(within(errors, None)), log_se)

    @classmethod
    def exact(cls, squared: float) -> Accuracy:
        """Convert a formula's mean squared error, in squared response units."""
        return cls(math.sqrt(squared), math.nan)


NOTHING = Accuracy(math.nan, math.nan)  # where nothing would be published
