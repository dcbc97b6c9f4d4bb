"""Axes of a sweep, and the measured errors by axis and line beside the rate.

Any number of the curves or the method, or ε, can be an axis. The scenario is the one that the
command line runs, so the numbers are the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import Parameter
from engine.core.types import Array, Budget, Data
from engine.mechanisms import Mechanism
from engine.rates import Rate
from engine.rates.fitted import FittedRate, fit, public_point
from engine.simulation.experiments import NOT_RUN, Outcome, Run
from engine.simulation.scenario import Scenario, from_plain, to_plain
from engine.sources import Source

EPSILON = "budgets.epsilon"
MAX_VALUES = 12  # on one axis
MAX_RUNS = 20_000  # cells × repeats: what a browser session and a shared store can hold
_DEFAULT_COUNT = 7  # odd, so that the present value is one of them
_SPAN = 4.0  # usual values reach from a quarter of the present one to four times
_MIN_EPSILON, _MAX_EPSILON = 0.01, 100.0


@dataclass(frozen=True)
class SweepAxis:
    """Something that can be varied: its path in a scenario, its name and its present value."""

    path: str
    parameter: Parameter
    present: float | None

    @property
    def label(self) -> str:
        symbol = f" ({self.parameter.symbol})" if self.parameter.symbol else ""
        return f"{self.parameter.label}{symbol}"

    def default(self) -> tuple[float, ...]:
        """Choose values around the present one, as far as the parameter reaches."""
        low, high = self._default_range()
        span = (
            np.geomspace(low, high, _DEFAULT_COUNT)
            if low > 0
            else np.linspace(low, high, _DEFAULT_COUNT)
        )
        rounded = {self._rounded(float(value)) for value in span}
        return tuple(sorted(value for value in rounded if self._allows(value)))

    def _default_range(self) -> tuple[float, float]:
        low = -math.inf if self.parameter.low is None else self.parameter.low
        high = math.inf if self.parameter.high is None else self.parameter.high
        here = self.present
        if here is None:  # found by a rule: from the least on
            here = max(low, 1.0 if self.parameter.kind is int else 0.1) * _SPAN
        if here <= 0:
            return max(low, here - 1.0), min(high, here + 1.0)
        return max(low, here / _SPAN), min(high, here * _SPAN)

    def _rounded(self, value: float) -> float:
        return float(
            round(float(f"{value:.2g}")) if self.parameter.kind is int else float(f"{value:.2g}")
        )

    def _allows(self, value: float) -> bool:
        try:
            self.parameter.check(value)
        except InputError:
            return False
        return True

    def read(self, text: str) -> tuple[float, ...]:
        """Read the values of a text such as `50, 100, 200`, in rising order."""
        words = text.replace(";", " ").replace(",", " ").split()
        values = tuple(sorted({self._read_one(word) for word in words}))
        if not 1 <= len(values) <= MAX_VALUES:
            raise InputError(
                f"Give 1 to {MAX_VALUES} values; got {len(values)}.",
                field=self.path,
                hint="Put spaces or commas between them.",
            )
        return values

    def _read_one(self, word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            raise InputError(
                f"“{word[:20]}” is not a number.",
                field=self.path,
                hint="Write values as 50, 100, 200.",
            ) from None
        return float(self.parameter.check(value))

    def plain(self, values: Sequence[float]) -> list[float | int]:
        """Write values as a scenario does: whole numbers where only they are allowed."""
        return [int(v) if self.parameter.kind is int else v for v in values]


def axes(source: Source[Data], mechanism: Mechanism, epsilon: float) -> dict[str, SweepAxis]:
    """List everything that can be varied, ε first; of own data only the budget and the method."""
    listed = [SweepAxis(EPSILON, _EPSILON, epsilon)]
    groups: list[tuple[str, Source[Data] | Mechanism]] = [("mechanism", mechanism)]
    if not source.facts.is_upload:
        groups.insert(0, ("source", source))
    listed += [
        SweepAxis(f"{group}.{p.name}", p, getattr(member, p.name))
        for group, member in groups
        for p in member.relevant_parameters()
        if p.kind in (int, float) and not p.choices
    ]
    return {axis.path: axis for axis in listed}


_EPSILON = Parameter(
    "epsilon",
    float,
    False,
    1.0,
    "Privacy budget",
    "The limit on what one person’s taking part can change.",
    "ε",
    low=_MIN_EPSILON,
    high=_MAX_EPSILON,
)


def design(
    source: Source[Data],
    mechanism: Mechanism,
    budget: Budget,
    repeats: int,
    seed: int,
    chosen: Sequence[tuple[SweepAxis, tuple[float, ...]]],
) -> Scenario:
    """Build the scenario over one or two axes.

    Real curves are the same in every repeat, so that of them as many releases are drawn instead.
    """
    run = Run(repeats, 1, seed) if source.is_random else Run(1, repeats, seed)
    n_runs = repeats * math.prod(len(values) for _, values in chosen)
    if n_runs > MAX_RUNS:
        raise InputError(
            f"This asks for {n_runs:,} runs; a sweep here has at most {MAX_RUNS:,}.",
            field="repeats",
            hint="Take fewer repeats or values, or run the scenario on the command line.",
        )
    moved = {axis.path: axis.plain(values) for axis, values in chosen}
    plain = to_plain(source, mechanism, (budget,), run)
    if source.facts.is_upload:  # its curves cannot be written down, so it is not read back
        along = {path: tuple(values) for path, values in moved.items()}
        scenario = Scenario(source, mechanism, (budget,), run, along, plain)
        scenario.cells()  # checks them
        return scenario
    return from_plain({**plain, "axes": moved})


# -- the results along the axes --------------------------------------------------------------------


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
class SweepLine:
    """The points of one value of the second axis, or of all, in the order of the first.

    `theory` (points,) is the rate with two constants fitted to the whole sweep; None without a
    rate, or where it does not depend on what is varied.
    """

    name: str
    points: tuple[Point, ...]
    theory: Array | None = None


@dataclass(frozen=True)
class SweepView:
    """Data of a sweep's chart and table.

    `kind` is the error that is known, `fitted` the rate through the points.
    """

    along: str
    across: str
    kind: str
    lines: tuple[SweepLine, ...]
    fitted: FittedRate | None = None

    @property
    def failures(self) -> list[str]:
        """The messages of cells that failed, one for each."""
        return [
            point.message
            for line in self.lines
            for point in line.points
            if point.message not in ("", NOT_RUN)
        ]


def sweep_view(outcomes: Sequence[Outcome], rate: Rate | None = None) -> SweepView:
    """Group points by line; the error from the truth, or if unknown that of the noise alone."""
    along, *others = outcomes[0].cell.at
    across = others[0] if others else ""
    known = any(outcome.errors.get(TOTAL) is not None for outcome in outcomes)
    some = any(outcome.errors for outcome in outcomes)
    kind = TOTAL if known or not some else PRIVACY
    points = [_point(outcome, along, kind) for outcome in outcomes]
    through = (
        None
        if rate is None or kind != TOTAL
        else _fitted(rate, outcomes, np.array([point.mean for point in points]))
    )
    fitted, theory = (None, None) if through is None else through
    names = [outcome.cell.at.get(across) for outcome in outcomes]
    return SweepView(
        along,
        across,
        kind,
        tuple(
            _line(name, [k for k, other in enumerate(names) if other == name], points, theory)
            for name in dict.fromkeys(names)
        ),
        fitted,
    )


def _line(
    name: Any, members: Sequence[int], points: Sequence[Point], theory: Array | None
) -> SweepLine:
    return SweepLine(
        "" if name is None else f"{name:g}",
        tuple(points[k] for k in members),
        None if theory is None else theory[list(members)],
    )


def _point(outcome: Outcome, along: str, kind: str) -> Point:
    cell, summary = outcome.cell, outcome.summary(kind)
    x = float(cell.at[along])
    if summary is None:
        return Point(x, math.nan, math.nan, outcome.failure)
    verdict = cell.mechanism.feasibility(cell.source.sizes, cell.budgets)
    mean, se = float(summary["mean"] or 0.0), summary["se"]
    se = math.nan if se is None else se
    return Point(
        x,
        mean,
        0.0 if se < _ROUNDING * mean else se,
        is_published=verdict is None or verdict.is_feasible,
    )


def _fitted(
    rate: Rate, outcomes: Sequence[Outcome], measured: Array
) -> tuple[FittedRate, Array] | None:
    """Fit the constants of a rate to all cells, and evaluate it there: (cells,).

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
    """Tabulate the cells, a row for each, in the order of lines and points."""
    rows = [(line, point) for line in view.lines for point in line.points]
    out: dict[str, list[Any]] = {labels[view.along]: [point.x for _, point in rows]}
    if view.across:
        out[labels[view.across]] = [float(line.name) for line, _ in rows]
    out |= {
        "mean squared error": [_figure(point.mean, 4) for _, point in rows],
        "standard error": [_figure(point.se, 2) for _, point in rows],
        "note": [
            point.message or ("" if point.is_published else "not published") for _, point in rows
        ],
    }
    return out


def _figure(value: float, digits: int) -> float | None:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
