"""Parts of claims: numbers taken from a frame of results, and a few tests of them.

A claim is data. Beside the sentence of the paper stand the numbers that bear on it, the limits
within which they confirm it, and how they are told::

    Claim("A trusted server has the smaller error everywhere",
          within(col("hidden") / col("trusted"), low=1, text="{:.3g} times less"))

Numbers are a column or an expression in columns (rows without them are left out), several of these
by name, or a function of the frame. `text` is a format of the measured `MeasuredNumbers`:
`{:.3g}` writes their range, `{0.last:.2f}` one of them, `{0.each:.2f}` all. Several numbers are
told by their names, and `of` says which of them the limits are for.

Standard errors of means in different rows are taken for independent, which overstates the error of
what compares rows that were measured on the same data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.typing import Expression
from scipy.stats import beta

from engine.core.bands import NORMAL
from engine.core.types import Array
from reproductions.exhibits import Finding, Table, Value, frame

Check = Callable[[pd.DataFrame], Finding]
Column = str | Expression
# A function may give a number, an array, or a mapping of these and of words.
Measure = Column | Mapping[str, Column] | Callable[[pd.DataFrame], Any]
ERROR, SE = "error", "se"
CONFIDENCE = 0.9999  # of limits for a share: about four standard errors
CLEAR = 3.0  # standard errors by which numbers differ that count as different


# -- taking numbers from a frame -----------------------------------------------------------------


def where(table: Table | pd.DataFrame, **values: Value) -> pd.DataFrame:
    """Select the rows that have all of these values, in order; a missing column has no value."""
    rows = frame(table)
    matches = np.ones(len(rows), dtype=bool)
    for name, value in values.items():
        matches &= (rows[name] == value).to_numpy(dtype=bool) if name in rows else False
    return rows[matches]


def number(table: Table | pd.DataFrame, column: str, **values: Value) -> float:
    """Look up the number in a column of the only row with these values in other columns."""
    return float(where(table, **values)[column].item())


def values(table: pd.DataFrame, name: str) -> list[Any]:
    """List the distinct values of a column in order of size; empty without such a column."""
    column = table[name].dropna() if name in table else ()
    return sorted(pd.unique(pd.Series(column)).tolist())


def groups(
    table: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Yield each set of values in the columns `by`, in order of size, with its rows."""
    for key, rows in table.groupby(list(by), sort=True):
        yield key if isinstance(key, tuple) else (key,), rows


def digits(value: float | None, count: int = 5) -> float | None:
    """Round to significant digits, so that stored tables stay small."""
    return None if value is None else float(f"{value:.{count}g}")


def known(value: float) -> float | None:
    """Return a number as it can be stored; None for what is infinite or no number."""
    return float(value) if math.isfinite(value) else None


def numbers(rows: pd.DataFrame, measure: Measure) -> Any:
    """Evaluate a measure on these rows; of several columns, only rows that have all of them."""
    if isinstance(measure, Mapping):
        columns = pd.DataFrame({name: _column(rows, each) for name, each in measure.items()})
        known = columns.dropna()
        return {name: known[name] for name in measure}
    if isinstance(measure, str | Expression):  # an expression counts as callable
        return _column(rows, measure).dropna()
    return measure(rows)


def _column(rows: pd.DataFrame, measure: Column) -> pd.Series[Any]:
    if isinstance(measure, str):
        return rows[measure]
    return rows.assign(measured=measure)["measured"]


# -- numbers in words ----------------------------------------------------------------------------


class MeasuredNumbers:
    """Measured numbers; formatted, they are told by their least and largest.

    >>> f"{MeasuredNumbers([1, 3, 2]):.2g}, {MeasuredNumbers([2, 2]):g}"
    '1 to 3, 2'
    >>> f"{MeasuredNumbers([1, 3, 2]).each:g}"
    '1, 3, 2'
    """

    def __init__(self, measured: float | Iterable[float]) -> None:
        every = list(measured) if isinstance(measured, Iterable) else [measured]
        self.array: Array = np.array(every, dtype=float).ravel()

    def __format__(self, spec: str) -> str:
        low, high = format(self.low, spec), format(self.high, spec)
        return low if low == high else f"{low} to {high}"

    @property
    def low(self) -> float:
        return float(self.array.min())

    @property
    def high(self) -> float:
        return float(self.array.max())

    @property
    def first(self) -> float:
        return float(self.array[0])

    @property
    def last(self) -> float:
        return float(self.array[-1])

    @property
    def size(self) -> float:
        """The largest absolute value."""
        return float(np.abs(self.array).max())

    @property
    def count(self) -> int:
        return len(self.array)

    @property
    def each(self) -> Listed:
        return Listed(self.array.tolist())


@dataclass(frozen=True)
class Listed:
    """Things to be told one after the other, each in the same format."""

    members: Sequence[Any]

    def __format__(self, spec: str) -> str:
        return ", ".join(format(member, spec) for member in self.members)


def spread(measured: Iterable[float], spec: str = ".3g") -> str:
    """State the least and the largest in words, or the only one."""
    return format(MeasuredNumbers(measured), spec)


