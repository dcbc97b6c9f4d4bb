"""The frame of a file: bytes to lines, and lines to cells, each line by itself.

A line ends at every CR LF, LF or CR, also inside quotation marks, so that no mark of one line can
take in another. A line that holds nothing but blanks and separators is none. All others are in the
frame if they have as many cells as the header, and each quotation mark in them encloses a cell and
is closed in the same line. Both are told of a line by looking at that line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.uploads.limits import (
    LIMITS,
    FileLimits,
    check_bytes,
    check_cells,
    check_columns,
    refused,
)
from engine.uploads.packed import (
    HEAD,
    Packing,
    TypedTable,
    cells_of_column,
    entries_of,
    packing_of,
    text_within,
)
from engine.uploads.reading_of_files import Frame, Kind, Offset, Reading
from engine.uploads.text import ENCODINGS, checked_text
from engine.uploads.workbooks import is_workbook, sheet_cells

if TYPE_CHECKING:
    import pandas as pd

# Arrow's own allocator reserves a gigabyte of addresses, which limits of memory count, and keeps
# what is freed.
pa.set_memory_pool(pa.system_memory_pool())

SEPARATORS = (",", ";", "\t", "|", " ")
_BLANKS = " "  # the separator of which any number is one
_FEED, _QUOTE, _TAB, _BLANK = map(ord, '\n"\t ')
_SPACES = b" \t\n\v\f"
_BOM = b"\xef\xbb\xbf"
_NO_CELLS = {
    bytes: "bytes",
    bytearray: "bytes",
    complex: "complex numbers",
    list: "lists",
    tuple: "lists",
    dict: "mappings",
    set: "sets",
}  # in a data frame
_MARKS = r"\pM{31}"  # more than text has, and ordering them takes the square of their time
Texts = Mapping[str, pa.Array]  # by the name of the column, one text or number a line


class Lines(NamedTuple):
    """The lines of a file below its header, as cells of the columns that are used."""

    cells: Texts
    n_lines: int  # in the frame
    outside: Mapping[str, int]  # how many lines are not in the frame, by what is wrong with them
    person: pa.Array | None = None  # where a file or a column, and not a cell, says whose a line is
    notes: tuple[str, ...] = ()


def lines_of(content: bytes, reading: Reading, limits: FileLimits = LIMITS) -> Lines:
    """Cut a table into lines and cells as its reading says."""
    check_bytes(content, limits)
    packing = packing_of(content[:HEAD])
    if packing.is_typed:
        return _of_typed(content, packing, reading, limits)
    content, frame = text_within(content, limits), reading.frame
    if is_workbook(content) == bool(frame.separator):
        raise InputError(
            "The reading is of a text table, and this is a workbook."
            if frame.separator
            else "The reading is of a workbook, and this is a text table.",
            field="frame",
            hint="State the “separator” of a text table in its "
            "“frame”, and the “sheet” of a workbook.",
        )
    header, rows = (_of_text if frame.separator else _of_sheet)(content, reading, limits)
    if frame.people == "columns":
        return _turned(header, rows, frame, limits)
    check_header(header, frame)
    check_cells(rows.n_lines, len(header), limits)
    return rows


def _of_typed(content: bytes, packing: Packing, reading: Reading, limits: FileLimits) -> Lines:
    """Take the rows of a typed table for lines."""
    table = TypedTable(content, packing)
    batches = list[Lines]()
    for batch in lines_of_table(table, reading, reading.frame):
        batches.append(batch)
        check_cells(sum(each.n_lines for each in batches), len(table.schema), limits)
    cells = {
        name: pa.concat_arrays([each.cells[name] for each in batches]) for name in reading.used
    }
    return Lines(cells, sum(each.n_lines for each in batches), {})


def lines_of_table(table: TypedTable, reading: Reading, frame: Frame) -> Iterator[Lines]:
    """Take the rows of a typed table for lines, batch by batch: at least one, which may be empty.

    The frame is that of the reading, or has fewer columns.
    """
    if frame.people == "columns":
        raise refused("People stand in rows of such a table.", "State it in the “frame”.", "frame")
    check_header(column_names(table.schema.names), frame)
    written = dict(zip(frame.header, table.schema.names, strict=True))
    used = [name for name in reading.used if name in written]
    entries, missing = entries_of(reading), (*reading.missing, "")[0]
    empty = pa.record_batch(
        [pa.array([], table.schema.field(written[name]).type) for name in used],
        names=[written[name] for name in used],
    )
    for batch in chain([empty], table.batches([written[name] for name in used])):
        cells = {
            name: cells_of_column(batch[written[name]], name, entries.get(name), missing)
            for name in used
        }
        yield Lines(
            {
                name: _checked_marks(column) if pa.types.is_string(column.type) else column
                for name, column in cells.items()
            },
            batch.num_rows,
            {},
        )


def lines_of_frame(frame: pd.DataFrame, reading: Reading) -> Lines:
    """Take rows of a data frame for lines: numbers and moments by their type, else cells."""
    check_frame(frame)
    check_header(column_names([str(name) for name in frame.columns]), reading.frame)
    offsets = {
        name: column.offset
        for column in reading.every_column
        for name in column.names
        if column.kind is not Kind.WORD
    }
    cells = {
        name: _of_series(frame.iloc[:, reading.frame.header.index(name)], offsets.get(name))
        for name in reading.used
    }
    return Lines(cells, len(frame), {})


def check_frame(frame: pd.DataFrame) -> None:
    """Refuse columns of a data frame whose cells are neither numbers, moments nor texts."""
    import pandas as pd

    for name, (_, series) in zip(map(str, frame.columns), frame.items(), strict=True):
        held = (
            "complex numbers"
            if pd.api.types.is_complex_dtype(series.dtype)
            else next((_NO_CELLS[type(cell)] for cell in series if type(cell) in _NO_CELLS), "")
            if series.dtype == object
            else ""
        )
        if held:
            raise InputError(
                f"The column “{shortened(name)}” holds {held}.",
                field="data",
                hint="Give it numbers, dates or text, such as "
                'frame["x"].str.decode("utf-8") of bytes, or leave it out.',
            )


def _of_series(series: pd.Series, offset: Offset | None) -> pa.Array:
    """Return numbers, moments or texts; ids and words, which have no offset, are always texts."""
    import pandas as pd

    kind = series.dtype
    if pd.api.types.is_datetime64_any_dtype(kind) and offset is not None:
        zone = getattr(kind, "tz", None)
        if (offset is Offset.UTC) != (zone is not None) and offset is not Offset.KEPT:
            raise InputError(
                "The stamps of a column have a time zone."
                if zone
                else "The stamps of a column have no time zone.",
                field="offset",
                hint='State "offset": "kept" for the clock on the wall or "to UTC", '
                'and "none" where there is no time zone.',
            )
        if zone is not None:
            series = (
                series.dt.tz_convert("UTC") if offset is Offset.UTC else series
            ).dt.tz_localize(None)
        return pa.Array.from_pandas(series.astype("datetime64[us]"))
    if pd.api.types.is_numeric_dtype(kind) and offset is not None:
        return pa.array(series.to_numpy(dtype=float, na_value=np.nan), pa.float64())
    return pa.array(
        ["" if cell is None or cell is pd.NA or cell != cell else str(cell) for cell in series],
        pa.string(),
    )


def column_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Return names without outer blanks; a column without one is called by its place."""
    return tuple(
        unicodedata.normalize("NFC", cell).strip() or f"column {place}"
        for place, cell in enumerate(cells, start=1)
    )


