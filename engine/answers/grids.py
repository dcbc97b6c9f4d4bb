"""The grid on which places are looked for, and a curve with its band on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.types import Array

POINTS = 201  # of the grid on which places are looked for
STEP = 1 / (POINTS - 1)


def grid() -> Array:
    """Times on [0, 1] at which places are looked for: (201,)."""
    return np.linspace(0.0, 1.0, POINTS)


@dataclass(frozen=True)
class GridBand:
    """A curve with its simultaneous band on the grid; of several readings the hull.

    Parameters
    ----------
    middle, low, high : (201,)
        In response units per power of unit time.
    error : (201,)
        Standard errors, of the first reading.
    """

    middle: Array
    low: Array
    high: Array
    error: Array