def tell(members: Mapping[Any, Any], form: str, between: str = ", ") -> str:
    """Write each pair of key `{0}` and value `{1}` in one format, one after the other."""
    return between.join(form.format(key, _in_words(value)) for key, value in members.items())


def _in_words(value: Any) -> Any:
    """Turn arrays into numbers to be told; leave words and single numbers as they are."""
    return (
        MeasuredNumbers(value)
        if isinstance(value, list | tuple | np.ndarray | pd.Series)
        else value
    )


# -- tests ---------------------------------------------------------------------------------------


def when(
    test: Callable[[Array], bool],
    measure: Measure,
    text: str,
    of: str | None = None,
    on: Mapping[str, Value] | None = None,
) -> Check:
    """Check that the measured numbers pass a test: all, or those named `of`.

    `text` is a format of what was measured; `on` are values of columns, to measure these rows
    alone.
    """

    def check(table: pd.DataFrame) -> Finding:
        measured = numbers(where(table, **on) if on else table, measure)
        if not isinstance(measured, Mapping):
            return Finding(
                bool(test(MeasuredNumbers(measured).array)), text.format(_in_words(measured))
            )
        tested = [
            MeasuredNumbers(each).array
            for each in (measured.values() if of is None else [measured[of]])
        ]
        return Finding(
            bool(test(np.concatenate(tested))),
            text.format(**{name: _in_words(each) for name, each in measured.items()}),
        )

    return check


def within(
    measure: Measure,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    text: str,
    of: str | None = None,
    on: Mapping[str, Value] | None = None,
) -> Check:
    """Check that all numbers lie in limits, both included, in the unit of the numbers."""
    return when(lambda x: bool(((low <= x) & (x <= high)).all()), measure, text, of, on)


def grows(measure: Measure, text: str) -> Check:
    """Check that each number is more than the one before it."""
    return when(lambda x: bool((np.diff(x) > 0).all()), measure, text)


def falls(measure: Measure, text: str) -> Check:
    """Check that each number is less than the one before it."""
    return when(lambda x: bool((np.diff(x) < 0).all()), measure, text)


def agrees(measure: Measure, stated: Sequence[float], relative: float) -> Check:
    """Check that numbers agree with stated ones, within this share of each."""

    def off(table: pd.DataFrame) -> Array:
        return np.asarray(100 * abs(MeasuredNumbers(numbers(table, measure)).array / stated - 1))

    return within(
        off, high=100 * relative, text="{0.count} numbers, largest difference {0.high:.2g} %"
    )


def all_of(measure: Measure, text: str) -> Check:
    """Check that something holds in every row."""

    def check(table: pd.DataFrame) -> Finding:
        holds = np.asarray(numbers(table, measure), dtype=bool)
        return Finding(bool(holds.all()), text.format(held=int(holds.sum()), count=len(holds)))

    return check


def as_exact(
    measure: Callable[[pd.DataFrame], pd.DataFrame], limit: float = 3.5, unit: str = "cells"
) -> Check:
    """Check that simulated errors agree with the exact ones, within `limit` standard errors.

    3.5 is one in two thousand by chance. Rows have `error`, its `se`, `exact` and `repeats`.
    """

    def check(table: pd.DataFrame) -> Finding:
        rows = measure(table)
        apart = float(((rows[ERROR] - rows["exact"]) / rows[SE]).abs().max())
        return Finding(
            apart < limit,
            f"{len(rows)} {unit} of {rows['repeats'].iloc[0]:g} data "
            f"sets, at most {apart:.1f} standard errors apart",
        )

    return check


def share_limits(successes: float, count: int) -> tuple[float, float]:
    """Compute exact (Clopper–Pearson) limits for a share."""
    tail = (1 - CONFIDENCE) / 2
    low = float(beta.ppf(tail, successes, count - successes + 1)) if successes > 0 else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, count - successes)) if successes < count else 1.0
    return low, high


def covers(
    measure: Callable[[pd.DataFrame], pd.DataFrame],
    share: str,
    text: str,
    low_share: float = 0.93,
    high_share: float = 0.97,
) -> Check:
    """Check that intervals hold about 95 times in 100, as far as the number of data sets can tell.

    `share` is their column, beside `repeats`; `text` is a format of `{share}`, `{rows}` and
    `{repeats}`.
    """

    def check(table: pd.DataFrame) -> Finding:
        rows = measure(table)
        limits = [
            share_limits(round(measured * count), int(count))
            for measured, count in zip(rows[share], rows["repeats"], strict=True)
        ]
        return Finding(
            all(low < high_share and high > low_share for low, high in limits),
            text.format(
                share=MeasuredNumbers(rows[share]),
                rows=len(rows),
                repeats=" and ".join(f"{count:g}" for count in pd.unique(rows["repeats"])),
            ),
        )

    return check


