"""All that a released table says of its curves: values, bands, people at risk, quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.arrays import Array, Flags, Indices
from engine.core.bands import NORMAL
from engine.numerics.counts import late_entry, visits
from engine.numerics.counts.bands import (
    CurveLimits,
    Quantile,
    RestrictedMean,
    quantile,
    restricted_mean,
    staircase,
)
from engine.numerics.counts.distributions import distribution
from engine.numerics.counts.life_tables import (
    MIN_SHOWN,
    LifeTable,
    is_shown,
    life_tables,
    of_group,
    spread_at_risk,
    whole_at_risk,
)
from engine.numerics.counts.tables import CountTable

HAZARD_OF_LEAVERS = 2.0  # of the others, by which it is shown what a curve owes to an assumption


@dataclass(frozen=True, eq=False)
class CountedCurve:
    """One curve of a released table."""

    edges: tuple[float, ...]
    values: Array  # (…, K): at e_1 … e_K
    # low, high, each (…, K): the 95 % confidence band at the edges, simultaneous over all that are
    # shown; 0 and 1 beyond
    low: Array
    high: Array
    # pointwise_low, pointwise_high, each (…, K): confidence intervals of each edge on its own
    pointwise_low: Array
    pointwise_high: Array
    drawn: Flags  # (…, K) of bool: edges that are shown
    # (…, K) of bool: edges before too few people are left to say; fewer are shown where too many
    # are censored within an interval
    enough: Flags
    falls: bool  # whether the curve falls from 1; else it rises from 0
    noise_share: Array  # (…, K): the part of the variance that is noise
    # at_risk, at_risk_width, each (…, K + 1): whole numbers of people at risk, and 1.96 standard
    # deviations of their noise; empty for a distribution
    at_risk: Array
    at_risk_width: Array
    median: Quantile | None
    mean: RestrictedMean | None
    limits: CurveLimits
    # tuple of (…, K), optional: of survival curves: the values if people who are censored have
    # `HAZARD_OF_LEAVERS` times the others' hazard from then on, and the values if they have that
    # part of it
    dependent: tuple[Array, Array] | None = None
    ended_by: Indices | None = None  # (…): of groups that count, the one in which fewest are left

    def staircase(self, times: Array) -> tuple[Array, Array]:
        """Draw the band's ends, (…, n) each, at times of the follow-up; see `bands.staircase`."""
        low, high = staircase(self.edges, self.low, self.high, times, self.falls)
        return np.asarray(low), np.asarray(high)

    @property
    def is_ended_by_censoring(self) -> Flags:
        """True if more would be shown with fewer people censored within an interval: (…)."""
        return np.asarray(self.drawn.sum(axis=-1) < self.enough.sum(axis=-1))

    @property
    def first(self) -> Array:
        """The edge at which the curve begins: (…)."""
        before = self.limits.before
        edges = np.asarray(self.edges, dtype=float)
        return np.asarray(edges[0] if before is None else edges[before])

    @property
    def last(self) -> Array:
        """The last edge that is shown; e_0 where none is: (…)."""
        return np.asarray(np.asarray(self.edges)[self.drawn.sum(axis=-1)], dtype=float)


