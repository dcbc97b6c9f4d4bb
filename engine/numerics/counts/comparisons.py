"""Two groups: the difference of their curves, and a log-rank test that keeps its level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from engine.core.arrays import Array, Flags
from engine.numerics.counts.bands import Limits, simultaneous_factor
from engine.numerics.counts.life_tables import LifeTable, life_tables, of_group
from engine.numerics.counts.tables import CountTable

_FEWEST = 10.0  # people at risk, of both groups, in weights and for an interval to be used
_CERTAIN = 4 * np.sqrt(2)  # standard deviations of their noise


@dataclass(frozen=True, eq=False)
class Difference:
    """The difference of two curves at edges that are shown in both groups, and its limits.

    Parameters
    ----------
    values, half_width : (…, K)
        First group less second; the limits hold at all shown edges at once.
    shown : (…, K) of bool
    """

    values: Array
    half_width: Array
    shown: Flags

    @property
    def excludes_zero(self) -> Flags:
        """Whether the band leaves out 0 somewhere: (…) of bool."""
        return np.asarray((self.shown & (np.abs(self.values) > self.half_width)).any(axis=-1))


def difference(first: Limits, second: Limits) -> Difference:
    """The difference of two curves of one table.

    Parameters
    ----------
    first, second : Limits
        With errors of one joint sample, so that what both groups share is in it.

    Returns
    -------
    Difference
    """
    errors, shown = first.errors - second.errors, first.shown & second.shown
    deviations = np.sqrt((errors**2).mean(axis=-1))
    relative = np.abs(errors) / np.maximum(deviations, 1e-300)[..., None]
    factor = simultaneous_factor(relative, shown, min(first.people, second.people))
    return Difference(first.values - second.values, factor[..., None] * deviations, shown)


@dataclass(frozen=True, eq=False)
class LogRank:
    """The log-rank test over intervals.

    Parameters
    ----------
    statistic : (…)
        z: above 0 where the first group has more events than equal hazards would give it.
    p_value : (…)
        Of both sides.
    noise_share : (…)
        The part of the variance of the test that is noise.
    """

    statistic: Array
    p_value: Array
    noise_share: Array


def log_rank(table: CountTable, weighting: str = "log-rank") -> LogRank:
    """Test whether two groups have equal hazards.

    With A the people at risk in the middle of an interval and d its events, the statistic is
    U = Σ w (A₂d₁ − A₁d₂). It multiplies noisy numbers of *different* groups only, so under equal
    hazards its mean is 0 whatever the noise. Its variance is that of chance, Σ w² A₁A₂(d₁ + d₂),
    and τ² times the squared size of its centred gradient.

    Parameters
    ----------
    table : CountTable
        Of outcomes in two groups.
    weighting : {"log-rank", "Gehan"}
        w is 1/(A₁ + A₂), or 1 for a test that looks at early times first.

    Returns
    -------
    LogRank

    References
    ----------
    Mantel (1966); Gehan (1965). With noise: derived for this project.
    """
    lives = life_tables(table)
    raw = [LifeTable(table.centred[..., g, :], table.cells) for g in range(2)]
    middle, events = (np.stack(parts, axis=-2) for parts in zip(*map(_exposed, lives), strict=True))
    noisy_middle, noisy_events = (np.stack(parts, axis=-2)
                                  for parts in zip(*map(_exposed, raw), strict=True))
    weight = _used(table, lives) * (
        1.0 if weighting == "Gehan" else 1 / np.maximum(middle.sum(axis=-2), _FEWEST))
    score = (weight * (noisy_middle[..., 1, :] * noisy_events[..., 0, :]
                       - noisy_middle[..., 0, :] * noisy_events[..., 1, :])).sum(axis=-1)
    chance = (weight**2 * middle.prod(axis=-2) * events.sum(axis=-2)).sum(axis=-1)
    gradient = sum((sign * of_group(_gradient(weight, middle[..., 1 - g, :], events[..., 1 - g, :],
                                              lives[g]), g, 2)
                    for g, sign in ((0, 1.0), (1, -1.0))), np.zeros(()))
    noise = table.variances(gradient)[1][..., 0]
    total = np.maximum(chance + noise, 1e-300)
    statistic = score / np.sqrt(total)
    return LogRank(statistic, 2 * ndtr(-np.abs(statistic)), noise / total)


def _exposed(life: LifeTable) -> tuple[Array, Array]:
    """People at risk in the middle of each interval, and events of all causes: (…, K) each."""
    events = life.events.sum(axis=-2)
    return life.at_risk[..., :-1] - (events + life.censored) / 2, events


def _used(table: CountTable, lives: list[LifeTable]) -> Array:
    """Interval 1, then those at whose start enough people of both groups are left: (…, K)."""
    intervals, kinds = table.cells.n_intervals, table.cells.n_causes + 1
    remaining = table.cells.size - kinds * np.arange(1, intervals)
    limit = np.maximum(_FEWEST, _CERTAIN * table.spread_of_remaining(remaining))
    pooled = sum(life.at_risk[..., 1:-1] for life in lives)
    later = np.logical_and.accumulate(pooled >= limit, axis=-1)
    return np.concatenate([np.ones((*later.shape[:-1], 1)), later], axis=-1)


def _gradient(weight: Array, other_middle: Array, other_events: Array, life: LifeTable) -> Array:
    """∂/∂x of Σ w (A′d − A d′) by the cells of one group, the other's marked ′: (…, 1, m).

    A counts everybody who leaves later, and half of those who leave within the interval.
    """
    of_events, exposed = life.marks
    of_events = of_events.sum(axis=0)
    middle = exposed - of_events / 2
    return np.asarray((weight * other_middle)[..., None, :] @ of_events
                      - (weight * other_events)[..., None, :] @ middle)
