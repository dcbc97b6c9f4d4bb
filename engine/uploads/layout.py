"""Which column of a table plays which role, suggested from the names of the columns."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.core.tasks import DataType
from engine.uploads.conversions import CALENDAR, Dates, Kind, time_in_name
from engine.uploads.proposing.names import RESPONSES, found, names_in, usual_names
from engine.uploads.proposing.names import plain_name as plain_name
from engine.uploads.proposing.names import roles_by_name as roles_by_name
from engine.uploads.proposing.names import site_like as site_like
from engine.uploads.proposing.series import FEW_TIMES as FEW_TIMES
from engine.uploads.proposing.series import (
    begins_with_a_row,
    check_beginning,
    check_family,
    may_begin_with_times,
    numbered,
    refuse_names,
    series_of,
)
from engine.uploads.tables import Table, column_key, nearest

KINDS = {"long": "one row per observation", "wide": "one row per curve",
         "transposed": "one column per curve"}
ROLES = ("id", "time", "value", "server")
CHOSEN_ROLES = ("server", "group")  # never taken from a name: they say who is trusted, and compared
_MEANINGS = {"id": "who a row belongs to", "time": "when an observation was taken",
             "value": "what was measured"}


@dataclass(frozen=True)
class Layout:
    """Which column plays which role; names are those of the table.

    Parameters
    ----------
    id : str or None
        Who a row belongs to. Needed where curves have one row per observation; elsewhere every row
        is another person without it.
    time, value : str or None
        When and what was measured, where a row is an observation. The value
        of a record is its response, if it has one.
    server : str or None
        The site. Without it one trusted centre holds everything; with it each site adds its own
        noise.
    covariates : tuple of str
        Columns that may explain curves, each constant along a curve; the features of records.
    times : tuple of (str, float)
        Each column of observations with its time, in the unit of the file, where a row is a curve.
    data : DataType
        Curves, single observations (one row and one reading of everybody), or records.
    is_transposed : bool
        Whether every person has a column of the file: the names here are those of the table once
        its rows are columns (`Table.transposed`).
    dates : Dates
        How dates are read.
    group : str or None
        The group a person is in, which everybody may know.
    """

    id: str | None = None
    time: str | None = None
    value: str | None = None
    server: str | None = None
    covariates: tuple[str, ...] = ()
    times: tuple[tuple[str, float], ...] = ()
    data: DataType = DataType.CURVES
    is_transposed: bool = False
    dates: Dates = CALENDAR
    group: str | None = None

    @property
    def is_wide(self) -> bool:
        """Whether a row is a whole curve."""
        return bool(self.times)

    @property
    def is_single(self) -> bool:
        """Whether everybody has one observation."""
        return self.data == DataType.READINGS

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        return "transposed" if self.is_transposed else "wide" if self.is_wide else "long"

    def of(self, table: Table) -> Table:
        """The table as this layout reads it: turned if people are in columns, with its dates.

        Parameters
        ----------
        table : Table
            Of the file.
        """
        dated = replace(table, dates=self.dates)
        return dated.transposed() if self.is_transposed else dated

    def dated(self, dates: Dates) -> Layout:
        """The same with dates and clock times read in another way, in the names of columns too.

        Parameters
        ----------
        dates : Dates
        """
        moments = [time_in_name(name, dates) for name, _ in self.times]
        times = tuple((name, before if moment is None or not math.isfinite(moment) else moment)
                      for (name, before), moment in zip(self.times, moments, strict=True))
        return replace(self, dates=dates, times=times)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        return (*self.covariates,
                *[name for name in (self.id, self.time, self.value, self.server, self.group)
                  if name],
                *[name for name, _ in self.times])

    def unused(self, table: Table) -> list[str]:
        """The columns of a table without a role.

        Parameters
        ----------
        table : Table
            With the columns that the layout names.
        """
        return [name for name in table.columns if name not in self.columns]

    def check(self) -> None:
        """Refuse two roles of one column, and records without a number.

        Raises
        ------
        InputError
            Naming the column.
        """
        if self.data == DataType.RECORDS and not self.covariates:
            raise InputError("Choose at least one column of numbers.", field="covariates",
                             hint="Every number of a record stands in a column of its own.")
        check_one_role_each(self.columns)


def check_one_role_each(columns: Sequence[str]) -> None:
    """Refuse two roles of one column.

    Parameters
    ----------
    columns : sequence of str
        One for each role.

    Raises
    ------
    InputError
        Naming the column.
    """
    twice = repeated(columns)
    if twice:
        raise InputError(f"The column “{shortened(twice[0])}” has two roles.", field="layout",
                         hint="Choose another column for one of them.")


def repeated(names: Sequence[str]) -> list[str]:
    """The names that occur more than once.

    Parameters
    ----------
    names : sequence of str
        In any order, which is that of the result.
    """
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def has_people_in_columns(table: Table) -> bool:
    """True if the first column looks like the times of all others, each of which is a person.

    It is called as a time or holds dates, it increases, and no column is called as a person or as
    what was measured is.
    """
    others = table.columns[1:]
    return _begins_with_times(table) and "" not in {numbered(name, table)[0] for name in others}


def _begins_with_times(table: Table) -> bool:
    """True if the first column, by its name and numbers, is the time of all that stands beside."""
    may, is_called_so = may_begin_with_times(table)
    if not may:
        return False
    times = table.numbers(table.columns[0])
    if not is_called_so and times.kind not in (Kind.DATES, Kind.CLOCK):
        return False  # row numbers and what was measured increase as well
    return bool(table.n_rows > 1 and not times.unreadable and not times.missing
                and (times.values[1:] > times.values[:-1]).all())


def _refuse_numbered_people(table: Table) -> None:
    """Refuse columns beside times whose names are numbers: of people, or times as well."""
    first, *others = table.columns
    if {numbered(name, table)[0] for name in others} == {""} and _begins_with_times(table):
        raise InputError(f"The columns beside “{shortened(first)}” are called by numbers: these "
                         "may be people or times.", field="layout", hint="Put a letter before the "
                         "numbers of people, as in P101; or add a column of ids, if every row is a "
                         "person.")


def suggest_layout(table: Table, roles: Mapping[str, Any] | None = None, kind: str | None = None,
                   data: DataType = DataType.CURVES) -> Layout:
    r"""The roles of the columns by their names; a person's choices override.

    A column that looks like one of sites gets no role unless it is chosen: who is trusted with the
    data is for their holder to say (`site_like` offers it). All other columns of records are
    features.

    Parameters
    ----------
    roles : mapping
        "id", "time", "value", "server", "group" → a column name, or None for no column;
        "covariates" → column names.
    kind : "long", "wide" or "transposed"
        Whether a row is an observation or a curve, or a column is one; from the names if None.
    data : DataType
        What the rows are.

    Raises
    ------
    InputError
        If a column does not exist or has two roles, a needed role has no column, or the table
        looks long and wide at once.

    Examples
    --------
    >>> from engine.uploads.tables import read_table
    >>> table = read_table(b"child_id,Age (years),height\nA-01,2,86\nA-01,6,115\n")
    >>> suggest_layout(table).time
    'Age (years)'
    """
    choices = found(table, roles or {})
    if data == DataType.RECORDS:
        return replace(_of_records(table), dates=table.dates)
    if kind == "transposed" or (kind is None and not choices and data == DataType.CURVES
                                and has_people_in_columns(table)):
        transposed = suggest_layout(table.transposed(), roles, "wide", data)
        return replace(transposed, is_transposed=True)
    if kind is None and not choices and data == DataType.CURVES:
        _refuse_numbered_people(table)
    suggested = roles_by_name(table, choices)
    series = series_of(table, names_in(choices))
    is_wide = data == DataType.CURVES and (kind or _kind(choices, suggested, series)) == "wide"
    layout = (_wide(table, choices, suggested, series) if is_wide else
              _long(table, choices, suggested, data))
    layout.check()
    return replace(layout, dates=table.dates)


def _of_records(table: Table) -> Layout:
    """Response and id by their names; who is trusted with the records is for their holder to say.

    So a column that looks like one of sites is no feature, and no site either.
    """
    suggested = roles_by_name(table, {"time": None, "value": None})
    value = next((name for name in table.columns if column_key(name) in RESPONSES), None)
    used = {value, *suggested.values()}
    return Layout(suggested.get("id"), value=value, data=DataType.RECORDS,
                  covariates=tuple(name for name in table.columns if name not in used))


def _kind(choices: Mapping[str, Any], suggested: Mapping[str, str], series: Mapping[str, float]
          ) -> str:
    """Decide between long and wide, or say why the table looks like both."""
    if choices.get("time") or choices.get("value") or not series:
        return "long"
    if "time" not in suggested or "value" not in suggested:
        return "wide"
    raise InputError(
        f"The table looks both long and wide: {listed([suggested['time'], suggested['value']])} "
        f"would be one row per observation, {counted(len(series), 'numbered column')} such as "
        f"{listed(list(series)[:1])} one row per curve.", field="layout",
        hint="Keep one row per observation, or one row per curve, and leave the other columns out.")


def _long(table: Table, choices: Mapping[str, Any], suggested: Mapping[str, str], data: DataType
          ) -> Layout:
    roles: dict[str, str | None] = {role: choices.get(role, suggested.get(role)) for role in ROLES}
    roles |= {role: choices.get(role) for role in CHOSEN_ROLES}
    covariates = tuple(choices.get("covariates") or ())
    used = (*roles.values(), *covariates, suggested.get("server"))
    free = [name for name in table.columns if name not in used]
    lacking = _lacking(roles, data)
    left = free
    if lacking == ["value"] and len(free) > 1:
        left = [name for name in free if not table.numbers(name).unreadable]
    if lacking not in ([], ["id"]) and len(lacking) == len(left) == 1 and (
            lacking[0] not in choices):
        roles[lacking[0]] = left[0]  # the only column left for the only role left but a person
    elif lacking:
        raise _lacking_roles(lacking, free, table)
    return Layout(roles["id"], roles["time"], roles["value"], roles["server"], covariates,
                  data=data, group=roles["group"])


def check_roles(table: Table, layout: Layout) -> None:
    """Refuse a layout of one row per observation in which a needed role has no column.

    Raises
    ------
    InputError
        Naming the roles, and the columns that are left for them.
    """
    lacking = _lacking({role: getattr(layout, role) for role in ROLES}, layout.data)
    if lacking:
        raise _lacking_roles(lacking, layout.unused(table), table)


def _lacking(roles: Mapping[str, str | None], data: DataType) -> list[str]:
    """The roles without a column without which one row per observation cannot be read."""
    needed = ("time", "value") if data == DataType.READINGS else ("id", "time", "value")
    return [role for role in needed if roles[role] is None]


def _lacking_roles(roles: list[str], free: list[str], table: Table) -> InputError:
    """No column plays a role; names that are numbers may be observations, and are not repeated."""
    if "time" in roles:
        refuse_names(table)
    names, free = ([name for name in columns if numbered(name, table)[0]]
                   for columns in (table.columns, free))
    near = next(filter(None, (nearest(name, free) for name in usual_names(roles[0]))), "")
    columns = f"Found {listed(names, 8)}. "
    if len(names) < len(table.columns) and (not names or begins_with_a_row(table)):
        columns, near = "The first line is a row of data, no names. ", ""
    *others, last = (_MEANINGS[role] for role in roles)
    needed = f"{', '.join(others)} or {last}" if others else last
    n_numbers = sum(numbered(name, table)[0] == "" for name in table.columns)
    if "time" in roles and n_numbers > 1 and columns.startswith("Found"):
        near = "Columns that are called by their times must stand in order of time. "
    wide = (" If a row is a curve, name its columns by their times: 0, 6, 12, or week 0, week 6."
            if "time" in roles and sum(bool(re.search("[0-9]", name)) for name in free) > 1 else "")
    return InputError(f"By their names, no column says {needed}.", field="layout",
                      hint=f"{columns}{near}Name the columns “id”, “time” and “value”, or choose "
                      f"which is which.{wide}")


def _wide(table: Table, choices: Mapping[str, Any], suggested: Mapping[str, str],
          series: Mapping[str, float]) -> Layout:
    if not series:
        raise InputError("No column names say when observations were taken.", field="layout",
                         hint="Name the columns of observations by their times, or number them as "
                         "in x_01, x_02, without repeats.")
    refuse_names(table)
    server, group = (choices.get(role) for role in CHOSEN_ROLES)
    covariates = tuple(choices.get("covariates") or ())
    check_family(table, series, covariates)
    check_beginning(table, series, covariates)
    return Layout(choices.get("id", suggested.get("id")), server=server, covariates=covariates,
                  times=tuple(series.items()), group=group)
