"""Measured errors of a sweep by axis and line, with the rate beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.types import Array
from engine.rates import Rate
from engine.rates.fitted import FittedRate, fit, public_point
from engine.simulation.experiments import NOT_RUN, Outcome

TOTAL, PRIVACY = "total_error", "privacy_error"
_ROUNDING = 1e-12  # of a mean of equal errors, which has no standard error


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

    `theory` (points,) is the rate with two constants fitted to the whole sweep; None without a
    rate, or where it does not depend on what is varied.
    """

    name: str
    points: tuple[Point, ...]
    theory: Array | None = None


@dataclass(frozen=True)
class SweepView:
    """What a chart and a table of a sweep show.

    `kind` is the error that is known, `fitted` the rate through the points.
    """

    along: str
    across: str
    kind: str
    lines: tuple[Line, ...]
    fitted: FittedRate | None = None

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
    points = [_point(outcome, along, kind) for outcome in outcomes]
    through = None if rate is None or kind != TOTAL else _fitted(
        rate, outcomes, np.array([point.mean for point in points]))
    fitted, theory = (None, None) if through is None else through
    names = [outcome.cell.at.get(across) for outcome in outcomes]
    return SweepView(along, across, kind, tuple(
        _line(name, [k for k, other in enumerate(names) if other == name], points, theory)
        for name in dict.fromkeys(names)), fitted)


def _line(name: Any, members: Sequence[int], points: Sequence[Point], theory: Array | None) -> Line:
    return Line("" if name is None else f"{name:g}", tuple(points[k] for k in members),
                None if theory is None else theory[list(members)])


def _point(outcome: Outcome, along: str, kind: str) -> Point:
    cell, summary = outcome.cell, outcome.summary(kind)
    x = float(cell.at[along])
    if summary is None:
        return Point(x, math.nan, math.nan, outcome.failure)
    verdict = cell.mechanism.feasibility(cell.source.sizes, cell.budgets)
    mean, se = float(summary["mean"] or 0.0), summary["se"]
    se = math.nan if se is None else se
    return Point(x, mean, 0.0 if se < _ROUNDING * mean else se,
                 is_published=verdict is None or verdict.is_feasible)


def _fitted(rate: Rate, outcomes: Sequence[Outcome], measured: Array
            ) -> tuple[FittedRate, Array] | None:
    """The rate with constants fitted to all cells, and what it is there: (cells,).

    None where it depends on more than public sizes and the budget, or on nothing that varies.
    """
    points = [public_point(rate, each.cell.source, each.cell.budgets[0]) for each in outcomes]
    known = [point for point in points if point is not None]
    if len(known) < len(points):
        return None
    of_cells = {name: np.array([point[name] for point in known]) for name in known[0]}
    fitted = fit(rate, of_cells, measured)
    return None if fitted is None else (fitted, fitted.squares(**of_cells))


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
    return "" if point.is_published else "not published"
