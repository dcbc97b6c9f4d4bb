"""Isotonic regression of many short sequences at once."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array


def non_increasing_fit(values: Array, weights: Array | None = None) -> Array:
    """The non-increasing sequences nearest to others in squares: (…, p).

    By the min-max formula, fit_l = min over i ≤ l of the max over j ≥ l of the mean of entries i …
    j; sequences here have at most some thirty entries, so all p² means are cheap. The weighted mean
    of a sequence is preserved.

    Examples
    --------
    >>> non_increasing_fit(np.array([3.0, 1.0, 2.0])).tolist()
    [3.0, 1.5, 1.5]
    >>> non_increasing_fit(np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 1.0])).tolist()
    [3.0, 1.25, 1.25]
    """
    order = np.arange(values.shape[-1])
    above = order >= order[:, None]
    if weights is None:
        means = _between(values) / np.where(above, order - order[:, None] + 1, 1)
    else:
        means = _between(values * weights) / np.where(above, _between(weights), 1.0)
    means = np.where(above, means, -np.inf)  # means[i, j] of entries i … j
    best = np.maximum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]  # over j ≥ l
    return np.asarray(np.where(above, best, np.inf).min(axis=-2))  # over i ≤ l


def _between(values: Array) -> Array:
    """Sums of entries i … j: (…, p, p), for j ≥ i."""
    total = np.cumsum(values, axis=-1)
    before = np.concatenate([np.zeros_like(total[..., :1]), total[..., :-1]], axis=-1)
    return np.asarray(total[..., None, :] - before[..., :, None])
