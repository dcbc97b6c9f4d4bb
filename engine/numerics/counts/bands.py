"""Limits around curves at public edges, staircases between them, and numbers read off a curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from engine.core.arrays import Array, Flags, Indices
from engine.core.bands import LEVEL, NORMAL
from engine.core.errors import InputError

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator

_UNNOTICED = 1 / 3  # standard errors that a curve may be off without limits that miss it often
_MAX_APART, _OF_PEOPLE = 6.0, 0.1  # between the ends of censoring, beyond which nothing is shown:
# in standard errors, and as a share of people, whichever is more
_FINE_INTERVALS = 6  # from so many on a quantile is read off a curve through the limits
_STEEP = 0.15  # of people, within one interval: when they leave in it matters for a quantile
_FEWEST_FOR_MEAN = 3  # intervals that must be shown for a restricted mean
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class CurveLimits:
    """A curve at edges with what is known of its error; intervals that are not shown are left out.

    Notes
    -----
    An error of b standard errors that has always the same sign makes limits of 1.96 miss the curve
    more often than in 5 of 100: in 5.6 for b = 1/3, and in half for b = 2. What censoring can move
    the curve by beyond 1/3 is therefore added to the limits, on its own side.
    """

    values: Array  # (…, K): at the edges
    errors: Array  # (…, K, samples): the public sample of errors; see `CountTable.errors`
    drawn: Flags  # (…, K) of bool: which edges are drawn: the first few
    people: float
    # tuple of (…, K), optional: the lowest and the highest curve by when within their interval
    # people are censored, which the counts do not tell; see `LifeTable.of_early_censoring`
    extremes: tuple[Array, Array] | None = None
    # (…, K), optional: how many times as large standard errors are where all are censored early,
    # with fewer people at risk
    growth: Array | None = None
    # (…), optional: how many edges come before the curve begins, at which it is 1 by definition
    before: Indices | None = None
    stretch: float = 1.0  # of simultaneous limits, where errors are not normal
    table: object = None  # of which the curve is: the fixed sample of errors is that of this table

    @cached_property
    def deviations(self) -> Array:
        """Standard errors: (…, K)."""
        return np.asarray(np.sqrt((self.errors**2).mean(axis=-1)))

    @cached_property
    def _relative(self) -> Array:
        size = np.maximum(self.deviations, 1e-300)[..., None]
        return np.abs(self.errors) / size

    @cached_property
    def shifts(self) -> tuple[Array, Array]:
        """Largest shifts of the curve by censoring, below and above its values: (…, K) each."""
        if self.extremes is None:
            return np.zeros_like(self.values), np.zeros_like(self.values)
        low, high = self.extremes
        return np.maximum(self.values - low, 0.0), np.maximum(high - self.values, 0.0)

    @cached_property
    def moves(self) -> tuple[Array, Array]:
        """Largest shifts of the limits by censoring, below and above theirs: (…, K) each."""
        low, high = self.shifts
        if self.growth is None:
            return low, high
        more = NORMAL * self.deviations * np.maximum(self.growth - 1, 0.0)
        return low + more, high + more

    @cached_property
    def allowances(self) -> tuple[Array, Array]:
        """Additions to the limits for censoring, below and above: (…, K) each."""
        low, high = (allowance(move, self.deviations) for move in self.moves)
        return low, high

    @property
    def is_settled(self) -> Flags:
        """True where censoring leaves enough of the curve to be shown: (…, K) of bool."""
        low, high = self.shifts
        return np.asarray(low + high <= np.maximum(_MAX_APART * self.deviations, _OF_PEOPLE))

    @property
    def widening(self) -> Array:
        """The most that censoring adds to a shown limit, in 95 % half-widths of its edge: (…)."""
        size = np.maximum(NORMAL * self.deviations, 1e-300)
        allowance = np.maximum(*self.allowances) / size
        return np.asarray(np.where(self.drawn, allowance, 0.0).max(axis=-1))

    @cached_property
    def pointwise_width(self) -> Array:
        """Half-width for each edge on its own, before any allowance: (…, K)."""
        return np.asarray(np.quantile(self._relative, LEVEL, axis=-1) * self.deviations)

    @cached_property
    def simultaneous_width(self) -> Array:
        """Half-width for all shown edges at once, before any allowance: (…, K)."""
        return self.factor[..., None] * self.deviations

    @cached_property
    def factor(self) -> Array:
        """Standard errors in a simultaneous half-width: (…)."""
        return self.stretch * simultaneous_factor(self._relative, self.drawn, self.people)

    def follows(self, edge: int) -> Flags:
        """True if an edge 0 … K − 1 is shown and comes after the curve begins: (…) of bool."""
        is_shown = self.drawn[..., edge]
        return np.asarray(is_shown if self.before is None else is_shown & (edge >= self.before))

    def bands(self, falls: bool = True) -> tuple[Array, Array, Array, Array]:
        """Compute the ends of the band, then those of each edge on its own: (…, K) each."""
        low, high = self.monotone(self.simultaneous_width, falls)
        return low, high, *self.monotone(self.pointwise_width, falls)

    def monotone(self, width: Array, falls: bool = True) -> tuple[Array, Array]:
        """Compute limits, for half-widths, of a curve that falls (or rises) in [0, 1]; all (…, K).

        A limit may be moved to the best one of the edges behind or before it, because the curve
        itself falls. Edges that are not shown have 0 and 1. What censoring may have shifted the
        curve by is allowed for on top of the width.
        """
        below, above = self.allowances
        lower = np.where(self.drawn, self.values - width - below, 0.0)
        upper = np.where(self.drawn, self.values + width + above, 1.0)
        if falls:
            lower = np.maximum.accumulate(lower[..., ::-1], axis=-1)[..., ::-1]
            upper = np.minimum.accumulate(upper, axis=-1)
        else:
            lower = np.maximum.accumulate(lower, axis=-1)
            upper = np.minimum.accumulate(upper[..., ::-1], axis=-1)[..., ::-1]
        return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)


def check_one_table(first: CurveLimits, second: CurveLimits) -> None:
    """Refuse curves of two tables: tables of equal size share their fixed sample of errors."""
    if first.table is not second.table:
        raise InputError(
            "Curves of two releases cannot be subtracted: their samples of errors are the same.",
            field="curves",
            hint="Release both groups in one table.",
        )


def allowance(shift: Array, deviation: Array) -> Array:
    """Compute the addition to limits for a possible shift of their curve: (…).

    `shift` is the largest one, `deviation` its standard error; a third of the latter goes
    unnoticed.
    """
    return np.asarray(np.maximum(shift - _UNNOTICED * deviation, 0.0))


def simultaneous_factor(relative: Array, drawn: Flags, people: float) -> Array:
    """Standard errors within which all shown numbers are, at once: (…).

    `relative` (…, q, samples) are sizes of errors, in standard errors. Few people, in the smaller
    group, make the limits slightly wider.
    """
    largest = np.where(drawn[..., None], relative, 0.0).max(axis=-2)
    return np.asarray((1 + min(0.05, 20 / people)) * np.quantile(largest, LEVEL, axis=-1))


def staircase(
    edges: tuple[float, ...], lower: Array, upper: Array, times: Array, falls: bool = True
) -> tuple[Array, Array]:
    """The band between edges: it holds the curve at all times wherever it does at the edges.

    A falling curve lies, within (e_{k−1}, e_k], above its lower limit at the later edge and below
    its upper limit at the earlier one; a rising one the other way round. Before the start a falling
    curve is 1, and a rising one 0. Whoever is at the start or below belongs to the first interval,
    so that the curve may have moved there already.
    """
    first = np.full_like(lower[..., :1], 1.0 if falls else 0.0)
    early = [np.concatenate([first, limit[..., :-1]], axis=-1) for limit in (lower, upper)]
    interval = np.clip(np.searchsorted(np.asarray(edges[1:]), times), 0, len(edges) - 2)
    both = (lower, early[1]) if falls else (early[0], upper)
    return both[0][..., interval], both[1][..., interval]


def monotone_cubic(
    edges: tuple[float, ...], values: Array, first: float = 1.0
) -> PchipInterpolator:
    """The monotone cubic through a curve (…, K) at its edges, with its known start."""
    from scipy.interpolate import PchipInterpolator  # on first use: the first page waits for it

    start = np.full_like(values[..., :1], first)
    return PchipInterpolator(np.asarray(edges), np.concatenate([start, values], axis=-1), axis=-1)


@dataclass(frozen=True, eq=False)
class Quantile:
    """When a falling curve reaches a level, with 95 % limits."""

    # time, low, high, each (…): infinite where it is not reached within what is shown; `low` is
    # then the last shown edge, before which it was not reached
    time: Array
    low: Array
    high: Array


def quantile(
    edges: tuple[float, ...], limits: CurveLimits, level: float = 0.5, step: float = 0.0
) -> Quantile:
    """The first time at which a survival curve is at or below a level, such as ½ for the median.

    The estimate is read off the monotone cubic. Its limits go outward to the edges: the counts do
    not tell when within an interval people leave, and times may be heaped, as on whole months or
    years. Recorded times that are off by at most a stated step move the curve, and so each limit,
    by no more. Limits are then read off cubics through the pointwise limits and moved outward by
    the step, if there are six intervals or more and these fall slowly where they reach the level.
    """
    lower, upper = limits.monotone(limits.pointwise_width)
    last = np.asarray(edges)[limits.drawn.sum(axis=-1)]
    low, high = (
        _limit(edges, curve, limits.drawn, level, before, step)
        for curve, before in ((lower, True), (upper, False))
    )
    return Quantile(
        _crossing(edges, limits.values, limits.drawn, level),
        np.where(np.isinf(low), last, low),
        high,
    )


def _first(curve: Array, drawn: Flags, level: float) -> tuple[Indices, Flags]:
    """The number of the first shown edge at or below a level, and whether there is one."""
    reached = (curve <= level) & drawn
    return np.asarray(reached.argmax(axis=-1)), np.asarray(reached.any(axis=-1))


def _limit(
    edges: tuple[float, ...], curve: Array, drawn: Flags, level: float, before: bool, step: float
) -> Array:
    """Find where a limit falls to a level: off the cubic if it falls slowly, else an edge."""
    at_edge = _edge(edges, curve, drawn, level, before)
    if not step or len(edges) <= _FINE_INTERVALS:
        return at_edge
    falls = -np.diff(curve, axis=-1, prepend=1.0)
    fall = np.take_along_axis(falls, _first(curve, drawn, level)[0][..., None], axis=-1)[..., 0]
    crossing = _crossing(edges, curve, drawn, level)
    inside = (
        np.maximum(at_edge, crossing - step) if before else np.minimum(at_edge, crossing + step)
    )
    return np.where(fall > _STEEP, at_edge, inside)


def _edge(
    edges: tuple[float, ...], curve: Array, drawn: Flags, level: float, before: bool
) -> Array:
    index, is_reached = _first(curve, drawn, level)
    return np.where(is_reached, np.asarray(edges)[index + (0 if before else 1)], np.inf)


def _crossing(edges: tuple[float, ...], curve: Array, drawn: Flags, level: float) -> Array:
    """Find the first place where the cubic through a curve is at or below a level, by halving."""
    index, is_reached = _first(curve, drawn, level)
    parts = monotone_cubic(edges, curve).c  # (4, K, …): powers 3 … 0 of the time since an edge
    parts = np.moveaxis(parts, (0, 1), (-2, -1))  # (…, 4, K)
    cubic = np.take_along_axis(parts, index[..., None, None], axis=-1)[..., 0]
    start, width = np.asarray(edges)[index], np.diff(edges)[index]
    low, high = np.zeros(index.shape), width.astype(float)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        value = ((cubic[..., 0] * middle + cubic[..., 1]) * middle + cubic[..., 2]) * middle
        is_below = value + cubic[..., 3] <= level
        low, high = np.where(is_below, low, middle), np.where(is_below, middle, high)
    return np.where(is_reached, start + high, np.inf)


def areas(edges: tuple[float, ...], values: Array) -> tuple[Array, Array, Array]:
    """Areas below a curve (…, K) from 1, up to each edge: cubic, trapezoids and their weights.

    `weights` (K, K) are what the curve at edge j adds to the trapezoids up to edge i.
    """
    widths = np.diff(np.asarray(edges))
    halves = (np.eye(len(widths)) + np.eye(len(widths), k=-1)) * widths[:, None] / 2
    weights = np.cumsum(halves, axis=0)
    trapezoids = values @ weights.T + widths[0] / 2  # the start belongs to the first interval
    cubic = monotone_cubic(edges, values).antiderivative()(np.asarray(edges)[1:])
    return cubic, trapezoids, weights


@dataclass(frozen=True, eq=False)
class RestrictedMean:
    """The mean time up to an edge, with its 95 % half-width; NaN where it is not given."""

    # mean, half_width, until, each (…): in the unit of the times; `until` is the edge
    mean: Array
    half_width: Array
    until: Array


def restricted_mean(
    edges: tuple[float, ...], limits: CurveLimits, until: int | None = None
) -> RestrictedMean:
    """The area under a survival curve up to the end of interval `until`, or where it is last shown.

    By the monotone cubic; its error by the trapezoid rule at the edges. What the two rules differ
    by is allowed for on top, and what may have shifted the area: censoring, and when people leave
    within an interval in which many do, all at its start or all at its end. NaN below three shown
    intervals, and for an interval that is not shown.
    """
    times, count = np.asarray(edges), limits.drawn.sum(axis=-1)
    is_given = count >= _FEWEST_FOR_MEAN
    if until is not None:
        is_given = is_given & limits.follows(until)
        count = np.where(is_given, until + 1, count)
    widths = np.diff(times)
    cubic, trapezoids, weights = areas(edges, limits.values)
    deviations = np.sqrt(((weights @ limits.errors) ** 2).mean(axis=-1))
    index = np.maximum(count - 1, 0)[..., None]
    area, rule, error = (
        np.take_along_axis(sums, index, axis=-1)[..., 0] for sums in (cubic, trapezoids, deviations)
    )
    shift = np.take_along_axis(
        weights @ np.maximum(*limits.moves)[..., None], index[..., None], axis=-2
    )[..., 0, 0]
    falls = -np.diff(limits.values, axis=-1, prepend=1.0)
    within = np.cumsum(np.where(falls > _STEEP, falls, 0.0) * widths / 2, axis=-1)
    shift += np.take_along_axis(within, index, axis=-1)[..., 0]
    width = NORMAL * error + np.abs(area - rule) + allowance(shift, error)
    return RestrictedMean(
        np.where(is_given, area, np.nan),
        np.where(is_given, width, np.nan),
        np.where(is_given, times[count], np.nan),
    )
