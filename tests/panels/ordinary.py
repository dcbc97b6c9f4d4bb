"""Ordinary data, stated truly: a release of them is silent, and its band holds in 19 of 20.

Their holders say how far most people are from the average, as pages ask: what two in three of all
observations are within, in a round number. Of values from 0 on it is the standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from engine.core.types import Array, CurveData, Design, PublicFacts
from engine.sources.activity_days import ActivityDays
from engine.sources.electricity_days import ElectricityDays
from tests.panels.cells import SIZES, Cell, at_common, curves

AGES = tuple(range(2, 19, 2))


def height(age: Array) -> Array:
    """Mean height in cm at an age in years."""
    bend = np.maximum(age - 14.5, 0.0)
    return np.asarray(
        86
        + 6.6 * (age - 2) * (1 - 0.012 * (age - 2))
        + 10 / (1 + np.exp(-1.1 * (age - 13)))
        - 0.1 * bend**2
    )


def growth(
    n: int, repeats: int, rng: np.random.Generator, ages: tuple[float, ...] = AGES
) -> CurveData:
    """Heights of children at common ages."""
    a = np.broadcast_to(np.array(ages, dtype=float), (repeats, n, len(ages)))
    level, wave = rng.standard_normal((2, repeats, n, 1))
    values = (
        height(a)
        + level * (3.2 + 0.22 * a)
        + 0.8 * wave * np.sin(a / 3)
        + 0.5 * rng.standard_normal(a.shape)
    )
    facts = PublicFacts(
        name="Heights",
        value_name="Height",
        value_unit="cm",
        value_low=60,
        value_high=210,
        guessed_spread=6,
        time_name="Age",
        time_unit="years",
        time_low=2,
        time_high=18,
        design=at_common(ages, 2, 18),
    )
    return curves(a, np.round(values, 1), facts, height, "midpoints")


def glucose_mean(hour: Array) -> Array:
    """Mean glucose in mg/dL at an hour of the day."""
    rises = sum(
        size * np.exp(-(((hour - at) / width) ** 2))
        for size, at, width in ((14, 8.5, 1.6), (12, 13.5, 1.6), (18, 20.0, 1.7))
    )
    return np.asarray(125 + 14 * np.cos(2 * np.pi * (hour - 16) / 24) + rises)


def glucose(n: int, repeats: int, rng: np.random.Generator) -> CurveData:
    """A day of glucose, once an hour; readings of one person depend on each other."""
    hours = np.broadcast_to(np.arange(24.0), (repeats, n, 24))
    errors = rng.standard_normal(hours.shape)
    for k in range(1, 24):
        errors[..., k] = 0.6 * errors[..., k - 1] + 0.8 * errors[..., k]
    people = np.exp(0.18 * rng.standard_normal((repeats, n, 1)) - 0.0162)
    facts = PublicFacts(
        name="Glucose",
        value_name="Glucose",
        value_unit="mg/dL",
        value_low=40,
        value_high=400,
        guessed_spread=25,
        time_name="Hour",
        time_unit="h",
        time_low=0,
        time_high=24,
        design=at_common(range(24), 0, 24),
    )
    return curves(hours, glucose_mean(hours) * people + 9 * errors, facts, glucose_mean)


def blood_pressure(n: int, repeats: int, rng: np.random.Generator) -> CurveData:
    """Two to seven visits at ages that are spread evenly, read to even numbers."""
    counts = rng.integers(2, 8, n)
    ages = 20 + 60 * rng.random((repeats, counts.sum()))
    level = np.repeat(12 * rng.standard_normal((repeats, n)), counts, axis=1)
    values = 112 + 0.55 * (ages - 20) + level + 7 * rng.standard_normal(ages.shape)
    facts = PublicFacts(
        name="Blood pressure",
        value_name="Blood pressure",
        value_unit="mmHg",
        value_low=70,
        value_high=220,
        guessed_spread=15,
        time_name="Age",
        time_unit="years",
        time_low=20,
        time_high=80,
    )
    return curves(
        ages, 2 * np.round(values / 2), facts, lambda age: 112 + 0.55 * (age - 20), counts=counts
    )


def evenly_spread(n: int, repeats: int, rng: np.random.Generator) -> CurveData:
    """Levels with long tails, the same above as below, which is stated."""
    t = rng.random((repeats, n, 5))
    levels = 2 * rng.standard_t(5, (repeats, n, 1))
    facts = PublicFacts(value_low=-20, value_high=40, guessed_spread=2.5, symmetric=True)
    return curves(t, wave(t) + levels + rng.standard_normal(t.shape), facts, wave)


def wave(t: Array) -> Array:
    return np.asarray(10 + 3 * np.sin(2 * np.pi * t) + 2 * t)


# -- held back ---------------------------------------------------------------------------------------------------


def electricity(n: int, repeats: int, rng: np.random.Generator) -> CurveData:
    """A day of power, every half hour: skewed, and near its lower bound."""
    return _guessed(
        ElectricityDays(n_curves=n, n_observations_per_curve=48).draw(repeats, rng), 0.4
    )


def activity(n: int, repeats: int, rng: np.random.Generator) -> CurveData:
    """Active minutes in each hour of a day: most of them none."""
    return _guessed(ActivityDays(n_curves=n).draw(repeats, rng), 8)


def _guessed(data: CurveData, spread: float) -> CurveData:
    return replace(data, facts=replace(data.facts, guessed_spread=spread))


def weight_mean(week: Array) -> Array:
    """Mean weight in kg after so many weeks of a diet."""
    return np.asarray(95 - 8 * (1 - np.exp(-week / 18)) + 0.03 * week)


def weight(
    n: int,
    repeats: int,
    rng: np.random.Generator,
    late: float = 0.0,
    mean: Callable[[Array], Array] = weight_mean,
) -> CurveData:
    """Weights at five visits ten weeks apart, from a start in the first ten weeks of 52; up to `late` weeks later."""
    week = 10 * rng.random((repeats, n, 1)) + 10 * np.arange(5) + late * rng.random((repeats, n, 5))
    level, slope = rng.standard_normal((2, repeats, n, 1))
    values = mean(week) + 14 * level + 0.08 * week * slope + 0.8 * rng.standard_normal(week.shape)
    facts = PublicFacts(
        name="Weight",
        value_name="Weight",
        value_unit="kg",
        value_low=40,
        value_high=180,
        guessed_spread=15,
        time_name="Week",
        time_unit="weeks",
        time_low=0,
        time_high=52,
        design=Design.visits(10 / 52),
    )
    return curves(week, np.round(values, 1), facts, mean)


def _cells(name: str, draw: Callable[..., CurveData], is_held_back: bool) -> tuple[Cell, ...]:
    return tuple(
        Cell(f"{name}, n = {n:,}, ε = {epsilon:g}", partial(draw, n), epsilon, is_held_back)
        for n, epsilon in SIZES
    )


CELLS = (
    *_cells("growth, 9 ages", growth, False),
    *_cells("glucose, 24 hours", glucose, False),
    *_cells("blood pressure, 2–7 visits", blood_pressure, False),
    *_cells("people spread evenly, as stated", evenly_spread, False),
    *_cells("electricity, 48 half hours", electricity, True),
    *_cells("activity, 24 hours", activity, True),
    *_cells("weight, 5 visits", weight, True),
)
