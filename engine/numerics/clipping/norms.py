"""Clipping of vectors in norm."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array


def norm_clip_factors(norms: Array, radius: Array | float) -> Array:
    """min(1, c/‖x‖): what vectors are multiplied by so that no norm is above c.

    Parameters
    ----------
    radius : float, or an array that broadcasts to (…)
        c, finite and above 0.

    Returns
    -------
    (…)

    Examples
    --------
    >>> norm_clip_factors(np.array([0.0, 1.0, 4.0]), 2.0).tolist()
    [1.0, 1.0, 0.5]
    """
    return np.asarray(radius / np.maximum(norms, radius))
