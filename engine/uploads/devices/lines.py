"""The export of a device as lines: each observation is one.

The reading names the export, and the file has its header, once; every other line is cut and read by
itself, as `engine.uploads.lines` and the format say. Where a file is a person, in an archive each
file is read as if it were alone; monitors of several makers that measure the same may then stand
beside each other, named one after the other.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.lists import counted, listed
from engine.core.units import GLUCOSE
from engine.uploads.devices import exports
from engine.uploads.devices.archives import files_of
from engine.uploads.devices.format import Columns, DeviceObservations, Format
from engine.uploads.limits import FileLimits, check_bytes, check_cells, refused
from engine.uploads.lines import Lines, Texts, header_of, line_ends, lines_in_frame
from engine.uploads.reading_of_files import Frame, Reading
from engine.uploads.text import checked_text

FORMATS: tuple[Format, ...] = (
    exports.Clarity(),
    exports.LibreView(),
    exports.Nightscout(),
    exports.GgirHours(),
    exports.GgirDays(),
    exports.GreenButton(),
)
READ = ", ".join(form.name for form in FORMATS)
_AND = " and "  # between the names of makers
_HEAD = 40  # lines in which the header stands
_LONGEST_HEADER = 10_000  # bytes of a header of a device
_SEPARATORS = (",", ";", "\t")
_AGAIN = "that repeat the header"


class _Head(NamedTuple):
    """The start of the lines of an export, and their meaning."""

    form: Format
    header: tuple[str, ...]
    separator: str
    body: bytes  # below the header; all of a text in JSON


class Exported(NamedTuple):
    """The observations of an export, or of all files of an archive."""

    cells: Texts  # times and values, as numbers
    ids: pa.Array | None  # whose each observation is, where every file has a column of ids
    files: pa.Array  # the file of each observation
    days: pa.Array
    outside: Mapping[str, int]  # lines that cannot be read, by fault
    unit: str  # the unit that the first header says, where values are read in several
    notes: tuple[str, ...]


def lines_of_export(content: bytes, reading: Reading, limits: FileLimits) -> Lines:
    """Read the observations of an export, or of an archive with one person's in each file."""
    exported = read_export(content, reading.frame, limits)
    person = reading.person
    assert person is not None  # the reading is complete
    people = exported.files if person.file else exported.ids
    if people is None or not (person.file or person.column):
        raise InputError(
            "The export has no column that names people.",
            field="person",
            hint='If every file is one person, state "person": {"file": true}.',
        )
    unknown = [
        name
        for column in reading.every_column
        for name in column.names
        if name not in exported.cells
    ]
    if unknown:
        raise InputError(
            f"The {reading.frame.export} export has no column that the reading names.",
            field="columns",
            hint=f"It has {', '.join(exported.cells)}.",
        )
    return Lines(exported.cells, len(exported.files), exported.outside, people, exported.notes)


def export_in(content: bytes, encoding: str, limits: FileLimits) -> str:
    """Return the export that a file is, or all makers in an archive; "" of any other file."""
    files = files_of(content, limits)
    heads = [_head(file, encoding, FORMATS) for file in files.values()]
    found = {head.form.name: head.form for head in heads if head is not None}
    others = sum(head is None for head in heads)
    if others and [*files.values()] != [content]:
        raise _other_files(others, len(heads))
    if len({(form.time, *form.units) for form in found.values()}) > 1:
        raise refused(
            f"There are exports of {listed([*found], len(found))} in this archive, which "
            "do not measure the same.",
            "Put the exports of each maker into an archive of their own.",
        )
    return _AND.join(sorted(found))


def _other_files(others: int, number: int) -> InputError:
    if number == 1:
        return refused(
            "The table in this archive is no export of a device that is read.",
            "Unpack the archive, and take the table inside.",
        )
    return refused(
        f"{counted(others, 'file')} of this archive {'is' if others == 1 else 'are'} no "
        "export of a device that is read.",
        f"Leave other files out; read are {READ}. "
        "Other tables belong into one file, with a column that names people.",
    )


