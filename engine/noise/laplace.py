"""Noise that gives pure privacy: independent Laplace coordinates, or one draw by its norm."""

from __future__ import annotations

import numpy as np

from engine.arrays import Array


def laplace(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Independent Laplace variables of scale 1 (variance 2)."""
    return rng.laplace(size=shape)


def by_norm(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Vectors on the last axis with density proportional to exp(−‖z‖₂), the K-norm law for ℓ2.

    The length is Gamma(r, 1) and the direction uniform, so E‖z‖² = r(r + 1).
    """
    direction = rng.standard_normal(shape)
    length = rng.standard_gamma(shape[-1], size=(*shape[:-1], 1))
    return np.asarray(direction * (length / np.linalg.norm(direction, axis=-1, keepdims=True)))
