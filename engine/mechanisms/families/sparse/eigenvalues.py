"""Largest and smallest variance of x'v over sparse unit vectors v, and the bias bound they enter.

The paper adds a worst-case bound on what is left of the bias to its intervals. Its constant is
taken as one there without proof, and at sizes of practice the bound is hundreds of times the
interval, so that it is off unless asked for ("conservative"). It needs the restricted eigenvalues
μ_s and ν_s, which follow from a released Gram matrix at no cost. The paper's way, the extreme of
many random directions with Laplace noise, finds neither, because random sparse directions are all
alike.

The step of hard thresholding must stay below 2/μ, μ being the largest variance of x'v over unit
vectors v with 2s entries, or it diverges. Its bound by public clips alone, 2s c², would make steps
a hundred times too short; the largest eigenvalue of all, which noise hides as cheaply, ten times
where features are correlated. `row_sum` is a bound of μ that one number releases.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 5 and 6, Lemma 4.2 and Theorem 5. The
bound for steps was derived for this project.
"""

from __future__ import annotations

import math

import numpy as np

from engine.core.arrays import largest
from engine.core.types import Array

_MIN = 0.1  # no smallest eigenvalue is taken to be lower


def on_supports(gram: Array, vectors: Array, s: int) -> tuple[Array, Array]:
    """Extreme eigenvalues (…) of released matrices on the s largest entries: post-processing.

    The smallest are held to 0.1.
    """
    where = largest(np.abs(vectors), s)
    rows = np.take_along_axis(gram, where[..., None], axis=-2)
    inner = np.take_along_axis(rows, where[..., None, :], axis=-1)
    values = np.linalg.eigvalsh(inner)
    return np.asarray(values[..., -1]), np.maximum(values[..., 0], _MIN)


def row_sum(gram: Array, q: int) -> Array:
    """Find the largest sum of q absolute values in a row of A (…, d, d): (…).

    At least v'Av for every unit vector v with q entries, at places S: v'Av is at most the largest
    eigenvalue of A on S, and that at most the largest row sum of |A| on S (Gershgorin).

    Examples
    --------
    >>> float(row_sum(np.array([[1.0, -0.5, 0.2], [-0.5, 1.0, 0.0], [0.2, 0.0, 1.0]]), 2))
    1.5
    """
    largest_of_row = np.partition(np.abs(gram), -q, axis=-1)[..., -q:]
    return np.asarray(largest_of_row.sum(axis=-1).max(axis=-1))


def row_sum_sensitivity(q: int, feature: float, norm: float, n: int) -> float:
    """2c min(√q B, qc)/N, the most that one row moves `row_sum` of the average of xx'.

    x_j x_k becomes z_j z_k, so that a sum of q absolute values in row j moves by at most
    (|x_j| Σ|x_k| + |z_j| Σ|z_k|)/N over q places k, and Σ|x_k| ≤ min(√q ‖x‖, qc) with |x_j| ≤ c and
    ‖x‖ ≤ B. The largest of such sums moves by no more than the one that moves most.

    c (`feature`) and B (`norm`) hold entries of a row of data and its norm.
    """
    return 2 * feature * min(math.sqrt(q) * norm, q * feature) / n


def bias_factor(largest: Array, smallest: Array) -> Array:
    """γ (μ/ν)², γ = max(μ(9μ + 1/4), 17μ/16 + 1/96): the bound's part in eigenvalues μ and ν."""
    gamma = np.maximum(largest * (9 * largest + 1 / 4), 17 / 16 * largest + 1 / 96)
    return np.asarray(gamma * (largest / smallest) ** 2)


def bias_unit(s: int, size: int, n: int, epsilon: float, delta: float) -> float:
    """s² log²d log(1/δ) log³N/(Nε)², the rest of the bound for s, d, N; 0 at ε = ∞."""
    if math.isinf(epsilon):
        return 0.0
    logs = math.log(size) ** 2 * math.log(1 / delta) * math.log(n) ** 3
    return s**2 * logs / (n * epsilon) ** 2
