"""Moments of a normal reading Y = f + σξ that is clipped, to [−τ, τ] mostly, in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from engine.core.arrays import Array


def normal_density(z: Array) -> Array:
    """The standard normal density ϕ."""
    return np.asarray(np.exp(-(np.asarray(z) ** 2) / 2) / np.sqrt(2 * np.pi))


def excess(t: Array) -> Array:
    """H(t) = E max(ξ − t, 0) = ϕ(t) − t(1 − Φ(t)) of a standard normal ξ."""
    return np.asarray(normal_density(t) - t * ndtr(-np.asarray(t)))


def worst_bias(clip: Array, bound: float, sigma: float) -> Array:
    """b(τ) = σ H((τ − B)/σ), above |E[Y]_τ − f| for every |f| ≤ B, in response units.

    E[Y]_τ − f = σ{H((τ + f)/σ) − H((τ − f)/σ)}: its size grows with |f|, and H > 0.
    """
    return np.asarray(sigma * excess((np.asarray(clip) - bound) / sigma))


def clipped_mean(curve: Array, clip: float, sigma: float) -> Array:
    """Compute the clipped mean E[Y]_τ for every value of f, in response units."""
    return np.asarray(
        curve + sigma * (excess((clip + curve) / sigma) - excess((clip - curve) / sigma))
    )


def clipped_square(curve: Array, clip: float, sigma: float) -> Array:
    """Compute the clipped second moment E[Y]_τ² for every value of f, in squared response units."""
    low, high = (-clip - curve) / sigma, (clip - curve) / sigma
    inside = ndtr(high) - ndtr(low)
    first, last = normal_density(low), normal_density(high)
    return np.asarray(
        (curve**2 + sigma**2) * inside
        + 2 * curve * sigma * (first - last)
        + sigma**2 * (low * first - high * last)
        + clip**2 * (1 - inside)
    )


def unclipped(mean: Array, clip: float, bound: float, sigma: float) -> Array:
    """The f whose clipped mean is `mean`, held within [−B, B].

    The clipped mean rises with f, so a fine table of it, read backwards, is its inverse.

    Examples
    --------
    >>> mean = clipped_mean(np.array([0.5]), clip=1.0, sigma=0.3)
    >>> unclipped(mean, clip=1.0, bound=1.0, sigma=0.3).round(5).tolist()
    [0.5]
    """
    curve = bound * np.linspace(-1.0, 1.0, 4001)
    return np.interp(mean, clipped_mean(curve, clip, sigma), curve)


def share_within(width: Array | float) -> Array:
    """P(|ξ| ≤ κ) of a standard normal ξ: how much a clipped mean moves when its centre does."""
    return np.asarray(2 * ndtr(width) - 1)


def clipped_variance(width: Array | float) -> Array:
    """E[ξ]_κ² of a standard normal ξ that is clipped to ±κ."""
    width = np.asarray(width)
    within = share_within(width)
    return np.asarray(within - 2 * width * normal_density(width) + width**2 * (1 - within))


def clipped_size(spread: Array | float) -> Array:
    """E min(|sξ|, 1) of a standard normal ξ: the average size of residuals clipped at one.

    It rises with s, between 0 and 1.
    """
    width = 1 / np.asarray(spread)
    inside = 2 * np.asarray(spread) * (normal_density(np.zeros(())) - normal_density(width))
    return np.asarray(inside + 2 * ndtr(-width))


def spread_of_clipped(size: Array) -> Array:
    """Find the s whose `clipped_size` is given, between 1/1000 and 100, in units of the clip.

    Noise may have moved the sizes out of their range.

    Examples
    --------
    >>> spread_of_clipped(clipped_size(np.array([0.25, 2.0]))).round(4).tolist()
    [0.25, 2.0]
    """
    spread = np.geomspace(1e-3, 100.0, 4001)
    return np.exp(np.interp(size, clipped_size(spread), np.log(spread)))


def cut_off(mean: Array, sd: Array | float, low: float, high: float) -> Array:
    """Compute how bounds move the mean μ of a normal variable, E min(max(X, a), b) − E X: (…).

    With z the distance from the mean to a bound in standard deviations, E max(a − X, 0) is
    σ (φ(z) − zΦ(−z)) for z = (μ − a)/σ, and likewise above.

    Examples
    --------
    >>> cut_off(np.array([0.0]), 1.0, 0.0, 40.0).round(4).tolist()  # 1/√(2π)
    [0.3989]
    """
    return np.asarray(sd * (excess((mean - low) / sd) - excess((high - mean) / sd)))
