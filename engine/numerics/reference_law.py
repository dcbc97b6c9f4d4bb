"""What clipping does to deviations of a typical law: averages over a fixed public sample.

The sample stands for "roughly elliptical, somewhat heavy-tailed": 400 vectors of a multivariate t
with 6 degrees of freedom, each column scaled to unit second moment. Only sizes of the deviations
are put in, so nothing of the data is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from engine.numerics.bases import Basis
from engine.numerics.moments import curve_moments, product_table
from engine.numerics.observation_times import draw_times
from engine.numerics.regressor_maps import RegressorMap
from engine.types import Array, Design

_SAMPLE, _DEGREES, _SEED = 400, 6, 20_241_206


class Law(Protocol):
    """What the engine needs of a law of standardised deviations Z; arrays are (…, p)."""

    @property
    def mean_absolute(self) -> Array:
        """E|Z_l|."""

    def kept(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E|ψ_l| / E|h_l| for h = spread · Z: the share of the size that clipping leaves."""

    def slope(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E ∂ψ_l/∂h_l: how much a clipped average moves when its centre does."""


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


@dataclass(frozen=True)
class ProductLaw:
    """Deviations of a varying-coefficient model, h = wF ⊗ e, and their slopes wFF' ⊗ S.

    Its covariates are Gaussian with the mean and covariance of released second moments, moved into
    their public ranges; S and e are those of errors at times of the public design: curves with few
    observations differ much in S, and those that would move a location most are clipped most. Every
    entry of Z is scaled to unit second moment. An elliptical law in its place would make bands far
    too narrow. `directions` wF and `regressors` F are (repeats, columns, K, sample), `waves` e
    (sample, r) and `products` S (sample, r, r).
    """

    directions: Array
    regressors: Array
    waves: Array
    products: Array

    @cached_property
    def _scale(self) -> Array:
        """One over the root mean square of every entry: (repeats, columns, K, r)."""
        return np.asarray(1 / np.sqrt(self.directions**2 @ self.waves**2 / len(self.waves)))

    @cached_property
    def mean_absolute(self) -> Array:
        mean = self._scale * self._sizes(1.0) / len(self.waves)
        return np.asarray(mean.reshape(*mean.shape[:2], -1))

    def kept(self, spread: Array, shape: Array, radius: Array) -> Array:
        factors = self._factors((spread / shape) ** 2, radius)[0]
        return np.asarray((self._sizes(factors[..., None, :]) / self._sizes(1.0)).reshape(
            spread.shape))

    def slope(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E[f wF_k² S_ll − 1{f < 1} f h_kl Σ_hm wF_h F_k S_ml h_hm/d_hm² /‖h/d‖²]: (…, p).

        Moving coefficient (k, l) moves deviation (h, m) by wF_hF_k S_ml, and people whose
        deviations move more are clipped more: the mean of f alone would be too large.
        """
        ratio = (spread / shape) ** 2
        factors, squared = self._factors(ratio, radius)
        own = np.diagonal(self.products, axis1=-2, axis2=-1)
        moved = (factors[..., None, :] * self.directions * self.regressors) @ own / len(own)
        clipped = np.where(factors < 1, factors / squared, 0.0)[..., None, :]
        size = (spread / shape).reshape(self._scale.shape) * self._scale  # h/d over wF e
        by_shape = size / shape.reshape(self._scale.shape)
        along = self.waves * ((self.directions**2).swapaxes(-1, -2) @ by_shape)
        along = np.einsum("...nm,nml->...nl", along, self.products)
        lost = (clipped * self.directions * self.regressors) @ (along * self.waves)
        lost *= (spread.reshape(self._scale.shape) * self._scale) / len(self.waves)
        return np.asarray((moved - lost).reshape(ratio.shape))

    def _sizes(self, factors: Array | float) -> Array:
        """Sums of f |wF| |e| over the sample: (repeats, columns, K, r)."""
        return np.asarray((factors * np.abs(self.directions)) @ np.abs(self.waves))

    def _factors(self, ratio: Array, radius: Array) -> tuple[Array, Array]:
        """min(1, c/‖h/d‖) and ‖h/d‖² over the sample: (repeats, columns, sample) each."""
        by_function = ratio.reshape(self._scale.shape) * self._scale**2
        squared = ((by_function @ (self.waves**2).T) * self.directions**2).sum(axis=-2)
        return np.minimum(1.0, radius[..., None] / np.sqrt(squared)), squared


def of_regressors(moments: Array, regressor_map: RegressorMap, basis: Basis, readings: int,
                  design: Design) -> ProductLaw:
    """The law for second moments (repeats, columns, K, K) and curves of so many observations."""
    sample, products, covariates = _regression_sample(
        basis, readings, design, moments.shape[-1] - 1)
    mean = moments[..., 1:, 0] / moments[..., :1, 0]
    covariance = moments[..., 1:, 1:] - moments[..., 1:, :1] * mean[..., None, :]
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    drawn = np.clip(root @ covariates.T + mean[..., None], -1.0, 1.0)
    raw = np.concatenate([np.ones((*drawn.shape[:-2], 1, _SAMPLE)), drawn], axis=-2)
    directions, regressors = regressor_map.directions(raw), regressor_map.whole @ raw
    average = directions @ regressors.swapaxes(-1, -2) / _SAMPLE
    average = average + 1e-6 * np.eye(average.shape[-1])  # also where all are the same
    left = np.linalg.inv(np.linalg.cholesky(average))
    return ProductLaw(left @ directions, left @ regressors, sample, products)


@lru_cache(maxsize=64)
def _regression_sample(basis: Basis, readings: int, design: Design, n_covariates: int
                       ) -> tuple[Array, Array, Array]:
    """A fixed public sample: e (sample, r), S (sample, r, r) and normal covariates (sample, d).

    S is scaled to an average of 1 on the diagonal, as the sample is finite.
    """
    rng = np.random.default_rng(_SEED)
    covariates = rng.standard_normal((_SAMPLE, n_covariates))
    times = draw_times(design, _SAMPLE, readings, rng).reshape(1, -1)
    moments = curve_moments(times, rng.standard_normal(times.shape),
                            np.full(_SAMPLE, readings), basis)
    products = np.tensordot(moments.waves[0].T, product_table(basis), axes=1)
    size = np.sqrt(np.diagonal(products, axis1=-2, axis2=-1).mean(axis=0))
    return moments.cross[0].T, products / np.outer(size, size), covariates
