"""The export of a device by a written reading: each observation is a line of its own.

The reading names the export, and the file has its header, once; every other line is cut and read by
itself, as `engine.uploads.lines` and the format say. Where a file is a person, in an archive each
file is read as if it were alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.lists import counted
from engine.uploads.devices.exports import Nightscout
from engine.uploads.devices.format import Columns, DeviceObservations, Format
from engine.uploads.devices.reading import FORMATS, archived_files, is_archive_of_exports
from engine.uploads.limits import Limits, check_bytes, check_cells, refused
from engine.uploads.lines import Lines, header_of, line_ends, lines_in_frame
from engine.uploads.reading_of_files import Reading
from engine.uploads.text import checked_text
from engine.uploads.workbooks import is_workbook

_HEAD = 40  # lines in which the header stands
_SEPARATORS = (",", ";", "\t")
_AGAIN = "that repeat the header"


class _Part(NamedTuple):
    """The observations of one file, and how many lines are outside the reading, by fault."""

    observations: DeviceObservations
    outside: Mapping[str, int]


def lines_of_export(content: bytes, reading: Reading, limits: Limits) -> Lines:
    """Read the observations of an export, or of an archive with one person's in each file.

    Raises
    ------
    InputError
        If the reading names no export that is known, a file is not such an export or has no
        observation, or the reading says that people are told apart in a way that it does not have.
    """
    check_bytes(content, limits)
    form = next((form for form in FORMATS if form.export.name == reading.frame.export), None)
    if form is None:
        raise InputError("The reading names no export that is read.", field="export",
                         hint=f"Read are {', '.join(form.export.name for form in FORMATS)}.")
    encoding = reading.frame.encoding or "utf-8"
    if is_workbook(content) and is_archive_of_exports(content):
        files = list(archived_files(content, limits))
    else:
        files = [("file", content)]
    parts = [_part(file, form, encoding) for _, file in files]
    names = [name for name, _ in files]
    return _together(parts, names, form, reading, limits)


def _part(content: bytes, form: Format, encoding: str) -> _Part:
    """Read one file: the lines below the first that is a header of this export."""
    text = line_ends(checked_text(content, encoding))
    if text.lstrip()[:1] == b"[":
        return _Part(form.observations(_json_columns(text, form)), {})
    lines = text.split(b"\n", _HEAD)
    for place, line in enumerate(lines[:_HEAD]):
        for separator in _SEPARATORS:
            header = _lowered(line, separator)
            if len(header) > 2 and form.fits(header):
                return _below(b"\n".join(lines[place + 1:]), separator, header, form)
    raise refused(f"A file is no {form.export.name} export, as the reading says.",
                  "Leave other files out, or name the export as “export” of the “frame”.")


def _json_columns(text: bytes, form: Format) -> Columns:
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list) or not isinstance(form, Nightscout):
        raise refused(f"A file is no {form.export.name} export, as the reading says.",
                      "Leave other files out, or name the export as “export” of the “frame”.")
    return form.columns_of(entries)


def _lowered(line: bytes, separator: str) -> tuple[str, ...]:
    try:
        return tuple(name.casefold() for name in header_of(line, separator))
    except (InputError, UnicodeDecodeError):
        return ()


def _below(body: bytes, separator: str, header: tuple[str, ...], form: Format) -> _Part:
    """Read the lines below a header; one that is a header again is outside the reading."""
    lines, needed = lines_in_frame(body, separator, len(header)), form.needs(header)
    cells = lines.columns([str(header.index(name)) for name in needed])
    columns = {name: pc.utf8_trim_whitespace(cells[str(header.index(name))]) for name in needed}
    again = pa.array(np.ones(lines.number, dtype=bool))
    for name, column in columns.items():
        again = pc.and_(again, pc.equal(pc.utf8_lower(column), name))
    n_again = int(pc.sum(again).as_py() or 0)
    return _Part(form.observations(columns), {**lines.outside, _AGAIN: n_again})


def _together(parts: list[_Part], names: list[str], form: Format, reading: Reading, limits: Limits
              ) -> Lines:
    """Put the observations of all files together, as columns of numbers."""
    outside: dict[str, int] = {}
    for part in parts:
        for kind, number in part.outside.items():
            outside[kind] = outside.get(kind, 0) + number
    counts = [len(part.observations.days) for part in parts]
    if not all(counts):
        empty = sum(not count for count in counts)
        raise refused(f"{counted(empty, 'file')} of the {form.export.name} export "
                      f"{'holds' if empty == 1 else 'hold'} no observations.",
                      "Check that the period of the export has some.")
    check_cells(sum(counts), 2 + len(form.units), limits)
    hours = np.concatenate([part.observations.hours for part in parts])
    if form.time == "hour":
        slots = 60 / form.minutes
        hours = np.round(hours * slots) % (24 * slots) / slots
    values = np.concatenate([np.round(part.observations.values, 4) for part in parts])
    cells = {form.time: pa.array(hours, pa.float64())} | {
        unit: pa.array(column, pa.float64()) for unit, column in zip(form.units, values.T,
                                                                    strict=True)}
    unknown = [name for column in reading.every_column for name in column.names
               if name not in cells]
    if unknown:
        raise InputError(f"The {form.export.name} export has no column that the reading names.",
                         field="columns", hint=f"It has {', '.join(cells)}.")
    return Lines(cells, len(hours), outside, _people(parts, names, reading), tuple(form.notes))


def _people(parts: list[_Part], names: list[str], reading: Reading) -> pa.Array:
    """Return whose each observation is: by the file, or by the export's own column."""
    person = reading.person
    assert person is not None  # the reading is complete
    if person.file:
        counts = [len(part.observations.days) for part in parts]
        return pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), counts)))
    found = [part.observations.people for part in parts]
    people = [each for each in found if each is not None]
    if not person.column or len(people) < len(found):
        raise InputError("The export has no column that names people.", field="person",
                         hint='If every file is one person, state "person": {"file": true}.')
    return pa.concat_arrays(people)
