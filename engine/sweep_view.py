"""Measured errors of a sweep by axis and line, with the rate beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.experiments import NOT_RUN, Cell, Outcome
from engine.rates import Rate
from engine.types import Array

TOTAL, PRIVACY = "total_error", "privacy_error"
_VARIES = 1.01  # a rate that moves by less along an axis says nothing about it


@dataclass(frozen=True)
class Point:
    """One cell: its place, its mean squared error with standard error, and what is said of it.

    NaN where nothing is there yet or it failed; `message` says why it failed, `is_published` is
    False where the method would publish nothing because nothing useful could be.
    """

    x: float
    mean: float
    se: float
    message: str = ""
    is_published: bool = True


@dataclass(frozen=True)
class Line:
    """The points of one value of the second axis, or of all, in the order of the first.

    `theory` (points,) is the rate through them with one constant fitted; None without a rate, or
    where it does not depend on the axis.
    """

    name: str
    points: tuple[Point, ...]
    theory: Array | None = None


@dataclass(frozen=True)
class SweepView:
    """What a chart and a table of a sweep show; `kind` is the error that is known."""

    along: str
    across: str
    kind: str
    lines: tuple[Line, ...]

    @property
    def failures(self) -> list[str]:
        """The messages of cells that failed, one for each."""
        return [point.message for line in self.lines for point in line.points
                if point.message not in ("", NOT_RUN)]


def sweep_view(outcomes: Sequence[Outcome], rate: Rate | None = None) -> SweepView:
    """Points by line; the error from the truth, or where it is unknown that of the noise alone."""
    along, *others = outcomes[0].cell.at
    across = others[0] if others else ""
    known = any(outcome.errors.get(TOTAL) is not None for outcome in outcomes)
    some = any(outcome.errors for outcome in outcomes)
    kind = TOTAL if known or not some else PRIVACY
    names = dict.fromkeys(outcome.cell.at.get(across) for outcome in outcomes)
    lines = [_line(name, [o for o in outcomes if o.cell.at.get(across) == name], along, kind, rate)
             for name in names]
    return SweepView(along, across, kind, tuple(lines))


def _line(value: Any, outcomes: Sequence[Outcome], along: str, kind: str, rate: Rate | None
          ) -> Line:
    points = tuple(_point(outcome, along, kind) for outcome in outcomes)
    theory = None if rate is None else _through(
        [rate_at(outcome.cell, rate) for outcome in outcomes], points)
    return Line("" if value is None else f"{value:g}", points, theory)


def _point(outcome: Outcome, along: str, kind: str) -> Point:
    cell, found = outcome.cell, outcome.summary(kind)
    x = float(cell.at[along])
    if found is None:
        return Point(x, math.nan, math.nan, outcome.failure)
    verdict = cell.mechanism.feasibility(cell.source.sizes, cell.budgets)
    se = found["se"]
    return Point(x, float(found["mean"] or 0.0), math.nan if se is None else se,
                 is_published=verdict is None or verdict.is_feasible)


def rate_at(cell: Cell, rate: Rate) -> float:
    """The rate at the public sizes and the budget of a cell; NaN if it needs anything else."""
    sizes, budget = cell.source.sizes, cell.budgets[0]
    known: dict[str, float] = {
        "n": min(sizes.n_curves_per_server), "S": sizes.n_servers,
        "m": sizes.n_observations_per_curve, "epsilon": budget.epsilon, "d": sizes.n_covariates}
    if budget.delta > 0:
        known["delta"] = budget.delta
    shared = cell.source.values().get("n_shared")
    if shared:
        known["s"] = float(shared)
    names = {symbol.name for symbol in rate.symbols}
    if names - set(known) - {"delta"}:
        return math.nan
    return float(rate.total(**{name: known[name] for name in names & set(known)}))


def _through(rates: Sequence[float], points: Sequence[Point]) -> Array | None:
    """The rate times the constant that fits best on a log scale."""
    values = np.array(rates)
    measured = np.array([point.mean for point in points])
    both = np.isfinite(values) & (values > 0) & (measured > 0)
    if both.sum() < 2 or np.nanmax(values) < _VARIES * np.nanmin(values):
        return None
    constant = np.exp(np.mean(np.log(measured[both]) - np.log(values[both])))
    return np.asarray(constant * values)


def columns(view: SweepView, labels: Mapping[str, str]) -> dict[str, list[Any]]:
    """A table: a row for each cell, in the order of lines and points."""
    rows = [(line, point) for line in view.lines for point in line.points]
    out: dict[str, list[Any]] = {labels[view.along]: [point.x for _, point in rows]}
    if view.across:
        out[labels[view.across]] = [float(line.name) for line, _ in rows]
    out |= {"mean squared error": [_figure(point.mean, 4) for _, point in rows],
            "standard error": [_figure(point.se, 2) for _, point in rows],
            "note": [_note(point) for _, point in rows]}
    return out


def _figure(value: float, digits: int) -> float | None:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _note(point: Point) -> str:
    if point.message:
        return point.message
    return "" if point.is_published else "nothing useful would be published here"
