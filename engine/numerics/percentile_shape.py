"""Law of observations from released shares: departure, asymmetry, and spread.

Of normal observations the probits of the shares lie on a straight line over the thresholds at every
time, wherever these are placed; of slightly skewed ones on a parabola, which straight lines between
nine thresholds follow to a hundredth. At each time a parabola in the expected probits is fitted to
the released ones by generalised least squares. Nothing here sees data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from engine.core.arrays import Array
from engine.numerics.clipping.normal_readings import normal_density
from engine.numerics.percentile_surface import MIN_SHARE, ShareSurface

_RIDGE = 1e-9  # of the trace of a covariance, so that it can be inverted


@dataclass(frozen=True)
class ShapeOfShares:
    """Shape of the law of observations, from released shares."""

    # (…): weighted sum of squares about the parabola that fits best, over its degrees of freedom,
    # averaged over time: about 1 or less of normal and of slightly skewed observations
    departure: Array
    # (…): the coefficient of the square, averaged over time: about a sixth of the skewness,
    # negative where the upper tail is longer
    curvature: Array
    # (…): the same in its standard errors: about standard normal of normal observations
    asymmetry: Array


def shape_of_shares(surface: ShareSurface, n_thresholds: int) -> ShapeOfShares:
    """Fit a parabola through the probits of the first thresholds, at least four."""
    n = n_thresholds
    shares = np.clip(surface.shares(surface.unshrunk), MIN_SHARE, 1 - MIN_SHARE)
    probits = ndtri(shares[..., :n, :]).swapaxes(-1, -2)  # (…, G, n)
    scores = np.broadcast_to(ndtri(surface.expected[..., :n, :]).swapaxes(-1, -2), probits.shape)
    densities = normal_density(probits)
    covariance = surface.covariance_of_shares[..., :n, :n] / (
        densities[..., :, None] * densities[..., None, :]
    )
    trace = np.trace(covariance, axis1=-2, axis2=-1)[..., None, None]
    covariance = covariance + np.maximum(_RIDGE * trace, _RIDGE**2) * np.eye(n)
    powers = np.stack([np.ones_like(scores), scores, scores**2], axis=-1)  # (…, G, n, 3)
    weighted = np.linalg.solve(covariance, powers)
    parabola = _fit(powers, weighted)  # (…, G, 3, n): what each probit adds to it
    rest = probits - (powers @ (parabola @ probits[..., None]))[..., 0]
    squares = (rest * np.linalg.solve(covariance, rest[..., None])[..., 0]).sum(axis=-1)
    curvature = parabola[..., 2, :]
    average = np.asarray((curvature * probits).sum(axis=-1).mean(axis=-1))
    error = _error_of_average(surface, curvature / densities)
    return ShapeOfShares(
        np.asarray(squares.mean(axis=-1) / (n - 3)),
        average,
        np.asarray(average / np.maximum(error, 1e-300)),
    )


def log_spread(surface: ShareSurface, n_thresholds: int) -> tuple[Array, Array]:
    """Estimate the log of the spread of observations in the basis functions of the shares.

    Where the spread is larger than released by a share x, a normal law has shares below thresholds
    at the score z that are off by −z φ(z) x. The x that fits the first thresholds best, by
    generalised least squares with the average errors over time, is added to the released spread.

    It uses the first `n_thresholds` thresholds. Returns coefficients (…, r), of the logarithm of
    the spread over its average, and their covariance.
    """
    n, size, r = n_thresholds, surface.rotation.shape[-1], surface.waves.shape[1]
    scores = ndtri(surface.expected[..., :n, :]).mean(axis=-1)
    response = -scores * normal_density(scores)
    errors = surface.covariance_of_shares[..., :n, :n].mean(axis=-3)
    trace = np.trace(errors, axis1=-2, axis2=-1)[..., None, None]
    weights = np.linalg.solve(
        errors + np.maximum(_RIDGE * trace, _RIDGE**2) * np.eye(n), response[..., None]
    )[..., 0]
    weights = weights / (weights * response).sum(axis=-1, keepdims=True)
    by_row = (weights[..., None, :] @ surface.rotation[..., :n, :])[..., 0, :]  # (…, K)
    blocks = surface.covariance.reshape(*by_row.shape[:-1], size, r, size, r)
    covariance = np.einsum("...j,...jlkm,...k->...lm", by_row, blocks, by_row, optimize=True)
    average = surface.spread.mean(axis=-1, keepdims=True)
    placed = np.log(surface.spread / average) @ surface.waves / len(surface.waves)
    return (
        np.asarray((by_row[..., None, :] @ surface.unshrunk)[..., 0, :] + placed),
        np.asarray(covariance),
    )


def _fit(powers: Array, weighted: Array) -> Array:
    """Compute the contribution of each probit to the coefficients of a fit: (…, G, powers, n)."""
    transposed = weighted.swapaxes(-1, -2)
    return np.asarray(np.linalg.solve(transposed @ powers, transposed))


def _error_of_average(surface: ShareSurface, of_shares: Array) -> Array:
    """Standard error (…) of an average over time that is linear in the first shares.

    `of_shares` (…, G, n) is what each share adds at each time.
    """
    by_row = of_shares @ surface.rotation[..., : of_shares.shape[-1], :]  # (…, G, K)
    gradient = (by_row.swapaxes(-1, -2) @ surface.waves) / len(surface.waves)  # (…, K, r)
    gradient = gradient.reshape(*gradient.shape[:-2], 1, -1)
    variance = gradient @ surface.covariance @ gradient.swapaxes(-1, -2)
    return np.asarray(np.sqrt(np.maximum(variance[..., 0, 0], 0.0)))
