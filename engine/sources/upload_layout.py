"""Which column of a table of curves plays which role, suggested from the names of the columns."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import InputError
from engine.sources.table_words import counted, listed, nearest, shortened
from engine.sources.tables import NUMBER, Table

KINDS = {"long": "one row per reading", "wide": "one row per curve"}
ROLES = ("id", "time", "value", "server")
_SYNONYMS = {  # the likeliest first; compared without case, units in brackets and punctuation
    "id": ("id", "child_id", "subject_id", "person_id", "patient_id", "participant_id", "subject",
           "person", "patient", "participant", "child", "household", "individual", "user",
           "curve_id", "curve", "scan", "unit_id", "unit", "name"),
    "time": ("time", "t", "age", "day", "days", "hour", "hours", "minute", "minutes", "week",
             "weeks", "month", "months", "year", "years", "position", "date", "x"),
    "value": ("value", "values", "y", "height", "reading", "readings", "measurement", "response",
              "result", "outcome", "weight", "level", "glucose", "demand"),
    "server": ("server", "site", "site_id", "hospital", "centre", "center", "clinic", "school",
               "institution", "location", "country", "region"),
}
FEW_TIMES = 3  # names that are numbers, which may as well be a first reading
_WHAT = {"id": "who a row belongs to", "time": "when a reading was taken",
         "value": "what was measured"}


@dataclass(frozen=True)
class Layout:
    """Which column plays which role.

    One row per reading: `id`, `time` and `value` name columns. One row per curve: `times` pairs
    each column of readings with its time, in the file's own unit, and `id` is optional. `server`
    and `covariates` are optional in both: without `server` one trusted centre holds all curves,
    with it each site adds its own noise. `single` says that every person has one reading, one row
    per reading: then `id` is optional, and without it every row is another person.
    """

    id: str | None
    time: str | None = None
    value: str | None = None
    server: str | None = None
    covariates: tuple[str, ...] = ()
    times: tuple[tuple[str, float], ...] = ()
    single: bool = False

    @property
    def is_wide(self) -> bool:
        return bool(self.times)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        single = (self.id, self.time, self.value, self.server)
        return (*[name for name in single if name], *self.covariates,
                *[name for name, _ in self.times])


def suggest_layout(table: Table, roles: Mapping[str, Any] | None = None, kind: str | None = None,
                   single: bool = False) -> Layout:
    """Find the roles of the columns from their names; a person's choices override.

    A column that looks like one of sites gets no role unless it is chosen: who is trusted with the
    curves is for their holder to say (`site_like` offers it).

    Parameters
    ----------
    table : Table
    roles : "id", "time", "value", "server" → a column name, or None for no column; "covariates" →
        column names.
    kind : "long" or "wide"; from the names if None.
    single : whether every person has one reading, which is one row; the id is then optional.

    Raises
    ------
    InputError
        If a column does not exist or has two roles, a needed role has no column, or the table
        looks long and wide at once.
    """
    chosen = {role: _find(table, named) for role, named in (roles or {}).items()}
    found = roles_by_name(table, chosen)
    series = _series(table, _taken(chosen))
    if single:
        layout = _long(table, chosen, found, single)
    else:
        kind = kind or _kind(chosen, found, series)
        layout = (_wide(table, chosen, found, series) if kind == "wide" else
                  _long(table, chosen, found))
    check_one_role_each(layout)
    return layout


def site_like(table: Table) -> str | None:
    """The column whose name is usual for sites: to be offered, never to be taken."""
    return roles_by_name(table, {}).get("server")


def _find(table: Table, named: Any) -> Any:
    """A person's choice in the table's own spelling."""
    if named is None or isinstance(named, str):
        return None if named is None else table.find(named)
    return tuple(table.find(name) for name in named)


def _taken(chosen: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for named in chosen.values():
        names.update((named,) if isinstance(named, str) else named or ())
    return names


def roles_by_name(table: Table, chosen: Mapping[str, Any]) -> dict[str, str]:
    """Role → column, for the roles whose usual names occur."""
    taken = _taken(chosen)
    free = {_plain(column): column for column in reversed(table.columns) if column not in taken}
    found: dict[str, str] = {}
    for role in ("server", "time", "value", "id"):  # site_id is a site before it is an id
        names = [name for name in _SYNONYMS[role] if name in free]
        if role == "id" and not names:
            names = [name for name in free if name.endswith("_id")]
        if role not in chosen and names:
            found[role] = free.pop(names[0])
    return found


def _plain(column: str) -> str:
    """A column name without case, a unit in brackets and punctuation: “Age (years)” is age."""
    name = re.sub(r"[(\[][^)\]]{0,50}[)\]]", "", column[:200]).casefold()
    return re.sub(r"[\W_]+", "_", name).strip("_")


def _series(table: Table, taken: set[str]) -> dict[str, float]:
    """Column → time for columns whose names are times (0, 0.5, 1) or numbered (x_01, X0.5).

    Numbers differ, and names that are plain numbers increase: other numbers in the first line are
    a row of data without a header, as are few beside an id that comes again below it. Of several
    numbered families the largest counts.
    """
    families: dict[str, dict[str, float]] = {}
    for column in table.columns:
        stem, time = _numbered(column, table.decimal)
        if time is not None and column not in taken:
            families.setdefault(stem, {})[column] = time
    usable = {stem: family for stem, family in families.items()
              if len(family) >= (2 if stem == "" else 3)
              and len(set(family.values())) == len(family)
              and not (stem == "" and len(family) <= FEW_TIMES and _begins_with_a_row(table))
              and (stem or list(family.values()) == sorted(family.values()))}
    return usable.get("") or max(usable.values(), key=len, default={})


def _begins_with_a_row(table: Table) -> bool:
    """Whether a name that is no number is a cell of its own column: an id, not a name."""
    return any(table.holds(column, column) for column in table.columns
               if _numbered(column, table.decimal)[0])


def _numbered(column: str, decimal: str) -> tuple[str, float | None]:
    """Split a column name in stem and number; the stem of a plain number is empty."""
    name = column[:200].replace(decimal, ".")
    if re.fullmatch(NUMBER, name):
        return "", float(name) if math.isfinite(float(name)) else None
    end = re.search(r"[0-9]+(\.[0-9]+)?$", name[-30:])  # a longer number is no time
    if end is None:
        return name, None
    return _plain(name[:len(name) - len(end[0])]) or "_", float(end[0])


def _kind(chosen: Mapping[str, Any], found: Mapping[str, str], series: Mapping[str, float]) -> str:
    """Decide between long and wide, or say why the table looks like both."""
    if chosen.get("time") or chosen.get("value") or not series:
        return "long"
    if "time" not in found or "value" not in found:
        return "wide"
    raise InputError(
        f"The table looks both long and wide: {listed([found['time'], found['value']])} would be "
        f"one row per reading, {counted(len(series), 'numbered column')} such as "
        f"{listed(list(series)[:1])} one row per curve.", field="layout",
        hint="Keep one row per reading, or one row per curve, and leave the other columns out.")


def _long(table: Table, chosen: Mapping[str, Any], found: Mapping[str, str], single: bool = False
          ) -> Layout:
    roles: dict[str, str | None] = {role: chosen.get(role, found.get(role)) for role in ROLES}
    roles["server"] = chosen.get("server")
    covariates = tuple(chosen.get("covariates") or ())
    taken = (*roles.values(), *covariates, found.get("server"))
    left = [name for name in table.columns if name not in taken]
    lacking = [role for role in needed_roles(single) if roles[role] is None]
    if len(lacking) == len(left) == 1 and lacking[0] not in chosen:
        roles[lacking[0]], lacking = left[0], []  # the only column left for the only role left
    if lacking:
        raise lacking_roles(lacking, left, table)
    return Layout(roles["id"], roles["time"], roles["value"], roles["server"], covariates,
                  single=single)


def needed_roles(single: bool) -> tuple[str, ...]:
    """The columns without which one row per reading cannot be read."""
    return ("time", "value") if single else ("id", "time", "value")


def lacking_roles(roles: list[str], left: list[str], table: Table) -> InputError:
    """No column plays a role; names that are numbers may be readings, and are not repeated."""
    named, free = ([name for name in names if _numbered(name, table.decimal)[0]]
                   for names in (table.columns, left))
    near = next(filter(None, (nearest(name, free) for name in _SYNONYMS[roles[0]])), "")
    found = f"Found {listed(named, 8)}. "
    if len(named) < len(table.columns) and (not named or _begins_with_a_row(table)):
        found, near = "The first line is a row of data, no names. ", ""
    *others, last = (_WHAT[role] for role in roles)
    needed = f"{', '.join(others)} or {last}" if others else last
    return InputError(f"There is no column that says {needed}.", field="layout",
                      hint=f"{found}{near}Name the columns “id”, “time” and “value”, or choose "
                      "which is which.")


def _wide(table: Table, chosen: Mapping[str, Any], found: Mapping[str, str],
          series: Mapping[str, float]) -> Layout:
    if not series:
        raise InputError("No column names say when readings were taken.", field="layout",
                         hint="Name the columns of readings by their times, or number them as in "
                         "x_01, x_02, without repeats.")
    server, covariates = chosen.get("server"), tuple(chosen.get("covariates") or ())
    taken = (*series, server, *covariates, found.get("server"))
    left = [name for name in table.columns if name not in taken]
    usual = found.get("id", left[0] if len(left) == 1 else None)
    return Layout(chosen.get("id", usual), server=server, covariates=covariates,
                  times=tuple(series.items()))


def check_one_role_each(layout: Layout) -> None:
    """Refuse a layout in which a column has two roles."""
    twice = next((name for name in layout.columns if layout.columns.count(name) > 1), None)
    if twice:
        raise InputError(f"The column “{shortened(twice)}” has two roles.", field="layout",
                         hint="Choose another column for one of them.")
