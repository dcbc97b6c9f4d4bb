"""A person's own curves: a table with declared roles and declared public facts.

Bounds and the time range are stated by the person, never read off the data. Uploaded curves are
held as compact arrays, belong to one visit, and cannot travel in a link or a scenario.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.errors import InputError
from engine.sources import Source
from engine.tables import Table, shortened
from engine.types import Array, CurveData, PublicFacts, Sizes

MOST_CURVES = 100_000
MOST_POINTS = 10_000
_PUBLIC_SEED = 20_240_601  # of the order of curves: fixed, so that it says nothing about the data
_RAGGED = 10  # longest over median number of readings from which a note is made

_SYNONYMS = {
    "id": ("id", "curve", "person", "subject", "patient", "child", "child_id", "subject_id",
           "person_id", "patient_id", "curve_id", "unit", "household", "name"),
    "time": ("time", "t", "age", "day", "hour", "month", "week", "x", "position", "minute"),
    "value": ("value", "y", "height", "reading", "response", "level", "glucose", "measurement",
              "demand", "weight"),
    "server": ("server", "site", "hospital", "centre", "center", "clinic", "country"),
}
_POSITION = re.compile(r"^(?:[^\d]*?[_\s.-])?(-?\d+(?:\.\d+)?)$")


@dataclass(frozen=True)
class Layout:
    """Which column plays which role. `times` maps columns to times in the wide form."""

    id: str | None
    time: str | None = None
    value: str | None = None
    server: str | None = None
    covariates: tuple[str, ...] = ()
    times: tuple[tuple[str, float], ...] = ()

    @property
    def is_wide(self) -> bool:
        return bool(self.times)


@dataclass(frozen=True)
class CurveTable:
    """Curves in the file's own units, ordered by site and then by a fixed public shuffle.

    `times`, `values` (N,), `counts`, `server` (n_curves,), `covariates` (n_curves, d); `notes` say
    how the file was read, and hold counts only.
    """

    times: Array
    values: Array
    counts: NDArray[np.int64]
    server: NDArray[np.int64]
    covariates: Array
    covariate_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_curves(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload(Source):
    """Uploaded curves with the facts that their holder has stated."""

    key = "upload"
    label = "Your curves"
    tasks = frozenset({"mean_function"})
    is_random = False

    curves: CurveTable
    declared: PublicFacts = field(default_factory=lambda: PublicFacts(kind="upload"))

    @property
    def facts(self) -> PublicFacts:
        return self.declared

    @property
    def sizes(self) -> Sizes:
        counts = self.curves.counts
        per_server = tuple(np.bincount(self.curves.server).tolist())
        return Sizes(per_server, int(counts.sum()), int(counts[counts > 0].min()))

    @property
    def clamped(self) -> tuple[int, int]:
        """How many times and values lie outside what was stated: for the curator's screen only."""
        facts, curves = self.declared, self.curves
        outside_time = (curves.times < facts.time_low) | (curves.times > facts.time_high)
        outside_value = (curves.values < facts.value_low) | (curves.values > facts.value_high)
        return int(outside_time.sum()), int(outside_value.sum())

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """The curves, times on [0, 1] and both moved into the stated ranges; `rng` is not used."""
        if n_repeats != 1:
            raise InputError("Uploaded curves are the same every time; got more than one repeat.",
                             field="repeats", hint="Set repeats to 1.")
        facts = self.declared
        return CurveData(
            times=facts.to_unit_time(self.curves.times)[None],
            values=np.clip(self.curves.values, facts.value_low, facts.value_high)[None],
            counts=self.curves.counts, server=self.curves.server, facts=facts)


def declare(value_low: float | None, value_high: float | None, time_low: float | None,
            time_high: float | None, origin: str, **words: Any) -> PublicFacts:
    """The facts a person states about their curves.

    Raises
    ------
    InputError
        If a bound is missing or out of order, or nothing says where the bounds come from.
    """
    value = words.get("value_name") or "value"
    person = words.get("person") or "person"
    if value_low is None or value_high is None:
        raise InputError(f"State the lowest and highest possible {value.lower()} first.",
                         field="value_low", hint=f"Without them there is no limit on what one "
                         f"{person} can change. Any public source will do.")
    if time_low is None or time_high is None:
        raise InputError("State the first and last possible time.", field="time_low",
                         hint="They come from how the study was planned, not from the file.")
    if not origin.strip():
        raise InputError("Say where these bounds come from.", field="origin",
                         hint="For example a growth chart, a manual or a law.")
    chosen = {name: word for name, word in words.items() if word}
    return PublicFacts(kind="upload", name="Your curves", value_low=value_low,
                       value_high=value_high, time_low=time_low, time_high=time_high,
                       origin=origin.strip()[:200], **chosen)


# -- which column is what -------------------------------------------------------------------


