"""Which column of a table plays which role, suggested from the names of the columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.core.tasks import DataType
from engine.uploads.conversions import CALENDAR, COMPACT_CLOCK, ZERO_ONE, Dates, time_in_name
from engine.uploads.tables import MINUS, MISSING, NUMBER, Table, column_key, nearest
from engine.uploads.units import known_unit

KINDS = {"long": "one row per observation", "wide": "one row per curve",
         "transposed": "one column per curve"}
ROLES = ("id", "time", "value", "server")
CHOSEN_ROLES = ("server", "group")  # never taken from a name: they say who is trusted, and compared
_SYNONYMS = {  # the likeliest first; compared without case, units in brackets and punctuation
    "id": ("id", "child_id", "subject_id", "person_id", "patient_id", "participant_id", "subject",
           "person", "patient", "participant", "child", "household", "individual", "user",
           "curve_id", "curve", "scan", "unit_id", "unit", "name", "runner", "athlete", "lclid"),
    "time": ("time", "t", "age", "day", "days", "hour", "hours", "minute", "minutes", "week",
             "weeks", "month", "months", "year", "years", "position", "date", "timestamp",
             "datetime", "elapsed", "tstp", "x"),
    "value": ("value", "values", "y", "height", "reading", "readings", "measurement", "response",
              "result", "outcome", "weight", "level", "glucose", "demand", "bpm", "kwh"),
    "server": ("server", "site", "site_id", "hospital", "centre", "center", "clinic", "school",
               "institution", "location", "country", "region", "practice", "ward", "district",
               "department", "facility", "lab", "laboratory"),
}
_NAMES_A_SITE = {"id", "name", "code", "no", "nr", "number", "key"}  # behind it, as in clinic_code
_UNITS = {"years", "year", "yrs", "yr", "y", "months", "weeks", "days", "day", "hours", "hour", "h",
          "minutes", "seconds", "s", "cm", "mm", "m", "kg", "g", "mg", "dl", "l", "ml",
          "mmol", "kwh", "hh", "kw", "w", "mmhg", "bpm"}  # behind a name, as in height_cm
_OF_TIME = {"time", "t", "day", "days", "hour", "hours", "hrs", "minute", "minutes", "week",
            "weeks", "wk", "month", "months", "year", "years", "date", "datetime", "timestamp"}
_NO_TIMES = {"birth", "born", "death", "diagnosis", "baseline", "entry", "start", "end", "onset",
             "enrolment", "enrollment", "first", "last", "school"}  # one for each person
_SINCE = {"since", "from", "after"}  # as in days_since_surgery
_AT_VISITS = {"visit", "exam", "examination", "measurement", "observation", "test"}
_RESPONSES = ("y", "response", "outcome", "result", "target")  # usual names, without case
_TIME_STEMS = {"day", "hour", "minute", "week", "month", "year", "visit", "age"}  # before a number
_TIME_UNITS = {"seconds", "minutes", "hours", "days", "weeks", "months", "years"}  # behind it
_BEGINNINGS = {"baseline", "screening"}  # times that are called so, and have no number
_YEAR_MONTH = re.compile(r"(19|20)[0-9]{2}[-/][0-9]{1,2}|[0-9]{1,2}[-/](19|20)[0-9]{2}")
FEW_TIMES = 3  # names that are numbers, which may as well be a first observation
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
    choices = {role: _find(table, named) for role, named in (roles or {}).items()}
    if data == DataType.RECORDS:
        return replace(_of_records(table), dates=table.dates)
    if kind == "transposed" or (kind is None and not choices and data == DataType.CURVES
                                and has_people_in_columns(table)):
        transposed = suggest_layout(table.transposed(), roles, "wide", data)
        return replace(transposed, is_transposed=True)
    if kind is None and not choices and data == DataType.CURVES:
        _refuse_numbered_people(table)
    suggested = roles_by_name(table, choices)
    series = _series(table, _names_of(choices))
    is_wide = data == DataType.CURVES and (kind or _kind(choices, suggested, series)) == "wide"
    layout = (_wide(table, choices, suggested, series) if is_wide else
              _long(table, choices, suggested, data))
    layout.check()
    return replace(layout, dates=table.dates)


def has_people_in_columns(table: Table) -> bool:
    """Whether the first column looks like the times of all others, each of which is a person.

    Its name is that of a time, its numbers increase, and no column is called as a person or as
    what was measured is.
    """
    others = table.columns[1:]
    return _begins_with_times(table) and "" not in {_numbered(name, table)[0] for name in others}


def _begins_with_times(table: Table) -> bool:
    """Whether the first column, by its name and numbers, is the time of all that stands beside."""
    first, *others = table.columns
    suggested = roles_by_name(table, {})
    if suggested.get("time") != first or {"id", "value"} & {*suggested} or len(others) < 2:
        return False
    times = table.numbers(first)
    return bool(table.n_rows > 1 and not times.unreadable and not times.missing
                and (times.values[1:] > times.values[:-1]).all())


def _refuse_numbered_people(table: Table) -> None:
    """Refuse columns beside times whose names are numbers: of people, or times as well."""
    first, *others = table.columns
    if {_numbered(name, table)[0] for name in others} == {""} and _begins_with_times(table):
        raise InputError(f"The columns beside “{shortened(first)}” are called by numbers: these "
                         "may be people or times.", field="layout", hint="Put a letter before the "
                         "numbers of people, as in P101; or add a column of ids, if every row is a "
                         "person.")


def _of_records(table: Table) -> Layout:
    """Response and id by their names; who is trusted with the records is for their holder to say.

    So a column that looks like one of sites is no feature, and no site either.
    """
    suggested = roles_by_name(table, {"time": None, "value": None})
    value = next((name for name in table.columns if column_key(name) in _RESPONSES), None)
    used = {value, *suggested.values()}
    return Layout(suggested.get("id"), value=value, data=DataType.RECORDS,
                  covariates=tuple(name for name in table.columns if name not in used))


def site_like(table: Table, roles: Mapping[str, Any] | None = None) -> str | None:
    """The column whose name is usual for sites: to be offered, never to be taken.

    Parameters
    ----------
    roles : mapping
        Role → column or columns that have one already, and are none to be offered.
    """
    choices = {role: _find(table, named) for role, named in (roles or {}).items()}
    return roles_by_name(table, choices).get("server")


def _is_of_sites(name: str) -> bool:
    """Whether a name says a site and nothing of one: hospital_name, but not school_year."""
    *before, last = name.split("_")
    if last in _NAMES_A_SITE and before:
        *before, last = before
    return last in _SYNONYMS["server"] and not {*before} & _OF_TIME


def _find(table: Table, named: Any) -> Any:
    """A person's choice in the table's own spelling."""
    if named is None or isinstance(named, str):
        return None if named is None else table.find(named)
    return tuple(table.find(name) for name in named)


def _names_of(choices: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for named in choices.values():
        names.update((named,) if isinstance(named, str) else named or ())
    return names


def roles_by_name(table: Table, choices: Mapping[str, Any]) -> dict[str, str]:
    """Role → column, for the roles whose usual names occur.

    Parameters
    ----------
    choices : mapping
        Role → column or columns that a person chose: neither is looked for.
    """
    used = _names_of(choices)
    free = {plain_name(column): column for column in reversed(table.columns) if column not in used}
    columns: dict[str, str] = {}
    for role in ("server", "time", "value", "id"):  # site_id is a site before it is an id
        names = [name for name in _SYNONYMS[role] if name in free]
        if role == "id" and not names:
            names = [name for name in free if name.endswith("_id")]
        elif not names:
            names = _qualified(role, free)
        if role not in choices and names:
            columns[role] = free.pop(names[0])
    return columns


def _qualified(role: str, free: Iterable[str]) -> list[str]:
    """The one name that says its unit as well, such as height_cm, or whose date it is.

    Empty where there are several: which of them it is, is not for a program to say.
    """
    if role == "server":
        names = [name for name in free if _is_of_sites(name)]
        return names if len(names) == 1 else []
    names = [name for name in free if name.split("_")[0] in _SYNONYMS[role]
             and name.split("_")[1:] and {*name.split("_")[1:]} <= _UNITS]
    if role == "time":
        names += [name for name in free if name not in names and _is_of_time(name)]
    return names if len(names) == 1 else []


def _is_of_time(name: str) -> bool:
    """Whether a name says when somebody was seen: visit_week, days_since_surgery, age_at_visit."""
    first, *others = name.split("_")
    if not others:
        return False
    if first in _OF_TIME and others[0] in _SINCE:
        return True  # whatever it is counted from
    is_of_person = bool({first, *others} & _NO_TIMES)
    ends = _OF_TIME | (_AT_VISITS if first in _OF_TIME | {"age"} else set()) | (
        {"age"} if first in _AT_VISITS else set())
    return not is_of_person and others[-1] in ends


def plain_name(column: str) -> str:
    """A column name without case, a unit in brackets and punctuation: “Age (years)” is age.

    Parameters
    ----------
    column : str
    """
    name = re.sub(r"[(\[][^)\]]{0,50}[)\]]", "", column[:200]).casefold()
    return re.sub(r"[\W_]+", "_", name).strip("_")


def _series(table: Table, used: set[str]) -> dict[str, float]:
    """Column → time for columns whose names are times (0, 0.5, 1) or numbered (x_01, week 4, 2 y).

    Numbers differ, and names that are plain numbers increase: other numbers in the first line are
    a row of data without a header, as are few beside an id that comes again below it. Of several
    numbered families the largest counts. Two names are a family where they say that they are times.
    """
    families: dict[str, dict[str, float]] = {}
    for column in table.columns:
        stem, time = _numbered(column, table)
        if time is not None and column not in used:
            families.setdefault(stem, {})[column] = time
    families = {stem: _with_minus_signs(family) for stem, family in families.items()}
    usable = {stem: family for stem, family in families.items()
              if len(family) >= (2 if _says_time(stem) else 3)
              and len(set(family.values())) == len(family)
              and not (stem == "" and len(family) <= FEW_TIMES and _begins_with_a_row(table))
              and (stem or list(family.values()) == sorted(family.values()))}
    return usable.get("") or max(usable.values(), key=len, default={})


def _says_time(stem: str) -> bool:
    """Whether a number with this stem is a time: plain numbers, week 4, 24 months."""
    return stem == "" or " " in stem or stem.split("_")[-1].removesuffix("s") in _TIME_STEMS


def _refuse_names(table: Table) -> None:
    """Refuse names of which a wrong number would be read: months, clock times, several units."""
    months = [name for name in table.columns if _YEAR_MONTH.fullmatch(name.strip())]
    if len(months) > 1:
        raise InputError(f"The names of {counted(len(months), 'column')} such as "
                         f"{listed(months[:1])} are months without a day.", field="layout",
                         hint="Write them as dates, such as 2024-03-01, or as months since a "
                         "start: 0, 1, 2.")
    clock = [name for name in table.columns if COMPACT_CLOCK.fullmatch(name)]
    if len(clock) > 1 and any(name[0] == "0" for name in clock):
        raise InputError(f"Names of columns such as {listed(clock[:1])} look like clock times "
                         "without a colon.", field="layout", hint="Write 0830 as 08:30.")
    units: dict[str, dict[str, str]] = {}  # by what was measured, one name in each unit
    for name in table.columns:
        before, _, unit = _numbered(name, table)[0].partition(" ")
        if unit:
            units.setdefault(before, {})[unit] = name
    several = next((names for names in units.values() if len(names) > 1), None)
    if several:
        raise InputError(f"Names of columns say times in several units, such as "
                         f"{listed([*several.values()][:2])}.", field="layout",
                         hint="Write all of them in one unit, such as 6 months and 12 months.")


def _with_minus_signs(family: dict[str, float]) -> dict[str, float]:
    """The same, but week-4 beside week0 is four weeks before; if all have a hyphen it is none."""
    before = [name for name in family if re.search(rf"[^0-9][-{MINUS}][0-9.,]+$", name[-40:])]
    if len(before) == len(family):
        return family
    return {name: -time if name in before else time for name, time in family.items()}


def _begins_with_a_row(table: Table) -> bool:
    """Whether a name that is no number is a cell of its own column: an id, not a name."""
    return any(table.holds(column, column) for column in table.columns
               if _numbered(column, table)[0])


def _numbered(column: str, table: Table) -> tuple[str, float | None]:
    """Split a column name in stem and number; the stem of a number, date or clock time is empty.

    The stem of a number with a unit of time behind it ends with a blank and that unit.
    """
    name = column[:200].replace(table.decimal, ".").replace(MINUS, "-")
    moment = time_in_name(name, table.dates)
    if moment is not None:
        return "", moment if math.isfinite(moment) else None
    if re.fullmatch(NUMBER, name):
        return "", float(name) if math.isfinite(float(name)) else None
    name = _without_brackets(name)
    end = re.search(r"[0-9]+(\.[0-9]+)?$", name[-30:])  # a longer number is no time
    if end is not None:
        return plain_name(name[:len(name) - len(end[0])]) or "_", float(end[0])
    end = re.search(r"(?:^|(?<=[\s_(]))([0-9]+(?:\.[0-9]+)?)([\s_-]?)([A-Za-z]+)$", name[-30:])
    unit = known_unit(end[3]) if end is not None and (end[2] != "_" or len(end[3]) > 1) else ""
    if end is None or unit not in _TIME_UNITS:
        return column, None
    return f"{plain_name(name[:len(name) - len(end[0])])} {unit}", float(end[1])


def _without_brackets(name: str) -> str:
    """A name without the brackets at its end, which hold a unit: h_2 (cm), or the time itself.

    Where there is a number before them and another in them, nobody can tell which is the time.
    """
    parts = re.fullmatch(r"(.*?)\s*[(\[]([^()\[\]]*)[)\]]\s*", name)
    if parts is None:
        return name
    before, inside = parts.groups()
    if not re.search(r"[0-9]", inside):
        return before
    return name if re.search(r"[0-9]$", before) else f"{before} {inside}"


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
    if len(lacking) == len(left) == 1 and lacking[0] not in choices:
        roles[lacking[0]] = left[0]  # the only column left for the only role left
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
        _refuse_names(table)
    names, free = ([name for name in columns if _numbered(name, table)[0]]
                   for columns in (table.columns, free))
    near = next(filter(None, (nearest(name, free) for name in _SYNONYMS[roles[0]])), "")
    columns = f"Found {listed(names, 8)}. "
    if len(names) < len(table.columns) and (not names or _begins_with_a_row(table)):
        columns, near = "The first line is a row of data, no names. ", ""
    *others, last = (_MEANINGS[role] for role in roles)
    needed = f"{', '.join(others)} or {last}" if others else last
    n_numbers = sum(_numbered(name, table)[0] == "" for name in table.columns)
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
    _refuse_names(table)
    server, group = (choices.get(role) for role in CHOSEN_ROLES)
    covariates = tuple(choices.get("covariates") or ())
    _check_family(table, series, covariates)
    _check_beginning(table, series, covariates)
    used = (*series, server, group, *covariates, suggested.get("server"))
    free = [name for name in table.columns if name not in used]
    names = len(free) == 1 and not _is_of_two_words(table, free[0])
    default = suggested.get("id", free[0] if names else None)
    return Layout(choices.get("id", default), server=server, covariates=covariates,
                  times=tuple(series.items()), group=group)


def _check_family(table: Table, series: Mapping[str, float], covariates: Sequence[str]) -> None:
    """Refuse another set of columns, half as large at least, numbered as the observations are.

    Which of both was meant is not for a program to say.
    """
    times = sorted(map(abs, series.values()))
    families: dict[str, list[float]] = {}
    for column in table.columns:
        stem, time = _numbered(column, table)
        if time is not None and column not in covariates:
            families.setdefault(stem, []).append(abs(time))
    alike = [family for family in families.values() if len({*family} & {*times}) > 1
             and 2 * len(family) >= len(times)]
    if len(alike) > 1:
        raise InputError("Several sets of columns are numbered alike, such as "
                         f"{listed(list(series)[:1])}: each could hold the observations.",
                         field="layout", hint="Keep one set in the file, and leave out the others.")


def _check_beginning(table: Table, series: Mapping[str, float], covariates: Sequence[str]) -> None:
    """Refuse an observation beside the others whose name, such as baseline, says no number."""
    stem = _numbered(next(iter(series)), table)[0].partition(" ")[0]
    before = {*stem.split("_")[:-1]} if _says_time(stem) or "_" in stem else {stem} - {""}
    for column in table.columns:
        words = {*plain_name(column).split("_")}
        if column not in covariates and words & _BEGINNINGS and words - _BEGINNINGS <= before and (
                before <= words):
            raise InputError(
                f"The column “{shortened(column)}” seems to be an observation beside "
                f"{listed(list(series)[:2])}, and its name says no time.", field="layout",
                hint="Call it by its time as the others are, such as week 0, or leave it out of "
                "the file.")


def _is_of_two_words(table: Table, column: str) -> bool:
    """Whether a column says yes or no, or the sex, in several rows each: it is no column of ids."""
    if table.n_rows < 3 or table.n_texts(column) > 2 + len(MISSING):
        return False
    words = {text.casefold() for text in table.codes(column)[1]} - {*MISSING}
    return any(words <= {*pair} for pair in (*ZERO_ONE, ("0", "1")))
