"""From a file to the table of an export: blocks under headers, people, and days that are folded."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from engine.core.lists import counted
from engine.core.types import Array
from engine.uploads.devices import exports
from engine.uploads.devices.format import Columns, DeviceExport, DeviceObservations, Format
from engine.uploads.limits import Limits, have, refused

FORMATS: tuple[Format, ...] = (exports.Clarity(), exports.LibreView(), exports.Nightscout(),
                               exports.GgirHours(), exports.GgirDays(), exports.GreenButton())
MAX_FILES = 5000  # in an archive
_HEAD = 40  # lines in which the first header is looked for
_HEAD_BYTES = 65_536
_SEPARATORS = (",", ";", "\t")
_TABLES = (".csv", ".tsv", ".txt", ".json")
_OF_WORKBOOKS = ("[Content_Types].xml", "content.xml", "xl/workbook.xml", "xl/workbook.bin")
Read = tuple[list[str], list[pa.Array], list[str], DeviceExport]


@dataclass
class _People:
    """Observations of people, block by block in the order in which they come."""

    form: Format
    blocks: list[DeviceObservations] = field(default_factory=list)

    def add(self, observations: DeviceObservations, default: str) -> None:
        """Take in a block; `default` names the person where nothing else does."""
        if observations.people is None:
            everybody = pa.array([default]).take(pa.array(np.zeros(len(observations.days), int)))
            observations = observations._replace(people=everybody)
        self.blocks.append(observations)

    def together(self) -> DeviceObservations:
        """All of them."""
        hours, values, days, people = zip(*self.blocks, strict=True)
        return DeviceObservations(np.concatenate(hours), np.concatenate(values),
                                  pa.concat_arrays(days), pa.concat_arrays(people))


def read_export(text: bytes, limits: Limits) -> Read | None:
    """The table of a text file that is an export; None of any other text.

    Where headers come several times, one below another, every block is a person, unless a column
    names people.

    Parameters
    ----------
    text : bytes
        In UTF-8.

    Returns
    -------
    tuple or None
        Header, columns of text, notes, and what is known of the export.

    Raises
    ------
    InputError
        If it is an export without observations, or too large.
    """
    blocks = list(_blocks(text))
    if not blocks:
        return None
    people = _People(blocks[0][0])
    for k, (form, columns) in enumerate(blocks, start=1):
        _check_form(form, people.form)
        people.add(form.observations(columns), f"person {k}")
    return _table(people, limits)


def is_archive_of_exports(content: bytes) -> bool:
    """Whether an archive holds text tables and is no workbook.

    Parameters
    ----------
    content : bytes
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {member.filename for member in archive.infolist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return not names & set(_OF_WORKBOOKS) and any(name.lower().endswith(_TABLES) for name in names)


def read_archive(content: bytes, decode: Callable[[bytes], bytes], limits: Limits) -> Read:
    """The table of an archive with an export of each person in a file.

    Parameters
    ----------
    content : bytes
    decode : callable
        From the bytes of a file to UTF-8.

    Raises
    ------
    InputError
        If it is locked, damaged or too large, or a file in it is no export or of another format.
    """
    people: _People | None = None
    other = 0
    for name, part in archived_files(content, limits):
        blocks = list(_blocks(decode(part)))
        other += not blocks
        for form, columns in blocks:
            people = people or _People(form)
            _check_form(form, people.form)
            people.add(form.observations(columns), name)
    if people is None or other:
        raise refused(f"{counted(other, 'file')} of this archive {'is' if other == 1 else 'are'} "
                      "no export that is read.", "Leave other files out. Read are "
                      + ", ".join(form.export.name for form in FORMATS) + ".")
    return _table(people, limits)


def archived_files(content: bytes, limits: Limits) -> list[tuple[str, bytes]]:
    """Return the name and the bytes of every table in an archive; sizes are checked first.

    Raises
    ------
    InputError
        If it is damaged, locked or too large.
    """
    try:
        return list(_files(content, limits))
    except (zipfile.BadZipFile, EOFError, NotImplementedError):
        raise refused("This archive is damaged and cannot be read.",
                      "Pack the files again.") from None


def _files(content: bytes, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """The name without folder and ending, and the bytes, of every table; sizes are checked first.

    Where two files in different folders have one name, the folder tells their people apart.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [member for member in archive.infolist() if _is_table(member.filename)]
        size = sum(member.file_size for member in members)
        if any(member.flag_bits & 1 for member in members):
            raise refused("This archive is protected by a password.", "Pack it without one.")
        if len(members) > MAX_FILES:
            raise refused(f"The archive has {len(members):,} files; at most {MAX_FILES:,} are "
                          "read.", "Take fewer people.")
        if size > min(limits.unpacked_bytes, limits.unpacked_ratio * len(content)):
            raise refused(f"The archive holds {size / 1e6:,.0f} MB of text; at most "
                          f"{limits.unpacked_bytes / 1e6:g} MB are read, and at most "
                          f"{limits.unpacked_ratio:g} times what it takes.",
                          "Take fewer days or fewer people.")
        paths = [PurePosixPath(member.filename) for member in members]
        are_unique = len({path.stem for path in paths}) == len(paths)
        for member, path in zip(members, paths, strict=True):
            yield path.stem if are_unique else str(path.with_suffix("")), archive.read(member)


def _is_table(name: str) -> bool:
    """Whether a part is a table, and none of the shadows that some systems put beside files."""
    path = PurePosixPath(name)
    return (name.lower().endswith(_TABLES) and "__MACOSX" not in path.parts
            and not path.name.startswith("."))


def _check_form(form: Format, first: Format) -> None:
    """Glucose monitors of several makers go together; nothing else does."""
    if form.units != first.units or form.time != first.time:
        raise refused(f"There are exports of {first.export.name} and of {form.export.name}.",
                      "Take files that measure the same.")


def _blocks(text: bytes) -> Iterator[tuple[Format, Columns]]:
    """Formats with the columns below each header; nothing of text that is no export."""
    start = text[:_HEAD_BYTES]
    if start.lstrip()[:1] == b"[":
        yield from _of_json(text)
        return
    top = next(((line, separator, form, header)
                for line in start.splitlines()[:_HEAD] for separator in _SEPARATORS
                for header in [_cells(line.decode(errors="replace"), separator)]
                for form in FORMATS if len(header) > 2 and form.fits(header)), None)
    if top is None:
        return
    head, separator, form, header = top
    starts = [*_headers(text, head, separator, form), (len(text), len(text), header)]
    for (_, first, names), (end, _, _) in pairwise(starts):
        rows = text[first:end].lstrip(b"\r\n")
        if rows.strip():
            yield form, _columns(rows, separator, names, form)


def _headers(text: bytes, head: bytes, separator: str, form: Format
             ) -> Iterator[tuple[int, int, list[str]]]:
    """Where each header of a format begins and ends, and its names; units may change between them.

    Headers are looked for among the lines that begin as the first one does.
    """
    first_cell = head.partition(separator.encode())[0] or head
    for match in re.finditer(rb"^" + re.escape(first_cell) + rb"[^\r\n]*", text, re.MULTILINE):
        names = _cells(match[0].decode(errors="replace"), separator)
        if len(names) > 2 and form.fits(names):
            yield match.start(), match.end(), names


def _columns(rows: bytes, separator: str, header: list[str], form: Format) -> Columns:
    """The columns that a format needs, of rows as long as the header."""
    names, needed = [str(k) for k in range(len(header))], form.needs(header)
    uneven = 0

    def skip(row: Any) -> str:
        nonlocal uneven
        uneven += row.text is None or row.text.strip(" ,;\t\"") != ""
        return "skip"

    indices = {name: str(header.index(name)) for name in needed}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(rows + b"\n"),
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(rows) + 2,
                                               column_names=names),
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True,
                                                 invalid_row_handler=skip),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, check_utf8=True,
                include_columns=[*indices.values()], strings_can_be_null=False))
    except pa.ArrowInvalid:  # its message may quote a row
        raise refused(f"The rows of this {form.export.name} export cannot be told apart.",
                      "Check that every quotation mark is closed, and export it again.") from None
    if uneven:
        raise refused(f"{counted(uneven, 'row')} of this {form.export.name} export "
                      f"{have(uneven)} more or fewer cells than the header.",
                      "Export it again, and change nothing in it.")
    return {name: pc.utf8_trim_whitespace(table[index].combine_chunks())
            for name, index in indices.items()}


def _of_json(text: bytes) -> Iterator[tuple[Format, Columns]]:
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(entries, list) and any(isinstance(entry, dict) and "sgv" in entry
                                         for entry in entries):
        form = exports.Nightscout()
        yield form, form.columns_of(entries)


def _cells(line: str, separator: str) -> list[str]:
    """The cells of a header, in lower case and without blanks at the ends."""
    try:
        rows = list(csv.reader([line], delimiter=separator))
    except csv.Error:  # a cell that is too long
        return []
    return [cell.strip().casefold() for cell in rows[0]] if rows else []


def _table(people: _People, limits: Limits) -> Read:
    """A row per observation: person, time, and the value in each unit."""
    form, header = people.form, ["id", people.form.time, *people.form.units]
    number = sum(len(block.days) for block in people.blocks)
    if not number:
        raise refused(f"This {form.export.name} export holds no observations.",
                      "Check that the period of the export has some.")
    if len(header) * number > limits.cells:
        raise refused(f"The export has {number:,} observations; at most "
                      f"{limits.cells // len(header):,} are read.",
                      "Take fewer days or fewer people.")
    hours, values, days, whose = people.together()
    notes = [f"{form.export.name} export, recognised by its header", *form.notes]
    if form.time == "hour":
        slots = 60 / form.minutes
        hours = np.round(hours * slots) % (24 * slots) / slots
        notes.append("times are the hours of the day, rounded to "
                     f"{'one minute' if form.minutes == 1 else f'{form.minutes:g} minutes'}")
    columns = [whose, _as_text(hours), *map(_as_text, values.T)]
    each = _days_of_each(whose, days)
    fewest, largest = int(each.min()), int(each.max())
    span = counted(largest, "day") if fewest == largest else f"{fewest:,} to {largest:,} days"
    notes.append(f"{len(each):,} people with {span} each: all days of a person are one record"
                 if len(each) > 1 else f"one person only, with {span}: put the exports of all "
                 "people into one .zip file, or add a column that names them")
    return header, columns, notes, form.export


def _days_of_each(whose: pa.Array, days: pa.Array) -> NDArray[np.int64]:
    """How many days each person has (n,)."""
    person, day = (np.asarray(column.dictionary_encode().indices, dtype=np.int64)
                   for column in (whose, days))
    return np.bincount(np.unique(person * (day.max() + 1) + day) // (day.max() + 1))


def _as_text(values: Array) -> pa.Array:
    """Numbers to four decimals as text; "" where there is none."""
    text = pc.cast(pa.array(np.round(values, 4), from_pandas=True), pa.string())
    return text.fill_null("")
