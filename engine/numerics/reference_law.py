"""Effect of clipping on deviations of a typical law: averages over a fixed public sample.

The sample stands for "roughly elliptical, somewhat heavy-tailed": 400 deviations with tails of a t
law with 6 degrees of freedom, each column scaled to unit second moment, of curves that are observed
as the stated design says. Only sizes of the deviations are put in, so nothing of the data is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol, TypeGuard

import numpy as np
from scipy.special import ndtr, stdtr

from engine.core.arrays import Array
from engine.core.types import Design, TimeLaw
from engine.numerics.bases import Basis
from engine.numerics.deviations import plain, weighted_within_curves
from engine.numerics.moments import curve_moments
from engine.numerics.observation_times import Stratified, draw_times
from engine.numerics.regressor_maps import RegressorMap
from engine.numerics.symmetric_matrices import matrix_root

_SAMPLE, _DEGREES, _SEED = 400, 6, 20_241_206
_UNTOLD = 1e-6  # share of a coefficient below which a design says nothing of it
_CURVES, _TOGETHER = 800, 64  # simulated curves; columns worked on together
_SIMULATED = 25  # basis functions of simulated curves, at least


class DeviationLaw(Protocol):
    """Law of standardised deviations Z; arrays are (…, p)."""

    @property
    def mean_slopes(self) -> Array:
        """E T: (p, p)."""

    @property
    def mean_absolute(self) -> Array:
        """E|Z_l|."""

    def retained_share(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E|ψ_l| / E|h_l| for h = spread · Z: the share of the size that clipping leaves.

        `spread` (…, p) are the sizes of the deviations, `shape` (…, p) is d of the clipping.
        """

    def share_beyond(self, spread: Array, shape: Array, radius: Array) -> Array:
        """Compute the shares of deviations with 1 < ‖h/d‖/c ≤ 2, and with more: (…, 2).

        They are those of the law or, where it has more, of people who all deviate along one
        direction, as people do who differ in level alone. Of Gaussian deviations with Σ (spread/d)²
        given, these are beyond any radius from 1.24 of its root on more often than all others
        (Székely and Bakirov 2003, Probability Theory and Related Fields 126, 184–202).

        Arguments are those of `retained_share`.
        """

    def slope(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E ∂ψ_l/∂h_l: how much a clipped average moves when its centre does.

        Arguments are those of `retained_share`.
        """


@dataclass(frozen=True)
class ReferenceLaw(DeviationLaw):
    """A public sample of standardised deviations Z and of what moves them."""

    sample: Array  # (size of the sample, p): Z, each column of unit second moment
    # (size of the sample, p, p), optional: T of the same simulated curves: those that tell much of
    # a coefficient also deviate much in it, and are clipped more. None: T is the identity.
    slopes: Array | None = None
    is_mixed: bool = False  # whether E T is not the identity, so that `response` is needed
    # (p, p), optional: E T of visits on their planned days less E T: the stated law leaves open how
    # late they are
    doubt: Array | None = None

    @cached_property
    def absolute(self) -> Array:
        return np.abs(self.sample)

    @cached_property
    def squared(self) -> Array:
        return self.sample**2

    @property
    def mean_slopes(self) -> Array:
        if self.slopes is None:
            return np.eye(self.sample.shape[1])
        return np.asarray(self.slopes.mean(axis=0))

    @property
    def mean_absolute(self) -> Array:
        """E|Z_l|: (p,)."""
        return np.asarray(self.absolute.mean(axis=0))

    def retained_share(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E|ψ_l| / E|h_l| for h = spread · Z: the share of the size that clipping leaves."""
        factors = self._factors((spread / shape) ** 2, radius)[0]
        return np.asarray(factors @ self.absolute / self.absolute.sum(axis=0))

    def share_beyond(self, spread: Array, shape: Array, radius: Array) -> Array:
        ratio = (spread / shape) ** 2
        along_one = _shares_along_one(radius / np.sqrt(ratio.sum(axis=-1)))
        return np.asarray(np.maximum(_shares_beyond(self._factors(ratio, radius)[0]), along_one))

    def slope(self, spread: Array, shape: Array, radius: Array) -> Array:
        """Move of a clipped average when its centre moves, coefficient by coefficient.

        E[f T_ll − 1{f < 1} h_l (Σ_q h_q T_ql/d_q²)/‖h/d‖²] for f = min(1, c/‖h/d‖), as a share of
        E T_ll.
        """
        ratio = (spread / shape) ** 2
        factors, squared = self._factors(ratio, radius)
        clipped = np.where(factors < 1, factors / squared, 0.0)
        if self.slopes is None:
            lost = ratio * (clipped @ self.squared) / len(self.squared)
            return np.asarray(factors.mean(axis=-1, keepdims=True) - lost)
        diagonal = np.diagonal(self.slopes, axis1=1, axis2=2)
        rotated = (clipped @ self._turned).reshape(*spread.shape, -1)  # E of clipped Z_l Z_q T_ql
        lost = spread * (rotated @ (spread / shape**2)[..., None])[..., 0]
        moved = (factors @ diagonal - lost) / len(self.sample)
        mean = diagonal.mean(axis=0)
        return np.asarray(
            np.where(
                mean > _UNTOLD,
                moved / np.maximum(mean, _UNTOLD),
                factors.mean(axis=-1, keepdims=True),
            )
        )

    @cached_property
    def _turned(self) -> Array:
        """Z_l Z_q T_ql: (size of the sample, p · p)."""
        assert self.slopes is not None
        products = self.sample[:, :, None] * self.sample[:, None, :]
        return (products * self.slopes.swapaxes(1, 2)).reshape(len(self.sample), -1)

    def response(self, spread: Array, shape: Array, radius: Array) -> Array:
        """Compute the effect of a move of the centre on a clipped average: (…, p, p).

        E[f T − 1{f < 1} h (h/d²)'T/‖h/d‖²]; `slope` is its diagonal over that of E T.

        Arguments are those of `retained_share`.
        """
        assert self.slopes is not None
        n, p = self.sample.shape
        factors, squared = self._factors((spread / shape) ** 2, radius)
        clipped = np.where(factors < 1, factors / squared, 0.0).reshape(-1, n)
        passed = (factors @ self.slopes.reshape(n, -1)).reshape(-1, p, p)
        flat, pull = spread.reshape(-1, p), (spread / shape**2).reshape(-1, p)
        for first in range(0, len(flat), _TOGETHER):  # columns, so that arrays stay small
            some = slice(first, first + _TOGETHER)
            weighed = self.sample[:, None, :] * pull[some]  # (n, columns, q)
            pulled = clipped[some].T[..., None] * (weighed @ self.slopes)  # (n, columns, m)
            outward = np.tensordot(self.sample, pulled, axes=(0, 0))  # (l, columns, m)
            passed[some] -= flat[some, :, None] * outward.swapaxes(0, 1)
        return np.asarray(passed / n).reshape(*spread.shape, p)

    def _factors(self, ratio: Array, radius: Array) -> tuple[Array, Array]:
        """min(1, c/‖h/d‖) and ‖h/d‖² over the sample: (…, size of the sample) each."""
        squared = ratio @ self.squared.T
        return np.minimum(1.0, radius[..., None] / np.sqrt(squared)), squared


@lru_cache(maxsize=64)
def heavy_tailed(size: int) -> ReferenceLaw:
    """Return the reference law of p dimensions if curves differ in their deviations alone."""
    rng = np.random.default_rng(_SEED)
    normal = rng.standard_normal((_SAMPLE, size))
    sample = normal / np.sqrt(rng.chisquare(_DEGREES, (_SAMPLE, 1)) / _DEGREES)
    return ReferenceLaw(_standardised(sample))


@lru_cache(maxsize=256)
def of_observed_curves(basis: Basis, observations: int, design: Design) -> ReferenceLaw:
    """Simulate the law of the deviations of simulated curves, observed as the design states.

    Responses Σ_l l^{-1.5} z_l φ_l + e with standard normal z and e, times √(6/χ²₆) for each curve,
    at drawn times; T_i and t_i are formed from them as from data, and Z are the t_i. Derived in
    this project: curves that are observed at few times differ in T_i, which an elliptical law
    leaves out.

    An unknown design has times spread evenly and T_i = S_i.
    """
    rng = np.random.default_rng(_SEED)
    times = draw_times(design, _CURVES, observations, Stratified(rng))
    shape = Basis(max(basis.size, _SIMULATED), family=basis.family)
    weights = rng.standard_normal((_CURVES, shape.size)) * np.arange(1.0, shape.size + 1) ** -1.5
    values = np.einsum("nml,nl->nm", shape(times), weights) + rng.standard_normal(times.shape)
    values /= np.sqrt(rng.chisquare(_DEGREES, (_CURVES, 1)) / _DEGREES)
    counts = np.full(_CURVES, observations)
    moments = curve_moments(times.reshape(1, -1), values.reshape(1, -1), counts, basis)
    if design.is_known:
        ((_, curves),) = weighted_within_curves(moments, counts, {basis.size}, design)
    else:
        curves = plain(moments)
    slopes = np.moveaxis(curves.slopes[0], -1, 0).swapaxes(1, 2)  # (sample, p, p), T_lj
    doubt = None
    if design.law is TimeLaw.VISITS:
        doubt = _mean_slopes_on_planned_days(basis, observations, design) - slopes.mean(axis=0)
    return ReferenceLaw(_standardised(curves.targets[0].T), slopes, design != Design(), doubt)


def _mean_slopes_on_planned_days(basis: Basis, observations: int, design: Design) -> Array:
    """E T of people whose visits begin as the design states and are never late: (p, p)."""
    rng = Stratified(np.random.default_rng(_SEED))  # the starts of the late visits
    times = draw_times(design, _CURVES, observations, rng, late=0.0).reshape(1, -1)
    counts = np.full(_CURVES, observations)
    moments = curve_moments(times, np.zeros_like(times), counts, basis)
    ((_, curves),) = weighted_within_curves(moments, counts, {basis.size}, design)
    return np.asarray(curves.slopes[0].mean(axis=-1).T)


def is_mixed(law: DeviationLaw) -> TypeGuard[ReferenceLaw]:
    """True if E T is not the identity: a matrix, the law's `response`, then moves a centre."""
    return isinstance(law, ReferenceLaw) and law.is_mixed


def _shares_beyond(factors: Array) -> Array:
    """Shares of clipping factors (…, sample) below 1, and below a half: (…, 2)."""
    far = (factors < 0.5).mean(axis=-1)
    return np.stack([(factors < 1.0).mean(axis=-1) - far, far], axis=-1)


def _shares_along_one(radii: Array) -> Array:
    """Shares of normal people or of those with the law's tails, whichever are more: (…, 2).

    They deviate along one direction, with unit variance; radii are in standard deviations.
    """
    unit = math.sqrt(_DEGREES / (_DEGREES - 2))
    beyond, far = (
        2 * np.maximum(ndtr(-each), stdtr(_DEGREES, -unit * each)) for each in (radii, 2 * radii)
    )
    return np.stack([beyond - far, far], axis=-1)


def _standardised(sample: Array) -> Array:
    return np.asarray(sample / np.sqrt((sample**2).mean(axis=0)))


@dataclass(frozen=True)
class ProductLaw(DeviationLaw):
    """Deviations of a varying-coefficient model, h = wF ⊗ e, and their slopes wFF' ⊗ S.

    Its covariates are Gaussian with the mean and covariance of released second moments, moved into
    their public ranges; S and e are those of errors at times of the public design: curves with few
    observations differ much in S, and those that would move a location most are clipped most. Every
    entry of Z is scaled to unit second moment. An elliptical law in its place would make bands far
    too narrow. Arrays of p = K · r numbers are (repeats, columns, p).
    """

    # directions, regressors, each (repeats, columns, K, sample): wF and F
    directions: Array
    regressors: Array
    waves: Array  # (sample, r): e
    products: Array  # (sample, r, r): S

    @property
    def mean_slopes(self) -> Array:
        return np.eye(self.directions.shape[-2] * self.waves.shape[-1])

    @cached_property
    def _scale(self) -> Array:
        """One over the root mean square of every entry: (repeats, columns, K, r)."""
        return np.asarray(1 / np.sqrt(self.directions**2 @ self.waves**2 / len(self.waves)))

    @cached_property
    def mean_absolute(self) -> Array:
        mean = self._scale * self._sizes(1.0) / len(self.waves)
        return np.asarray(mean.reshape(*mean.shape[:2], -1))

    def retained_share(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E|ψ_l| / E|h_l|: the share of the size that clipping leaves."""
        factors = self._factors((spread / shape) ** 2, radius)[0]
        return np.asarray(
            (self._sizes(factors[..., None, :]) / self._sizes(1.0)).reshape(spread.shape)
        )

    def share_beyond(self, spread: Array, shape: Array, radius: Array) -> Array:
        ratio = (spread / shape) ** 2
        by_function = ratio.reshape(self._scale.shape) * self._scale**2
        size = by_function @ (self.waves**2).mean(axis=0)  # (repeats, columns, K)
        squared = (size[..., None, :] @ self.directions**2)[..., 0, :]
        along_one = _shares_along_one(radius[..., None] / np.sqrt(squared)).mean(axis=-2)
        return np.asarray(np.maximum(_shares_beyond(self._factors(ratio, radius)[0]), along_one))

    def slope(self, spread: Array, shape: Array, radius: Array) -> Array:
        """E[f wF_k² S_ll − 1{f < 1} f h_kl Σ_hm wF_h F_k S_ml h_hm/d_hm² /‖h/d‖²].

        Moving coefficient (k, l) moves deviation (h, m) by wF_hF_k S_ml, and people whose
        deviations move more are clipped more: the mean of f alone would be too large.
        """
        ratio = (spread / shape) ** 2
        factors, squared = self._factors(ratio, radius)
        diagonal = np.diagonal(self.products, axis1=-2, axis2=-1)
        weighted = factors[..., None, :] * self.directions * self.regressors
        moved = weighted @ diagonal / len(diagonal)
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


def of_regressors(
    moments: Array, regressor_map: RegressorMap, basis: Basis, readings: int, design: Design
) -> ProductLaw:
    """The law for released second moments of the regressors, the first of which is 1."""
    sample, products, covariates = _regression_sample(
        basis, readings, design, moments.shape[-1] - 1
    )
    mean = moments[..., 1:, 0] / moments[..., :1, 0]
    covariance = moments[..., 1:, 1:] - moments[..., 1:, :1] * mean[..., None, :]
    drawn = np.clip(matrix_root(covariance) @ covariates.T + mean[..., None], -1.0, 1.0)
    raw = np.concatenate([np.ones((*drawn.shape[:-2], 1, _SAMPLE)), drawn], axis=-2)
    directions, regressors = regressor_map.directions(raw), regressor_map.full @ raw
    average = directions @ regressors.swapaxes(-1, -2) / _SAMPLE
    average = average + 1e-6 * np.eye(average.shape[-1])  # also where all are the same
    left = np.linalg.inv(np.linalg.cholesky(average))
    return ProductLaw(left @ directions, left @ regressors, sample, products)


@lru_cache(maxsize=64)
def _regression_sample(
    basis: Basis, readings: int, design: Design, n_covariates: int
) -> tuple[Array, Array, Array]:
    """A fixed public sample: e (sample, r), T (sample, r, r) and normal covariates (sample, d).

    T is scaled to an average of 1 on the diagonal, as the sample is finite.
    """
    rng = np.random.default_rng(_SEED)
    covariates = rng.standard_normal((_SAMPLE, n_covariates))
    times = draw_times(design, _SAMPLE, readings, rng).reshape(1, -1)
    counts = np.full(_SAMPLE, readings)
    moments = curve_moments(times, rng.standard_normal(times.shape), counts, basis)
    ((_, curves),) = weighted_within_curves(moments, counts, {basis.size}, design)
    slopes = np.moveaxis(curves.slopes[0], -1, 0).swapaxes(1, 2)  # (sample, r, r)
    diagonal = np.diagonal(slopes, axis1=-2, axis2=-1).mean(axis=0)
    size = np.sqrt(np.maximum(diagonal, _UNTOLD))
    return curves.targets[0].T, slopes / np.outer(size, size), covariates
