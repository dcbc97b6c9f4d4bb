"""Measured errors of a sweep by axis and line, with the rate beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from engine.core.types import Array
from engine.rates import Rate
from engine.simulation.experiments import NOT_RUN, Cell, Outcome

TOTAL, PRIVACY = "total_error", "privacy_error"
_ROUNDING = 1e-12  # of a mean of equal errors, which has no standard error
_VARIES = 0.01  # a rate that moves by less over a sweep says nothing about it


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
    points = [_point(outcome, along, kind) for outcome in outcomes]
    theory = None if rate is None or kind != TOTAL else _fitted(
        np.array([rate_at(outcome.cell, rate) for outcome in outcomes]),
        np.array([point.mean for point in points]))
    names = [outcome.cell.at.get(across) for outcome in outcomes]
    return SweepView(along, across, kind, tuple(
        _line(name, [k for k, own in enumerate(names) if own == name], points, theory)
        for name in dict.fromkeys(names)))


def _line(name: Any, members: Sequence[int], points: Sequence[Point], theory: Array | None) -> Line:
    return Line("" if name is None else f"{name:g}", tuple(points[k] for k in members),
                None if theory is None else theory[list(members)])


def _point(outcome: Outcome, along: str, kind: str) -> Point:
    cell, found = outcome.cell, outcome.summary(kind)
    x = float(cell.at[along])
    if found is None:
        return Point(x, math.nan, math.nan, outcome.failure)
    verdict = cell.mechanism.feasibility(cell.source.sizes, cell.budgets)
    mean, se = float(found["mean"] or 0.0), found["se"]
    se = math.nan if se is None else se
    return Point(x, mean, 0.0 if se < _ROUNDING * mean else se,
                 is_published=verdict is None or verdict.is_feasible)


def rate_at(cell: Cell, rate: Rate) -> tuple[float, float]:
    """What privacy and what all else add to the rate at the public sizes and budget of a cell.

    NaN if the rate depends on anything but these.
    """
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
        return math.nan, math.nan
    terms = rate.evaluate(**{name: known[name] for name in names & set(known)})
    private = np.array([term.is_private for term in rate.terms])
    return float(terms[private].sum()), float(terms[~private].sum())


def _fitted(parts: Array, measured: Array) -> Array | None:
    """The rate with one constant for privacy and one for all else, by relative least squares.

    `parts` (cells, 2), `measured` (cells,), NaN where nothing is there. Both constants are the same
    in all cells, at least one more of which is needed than constants, and neither is below zero.
    """
    used = np.isfinite(parts).all(axis=1) & (measured > 0)
    if used.sum() <= 2 or np.ptp(parts[used].sum(axis=1)) < _VARIES * parts[used].sum(axis=1).min():
        return None
    constants, _ = nnls(parts[used] / measured[used, None], np.ones(used.sum()))
    return np.asarray(parts @ constants)


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
