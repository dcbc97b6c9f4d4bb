"""Curves read at points of their own, brought onto one public grid: curve by curve, no budget."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array


def on_grid(times: Array, values: Array, counts: np.ndarray, grid: Array) -> Array:
    """Straight lines between the readings of each curve, constant beyond its first and last.

    Readings without a time or a finite value are passed over; a curve without any is 0. The result
    is (repeats, curves, K), and each curve depends on its own readings alone.

    Examples
    --------
    >>> times, values = np.array([[0.0, 0.5, 1.0, 0.2]]), np.array([[0.0, 1.0, 0.0, 7.0]])
    >>> on_grid(times, values, np.array([3, 1]), np.array([0.0, 0.25, 0.5])).tolist()
    [[[0.0, 0.5, 1.0], [7.0, 7.0, 7.0]]]
    """
    if _is_on(grid, times, counts) and np.isfinite(values).all():
        return values.reshape(len(values), len(counts), len(grid))
    return np.stack([_broken_lines(t, y, counts, grid) for t, y in zip(times, values, strict=True)])


def _is_on(grid: Array, times: Array, counts: np.ndarray) -> bool:
    if not (counts == len(grid)).all():
        return False
    return bool((times.reshape(len(times), -1, len(grid)) == grid).all())


def _broken_lines(times: Array, values: Array, counts: np.ndarray, grid: Array) -> Array:
    """Interpolate one data set: (curves, K). With 2i added to curve i's times, all are one line."""
    known = np.isfinite(times) & np.isfinite(values)
    curve = np.repeat(np.arange(len(counts)), counts)[known]
    if not len(curve):
        return np.zeros((len(counts), len(grid)))
    position = 2.0 * curve + times[known].clip(0.0, 1.0)  # (readings,), rising along the curves
    order = np.argsort(position, kind="stable")
    position, y = position[order], values[known][order]
    # first reading of each curve, and the one after its last: (curves,)
    ends = np.cumsum(np.bincount(curve, minlength=len(counts)))
    starts = ends - np.bincount(curve, minlength=len(counts))
    targets = 2.0 * np.arange(len(counts))[:, None] + grid
    # the readings on both sides of every grid point, of the same curve: (curves, K)
    first, last = starts[:, None], np.maximum(ends - 1, 0)[:, None]
    right = _below(position, targets).clip(first, last)
    left = (right - 1).clip(first, None).clip(max=len(position) - 1)
    right = right.clip(max=len(position) - 1)
    gap = position[right] - position[left]
    share = np.where(gap > 0, (targets - position[left]) / np.where(gap > 0, gap, 1.0), 1.0)
    out = y[left] + np.clip(share, 0.0, 1.0) * (y[right] - y[left])
    return np.where((ends > starts)[:, None], out, 0.0)


def _below(position: Array, targets: Array) -> np.ndarray:
    """Count the positions below each target, both in rising order: as `searchsorted` finds them.

    There are more targets than positions, so each position looks for its first target above it.
    """
    above = np.searchsorted(targets.ravel(), position, side="right")
    counted = np.bincount(above, minlength=targets.size + 1)[:-1]
    return np.cumsum(counted).reshape(targets.shape)
