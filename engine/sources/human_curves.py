"""Base of simulated curves of people: how many take part, how often, where and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from engine.core.lists import MAX_SITES
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array
from engine.sources.sited_curves import (
    SitedCurves,
    more_observations,
    observation_times,
    observations,
    people,
    time_density,
    time_span,
)

DAY = 24.0  # hours
_NEIGHBOURING_DAYS = np.arange(-2, 3) * DAY  # whose peaks still reach into a day
_MINUTES = 24 * 60


@dataclass(frozen=True, kw_only=True)
class HumanCurves(SitedCurves):
    """Curves of simulated people, with sizes and times that any study could have.

    Nobody is behind them: the figures of their shapes are those that publications state, which
    `credit` names; no observation of a real person is used.
    """

    tasks = frozenset({MEAN_FUNCTION.key})
    credit: ClassVar[str]

    n_curves: int = people(200)
    n_observations_per_curve: int = observations(30)
    times: str = observation_times()
    time_density: str | None = time_density()
    time_span: float = time_span()
    more_observations: int = more_observations()
    n_servers: int = param(
        1,
        "Sites",
        "They keep their own data; curves are split evenly.",
        low=1,
        high=MAX_SITES,
        symbol="S",
    )
    site_sizes: str | None = param(
        None,
        "People at each site",
        "Numbers such as 400, 250, 100: one for each site. Empty: people are split evenly.",
    )
    site_readings: str | None = param(
        None,
        "Observations each, at each site",
        "Numbers such as 10, 10, 6: one for each site. Empty: the same at all.",
    )


def daily_density(
    hours: Array, peaks: tuple[tuple[float, float, float], ...], steady: float = 0.0
) -> Array:
    """Spread something over the hours of a day, all alike: evenly, and in peaks; mean 1/24.

    Peaks are (share, hour, spread in hours), normal and continued over midnight; `steady` is the
    share that is spread evenly. All shares sum to 1.
    """
    table = _minute_by_minute(peaks, steady)
    return np.interp(np.mod(hours, DAY), np.linspace(0, DAY, len(table)), table)


@lru_cache
def _minute_by_minute(peaks: tuple[tuple[float, float, float], ...], steady: float) -> Array:
    hours = np.linspace(0, DAY, _MINUTES + 1)[:, None]
    density = np.full(len(hours), steady / DAY)
    for share, middle, spread in peaks:
        z = (hours - middle + _NEIGHBOURING_DAYS) / spread
        density += share * np.exp(-z * z / 2).sum(axis=1) / (spread * np.sqrt(2 * np.pi))
    return density
