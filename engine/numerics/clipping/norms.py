"""Clipping of vectors in norm."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array


def norm_clip_factors(norms: Array, radius: Array | float) -> Array:
    """Compute factors min(1, c/‖x‖) after which no norm is above c, finite and above 0: (…).

    Examples
    --------
    >>> norm_clip_factors(np.array([0.0, 1.0, 4.0]), 2.0).tolist()
    [1.0, 1.0, 0.5]
    """
    return np.asarray(radius / np.maximum(norms, radius))
