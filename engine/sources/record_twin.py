"""Twins of records of one number: their density is known, or what predicts a response from it.

Given public facts and public sizes, two types that hold no observation, so that no value of a file
can reach them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from engine.core.grids import drawing_grid
from engine.core.types import Array, PublicFacts, SampleData, Sizes
from engine.sources.twin import SimulatedTwin

_BUMPS, _BUMP_SD = np.array([0.2, 0.5, 0.8]), 0.06  # as shares of the stated range
_ODDS, _SPREAD = 2.0, 0.17  # largest log-odds of classes; spread of responses, in half-ranges


@dataclass(frozen=True)
class RecordTwin(SimulatedTwin):
    """Records of one number that gather at three equal bumps; their density is known."""

    stated: PublicFacts
    sizes: Sizes

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[SampleData, Array]:
        size = (n_repeats, self.sizes.n_curves)
        unit = _BUMPS[rng.integers(len(_BUMPS), size=size)]
        unit = np.clip(unit + _BUMP_SD * rng.standard_normal(size), 0, 1)
        z = (drawing_grid()[:, None] - _BUMPS) / _BUMP_SD
        density = (np.exp(-z * z / 2) / (_BUMP_SD * math.sqrt(2 * math.pi))).mean(axis=1)
        return self._records(unit), np.broadcast_to(density, (n_repeats, len(density)))

    def with_peaks(self, count: int) -> tuple[RecordTwin, Array]:
        """These records as they are: they have three peaks, however many are asked for."""
        return self, _BUMPS

    def _records(self, unit: Array, response: Array | None = None) -> SampleData:
        """Records of numbers (repeats, n) on [0, 1], in the unit of the stated range."""
        feature = self.stated.covariates[0]
        x = (feature.low + (feature.high - feature.low) * unit)[..., None]
        server = np.repeat(np.arange(self.sizes.n_servers), self.sizes.n_curves_per_server)
        return SampleData(x, response, server, replace(self.stated, covariates=(feature,)))


@dataclass(frozen=True)
class LabelledTwin(RecordTwin):
    """Records of one number and a response that follows three bumps; what predicts it is known.

    Responses spread about the bumps as a sixth of half their range; of two classes the odds follow
    them.
    """

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[SampleData, Array]:
        stated, unit = self.stated, rng.random((n_repeats, self.sizes.n_curves))
        height, truth = _bumpy(unit), _bumpy(drawing_grid())
        if stated.two_classes:
            is_one = rng.random(unit.shape) < expit(_ODDS * (2 * height - 1))
            response = np.where(is_one, stated.value_high, stated.value_low)
            truth = _ODDS * (2 * truth - 1)
        else:
            middle, half = stated.value_middle, stated.value_half_width
            noise = _SPREAD * rng.standard_normal(unit.shape)
            response = np.clip(middle + half * ((height - 0.5) + noise), stated.value_low,
                               stated.value_high)
            truth = middle + half * (truth - 0.5)
        return self._records(unit, response), np.broadcast_to(truth, (n_repeats, len(truth)))


def _bumpy(unit: Array) -> Array:
    """Three bumps of height one, at places on [0, 1]."""
    z = (unit[..., None] - _BUMPS) / (2 * _BUMP_SD)
    return np.asarray(np.exp(-z * z / 2).sum(axis=-1))