# -- lines with standard errors -----------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """Means y ± se over x, in the order of x: (points,) each."""

    x: Array
    y: Array
    se: Array

    @classmethod
    def of(
        cls, table: Table | pd.DataFrame, along: str, y: str = ERROR, se: str = SE, **values: Value
    ) -> Line:
        """Return the line of these columns, of the rows with these values, in the order of x."""
        rows = where(table, **values).sort_values(along)
        return cls(*(rows[name].to_numpy(dtype=float) for name in (along, y, se)))

    @property
    def log_se(self) -> Array:
        """Standard errors of log y."""
        return self.se / self.y

    def between(self, low: float, high: float) -> Line:
        """Return the part of the line over x from `low` to `high`, both included."""
        inside = (self.x >= low) & (self.x <= high)
        return Line(self.x[inside], self.y[inside], self.se[inside])

    def log_at(self, x: float) -> Number:
        """Return the logarithm of y at one of the points x."""
        k = int(np.flatnonzero(self.x == x)[0])
        return Number(math.log(self.y[k]), float(self.log_se[k]))


@dataclass(frozen=True)
class Number:
    """A measured number with its standard error; written with half its 95 % interval."""

    value: float
    se: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {NORMAL * self.se:.2f}".replace("-", "−")

    def near(self, other: float, margin: float, errors: float = 2.0) -> bool:
        """True if both differ by at most `margin`, in their unit, and so many standard errors."""
        return abs(self.value - other) <= margin + errors * self.se

    def __sub__(self, other: Number) -> Number:
        return Number(self.value - other.value, math.hypot(self.se, other.se))

    def is_above(self, limit: float, errors: float = CLEAR) -> bool:
        """True if the number exceeds a limit by so many standard errors."""
        return self.value - errors * self.se > limit

    def is_below(self, limit: float, errors: float = CLEAR) -> bool:
        """True if a limit exceeds the number by so many standard errors."""
        return self.value + errors * self.se < limit


def slope(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Fit the least squares slope of log y on log x, both positive: (points,)."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def log_slope(line: Line) -> Number:
    """Fit log y to log x by least squares; the standard error follows from those of the means."""
    x = np.log(line.x) - np.log(line.x).mean()
    spread = (x**2).sum()
    return Number(
        float(x @ np.log(line.y) / spread), float(math.sqrt((x**2 * line.log_se**2).sum()) / spread)
    )


def change(line: Line, start: float, end: float) -> Number:
    """Compute the change of log y between two x."""
    return line.log_at(end) - line.log_at(start)


def average(numbers: Sequence[Number]) -> Number:
    """Average numbers; they may share data, so their standard errors are averaged as well."""
    return Number(
        float(np.mean([n.value for n in numbers])), float(np.mean([n.se for n in numbers]))
    )


@dataclass(frozen=True)
class Fall:
    """Descent of lines: the steepest rise in standard errors, and the fall from end to end.

    `smallest_ratio` and `largest_ratio` are y at the start over y at the end, `sure` the least
    number of standard errors by which a line falls.
    """

    rise: float
    smallest_ratio: float
    largest_ratio: float
    sure: float

    def holds(self, errors: float = 4.0) -> bool:
        """Check that every line falls by so many standard errors, and no step rises by as many."""
        return self.rise <= errors and self.sure >= errors

    def __str__(self) -> str:
        step = (
            f"the largest step up is {self.rise:.1f} standard errors"
            if self.rise > 0
            else "no step goes up"
        )
        folds = (
            f"{self.smallest_ratio:.3g}-fold"
            if self.smallest_ratio == self.largest_ratio
            else f"{self.smallest_ratio:.3g}- to {self.largest_ratio:.3g}-fold"
        )
        return f"errors fall {folds} from end to end; {step}"


def fall(lines: Sequence[Line]) -> Fall:
    """Summarize how lines go down, each from its least x to its largest."""
    steps = np.concatenate(
        [np.diff(np.log(line.y)) / np.hypot(line.log_se[1:], line.log_se[:-1]) for line in lines]
    )
    ends = [change(line, line.x[0], line.x[-1]) for line in lines]
    ratios = [math.exp(-end.value) for end in ends]
    return Fall(
        float(steps.max()), min(ratios), max(ratios), min(-end.value / end.se for end in ends)
    )


def lines(table: Table | pd.DataFrame, along: str, by: Sequence[str]) -> list[Line]:
    """Return a line of errors for each set of values in some columns."""
    return [Line.of(rows, along) for _, rows in groups(frame(table), by)]


def all_fall(measure: Callable[[pd.DataFrame], Sequence[Line]], text: str) -> Check:
    """Check that lines go down from end to end, and nowhere clearly up."""

    def check(table: pd.DataFrame) -> Finding:
        falling = fall(measure(table))
        return Finding(falling.holds(), text.format(falling))

    return check


def slope_near(
    measure: Callable[[pd.DataFrame], Line],
    power: float,
    margin: float,
    text: str,
    errors: float = 2.0,
) -> Check:
    """Check that a line has the slope `power` on log axes, within a margin and standard errors.

    `text` is a format of `{slope}`, `{power}` and `{margin}`.
    """

    def check(table: pd.DataFrame) -> Finding:
        measured = log_slope(measure(table))
        return Finding(
            measured.near(power, margin, errors),
            text.format(slope=measured, power=f"{power:g}", margin=f"{margin:g}").replace(
                " -", " −"
            ),
        )

    return check
