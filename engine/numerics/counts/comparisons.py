"""Two groups: the difference of their curves, and a log-rank test that keeps its level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from engine.core.arrays import Array, Flags
from engine.core.bands import NORMAL
from engine.numerics.counts.bands import (
    CurveLimits,
    allowance,
    check_one_table,
    simultaneous_factor,
)
from engine.numerics.counts.life_tables import LifeTable, life_tables, of_group
from engine.numerics.counts.tables import CountTable

_FEWEST = 10.0  # people at risk, of both groups, in weights and for an interval to be used
_CERTAIN = 4 * np.sqrt(2)  # standard deviations of their noise
_RATIOS = np.exp(np.linspace(-np.log(30.0), np.log(30.0), 121))  # at which ratios are tested


@dataclass(frozen=True, eq=False)
class CurveDifference:
    """The difference of two curves at edges that are shown in both groups, and its limits."""

    # values, half_width, each (…, K): first group less second; the limits hold at all shown edges
    # at once
    values: Array
    half_width: Array
    drawn: Flags  # (…, K) of bool

    @property
    def excludes_zero(self) -> Flags:
        """True if the band leaves out 0 somewhere: (…) of bool."""
        return np.asarray((self.drawn & (np.abs(self.values) > self.half_width)).any(axis=-1))


def difference(first: CurveLimits, second: CurveLimits) -> CurveDifference:
    """Compute the difference of two curves of one table.

    The errors of both are of one joint sample, so that what both groups share is in it.
    """
    check_one_table(first, second)
    errors, drawn = first.errors - second.errors, first.drawn & second.drawn
    deviations = np.sqrt((errors**2).mean(axis=-1))
    relative = np.abs(errors) / np.maximum(deviations, 1e-300)[..., None]
    factor = first.stretch * simultaneous_factor(relative, drawn, min(first.people, second.people))
    shift = np.maximum(first.moves[0] + second.moves[1], first.moves[1] + second.moves[0])
    return CurveDifference(
        first.values - second.values,
        factor[..., None] * deviations + allowance(shift, deviations),
        drawn,
    )


@dataclass(frozen=True, eq=False)
class LogRank:
    """The log-rank test over intervals."""

    # (…): z: above 0 where the first group has more events than equal hazards would give it
    statistic: Array
    p_value: Array
    noise_share: Array  # (…): the part of the variance of the test that is noise
    # (…): what was taken off |z|, because the counts do not tell when within its interval a person
    # left
    allowance: Array


def log_rank(table: CountTable) -> LogRank:
    """The test of whether two groups have equal hazards.

    With A the people at risk in the middle of an interval and d its events, the statistic is
    U = Σ w (A₂d₁ − A₁d₂) with w = 1/(A₁ + A₂). It multiplies noisy numbers of *different* groups
    only, so under equal hazards its mean is 0 whatever the noise. Its variance is that of chance,
    Σ w² A₁A₂(d₁ + d₂), and τ² times the squared size of its centred gradient.

    A is right where few leave within an interval. What constant rates within each interval move U
    by is added (`_Comparison.sides`). What U may be off by where people are censored all at once
    (`_Comparison.shift`), beyond a third of a standard deviation, is taken off |U|.

    References
    ----------
    Mantel (1966). With noise: derived for this project.
    """
    compared = _Comparison.of(table)
    score, chance, noise = compared.at(1.0)
    total = np.maximum(chance + noise, 1e-300)
    deviation = np.sqrt(total)
    allowed = np.asarray(allowance(compared.shift(1.0), deviation) / deviation)
    statistic = _reduced(score / deviation, allowed)
    return LogRank(statistic, 2 * ndtr(-np.abs(statistic)), noise / total, allowed)


def _reduced(z: Array, allowed: Array) -> Array:
    """Z nearer to 0 by what is allowed for."""
    return np.asarray(np.sign(z) * np.maximum(np.abs(z) - allowed, 0.0))


@dataclass(frozen=True, eq=False)
class HazardRatio:
    """Hazard of the first group as a multiple of that of the second."""

    ratio: Array  # (…): mantel–Haenszel estimate; NaN where the noised counts give none
    # low, high, each (…): a 95 % confidence interval: the ratios that the log-rank test does not
    # reject. 0 and ∞ where none that is looked at is rejected on that side
    low: Array
    high: Array


def hazard_ratio(table: CountTable) -> HazardRatio:
    """The ratio of two hazards that are proportional, with a confidence interval.

    U(θ) = Σ w (A₂d₁ − θA₁d₂) has mean 0 where the first group has θ times the hazard of the second,
    whatever the noise, for the reason that U(1) has it: it multiplies noisy numbers of different
    groups only. Its root is the Mantel–Haenszel ratio Σ wA₂d₁ / Σ wA₁d₂. The interval holds every
    θ with |U(θ)| ≤ 1.96 standard deviations, of chance and of noise, and the allowance of the
    log-rank test; so it leaves out 1 where that test rejects at 5 %, and only there.

    References
    ----------
    Mantel and Haenszel (1959); Fieller (1954) for the interval. With noise: derived for this
    project.
    """
    compared = _Comparison.of(table)
    first, second = compared.sides
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((first > 0) & (second > 0), first / second, np.nan)
    statistics = []
    for theta in _RATIOS:
        score, chance, noise = compared.at(float(theta))
        deviation = np.sqrt(np.maximum(chance + noise, 1e-300))
        allowed = allowance(compared.shift(float(theta)), deviation) / deviation
        statistics.append(_reduced(score / deviation, allowed))
    z = np.stack(statistics, axis=-1)  # (…, ratios)
    return HazardRatio(
        ratio, _first_within(z, _RATIOS, 0.0), _first_within(-z[..., ::-1], _RATIOS[::-1], np.inf)
    )


def _first_within(z: Array, ratios: Array, beyond: float) -> Array:
    """The first ratio that is not rejected from above, between two that are looked at: (…)."""
    inside = z <= NORMAL
    index = np.argmax(inside, axis=-1)
    before = np.maximum(index - 1, 0)
    here, there = (np.take_along_axis(z, k[..., None], -1)[..., 0] for k in (before, index))
    share = np.clip((here - NORMAL) / np.where(here > there, here - there, 1.0), 0.0, 1.0)
    logs = np.log(ratios)
    crossing = np.exp(logs[before] + share * (logs[index] - logs[before]))
    return np.where(index == 0, beyond, np.where(inside.any(axis=-1), crossing, np.nan))


@dataclass(frozen=True, eq=False)
class _Comparison:
    """People at risk and events of two groups, projected and as they were released."""

    table: CountTable
    lives: list[LifeTable]
    # middle, bend, events, noisy_middle, noisy_events, each (…, 2, K): `bend` is what constant
    # rates add to the people at risk in the middle of an interval
    middle: Array
    bend: Array
    events: Array
    noisy_middle: Array
    noisy_events: Array
    weight: Array  # (…, K)

    @classmethod
    def of(cls, table: CountTable) -> _Comparison:
        """Read both groups from a table."""
        lives = life_tables(table)
        raw = [LifeTable(table.centred[..., g, :], table.cells) for g in range(2)]
        middle, events = (
            np.stack(parts, axis=-2) for parts in zip(*map(_exposed, lives), strict=True)
        )
        noisy_middle, noisy_events = (
            np.stack(parts, axis=-2) for parts in zip(*map(_exposed, raw), strict=True)
        )
        weight = _used(table, lives) * (1 / np.maximum(middle.sum(axis=-2), _FEWEST))
        bend = np.stack([_of_constant_rates(life) for life in lives], axis=-2) - middle
        return cls(table, lives, middle, bend, events, noisy_middle, noisy_events, weight)

    @property
    def sides(self) -> tuple[Array, Array]:
        """Σ wA₂d₁ and Σ wA₁d₂ of the released counts: (…) each.

        With constant rates within an interval the people at risk in its middle are
        Yq/(−log(1 − q)) for a share q that leaves, not Y(1 − q/2). The difference is small and is
        taken of the projected counts: of large groups with unlike hazards it would move U by more
        than a standard deviation.
        """
        first, second = (
            self.noisy_middle[..., 1 - g, :] * self.noisy_events[..., g, :]
            + self.bend[..., 1 - g, :] * self.events[..., g, :]
            for g in range(2)
        )
        return (self.weight * first).sum(axis=-1), (self.weight * second).sum(axis=-1)

    def at(self, ratio: float) -> tuple[Array, Array, Array]:
        """U at a ratio of hazards, and its variance by chance and by noise: (…) each."""
        first, second = self.sides
        middle, events, weight = self.middle, self.events, self.weight
        chance = ratio * (weight**2 * middle.prod(axis=-2) * events.sum(axis=-2)).sum(axis=-1)
        scales = ((1.0, ratio), (ratio, 1.0))  # of the other group's people at risk, and its events
        gradient = sum(
            (
                sign
                * of_group(
                    _gradient(
                        weight,
                        scales[g][0] * middle[..., 1 - g, :],
                        scales[g][1] * events[..., 1 - g, :],
                        self.lives[g],
                    ),
                    g,
                    2,
                )
                for g, sign in ((0, 1.0), (1, -1.0))
            ),
            np.zeros(()),
        )
        return first - ratio * second, chance, self.table.variances(gradient)[1][..., 0]

    def shift(self, ratio: float) -> Array:
        """Bound the possible mean of U(θ) at the true ratio of hazards: (…).

        In one interval, whichever matters most, all may be censored at its start or at its end:
        (c₂d₁ + θc₁d₂)/2.
        """
        first, second = self.events[..., 0, :], self.events[..., 1, :]
        censored = np.stack([life.censored for life in self.lives], axis=-2)
        at_once = (
            self.weight * (censored[..., 1, :] * first + ratio * censored[..., 0, :] * second) / 2
        )
        return np.asarray(at_once.max(axis=-1))


def _of_constant_rates(life: LifeTable) -> Array:
    """People at risk on average over each interval, if all leave it at constant rates: (…, K)."""
    start, end = life.at_risk[..., :-1], life.at_risk[..., 1:]
    left = np.maximum(end, 0.5)  # of somebody: a rate is finite
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (start - left) / np.log(start / left)
    return np.asarray(np.where(start > left * (1 + 1e-9), mean, (start + end) / 2))


def _exposed(life: LifeTable) -> tuple[Array, Array]:
    """People at risk in the middle of each interval, and events of all causes: (…, K) each."""
    events = life.events.sum(axis=-2)
    return life.at_risk[..., :-1] - (events + life.censored) / 2, events


def _used(table: CountTable, lives: list[LifeTable]) -> Array:
    """Interval 1, then those at whose start enough people of both groups are left: (…, K)."""
    intervals, kinds = table.cells.n_intervals, table.cells.n_causes + 1
    remaining = table.cells.size - kinds * np.arange(1, intervals)
    limit = np.maximum(_FEWEST, _CERTAIN * table.spread_of(remaining))
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
    return np.asarray(
        (weight * other_middle)[..., None, :] @ of_events
        - (weight * other_events)[..., None, :] @ middle
    )
