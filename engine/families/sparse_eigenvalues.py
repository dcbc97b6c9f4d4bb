"""Largest and smallest variance of x'v over sparse unit vectors v, and the bias bound they enter.

The paper adds a worst-case bound on what is left of the bias to its intervals. Its constant is
taken as one there without proof, and at sizes of practice the bound is hundreds of times the
interval, so that it is off unless asked for ("conservative"). It needs the restricted eigenvalues
μ_s and ν_s. What follows from a released Gram matrix costs nothing; the paper's way, the extreme of
many random directions with Laplace noise, finds neither, because random sparse directions are all
alike, and is here for comparison.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 5 and 6, Lemma 4.2 and Theorem 5.
"""

from __future__ import annotations

import math

import numpy as np

from engine.noise.laplace import laplace
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


# -- the paper's way ------------------------------------------------------------------------------


def random_directions(s: int, size: int, count: int, rng: np.random.Generator) -> Array:
    """Unit vectors with s entries at random places: (count, size)."""
    where = np.argsort(rng.random((count, size)), axis=1)[:, :s]
    vectors = np.zeros((count, size))
    np.put_along_axis(vectors, where, rng.standard_normal((count, s)), axis=1)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def sensitivity(s: int, feature: float, n: int) -> float:
    """S c²/N, by which a row moves an average of (x'v)²: it lies in [0, s c²/N]."""
    return s * feature**2 / n


def printed_scale(s: int, feature: float, per_machine: int, epsilon: float) -> float:
    """2B₃/ε with B₃ = 2s c²/n: 2m times the sensitivity, because of its n for N and its 2."""
    return 2 * (2 * s * feature**2 / per_machine) / epsilon


def noisy_extreme(averages: Array, most: float, choice: float, value: float, is_largest: bool,
                  rng: np.random.Generator) -> Array:
    """The noisy value (…,) at the noisy argmax or argmin of averages (…, K) that move by `most`.

    The choice, with noise Lap(2·most/choice), costs ε = `choice`; the value, with fresh noise
    Lap(most/value), ε = `value`. The other end costs as much again.
    """
    signed = averages if is_largest else -averages
    where = (signed + 2 * most / choice * laplace(averages.shape, rng)).argmax(axis=-1)
    chosen = np.take_along_axis(averages, where[..., None], axis=-1)[..., 0]
    return np.asarray(chosen + most / value * laplace(chosen.shape, rng))
