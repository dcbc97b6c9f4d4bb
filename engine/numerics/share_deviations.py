"""Deviations of several functions that share their times, with targets of their own per column.

Percentile curves ask of every person for several numbers at each time, such as whether a reading
lies below each of K threshold curves. What a person says of K functions is K times the same T_i
beside K targets: h_i(a) = a T_i' − t_i for a and t_i of K rows. The thresholds follow from earlier
releases, so the targets differ from column to column, and the T_i do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.types import Design
from engine.numerics.bases import Basis
from engine.numerics.deviations import (
    Deviations,
    blocks_of,
    mean_slopes_inverse,
    ridge,
    weighted_within_curves,
)
from engine.numerics.moments import curve_moments
from engine.numerics.products import rows_times

Index = NDArray[np.int64]


@dataclass(frozen=True)
class CurveWeights:
    """Weights of every person's readings: K_i = A⁻¹(S_i + Λ)⁻¹ and T_i = K_i S_i.

    See `engine.numerics.deviations`. A person with a number that is none, or without readings, has
    T_i = 0 and takes part with targets of 0.
    """

    slopes: Array  # (repeats, r, r, curves): entry [·, j, l, i] is (T_i)_lj
    weights: Array  # (repeats, r, r, curves): entry [·, j, l, i] is (K_i)_lj
    values: Array  # (repeats, N, r): φ at all times
    counts: Index  # (curves,): readings of each curve; they sum to N
    tells: Array  # (repeats, curves): 1 for those who say anything, 0 for the others

    @classmethod
    def of(
        cls,
        times: Array,
        readings: Array,
        counts: Index,
        basis: Basis,
        design: Design,
        waves: Array,
    ) -> CurveWeights:
        """Build from times, whatever the targets.

        Parameters
        ----------
        times, readings : (repeats, N)
            Curve after curve; of the readings it matters alone whether they are numbers.
        counts : (curves,)
            Readings of each curve.
        basis : Basis
            φ, r functions.
        waves : (repeats, N, r)
            φ at all times; of a time that is no number, anything finite.
        """
        moments = curve_moments(times, readings, counts, basis)
        ((_, deviations),) = weighted_within_curves(moments, counts, {basis.size}, design)
        penalty = ridge(basis.size, counts)
        weights = -deviations.slopes
        for count in np.unique(counts[counts > 0]).tolist():
            same_count = slice(None) if (counts == count).all() else np.flatnonzero(counts == count)
            weights[..., same_count] += mean_slopes_inverse(basis, count, design).T[..., None]
        weights /= penalty[:, None]
        tells = moments.waves[:, 0] > 0  # the mean of 1 over the readings
        return cls(deviations.slopes, weights, waves, counts, tells.astype(float))

    @property
    def size(self) -> int:
        return int(self.slopes.shape[1])

    def targets(self, repeat: int, readings: Array) -> Array:
        """t_i = K_i (1/m_i) Σ_j φ(t_ij) e_ij for several functions e of one data set.

        From readings (functions, N), curve after curve, to (functions, r, curves).
        """
        cross = self._means(readings, self.values[repeat]) * self.tells[repeat]
        return np.asarray(np.einsum("jln,fjn->fln", self.weights[repeat], cross, optimize=True))

    def _means(self, readings: Array, values: Array) -> Array:
        """(1/m_i) Σ_j φ(t_ij) e_ij: (functions, r, curves)."""
        n, r, counts = len(self.counts), self.size, self.counts
        if n and (counts == counts[0]).all() and counts[0]:
            by_curve = readings.reshape(len(readings), n, -1).transpose(1, 0, 2)
            return np.asarray((by_curve @ values.reshape(n, -1, r)).transpose(1, 2, 0) / counts[0])
        means = np.zeros((len(readings), r, n))
        some = np.flatnonzero(counts)
        starts = (np.cumsum(counts) - counts)[some]
        for wave in range(r) if len(some) else ():
            means[:, wave, some] = np.add.reduceat(readings * values[:, wave], starts, axis=1)
        return means / np.maximum(counts, 1)


@dataclass(frozen=True)
class ShareDeviations(Deviations):
    """h_i(a) = a T_i' − t_i for K functions, with targets of its own for every column."""

    slopes: Array  # (repeats, r, r, curves): entry [·, j, l, i] is (T_i)_lj
    targets: Array  # (repeats, columns, K r, curves): t_i, function after function
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return int(self.slopes.shape[3])

    @property
    def entries(self) -> int:
        return int(self.slopes[0, ..., 0].size + self.targets[0, ..., 0].size)

    def blocks(self, most: int) -> list[ShareDeviations]:
        """The curves in blocks of so many at most; views."""
        return [
            ShareDeviations(self.slopes[..., part], self.targets[..., part])
            for part in blocks_of(self.n_curves, most)
        ]

    def of_repeats(self, repeats: slice) -> ShareDeviations:
        """Those of some of the data sets; a view."""
        return ShareDeviations(self.slopes[repeats], self.targets[repeats])

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute the deviation of a centre, as all curves measure it."""
        slopes, targets = self.slopes[repeats], self.targets[repeats]
        r = slopes.shape[1]
        rows = centres.reshape(len(centres), -1, r)
        moved = rows_times(rows, slopes.reshape(len(slopes), r, -1))
        return np.asarray(moved.reshape(targets.shape) - targets)
