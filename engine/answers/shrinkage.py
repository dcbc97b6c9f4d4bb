"""Means of many groups, each drawn towards what all of them have in common.

Coefficient l of group s is measured as θ̂_sl with known variance V_sl. Between groups it is normal
about β_l with variance τ_b² (l/l_b)⁻³: coefficients of a block share one τ_b, because smooth curves
differ less in finer functions, and few groups say little of each function alone. τ_b² is known as
its restricted likelihood has it, on a grid, with a flat prior of τ_b; results are averages over the
grid. The mean β_l is estimated with the groups, and its variance is in theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.core.types import Array

_BLOCKS = (0, 1, 2, 3, 4, 6, 9)  # where blocks of coefficients begin
_DECAY = 3  # power of the order of a coefficient by which its variance falls within a block
_GRID = 2.0 ** np.arange(-10, 16.25, 0.5)  # of τ², in median variances of the block


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Groups after shrinkage."""

    centres: Array  # (groups, r): posterior means
    variances: Array  # (groups, r): posterior variances
    between: Array  # (r,): the variance between groups, averaged over the grid


def shrunk(centres: Array, variances: Array) -> Shrunk:
    """Draw measured coefficients (groups, r) of these variances (groups, r) towards their mean.

    Examples
    --------
    >>> groups = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> far, near = (shrunk(groups, np.full((4, 1), v)).centres[:, 0] for v in (10.0, 1e-4))
    >>> far.round(1).tolist(), near.round(1).tolist()
    ([1.0, 1.3, 1.7, 2.0], [0.0, 1.0, 2.0, 3.0])
    """
    found = [
        _of_block(centres[:, block], variances[:, block], 1 + block.start)
        for block in _blocks(centres.shape[1])
    ]
    means, spreads, between = (np.concatenate(each, axis=-1) for each in zip(*found, strict=True))
    return Shrunk(means, spreads, between)


def _blocks(size: int) -> Iterator[slice]:
    ends = (*_BLOCKS[1:], size)
    for first, end in zip(_BLOCKS, ends, strict=True):
        if first < size:
            yield slice(first, min(end, size))


def _of_block(measured: Array, variance: Array, first: int) -> tuple[Array, Array, Array]:
    """Means, variances (groups, l) and the variance between groups (l,) of one block.

    `first` is l_b; coefficients count from 1.
    """
    order = 1 + np.arange(measured.shape[1]) / first  # l/l_b
    between = np.median(variance) * _GRID[:, None] * order**-_DECAY  # (grid, l)
    total = variance + between[:, None]  # (grid, groups, l)
    precision = 1 / total
    known = precision.sum(axis=1)  # of β: (grid, l)
    common = (precision * measured).sum(axis=1) / known
    misfit = (precision * (measured - common[:, None]) ** 2).sum(axis=1)
    likelihood = -0.5 * (np.log(total).sum(axis=1) + np.log(known) + misfit).sum(axis=1)
    weight = np.exp(likelihood - likelihood.max()) * np.sqrt(_GRID)
    weight /= weight.sum()
    share = variance * precision  # what a group takes from the others
    means = measured + share * (common[:, None] - measured)
    spread = variance * (1 - share) + share**2 / known[:, None]
    mean = np.tensordot(weight, means, axes=1)
    return (mean, np.tensordot(weight, spread + (means - mean) ** 2, axes=1), weight @ between)
