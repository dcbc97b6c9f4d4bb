"""Reading of a file's bytes as statements about people, by a written reading.

    bytes ── lines ──→ cells ── cells ──→ numbers and words ── ids ──→ whose each line is

All that is read of a line follows from that line and the reading. A file in which some line is not
in the domain of its reading is refused as a whole, with counts by kind of fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.types import Array
from engine.uploads.cells import meanings, read_cells, unit_of
from engine.uploads.devices.lines import lines_of_export
from engine.uploads.ids import (
    LONGEST,
    ROUNDED,
    TOO_LONG,
    IdForm,
    canonical_texts,
    earlier_texts,
    lost_digits,
)
from engine.uploads.limits import LIMITS, FileLimits
from engine.uploads.lines import Lines, lines_of, lines_of_frame
from engine.uploads.packed import text_within
from engine.uploads.reading_of_files import CODED, UNITS, Column, Kind, Reading

if TYPE_CHECKING:
    import pandas as pd

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
UNKNOWN = -1  # a code for a text that is missing
OTHER = -2  # and for one that was not stated: censored, or left out
_ANY_DAY = "1970-01-01"


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """The lines of a file as numbers and codes, and whose they are."""

    reading: Reading
    ids: tuple[str, ...]  # (n,) in normal form, each once; where lines are people, their places
    person: Integers  # (lines,) by the place of the id
    spellings: str  # by which version 0.5.0 knew ids, where these are others; with \0 between
    columns: Mapping[str, Array]  # by role, and "wide" for curves in rows or columns: (lines, m)
    codes: Mapping[str, Integers]  # by role: the place among `words`, UNKNOWN or OTHER; (lines,)
    words: Mapping[str, tuple[str | float, ...]]  # by role, in their stated order
    covariates: Array  # (lines, d), or the features of records
    times: Array | None = None  # (m,) of curves in rows or columns
    notes: tuple[str, ...] = ()  # for the holder alone

    @property
    def n_lines(self) -> int:
        return len(self.person)


def read(content: bytes, reading: Reading, limits: FileLimits = LIMITS) -> People:
    r"""Read a file by its complete reading, each line by itself.

    Examples
    --------
    >>> from engine.uploads.reading_of_files import Reading
    >>> reading = Reading.of({"frame": {"encoding": "utf-8", "separator": ";",
    ...                                 "header": ["child", "age", "cm"]},
    ...     "person": {"column": "child"}, "columns": {"time": {"name": "age"},
    ...     "value": {"name": "cm"}}, "decimal": ","})
    >>> people = read(b"child;age;cm\nAnn;2,5;91\nann ;3;\n", reading)
    >>> people.ids, people.person, people.columns["value"]
    (('ann',), array([0, 0]), array([91., nan]))
    """
    reading.complete()
    if reading.frame.export:
        return _alone(lines_of_export(text_within(content, limits), reading, limits), reading)
    return _alone(lines_of(content, reading, limits), reading)


def read_batches(batches: Iterable[Lines], reading: Reading) -> Iterator[People]:
    """Read batches of lines, each alone and alike; all their faults are one refusal at the end."""
    faults = _Faults()
    for lines in batches:
        yield _people(lines, reading.complete(), faults)
    faults.check()


def read_frame(frame: pd.DataFrame, reading: Reading) -> People:
    """Read a data frame by its complete reading: numbers and moments as they are, texts as cells.

    Neighbours are frames whose columns have the same types.
    """
    return _alone(lines_of_frame(frame, reading.complete()), reading)


def _alone(lines: Lines, reading: Reading) -> People:
    """Read all lines of a file, and refuse it if one is outside the reading."""
    faults = _Faults()
    people = _people(lines, reading, faults)
    faults.check()
    return people


def _people(lines: Lines, reading: Reading, faults: _Faults) -> People:
    """Read the cells of some lines, and take note of those outside the reading."""
    faults.begin(lines)
    ids, person, spellings = _ids(lines, reading, faults)
    columns = {
        role: faults.noted(
            _values(lines, column, reading)
            if role in CODED
            else _numbers_of(_values(lines, column, reading), column),
            column,
        )
        for role, column in _spanning(reading).items()
        if reading.frame.people == "rows"
    }
    times, wide = _wide(lines, reading, faults)
    listed = [
        faults.noted(_numbers_of(_values(lines, column, reading), column), column)
        for column in (*reading.covariates, *reading.features)
    ]
    if "site" in columns:
        faults.add(np.isnan(columns["site"]), "without a site")
    codes = {role: _codes(values) for role, values in columns.items() if role in CODED}
    return People(
        reading=reading,
        ids=ids,
        person=person,
        spellings=spellings,
        codes=codes,
        columns={role: values for role, values in columns.items() if role not in CODED}
        | ({} if wide is None else {"wide": wide}),
        words={role: meanings(reading.columns[role]) for role in codes},
        times=times,
        covariates=np.column_stack(listed) if listed else np.empty((lines.n_lines, 0)),
        notes=lines.notes,
    )


# -- lines outside the reading ---------------------------------------------------------------------


_OF_DATES = (
    "Correct those dates, or the reading: “order” says how they are written, and “offset” "
    "what becomes of a time zone behind them."
)
_OF_CELLS = (
    "Correct those cells, or the reading: “missing” lists the texts that stand for a "
    "missing value, “decimal” the mark in numbers, “words” what texts mean, and "
    "“kind” is “date” for time stamps."
)
_OF_LINES = (
    "Correct those lines: each has as many cells as the header, an id, and both quotation "
    "marks of a cell. Or correct the “frame” of the reading."
)


class _Faults:
    """Lines outside the reading, each by the first of its faults."""

    def __init__(self) -> None:
        self._kinds = Counter[str]()
        self._is_outside = np.zeros(0, dtype=bool)
        self._n_lines = 0
        self._advice = ""  # on the first kind of fault that has one of its own

    def begin(self, lines: Lines) -> None:
        """Go on with other lines, and take note of those that are not in the frame."""
        self._kinds.update({kind: number for kind, number in lines.outside.items() if number})
        self._is_outside = np.zeros(lines.n_lines, dtype=bool)
        self._n_lines += lines.n_lines

    def add(self, flags: Flags, kind: str, advice: str = "") -> None:
        """Take note of lines with a fault."""
        new = int(np.count_nonzero(flags & ~self._is_outside))
        if new:
            self._kinds[kind] += new
            self._is_outside |= flags
            self._advice = self._advice or advice

    def noted(self, read: tuple[Array, Flags], column: Column) -> Array:
        """Take note of cells that are unreadable, and return the values of all."""
        values, unreadable = read
        self.add(
            unreadable,
            f"with an unreadable cell in “{shortened(column.name)}”",
            _OF_DATES if column.kind is Kind.DATE else _OF_CELLS,
        )
        return values

    def check(self) -> None:
        """Refuse the file if a line is outside, or there is none."""
        number = sum(self._kinds.values())
        if number:
            listed = ", ".join(f"{count:,} {kind}" for kind, count in self._kinds.items())
            raise InputError(
                f"{counted(number, 'line')} {'is' if number == 1 else 'are'} outside the reading "
                f"({listed}). Nothing was read.",
                field="reading",
                hint=self._advice or _OF_LINES,
            )
        if not self._n_lines:
            raise InputError(
                "There are no lines below the header.",
                field="file",
                hint="Bring a table with at least one line of data.",
            )


# -- whose a line is -------------------------------------------------------------------------------


def _ids(lines: Lines, reading: Reading, faults: _Faults) -> tuple[tuple[str, ...], Integers, str]:
    """Return the ids in order of appearance, the place of each line's, and other spellings."""
    stated = reading.person
    assert stated is not None  # the reading is complete
    if stated.file and lines.person is None:  # of a table, which is one file
        return ("file",) * bool(lines.n_lines), np.zeros(lines.n_lines, dtype=np.int64), ""
    if stated.rows:
        return (
            tuple(f"row {number}" for number in range(1, lines.n_lines + 1)),
            np.arange(lines.n_lines),
            "",
        )
    text = lines.cells[stated.column] if lines.person is None else lines.person
    written = text.dictionary_encode()
    texts, codes = written.dictionary, np.asarray(written.indices)
    is_long = pc.greater(pc.binary_length(texts), LONGEST)
    if pc.any(is_long).as_py():
        faults.add(np.asarray(is_long)[codes], f"with an id of over {LONGEST:,} bytes", TOO_LONG)
        texts = pc.if_else(is_long, "", texts)
    ids = canonical_texts(texts, stated.form)
    visible = ids if stated.form is not IdForm.EXACT else canonical_texts(texts)
    missing = pa.array([each.strip().lower() for each in reading.missing], pa.string())
    is_none = pc.or_(
        pc.equal(visible, ""),
        pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(texts)), value_set=missing),
    )
    faults.add(np.asarray(is_none)[codes], "without an id")
    if stated.form is not IdForm.EXACT:  # people whose long numbers are rounded alike become one
        faults.add(
            lost_digits(ids)[codes], "with an id such as 1.2E+11, which has lost digits", ROUNDED
        )
    if ids is texts:  # they are told apart already
        return as_strings(ids), codes.astype(np.int64), ""
    merged = ids.dictionary_encode()
    return (
        as_strings(merged.dictionary),
        np.asarray(merged.indices)[codes].astype(np.int64),
        _spellings(texts),
    )


