"""Clipped gradients and the projections used by noisy gradient descent."""

from __future__ import annotations

import numpy as np

from engine.numerics.moments import Moments
from engine.types import Array

_BLOCK = 48_000  # gradient entries worked on at once, to stay in cache


def mean_clipped_gradient(moments: Moments, iterates: Array, radii: Array) -> Array:
    """Average over curves of each curve's gradient, clipped entry by entry.

    Parameters
    ----------
    moments : Moments of (repeats, curves)
    iterates : (repeats, r, columns)
        One column for every draw and budget.
    radii : (curves or 1, r)
        A curve's gradient entry l is moved into [−R_l, R_l].

    Returns
    -------
    (repeats, r, columns). Replacing one curve moves entry l by at most 2 R_l / curves, because
    the clipped gradient of every curve lies in the box whatever its readings are.
    """
    repeats, curves, r = moments.cross.shape
    columns = iterates.shape[2]
    total = np.zeros((repeats, r, columns))
    step = max(1, _BLOCK // (repeats * r * columns))
    for first in range(0, curves, step):
        part = slice(first, first + step)
        box = (radii if len(radii) == 1 else radii[part])[..., None]
        total += _clipped_gradients(moments.curves(part), iterates, box).sum(axis=1)
    return total / curves


def _clipped_gradients(moments: Moments, iterates: Array, box: Array) -> Array:
    """Clipped gradients M_i a − v_i of every curve and column: (repeats, curves, r, columns)."""
    repeats, curves, r = moments.cross.shape
    gradient = moments.gram.reshape(repeats, curves * r, r) @ iterates
    gradient = gradient.reshape(repeats, curves, r, -1)
    gradient -= moments.cross[..., None]
    np.maximum(gradient, -box, out=gradient)
    return np.minimum(gradient, box, out=gradient)


def project_on_ellipsoid(points: Array, weights: Array, bound: float) -> Array:
    """Nearest points of {a : Σ_l w_l a_l² ≤ bound}, for points (..., r).

    The solution is a_l / (1 + λ w_l) with λ the root of Σ w_l a_l² / (1 + λ w_l)² = bound. Newton
    steps on the reciprocal square root, which is concave, rise to the root from the left.
    """
    multiplier = np.zeros(points.shape[:-1] + (1,))
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
