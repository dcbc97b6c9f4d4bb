"""The functions that are released: where they are evaluated, their bands, and the public bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.tasks import DENSITY, RISK_MINIMISATION, Argument, DataType
from engine.core.types import Array, Data, Estimate, EventFacts, PublicFacts
from engine.language import quality
from engine.language.numbers import named, percent
from engine.mechanisms import Mechanism
from engine.numerics.counts.estimands import ESTIMANDS
from engine.release.certified import ReleaseCost
from engine.release.uncertainty import (
    Uncertainty,
    band_of,
    covariance_inside,
    facts_of,
    moved_inside,
)

_BETWEEN = 5  # of the places of the drawing grid, those between two of a function of two times
LOG_ODDS = "Log-odds"
_LOWERED = (
    "{} of the noisy variances and covariances were larger than the stated bounds allow. "
    "At times whose variance was too large, all were lowered by one factor, which leaves "
    "correlations as they are."
)


class Axes(NamedTuple):
    """Places where a release is evaluated, and the names of its axes."""

    x: Array  # (k,): places in their own unit; one where the result is a number
    # across, up: names of the places and of the values, with units; a released number has no places
    across: str
    up: str
    scale: float = 1.0  # by which values on unit places are multiplied to get their unit


class Table(NamedTuple):
    """A table that is published beside the functions, as a file of its own."""

    about: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasedFunctions:
    """The published numbers of one release."""

    x: Array  # (k,): places in the data's own unit; one for a released number
    # mapping of str to (k,): the released functions there, held to the public bounds
    columns: Mapping[str, Array]
    # mapping of str to pair of (k,): lower and upper end of the confidence band of each function,
    # where there is one
    ranges: Mapping[str, tuple[Array, Array]]
    uncertainty: Uncertainty  # how far off the release may be
    # what is published beside them, by the name of its file
    tables: Mapping[str, Table] = field(default_factory=dict)
    # mapping of str to (k,): what else follows at each place
    by_place: Mapping[str, Array] = field(default_factory=dict)
    # whether the columns are one function of two times, a column for each second time
    is_surface: bool = False


def axes_of(mechanism: Mechanism, facts: PublicFacts) -> Axes:
    """Choose places and axis names; the mechanism's task fixes the argument of the result."""
    grid, value = drawing_grid(), named(facts.value_name, facts.value_unit)
    argument = mechanism.main_task.argument
    if argument is Argument.NOTHING:
        return Axes(grid[:1], "", value)
    if isinstance(facts, EventFacts):
        estimand = ESTIMANDS[mechanism.main_task.key]
        return Axes(
            estimand.points(facts),
            estimand.argument or named(facts.time_name, facts.time_unit),
            estimand.quantity,
        )
    if argument is Argument.FEATURE:
        feature = facts.covariates[0]
        x = feature.low + grid * (feature.high - feature.low)
        axis = named(feature.name, feature.unit)
        if mechanism.main_task is RISK_MINIMISATION:
            return Axes(x, axis, LOG_ODDS if facts.two_classes else value)
        density = named("Density", f"per {feature.unit}" if feature.unit else "")
        return Axes(x, axis, density, 1 / (feature.high - feature.low))
    if argument is Argument.TWO_TIMES:
        grid = grid[::_BETWEEN]
        value = named("Covariance", f"{facts.value_unit}²" if facts.value_unit else "")
    return Axes(facts.from_unit_time(grid), named(facts.time_name, facts.time_unit), value)


def functions_of(
    estimate: Estimate, mechanism: Mechanism, data: Data, cost: ReleaseCost, axes: Axes
) -> ReleasedFunctions:
    """Compute released functions and bands within public bounds, and their error.

    Reads only the public sizes and facts of `data`.
    """
    facts, x, is_surface = data.facts, axes.x, mechanism.main_task.argument is Argument.TWO_TIMES
    rows = _rows(estimate, mechanism, x) * axes.scale
    names = (
        tuple(f"with {place:.6g}" for place in x)
        if is_surface
        else estimate.functions or (axes.up,)
    )
    ranges = _ranges(estimate, names, axes.scale)
    low, high = _bounds_of(estimate, mechanism, facts)
    warnings, moved, flat = estimate.warnings, 0.0, ""
    if is_surface:
        rows, beyond = covariance_inside(rows, high)
        warnings += (_LOWERED.format(percent(max(beyond, 0.01))),) * bool(beyond)
    else:
        rows, moved = moved_inside(rows, low, high)
    ranges = {
        name: (moved_inside(ends[0], low, high)[0], moved_inside(ends[1], low, high)[0])
        for name, ends in ranges.items()
    }
    band = band_of(estimate, list(ranges.values()), x, mechanism.limit_of_band(facts))
    if (
        band is not None
        and len(ranges) == 1
        and mechanism.main_task.argument is Argument.TIME
        and (mechanism.main_task.data is not DataType.EVENTS)
    ):
        flat = quality.no_change(facts, *next(iter(ranges.values())))
        warnings += (flat,) * bool(flat)
    return ReleasedFunctions(
        x=x,
        columns=dict(zip(names, rows, strict=True)),
        ranges=ranges,
        is_surface=is_surface,
        uncertainty=Uncertainty(
            band,
            mechanism.feasibility(data.sizes, cost.inner_budgets),
            warnings,
            moved,
            0.0 if band is None else band.half_width / facts.value_half_width,
            is_flat=bool(flat),
            **facts_of(estimate),
        ),
    )


def _rows(estimate: Estimate, mechanism: Mechanism, x: Array) -> Array:
    """The first release: (functions, places)."""
    # Values are (budgets, repeats, draws, places), or (…, functions, places).
    if mechanism.main_task.argument is not Argument.TWO_TIMES:
        return np.atleast_2d(estimate.values(drawing_grid()[: len(x)])[0, 0, 0])
    times = drawing_grid()[::_BETWEEN]
    pairs = np.stack(np.meshgrid(times, times, indexing="ij"), axis=-1)  # second time, place, 2
    return np.asarray(estimate.values(pairs.reshape(-1, 2))[0, 0, 0].reshape(len(x), len(x)))


def _bounds_of(estimate: Estimate, mechanism: Mechanism, facts: PublicFacts) -> tuple[float, float]:
    """Return the bounds of the truth, whatever the data are.

    Averages and predicted numbers lie between the bounds of values, densities above 0, and
    covariances of numbers within the bounds at most a quarter of their squared distance from 0.
    Effects and log-odds have no such bounds.
    """
    task = mechanism.main_task
    if task is DENSITY:
        return 0.0, np.inf
    if task.argument is Argument.TWO_TIMES:
        return -(facts.value_half_width**2), facts.value_half_width**2
    if estimate.functions or (task is RISK_MINIMISATION and facts.two_classes):
        return -np.inf, np.inf
    return facts.value_low, facts.value_high


def _ranges(
    estimate: Estimate, names: tuple[str, ...], scale: float
) -> dict[str, tuple[Array, Array]]:
    """Return the ends of released functions' confidence bands; empty without any."""
    if estimate.limits is None or estimate.band is None:
        return {}
    low, high = (np.atleast_2d(end[0, 0, 0]) * scale for end in estimate.limits)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return {}
    return dict(zip(names, zip(low, high, strict=True), strict=True))