def as_strings(texts: pa.Array) -> tuple[str, ...]:
    """Return each of some texts."""
    return tuple(texts.to_numpy(zero_copy_only=False).tolist())


def _spellings(texts: pa.Array) -> str:
    """Join the ids whose inner blanks, dashes or unseen characters told people apart in 0.5.0."""
    earlier = earlier_texts(texts)
    spelled = earlier.filter(pc.not_equal(earlier, canonical_texts(texts)))
    return str(pc.binary_join(pa.ListArray.from_arrays([0, len(spelled)], spelled), "\0")[0])


# -- what a line says ------------------------------------------------------------------------------


def _values(lines: Lines, column: Column, reading: Reading) -> tuple[Array, Flags]:
    return read_cells([lines.cells[name] for name in column.names], column, reading)


def _spanning(reading: Reading) -> dict[str, Column]:
    """Return the columns with a role; dates between which times lie count from any one day."""
    columns = dict(reading.columns)
    if {"start", "entry"} & columns.keys():
        for role in ("start", "entry", "time"):
            if role in columns and columns[role].kind is Kind.DATE:
                columns[role] = replace(
                    columns[role], counted=(f"{unit_of_spans(reading)} since {_ANY_DAY}")
                )
    return columns


def unit_of_spans(reading: Reading) -> str:
    """Return the unit of times between two dates; "" where times are numbers."""
    time = reading.columns["time"]
    if time.kind is not Kind.DATE:
        return unit_of(time)
    return time.counted.partition(" ")[0] if time.counted.partition(" ")[0] in UNITS else "days"


