"""Sums of shifts of φ over readings, site by site, and curves from coefficients of shifts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.numerics.wavelets import STEPS, scaling_table

Index = NDArray[np.int32] | NDArray[np.int64]
_BITS = STEPS.bit_length() - 1  # STEPS is a power of two
_BLOCK = 80_000  # readings worked on at once, to stay in cache
_CELLS = 2**16  # of all sites in a block, likewise
_CROWDED = 0.2  # readings for each node of the table from which their sums are made first


def _located(times: Array, level: int) -> tuple[Index, Index, Array]:
    """Locate times (…): cell of a level, cell of the table within it, and how far on in that.

    Times are held within [0, 1]; the last cell keeps its right end.
    """
    node, share = _nodes(times, level)
    return node >> _BITS, node & STEPS - 1, share


def _nodes(times: Array, level: int) -> tuple[Index, Array]:
    """Node of the table before each time, counted over all cells, and the share of the step."""
    share = np.clip(times, 0.0, 1.0)
    share *= STEPS * 2**level
    node = share.astype(np.int32)  # three times as fast as 64 bits, of which none is needed
    np.minimum(node, STEPS * 2**level - 1, out=node)
    share -= node
    return node, share


def shift_sums(
    times: Array,
    weights: Array,
    per_site: tuple[int, ...],
    level: int,
    moments: int,
    block: int = _BLOCK,
    cells: int = _CELLS,
) -> Array:
    """Σ_i w_i φ(2^J x_i − k) for the readings of every site: (repeats, sites, extended).

    φ is a broken line, so a reading is a row of the table and a share of the step to the next one.
    Many readings are first summed at each row; few are spread over cells by a sparse matrix. Along
    the last axis k = −2A + 2, …, 2^J − 1. A block has so many readings, and cells of all sites.
    """
    if np.mean(per_site) >= _CROWDED * STEPS * 2**level:
        return _crowded_sums(times, weights, per_site, level, moments)
    return _sparse_sums(times, weights, per_site, level, moments, block, cells)


def _sparse_sums(
    times: Array,
    weights: Array,
    per_site: tuple[int, ...],
    level: int,
    moments: int,
    most_readings: int,
    most_cells: int,
) -> Array:
    """Rows of the sparse matrix are cells of sites, its columns rows of the table."""
    from scipy.sparse import coo_array  # on first use: it takes a moment

    cells, sites = 2**level, len(times) * len(per_site)
    site = np.repeat(np.arange(sites, dtype=np.int32), np.tile(per_site, len(times)))
    flat_times, flat_weights, table = times.ravel(), weights.ravel(), _rows_of_table(moments)
    out = np.zeros((sites, cells + 2 * moments - 2))
    for block in _blocks(site, most_readings, max(most_cells // cells, 1)):
        first, last = site[block][0], site[block][-1] + 1
        values, indices = _entries(flat_times[block], flat_weights[block], level)
        indices[0] += (site[block] - first) * np.int32(cells)
        spread = coo_array(
            (values.ravel(), tuple(indices.reshape(2, -1))),
            shape=((last - first) * cells, STEPS + 1),
        )
        _add_shifted(out[first:last], (spread @ table).reshape(last - first, cells, -1))
    return out.reshape(len(times), len(per_site), -1)


def _entries(times: Array, weights: Array, level: int) -> tuple[Array, NDArray[np.int32]]:
    """Parts of each reading in two rows of the table, (2, N), and their places, (2, 2, N).

    Places are the cell and the row of the table.
    """
    node, share = _nodes(times, level)
    values, indices = np.empty((2, len(times))), np.empty((2, 2, len(times)), dtype=np.int32)
    np.multiply(share, weights, out=values[1])
    np.subtract(weights, values[1], out=values[0])
    np.right_shift(node, _BITS, out=indices[0])
    np.bitwise_and(node, STEPS - 1, out=indices[1])
    indices[1, 1] += 1
    return values, indices


def _blocks(site: Index, max_readings: int, max_sites: int) -> Iterator[slice]:
    """Readings in turn, so many of so many sites at most; `site` is that of each, in order."""
    first = 0
    while first < len(site):
        stop = min(first + max_readings, int(np.searchsorted(site, site[first] + max_sites)))
        yield slice(first, stop)
        first = stop


def _crowded_sums(
    times: Array, weights: Array, per_site: tuple[int, ...], level: int, moments: int
) -> Array:
    ends = np.cumsum(per_site)
    by_cell = [
        [
            _by_cell(t[end - n : end], w[end - n : end], level, moments)
            for n, end in zip(per_site, ends, strict=True)
        ]
        for t, w in zip(times, weights, strict=True)
    ]  # (repeats, sites, cells, 2A − 1)
    out = np.zeros((len(times), len(per_site), 2**level + 2 * moments - 2))
    _add_shifted(out, np.array(by_cell))
    return out


def _by_cell(times: Array, weights: Array, level: int, moments: int) -> Array:
    """Σ_i w_i φ(u_i + k) over the readings of every cell: (cells, 2A − 1)."""
    node, share = _nodes(times, level)
    table, rise = _table_and_rise(moments)
    steady, rising = (
        np.bincount(node, each, minlength=STEPS * 2**level).reshape(-1, STEPS)
        for each in (weights, share * weights)
    )
    return np.asarray(steady @ table[:, :-1].T + rising @ rise.T)


def _add_shifted(out: Array, by_cell: Array) -> None:
    """Add the sums of cells (…, cells, 2A − 1) to the shifts they belong to (…, extended)."""
    cells, width = by_cell.shape[-2:]
    for i in range(width):  # cell c meets the shift k = c − i
        out[..., width - 1 - i :][..., :cells] += by_cell[..., i]


def curve_of_shifts(extended: Array, times: Array, moments: int) -> Array:
    """Σ_k c_k φ(2^J x − k), (…), for c (extended,) over all shifts that meet [0, 1]."""
    level = int(np.log2(len(extended) - 2 * moments + 2))
    cell, step, share = _located(times, level)
    table, rise = _table_and_rise(moments)
    out = np.zeros(np.shape(times))
    for i in range(2 * moments - 1):
        out += extended[cell + 2 * moments - 2 - i] * (table[i][step] + rise[i][step] * share)
    return out


def shifts_at(times: Array, level: int, moments: int) -> Array:
    """Evaluate all shifts φ(2^J x − k), (n, extended), at times x (n,) on [0, 1]."""
    cell, step, share = _located(times, level)
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


@lru_cache
def _rows_of_table(moments: int) -> Array:
    """φ(u), φ(u + 1), …, side by side for every node u of a cell: (4097, 2A − 1)."""
    return np.ascontiguousarray(scaling_table(moments).T)
