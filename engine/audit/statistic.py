"""The attacker's statistic under both neighbours, counted in bins for a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from engine.core.types import Array

_BINS = 48
_BEYOND = 0.001  # of all releases at each end, which are counted in the outermost bin


@dataclass(frozen=True)
class CountedStatistic:
    """Counts of a statistic in bins of equal width, and the threshold above which it accuses."""

    edges: tuple[float, ...]  # one more than there are bins; the outermost hold what is beyond
    first: tuple[int, ...]  # releases of the one data set
    second: tuple[int, ...]  # releases of the other, for which the statistic is higher
    threshold: float
    right: float  # share of right guesses among releases that did not choose the threshold

    @classmethod
    def of(cls, first: Array, second: Array, threshold: float, right: float) -> Self | None:
        """Count both in bins; None if a statistic is infinite or takes one value only."""
        both = np.concatenate((first, second))
        if not np.isfinite(both).all():
            return None
        low, high = np.quantile(both, (_BEYOND, 1 - _BEYOND))
        low, high = min(low, threshold), max(high, threshold)
        if not high > low:
            return None
        edges = np.linspace(low, high, _BINS + 1)
        counts = (np.histogram(np.clip(side, low, high), edges)[0] for side in (first, second))
        one, other = (tuple(map(int, count)) for count in counts)
        return cls(tuple(map(float, edges)), one, other, float(threshold), right)
