"""Sums of shifts of φ over readings, site by site, and curves from coefficients of shifts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.numerics.wavelets import STEPS, scaling_table
from engine.types import Array

Index = NDArray[np.int64]
_BLOCK = 20_000  # readings worked on at once, to stay in cache
_CROWDED = 0.1  # readings for each node of the table from which their sums are made first


def located(times: Array, level: int) -> tuple[Index, Index, Array]:
    """Cell of the level, cell of the table within it, and the share of that: three like `times`.

    Times are held within [0, 1]; the last cell keeps its right end.
    """
    place = np.clip(times, 0.0, 1.0) * 2.0**level
    cell = np.minimum(place.astype(np.int64), 2**level - 1)
    place = (place - cell) * STEPS
    step = np.minimum(place.astype(np.int64), STEPS - 1)
    return cell, step, place - step


def shift_sums(times: Array, weights: Array, per_site: tuple[int, ...], level: int, moments: int
               ) -> Array:
    """Σ_i w_i φ(2^J x_i − k) for the readings of every site: (repeats, sites, extended).

    `times` and `weights` (repeats, N) come site after site. Many readings are first summed at the
    nodes of the table, which is one pass for all shifts; few go to every shift on their own.
    """
    crowded = np.mean(per_site) >= _CROWDED * STEPS * 2**level
    method = _over_nodes if crowded else _over_readings
    return method(times, weights, per_site, level, moments)


def _over_readings(times: Array, weights: Array, per_site: tuple[int, ...], level: int,
                   moments: int) -> Array:
    """One `bincount` for each of the 2A − 1 shifts that meet a reading, sites as offsets."""
    width, sites = 2**level + 2 * moments - 2, len(per_site)
    table, rise = _table_and_rise(moments)
    start = np.repeat(np.arange(sites) * width + 2 * moments - 2, per_site)
    start = (np.arange(len(times))[:, None] * (sites * width) + start).ravel()
    out = np.zeros(len(times) * sites * width)
    flat_times, flat_weights = times.ravel(), weights.ravel()
    for first in range(0, len(start), _BLOCK):
        block = slice(first, first + _BLOCK)
        cell, step, share = located(flat_times[block], level)
        place, low = start[block] + cell, start[block][0] - 2 * moments + 2
        for i in range(2 * moments - 1):
            values = (table[i].take(step) + rise[i].take(step) * share) * flat_weights[block]
            sums = np.bincount(place - i - low, values)
            out[low:low + len(sums)] += sums
    return out.reshape(len(times), sites, width)


def _over_nodes(times: Array, weights: Array, per_site: tuple[int, ...], level: int,
                moments: int) -> Array:
    """φ is a broken line, so a reading is two weighted ones at the nodes beside it."""
    ends = np.cumsum(per_site)
    return np.array([[_of_nodes(t[end - n:end], w[end - n:end], level, moments)
                      for n, end in zip(per_site, ends, strict=True)]
                     for t, w in zip(times, weights, strict=True)])


def _of_nodes(times: Array, weights: Array, level: int, moments: int) -> Array:
    share = np.clip(times, 0.0, 1.0)
    share *= STEPS * 2**level
    node = share.astype(np.int64)
    node[node == STEPS * 2**level] -= 1
    share -= node
    share *= weights
    node += node // STEPS  # a cell keeps both its ends: φ jumps there for A = 1
    at_nodes = np.bincount(np.concatenate([node, node + 1]),
                           np.concatenate([weights - share, share]),
                           minlength=(STEPS + 1) * 2**level)
    low = at_nodes.reshape(-1, STEPS + 1) @ scaling_table(moments).T
    out = np.zeros(2**level + 2 * moments - 2)
    for i in range(2 * moments - 1):
        out[2 * moments - 2 - i:][:2**level] += low[:, i]
    return out


def curve_of_shifts(extended: Array, times: Array, moments: int) -> Array:
    """Σ_k c_k φ(2^J x − k) for coefficients (extended,) at `times` (...): (...)."""
    level = int(np.log2(len(extended) - 2 * moments + 2))
    cell, step, share = located(times, level)
    table, rise = _table_and_rise(moments)
    out = np.zeros(np.shape(times))
    for i in range(2 * moments - 1):
        out += extended[cell + 2 * moments - 2 - i] * (table[i][step] + rise[i][step] * share)
    return out


def shifts_at(times: Array, level: int, moments: int) -> Array:
    """All shifts at `times` (n,): (n, extended)."""
    cell, step, share = located(times, level)
    table, rise = _table_and_rise(moments)
    out = np.zeros((len(times), 2**level + 2 * moments - 2))
    rows = np.arange(len(times))
    for i in range(2 * moments - 1):
        out[rows, cell + 2 * moments - 2 - i] = table[i][step] + rise[i][step] * share
    return out


@lru_cache
def _table_and_rise(moments: int) -> tuple[Array, Array]:
    table = scaling_table(moments)
    return table, np.ascontiguousarray(np.diff(table, axis=1))