def check_header(header: tuple[str, ...], frame: Frame) -> None:
    """Refuse a header that is not the stated one."""
    if header != frame.header:
        others = len({*header} ^ {*frame.header})
        raise InputError(
            "The header of the file is not the stated one"
            + (
                f": {counted(others, 'name')} {'differs' if others == 1 else 'differ'}."
                if others
                else ": its order differs."
            ),
            field="header",
            hint="State all names of columns in their order, as “header” of the "
            "“frame”, and how many lines stand above them as “above”.",
        )


# -- text ------------------------------------------------------------------------------------------


def _of_text(content: bytes, reading: Reading, limits: FileLimits) -> tuple[tuple[str, ...], Lines]:
    frame = reading.frame
    if frame.encoding not in ENCODINGS or frame.separator not in SEPARATORS:
        wrong = "encoding" if frame.encoding not in ENCODINGS else "separator"
        raise InputError(
            f"The reading has no {wrong} that is read.",
            field=wrong,
            hint=f"Encodings are {', '.join(ENCODINGS)}; a separator is a comma, "
            "semicolon, tab, bar, or a blank for any number of them.",
        )
    head, body = below(line_ends(checked_text(content, frame.encoding)), frame.above)
    header = header_of(head, frame.separator)
    check_columns(len(header), limits)
    return header, cut_lines(body, header, reading)


