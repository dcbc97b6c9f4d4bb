"""What clipping does to deviations of a typical law: averages over a fixed public sample.

The sample stands for "roughly elliptical, somewhat heavy-tailed": 400 vectors of a multivariate t
with 6 degrees of freedom, each column scaled to unit second moment. Only sizes of the deviations
are put in, so nothing of the data is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.types import Array

_SAMPLE, _DEGREES, _SEED = 400, 6, 20_241_206


@dataclass(frozen=True)
class ReferenceLaw:
    """A sample of standardised deviations: `absolute` and `squared` hold |Z| and Z², (400, p)."""

    absolute: Array
    squared: Array

    @property
    def mean_absolute(self) -> Array:
        """E|Z_l|: (p,)."""
        return np.asarray(self.absolute.mean(axis=0))

    def kept(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E|ψ_l| / E|h_l| for h = spread · Z: the share of the size that clipping leaves.

        `spread` and `shape` are (…, p), `radius` (…); returns (…, p).
        """
        factors = self._factors((spread / shape) ** 2, radius)[0]
        return np.asarray(factors @ self.absolute / self.absolute.sum(axis=0))

    def slope(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E ∂ψ_l/∂h_l = E[f (1 − 1{f < 1} (h_l/d_l)²/‖h/d‖²)]: (…, p)."""
        ratio = (spread / shape) ** 2
        factors, squared = self._factors(ratio, radius)
        clipped = np.where(factors < 1, factors / squared, 0.0)
        lost = ratio * (clipped @ self.squared) / len(self.squared)
        return np.asarray(factors.mean(axis=-1, keepdims=True) - lost)

    def _factors(self, ratio: Array, radius: Array) -> tuple[Array, Array]:
        """min(1, c/‖h/d‖) and ‖h/d‖² over the sample: (…, 400) each."""
        squared = ratio @ self.squared.T
        return np.minimum(1.0, radius[..., None] / np.sqrt(squared)), squared


@lru_cache(maxsize=64)
def heavy_tailed(size: int) -> ReferenceLaw:
    """The usual reference law, in `size` dimensions."""
    rng = np.random.default_rng(_SEED)
    normal = rng.standard_normal((_SAMPLE, size))
    sample = normal / np.sqrt(rng.chisquare(_DEGREES, (_SAMPLE, 1)) / _DEGREES)
    sample /= np.sqrt((sample**2).mean(axis=0))
    return ReferenceLaw(np.abs(sample), sample**2)
