"""All that a released table says of its curves: values, bands, people at risk, quantiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.core.arrays import Array, Flags
from engine.core.bands import NORMAL
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

    def staircase(self, times: Array) -> tuple[Array, Array]:
        """Draw the band's ends, (…, n) each, at times of the follow-up; see `bands.staircase`."""
        low, high = staircase(self.edges, self.low, self.high, times, self.falls)
        return np.asarray(low), np.asarray(high)

    @property
    def is_ended_by_censoring(self) -> Flags:
        """True if more would be shown with fewer people censored within an interval: (…)."""
        return np.asarray(self.drawn.sum(axis=-1) < self.enough.sum(axis=-1))

    @property
    def last(self) -> Array:
        """The last edge that is shown; e_0 where none is: (…)."""
        return np.asarray(np.asarray(self.edges)[self.drawn.sum(axis=-1)], dtype=float)


def survival_curves(table: CountTable, min_at_risk: float = MIN_SHOWN) -> list[CountedCurve]:
    """The survival curve of each group."""
    return [
        _survival_curve(table, life, g, min_at_risk) for g, life in enumerate(life_tables(table))
    ]


def _survival_curve(
    table: CountTable, life: LifeTable, group: int, min_at_risk: float
) -> CountedCurve:
    jacobian = of_group(life.survival_gradient, group, table.cells.n_groups)
    enough = is_shown(table, life, min_at_risk)
    early = of_group(life.of_early_censoring.survival_gradient, group, table.cells.n_groups)
    limits = CurveLimits(
        life.survival,
        table.errors(jacobian),
        enough,
        _people(table),
        life.survival_extremes,
        _growth(table, early, jacobian),
    )
    limits = replace(limits, drawn=enough & np.logical_and.accumulate(limits.is_settled, axis=-1))
    low, high = limits.monotone(limits.simultaneous_width)
    each_low, each_high = limits.monotone(limits.pointwise_width)
    at_risk, width = _at_risk(table, life)
    return CountedCurve(
        table.cells.edges,
        life.survival,
        low,
        high,
        each_low,
        each_high,
        limits.drawn,
        enough,
        True,
        _noise_share(table, jacobian),
        at_risk,
        width,
        quantile(table.cells.edges, limits, step=table.cells.time_step),
        restricted_mean(table.cells.edges, limits),
        limits,
        (
            life.survival_if_leavers_have(HAZARD_OF_LEAVERS),
            life.survival_if_leavers_have(1 / HAZARD_OF_LEAVERS),
        ),
    )


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
        growth = _growth(table, early, jacobian)
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
        (at_risk, width), share = _at_risk(table, life), _noise_share(table, jacobian)
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
    low, high = limits.monotone(limits.simultaneous_width, falls=False)
    each_low, each_high = limits.monotone(limits.pointwise_width, falls=False)
    return CountedCurve(
        table.cells.edges,
        values,
        low,
        high,
        each_low,
        each_high,
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


def _at_risk(table: CountTable, life: LifeTable) -> tuple[Array, Array]:
    kinds = life.cells.n_causes + 1
    remaining = life.cells.size - kinds * np.arange(life.cells.n_intervals + 1)
    width = NORMAL * table.spread_of_remaining(remaining)
    return whole_at_risk(life), np.broadcast_to(width, life.at_risk.shape)


def _growth(table: CountTable, early: Array, jacobian: Array) -> Array:
    """Compute the ratio of standard errors by one gradient to those by another: (…, q)."""
    of_early, usual = (np.sqrt(np.sum(table.variances(each), axis=0)) for each in (early, jacobian))
    return np.asarray(of_early / np.maximum(usual, 1e-300))


def _noise_share(table: CountTable, jacobian: Array) -> Array:
    sampling, noise = table.variances(jacobian)
    return np.asarray(noise / np.maximum(sampling + noise, 1e-300))
