"""Moments in names of columns, and what the times of a file are most likely counted from.

That follows from private times, so it is offered to the holder and never taken without being shown.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.types import Array
from engine.uploads.cells import read_cells
from engine.uploads.reading_of_files import (
    DAY,
    FIRST,
    UNITS,
    Column,
    Frame,
    Kind,
    Offset,
    Order,
    Reading,
)

_IN_NAMES = {  # in which everybody reads the day and the month alike
    Kind.DATE: re.compile(r"[0-9]{4}[-/][0-9]|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}"),
    Kind.CLOCK: re.compile(r"[0-9]{1,2}:[0-9]{2}"),
}
_PLAIN = Reading(frame=Frame(header=("",)))
_NEARLY_ALL = 0.9  # of the people, by whom a proposal is made: nobody changes it alone
_DAY = 24.0  # hours
_ROUNDING = 1e-6  # hours
_FEW_TIMES = 4  # from which equal distances are no chance
_MANY_TIMES, _MANY_HOURS = 30, 10  # of which none has minutes beyond 59


def kind_of_name(name: str) -> Kind | None:
    """Return if a column is called by a date or a clock time; None of any other name."""
    return next((kind for kind in _IN_NAMES if time_in_name(name, kind) is not None), None)


def time_in_name(name: str, kind: Kind | None = None, counted: str = "") -> float | None:
    """Return the number of the date or clock time that a column is called by; None without."""
    kind = kind or kind_of_name(name)
    if kind is None or not _IN_NAMES[kind].match(name.strip()):
        return None
    as_read = Kind.ELAPSED if kind is Kind.CLOCK and counted in UNITS else kind
    column = Column(names=("",), kind=as_read, order=Order.DMY, counted=counted, offset=Offset.KEPT)
    time = float(read_cells([pa.array([name])], column, _PLAIN).values[0])
    return time if np.isfinite(time) else None


def beginning_of(hours: Array, person: NDArray[np.int64]) -> str:
    """Return what stamps most likely count: hours (N,) from one midnight, and whose they are.

    Where the stamps of nearly everybody lie within one day of the calendar it is the time of day;
    where they lie within 24 hours, the time since each person's first observation; else nothing.
    """
    known = np.isfinite(hours)
    hours, person = hours[known], np.unique(person[known], return_inverse=True)[1]
    if not len(hours) or (np.abs(hours / _DAY - np.round(hours / _DAY)) < _ROUNDING).mean() > 0.5:
        return ""  # days without a time of day
    several = np.bincount(person) > 1
    if not several.any():  # everybody was observed once: their days together say it
        person, several = np.zeros(len(hours), dtype=np.int64), np.array([True])
    first, last = np.full(len(several), np.inf), np.full(len(several), -np.inf)
    np.minimum.at(first, person, hours)
    np.maximum.at(last, person, hours)
    first, last = first[several], last[several]
    if (last <= _DAY * (np.floor(first / _DAY) + 1) + _ROUNDING).mean() >= _NEARLY_ALL:
        return f"hours {DAY}"
    return f"hours since {FIRST}" if (last - first <= _DAY).mean() >= _NEARLY_ALL else ""


def refuse_compact(numbers: Array, column: str) -> None:
    """Refuse dates without dashes, such as 20240131, and clock times without a colon, as 0830.

    As numbers their distances mean nothing.
    """
    known = numbers[np.isfinite(numbers)]
    if not len(known) or not (known == np.floor(known)).all():
        return
    if _are_compact_clock_times(known):
        raise InputError(
            f"The times of column “{shortened(column)}” look like clock times without a colon.",
            field="time",
            hint="Write 0830 as 08:30: read as numbers, one "
            "o’clock would be 41 away from a minute before.",
        )
    if not ((known >= 19000101) & (known <= 21001231)).all():
        return
    month, day = known // 100 % 100, known % 100
    if ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
        raise InputError(
            f"The times of column “{shortened(column)}” look like dates without dashes.",
            field="dates",
            hint="Write 19990131 as 1999-01-31: read as "
            "numbers, the last day of a month would be 70 away from the next one.",
        )


def _are_compact_clock_times(known: Array) -> bool:
    """True if whole numbers are equally far apart as clock times alone, or there are many."""
    if known.min() < 0 or known.max() > 2400 or (known % 100 >= 60).any():
        return False
    distinct = np.unique(known)
    if len(distinct) < _FEW_TIMES:
        return False
    hours, minutes = np.divmod(distinct, 100)
    steps, as_numbers = np.diff(60 * hours + minutes), np.diff(distinct)
    n_hours = len(np.unique(hours))
    is_regular = (
        steps.min() == steps.max()
        and as_numbers.min() != as_numbers.max()
        and (n_hours > 2 or distinct[0] >= 100)
    )  # 0, 10, …, 50, 100 may be minutes
    return bool(
        is_regular
        or (len(distinct) >= _MANY_TIMES and (minutes % 50 != 0).any() and n_hours >= _MANY_HOURS)
    )
