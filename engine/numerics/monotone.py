"""Weighted isotonic regression of many short sequences at once."""

from __future__ import annotations

import numpy as np

from engine.types import Array


def non_increasing_fit(values: Array, weights: Array) -> Array:
    """The non-increasing sequences nearest to `values` (…, p) in weighted squares: (…, p).

    By the max-min formula, fit_l = min over i ≤ l of the max over j ≥ l of the weighted mean of
    entries i … j; sequences here have at most some twenty entries, so p² means are cheap. Weights
    are positive; the weighted mean of a sequence is preserved.
    """
    size = values.shape[-1]
    total = np.cumsum(weights * values, axis=-1)
    mass = np.cumsum(weights, axis=-1)
    before = np.concatenate([np.zeros_like(total[..., :1]), total[..., :-1]], axis=-1)
    lighter = np.concatenate([np.zeros_like(mass[..., :1]), mass[..., :-1]], axis=-1)
    means = (total[..., None, :] - before[..., :, None]) / np.where(
        np.tri(size, dtype=bool).T, mass[..., None, :] - lighter[..., :, None], 1.0)
    means = np.where(np.tri(size, dtype=bool).T, means, -np.inf)  # means[i, j] of entries i … j
    best = np.maximum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]  # over j ≥ l
    best = np.where(np.tri(size, dtype=bool).T, best, np.inf)
    return np.asarray(best.min(axis=-2))  # over i ≤ l
