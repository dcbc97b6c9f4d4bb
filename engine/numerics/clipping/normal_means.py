"""Means of normal variables that are held within bounds, in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from engine.core.arrays import Array


def cut_off(mean: Array, sd: Array | float, low: float, high: float) -> Array:
    """How much the bounds move the mean of a normal variable: E min(max(X, a), b) − E X.

    With z the distance from the mean to a bound in standard deviations, E max(a − X, 0) is
    σ (φ(z) − zΦ(−z)) for z = (μ − a)/σ, and likewise above.

    Parameters
    ----------
    mean : (…)
        μ.
    sd : (…) or float
        σ > 0.
    low, high : float
        a and b.

    Returns
    -------
    (…)

    Examples
    --------
    >>> cut_off(np.array([0.0]), 1.0, 0.0, 40.0).round(4).tolist()  # 1/√(2π)
    [0.3989]
    """
    return np.asarray(sd * (_excess((mean - low) / sd) - _excess((high - mean) / sd)))


def _excess(z: Array) -> Array:
    """E max(Z − z, 0) of a standard normal Z."""
    return np.asarray(np.exp(-z * z / 2) / np.sqrt(2 * np.pi) - z * ndtr(-z))
