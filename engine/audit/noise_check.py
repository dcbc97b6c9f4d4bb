"""Whether noise is as large as it is said to be, and drawn anew for every message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from engine.audit.replay import MATRIX, Message, Run, run
from engine.core.arrays import Indices
from engine.core.types import Array, Budget, Data, Step


def noise_fault(mechanism: Any, data: Data, budget: Budget, seed: int, first_run: Run) -> str:
    """Say what is wrong with the noise of repeated runs; empty if nothing is.

    A run is made again with the same data and answers and another seed: what differs is noise,
    which must have the size that it is said to have, as a whole and in every number, within what
    chance allows, and be drawn anew for every message. Noise that decides a choice, or is drawn as
    one sum, does not show; the black box sees its effect.
    """
    second_run = run(mechanism, data, budget, seed + 1, first_run.answers)
    noises = [*_between(mechanism, first_run, second_run), *first_run.added]
    for step, noise in noises:
        if _is_small(noise**2) or _is_small_somewhere(noise**2):
            return f"the noise of “{step.label}” is smaller than it is said to be"
    for k, (_, first) in enumerate(noises):
        for _, second in noises[:k]:
            if first.shape == second.shape and _is_same(first, second):
                return "the same noise is used twice"
    return ""


def _is_small(squares: Array) -> bool:
    """Whether unit noise is too small as a whole, from its squares (repeats, numbers)."""
    means = _means(squares)
    error = means.std() / math.sqrt(len(means))
    return bool(means.mean() < 1 - max(_beyond_chance(len(means)) * error, 1e-9))


def _is_small_somewhere(squares: Array) -> bool:
    """Whether it is in any of its numbers: larger noise elsewhere does not make up for it.

    Squares of Laplace noise scatter most of all: by the root of 5.
    """
    counts = np.isfinite(squares).sum(axis=0)
    least = 1 - 5 * np.sqrt(5 / np.maximum(counts, 1))
    return bool((_means(squares.T) < least[counts > 0]).any())


def _between(mechanism: Any, first: Run, second: Run) -> list[tuple[Step, Array]]:
    """Unit noise of every message that is sent as it is, from two runs that differ in it alone."""
    noises = [(message.step, _standardised(mechanism, message, second.messages[key]))
             for key, message in first.messages.items()
             if message.law is None and key in second.messages]
    return [(step, noise) for step, noise in noises if noise is not None]


def _means(each: Array) -> Array:
    """Means (repeats,) of what is known of (repeats, numbers), where there is anything."""
    known = np.isfinite(each)
    counts = known.sum(axis=1)
    return np.asarray(np.where(known, each, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0])


def _standardised(mechanism: Any, first: Message, second: Message) -> Array | None:
    """Noise of unit size, (repeats, numbers)."""
    spread = math.sqrt(2) * first.noise[:, :1]
    units = mechanism.in_units_of_noise(first.values[:, :1] - second.values[:, :1], spread)
    if spread.ndim == MATRIX and spread.shape[-1] == spread.shape[-2]:
        row, column = np.triu_indices(spread.shape[-1])
        units, spread = _once(units, row, column), spread[..., row, column]
    has_noise = (spread.reshape(len(spread), -1) > 0).all(axis=0)
    return np.asarray(units.reshape(len(units), -1)[:, has_noise]) if has_noise.any() else None


def _once(units: Array, row: Indices, column: Indices) -> Array:
    """Symmetric matrices (…, p, p) in units of noise, at and above the diagonal: (…, numbers).

    What is beside the diagonal is there twice. Its two entries are one number, whose size is that
    of both together.
    """
    above, below = units[..., row, column], units[..., column, row]
    return np.copysign(np.hypot(above, np.where(row == column, 0.0, below)), above)


def _is_same(first: Array, second: Array) -> bool:
    """Whether two draws of unit noise go together, beyond chance and more than a little."""
    products = _means(first * second)
    if not len(products):
        return False
    error = products.std() / math.sqrt(len(products))
    return bool(abs(products.mean()) > max(_beyond_chance(len(products)) * error, 0.2))


def _beyond_chance(repeats: int) -> float:
    """Five standard errors, and more where a few repeats must tell how large one is."""
    return float(stdtrit(max(repeats - 1, 1), ndtr(5.0)))
