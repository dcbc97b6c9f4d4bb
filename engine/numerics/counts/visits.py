"""Survival of people who are seen at public visits: between two of them nobody knows when.

N_lf people were last seen without the event at visit l and first with it at visit f. With p_j the
share of people whose event falls between visits j − 1 and j, p_{K+1} that of all later ones,

    S_k = 1 − Σ_{j≤k} p_j,    p_j ← p_j Σ_{l<j≤f} N_lf / (n Σ_{l<i≤f} p_i),

repeated from equal shares: the steps of the EM algorithm for the likelihood of the counts.

Errors are those of a bootstrap from the projected counts: people are drawn anew from their shares,
noise is added by its true law, and all is computed again. So it is known how projection and
estimate move the curve, which a derivative at counts of 0 would not tell.

References
----------
Turnbull (1976) for the estimate. With noise: derived for this project.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from engine.core.arrays import Array, Flags
from engine.numerics.counts.cells import VisitCells
from engine.numerics.counts.tables import CountTable, projected

STEPS = 400  # of the algorithm
_STEPS_OF_DRAWS = 100  # of the bootstrap: 300 people are then off by .0005, errors are .03
DRAWS = 200  # of the bootstrap
_SEED = 20272
_CERTAIN = 3.0  # standard deviations of noise that people seen without the event must exceed


def survival(counts: Array, cells: VisitCells, steps: int = STEPS) -> Array:
    """S at the visits from counts of one group, (…, m): (…, K)."""
    holds, total = _holds(cells.n_intervals), np.maximum(counts.sum(axis=-1, keepdims=True), 1e-9)
    shares = np.full((*counts.shape[:-1], holds.shape[1]), 1 / holds.shape[1])
    for _ in range(steps):
        of_cell = np.maximum(shares @ holds.T, np.finfo(float).tiny)
        shares = shares * ((counts / of_cell) @ holds) / total
    return np.asarray(np.clip(1 - np.cumsum(shares[..., :-1], axis=-1), 0.0, 1.0))


def curves_of(table: CountTable) -> Array:
    """S at the visits in every group of a released table: (…, groups, K)."""
    return survival(table.estimated, cells_of(table))


def errors(table: CountTable, with_noise: bool = True) -> Array:
    """Draw the errors of the curves of all groups together: (…, groups, K, DRAWS)."""
    rng = np.random.default_rng((_SEED, table.n_blocks, table.block_size))
    shape, drawn = table.estimated.shape, list[Array]()
    noise = np.moveaxis(table.noise[..., :DRAWS], -1, 0)  # (DRAWS, blocks, cells of a block)
    blocks = table.estimated.reshape(*shape[:-2], table.n_blocks, table.block_size)
    for b, total in enumerate(table.totals):
        people = max(round(total / table.spread), 1)
        shares = blocks[..., b, :] / blocks[..., b, :].sum(axis=-1, keepdims=True)
        counts = table.spread * rng.multinomial(
            people, shares[..., None, :], size=(*shares.shape[:-1], DRAWS)
        )
        counts = counts + (total - table.spread * people) * shares[..., None, :]
        drawn.append(projected(counts + noise[:, b], total) if with_noise else counts)
    again = np.stack(drawn, axis=-2).reshape(*shape[:-2], DRAWS, *shape[-2:])
    moved = survival(again, cells_of(table), _STEPS_OF_DRAWS) - curves_of(table)[..., None, :, :]
    return np.moveaxis(moved, -3, -1)


def seen_without(table: CountTable) -> Array:
    """People seen without the event at a visit or later, in every group: (…, groups, K + 1)."""
    return np.asarray(table.estimated @ _is_later(cells_of(table)).T)


def spread_of_seen(table: CountTable) -> Array:
    """Standard deviation of noise in `seen_without`: (K + 1,)."""
    return table.spread_of(_is_later(cells_of(table)).sum(axis=-1).astype(np.int64))


def is_shown(table: CountTable, min_at_risk: float) -> Flags:
    """True for visits that are drawn, in every group: (…, groups, K) of bool.

    So far as `min_at_risk` people, and three standard deviations of the noise in their number, are
    seen without the event then or later, by the noisy counts.
    """
    least = np.maximum(min_at_risk, _CERTAIN * spread_of_seen(table))
    is_enough = (seen_without(table) >= least)[..., 1:]
    return np.asarray(np.logical_and.accumulate(is_enough, axis=-1))


def cells_of(table: CountTable) -> VisitCells:
    """The cells of a table by visits."""
    assert isinstance(table.cells, VisitCells)
    return table.cells


def _is_later(cells: VisitCells) -> Array:
    """1 for cells whose last visit without the event is visit k or a later one: (K + 1, m)."""
    visits = np.arange(cells.n_intervals + 1)
    return np.asarray(cells.visits[:, 0] >= visits[:, None], dtype=float)


@lru_cache(maxsize=16)
def _holds(n_visits: int) -> Array:
    """1 where the event of a cell may fall between visits j − 1 and j: (m, K + 1)."""
    last, first = VisitCells(tuple(map(float, range(n_visits + 1)))).visits.T
    interval = np.arange(1, n_visits + 2)
    return np.asarray((last[:, None] < interval) & (interval <= first[:, None]), dtype=float)