def survival_curves(table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[CountedCurve]:
    """The survival curve of each group, or the one that is adjusted for groups with weights.

    The adjusted curve Σ w_g S_g is what survival would be if groups had the public shares w_g. It
    is a functional of the same table, with the errors Σ w_g E_g of one joint sample, and is shown
    where the curves of all groups are.
    """
    if table.is_of_visits:
        return _curves_of_visits(table, min_at_risk)
    lives = life_tables(table, min_at_risk)
    if table.group_weights:
        return [_survival_curve(table, lives, table.group_weights, min_at_risk)]
    shares = np.eye(len(lives)).tolist()
    return [_survival_curve(table, lives, tuple(share), min_at_risk) for share in shares]


def _survival_curve(
    table: CountTable, lives: Sequence[LifeTable], shares: tuple[float, ...], min_at_risk: float
) -> CountedCurve:
    """The sum of groups' curves with such shares; a group without one does not count."""
    counting = [life for life, share in zip(lives, shares, strict=True) if share]
    enough_of_each = [is_shown(table, life, min_at_risk) for life in counting]
    enough = np.logical_and.reduce(enough_of_each)
    early, late = (
        [getattr(life, name) for life in lives]
        for name in ("of_early_censoring", "of_late_censoring")
    )
    values, lowest, highest = (
        _weighted([life.survival for life in each], shares) for each in (lives, early, late)
    )
    of_chance, of_noise = _variances(table, lives, shares)
    limits = CurveLimits(
        values,
        _errors(table, lives, shares),
        enough,
        _people(table),
        (lowest, highest),
        _growth(_variances(table, early, shares), (of_chance, of_noise)),
        lives[0].begin,
        1.0 if table.entries is None else late_entry.STRETCH,
        table,
    )
    limits = replace(limits, drawn=enough & np.logical_and.accumulate(limits.is_settled, axis=-1))
    at_risk, width = _at_risk(table, counting)
    return CountedCurve(
        table.cells.edges,
        values,
        *limits.bands(),
        limits.drawn,
        enough,
        True,
        _share_of_noise(of_chance, of_noise),
        at_risk,
        width,
        quantile(table.cells.edges, limits, step=table.cells.time_step),
        restricted_mean(table.cells.edges, limits),
        limits,
        None if table.entries is not None else _if_leavers_differ(lives, shares),
        np.stack([each.sum(axis=-1) for each in enough_of_each], axis=-1).argmin(axis=-1),
    )


def _curves_of_visits(table: CountTable, min_at_risk: float) -> list[CountedCurve]:
    """Curves of people who are seen at visits, each with the errors of one bootstrap of all."""
    groups = visits.curves_of(table)
    errors, chance = visits.errors(table), visits.errors(table, with_noise=False)
    enough_of_each, seen = visits.is_shown(table, min_at_risk), visits.seen_without(table)
    curves, width = list[CountedCurve](), NORMAL * visits.spread_of_seen(table)
    for shares in (table.group_weights,) if table.group_weights else np.eye(table.cells.n_groups):
        counting, weights = np.flatnonzero(shares), np.asarray(shares)
        enough = np.asarray(enough_of_each[..., counting, :].all(axis=-2))
        values = np.einsum("g,...gk->...k", weights, groups)
        own, sampling = (np.einsum("g,...gks->...ks", weights, each) for each in (errors, chance))
        limits = CurveLimits(values, own, enough, _people(table), table=table)
        of_chance = (sampling**2).mean(axis=-1)
        of_noise = np.maximum(limits.deviations**2 - of_chance, 0.0)
        numbers = np.floor(seen[..., counting, :].sum(axis=-2) + 0.5)
        curves.append(
            CountedCurve(
                table.cells.edges,
                values,
                *limits.bands(),
                enough,
                enough,
                True,
                _share_of_noise(of_chance, of_noise),
                numbers,
                np.broadcast_to(width * np.sqrt(len(counting)), numbers.shape),
                quantile(table.cells.edges, limits),
                restricted_mean(table.cells.edges, limits),
                limits,
                ended_by=enough_of_each[..., counting, :].sum(axis=-1).argmin(axis=-1),
            )
        )
    return curves


def _weighted(of_groups: Sequence[Array], shares: Sequence[float]) -> Array:
    """The sum of groups' arrays with shares."""
    counting = zip(of_groups, shares, strict=True)
    return np.asarray(sum(share * array for array, share in counting if share))


def _if_leavers_differ(lives: Sequence[LifeTable], shares: Sequence[float]) -> tuple[Array, Array]:
    """Survival if people who are censored have another hazard from then on, above and below."""
    above, below = (
        _weighted([life.survival_if_leavers_have(ratio) for life in lives], shares)
        for ratio in (HAZARD_OF_LEAVERS, 1 / HAZARD_OF_LEAVERS)
    )
    return above, below


def _jacobian(lives: Sequence[LifeTable], shares: Sequence[float]) -> Array:
    """∂Σ share S/∂x by the cells of all groups: (…, K, groups, m)."""
    return np.stack(
        [share * life.survival_gradient for life, share in zip(lives, shares, strict=True)], axis=-2
    )


def _errors(table: CountTable, lives: Sequence[LifeTable], shares: Sequence[float]) -> Array:
    if table.entries is not None:
        return late_entry.errors(table, lives, shares)
    return table.errors(_jacobian(lives, shares))


def _variances(
    table: CountTable, lives: Sequence[LifeTable], shares: Sequence[float]
) -> tuple[Array, Array]:
    if table.entries is not None:
        return late_entry.variances(table, lives, shares)
    return table.variances(_jacobian(lives, shares))


def incidence_curves(table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[CountedCurve]:
    """The cumulative incidence of each cause in each group; bands hold for all causes at once."""
    curves = []
    for g, life in enumerate(life_tables(table)):
        causes, intervals = life.cells.n_causes, life.cells.n_intervals
        jacobian, early = (
            of_group(
                each.incidence_gradient.reshape(*life.counts.shape[:-1], causes * intervals, -1),
                g,
                table.cells.n_groups,
            )
            for each in (life, life.of_early_censoring)
        )
        enough = is_shown(table, life, min_at_risk)
        values, lowest, highest = (
            each.reshape(*life.counts.shape[:-1], -1)
            for each in (life.incidence, *life.incidence_extremes)
        )
        growth = _growth(table.variances(early), table.variances(jacobian))
        together = CurveLimits(
            values,
            table.errors(jacobian),
            np.concatenate([enough] * causes, axis=-1),
            _people(table),
            (lowest, highest),
            growth,
        )
        is_settled = together.is_settled.reshape(life.incidence.shape).all(axis=-2)
        drawn = np.concatenate(
            [enough & np.logical_and.accumulate(is_settled, axis=-1)] * causes, axis=-1
        )
        together = replace(together, drawn=drawn)
        (at_risk, width), share = _at_risk(table, [life]), _noise_share(table, jacobian)
        for j in range(causes):
            of_cause = slice(j * intervals, (j + 1) * intervals)
            limits = CurveLimits(
                together.values[..., of_cause],
                together.errors[..., of_cause, :],
                drawn[..., of_cause],
                together.people,
                (lowest[..., of_cause], highest[..., of_cause]),
                growth[..., of_cause],
            )
            low, high = limits.monotone(together.simultaneous_width[..., of_cause], falls=False)
            each_low, each_high = limits.monotone(limits.pointwise_width, falls=False)
            curves.append(
                CountedCurve(
                    table.cells.edges,
                    limits.values,
                    low,
                    high,
                    each_low,
                    each_high,
                    limits.drawn,
                    enough,
                    False,
                    share[..., of_cause],
                    at_risk,
                    width,
                    None,
                    None,
                    limits,
                )
            )
    return curves


def distribution_curve(table: CountTable) -> CountedCurve:
    """The distribution function; it is shown over the whole range, and known at its end."""
    values, gradient = distribution(table)
    jacobian = np.broadcast_to(gradient, (*values.shape, *gradient.shape[1:]))
    limits = CurveLimits(
        values, table.errors(jacobian), np.ones(values.shape, dtype=bool), _people(table)
    )
    return CountedCurve(
        table.cells.edges,
        values,
        *limits.bands(falls=False),
        limits.drawn,
        limits.drawn,
        False,
        _noise_share(table, jacobian),
        np.empty(0),
        np.empty(0),
        None,
        None,
        limits,
    )


def _people(table: CountTable) -> float:
    return float(min(table.totals)) * table.n_blocks / table.cells.n_groups


def _at_risk(table: CountTable, lives: Sequence[LifeTable]) -> tuple[Array, Array]:
    """Whole numbers of people at risk in some groups together, and 95 % of their noise."""
    width = NORMAL * np.sqrt(len(lives)) * spread_at_risk(table)
    numbers = np.asarray(sum(whole_at_risk(life) for life in lives))
    return numbers, np.broadcast_to(width, numbers.shape)


def _growth(of_early: tuple[Array, Array], usual: tuple[Array, Array]) -> Array:
    """Compute the ratio of standard errors of two functionals from their variances: (…, q)."""
    early, ordinary = (np.sqrt(np.sum(each, axis=0)) for each in (of_early, usual))
    return np.asarray(early / np.maximum(ordinary, 1e-300))


def _noise_share(table: CountTable, jacobian: Array) -> Array:
    return _share_of_noise(*table.variances(jacobian))


def _share_of_noise(sampling: Array, noise: Array) -> Array:
    return np.asarray(noise / np.maximum(sampling + noise, 1e-300))
