"""Columns that are called by times or numbered, where a line is a curve, and people in columns."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.uploads.cells import MINUS, NUMBER
from engine.uploads.proposing.moments import time_in_name
from engine.uploads.proposing.names import NamedColumns, plain_name, roles_by_name
from engine.uploads.units import known_unit

_COMPACT_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3])[0-5][0-9]")
"""A clock time without a colon; other numbers have four digits, too."""
_LEAST_STEP = 5  # minutes between clock times without a colon, which might be ids otherwise
_TIME_STEMS = {"day", "hour", "minute", "week", "month", "year", "visit", "age"}  # before a number
_TIME_UNITS = {"seconds", "minutes", "hours", "days", "weeks", "months", "years"}  # behind it
_BEGINNINGS = {"baseline", "screening"}  # times that are called so, and have no number
_YEAR_MONTH = re.compile(r"(19|20)[0-9]{2}[-/][0-9]{1,2}|[0-9]{1,2}[-/](19|20)[0-9]{2}")
_OF_SLOTS = {
    "h",
    "hh",
    "hr",
    "hrs",
    "hour",
    "min",
    "minute",
    "t",
    "time",
    "x",
    "y",
    "v",
    "obs",
    "value",
    "q",
    "slot",
    "interval",
    "period",
}  # numbered, they are times of a row
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CALENDAR = {
    name[:letters]: (stem, float(place))
    for stem, names in (("month_of_year", _MONTHS), ("day_of_week", _WEEKDAYS))
    for place, name in enumerate(names, start=1)
    for letters in (3, 4, len(name))
}
_SLASHED = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}.*")
UNNAMED = "column {}"  # as a table calls it by its place
_FEW_TIMES = 3  # names that are numbers, which may as well be a first observation


def with_colons(names: Sequence[str]) -> dict[str, str]:
    """Return clock times without a colon among names of columns, such as 0830, with one: 08:30.

    They are no numbers if one begins with 0 and they are equally far apart as clock times.
    """
    clock = [name for name in names if _COMPACT_CLOCK.fullmatch(name)]
    minutes = [60 * int(name[:2]) + int(name[2:]) for name in clock]
    steps = {after - before for before, after in pairwise(minutes)}
    if (
        len(clock) < 3
        or not any(name[0] == "0" for name in clock)
        or (len(steps) > 1 or min(steps) < _LEAST_STEP)
    ):
        return {}
    return {name: f"{name[:2]}:{name[2:]}" for name in clock}


def may_begin_with_times(columns: NamedColumns) -> tuple[bool, bool]:
    """Return if by its name the first column may be the time of all others, and if it is called so.

    No column is called as a person or as what was measured is.
    """
    first, *others = columns.columns
    suggested = roles_by_name(columns, {})
    is_called_so = suggested.get("time") == first
    may = (
        len(others) > 1
        and not {"id", "value"} & {*suggested}
        and (is_called_so or "time" not in suggested)
    )
    return may, is_called_so


def series_of(table: NamedColumns, used: set[str]) -> dict[str, float]:
    """Return column → time for columns called by times (0, 0.5, 1) or numbered (x_01, 2 y).

    Numbers differ, and names that are plain numbers increase: other numbers in the first line are
    a row of data without a header, as are few beside an id that comes again below it. Of several
    numbered families the largest counts. Two names are a family where they say that they are times.
    """
    families: dict[str, dict[str, float]] = {}
    for column in table.columns:
        stem, time = numbered(column, table)
        if time is not None and column not in used:
            families.setdefault(stem, {})[column] = time
    families = {stem: _with_minus_signs(family) for stem, family in families.items()}
    usable = {
        stem: family
        for stem, family in families.items()
        if len(family) >= (2 if _says_time(stem) else 3)
        and len(set(family.values())) == len(family)
        and not (stem == "" and len(family) <= _FEW_TIMES and begins_with_a_row(table))
        and (stem or list(family.values()) == sorted(family.values()))
    }
    return usable.get("") or max(usable.values(), key=len, default={})


def is_family_of_people(names: Sequence[str], table: NamedColumns) -> bool:
    """True if names are numbered alike, and not as times of a day are: M_001, M_002, …"""
    stems = {numbered(name, table)[0] for name in names}
    stem = min(stems)
    return (
        len(names) >= 3
        and len(stems) == 1
        and not _says_time(stem)
        and not {*stem.split("_")} & _OF_SLOTS
    )


def are_slots(names: Sequence[str]) -> bool:
    """True if numbered names say that they are times: 08:30, week_4, h1."""
    stems = {plain_name(re.split("[0-9]", name.strip())[0]) for name in names}
    return all(_says_time(stem) or stem in _OF_SLOTS or stem in _CALENDAR for stem in stems)


def _says_time(stem: str) -> bool:
    """True if a number with this stem is a time: plain numbers, week 4, 24 months."""
    return stem == "" or " " in stem or stem.split("_")[-1].removesuffix("s") in _TIME_STEMS


def refuse_names(table: NamedColumns) -> None:
    """Refuse names of which a wrong number would be read: months, clock times, several units."""
    months = [name for name in table.columns if _YEAR_MONTH.fullmatch(name.strip())]
    if len(months) > 1:
        raise InputError(
            f"The names of {counted(len(months), 'column')} such as "
            f"{listed(months[:1])} are months without a day.",
            field="layout",
            hint="Write them as dates, such as 2024-03-01, or as months since a start: 0, 1, 2.",
        )
    refuse_slashed(table)
    clock = [name for name in table.columns if _COMPACT_CLOCK.fullmatch(name)]
    if len(clock) > 1 and any(name[0] == "0" for name in clock):
        raise InputError(
            f"Names of columns such as {listed(clock[:1])} look like clock times without a colon.",
            field="layout",
            hint="Write 0830 as 08:30.",
        )
    units: dict[str, dict[str, str]] = {}  # by what was measured, one name in each unit
    for name in table.columns:
        before, _, unit = numbered(name, table)[0].partition(" ")
        if unit:
            units.setdefault(before, {})[unit] = name
    several = next((names for names in units.values() if len(names) > 1), None)
    if several:
        raise InputError(
            f"Names of columns say times in several units, such as "
            f"{listed([*several.values()][:2])}.",
            field="layout",
            hint="Write all of them in one unit, such as 6 months and 12 months.",
        )


def refuse_slashed(table: NamedColumns) -> None:
    """Refuse names that are dates by either order."""
    slashed = [name for name in table.columns if _SLASHED.fullmatch(name.strip())]
    if len(slashed) > 1:
        raise InputError(
            f"The names of {counted(len(slashed), 'column')} are dates with slashes, "
            "in which day and month may stand in either order.",
            field="layout",
            hint="Write them as 2024-03-31.",
        )


def _with_minus_signs(family: dict[str, float]) -> dict[str, float]:
    """The same, but week-4 beside week0 is four weeks before; if all have a hyphen it is none."""
    before = [name for name in family if re.search(rf"[^0-9][-{MINUS}][0-9.,]+$", name[-40:])]
    if len(before) == len(family):
        return family
    return {name: -time if name in before else time for name, time in family.items()}


def begins_with_a_row(table: NamedColumns) -> bool:
    """True if a name that is no number is a cell of its own column: an id, not a name."""
    return any(
        table.holds(column, column) for column in table.columns if numbered(column, table)[0]
    )


def numbered(column: str, table: NamedColumns) -> tuple[str, float | None]:
    """Split a column name in stem and number; the stem of a number, date or clock time is empty.

    The stem of a number with a unit of time behind it ends with a blank and that unit.
    """
    name = column[:200].replace(table.decimal, ".").replace(MINUS, "-")
    moment = time_in_name(name)
    if moment is not None:
        return "", moment
    if re.fullmatch(NUMBER, name.lower()):
        return "", float(name) if math.isfinite(float(name)) else None
    if name.strip().casefold() in _CALENDAR:
        return _CALENDAR[name.strip().casefold()]
    name = _without_brackets(name)
    end = re.search(r"[0-9]+(\.[0-9]+)?$", name[-30:])  # a longer number is no time
    if end is not None:
        return plain_name(name[: len(name) - len(end[0])]) or "_", float(end[0])
    end = re.search(r"(?:^|(?<=[\s_(]))([0-9]+(?:\.[0-9]+)?)([\s_-]?)([A-Za-z]+)$", name[-30:])
    unit = known_unit(end[3]) if end is not None and (end[2] != "_" or len(end[3]) > 1) else ""
    if end is None or unit not in _TIME_UNITS:
        return column, None
    return f"{plain_name(name[: len(name) - len(end[0])])} {unit}", float(end[1])


def _without_brackets(name: str) -> str:
    """Remove brackets at the end of a name, which hold a unit: h_2 (cm), or the time itself.

    Where there is a number before them and another in them, nobody can tell which is the time.
    """
    parts = re.fullmatch(r"(.*?)\s*[(\[]([^()\[\]]*)[)\]]\s*", name)
    if parts is None:
        return name
    before, inside = parts.groups()
    if not re.search(r"[0-9]", inside):
        return before
    return name if re.search(r"[0-9]$", before) else f"{before} {inside}"


def check_family(
    table: NamedColumns, series: Mapping[str, float], covariates: Sequence[str]
) -> None:
    """Refuse another set of columns, half as large at least, numbered as the observations are.

    Which of both was meant is not for a program to say.
    """
    times = sorted(map(abs, series.values()))
    families: dict[str, list[float]] = {}
    for column in table.columns:
        stem, time = numbered(column, table)
        if time is not None and column not in covariates:
            families.setdefault(stem, []).append(abs(time))
    alike = [
        family
        for family in families.values()
        if len({*family} & {*times}) > 1 and 2 * len(family) >= len(times)
    ]
    if len(alike) > 1:
        raise InputError(
            "Several sets of columns are numbered alike, such as "
            f"{listed(list(series)[:1])}: each could hold the observations.",
            field="layout",
            hint="Keep one set in the file, and leave out the others.",
        )


def check_beginning(
    table: NamedColumns, series: Mapping[str, float], covariates: Sequence[str]
) -> None:
    """Refuse an observation beside the others whose name, such as baseline, says no number."""
    stem = numbered(next(iter(series)), table)[0].partition(" ")[0]
    before = {*stem.split("_")[:-1]} if _says_time(stem) or "_" in stem else {stem} - {""}
    for column in table.columns:
        words = {*plain_name(column).split("_")}
        if (
            column not in covariates
            and words & _BEGINNINGS
            and words - _BEGINNINGS <= before
            and (before <= words)
        ):
            raise InputError(
                f"The column “{shortened(column)}” seems to be an observation beside "
                f"{listed(list(series)[:2])}, and its name says no time.",
                field="layout",
                hint="Call it by its time as the others are, such as week 0, or leave it out of "
                "the file.",
            )
