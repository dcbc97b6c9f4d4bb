"""Largest and smallest variance of x'v over sparse unit vectors v, and the bias bound they enter.

The paper adds a worst-case bound on what is left of the bias to its intervals. Its constant is
taken as one there without proof, and at sizes of practice the bound is hundreds of times the
interval, so that it is off unless asked for ("conservative"). It needs the restricted eigenvalues
μ_s and ν_s, which follow from a released Gram matrix at no cost. The paper's way, the extreme of
many random directions with Laplace noise, finds neither, because random sparse directions are all
alike.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 5 and 6, Lemma 4.2 and Theorem 5.
"""

from __future__ import annotations

import math

import numpy as np

from engine.noise.selection import largest
from engine.types import Array

_LEAST = 0.1  # no smallest eigenvalue is taken to be lower


def on_supports(gram: Array, vectors: Array, s: int) -> tuple[Array, Array]:
    """Largest and smallest eigenvalue of released matrices (…, d, d) on the s largest entries.

    `vectors` (…, d) are released, too: post-processing. Smallest ones are held to 0.1.
    """
    where = largest(np.abs(vectors), s)
    rows = np.take_along_axis(gram, where[..., None], axis=-2)
    inner = np.take_along_axis(rows, where[..., None, :], axis=-1)
    values = np.linalg.eigvalsh(inner)
    return np.asarray(values[..., -1]), np.maximum(values[..., 0], _LEAST)


def bias_factor(most: Array, least: Array) -> Array:
    """γ (μ/ν)², γ = max(μ(9μ + 1/4), 17μ/16 + 1/96): of the bound, what depends on eigenvalues."""
    gamma = np.maximum(most * (9 * most + 1 / 4), 17 / 16 * most + 1 / 96)
    return np.asarray(gamma * (most / least) ** 2)


def bias_unit(s: int, size: int, n: int, epsilon: float, delta: float) -> float:
    """s² log²d log(1/δ) log³N/(Nε)²: the rest of the bound; 0 at ε = ∞."""
    if math.isinf(epsilon):
        return 0.0
    logs = math.log(size) ** 2 * math.log(1 / delta) * math.log(n) ** 3
    return s**2 * logs / (n * epsilon) ** 2
