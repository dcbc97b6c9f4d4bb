"""How far off a release may be, by itself and by public facts, and what holds it to the bounds.

Everything here is worked out after the noise, from what is released and what was stated, so it
costs nothing and may be published.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.bands import LEVEL, UNCOVERED_END
from engine.feasibility import Feasibility
from engine.grids import drawing_grid
from engine.types import Array, Estimate

WIDE = 0.25  # of the stated range: a band that wide shows hardly more than a level


@dataclass(frozen=True)
class ReleasedBand:
    """The confidence band of a release.

    Parameters
    ----------
    kind : "simultaneous", for the whole curve, or "pointwise", for each place taken alone.
    basis_size : how many basis functions the release keeps; 0 where that is not known.
    covered : the places between which the band is meant, in their own unit.
    half_width : its average half-width there, over all functions, in response units.
    level : the share of such bands that contain the true curve.
    """

    kind: str
    basis_size: int
    covered: tuple[float, float]
    half_width: float
    level: float = LEVEL


@dataclass(frozen=True)
class Uncertainty:
    """What is published with a release about how far off it may be.

    Parameters
    ----------
    band : None where the method gives none.
    feasibility : what sizes and budget said beforehand; None where there is no rule.
    warnings : sentences of the estimate, from released quantities or stated facts.
    moved : the share of the released places at which a value was moved to a stated bound.
    wide : the average width of the band as a share of the stated range; 0 where there is none.
    """

    band: ReleasedBand | None = None
    feasibility: Feasibility | None = None
    warnings: tuple[str, ...] = ()
    moved: float = 0.0
    wide: float = 0.0

    @property
    def is_coarse(self) -> bool:
        """Whether only a level and a trend can be read from the release."""
        return (self.feasibility is not None and self.feasibility.verdict == "coarse"
                ) or self.wide >= WIDE


def band_of(estimate: Estimate, ranges: list[tuple[Array, Array]], x: Array) -> ReleasedBand | None:
    """The band of a release whose ends at the places x (k,) are `ranges`, one for each function."""
    if estimate.band is None or not ranges:
        return None
    inside = covered_places(len(x))
    half = float(np.mean([(high - low)[inside].mean() / 2 for low, high in ranges]))
    return ReleasedBand(estimate.band.kind, estimate.kept[0] if estimate.kept else 0,
                        (float(x[inside][0]), float(x[inside][-1])), half)


def covered_places(count: int) -> slice:
    """Which places of the drawing grid a band is meant for: all but its ends."""
    grid = drawing_grid()[:count]
    inside = np.flatnonzero((grid >= UNCOVERED_END) & (grid <= 1 - UNCOVERED_END))
    return slice(int(inside[0]), int(inside[-1]) + 1)


def moved_inside(values: Array, low: float, high: float) -> tuple[Array, float]:
    """Values held to public bounds, and the share of them that had to be moved.

    The truth lies between the bounds, because numbers are moved there before anything else, so
    every value comes nearer to it and a band that contained it still does.
    """
    inside = np.clip(values, low, high)
    return inside, float(np.mean(inside != values))
