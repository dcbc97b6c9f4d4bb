"""What the times of a file are most likely counted from: a suggestion for its holder to confirm.

It follows from private times, so that it is offered in a form and never taken without being shown.
Requests of the command line state it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.core.types import Array
from engine.uploads.columns import Integers
from engine.uploads.conversions import Dates, Kind, kind_of_name, time_in_name
from engine.uploads.layout import Layout, plain_name
from engine.uploads.tables import Numbers, Table

_NEARLY_ALL = 0.9  # of the people, by whom a suggestion is made: nobody changes it alone
_ELAPSED = {"elapsed", "duration", "stopwatch", "split", "lap", "since", "after", "runtime"}
_DAY = 24.0  # hours
_ROUNDING = 1e-6  # hours


def suggested_dates(table: Table, layout: Layout) -> Dates:
    """How times are most likely meant.

    Where the stamps of nearly everybody lie within one day of the calendar it is the time of day;
    where they lie within 24 hours, time since each person's first observation. Cells such as
    1:40:00 are times of day, and elapsed times where the name of the column says so or some pass 24
    hours. All in hours; otherwise as `layout` says.

    Parameters
    ----------
    table : Table
        As the layout reads it.
    layout : Layout
        Which column plays which role.
    """
    dates = Dates(layout.dates.day_first)
    if layout.is_wide:
        return _of_names(layout, dates)
    if layout.time is None:
        return dates
    kind = kind_of_times(table, layout)
    if kind == Kind.CLOCK:
        is_elapsed = bool({*plain_name(layout.time).split("_")} & _ELAPSED) or bool(
            _read(table, layout, dates).unreadable)
        return replace(dates, elapsed="hours") if is_elapsed else replace(dates, of_day="hours")
    if kind != Kind.DATES:
        return dates
    hours = _read(table, layout, replace(dates, from_first="hours")).values
    person = (table.codes(layout.id)[0] if layout.id else np.arange(table.n_rows))
    return of_stamps(hours, person, dates)


def kind_of_times(table: Table, layout: Layout) -> str:
    """What the times are in the file: one of `Kind`, or "" of numbers and of a column that is open.

    Parameters
    ----------
    table, layout
        As for `suggested_dates`.
    """
    if layout.is_wide:
        return kind_of_name(layout.times[0][0])
    if layout.time is None:
        return ""
    plain = Dates(layout.dates.day_first)
    column = _read(table, layout, plain)
    if column.unreadable and not column.is_ambiguous:  # elapsed times may pass 24 hours
        elapsed = _read(table, layout, replace(plain, elapsed="hours"))
        column = column if elapsed.unreadable else elapsed
    return column.kind


def _read(table: Table, layout: Layout, dates: Dates) -> Numbers:
    return replace(table, dates=dates).numbers(str(layout.time))


def _of_names(layout: Layout, dates: Dates) -> Dates:
    """Of times in the names of columns, which everybody shares."""
    kind = kind_of_name(layout.times[0][0])
    if kind == Kind.CLOCK:
        return replace(dates, of_day="hours")
    if kind != Kind.DATES:
        return dates
    counted = replace(dates, from_first="hours")
    hours = np.array([time_in_name(name, counted) for name, _ in layout.times], dtype=float)
    return of_stamps(hours, np.zeros(len(hours), dtype=np.int64), dates)


def of_stamps(hours: Array, person: Integers, dates: Dates) -> Dates:
    """By how long people were observed: hours (N,) from one midnight, and whose they are."""
    known = np.isfinite(hours)
    hours, person = hours[known], np.unique(person[known], return_inverse=True)[1]
    if not len(hours) or (np.abs(hours / _DAY - np.round(hours / _DAY)) < _ROUNDING).mean() > 0.5:
        return dates  # days without a time of day
    several = np.bincount(person) > 1
    if not several.any():  # everybody was observed once: their days together say it
        person, several = np.zeros(len(hours), dtype=np.int64), np.array([True])
    first, last = np.full(len(several), np.inf), np.full(len(several), -np.inf)
    np.minimum.at(first, person, hours)
    np.maximum.at(last, person, hours)
    first, last = first[several], last[several]
    if (last <= _DAY * (np.floor(first / _DAY) + 1) + _ROUNDING).mean() >= _NEARLY_ALL:
        return replace(dates, of_day="hours")
    if (last - first <= _DAY).mean() >= _NEARLY_ALL:
        return replace(dates, from_first="hours")
    return dates
