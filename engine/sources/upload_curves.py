"""Curves read from a table whose columns have their roles.

Only plain arrays are kept of the file. What is wrong with it is said in names of columns and
counts, never with a reading, a row number or an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.identity import named_once
from engine.sources import upload_notes
from engine.sources.table_words import counted, shortened
from engine.sources.tables import Numbers, Table
from engine.sources.upload_columns import (
    Integers,
    column_numbers,
    named,
    no_number,
    numbers_or_words,
    order_by_person,
    people_of,
)
from engine.sources.upload_layout import Layout, check_one_role_each, lacking_roles, needed_roles
from engine.types import Array

MOST_CURVES = 100_000
MOST_POINTS = 10_000


@named_once
@dataclass(frozen=True, eq=False)
class CurveTable:
    """Curves read from a table, in the file's own units, by server and then by a hash of the ids.

    `times` and `values` (N,) hold the readings, curve after curve and by time within each;
    `counts` and `server` (n_curves,) are as in `CurveData`; a curve without any reading has count
    0. `ids` (n_curves,), empty where no column names the people, and `covariates` (n_curves, d)
    name and describe the curves; `n_people` may be below the number of curves. `header_times` are
    those in the names of the columns, where they are. `notes` say how the file was read and what to
    look at. They hold counts of private data: for the holder of the file alone.
    """

    times: Array
    values: Array
    counts: Integers
    server: Integers
    covariates: Array
    covariate_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    server_names: tuple[str, ...] = ()
    n_people: int = 0
    header_times: tuple[float, ...] = ()

    @property
    def n_curves(self) -> int:
        return len(self.counts)

    @property
    def is_of_rows(self) -> bool:
        """Whether somebody has several curves, each of which is protected on its own."""
        return self.n_people < self.n_curves


def read_curves(table: Table, layout: Layout, several: str = "keep", missing: str = "drop"
                ) -> CurveTable:
    """Read the curves of a table.

    Parameters
    ----------
    table : Table
    layout : Layout
        From `suggest_layout`, or chosen by the person.
    several : Where rows of a wide table share an id, "average" makes one curve of each person, so
        that the person is protected; "keep" protects one row only, and notes it.
    missing : "drop" leaves missing readings out, "stop" refuses a table that has any.

    Raises
    ------
    InputError
        If a cell holds no number, a row has no id, somebody has several readings in a layout of
        single ones, or a limit is passed.
    """
    _check_option("several", several, ("keep", "average"))
    _check_option("missing", missing, ("drop", "stop"))
    check_one_role_each(layout)
    found = _read_wide(table, layout, several) if layout.is_wide else _read_long(table, layout)
    _check_limits(found)
    if missing == "stop":
        _refuse_missing(found.columns)
    return _assembled(table, layout, found)


def _check_option(name: str, value: str, options: tuple[str, ...]) -> None:
    if value not in options:
        raise InputError(f"“{name}” must be one of {', '.join(options)}.", field=name)


@dataclass
class _Readings:
    """All cells that should hold a reading, in the order of the file, and whose they are.

    `curve`, `times`, `values` (N,) with NaN for missing; `row_curve` (rows,) is the curve of each
    row; `server` and `ids` (n_curves,) describe the curves.
    """

    curve: Integers
    times: Array
    values: Array
    row_curve: Integers
    server: Integers
    ids: tuple[str, ...]
    n_people: int
    columns: dict[str, Numbers]
    notes: list[str]


def _read_long(table: Table, layout: Layout) -> _Readings:
    lacking = [role for role in needed_roles(layout.single) if getattr(layout, role) is None]
    if lacking:
        raise lacking_roles(lacking, [c for c in table.columns if c not in layout.columns], table)
    notes: list[str] = []
    curve, server, ids = _people(table, layout, notes)
    columns = column_numbers(table, [str(layout.time), str(layout.value)])
    time, value = columns.values()
    return _Readings(curve, time.values, value.values, curve, server, ids, len(ids), columns, notes)


def _read_wide(table: Table, layout: Layout, several: str) -> _Readings:
    columns = column_numbers(table, [name for name, _ in layout.times])
    cells = np.column_stack([column.values for column in columns.values()])
    notes: list[str] = []
    person, server, ids = _people(table, layout, notes)
    row_curve, n_people = person, len(ids)
    if n_people < len(cells):
        notes.append(upload_notes.several_rows(np.bincount(person), several))
        if several == "average":
            cells = _averaged(cells, person, n_people)
        else:
            row_curve, server = np.arange(len(cells)), server[person]
            ids = tuple(ids[k] for k in person)
    n_curves, n_times = cells.shape
    return _Readings(np.repeat(np.arange(n_curves), n_times),
                     np.tile([time for _, time in layout.times], n_curves), cells.ravel(),
                     row_curve, server, ids, n_people, columns, notes)


def _people(table: Table, layout: Layout, notes: list[str]
            ) -> tuple[Integers, Integers, tuple[str, ...]]:
    """Person of each row, server and id of each person; too many are refused before any is named.

    An id at several sites is several people, so there are at least as many of them as ids.
    """
    def check(n_ids: int) -> None:
        _check_n_curves(n_ids, "at least " if layout.server else "")

    if layout.id is None:
        check(table.n_rows)
    return people_of(table, layout.id, layout.server, notes, check)


def _averaged(cells: Array, group: Integers, n_groups: int) -> Array:
    """The average of the rows of each group (n_groups, columns), of the readings there are."""
    known = np.isfinite(cells)
    number = np.zeros((n_groups, cells.shape[1]))
    np.add.at(number, group, known)
    shares = np.where(known, cells, 0.0) / np.maximum(number, 1)[group]  # a sum could overflow
    total = np.zeros_like(number)
    np.add.at(total, group, shares)
    return np.where(number > 0, total, np.nan)


def _refuse_missing(columns: Mapping[str, Numbers]) -> None:
    bad = {name: c.missing + c.infinite for name, c in columns.items() if c.missing + c.infinite}
    if bad:
        raise no_number(bad, "Fill them in, or choose to leave missing readings out.")


def _check_limits(found: _Readings) -> None:
    _check_n_curves(len(found.server))
    if np.bincount(found.curve).max() > MOST_POINTS:
        raise InputError(f"A curve has more than {MOST_POINTS:,} readings.", field="time",
                         hint="Thin the readings of long curves, or check which column says who a "
                         "row belongs to.")


def _check_n_curves(number: int, about: str = "") -> None:
    if number > MOST_CURVES:
        raise InputError(f"There are {about}{number:,} curves; at most {MOST_CURVES:,} are read.",
                         field="id", hint="Take a part of them, or check which column says who a "
                         "row belongs to.")


def _assembled(table: Table, layout: Layout, found: _Readings) -> CurveTable:
    """Leave missing readings out, put curves and readings in order, and note what was seen."""
    known = np.isfinite(found.times) & np.isfinite(found.values)
    if not known.any():
        raise InputError("No row has both a time and a value.", field="value",
                         hint="Check which columns hold them.")
    order = order_by_person(found.server, found.ids)
    place = np.argsort(order)
    kept = slice(None) if known.all() else known
    curve, times, values = _sorted(place[found.curve[kept]], found.times[kept],
                                   found.values[kept])
    counts = np.bincount(curve, minlength=len(order)).astype(np.int64)
    if layout.single:
        check_single(counts)
    covariates = _covariates(table, layout, found)[order]
    repeated = int(((curve[1:] == curve[:-1]) & (times[1:] == times[:-1])).sum())
    notes = (*table.notes, *upload_notes.read_as(table, layout), *found.notes,
             *upload_notes.left_out(found.columns, int((~known).sum()), layout.single),
             *(upload_notes.seen_in_single(times, values) if layout.single else
               upload_notes.seen(times, values, counts, covariates, repeated)))
    server = found.server[order]
    for array in (times, values, counts, server, covariates):
        array.flags.writeable = False
    return CurveTable(
        times, values, counts, server, covariates, layout.covariates, notes,
        ids=tuple(found.ids[k] for k in order.tolist()) if layout.id else (),
        n_people=found.n_people,
        server_names=tuple(sorted(named(table, layout.server)[1])) if layout.server else (),
        header_times=tuple(time for _, time in layout.times))


def _sorted(curve: Integers, times: Array, values: Array) -> tuple[Integers, Array, Array]:
    """Readings by curve and by time within each.

    Curves go 16 bits at a time: numpy sorts such numbers by radix, several times faster.
    """
    order = np.argsort(times)
    for shift in range(0, int(curve.max(initial=1)).bit_length(), 16):
        digit = (curve[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    return curve[order], times[order], values[order]


def _covariates(table: Table, layout: Layout, found: _Readings) -> Array:
    """One value for each curve and covariate (n_curves, d); NaN where a curve has none."""
    out = np.empty((len(found.server), len(layout.covariates)))
    for k, name in enumerate(layout.covariates):
        out[:, k] = _one_per_curve(name, numbers_or_words(table, name, found.notes), found)
    return out


def _one_per_curve(name: str, values: Array, found: _Readings) -> Array:
    known = np.isfinite(values)
    low, high = np.full(len(found.server), np.inf), np.full(len(found.server), -np.inf)
    np.minimum.at(low, found.row_curve[known], values[known])
    np.maximum.at(high, found.row_curve[known], values[known])
    changing = int((low < high).sum())
    if changing:
        raise InputError(f"The covariate “{shortened(name)}” changes within "
                         f"{counted(changing, 'curve')}.", field="covariates",
                         hint="A covariate has one value for each curve; choose another column.")
    return np.where(np.isfinite(low), low, np.nan)


def check_single(counts: Integers) -> None:
    """Refuse several readings of one person where everybody has one."""
    several = int((counts > 1).sum())
    if several:
        raise InputError(
            f"{several:,} of {len(counts):,} people have several readings.", field="id",
            hint="Here every person gives one. Keep one reading of each, by a rule that does not "
            "look at the values, such as the first visit; or show whole curves on Explore; or take "
            "every row for another person, and state beside the odds how many one person has.")
