"""Times of repeated visits: one reading after another at a public distance, from a random start."""

from __future__ import annotations

import numpy as np

from engine.errors import InputError
from engine.types import Array

JITTER = 0.2  # how much later than planned a visit can be, in gaps


def window(readings: int, gap: float) -> float:
    """How much of [0, 1] one curve's visits can take up."""
    return gap * (readings - 1 + JITTER)


def visit_times(curves: int, readings: int, gap: float, rng: np.random.Generator) -> Array:
    """Times of every curve on [0, 1], `gap` apart: (curves, readings), increasing.

    The first visit is spread evenly over where all visits lie inside; each comes later than
    planned by up to a fifth of the gap, evenly.

    Raises
    ------
    InputError
        If so many visits do not fit.
    """
    room = 1 - window(readings, gap)
    if room < 0:
        raise InputError(f"{readings} readings at this distance do not fit into the time range.",
                         field="visit_gap", hint="Take fewer readings, or state a shorter gap.")
    start = room * rng.random((curves, 1))
    late = JITTER * rng.random((curves, readings))
    return np.asarray(start + gap * (np.arange(readings) + late))
