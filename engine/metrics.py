"""Errors of released curves: always the same three, exact in coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.numerics.grids import drawing_grid
from engine.types import Array, Estimate, Truth


@dataclass(frozen=True)
class Errors:
    """Integrated squared errors of every release, each (budgets, repeats, draws).

    `privacy` is the distance of the release from the estimate without noise on the same data,
    `estimation` that of the estimate without noise from the truth, `total` that of the release
    from the truth. Without a known truth the last two are None. Errors of several functions are
    summed.
    """

    privacy: Array
    estimation: Array | None
    total: Array | None


def integrated_squared_errors(estimate: Estimate, truth: Truth | None) -> Errors:
    """The three errors; the part of the truth outside the basis is added as its energy."""
    distance, released = estimate.squared_distance, estimate.coefficients
    unprotected = estimate.unprotected[:, :, None]
    privacy = distance(released - unprotected)
    if truth is None:
        return Errors(privacy, None, None)
    best, tail = estimate.project(truth)
    estimation = distance(unprotected - best) + tail.sum()
    return Errors(privacy, np.broadcast_to(estimation, privacy.shape),
                  distance(released - best) + tail.sum())


def errors_by_function(estimate: Estimate, truth: Truth) -> Array:
    """Integrated squared errors of every coefficient function: (budgets, repeats, draws, d + 1)."""
    best, tail = estimate.project(truth)
    return np.asarray(estimate.basis.squared_distance(estimate.coefficients - best) + tail)


@dataclass(frozen=True)
class Coverage:
    """How often a band holds what it should, each (budgets, repeats, draws).

    For pointwise bands the share of the time range, for simultaneous ones 1 where the whole curve
    lies inside and 0 elsewhere. `of_kept` is about the best curve with the waves that are kept,
    which is what a band promises; `of_curve` about the truth with all its details. Both are
    averages where there are several functions.
    """

    of_kept: Array
    of_curve: Array


def coverage(estimate: Estimate, truth: Truth | None) -> Coverage | None:
    """Coverage of the band on the drawing grid; None without a band or a known truth.

    Of intervals for entries of a vector, the share that hold their entries, or whether all do.
    """
    entries = entry_coverage(estimate, truth)
    if entries is not None and estimate.intervals is not None:
        held = entries.joint if estimate.intervals.kind == "simultaneous" else entries.average
        if estimate.functions:
            held = held.mean(axis=-1)
        return Coverage(held, held)
    limits = estimate.limits
    if limits is None or truth is None or estimate.band is None:
        return None
    inside = [(limits[0] <= target) & (target <= limits[1]) for target in (
        best_kept(estimate, truth), truth.grid_values)]
    whole = estimate.band.kind == "simultaneous"
    shares = [hit.all(axis=-1).astype(float) if whole else hit.mean(axis=-1) for hit in inside]
    if estimate.functions:
        shares = [share.mean(axis=-1) for share in shares]
    return Coverage(*shares)


def best_kept(estimate: Estimate, truth: Truth) -> Array:
    """The best curve with the waves that each budget keeps: (budgets, 1, 1, …, GRID_SIZE)."""
    best = estimate.project(truth)[0]
    kept = np.array(estimate.kept or [estimate.basis.size] * len(estimate.coefficients))
    is_kept = np.arange(estimate.basis.size) < kept.reshape(-1, *[1] * best.ndim)
    reduced = np.where(is_kept, best, 0.0)
    return estimate.on_grid(reduced, drawing_grid())[:, None, None]


@dataclass(frozen=True)
class EntryCoverage:
    """How often intervals hold the entries of a vector, each (budgets, repeats, draws[, machines]).

    `average` is the share of the entries with an interval, `of_nonzero` and `of_zero` that of those
    that are not zero, or are (NaN if there are none); `joint` is 1 where all are held. The paper's
    Tables 2 and 5 both report averages; what a simultaneous band promises is `joint`.
    """

    average: Array
    of_nonzero: Array
    of_zero: Array
    joint: Array


def entry_coverage(estimate: Estimate, truth: Truth | None) -> EntryCoverage | None:
    """Coverage of entries that have an interval; None without intervals or a known truth."""
    if estimate.intervals is None or truth is None:
        return None
    low, high = estimate.intervals.limits
    known, entries = np.isfinite(low), np.broadcast_to(truth.node_values, low.shape)
    inside = (low <= entries) & (entries <= high)

    def share(which: NDArray[np.bool_]) -> Array:
        count = which.sum(axis=-1)
        held = (inside & which).sum(axis=-1)
        return np.where(count > 0, held / np.maximum(count, 1), np.nan)
    return EntryCoverage(share(known), share(known & (entries != 0)), share(known & (entries == 0)),
                         np.asarray((inside | ~known).all(axis=-1), dtype=float))


def typical_distance(squared_errors: Array) -> Array:
    """Root of integrated squared errors: a distance in response units, averaged over the curve."""
    return np.asarray(np.sqrt(squared_errors))
