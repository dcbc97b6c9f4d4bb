"""Whether noise is as large as it is said to be, and drawn anew for every message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from engine.audit.replay import MATRIX, Heard, Run, run
from engine.types import Array, Budget, Data


def noise_fault(mechanism: Any, data: Data, budget: Budget, seed: int,
                rng: np.random.Generator) -> str:
    """In words, what is wrong with the noise of repeated runs; empty if nothing is.

    The same data and answers with another seed: what differs is noise, which must have the size
    that it is said to have, within what chance allows, and be drawn anew for every message. Noise
    that decides a choice, or is drawn as one sum, does not show; the black box sees its effect.
    """
    one = run(mechanism, data, budget, seed, rng=rng)
    other = run(mechanism, data, budget, seed + 1, one.answers)
    noises = [*_between(one, other), *one.added]
    for step, noise in noises:
        squares = _means(noise**2)
        error = squares.std() / math.sqrt(len(squares))
        if squares.mean() < 1 - max(_beyond_chance(len(squares)) * error, 1e-9):
            return f"the noise of “{step}” is smaller than it is said to be"
    for k, (_, first) in enumerate(noises):
        for _, second in noises[:k]:
            if first.shape == second.shape and _is_same(first, second):
                return "the same noise is used twice"
    return ""


def _between(one: Run, other: Run) -> list[tuple[str, Array]]:
    """Unit noise of every message that is sent as it is, from two runs that differ in it alone."""
    found = [(message.step, _standardised(message, other.heard[key]))
             for key, message in one.heard.items()
             if message.law is None and key in other.heard]
    return [(step, noise) for step, noise in found if noise is not None]


def _means(each: Array) -> Array:
    """Means (repeats,) of what is known of (repeats, numbers), where there is anything."""
    known = np.isfinite(each)
    counts = known.sum(axis=1)
    return np.asarray(np.where(known, each, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0])


def _standardised(one: Heard, other: Heard) -> Array | None:
    """Noise of unit size, (repeats, numbers); of symmetric matrices the diagonal alone."""
    values, spread = one.values[:, 0] - other.values[:, 0], one.noise[:, 0]
    if values.ndim == MATRIX - 1 and values.shape[-1] == values.shape[-2]:
        values, spread = (np.diagonal(a, axis1=-2, axis2=-1) for a in (values, spread))
    values, spread = (a.reshape(len(a), -1) for a in (values, spread))
    has_noise = (spread > 0).all(axis=0)
    if not has_noise.any():
        return None
    return np.asarray(values[:, has_noise] / (math.sqrt(2) * spread[:, has_noise]))


def _is_same(one: Array, other: Array) -> bool:
    """Whether two draws of unit noise go together, beyond chance and more than a little."""
    products = _means(one * other)
    if not len(products):
        return False
    error = products.std() / math.sqrt(len(products))
    return bool(abs(products.mean()) > max(_beyond_chance(len(products)) * error, 0.2))


def _beyond_chance(repeats: int) -> float:
    """Five standard errors, and more where a few repeats must tell how large one is."""
    return float(stdtrit(max(repeats - 1, 1), ndtr(5.0)))
