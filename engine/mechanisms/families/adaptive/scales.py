"""Placement of readings between the stated bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Array, CurveData, PublicFacts
from engine.numerics.public_curves import PublicCurve


@dataclass(frozen=True)
class ObservationScale:
    """The public map from readings to [−1, 1]: z = (y − middle(t))/half, clipped."""

    middle: PublicCurve
    half: float  # half of the range around it, in response units

    def __call__(self, times: Array, values: Array) -> Array:
        middle = self.middle.heights[0] if self.is_flat else self.middle(times)
        inside = np.asarray(np.clip(values, middle - self.half, middle + self.half))
        inside -= middle
        inside /= self.half
        return inside

    def of(self, data: CurveData) -> Array:
        """Map all values of some curves."""
        return self(data.times, data.values)

    def side(self, times: Array, values: Array) -> NDArray[np.int64]:
        """0 for readings strictly below the range, 1 above, 2 within, −1 for no number."""
        middle = self.middle.heights[0] if self.is_flat else self.middle(times)
        side = np.where(values < middle - self.half, 0, np.where(values > middle + self.half, 1, 2))
        return np.where(np.isfinite(values) & np.isfinite(times), side, -1)

    @cached_property
    def is_flat(self) -> bool:
        return len(set(self.middle.heights)) == 1


def bounds_of(facts: PublicFacts) -> ObservationScale:
    """The scale that maps the stated bounds to −1 and 1."""
    return ObservationScale(PublicCurve((facts.value_middle,) * 2), facts.value_half_width)
