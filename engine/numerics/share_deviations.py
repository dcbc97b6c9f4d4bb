"""Deviations of several functions that share their times, with targets of their own per column.

Percentile curves ask of every person for several numbers at each time, such as whether a reading
lies below each of K threshold curves. What a person says of K functions is K times the same T_i
beside K targets: h_i(a) = a T_i' − t_i for a and t_i of K rows. The thresholds follow from earlier
releases, so the targets differ from column to column, and the T_i do not.

All operations run along the people of a block, as in `engine.numerics.curve_deviations`: h_i has
the same bits wherever a person stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.types import Design
from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.curve_deviations import (
    MOST_COLUMNS,
    are_numbers,
    in_lanes,
    rows_of,
    solve_along,
)
from engine.numerics.deviations import Deviations, mean_slopes_inverse, ridge
from engine.numerics.moments import harmonics, highest_wave, in_order

Index = NDArray[np.int64]


@dataclass(frozen=True)
class ReadingBlock:
    """The readings of people who have as many each, in a multiple of 64 lanes.

    A person with a number that is none, or a lane that fills the block, takes part with readings,
    slopes and targets of 0.
    """

    values: Array  # (m, lanes)
    waves: Array  # φ at all times, (r, m, lanes)
    tells: Array  # (lanes,): 1 for those who say anything, 0 for the others
    basis: Basis
    design: Design

    @classmethod
    def blocks(
        cls, times: Array, values: Array, counts: Index, basis: Basis, design: Design
    ) -> list[ReadingBlock]:
        """Cut people into blocks; those without readings are in none."""
        starts = np.cumsum(counts) - counts
        blocks = []
        for m in np.unique(counts[counts > 0]).tolist():
            for places in in_lanes(np.flatnonzero(counts == m), m):
                t, y = (rows_of(each, starts, places, m) for each in (times, values))
                blocks.append(cls.of(t, y, basis, design))
        return blocks

    @classmethod
    def of(cls, times: Array, values: Array, basis: Basis, design: Design) -> ReadingBlock:
        """Build from times and values (m, lanes)."""
        tells = are_numbers(times, values)
        waves = np.empty((basis.size, *times.shape))
        waves[0] = 1.0
        found = harmonics(
            basis.turns(np.clip(np.where(tells, times, 0.0), 0.0, 1.0)),
            highest_wave(basis) // 2,
            basis.family == "fourier",
        )
        for row, wave in zip(waves[1:], in_order(found), strict=False):
            np.multiply(wave, SUP_NORM, out=row)
        return cls(np.where(tells, values, 0.0), waves, tells.astype(float), basis, design)

    def weights(self, size: int) -> CurveWeights:
        """Weight the readings for the first functions."""
        waves, m = self.waves[:size], len(self.values)
        gram = np.empty((size, size, waves.shape[-1]))
        for j in range(size):
            np.einsum("kmb,mb->kb", waves[j:], waves[j], out=gram[j:, j])
        gram /= m
        penalty = ridge(size, np.array([m]))
        gram[range(size), range(size)] += penalty
        solved = np.zeros_like(gram)
        solved[range(size), range(size)] = 1.0
        solve_along(gram, solved)
        inverse = mean_slopes_inverse(self.basis.first(size), m, self.design)
        weights = np.einsum("lj,cjb->clb", inverse, solved)
        slopes = (inverse.T[..., None] - weights * penalty[:, None]) * self.tells
        return CurveWeights(slopes, weights * (self.tells / m), waves)


@dataclass(frozen=True)
class CurveWeights:
    """Weights of every person's readings: K_i = A⁻¹(S_i + Λ)⁻¹ and T_i = K_i S_i.

    See `engine.numerics.deviations`.
    """

    slopes: Array  # (r, r, lanes): entry [j, l, i] is (T_i)_lj
    weights: Array  # (r, r, lanes): entry [j, l, i] is (K_i)_lj/m
    waves: Array  # φ at all times, (r, m, lanes)

    def targets(self, readings: Array) -> Array:
        """t_i = K_i (1/m_i) Σ_j φ(t_ij) e_ij for several functions e, (…, m, lanes)."""
        cross = np.einsum("rmb,...mb->...rb", self.waves, readings)
        return np.asarray(np.einsum("rlb,...rb->...lb", self.weights, cross))


@dataclass(frozen=True)
class ShareDeviations(Deviations):
    """h_i(a) = a T_i' − t_i for K functions, with targets of its own for every column."""

    parts: tuple[ShareBlock, ...]
    people: int
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return self.people

    @property
    def entries(self) -> int:
        return max((part.entries for part in self.parts), default=1)

    def blocks(self, most: int) -> Sequence[ShareDeviations]:
        """One for each block of people."""
        return [replace(self, parts=(part,)) for part in self.parts]

    def of_repeats(self, repeats: slice) -> ShareDeviations:
        """The same: there is one data set."""
        return self

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute the deviations of all lanes, block after block."""
        return np.concatenate([part.at(centres[0]) for part in self.parts], axis=-1)[None]


@dataclass(frozen=True)
class ShareBlock:
    """The people of one block."""

    slopes: Array  # (r, r, lanes): entry [j, l, i] is (T_i)_lj
    targets: Array  # t_i, function after function: (columns, K r, lanes)

    @property
    def entries(self) -> int:
        """Numbers of every person."""
        return int(self.slopes[..., 0].size + self.targets[..., 0].size)

    def at(self, centres: Array) -> Array:
        """Compute h(a), (columns, K r, lanes), at centres (columns, K r).

        In many columns, as of studies, by a product of matrices, which may round lanes unlike.
        """
        r = len(self.slopes)
        rows = centres.reshape(-1, r)
        if len(centres) > MOST_COLUMNS:
            moved = rows @ self.slopes.reshape(r, -1)
        else:
            moved = np.einsum("jlb,kj->klb", self.slopes, rows)
        return np.asarray(moved.reshape(self.targets.shape) - self.targets)