def suggest_layout(table: Table) -> Layout:
    """Roles by the names of the columns; the person may choose others.

    Raises
    ------
    InputError
        If the table looks both long and wide, or like neither.
    """
    names = [str(name) for name in table.frame.columns]
    roles = {role: _named(names, role) for role in _SYNONYMS}
    times = _times_in_names(names, roles)
    is_long = roles["time"] is not None and roles["value"] is not None
    if is_long and times:
        raise InputError("The table looks both long and wide: it has columns for time and value, "
                         f"and {len(times)} columns named like times.", field="layout",
                         hint="Keep one row per reading, or one row per curve.")
    if times:
        return Layout(id=roles["id"], server=roles["server"], times=times)
    if not is_long and len(names) >= 3:
        return _by_position(table, names, roles)
    if not is_long or roles["id"] is None:
        missing = next(role for role in ("id", "time", "value") if roles[role] is None)
        raise missing_column(missing, names)
    used = {name for name in roles.values() if name}
    extra = tuple(n for n in names if n not in used and _is_numeric(table.frame[n]))
    return Layout(roles["id"], roles["time"], roles["value"], roles["server"], extra)


def missing_column(wanted: str, names: list[str]) -> InputError:
    """The error for a role that no column fills."""
    found = ", ".join(shortened(name, 20) for name in names[:8])
    return InputError(f"There is no column “{wanted}”.", field="layout",
                      hint=f"Found: {found}. Choose which column says who a row belongs to, which "
                      "holds the time and which the value.")


def _named(names: list[str], role: str) -> str | None:
    by_name = {name.lower(): name for name in names}
    return next((by_name[word] for word in _SYNONYMS[role] if word in by_name), None)


def _times_in_names(names: list[str], roles: dict[str, str | None]
                    ) -> tuple[tuple[str, float], ...]:
    used = {name for name in roles.values() if name}
    found = [(name, _POSITION.match(name)) for name in names if name not in used]
    times = tuple((name, float(match.group(1))) for name, match in found if match)
    return times if len(times) >= 3 else ()


def _by_position(table: Table, names: list[str], roles: dict[str, str | None]) -> Layout:
    """Unknown names: the first column says who, the next two numeric ones when and what."""
    numeric = [n for n in names if n != (roles["id"] or names[0]) and _is_numeric(table.frame[n])]
    if len(numeric) < 2:
        missing = next(role for role in ("time", "value", "id") if roles[role] is None)
        raise missing_column(missing, names)
    time = roles["time"] or next(n for n in numeric if n != roles["value"])
    value = roles["value"] or next(n for n in numeric if n != time)
    return Layout(roles["id"] or names[0], time, value, roles["server"])


def _is_numeric(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


# -- the curves -----------------------------------------------------------------------------


def read_curves(table: Table, layout: Layout, several: str = "keep") -> CurveTable:
    """Curves of a table.

    `several` says what to do in the wide form when a person has several rows: "keep" protects one
    row, "average" makes one curve of them and protects the person.

    Raises
    ------
    InputError
        If columns hold text where numbers belong, or a limit is passed.
    """
    return _read_wide(table, layout, several) if layout.is_wide else _read_long(table, layout)


def _read_long(table: Table, layout: Layout) -> CurveTable:
    frame = table.frame
    for name in (layout.id, layout.time, layout.value):
        if name is None or name not in frame:
            raise missing_column(str(name or "id"), [str(n) for n in frame.columns])
    times, values = _numbers(frame, str(layout.time)), _numbers(frame, str(layout.value))
    ids, curve = _ids(frame[layout.id])
    server, notes = _servers(frame, layout.server, curve, len(ids))
    covariates = _first_of_each(frame, layout.covariates, curve, len(ids))
    return _assembled(times, values, curve, server, covariates, layout.covariates,
                      [*table.notes, "one row per reading", *notes])


def _read_wide(table: Table, layout: Layout, several: str) -> CurveTable:
    frame, notes = table.frame, [*table.notes, "one row per curve"]
    columns = [name for name, _ in layout.times]
    grid = np.array([time for _, time in layout.times])
    values = np.stack([_numbers(frame, name) for name in columns], axis=1)
    rows = np.arange(len(frame))
    if layout.id is not None:
        ids, person = _ids(frame[layout.id])
        repeated = len(frame) - len(ids)
        if repeated and several == "average":
            values, rows = _averaged(values, person, len(ids)), np.arange(len(ids))
            frame = frame.iloc[np.unique(person, return_index=True)[1]]
            notes.append(f"{repeated} more rows of the same people were averaged")
        elif repeated:
            notes.append(f"several rows for the same person ({repeated} more rows than people): "
                         "one row is protected, not one person")
    server, more = _servers(frame, layout.server, rows, len(rows))
    return _assembled(np.tile(grid, len(rows)), values.ravel(), np.repeat(rows, len(grid)), server,
                      np.empty((len(rows), 0)), (), notes + more)


def _averaged(values: Array, person: NDArray[np.int64], n: int) -> Array:
    """Mean over the rows of each person at each time, of the readings there are."""
    known = np.isfinite(values)
    total, count = np.zeros((n, values.shape[1])), np.zeros((n, values.shape[1]))
    np.add.at(total, person, np.where(known, values, 0.0))
    np.add.at(count, person, known)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _numbers(frame: pd.DataFrame, name: str) -> Array:
    """A column of numbers; empty cells are missing, text is refused with its count."""
    column = frame[name]
    if _is_numeric(column) and not pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=float)
    numbers = pd.to_numeric(column, errors="coerce")
    bad = int((numbers.isna() & column.notna()).sum())
    if bad:
        rows = "1 row" if bad == 1 else f"{bad} rows"
        raise InputError(f"{rows} of column “{shortened(name)}” hold no number.", field=name,
                         hint="Fill them in or leave those rows out, then upload again. Write "
                         "numbers without thousands separators, dates as days.")
    return numbers.to_numpy(dtype=float)


