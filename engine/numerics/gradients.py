"""Clipped gradients and the projections used by noisy gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from engine.core.arrays import Array

_BLOCK = 90_000  # gradient entries worked on at once, to stay in cache
_ROWS = 160  # rows (columns × entries) among them, so that enough curves fit beside


class GradientCurves(Protocol):
    """Set of curves as gradients need it: moments, with regressors or without."""

    @property
    def n_curves(self) -> int: ...

    def linear_map(self, iterates: Array) -> Array:
        """Map from moments to gradients at some iterates."""
        ...

    def gradients(self, iterates: Array, linear: Array | None = None) -> Callable[[slice], Array]:
        """Compute gradients at iterates (repeats, columns, p), as a function of a slice of curves.

        The function returns (repeats, columns, p, curves).
        """
        ...


def shared_map(curves: GradientCurves, iterates: Array) -> Array | None:
    """Compute the linear map of a round, shared by all servers; None if it is too large to keep.

    Iterates are (repeats, columns, p).
    """
    return curves.linear_map(iterates) if iterates[0].size <= _ROWS else None


def mean_clipped_gradient(
    curves: GradientCurves, iterates: Array, radii: Array, linear: Array | None = None
) -> Array:
    """Average over curves of each curve's gradient, clipped entry by entry to ±R_l.

    Replacing one curve moves entry l by at most 2 R_l / curves, because the clipped gradient of
    every curve lies in the box whatever its readings are. `linear` is the `shared_map` of the
    iterates, if there is one.
    """
    total = np.zeros_like(iterates)
    width = max(1, _ROWS // iterates.shape[2])
    for first in range(0, iterates.shape[1], width):
        columns = slice(first, first + width)
        total[:, columns] = _summed(curves, iterates[:, columns], radii, linear)
    return total / curves.n_curves


def clipped_variance(curves: GradientCurves, iterates: Array, radii: Array) -> Array:
    """Variance over curves of the clipped gradients, summed over entries: (repeats, columns).

    It is computed from the curves and never leaves a server.
    """
    clipped = _clip(curves.gradients(iterates)(slice(None)), radii)
    return np.asarray(clipped.var(axis=3).sum(axis=2))


def _summed(curves: GradientCurves, iterates: Array, radii: Array, linear: Array | None) -> Array:
    """Sums over curves for a few columns, in blocks of curves that stay in cache."""
    gradients, total = curves.gradients(iterates, linear), np.zeros_like(iterates)
    step = max(1, _BLOCK // iterates.size)
    ones = np.ones(min(step, curves.n_curves))
    for first in range(0, curves.n_curves, step):
        part = slice(first, first + step)
        clipped = _clip(gradients(part), radii if len(radii) == 1 else radii[part])
        total += clipped @ ones[: clipped.shape[3]]  # twice as fast as a sum
    return total


def _clip(gradients: Array, radii: Array) -> Array:
    """Clip (repeats, columns, p, curves) in place to the box of each curve."""
    np.maximum(gradients, -radii.T, out=gradients)
    return np.minimum(gradients, radii.T, out=gradients)


def project_on_ellipsoid(points: Array, weights: Array, bound: float) -> Array:
    """Nearest points of {a : Σ_l w_l a_l² ≤ bound}, for w ≥ 0 and a bound above 0; (…, r).

    The solution is a_l / (1 + λ w_l) with λ the root of Σ w_l a_l² / (1 + λ w_l)² = bound. Newton
    steps on the reciprocal square root, which is concave, rise to the root from the left.

    Examples
    --------
    >>> project_on_ellipsoid(np.array([3.0, 4.0]), np.ones(2), 1.0).round(12).tolist()
    [0.6, 0.8]
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
