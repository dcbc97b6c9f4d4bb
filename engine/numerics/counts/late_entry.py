"""Errors of survival curves of people of whom some enter late, from counts of exits and entries.

Chance goes by increments, as in Greenwood's formula, and not by the multinomial law of the cells:
entry and exit of one person depend on each other in a way that the two tables do not tell, and
risk sets need not know. With g standard normal and z the discrete Laplace noise of both tables,
each less its mean,

    E_k = S_k Σ_{i≤k} √(d_i/(W_i(W_i − d_i))) g_i + ∂S_k/∂x · z.

1/W of noised risk sets is too large on average, so that the curve lies up to .8 standard errors too
low where few are left: simultaneous limits are `STRETCH` times as wide.

References
----------
Lai and Ying (1991) for the estimator without noise. With noise: derived for this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from engine.core.arrays import Array
from engine.numerics.counts.life_tables import LifeTable
from engine.numerics.counts.tables import SAMPLES, CountTable

STRETCH = 1.1
_SEED = 20271


def errors(table: CountTable, lives: Sequence[LifeTable], shares: Sequence[float]) -> Array:
    """Draw the public sample of errors of a weighted sum of groups' curves: (…, K, SAMPLES)."""
    normal, root = _normal(len(lives), table.cells.n_intervals), np.sqrt(table.spread)
    out = np.zeros(())
    for g, (life, share) in enumerate(zip(lives, shares, strict=True)):
        if share:
            steps = root * life.increments[..., None] * normal[g]
            out = out + share * life.survival[..., None] * np.cumsum(steps, axis=-2)
    exits, entries = _gradients(lives, shares)
    assert table.entries is not None
    return np.asarray(out + table.noise_errors(exits) + table.entries.noise_errors(entries))


def variances(
    table: CountTable, lives: Sequence[LifeTable], shares: Sequence[float]
) -> tuple[Array, Array]:
    """Compute sampling and noise variance of a weighted sum of groups' curves: (…, K) each."""
    sampling = sum(
        (
            (share * life.survival) ** 2 * np.cumsum(life.increments**2, axis=-1)
            for life, share in zip(lives, shares, strict=True)
        ),
        np.zeros(()),
    )
    exits, entries = _gradients(lives, shares)
    assert table.entries is not None
    noise = table.variances(exits)[1] + table.entries.variances(entries)[1]
    return table.spread * sampling, noise


def _gradients(lives: Sequence[LifeTable], shares: Sequence[float]) -> tuple[Array, Array]:
    """Gradients by the counts of exits and of entries: (…, K, groups, cells) each."""
    weighted = [(share, life) for share, life in zip(shares, lives, strict=True)]
    return (
        np.stack([share * life.survival_gradient for share, life in weighted], axis=-2),
        np.stack([share * life.entry_gradient for share, life in weighted], axis=-2),
    )


@lru_cache(maxsize=16)
def _normal(n_groups: int, n_intervals: int) -> Array:
    """Fixed normal numbers of each group and interval: (groups, K, SAMPLES)."""
    rng = np.random.default_rng((_SEED, n_groups, n_intervals))
    return rng.standard_normal((n_groups, n_intervals, SAMPLES))