def _ids(column: pd.Series[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct ids as text, and the number of each row's id; look-alikes are made equal."""
    codes, uniques = pd.factorize(column, use_na_sentinel=False)
    text = [unicodedata.normalize("NFC", str(unique)).strip() for unique in uniques]
    again, distinct = pd.factorize(np.array(text, dtype=object))
    if len(distinct) > MOST_CURVES:
        raise InputError(f"There are {len(distinct):,} curves; at most {MOST_CURVES:,} are read.",
                         field="id", hint="Take a part of them.")
    return list(distinct), again[codes]


def _servers(frame: pd.DataFrame, name: str | None, curve: NDArray[np.int64], n: int
             ) -> tuple[NDArray[np.int64], list[str]]:
    """The site of each curve: that of its first row."""
    if name is None:
        return np.zeros(n, dtype=np.int64), []
    _, site = _ids(frame[name])
    server = np.zeros(n, dtype=np.int64)
    server[curve[::-1]] = site[::-1]
    several = int((server[curve] != site).sum())
    notes = [f"{several} rows named another site than their curve's first row"] if several else []
    return np.unique(server, return_inverse=True)[1].astype(np.int64), notes


def _first_of_each(frame: pd.DataFrame, names: tuple[str, ...], curve: NDArray[np.int64], n: int
                   ) -> Array:
    covariates = np.zeros((n, len(names)))
    for k, name in enumerate(names):
        covariates[curve[::-1], k] = _numbers(frame, name)[::-1]
    return covariates


def _assembled(times: Array, values: Array, curve: NDArray[np.int64], server: NDArray[np.int64],
               covariates: Array, names: tuple[str, ...], notes: list[str]) -> CurveTable:
    """Drop missing readings, put curves into their public order and count what was done.

    The order decides who shares a round. File order may follow the data (sorted by age, say), so
    it is replaced by a shuffle with a fixed public seed, site by site.
    """
    known = np.isfinite(times) & np.isfinite(values)
    n = len(server)
    order = np.random.default_rng(_PUBLIC_SEED).permutation(n)
    order = order[np.argsort(server[order], kind="stable")]
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    rows = np.flatnonzero(known)
    rows = rows[np.argsort(place[curve[rows]], kind="stable")]
    counts = np.bincount(place[curve[rows]], minlength=n).astype(np.int64)
    _check_counts(counts)
    return CurveTable(times[rows], values[rows], counts, server[order], covariates[order], names,
                      tuple(notes + _counted(known, values, times, counts)))


def _check_counts(counts: NDArray[np.int64]) -> None:
    if counts.max(initial=0) > MOST_POINTS:
        raise InputError(f"A curve has more than {MOST_POINTS:,} readings.", field="time",
                         hint="Thin the readings of long curves.")
    if not counts.any():
        raise InputError("No row has both a time and a value.", field="value",
                         hint="Check which columns hold them.")


def _counted(known: NDArray[np.bool_], values: Array, times: Array, counts: NDArray[np.int64]
             ) -> list[str]:
    """Notes with counts only; they belong on the curator's screen."""
    notes = []
    if not known.all():
        infinite = int((np.isinf(values) | np.isinf(times)).sum())
        notes.append(f"{int((~known).sum())} readings without a time or a value were left out"
                     + (f" ({infinite} infinite)" if infinite else ""))
    empty = int((counts == 0).sum())
    if empty:
        notes.append(f"{empty} curves have no reading left; they still count as people")
    used = counts[counts > 0]
    if used.max() > _RAGGED * np.median(used):
        notes.append("some curves have over ten times as many readings as the median curve; each "
                     "curve counts the same")
    if used.max() == 1:
        notes.append("one reading per curve: the average can be estimated, spread within a curve "
                     "cannot")
    return notes


EXAMPLE_CSV = "child,age,height\na1,2.5,88.1\na1,4.0,101.7\nb2,3.1,95.0\nb2,6.2,116.4\n"
