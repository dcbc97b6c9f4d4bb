"""Two groups compared by one number of each: survival at a time, or the mean time up to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array, Flags
from engine.core.bands import LEVEL, NORMAL
from engine.numerics.counts.bands import CurveLimits, allowance, areas, check_one_table
from engine.numerics.counts.curves import CountedCurve

_LEAST = 0.05  # of people, below which a limit of a group leaves no ratio


COMPARED_AT = 0.5  # of the follow-up, where no time is stated


@dataclass(frozen=True, eq=False)
class Contrast:
    """The difference and the ratio of two groups, first and second, at one public edge.

    Limits hold with 95 %. NaN where the edge is not shown in both groups, and for ratios where
    nearly nobody may be left in one.
    """

    until: float  # the edge
    difference: Array  # (…)
    half_width: Array  # (…)
    # ratio, low, high, each (…)
    ratio: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Both comparisons of two survival curves of one table, at one edge."""

    milestone: Contrast  # of survival
    mean: Contrast  # of the mean time up to the edge, in the unit of the times

    @classmethod
    def of(cls, curves: Sequence[CountedCurve], until: float | None = None) -> Contrasts:
        """Compare two curves at a stated time, or halfway through the follow-up."""
        first, second = curves
        edges = first.edges
        if until is None:
            until = edges[0] + COMPARED_AT * (edges[-1] - edges[0])
        compared = (edges, first.limits, second.limits, until)
        return cls(milestones(*compared), restricted_means(*compared))


def nearest_edge(edges: tuple[float, ...], until: float) -> int:
    """Find the interval that ends nearest to a time: 0 … K − 1.

    >>> nearest_edge((0.0, 1.0, 2.0, 3.0), 2.4)
    1
    """
    return int(np.abs(np.asarray(edges[1:]) - until).argmin())


def milestones(
    edges: tuple[float, ...], first: CurveLimits, second: CurveLimits, until: float
) -> Contrast:
    """Compare survival at the edge nearest to a stated time.

    Both curves must come from one table: the public sample of errors is fixed, so that tables of
    equal size would share it.
    """
    check_one_table(first, second)
    edge = nearest_edge(edges, until)
    moves = [(group.moves[0][..., edge], group.moves[1][..., edge]) for group in (first, second)]
    return _contrast(
        edges[edge + 1],
        (first.values[..., edge], second.values[..., edge]),
        (first.errors[..., edge, :], second.errors[..., edge, :]),
        moves,
        (np.zeros_like(moves[0][0]), np.zeros_like(moves[0][0])),
        first.follows(edge) & second.follows(edge),
        _LEAST,
    )


def restricted_means(
    edges: tuple[float, ...], first: CurveLimits, second: CurveLimits, until: float
) -> Contrast:
    """Compare the mean times up to the edge nearest to a stated time.

    By monotone cubics, with errors by the trapezoid rule at the edges. Where within an interval
    people leave, which `restricted_mean` allows for, is left out: both groups share it. Both curves
    must come from one table, as for `milestones`.

    References
    ----------
    Royston and Parmar (2013) for the estimand. With noise: derived for this project.
    """
    check_one_table(first, second)
    edge = nearest_edge(edges, until)
    values, rules, errors, moves = [], [], [], []
    for group in (first, second):
        cubic, trapezoids, weights = areas(edges, group.values)
        values.append(cubic[..., edge])
        rules.append(trapezoids[..., edge])
        errors.append(weights[edge] @ group.errors)
        moves.append((group.moves[0] @ weights[edge], group.moves[1] @ weights[edge]))
    drawn = np.asarray(first.drawn & second.drawn)[..., : edge + 1]
    return _contrast(
        edges[edge + 1],
        (values[0], values[1]),
        (errors[0], errors[1]),
        moves,
        (values[0] - rules[0], values[1] - rules[1]),
        np.asarray(drawn.all(axis=-1) & first.follows(edge) & second.follows(edge)),
        _LEAST * (edges[edge + 1] - edges[0]),
    )


def _contrast(
    until: float,
    values: tuple[Array, Array],
    errors: tuple[Array, Array],
    moves: list[tuple[Array, Array]],
    rules: tuple[Array, Array],
    is_shown: Flags,
    least: float,
) -> Contrast:
    """Difference and ratio of two values (…) with errors (…, samples) of one joint sample.

    `moves` are what censoring may shift each value down and up by, `rules` what two rules of
    integration differ by in each. A ratio needs lower limits of both values of at least `least`.
    """
    joint = np.stack(np.broadcast_arrays(*values)), np.stack(np.broadcast_arrays(*errors))
    shift = np.maximum(moves[0][0] + moves[1][1], moves[0][1] + moves[1][0])
    half = _half_width(joint[1][0] - joint[1][1], shift, rules[0] - rules[1])
    floor = np.minimum(*values)
    relative = np.maximum(joint[0], np.finfo(float).tiny)
    logs = joint[1][0] / relative[0][..., None] - joint[1][1] / relative[1][..., None]
    smallest = np.maximum(floor, np.finfo(float).tiny)
    of_log = _half_width(logs, shift / smallest, (rules[0] - rules[1]) / smallest)
    lower = joint[0] - NORMAL * np.sqrt((joint[1] ** 2).mean(axis=-1))
    is_ratio = is_shown & (lower >= least).all(axis=0)
    ratio = np.where(is_ratio, relative[0] / relative[1], np.nan)
    return Contrast(
        until,
        np.where(is_shown, joint[0][0] - joint[0][1], np.nan),
        np.where(is_shown, half, np.nan),
        ratio,
        ratio * np.exp(-of_log),
        ratio * np.exp(of_log),
    )


def _half_width(errors: Array, shift: Array, rule: Array) -> Array:
    """95 % of a number with errors (…, samples), a possible shift and a difference of rules."""
    deviation = np.sqrt((errors**2).mean(axis=-1))
    size = np.maximum(deviation, np.finfo(float).tiny)
    factor = np.quantile(np.abs(errors) / size[..., None], LEVEL, axis=-1)
    return np.asarray(factor * deviation + np.abs(rule) + allowance(shift, deviation))
