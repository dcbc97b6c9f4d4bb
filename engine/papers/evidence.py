"""What a table of results says about a claim: lines, slopes and falls, with standard errors.

Means in different rows are taken for independent, which overstates the error of what compares
rows that were measured on the same data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.agreement import STANDARD_ERRORS
from engine.types import Array

Row = Mapping[str, Any]
Table = Sequence[Row]
ERROR, SE = "error", "se"


def where(table: Table, **at: Any) -> list[Row]:
    """Rows with these values."""
    return [row for row in table if all(row.get(name) == value for name, value in at.items())]


def values(table: Table, name: str, **at: Any) -> list[Any]:
    """What rows have in one column, each value once, in order."""
    return sorted({row[name] for row in where(table, **at) if name in row})


@dataclass(frozen=True)
class Line:
    """Means y ± se over x, in the order of x."""

    x: Array
    y: Array
    se: Array

    @classmethod
    def of(cls, table: Table, along: str, y: str = ERROR, se: str = SE, **at: Any) -> Line:
        rows = sorted(where(table, **at), key=lambda row: float(row[along]))
        return cls(*(np.array([row[name] for row in rows], dtype=float) for name in (along, y, se)))

    @property
    def log_se(self) -> Array:
        """Standard errors of log y."""
        return self.se / self.y

    def between(self, low: float, high: float) -> Line:
        kept = (self.x >= low) & (self.x <= high)
        return Line(self.x[kept], self.y[kept], self.se[kept])

    def at(self, x: float) -> tuple[float, float]:
        """Logarithm of y at x, and its standard error."""
        k = int(np.flatnonzero(self.x == x)[0])
        return math.log(self.y[k]), float(self.log_se[k])


@dataclass(frozen=True)
class Number:
    """A measured number with its standard error; written with half its 95 % interval."""

    value: float
    se: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {STANDARD_ERRORS * self.se:.2f}".replace("-", "−")

    def near(self, other: float, margin: float, errors: float = 2.0) -> bool:
        """Whether they differ by no more than the margin and so many standard errors."""
        return abs(self.value - other) <= margin + errors * self.se

    def __sub__(self, other: Number) -> Number:
        return Number(self.value - other.value, math.hypot(self.se, other.se))


def log_slope(line: Line) -> Number:
    """Least squares slope of log y on log x; its standard error follows from those of the means."""
    x = np.log(line.x) - np.log(line.x).mean()
    spread = (x**2).sum()
    return Number(float(x @ np.log(line.y) / spread),
                  float(math.sqrt((x**2 * line.log_se**2).sum()) / spread))


def change(line: Line, start: float, end: float) -> Number:
    """By how much log y changes from `start` to `end`."""
    (before, se_before), (after, se_after) = line.at(start), line.at(end)
    return Number(after - before, math.hypot(se_before, se_after))


def average(numbers: Sequence[Number]) -> Number:
    """The mean of numbers; they may share data, so their standard errors are averaged as well."""
    return Number(float(np.mean([n.value for n in numbers])),
                  float(np.mean([n.se for n in numbers])))


@dataclass(frozen=True)
class Fall:
    """How lines go down: their steepest rise in standard errors, and falls from end to end.

    `least` and `most` are y at the start over y at the end, `sure` the least number of standard
    errors by which a line falls.
    """

    rise: float
    least: float
    most: float
    sure: float

    def holds(self, errors: float = 4.0) -> bool:
        """Every line falls by so many standard errors, and no step of any rises by as many."""
        return self.rise <= errors and self.sure >= errors

    def __str__(self) -> str:
        step = (f"the largest step up is {self.rise:.1f} standard errors" if self.rise > 0 else
                "no step goes up")
        folds = (f"{self.least:.3g}-fold" if self.least == self.most else
                 f"{self.least:.3g}- to {self.most:.3g}-fold")
        return f"errors fall {folds} from end to end; {step}"


def fall(lines: Sequence[Line]) -> Fall:
    """How all of these lines go down."""
    steps = np.concatenate([np.diff(np.log(line.y)) / np.hypot(line.log_se[1:], line.log_se[:-1])
                            for line in lines])
    ends = [change(line, line.x[0], line.x[-1]) for line in lines]
    ratios = [math.exp(-end.value) for end in ends]
    return Fall(float(steps.max()), min(ratios), max(ratios),
                min(-end.value / end.se for end in ends))


def lines(table: Table, along: str, by: Sequence[str], **at: Any) -> list[Line]:
    """A line over `along` for each set of values in the columns `by`."""
    rows = [row for row in where(table, **at) if along in row]
    groups = sorted({tuple(row[name] for name in by) for row in rows})
    return [Line.of(rows, along, **dict(zip(by, group, strict=True))) for group in groups]