def _codes(values: Array) -> Integers:
    """Return the places of words, UNKNOWN where nothing stands."""
    known = np.where(np.isnan(values), UNKNOWN, np.where(values < 0, OTHER, values))
    return known.astype(np.int64)


def _numbers_of(read: tuple[Array, Flags], column: Column) -> tuple[Array, Flags]:
    """Return the numbers that words of a covariate or a feature stand for."""
    values, unreadable = read
    if column.kind is not Kind.WORD:
        return values, unreadable
    meant = np.array([float(meaning) for meaning in meanings(column)] + [np.nan])
    places = np.where(np.isnan(values) | (values < 0), len(meant) - 1, values).astype(np.int64)
    return meant[places], unreadable


def _wide(lines: Lines, reading: Reading, faults: _Faults) -> tuple[Array | None, Array | None]:
    """Return the times (m,) and values (lines, m) of curves in rows or columns; else nothing."""
    if reading.values is None:
        return None, None
    if reading.frame.people == "rows":
        cells = [
            faults.noted(
                read_cells([lines.cells[name]], reading.values, reading),
                _named(reading.values, name),
            )
            for name, _ in reading.at
        ]
        return np.array([time for _, time in reading.at]), np.column_stack(cells)
    column = reading.columns["time"]
    times, unreadable = _values(lines, column, reading)
    if not np.isfinite(times).all() or unreadable.any():
        raise InputError(
            f"{counted(int((~np.isfinite(times)).sum()), 'cell')} of the first column "
            "cannot be read as times. Nothing was read.",
            field="time",
            hint="They are the times of everybody: correct them, or how the reading says that "
            "they are written.",
        )
    values, bad = read_cells([lines.cells[""]], reading.values, reading)
    shape = (lines.n_lines, len(times))
    faults.add(np.logical_or.reduce(bad.reshape(shape), axis=1), "with an unreadable cell")
    return times, values.reshape(shape)


def _named(column: Column, name: str) -> Column:
    return Column(names=(name,), kind=column.kind)
