"""Data that fail a release: facts that are not true, people far from the others, features too short to draw.

Those above the limits of the checks must be told of where a band misses; those below are limits of privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from engine.core.types import Array, CurveData, Design, PublicFacts
from tests.panels.cells import Cell, curves
from tests.panels.ordinary import growth, wave

Times = Callable[
    [tuple[int, ...], np.random.Generator], Array
]  # a shape and a generator to times on [0, 1]
Mean = Callable[[Array], Array]
Levels = Callable[
    [tuple[int, ...], np.random.Generator], Array
]  # a shape and a generator to how high people are

LAW, BOUNDS, FAR, OBSERVED, FEATURES, SIDES = (
    "law of times",
    "bounds",
    "people far away",
    "availability",
    "features",
    "spread of people",
)
EVEN = Design()
SIX_TIMES = (0.0, 1 / 11, 2 / 11, 4 / 11, 8 / 11, 1.0)


def step(t: Array, at: float = 0.45, low: float = 8.0, rise: float = 5.0) -> Array:
    return np.asarray(low + rise * (t >= at))


def peak(t: Array, at: float = 0.5, sd: float = 0.03, rise: float = 5.0) -> Array:
    return np.asarray(10 + rise * np.exp(-(((t - at) / sd) ** 2) / 2))


def seven_waves(t: Array) -> Array:
    return np.asarray(12 + 3 * np.sin(14 * np.pi * t))


def evenly(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    return rng.random(shape)


def beta(a: float, b: float) -> Times:
    return lambda shape, rng: rng.beta(a, b, shape)


def with_gap(low: float, high: float) -> Times:
    """Evenly, but never between `low` and `high`."""

    def drawn(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        t = (1 - high + low) * rng.random(shape)
        return np.where(t < low, t, t + high - low)

    return drawn


def among(times: tuple[float, ...]) -> Times:
    """Everybody at the first of `times`, as many as are asked for."""
    return lambda shape, rng: np.broadcast_to(np.array(times), shape)


def normal(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    return 2 * rng.standard_normal(shape)


def some_far(share: float, distance: float) -> Levels:
    """Normal levels, but a share of people lies `distance` above."""
    return lambda shape, rng: np.where(rng.random(shape) < share, distance, normal(shape, rng))


def lognormal(sd: float) -> Levels:
    """Skewed levels, of mean 0 and with the spread of the logarithm stated."""
    return lambda shape, rng: 2 * (np.exp(sd * rng.standard_normal(shape)) - np.exp(sd**2 / 2))


def exponential(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    return 2 * (rng.standard_exponential(shape) - 1)


def people(
    n: int,
    repeats: int,
    rng: np.random.Generator,
    *,
    times: Times = evenly,
    mean: Mean = wave,
    levels: Levels = normal,
    m: int = 5,
    low: float = -70.0,
    high: float = 90.0,
    design: Design = EVEN,
    shift: float = 0.0,
    rule: str = "gauss",
    symmetric: bool = False,
) -> CurveData:
    """Curves with a level of their own and errors of standard deviation 1, stated to be as `design` says.

    `shift` is by how much the levels move the mean.
    """
    t = times((repeats, n, m), rng)
    values = mean(t) + levels((repeats, n, 1), rng) + rng.standard_normal(t.shape)
    facts = PublicFacts(value_low=low, value_high=high, design=design, symmetric=symmetric)
    return curves(t, values, facts, lambda at: mean(at) + shift, rule)


def partly_observed(
    n: int,
    repeats: int,
    rng: np.random.Generator,
    *,
    times: tuple[float, ...],
    at: int,
    share: float,
) -> CurveData:
    """Common times at one of which only a share of people was observed."""
    seen = rng.random((n, len(times))) < np.where(np.arange(len(times)) == at, share, 1.0)
    person, column = np.nonzero(seen)
    t = np.broadcast_to(np.array(times)[column], (repeats, len(column)))
    values = wave(t) + normal((repeats, n), rng)[:, person] + rng.standard_normal(t.shape)
    facts = PublicFacts(value_low=-70.0, value_high=90.0, design=Design.common(times))
    return curves(t, values, facts, wave, counts=seen.sum(axis=1))


TWELVE = tuple((k + 0.5) / 12 for k in range(12))
_TWELVE = {"times": among(TWELVE), "m": 12, "design": Design.common(TWELVE)}


def _cell(
    name: str,
    n: int,
    epsilon: float,
    told_by: str = "",
    is_held_back: bool = False,
    draw: Callable[..., CurveData] = people,
    **settings,
) -> Cell:
    return Cell(
        f"{name}, n = {n:,}, ε = {epsilon:g}",
        partial(draw, n, **settings),
        epsilon,
        is_held_back,
        told_by,
    )


CELLS = (
    _cell("times Beta(2.5, 1) stated as even", 2000, 1, LAW, times=beta(2.5, 1)),
    _cell("no times in .4–.6, stated as even", 2000, 1, LAW, times=with_gap(0.4, 0.6)),
    _cell("lower bound 8, 16 % below", 1000, 2, BOUNDS, low=8.0, high=30.0),
    _cell("3 % of people at 10 sd", 2000, 1, levels=some_far(0.03, 20.0), shift=0.03 * 20),
    _cell(
        ".08 observed at the fifth of six times",
        600,
        1,
        OBSERVED,
        draw=partly_observed,
        times=SIX_TIMES,
        at=4,
        share=0.08,
    ),
    _cell("growth at 9 ages", 1000, 4, FEATURES, draw=growth),
    _cell(
        "step of 5 at .45, m = 6",
        600,
        1,
        FEATURES,
        mean=step,
        m=6,
        low=0.0,
        high=25.0,
        rule="midpoints",
    ),
    _cell("peak of sd .03", 1000, 2, FEATURES, mean=peak, low=0.0, high=25.0, rule="midpoints"),
    _cell("lognormal levels, sd of log 1.5", 2000, 1, levels=lognormal(1.5)),
    _cell(
        "lognormal levels, sd of log 1.2, stated as spread evenly",
        2000,
        1,
        SIDES,
        levels=lognormal(1.2),
        symmetric=True,
    ),
    _cell(
        "exponential levels, stated as spread evenly",
        4000,
        4,
        SIDES,
        True,
        levels=exponential,
        symmetric=True,
    ),
    _cell("times Beta(1, 2.5) stated as even", 1500, 2, LAW, True, times=beta(1, 2.5)),
    _cell("no times in .65–.9, stated as even", 2500, 1, LAW, True, times=with_gap(0.65, 0.9)),
    _cell("12 common times stated as even", 2000, 1, LAW, True, times=among(TWELVE), m=12),
    _cell("upper bound 12.5, 30 % above", 2000, 1, BOUNDS, True, low=-10.0, high=12.5),
    _cell(
        "1.5 % of people at 25 sd",
        5000,
        3,
        FAR,
        True,
        levels=some_far(0.015, 50.0),
        shift=0.015 * 50,
        **_TWELVE,
    ),
    _cell(
        "1 % of people at 30 sd",
        5000,
        1,
        "",
        True,
        levels=some_far(0.01, 60.0),
        shift=0.01 * 60,
        **_TWELVE,
    ),
    _cell(
        ".15 observed at the second of twelve times",
        1000,
        1,
        OBSERVED,
        True,
        draw=partly_observed,
        times=TWELVE,
        at=1,
        share=0.15,
    ),
    _cell(
        "growth at 7 ages, a spurt between two of them",
        2000,
        3,
        "",
        True,
        draw=growth,
        ages=(2, 4, 7, 10, 12, 15, 18),
    ),
    _cell(
        "step of 6 at .7, m = 8",
        1000,
        2,
        FEATURES,
        True,
        mean=partial(step, at=0.7, rise=6.0),
        m=8,
        low=0.0,
        high=25.0,
        rule="midpoints",
    ),
    _cell("seven oscillations", 1000, 2, FEATURES, True, mean=seven_waves, low=0.0, high=25.0),
    _cell(
        "lognormal levels, sd of log 1.2, 12 times",
        2000,
        1,
        "",
        True,
        levels=lognormal(1.2),
        **_TWELVE,
    ),
)
