"""Noised counts, the nearest counts that can be, and how far off what follows from them may be.

For a functional with Jacobian J at the estimated counts x̂, p̂ = (x̂ + ½)/(n + m/2),

    Cov = n J(diag p̂ − p̂p̂ᵀ)Jᵀ + τ² J(I − 11ᵀ/m)Jᵀ.

The first part is sampling variability, the second the noise, of which the total is known. Limits
are not taken from Cov, because discrete Laplace noise has longer tails than normal noise, but from
a fixed public sample of errors: J_c diag(√(n p̂)) g + J z with normal g, z by the true law of the
noise less its mean, and J_c = J − (J p̂)1ᵀ. Its covariance is Cov.

Where the sizes of groups are public each group is a *block* of its own, with its own total; else
all cells are one block. Of several sites the table is a weighted sum: noise has the variance
Σ w_s² τ_s², and people count Σ w_s² n_s in place of n.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from engine.core.arrays import Array, Indices
from engine.numerics.counts.cells import Cells, EntryCells, VisitCells

SAMPLES = 1000  # columns of the public sample of errors
_SEED = 20270
_COMPARED = 2  # groups of a comparison
_SILENT = 1e-3  # discrete noise of a smaller scale is 0 but once in e^1000 draws


@dataclass(frozen=True, eq=False)
class CountTable:
    """A released table of counts, and the public numbers that are needed to read it.

    Examples
    --------
    >>> table = CountTable(Cells((0.0, 1.0, 2.0, 3.0)), np.array([[5.0, 3, -2, 1, 4, 0, 5]]),
    ...                    (20.0,), (2.0,))
    >>> (3 * table.estimated[0]).round(9).tolist()
    [16.0, 10.0, 0.0, 4.0, 13.0, 1.0, 16.0]
    """

    cells: Cells
    noisy: Array  # (…, groups, m): counts with noise, for several sites their weighted sum
    # the known number of people of each block: one for all cells, or one for each group
    totals: tuple[float, ...]
    scales: tuple[float, ...]  # scale of the discrete Laplace noise of every site; 0 without noise
    weights: tuple[float, ...] = (1.0,)  # what each site's counts were multiplied by
    spread: float = 1.0  # Σ w_s² n_s / Σ w_s n_s: 1 where all people count once
    # what each group counts in one adjusted curve; empty where every group has a curve of its own
    group_weights: tuple[float, ...] = ()
    entries: CountTable | None = None  # the same people by when they entered, where some do late

    @property
    def is_compared(self) -> bool:
        """True if two groups have a curve each."""
        return self.cells.n_groups == _COMPARED and not self.group_weights

    @property
    def is_tested(self) -> bool:
        """True if two groups can be tested: everybody is seen from the start, at all times."""
        return self.is_compared and self.entries is None and not self.is_of_visits

    @property
    def is_of_visits(self) -> bool:
        """True if people are seen at visits alone."""
        return isinstance(self.cells, VisitCells)

    @property
    def n_blocks(self) -> int:
        return len(self.totals)

    @property
    def block_size(self) -> int:
        """Cells of a block."""
        return self.cells.size * self.cells.n_groups // self.n_blocks

    @cached_property
    def noise_variance(self) -> float:
        """τ²: of the noise in one cell."""
        return sum(
            weight**2 * variance_of_discrete(scale)
            for weight, scale in zip(self.weights, self.scales, strict=True)
        )

    @cached_property
    def estimated(self) -> Array:
        """x̂: the counts of no negative number with the known totals that are nearest to `noisy`."""
        blocks = self._blocks(self.noisy)
        fits = [projected(blocks[..., b, :], total) for b, total in enumerate(self.totals)]
        return np.asarray(np.stack(fits, axis=-2).reshape(self.noisy.shape))

    @cached_property
    def centred(self) -> Array:
        """Noisy counts with their known totals restored, unbiased: what is linear in noise."""
        blocks = self._blocks(self.noisy)
        excess = blocks.sum(axis=-1) - np.asarray(self.totals)
        centred = blocks - excess[..., None] / self.block_size
        return np.asarray(centred.reshape(self.noisy.shape))

    @cached_property
    def shares(self) -> Array:
        """p̂ of each block, with half a person more in every cell: (…, blocks, cells of a block)."""
        total = np.asarray(self.totals)[:, None]
        return np.asarray((self._blocks(self.estimated) + 0.5) / (total + self.block_size / 2))

    def picked(self, *index: int | slice) -> CountTable:
        """Keep some of the repeats and draws: those at an index of the axes before groups."""
        entries = None if self.entries is None else self.entries.picked(*index)
        return replace(self, noisy=self.noisy[index], entries=entries)

    def without_noise(self) -> CountTable:
        """The same table of counts to which no noise was added."""
        entries = None if self.entries is None else self.entries.without_noise()
        return replace(self, scales=(0.0,) * len(self.scales), entries=entries)

    def group(self, index: int) -> CountTable:
        """The table of one group whose size is public, or that is the only one."""
        return replace(
            self,
            cells=replace(self.cells, n_groups=1),
            noisy=self.noisy[..., index : index + 1, :],
            totals=(self.totals[index],),
            group_weights=(),
            entries=None if self.entries is None else self.entries.group(index),
        )

    def variances(self, jacobian: Array) -> tuple[Array, Array]:
        """Compute sampling and noise variance, (…, q) each, of functionals at the estimates.

        The jacobian is (…, q, groups, m).
        """
        by_block = self._blocks(jacobian)  # (…, q, blocks, cells of a block)
        shares = self.shares[..., None, :, :]
        mean = (by_block * shares).sum(axis=-1)
        people = self.spread * np.asarray(self.totals)
        sampling = (people * ((by_block**2 * shares).sum(axis=-1) - mean**2)).sum(axis=-1)
        rest = (by_block**2).sum(axis=-1) - by_block.sum(axis=-1) ** 2 / self.block_size
        return sampling, self.noise_variance * rest.sum(axis=-1)

    def errors(self, jacobian: Array) -> Array:
        """Draw the public sample of errors of functionals: (…, q, SAMPLES).

        The jacobian (…, q, groups, m) is taken at the estimated counts.
        """
        normal, _ = self._sample
        by_block = self._blocks(jacobian)
        out = self.noise_errors(jacobian)
        for b, total in enumerate(self.totals):
            rows, shares = by_block[..., b, :], self.shares[..., b, :]
            centred = rows - (rows @ shares[..., None])
            out += (centred * np.sqrt(self.spread * total * shares)[..., None, :]) @ normal[b]
        return out

    def noise_errors(self, jacobian: Array) -> Array:
        """Draw the part of `errors` that is noise: (…, q, SAMPLES)."""
        _, noise = self._sample
        by_block = self._blocks(jacobian)
        return np.asarray(
            sum((by_block[..., b, :] @ noise[b] for b in range(self.n_blocks)), np.zeros(()))
        )

    @property
    def noise(self) -> Array:
        """The public sample of noise, of mean 0 in each block: (blocks, cells, SAMPLES)."""
        return self._sample[1]

    @property
    def _sample(self) -> tuple[Array, Array]:
        stream = int(isinstance(self.cells, EntryCells))
        return _sample(self.n_blocks, self.block_size, self.weights, self.scales, stream)

    def spread_of(self, n_cells: Indices) -> Array:
        """Standard deviation that noise gives the people in some cells of a block.

        √(τ² q(m − q)/m) for q of the m cells of a block whose total is known.
        """
        q, m = np.asarray(n_cells), self.block_size
        return np.asarray(np.sqrt(self.noise_variance * q * (m - q) / m))

    def _blocks(self, by_group: Array) -> Array:
        """(…, groups, m) as (…, blocks, cells of a block)."""
        return by_group.reshape(*by_group.shape[:-2], self.n_blocks, self.block_size)


def projected(noisy: Array, total: float) -> Array:
    """The vectors without a negative entry, with a known sum, that are nearest to others.

    Under noise of equal variance these are the counts of maximum likelihood. With u the entries in
    falling order, r is the last j with u_j > (Σ_{i≤j} u_i − n)/j, and θ that mean at r is taken off
    every entry; what is negative then is 0.

    Examples
    --------
    >>> projected(np.array([3.0, 2.0, -4.0]), 4.0).tolist()
    [2.5, 1.5, 0.0]
    """
    falling = -np.sort(-noisy, axis=-1)
    means = (np.cumsum(falling, axis=-1) - total) / np.arange(1, noisy.shape[-1] + 1)
    last = noisy.shape[-1] - 1 - np.argmax((falling > means)[..., ::-1], axis=-1)
    if total <= 0:
        return np.zeros_like(noisy)
    excess = np.take_along_axis(means, last[..., None], axis=-1)
    return np.asarray(np.maximum(noisy - excess, 0.0))


@lru_cache(maxsize=32)
def _sample(
    n_blocks: int,
    block_size: int,
    weights: tuple[float, ...],
    scales: tuple[float, ...],
    stream: int,
) -> tuple[Array, Array]:
    """Normal numbers and noise of every cell, (blocks, cells, SAMPLES) each; noise has mean 0.

    Tables of the same people have streams of their own, so that their noises are independent.

    Sites with the same noise are drawn together: a sum of M discrete Laplace variables is the
    difference of two negative binomial ones.
    """
    shape = (n_blocks, block_size, SAMPLES)
    rng = np.random.default_rng((_SEED, n_blocks, block_size, *(stream,) * bool(stream)))
    normal, standard = rng.standard_normal(shape), rng.laplace(size=shape)
    noise = np.zeros(shape)
    for (weight, scale), sites in Counter(zip(weights, scales, strict=True)).items():
        if scale == 0:
            continue
        chance = -np.expm1(-1 / scale)
        noise += weight * (
            discretised(standard, scale)
            if sites == 1 and len(weights) == 1
            else rng.negative_binomial(sites, chance, shape)
            - rng.negative_binomial(sites, chance, shape)
        )
    return normal, noise - noise.mean(axis=1, keepdims=True)


# -- discrete Laplace noise: whole numbers made of Laplace variables -------------------------------


def discretised(standard: Array, scale: float) -> Array:
    """Whole numbers with P(k) ∝ exp(−|k|/b), from Laplace variables of scale 1.

    With a = e^{−1/b}, the size of such a number is at least k ≥ 1 with chance 2a^k/(1 + a). As the
    size of a standard Laplace variable L is exponential, sign(L) ⌊|L| b + c⌋ has just this law for
    c = b log(2/(1 + a)), which is at most ½ because (1 + a)/2 ≥ √a. The same L at several scales
    gives numbers that move together.

    Examples
    --------
    >>> discretised(np.array([-1.2, 0.0, 0.1, 3.0]), 2.0).tolist()
    [-2.0, 0.0, 0.0, 6.0]
    """
    if scale == 0:
        return np.zeros_like(standard)
    begin = scale * math.log(2 / (1 + math.exp(-1 / scale)))
    return np.asarray(np.copysign(np.floor(np.abs(standard) * scale + begin), standard) + 0.0)


def variance_of_discrete(scale: float) -> float:
    """Compute the variance of `discretised` noise: 2a/(1 − a)², a = e^{−1/b}, b ≥ 0.

    Examples
    --------
    >>> round(variance_of_discrete(2.0), 4)
    7.8354
    """
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > _SILENT else 0.0
