"""How reading times are spread, in a few cosines, and readings weighted by one over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from engine.numerics.bases import SUP_NORM, Basis
from engine.numerics.grids import quadrature
from engine.numerics.moments import Moments, gradient_map, n_waves
from engine.numerics.observation_times import LEAST_DENSITY
from engine.types import Array

N_COSINES = 6  # of a density that is learned
_MOST = 3.0  # a learned density is never taken to be higher
_TERMS = 20  # cosines in which one over it is written


def density_features(moments: Moments) -> Array:
    """Per curve, the means of √2 cos(πkt), k = 1 … 6, clipped to norm 1: (repeats, 6, curves).

    Replacing one curve moves their mean over n curves by at most 2/n in norm. Needs moments of at
    least four cosines.
    """
    features = SUP_NORM * moments.waves[:, 1:N_COSINES + 1]
    norm = np.sqrt((features**2).sum(axis=1, keepdims=True))
    return np.asarray(features / np.maximum(norm, 1.0))


def private_density(measured: Array, variance: Array) -> Array:
    """Coefficients of 1/f̂ in cosines from noisy means (…, 6) with noise variance (…): (…, terms).

    Each mean is shrunk by the noise it may hold (James–Stein), f̂ is held within [0.3, 3].
    """
    squared = np.maximum(measured**2, 1e-300)
    kept = measured * np.maximum(0.0, 1 - variance[..., None] / squared)
    nodes, weights = quadrature()
    waves = Basis(N_COSINES + 1, family="cosine")(nodes)
    density = np.clip(1 + kept @ waves[:, 1:].T, LEAST_DENSITY, _MOST)
    order = np.arange(_TERMS + 1)
    projection = np.cos(np.pi * nodes[:, None] * order) * weights[:, None]
    return np.asarray((1 / density) @ projection * np.where(order == 0, 1.0, 2.0))


@dataclass(frozen=True)
class Reweighted:
    """Deviations S_i a − s_i with readings weighted by a function of time, one for each column.

    The weight is Σ_q γ_q cos(πqt), `weights` (repeats, columns, terms) holds the γ. Its product
    with a wave is again a sum of waves, so `moments` of a larger basis are all that is needed and
    no reading is looked at again. The same deviations as `deviations.Deviations`, otherwise.
    """

    moments: Moments
    size: int
    weights: Array
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return self.moments.n_curves

    def among(self, chosen: slice) -> Reweighted:
        """Those of some of the curves."""
        return Reweighted(self.moments.curves(chosen), self.size, self.weights)

    def at(self, centres: Array, repeats: slice) -> Array:
        """Deviations from centres (repeats, columns, p): (repeats, columns, p, curves)."""
        basis = self.moments.basis.first(self.size)
        rows = gradient_map(centres, basis).reshape(*centres.shape, -1)
        lift = np.tensordot(self.weights[repeats], _lift(self.size), axes=1)
        lifted = (rows @ lift).reshape(len(rows), -1, lift.shape[-1])
        return np.asarray((lifted @ self.moments.features[repeats]).reshape(
            *centres.shape, self.n_curves))


def larger_basis(size: int) -> Basis:
    """The basis whose moments `Reweighted` needs for `size` functions."""
    return Basis(size + _TERMS, family="cosine")


@lru_cache(maxsize=64)
def _lift(size: int) -> Array:
    """From moments of the larger basis to weighted ones: (terms, features, larger features).

    cos q · cos k = (cos(k + q) + cos|k − q|)/2, for the wave means and for the cross moments.
    """
    small, large = Basis(size, family="cosine"), larger_basis(size)
    waves, more = n_waves(small), n_waves(large)
    table = np.zeros((_TERMS + 1, waves + size, more + large.size))
    scale = np.where(np.arange(large.size) == 0, 1.0, SUP_NORM)
    for q in range(_TERMS + 1):
        for k in range(waves):
            table[q, k, k + q] += 0.5
            table[q, k, abs(k - q)] += 0.5
        for k in range(size):
            for wave in (k + q, abs(k - q)):
                table[q, waves + k, more + wave] += 0.5 * scale[k] / scale[wave]
    return table
