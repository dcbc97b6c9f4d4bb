"""The study as it is written down in the paper: a loop over curves and rounds.

Kept as the slow yardstick of the benchmarks and as an independent check of the fast kernels: it
shares no numerical code with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from engine.core.types import Array, Budget
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean


def fourier(times: Array, size: int) -> Array:
    columns = [np.ones_like(times)]
    for k in range(1, size):
        wave = np.cos if k % 2 else np.sin
        columns.append(math.sqrt(2) * wave(2 * math.pi * ((k + 1) // 2) * times))
    return np.stack(columns, axis=-1)


def draw_curve(
    mean: Callable[[Array], Array],
    covariance: Callable[..., Array],
    m: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    times = rng.random(m)
    kernel = covariance(times[:, None] - times, 4.0, 0.8, 0.5) + 1e-10 * np.eye(m)
    path = np.linalg.cholesky(kernel) @ rng.standard_normal(m)
    return times, mean(times) + path + 0.5 * rng.standard_normal(m)


def algorithm_1(
    curves: list[tuple[Array, Array]],
    size: int,
    mechanism: NoisyGradientMean,
    budget: Budget,
    normals: Array,
) -> Array:
    """Algorithm 1 with published constants, line by line; `normals` (rounds, size)."""
    n, m = len(curves), len(curves[0][0])
    rounds = len(normals)
    b = n // rounds
    radii = np.array(
        [
            mechanism.radius_constant
            * (
                math.sqrt(math.log(n / mechanism.failure_probability) ** mechanism.log_power / m)
                + level**-mechanism.smoothness
            )
            for level in range(1, size + 1)
        ]
    )
    sigma = np.sqrt(
        16 * math.log(2 / budget.delta) * radii * radii.sum() / (b * budget.epsilon) ** 2
    )
    a = np.zeros(size)
    for t in range(rounds):
        total = np.zeros(size)
        for times, values in curves[t * b : (t + 1) * b]:
            gradient = np.zeros(size)
            for time, value in zip(times, values, strict=True):
                phi = fourier(np.array(time), size)
                gradient += phi * (phi @ a - value) / m
            total += np.clip(gradient, -radii, radii)
        a = a - mechanism.step_size * (total / b + sigma * normals[t])
    return a


def study(
    mean: Callable[[Array], Array],
    covariance: Callable[..., Array],
    n: int,
    m: int,
    size: int,
    mechanism: NoisyGradientMean,
    budget: Budget,
    rng: np.random.Generator,
) -> Array:
    """One replicate: simulate curve by curve, then run the algorithm curve by curve."""
    curves = [draw_curve(mean, covariance, m, rng) for _ in range(n)]
    rounds = math.ceil(mechanism.iterations_constant * math.log(n))
    return algorithm_1(curves, size, mechanism, budget, rng.standard_normal((rounds, size)))
