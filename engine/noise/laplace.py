"""Noise that gives pure privacy: independent Laplace coordinates, or one draw by its norm."""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array


def laplace(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Independent Laplace variables of scale 1 (variance 2).

    Parameters
    ----------
    rng : Generator
        Where they are drawn from.

    Returns
    -------
    ndarray
        Times Δ₁/ε they give ε with δ = 0 to numbers that one record moves by Δ₁ in sum of sizes.
    """
    return rng.laplace(size=shape)


def by_norm(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Vectors with density proportional to exp(−‖z‖₂), the K-norm law for ℓ2.

    The length is Gamma(r, 1) and the direction uniform, so E‖z‖² = r(r + 1).

    Parameters
    ----------
    shape : (…, r)
        Of the result; vectors lie along the last axis.
    rng : Generator
        Where they are drawn from.

    Returns
    -------
    (…, r)
        Times Δ₂/ε, added to a vector that one record moves by Δ₂ in Euclidean norm, they give ε
        with δ = 0.

    References
    ----------
    Hardt and Talwar (2010), On the geometry of differential privacy.
    """
    direction = rng.standard_normal(shape)
    length = rng.standard_gamma(shape[-1], size=(*shape[:-1], 1))
    return np.asarray(direction * (length / np.linalg.norm(direction, axis=-1, keepdims=True)))