def read_export(content: bytes, frame: Frame, limits: FileLimits) -> Exported:
    """Read the observations of all files of the exports that a frame names."""
    check_bytes(content, limits)
    names = frame.export.split(_AND)
    forms = [form for form in FORMATS if form.name in names]
    if len(forms) < len(names) or len({(form.time, *form.units) for form in forms}) > 1:
        raise InputError(
            "The reading names no export that is read.",
            field="export",
            hint=f"Read are {READ}, and monitors of several makers together.",
        )
    files = files_of(content, limits)
    heads = [_head(file, frame.encoding or "utf-8", forms) for file in files.values()]
    outside, parts = Counter[str](), list[DeviceObservations]()
    for head in heads:
        if head is None:
            raise refused(
                f"A file is no {frame.export} export, as the reading says.",
                "Leave other files out, or name the export as “export” of the “frame”.",
            )
        parts.append(_observed(head, outside))
    counts = [len(part.days) for part in parts]
    if not all(counts):
        empty = counts.count(0)
        which = (
            f"{counted(empty, 'file')} of the {frame.export} export "
            f"{'holds' if empty == 1 else 'hold'}"
            if len(files) > 1
            else f"This {frame.export} export holds"
        )
        raise refused(f"{which} no observations.", "Check that the period of the export has some.")
    check_cells(sum(counts), 2 + len(forms[0].units), limits)
    people = [part.people for part in parts if part.people is not None]
    return Exported(
        _cells(parts, [head.form for head in heads if head is not None]),
        pa.concat_arrays(people) if len(people) == len(parts) else None,
        pa.array([*files]).take(pa.array(np.repeat(np.arange(len(files)), counts))),
        pa.concat_arrays([part.days for part in parts]),
        dict(+outside),
        _unit(heads[0]),
        tuple(note for form in forms for note in form.notes),
    )


def _head(content: bytes, encoding: str, forms: Sequence[Format]) -> _Head | None:
    """Return the first line that is a header of one of these exports, with all below it."""
    text = line_ends(checked_text(content, encoding))
    json_forms = [form for form in forms if isinstance(form, exports.Nightscout)]
    if text.lstrip()[:1] == b"[" and json_forms:
        return _Head(json_forms[0], (), "", text) if b'"sgv"' in text else None
    lines = text.split(b"\n", _HEAD)
    for place, line in enumerate(lines[:_HEAD]):
        for separator in _SEPARATORS if len(line) <= _LONGEST_HEADER else ():
            if line.count(separator.encode()) < 2:
                continue  # no header has so few names
            header = _lowered(line, separator)
            form = next((form for form in forms if len(header) > 2 and form.fits(header)), None)
            if form is not None:
                return _Head(form, header, separator, b"\n".join(lines[place + 1 :]))
    return None


def _lowered(line: bytes, separator: str) -> tuple[str, ...]:
    try:
        return tuple(name.casefold() for name in header_of(line, separator))
    except (InputError, UnicodeDecodeError):
        return ()


def _observed(head: _Head, outside: Counter[str]) -> DeviceObservations:
    """Read the lines below a header; one that is a header again is outside the reading."""
    form, header = head.form, head.header
    if not header:
        return form.observations(_json_columns(head.body, form))
    lines, needed = lines_in_frame(head.body, head.separator, len(header)), form.needs(header)
    cells = lines.columns([str(header.index(name)) for name in needed])
    columns = {name: pc.utf8_trim_whitespace(cells[str(header.index(name))]) for name in needed}
    again = np.zeros(lines.number, dtype=bool)
    for name, column in columns.items():
        again |= np.asarray(pc.equal(pc.utf8_lower(column), name))
    outside.update({**lines.outside, _AGAIN: int(again.sum())})
    return form.observations(columns)


def _json_columns(text: bytes, form: Format) -> Columns:
    assert isinstance(form, exports.Nightscout)
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        raise refused(f"This {form.name} export cannot be read.", "Export it again.")
    return form.columns_of(entries)


def _unit(head: _Head | None) -> str:
    names = " ".join(head.header) if head is not None else ""
    return next((unit for unit in GLUCOSE if unit.casefold() in names), "")


def _cells(parts: Sequence[DeviceObservations], forms: Sequence[Format]) -> Texts:
    """Put times, which are rounded so that days meet, and values together."""
    hours = np.concatenate([_rounded(part, form) for part, form in zip(parts, forms, strict=True)])
    values = np.concatenate([np.round(part.values, 4) for part in parts])
    return {forms[0].time: pa.array(hours, pa.float64())} | {
        unit: pa.array(column, pa.float64())
        for unit, column in zip(forms[0].units, values.T, strict=True)
    }


def _rounded(part: DeviceObservations, form: Format) -> np.ndarray:
    if form.time != "hour":
        return part.hours
    slots = 60 / form.minutes
    return np.asarray(np.round(part.hours * slots) % (24 * slots) / slots)
