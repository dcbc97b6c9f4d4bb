"""Curves from rows as they are: Kaplan–Meier, Aalen–Johansen, log-rank; nothing is private.

Events at a time come before people censored at that time. Codes of events are 1, 2, …; all others
are censored. A time that is no number is censored at the beginning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from engine.core.arrays import Array
from engine.numerics.counts.cells import entered


def _ordered(
    time: Array, status: NDArray[np.int64], n_codes: int
) -> tuple[Array, NDArray[np.int64], Array]:
    """Times in order, with the code of the event or 0, and how many people are at risk: (n,) each.

    Codes 1 … `n_codes` are events. People are at risk just before they leave; those who leave at
    one time do so one by one.
    """
    missing = np.isnan(time)
    code = np.where((status >= 1) & (status <= n_codes) & ~missing, status, 0)
    time = np.where(missing, -np.inf, time)
    order = np.lexsort((code == 0, time))
    return time[order], code[order], np.arange(len(time), 0, -1.0)


def _at(time: Array, after: NDArray[np.floating[Any]], first: float, points: Array) -> Array:
    """A step function of times, read off at points: its value after all that is at or before."""
    steps = np.concatenate([np.full((*after.shape[:-1], 1), first), after], axis=-1)
    return np.asarray(steps[..., np.searchsorted(time, points, side="right")])


def kaplan_meier(
    time: Array,
    status: NDArray[np.int64],
    points: Array,
    n_codes: int = 1,
    entry: Array | None = None,
) -> tuple[Array, Array]:
    """The Kaplan–Meier curve at some points and its standard error by Greenwood's formula.

    People are at risk after their `entry` (n,), where it is known, and else from the beginning.

    Examples
    --------
    >>> survival, _ = kaplan_meier(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([1.5]))
    >>> survival.round(6).tolist()
    [0.666667]
    """
    entries = None
    if entry is not None:
        entries = entered(entry, time)
        is_observed = (entries < time) | np.isneginf(entries)
        time, status, entries = (
            time[is_observed],
            status[is_observed],
            np.sort(entries[is_observed]),
        )
    time, code, at_risk = _ordered(time, status, n_codes)
    if entries is not None:  # whoever has not entered yet is in no risk set
        at_risk = at_risk - (len(time) - np.searchsorted(entries, time, side="left"))
        at_risk = at_risk + np.isneginf(time) * np.isneginf(entries).sum()
    is_event = code > 0
    survival = np.cumprod(1 - is_event / at_risk)
    # People who leave one by one give the terms of a tie together: 1/(r(r − 1)) telescopes.
    terms = is_event / (at_risk * np.maximum(at_risk - 1, 1e-300))
    curve, summed = (
        _at(time, steps, first, points)
        for steps, first in ((survival, 1.0), (np.cumsum(terms), 0.0))
    )
    error = np.where(curve > 0, curve * np.sqrt(np.where(curve > 0, summed, 0.0)), 0.0)
    return curve, np.asarray(error)


def aalen_johansen(time: Array, status: NDArray[np.int64], points: Array, n_codes: int) -> Array:
    """The cumulative incidence of each cause: (n_codes, k)."""
    time, code, at_risk = _ordered(time, status, n_codes)
    survival = np.cumprod(1 - (code > 0) / at_risk)
    before = np.concatenate([[1.0], survival[:-1]])
    jumps = (code == np.arange(1, n_codes + 1)[:, None]) * before / at_risk
    return _at(time, np.cumsum(jumps, axis=-1), 0.0, points)


def log_rank(
    time: Array,
    status: NDArray[np.int64],
    group: NDArray[np.int64],
    n_codes: int = 1,
    until: float = np.inf,
) -> tuple[float, float]:
    """The ordinary log-rank test of two groups: z > 0 if the first has more events than expected.

    Whoever is still under observation at `until` then is censored.

    References
    ----------
    Mantel (1966).
    """
    status = np.where(time > until, 0, status)
    missing = np.isnan(time)
    is_event = (status >= 1) & (status <= n_codes) & ~missing
    moments, index = np.unique(time[is_event], return_inverse=True)
    left = np.sort(np.where(missing, -np.inf, time))
    left_of_first = np.sort(np.where(missing, -np.inf, time)[group == 0])
    at_risk = len(left) - np.searchsorted(left, moments)
    first = len(left_of_first) - np.searchsorted(left_of_first, moments)
    events = np.bincount(index, minlength=len(moments)).astype(float)
    of_first = np.bincount(index, weights=group[is_event] == 0, minlength=len(moments))
    share = first / np.maximum(at_risk, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(
            at_risk > 1, events * share * (1 - share) * (at_risk - events) / (at_risk - 1), 0.0
        ).sum()
    statistic = float((of_first - events * share).sum() / np.sqrt(max(variance, 1e-300)))
    return statistic, float(2 * ndtr(-abs(statistic)))


def roc_curve(score: Array, label: NDArray[np.int64], points: Array) -> Array:
    """The share of people with the label above a threshold that so many without it exceed.

    A score that is no number counts as the lowest; straight lines between thresholds.
    """
    order = np.argsort(-np.where(np.isnan(score), -np.inf, score), kind="stable")
    has_label, ordered_score = label[order] == 1, score[order]
    ends = np.append(np.flatnonzero(np.diff(ordered_score) != 0), len(score) - 1)
    hits, alarms = (
        np.concatenate([[0.0], np.cumsum(each)[ends] / max(each.sum(), 1)])
        for each in (has_label, ~has_label)
    )
    last = np.append(np.diff(alarms) > 0, True)  # the highest point above each share
    return np.asarray(np.interp(points, alarms[last], hits[last]))
