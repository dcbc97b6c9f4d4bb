"""Reading tables of results: rows at a place, a column against an axis, and clear differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from engine.exhibits import Row, Table

_CLEAR = 3.0  # standard errors by which numbers must differ to count as different
_DIGITS = 5


def rows(table: Table, **at: Any) -> list[Row]:
    """The rows at a place: those with these values."""
    return [row for row in table if all(row.get(name) == value for name, value in at.items())]


def number(table: Table, column: str, **at: Any) -> float:
    """The number in a column of the only row at a place."""
    (row,) = rows(table, **at)
    return as_number(row, column)


def smallest(errors: Mapping[str, float]) -> str:
    """The name with the smallest error."""
    return min(errors, key=errors.__getitem__)


def as_number(row: Row, column: str) -> float:
    value = row[column]
    assert isinstance(value, int | float)
    return float(value)


def numbers(found: Sequence[Row], column: str) -> list[float]:
    """A column as numbers."""
    return [as_number(row, column) for row in found]


def values(table: Table, name: str) -> list[Any]:
    """The different values in a column, in the order in which they come."""
    return list(dict.fromkeys(row[name] for row in table if row.get(name) is not None))


def pooled(*errors: float) -> float:
    """Standard error of a sum or difference of independent numbers."""
    return math.hypot(*errors)


def is_below(a: float, b: float, se: float) -> bool:
    """Whether a is less than b by three standard errors of their difference."""
    return a < b - _CLEAR * se


def spread(found: Iterable[float], form: Callable[[float], str] = "{:.3g}".format) -> str:
    """Least and largest in words, or the only one."""
    every = list(found)
    ends = form(min(every)), form(max(every))
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def short(value: float) -> float:
    """Five digits, which is more than any result has."""
    return float(f"{value:.{_DIGITS}g}")
