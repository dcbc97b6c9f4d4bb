"""Observation times drawn from a stated design, for simulated people and for public averages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.types import Design, TimeLaw
from engine.numerics.public_curves import PublicCurve

JITTER = 0.2  # how much later than planned a visit can be, in gaps


class Uniforms(Protocol):
    """Source of uniform numbers."""

    def random(self, shape: tuple[int, int]) -> Array: ...


@dataclass(frozen=True)
class Stratified:
    """Uniform numbers of which each column is spread evenly (a Latin hypercube).

    Averages over simulated curves are far closer to what they stand for than with independent ones.
    """

    rng: np.random.Generator

    def random(self, shape: tuple[int, int]) -> Array:
        """Draw uniform numbers, each column with one in every 1/n-th of [0, 1): (n, columns)."""
        ranks = np.broadcast_to(np.arange(shape[0])[:, None], shape)
        return (self.rng.permuted(ranks, axis=0) + self.rng.random(shape)) / shape[0]


def draw_times(
    design: Design, curves: int, observations: int, rng: Uniforms, late: float = JITTER
) -> Array:
    """Times of simulated curves of a stated design: (curves, observations), on [0, 1].

    Evenly spread if nothing is known. Of common times each curve has that many, drawn without
    replacement; more than there are repeat them. A visit is up to `late` gaps later than planned.
    """
    if design.law is TimeLaw.COMMON:
        # (curves, times): every curve has the common times in an order of its own
        ranks = rng.random((curves, len(design.times))).argsort(axis=1)
        return np.asarray(np.array(design.times)[ranks[:, np.arange(observations) % len(ranks.T)]])
    if design.law is TimeLaw.VISITS:
        # A person may have more visits than fit: how many is private, so that is no reason to stop.
        widest = 0.999 / (observations - 1 + JITTER)
        return visit_times(curves, observations, min(design.gap, widest), rng, late)
    if design.law is TimeLaw.WINDOWS:
        start = (1 - design.window) * rng.random((curves, 1))
        return np.asarray(start + design.window * rng.random((curves, observations)))
    uniform = rng.random((curves, observations))
    density = stated_density(design)
    return uniform if density is None else density.quantile(uniform)


@lru_cache(maxsize=64)
def stated_density(design: Design) -> PublicCurve | None:
    """The density of independent times, with integral one; None if none is stated."""
    if design.law is not TimeLaw.INDEPENDENT or not design.density:
        return None
    heights = design.density if len(design.density) > 1 else design.density * 2
    return PublicCurve(heights).as_density("density")


def visits_span(observations: int, gap: float) -> float:
    """Bound the part of [0, 1] that one curve's visits span, `gap` apart as a share of it."""
    return gap * (observations - 1 + JITTER)


def visit_times(
    curves: int, observations: int, gap: float, rng: Uniforms, late: float = JITTER
) -> Array:
    """Times of visits on [0, 1], increasing on every curve: (curves, observations).

    The first visit is spread evenly over where all visits lie inside, however late; each comes
    later than planned by up to a fifth of the gap, evenly, or by up to `late` gaps.

    Examples
    --------
    >>> times = visit_times(2, 3, gap=0.25, rng=np.random.default_rng(1))
    >>> times.shape, bool((np.diff(times) > 0).all())
    ((2, 3), True)
    """
    free = 1 - visits_span(observations, gap)
    if free < 0:
        raise InputError(
            f"{observations} observations at this distance do not fit into the time range.",
            field="visit_gap",
            hint="Take fewer observations, or state a shorter gap.",
        )
    start = free * rng.random((curves, 1))
    delay = late * rng.random((curves, observations))
    return np.asarray(start + gap * (np.arange(observations) + delay))
