"""Least squares over all readings, every curve with weight one, and its errors over curves."""

from __future__ import annotations

import numpy as np

from engine.numerics.moments import Moments
from engine.types import Array

_RIDGE = 1e-10  # keeps a design with too few points solvable


def fit(moments: Moments) -> Array:
    """Coefficients: (repeats, r)."""
    gram, cross = moments.average()
    stable = gram + _RIDGE * np.eye(moments.size)
    return np.asarray(np.linalg.solve(stable, cross[..., None])[..., 0])


def covariance(moments: Moments, coefficients: Array) -> Array:
    """Covariance of the coefficients: (repeats, r, r).

    Curves are independent, readings within one are not: the sandwich formula over curves.
    """
    gram = moments.average()[0] + _RIDGE * np.eye(moments.size)
    scores = moments.gradients(coefficients[:, None])[:, 0]
    influence = np.linalg.solve(gram, scores) / moments.n_curves
    return np.asarray(influence @ influence.swapaxes(-1, -2))
