"""The error of a release, from itself and public facts, and its correction to the bounds.

Everything here is worked out after the noise, from what is released and what was stated, so it
costs nothing and may be published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.bands import LEVEL, UNCOVERED_END, reach_the_ends, width_at
from engine.core.grids import drawing_grid
from engine.core.types import Array, Estimate
from engine.privacy.feasibility import Feasibility, verdict

STAIRCASE = "staircase"  # the kind of a band that is drawn as steps between public edges


@dataclass(frozen=True)
class ReleasedBand:
    """The confidence band of a release."""

    # {"simultaneous", "pointwise", "staircase"}: for the whole curve, or for each place taken
    # alone; for the whole curve, as steps
    kind: str
    basis_size: int  # how many basis functions the release keeps; 0 where that is not known
    covered: tuple[float, float]  # the places between which the band is meant, in their own unit
    half_width: float  # its average half-width there, over all functions, in response units
    level: float = LEVEL  # the share of such bands that contain the true curve
    limit: str = ""  # what it relies on that the release cannot show; empty if nothing
    counts_bias: bool = False  # whether it counts the largest bias over a stated class of curves
    # whether it is drawn as bars at some places, because the shades of the picture are ranges of
    # observations
    has_bars: bool = False
    # whether the curve is shrunk and the band is that of its coefficients before
    is_of_unshrunk: bool = False
    # whether it counts how steeply the curve may start and end, or relies on its being periodic
    counts_ends: bool = False
    is_periodic: bool = False  # whether it relies on the curve ending where it began, as stated
    # its average half-width at few common times, between which it is wider; 0 without them
    at_times: float = 0.0

    def inside(self, x: Array) -> slice:
        """Select the places `x` (k,), increasing and in their own unit, that the band covers."""
        low, high = self.covered
        indices = np.flatnonzero((x >= low) & (x <= high))
        return slice(int(indices[0]), int(indices[-1]) + 1)

    def outside(self, x: Array) -> list[slice]:
        """Stretches at the ends that the band is not meant for, each with a place inside."""
        inside = self.inside(x)
        start = [slice(0, inside.start + 1)] * (inside.start > 0)
        return start + [slice(inside.stop - 1, len(x))] * (inside.stop < len(x))


@dataclass(frozen=True)
class Uncertainty:
    """Published statements about the error of a release."""

    band: ReleasedBand | None = None  # none where the method gives none
    # what sizes and budget said beforehand; None where there is no rule
    feasibility: Feasibility | None = None
    # sentences of the estimate, from released quantities or stated facts
    warnings: tuple[str, ...] = ()
    # the share of the released places at which a value was moved to a stated bound
    moved: float = 0.0
    # the average width of the band as a share of the stated range; 0 where there is none
    wide: float = 0.0
    # sentences with what else follows from the release, such as medians and tests
    findings: tuple[str, ...] = ()
    is_flat: bool = False  # whether a constant curve fits into the band
    is_unreliable: bool = False  # whether a warning says that the band cannot be relied on
    is_tested: bool = True  # whether the stated facts that a release can contradict were tested
    # for each of these facts what was stated, the outcome, what was measured, what would show
    checks: tuple[dict[str, str], ...] = ()

    @property
    def verdict(self) -> str | None:
        """The readable detail of the release, by `engine.privacy.feasibility.verdict`."""
        return verdict(
            self.feasibility, self.wide, self.is_flat, self.is_unreliable, self.is_tested
        )

    @property
    def is_coarse(self) -> bool:
        """True if the release shows only a level and a trend."""
        return self.verdict == "coarse"


def facts_of(estimate: Estimate) -> dict[str, Any]:
    """Collect the first release's statements on stated facts, as fields of `Uncertainty`."""
    return {
        "is_unreliable": bool(estimate.is_unreliable.flat[0]),
        "is_tested": bool(estimate.is_tested.flat[0]),
        "checks": tuple(check.of(0, 0, 0).row() for check in estimate.checks),
    }


def band_of(
    estimate: Estimate, ranges: list[tuple[Array, Array]], x: Array, limit: str = ""
) -> ReleasedBand | None:
    """Summarise the band of a release for publication; None without one.

    Ranges are a pair (k,) for each function, in response units. `limit` says what no release can
    show; what this one would not is added.
    """
    limit = f"{limit} {estimate.not_shown}".strip()
    if not estimate.band_kind or not ranges:
        return None
    counts_ends = estimate.intervals is None and reach_the_ends(estimate)
    times = getattr(estimate.basis, "times", ())
    at_times = float(np.mean([width_at(*ends, times) / 2 for ends in ranges])) if times else 0.0
    is_periodic = counts_ends and getattr(estimate.basis, "is_periodic", False)
    inside = slice(0, len(x)) if counts_ends else _all_but_the_ends(len(x))
    half = float(np.mean([(high - low)[inside].mean() / 2 for low, high in ranges]))
    return ReleasedBand(
        estimate.band_kind,
        estimate.basis_sizes[0] if estimate.basis_sizes else 0,
        (float(x[inside][0]), float(x[inside][-1])),
        half,
        limit=limit,
        counts_bias=estimate.band is not None and estimate.band.bias is not None,
        is_of_unshrunk=any(tuning.get("shrunk") for tuning in estimate.tuning),
        counts_ends=counts_ends,
        is_periodic=is_periodic,
        at_times=at_times,
    )


def _all_but_the_ends(count: int) -> slice:
    """Places of the drawing grid, of which the first `count` are used, without both ends."""
    grid = drawing_grid()[:count]
    inside = np.flatnonzero((grid >= UNCOVERED_END) & (grid <= 1 - UNCOVERED_END))
    return slice(int(inside[0]), int(inside[-1]) + 1)


def moved_inside(values: Array, low: float, high: float) -> tuple[Array, float]:
    """Move values to public bounds, which may be infinite, and return the share that moved.

    The truth lies between the bounds, because numbers are moved there before anything else, so
    every value comes nearer to it and a band that contained it still does.

    Examples
    --------
    >>> import numpy as np
    >>> moved_inside(np.array([-1.0, 0.5, 0.75, 3.0]), 0.0, 1.0)
    (array([0.  , 0.5 , 0.75, 1.  ]), 0.5)
    """
    inside = np.clip(values, low, high)
    return inside, float(np.mean(inside != values))


def covariance_inside(values: Array, largest_variance: float) -> tuple[Array, float]:
    """Cap variances at a public bound, and return the share of values beyond it.

    The rows and columns of a time whose variance is too large are lowered by one factor. Values
    moved one by one would come nearer to the truth too, but no longer be those of a covariance: its
    eigenvalues could be negative. Correlations stay as they were released.

    Examples
    --------
    >>> import numpy as np
    >>> covariance_inside(np.array([[4.0, 1.0], [1.0, 1.0]]), 1.0)
    (array([[1. , 0.5],
           [0.5, 1. ]]), 0.25)
    """
    factors = np.sqrt(largest_variance / np.maximum(np.diagonal(values), largest_variance))
    inside = np.clip(
        values * np.outer(factors, factors), -largest_variance, largest_variance
    )  # what is no covariance
    return inside, float(np.mean(np.abs(values) > largest_variance))
