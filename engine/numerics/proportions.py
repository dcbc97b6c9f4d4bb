"""Proportion of successes, with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.bands import NORMAL
from engine.core.types import Array


def wilson(share: Array | float, n: Array | float) -> tuple[Array, Array]:
    """Between what a chance lies 95 times in 100 (Wilson 1927, JASA 22, 209–212)."""
    shrunk = 1 + NORMAL**2 / n
    middle = (share + NORMAL**2 / (2 * n)) / shrunk
    half = NORMAL * np.sqrt(share * (1 - share) / n + (NORMAL / n) ** 2 / 4) / shrunk
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


@dataclass(frozen=True)
class Proportion:
    """Share of simulated releases within a distance, as an estimate for all releases.

    Examples
    --------
    >>> Proportion.within(np.arange(100.0)[:, None], 94.0)
    Proportion(count=95, n=100, low=0.8882..., high=0.9784..., independent=100.0)
    """

    # count, n: releases within, and all that were simulated
    count: int
    n: int
    # low, high: 95 % confidence interval of the share of all releases there could be
    low: float
    high: float
    independent: float  # how many independent releases would say as much

    @classmethod
    def within(cls, errors: Array, distance: float) -> Proportion:
        """Count the releases of a study, (data sets, releases of each), within a distance.

        Releases of one data set are alike: they count as so many independent ones as the shares of
        data sets differ, at least as one of each.
        """
        inside = np.asarray(errors <= distance)
        data_sets, n, share = len(inside), inside.size, float(inside.mean())
        between = float(inside.mean(axis=1).var(ddof=1)) / data_sets if data_sets > 1 else 0.0
        independent = n if between == 0 else np.clip(share * (1 - share) / between, data_sets, n)
        low, high = wilson(share, independent)
        return cls(int(inside.sum()), n, float(low), float(high), float(independent))
