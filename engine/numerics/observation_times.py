"""Observation times drawn from a stated design, for simulated people and for public averages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from engine.arrays import Array
from engine.errors import InputError
from engine.numerics.public_curves import PublicCurve
from engine.types import Design, TimeLaw

JITTER = 0.2  # how much later than planned a visit can be, in gaps


class Uniforms(Protocol):
    """Where uniform numbers come from."""

    def random(self, shape: tuple[int, int]) -> Array: ...


@dataclass(frozen=True)
class Stratified:
    """Uniform numbers of which each column is spread evenly (a Latin hypercube).

    Averages over simulated curves are far closer to what they stand for than with independent ones.
    """

    rng: np.random.Generator

    def random(self, shape: tuple[int, int]) -> Array:
        ranks = np.broadcast_to(np.arange(shape[0])[:, None], shape)
        return (self.rng.permuted(ranks, axis=0) + self.rng.random(shape)) / shape[0]


def draw_times(design: Design, curves: int, observations: int, rng: Uniforms) -> Array:
    """Times of simulated curves of a stated design.

    Parameters
    ----------
    design : Design
        Where nothing is known of it, times are spread evenly.
    curves, observations : int
        How many curves, and observations of each. Of common times each curve has that many, drawn
        without replacement; more than there are repeat them.

    Returns
    -------
    Array (curves, observations), on [0, 1].
    """
    if design.law is TimeLaw.COMMON:
        ranks = rng.random((curves, len(design.times))).argsort(axis=1)
        return np.asarray(np.array(design.times)[ranks[:, np.arange(observations) % len(ranks.T)]])
    if design.law is TimeLaw.VISITS:
        # A person may have more visits than fit: how many is private, so that is no reason to stop.
        widest = 0.999 / (observations - 1 + JITTER)
        return visit_times(curves, observations, min(design.gap, widest), rng)
    if design.law is TimeLaw.WINDOWS:
        start = (1 - design.window) * rng.random((curves, 1))
        return np.asarray(start + design.window * rng.random((curves, observations)))
    uniform = rng.random((curves, observations))
    density = stated_density(design)
    return uniform if density is None else density.quantile(uniform)


@lru_cache(maxsize=64)
def stated_density(design: Design) -> PublicCurve | None:
    """The density of independent times, where one is stated.

    Raises
    ------
    InputError
        If a height is negative, or all are zero.
    """
    if design.law is not TimeLaw.INDEPENDENT or not design.density:
        return None
    heights = design.density if len(design.density) > 1 else design.density * 2
    return PublicCurve(heights).as_density("density")


def visits_span(observations: int, gap: float) -> float:
    """How much of [0, 1] one curve's visits can take up."""
    return gap * (observations - 1 + JITTER)


def visit_times(curves: int, observations: int, gap: float, rng: Uniforms) -> Array:
    """Times of every curve on [0, 1], `gap` apart: (curves, observations), increasing.

    The first visit is spread evenly over where all visits lie inside; each comes later than
    planned by up to a fifth of the gap, evenly.

    Raises
    ------
    InputError
        If so many visits do not fit.
    """
    room = 1 - visits_span(observations, gap)
    if room < 0:
        raise InputError(f"{observations} observations at this distance do not fit into the time "
                         "range.", field="visit_gap",
                         hint="Take fewer observations, or state a shorter gap.")
    start = room * rng.random((curves, 1))
    late = JITTER * rng.random((curves, observations))
    return np.asarray(start + gap * (np.arange(observations) + late))
