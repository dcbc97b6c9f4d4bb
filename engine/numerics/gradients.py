"""Clipped gradients and the projections used by noisy gradient descent."""

from __future__ import annotations

import numpy as np

from engine.numerics.moments import Moments, gradient_map
from engine.types import Array

_BLOCK = 48_000  # gradient entries worked on at once, to stay in cache
_ROWS = 160  # rows (columns × entries) among them, so that enough curves fit beside


def mean_clipped_gradient(moments: Moments, iterates: Array, radii: Array) -> Array:
    """Average over curves of each curve's gradient, clipped entry by entry.

    Parameters
    ----------
    moments : Moments of (repeats, curves)
    iterates : (repeats, columns, r)
        One column for every draw and budget.
    radii : (curves or 1, r)
        A curve's gradient entry l is moved into [−R_l, R_l].

    Returns
    -------
    (repeats, columns, r). Replacing one curve moves entry l by at most 2 R_l / curves, because
    the clipped gradient of every curve lies in the box whatever its readings are.
    """
    total = np.zeros_like(iterates)
    width = max(1, _ROWS // iterates.shape[2])
    for first in range(0, iterates.shape[1], width):
        columns = slice(first, first + width)
        total[:, columns] = _summed(moments, iterates[:, columns], radii)
    return total / moments.n_curves


def _summed(moments: Moments, iterates: Array, radii: Array) -> Array:
    """Sums over curves for a few columns, in blocks of curves that stay in cache."""
    repeats, columns, r = iterates.shape
    linear, total = gradient_map(iterates, moments.basis), np.zeros_like(iterates)
    step = max(1, _BLOCK // iterates.size)
    for first in range(0, moments.n_curves, step):
        part = slice(first, first + step)
        box = (radii if len(radii) == 1 else radii[part]).T
        gradients = (linear @ moments.features[:, :, part]).reshape(repeats, columns, r, -1)
        np.maximum(gradients, -box, out=gradients)
        np.minimum(gradients, box, out=gradients)
        total += gradients.sum(axis=3)
    return total


def project_on_ellipsoid(points: Array, weights: Array, bound: float) -> Array:
    """Nearest points of {a : Σ_l w_l a_l² ≤ bound}, for points (..., r).

    The solution is a_l / (1 + λ w_l) with λ the root of Σ w_l a_l² / (1 + λ w_l)² = bound. Newton
    steps on the reciprocal square root, which is concave, rise to the root from the left.
    """
    multiplier = np.zeros((*points.shape[:-1], 1))
    outside = (weights * points**2).sum(axis=-1, keepdims=True) > bound
    if not outside.any():
        return points
    for _ in range(50):
        shrink = 1 + multiplier * weights
        value = (weights * points**2 / shrink**2).sum(axis=-1, keepdims=True)
        slope = -2 * (weights**2 * points**2 / shrink**3).sum(axis=-1, keepdims=True)
        step = 2 * value / np.where(outside, slope, -1.0) * (1 - np.sqrt(value / bound))
        multiplier += np.where(outside, step, 0.0)
        if (np.abs(step[outside]) <= 1e-13 * (1 + multiplier[outside])).all():
            break
    return np.where(outside, points / (1 + multiplier * weights), points)
