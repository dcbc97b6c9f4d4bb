"""The division of a file into lines and cells, found by looking at it.

What is found is a `Frame`; lines and cells are then cut as the strict reader cuts them.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.uploads.devices.archives import files_of, is_archive_of_tables
from engine.uploads.devices.lines import Exported, export_in, read_export
from engine.uploads.limits import (
    LIMITS,
    SAMPLE,
    SAVE,
    FileLimits,
    check_bytes,
    check_cells,
    check_columns,
    have,
    refused,
)
from engine.uploads.lines import column_names, header_of, line_ends, lines_in_frame
from engine.uploads.packed import as_text
from engine.uploads.reading_of_files import Frame
from engine.uploads.text import checked_text, not_text
from engine.uploads.workbooks import is_workbook, sheet_cells, sheet_names

BLANKS = " "
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", BLANKS: "blanks"}
"""In the order in which they are tried: a comma may be the decimal mark of every cell."""
_FITTING = 0.9  # of the lines from the header on, which blanks cut into as many cells
_MOST_ABOVE = 50  # lines of titles
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # by which Excel tells it to itself
_NUMERIC = re.compile(r"[^0-9A-Za-z]*[0-9]")
_NO_LINES = refused(
    "There are no lines of data below the header.", "Choose a table with at least one line of data."
)


@dataclass(frozen=True, eq=False)
class Framed:
    """A file as lines of cells, each as text, with the frame that cuts them so."""

    frame: Frame
    names: tuple[str, ...]
    columns: tuple[pa.Array, ...]  # of text, as many as names
    notes: tuple[str, ...] = ()
    names_people: bool = False  # an export of a device has a column of ids
    unit: str = ""  # that an export is written in, where it is read in several

    @property
    def n_lines(self) -> int:
        """The number of lines below the header."""
        return len(self.columns[0])


def framed(
    content: bytes, encoding: str = "", sheet: str = "", limits: FileLimits = LIMITS
) -> Framed:
    """Cut a file into lines and cells, as it most likely is meant."""
    check_bytes(content, limits)
    content = as_text(content, limits)
    if is_workbook(content) and not is_archive_of_tables(content):
        return _of_workbook(content, sheet, limits)
    encoding = encoding or max(
        map(_encoding, files_of(content, limits).values()), key=lambda each: each != "utf-8"
    )
    if export := export_in(content, encoding, limits):
        frame = Frame(encoding=encoding, separator="", export=export)
        return _of_export(read_export(content, frame, limits), frame)
    text = checked_text(content, encoding)
    if b"\0" in text:
        raise not_text()
    return _of_text(line_ends(text), encoding, limits)


def _encoding(content: bytes) -> str:
    """Return the encoding that a mark names, UTF-8 where it fits, or the usual one of Windows."""
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    if marked is not None:
        return marked
    if not _is_text(content, "utf-8"):
        return "windows-1252" if _is_text(content, "windows-1252") else "utf-8"
    return "utf-8"


def _is_text(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _of_export(export: Exported, frame: Frame) -> Framed:
    """Take the observations of an export as a table of people, times and values."""
    number = sum(export.outside.values())
    if number:
        raise refused(
            f"{counted(number, 'line')} of this {frame.export} export cannot be read, or "
            f"{'repeats' if number == 1 else 'repeat'} its header.",
            "Export it again, and change nothing in it. Put the exports of several "
            "people into one .zip file, a file for each.",
        )
    whose = export.files if export.ids is None else export.ids
    columns = (whose, *map(_as_text, export.cells.values()))
    notes = (
        f"{frame.export} export, recognised by its header",
        *export.notes,
        _on_days(whose, export.days),
    )
    return Framed(frame, ("id", *export.cells), columns, notes, export.ids is not None, export.unit)


def _as_text(values: pa.Array) -> pa.Array:
    return pc.cast(pc.if_else(pc.is_nan(values), None, values), pa.string()).fill_null("")


def _on_days(whose: pa.Array, days: pa.Array) -> str:
    """Return how many people there are, and how many days each of them has."""
    pairs = pa.table({"person": whose, "day": days}).group_by(["person", "day"]).aggregate([])
    each = pc.value_counts(pairs["person"]).field("counts")
    fewest, most = pc.min(each).as_py(), pc.max(each).as_py()
    span = counted(most, "day") if fewest == most else f"{fewest:,} to {most:,} days"
    if len(each) > 1:
        return f"{len(each):,} people with {span} each: all days of a person are one record"
    return (
        f"one person only, with {span}: put the exports of all people into one .zip file, or "
        "add a column that names them"
    )


def _of_workbook(content: bytes, sheet: str, limits: FileLimits) -> Framed:
    """Cut a sheet: its header is the first row of several cells, if a row below has several."""
    columns, notes = sheet_cells(content, sheet, 0, limits)
    above = _titles_above(
        [*zip(*(column[:_MOST_ABOVE].to_pylist() for column in columns), strict=True)]
    )
    rows = [column.slice(above) for column in columns]
    width = max(place for place, column in enumerate(rows, start=1) if column[0].as_py())
    longer = (
        np.any([np.asarray(pc.not_equal(column.slice(1), "")) for column in rows[width:]], axis=0)
        if len(rows) > width
        else np.zeros(0, dtype=bool)
    )
    if longer.any():
        raise _uneven(int(longer.sum()), width)
    header = column_names([column[0].as_py() for column in rows[:width]])
    sheets = sheet_names(content)
    used = sheet or sheets[0]
    others = [name for name in sheets if name != used]
    if width == 1 and others and not sheet:
        raise refused(
            f"The first sheet, “{shortened(used)}”, has only one column.",
            f"Name the sheet with the table: {listed(others)}.",
            "sheet",
        )
    said = (f"sheet “{shortened(used)}”", *((f"not read: {listed(others)}",) if others else ()))
    return _checked(
        Framed(
            Frame(encoding="", separator="", sheet=used, above=above, header=header),
            header,
            tuple(column.slice(1) for column in rows[:width]),
            (*said, *notes, *_titles(above)),
        ),
        limits,
    )


def _of_text(text: bytes, encoding: str, limits: FileLimits) -> Framed:
    if not text.strip():
        raise refused("The file holds only blank lines.", "Choose a header and lines below it.")
    if text.lstrip()[:2] in (b'{"', b"[{", b"[["):
        raise refused("This is not a text table but JSON.", SAVE)
    start = text[:SAMPLE].rpartition(b"\n")[0] if len(text) > SAMPLE else text
    separator, above = _found((start or text[:SAMPLE]).decode(errors="replace").split("\n"))
    head, _, body = text.split(b"\n", above)[-1].partition(b"\n")
    header = header_of(head, separator)
    check_columns(len(header), limits)
    lines = lines_in_frame(body, separator, len(header))
    uneven = lines.outside.get("with another number of cells", 0)
    if uneven:
        raise _uneven(uneven, len(header), separator)
    strange = sum(lines.outside.values())
    if strange:
        raise refused(
            f"{counted(strange, 'line')} {have(strange)} a quotation mark that is not "
            "closed in its own line, or a character without meaning.",
            "Correct those lines, and write cells without line breaks.",
        )
    cells = lines.columns([str(place) for place in range(len(header))])
    named = _SEPARATORS[separator]
    said = (
        f"columns separated by {named}",
        *_titles(above),
        *((f"read as {encoding.upper()}",) if encoding != "utf-8" else ()),
    )
    return _checked(
        Framed(
            Frame(encoding=encoding, separator=separator, above=above, header=header),
            header,
            tuple(cells.values()),
            said,
        ),
        limits,
    )


def _titles(above: int) -> tuple[str, ...]:
    return (f"{counted(above, 'line')} above the names of columns",) if above else ()


def _found(sample: Sequence[str]) -> tuple[str, int]:
    """Return the separator, and how many lines stand above the header.

    The separator gives most lines the same number of cells, above one. The header is the first line
    with that many; only lines of another length can be titles above it. A first line such as sep=;
    says the separator of all others.
    """
    best: tuple[float, str, int] = (0.0, "", 0)
    places = [place for place, line in enumerate(sample) if line.strip()]
    said = _SEPARATOR_LINE.fullmatch(sample[places[0]])
    stated = [said[1]] if said and said[1] in _SEPARATORS and len(places) > 1 else []
    places = places[len(stated) :]
    for separator in stated or _SEPARATORS:
        if separator == BLANKS and best[1]:
            break  # blanks separate only where nothing else does
        widths = [_n_cells(sample[place], separator) for place in places]
        width, first = _width_and_first(widths)
        rows = [_cells(sample[place], separator) for place in places[first : first + _MOST_ABOVE]]
        if len({*map(len, rows)}) == 1 and width > 2:
            first += _titles_above(rows)
        fitting = sum(each == width for each in widths[first:]) / len(widths[first:])
        if width > 1 and (fitting >= _FITTING or separator != BLANKS):
            best = max(best, (fitting, separator, places[first]), key=lambda each: each[0])
    if not best[1]:
        raise refused(
            "The file has only one column.",
            "Separate columns by commas, semicolons or tabs, and quote no whole lines.",
        )
    return best[1:]


def _width_and_first(widths: Sequence[int]) -> tuple[int, int]:
    """Return the usual number of cells of a line, and the first line that has so many.

    The first line of all is the header where it is one cell short: that of row names has no name.
    """
    counts = Counter(width for width in widths if width > 1) or Counter(widths)
    width = max(counts, key=lambda each: (counts[each], each))
    first = widths.index(width)
    is_title = first <= _MOST_ABOVE and counts[width] > 1 and widths[0] != width - 1
    return (width, first) if is_title else (widths[0], 0)


def _titles_above(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows, each with as many cells as the table, stand above its header.

    The header is the first row of several cells; or one below it with a word in every cell, where
    that row has gaps: “Report” in the first cell, and “page 1” in the last.
    """
    filled = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    first = next((place for place, cells in enumerate(filled) if len(cells) > 1), 0)
    most = max(map(len, filled), default=0)
    whole = next(
        (
            place
            for place, cells in enumerate(filled)
            if len(cells) == most and not any(_NUMERIC.match(cell) for cell in cells)
        ),
        first,
    )
    return whole if len(filled[first]) < most and whole > first else first


def _n_cells(line: str, separator: str) -> int:
    return len(_cells(line, separator))


def _cells(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # a cell of more than 131072 characters
        return [line]


def _uneven(number: int, width: int, separator: str = "") -> InputError:
    comma = " Numbers with decimal commas need semicolons between columns." * (separator == ",")
    return refused(
        f"{counted(number, 'line')} {have(number)} more or fewer cells than the header, "
        f"which has {width:,}.",
        f"Check the separators and quotation marks of those lines.{comma}",
    )


def _checked(read: Framed, limits: FileLimits) -> Framed:
    """Refuse two columns of one name, and a table without lines."""
    if not read.n_lines:
        raise _NO_LINES
    check_columns(len(read.names), limits)
    check_cells(read.n_lines, len(read.names), limits)
    twice = next(_repeated(read.names), None)
    if twice is not None:
        raise refused(
            f"Two columns are called “{shortened(twice)}”.",
            "Names are compared without case and outer blanks.",
        )
    return read


def _repeated(header: Sequence[str]) -> Iterator[str]:
    keys: set[str] = set()
    for name in header:
        if name.casefold() in keys:
            yield name
        keys.add(name.casefold())