def cut_lines(body: bytes, header: tuple[str, ...], reading: Reading) -> Lines:
    """Cut whole lines of text below a header into cells of the columns that are used."""
    frame = reading.frame
    lines = lines_in_frame(body, frame.separator, len(header))
    wanted = (
        [str(place) for place in range(len(header))]
        if frame.people == "columns"
        else [name for name in dict.fromkeys(reading.used) if name in header]
    )
    places = {
        name: name if frame.people == "columns" else str(header.index(name)) for name in wanted
    }
    cells = lines.columns(list(places.values()))
    return Lines(
        {name: cells[place] for name, place in places.items()}, lines.number, lines.outside
    )


def line_ends(text: bytes) -> bytes:
    """Return a text whose every line ends at a line feed."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def header_of(line: bytes, separator: str) -> tuple[str, ...]:
    """Return the names in the line of a header."""
    plain, mark = _separated(line + b"\n", separator), _mark(separator)
    looked_at = _look(plain, mark)
    if b"\0" in line or not looked_at.is_closed.all():
        raise InputError(
            "The line of the header cannot be read: a quotation mark in it is not "
            "closed, or it holds a character without meaning.",
            field="header",
            hint="Correct that line, or state how many lines stand above it.",
        )
    n_cells = int(looked_at.n_cells[0])
    check_columns(n_cells, LIMITS)  # before a million names are read
    if b'"' not in plain and b"\r" not in plain:  # plain cells need no reader
        return column_names(plain[:-1].decode().split(mark))
    cells = FramedText(plain, mark, n_cells, 1, {}).columns(
        [str(place) for place in range(n_cells)]
    )
    return column_names([column[0].as_py() for column in cells.values()])


class FramedText(NamedTuple):
    """Lines that can be cut into the same number of cells, in one way; how many others there are.

    Lines that blanks separate have single tabs in place of them.
    """

    text: bytes  # UTF-8, a line feed behind each line
    separator: str
    n_cells: int
    number: int
    outside: Mapping[str, int]

    def columns(self, wanted: list[str]) -> Texts:
        """Return the columns at some places, "0" being the first."""
        if not self.number or not wanted:
            return {place: pa.array([], pa.string()) for place in wanted}
        names = [str(place) for place in range(self.n_cells)]
        table = arrow_csv.read_csv(
            pa.BufferReader(self.text),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=len(self.text) + 1, column_names=names
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.separator, newlines_in_values=False, ignore_empty_lines=False
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                include_columns=wanted,
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        return {place: _checked_marks(table[place].combine_chunks()) for place in wanted}


def lines_in_frame(body: bytes, separator: str, n_cells: int) -> FramedText:
    """Return the lines that can be cut into so many cells, and count all others by their fault."""
    mark = _mark(separator)
    if not body.strip(b"\n"):
        return FramedText(b"", mark, n_cells, 0, {})
    text = _separated(body if body.endswith(b"\n") else body + b"\n", separator)
    lines = _look(text, mark)
    is_strange = _with_any(text, lines.ends, (b"\0", _BOM))
    is_line = ~lines.is_blank | is_strange
    fits = lines.is_closed & (lines.n_cells == n_cells) & is_line & ~is_strange
    outside = {
        "with a character without meaning": _number(is_strange),
        "with a quotation mark that is not closed": _number(
            is_line & ~is_strange & ~lines.is_closed
        ),
        "with another number of cells": _number(
            is_line & ~is_strange & lines.is_closed & (lines.n_cells != n_cells)
        ),
    }
    if not fits.all():
        kept = np.repeat(fits, np.diff(lines.ends, prepend=-1))
        text = np.frombuffer(text, np.uint8)[kept].tobytes()
    return FramedText(text, mark, n_cells, _number(fits), outside)


class _LinesOfText(NamedTuple):
    """Properties of each line of a text, (lines,) each."""

    ends: NDArray[np.int64]  # where its line feed stands
    n_cells: NDArray[np.int64]
    is_closed: NDArray[np.bool_]  # every quotation mark in it encloses a cell
    is_blank: NDArray[np.bool_]  # nothing but blanks and separators


def _look(text: bytes, separator: str) -> _LinesOfText:
    """Tell of each line how many cells it has, and if its quotation marks enclose cells.

    A mark opens where as many came before it in its line as make pairs, and stands then behind a
    separator, at the beginning, or behind a mark: two are one mark inside a cell. A mark closes in
    front of a separator, the end or another mark. Separators between both are part of the cell.
    """
    letters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(letters == _FEED)
    marks, separators = (np.flatnonzero(letters == ord(mark)) for mark in ('"', separator))
    is_closed = np.ones(len(ends), dtype=bool)
    if len(marks):
        before = np.searchsorted(marks, np.append(0, ends[:-1] + 1))  # marks in front of each line
        line = np.searchsorted(ends, marks)
        opens = (np.arange(len(marks)) - before[line]) % 2 == 0
        beside = np.where(opens, np.where(marks > 0, letters[marks - 1], _FEED), letters[marks + 1])
        astray = ~np.isin(beside, (_FEED, ord(separator), _QUOTE))
        is_closed[line[astray]] = False
        is_closed &= np.diff(np.append(before, len(marks))) % 2 == 0
        of_line = np.searchsorted(ends, separators)
        separators = separators[(np.searchsorted(marks, separators) - before[of_line]) % 2 == 0]
    n_cells = 1 + np.diff(np.searchsorted(separators, ends), prepend=0)
    is_letter = ~np.isin(np.arange(256), np.frombuffer(_SPACES + separator.encode(), np.uint8))
    starts = np.append(0, ends[:-1] + 1)
    is_blank = ~is_letter[letters[starts]]
    if is_blank.any():  # else every line begins with a letter
        is_blank = ~np.logical_or.reduceat(is_letter[letters], starts)
    return _LinesOfText(ends, n_cells, is_closed, is_blank)


def _with_any(text: bytes, ends: NDArray[np.int64], strange: Sequence[bytes]) -> NDArray[np.bool_]:
    """Tell which lines hold one of some characters."""
    found = np.zeros(len(ends), dtype=bool)
    for mark in strange:
        place = text.find(mark)
        while place >= 0:
            line = int(np.searchsorted(ends, place))
            found[line] = True
            place = text.find(mark, int(ends[line]))
    return found


def _mark(separator: str) -> str:
    """Return what stands between cells once blanks are brought together."""
    return "\t" if separator == _BLANKS else separator


def below(text: bytes, above: int) -> tuple[bytes, bytes]:
    """Return the line of the header and all text below it."""
    start = 0
    for _ in range(above):
        start = text.find(b"\n", start) + 1
        if not start:
            raise InputError(
                "The file has fewer lines than stand above its header by the reading.",
                field="above",
                hint="State how many they are as “above”.",
            )
    head, _, body = text[start:].partition(b"\n")
    if not head.strip():
        raise InputError(
            "The line of the header is empty.",
            field="header",
            hint="State how many lines stand above the header as “above”.",
        )
    return head, body


def _separated(text: bytes, separator: str) -> bytes:
    """Return a text with one tab for any number of blanks between cells, where blanks separate.

    Blanks between an odd and an even quotation mark of their line are part of a cell.
    """
    if separator != _BLANKS:
        return text
    letters = np.frombuffer(text, np.uint8)
    blank = (letters == _BLANK) | (letters == _TAB)
    if b'"' in text:
        ends = np.flatnonzero(letters == _FEED)
        marks = np.cumsum(letters == _QUOTE, dtype=np.uint8)  # by twos, so that it may overflow
        before = np.append(np.uint8(0), marks[ends[:-1]])
        blank &= (marks - np.repeat(before, np.diff(ends, prepend=-1))) % 2 == 0
    begins = blank.copy()
    begins[1:] &= ~blank[:-1]
    single = np.where(begins, np.uint8(_TAB), letters)[~blank | begins]
    is_edge = np.append(True, single[:-1] == _FEED) | np.append(single[1:] == _FEED, False)
    return bytes(single[~(is_edge & (single == _TAB))])


def _checked_marks(column: pa.Array) -> pa.Array:
    """Refuse text with long runs of combining marks, which no language has."""
    text = column.buffers()[2]
    if (
        text is not None
        and np.frombuffer(text, np.int8).min(initial=0) < 0
        and pc.any(pc.match_substring_regex(column, _MARKS)).as_py()
    ):
        raise refused(
            "Some text has more than 30 accents on one letter.", "Replace it by plain text."
        )
    return column


# -- sheets, people in columns ---------------------------------------------------------------------


def _of_sheet(
    content: bytes, reading: Reading, limits: FileLimits
) -> tuple[tuple[str, ...], Lines]:
    """Read a sheet, whose rows are lines; a row is longer where a cell stands beyond the header."""
    frame = reading.frame
    rows, notes = sheet_cells(content, frame.sheet, frame.above, limits)
    width = max(
        (place for place, column in enumerate(rows, start=1) if column[0].as_py()), default=0
    )
    if not width:
        raise InputError(
            "The line of the header is empty.",
            field="header",
            hint="State how many lines stand above the header as “above”.",
        )
    header = column_names([column[0].as_py() for column in rows[:width]])
    body = [column.slice(1) for column in rows]
    longer = np.zeros(len(body[0]), dtype=bool)
    for column in body[width:]:
        longer |= np.asarray(pc.not_equal(column, ""))
    n_longer = int(longer.sum())
    wanted = (
        [str(place) for place in range(width)]
        if frame.people == "columns"
        else [name for name in dict.fromkeys(reading.used) if name in header]
    )
    places = {
        name: int(name) if frame.people == "columns" else header.index(name) for name in wanted
    }
    fits = pa.array(~longer)
    cells = {
        name: _checked_marks(body[place].filter(fits) if n_longer else body[place])
        for name, place in places.items()
    }
    return header, Lines(
        cells, len(longer) - n_longer, {"with another number of cells": n_longer}, notes=notes
    )


def _turned(header: tuple[str, ...], rows: Lines, frame: Frame, limits: FileLimits) -> Lines:
    """Take columns for lines: the cells of each, one after the other, and the texts of the first.

    The cells of all people stand under the empty name, person after person.
    """
    if header[:1] != frame.header[:1]:
        raise InputError(
            "The first column of the file is not called as the reading says.",
            field="header",
            hint="State its name as the only one of “header”.",
        )
    check_cells(rows.n_lines, len(header), limits)
    first, *others = (rows.cells[str(place)] for place in range(len(header)))
    cells = {header[0]: first, "": pa.concat_arrays([pa.array([], pa.string()), *others])}
    return Lines(cells, len(others), rows.outside, pa.array(header[1:], pa.string()), rows.notes)


def _number(flags: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(flags))
