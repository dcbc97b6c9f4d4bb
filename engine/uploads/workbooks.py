"""A table in one sheet of an Excel workbook, read without running anything in it.

Sizes are checked before anything is unpacked at once; formulas, macros and links are not followed.
Calamine, which is compiled, reads sheets in a hundredth of the time that hostile ones cost a reader
that makes an object of every element. What it takes is proportional to the rectangle around the
filled cells, so that one cell far off can cost gigabytes: pages and commands read files through
`engine.running.bounded`, which ends that.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
import zipfile
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import IO, Any, NamedTuple
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.uploads.limits import SAMPLE, SAVE, FileLimits, check_columns, have, refused

_EXCEL_ROWS, _EXCEL_COLUMNS = 1_048_576, 16_384
_BATCH = 2000  # rows that are Python objects at a time
_LONGEST_TEXT = 32_767  # characters of a cell, as spreadsheet programs allow
_LONGEST_RUN = 6 * _LONGEST_TEXT  # bytes from tag to tag: each character may be an entity
_LARGEST_DIRECTORY = 1_000_000  # bytes of the parts that list sheets
_WHOLE_BELOW = 2.0**53  # up to here a whole number is written without a point
_PERCENT_FORMATS = frozenset({"9", "10"})  # those that every workbook has
_DIRECTORIES = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")

# Each pattern is linear: what it repeats ends at the next angle bracket and is never given back.
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
_FORMULA_CELL = re.compile(
    rb"<(?:\w+:)?c(?=[ >])(?P<facts>[^<>]*+)>\s*+<(?:\w+:)?f(?=[ />])[^<>]*+>"
    rb"(?:(?<=/>)|[^<]*+</(?:\w+:)?f\s*>)\s*+"
    rb"(?P<result><(?:\w+:)?v\s*/>|<(?:\w+:)?v\s*>\s*+</(?:\w+:)?v\s*>)?\s*+</(?:\w+:)?c\s*>"
)
_PLACE = re.compile(rb"\br=[\"']([A-Z]{1,3})[0-9]")
_STYLED_CELL = re.compile(rb"\ss=\"([0-9]+)\"[^<>]*+>\s*+<(?:\w+:)?v>")
_HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row(?=\s)[^<>]*?\shidden=\"(?:1|true)\"")
_CLAIMS_TO_BE_WIDE = re.compile(rb"dimension ref=\"[A-Z]+[0-9]+:[A-Z]{3,}")
_FAR = re.compile(rb"\br=[\"'][A-Z]{3,}[0-9]+[\"'][^<>]*+(?<!/)>\s*+<(?:\w+:)?(?:v|is|f)\b")


class _Sheet(NamedTuple):
    """Findings of a first look at the text of a sheet."""

    has_formulas: bool
    lost: list[int]  # the column of each formula without a saved result, from 0
    n_errors: int
    n_hidden: int = 0  # rows, as filters hide them
    has_percentages: bool = False  # numbers that are shown as percent


def is_workbook(content: bytes) -> bool:
    """True if a file is an archive, as workbooks are, and not text."""
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def sheet_cells(
    content: bytes, sheet: str, above: int, limits: FileLimits
) -> tuple[list[pa.Array], tuple[str, ...]]:
    """Read a sheet: its columns as text from the header on, and notes.

    A cell is written by its own type alone. Rows without a cell are none, above the header as well.
    """
    *_, columns, notes = _read_sheet(content, sheet or None, limits)
    if len(columns[0]) <= above:
        raise InputError(
            "The sheet has fewer rows than stand above its header by the reading.",
            field="above",
            hint="State how many they are as “above”.",
        )
    return [column.slice(above).combine_chunks() for column in columns], tuple(notes)


def sheet_names(content: bytes) -> tuple[str, ...]:
    """Return the names of the sheets of a workbook that was read, and so checked, already."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum  # only workbooks need it

    with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
        return tuple(
            part.name for part in book.sheets_metadata if part.typ == SheetTypeEnum.WorkSheet
        )


def _read_sheet(
    content: bytes, sheet: str | None, limits: FileLimits
) -> tuple[tuple[str, ...], str, list[pa.ChunkedArray], list[str]]:
    """Return the names of all sheets, the one that is read, its columns as text, and notes."""
    try:
        notes, looked_at = _inspect(content, sheet, limits)
        names, used, columns = _cells(content, sheet, limits)
    except (InputError, MemoryError):
        raise
    except BaseException as problem:  # a damaged archive fails anywhere, and Rust panics besides
        if isinstance(problem, KeyboardInterrupt | SystemExit):
            raise
        raise _damaged() from None
    is_empty = not columns or not len(columns[0])
    _check_formulas(looked_at.lost, [] if is_empty else [name[0].as_py() for name in columns])
    if is_empty:
        raise refused(
            "The sheet is empty.",
            "Take a workbook whose first sheet is the table, or name the sheet.",
        )
    if looked_at.has_formulas:
        notes.insert(0, "formulas were not run: their saved results were read")
    if looked_at.has_percentages:
        notes.append("cells that show percent hold shares and are read so: 12 % is 0.12")
    if looked_at.n_hidden:
        notes.append(f"{counted(looked_at.n_hidden, 'hidden row')} read as well")
    if looked_at.n_errors:
        notes.append(
            f"{counted(looked_at.n_errors, 'cell')} with an error in place of a result "
            "read as empty"
        )
    return names, used, columns, notes


def _damaged() -> InputError:
    return refused("This workbook is damaged and cannot be read.", SAVE)


# -- before anything is read ----------------------------------------------------------------------


def _inspect(content: bytes, sheet: str | None, limits: FileLimits) -> tuple[list[str], _Sheet]:
    """Refuse what must not be unpacked; return notes, and what a look at the sheet tells.

    Sizes are first taken as declared, then every part is read through in small steps: a part that
    holds more than it declares fails its checksum there, before anything reads it at once.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        _check_unpacked(len(members), sum(m.file_size for m in members), len(content), limits)
        names = {m.filename for m in members}
        _check_kind(names, any(m.flag_bits & 1 for m in members))
        for member in members:
            with archive.open(member) as part:
                _read_through(part, member.filename.lower().endswith((".xml", ".rels")))
        if len(names) < len(members):  # two readers might take different ones
            raise _damaged()
        if b"macroEnabled" in archive.read("[Content_Types].xml"):
            raise _macros()
        if any(archive.getinfo(name).file_size > _LARGEST_DIRECTORY for name in _DIRECTORIES):
            raise _damaged()
        text, styles = _text_of(archive, _part_of(archive, sheet)), _percent_styles(archive)
        looked_at = _look(text, limits)._replace(
            has_percentages=bool(styles)
            and any(cell[1] in styles for cell in _STYLED_CELL.finditer(text))
        )
    external = any(name.startswith("xl/externalLinks/") for name in names)
    return ["links to other files were not followed"] * external, looked_at


def _read_through(part: IO[bytes], is_xml: bool) -> None:
    """Read a part to its end; refuse XML with longer text or a longer tag than any cell needs.

    Readers copy such a run several times before they give it away. One that fits into a step is
    short, so the ends of the steps tell all.
    """
    run = 0  # bytes since the last tag began
    while step := part.read(SAMPLE):
        first = step.find(b"<")
        run += len(step) if first < 0 else first
        if is_xml and run > _LONGEST_RUN:
            raise refused(
                f"A cell of the workbook has more than {_LONGEST_TEXT:,} characters.",
                "Leave long texts out.",
            )
        if first >= 0:
            run = len(step) - step.rfind(b"<")


def _text_of(archive: zipfile.ZipFile, name: str) -> bytearray:
    """A part in memory once: the archive's reader, asked for all of it, holds it twice."""
    if not name.lower().endswith(".xml"):
        raise _damaged()
    text = bytearray(archive.getinfo(name).file_size)
    with archive.open(name) as part, memoryview(text) as view:
        for start in range(0, len(text), SAMPLE):
            step = view[start : start + SAMPLE]
            step[:] = part.read(len(step))
    return text


def _part_of(archive: zipfile.ZipFile, sheet: str | None) -> str:
    """Return the name of the part that holds a sheet, or the first one."""
    book, relations = (ElementTree.fromstring(archive.read(name)) for name in _DIRECTORIES)
    targets = {
        relation.get("Id"): (relation.get("Target", ""), relation.get("Type", ""))
        for relation in relations
    }
    parts = {}
    for element in book.iter():
        if element.tag.endswith("}sheet"):
            relation = next((v for k, v in element.attrib.items() if k.endswith("}id")), None)
            target, kind = targets.get(relation, ("", ""))
            if kind.endswith("/worksheet"):
                parts[element.get("name")] = posixpath.normpath(posixpath.join("/xl", target))[1:]
    if sheet is not None and sheet not in parts:
        raise refused(
            f"There is no sheet “{shortened(sheet)}”.",
            f"Choose one of {listed([str(name) for name in parts], 10)}.",
            "sheet",
        )
    return parts[sheet] if sheet is not None else next(iter(parts.values()))


def _percent_styles(archive: zipfile.ZipFile) -> set[bytes]:
    """Find the numbers of cell styles that show percent; none if that cannot be told."""
    name = "xl/styles.xml"
    if name not in archive.namelist() or archive.getinfo(name).file_size > _LARGEST_DIRECTORY:
        return set()
    try:
        styles = list(ElementTree.fromstring(archive.read(name)).iter())
    except ElementTree.ParseError:
        return set()
    formats = _PERCENT_FORMATS | {
        each.get("numFmtId")
        for each in styles
        if each.tag.endswith("}numFmt")
        and "%" in re.sub(r'"[^"]*"', "", each.get("formatCode", ""))
    }  # quoted, it is a mere text
    marks = [mark for each in styles if each.tag.endswith("}cellXfs") for mark in each]
    return {
        str(number).encode() for number, mark in enumerate(marks) if mark.get("numFmtId") in formats
    }


def _look(text: bytearray, limits: FileLimits) -> _Sheet:
    """Look at the text of a sheet: in linear time, and without an object for every cell."""
    start = text[:SAMPLE]
    if b"\x00" in start or b"<!DOCTYPE" in start:  # which no spreadsheet program writes
        raise _damaged()
    if _CLAIMS_TO_BE_WIDE.search(start) and _FAR.search(text):
        raise refused(
            f"The sheet has cells far to the right of its table; at most "
            f"{limits.columns:,} columns are read.",
            "Delete them, or save as .csv.",
        )
    if text.count(b"<v>") + text.count(b"<is>") > limits.sheet_cells + limits.columns:
        raise _too_many_cells(limits)
    has_formulas = (b"<f" in text or b":f" in text) and _FORMULA.search(text) is not None
    lost = (
        [
            _column_of(cell["facts"])
            for cell in _FORMULA_CELL.finditer(text)
            if not (cell["result"] and b'"str"' in cell["facts"])  # an empty text is a result
        ]
        if has_formulas
        else []
    )
    n_hidden = len(_HIDDEN_ROW.findall(text)) if b' hidden="' in text else 0
    return _Sheet(has_formulas, lost, text.count(b' t="e"'), n_hidden)


def _too_many_cells(limits: FileLimits) -> InputError:
    return refused(
        f"The sheet has more than {limits.sheet_cells:,} cells.",
        f"Save it as .csv, of which {limits.cells:,} cells are read, or leave out "
        "columns that are not needed.",
    )


def _column_of(facts: bytes) -> int:
    """Find the column of a cell from its attributes, counted from 0."""
    place = _PLACE.search(facts)
    letters = place[1] if place else b"A"
    column = 0
    for letter in letters:
        column = 26 * column + letter - ord("A") + 1
    return column - 1


def _check_unpacked(n_members: int, declared: int, packed: int, limits: FileLimits) -> None:
    if n_members > limits.members:
        raise refused(
            f"The workbook has {n_members:,} parts; at most {limits.members:,} are read.", SAVE
        )
    if declared > limits.unpacked_bytes:
        raise refused(
            f"The workbook expands to {declared / 1e6:,.0f} MB (limit "
            f"{limits.unpacked_bytes / 1e6:g} MB).",
            "Save the table as .csv.",
        )
    if declared > limits.unpacked_ratio * packed:
        raise refused(
            f"The workbook expands to {declared / packed:,.0f} times its own size "
            f"(limit {limits.unpacked_ratio:g}).",
            "Save the table as .csv.",
        )


def _check_kind(names: set[str], is_locked: bool) -> None:
    if is_locked:
        raise refused(
            "This file is protected by a password.", "Remove the password, or save as .csv."
        )
    if any(name.endswith("vbaProject.bin") for name in names):
        raise _macros()
    if "xl/workbook.bin" in names:
        raise refused("This is a binary workbook (.xlsb), which is not read.", SAVE)
    if "content.xml" in names:
        raise refused("This is an OpenDocument file (.ods), which is not read.", SAVE)
    if not {"xl/workbook.xml", "[Content_Types].xml"} <= names:
        raise refused(
            "This archive is not an Excel workbook.", "Unpack it and upload the table inside."
        )


def _macros() -> InputError:
    return refused("This is a workbook with macros (.xlsm), which is not read.", SAVE)


# -- the cells ------------------------------------------------------------------------------------


def _cells(
    content: bytes, sheet: str | None, limits: FileLimits
) -> tuple[tuple[str, ...], str, list[pa.ChunkedArray]]:
    """Return the names of all sheets, the one that is read, and its columns from the first row."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum  # only workbooks need it

    with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
        names = tuple(
            part.name for part in book.sheets_metadata if part.typ == SheetTypeEnum.WorkSheet
        )
        used = sheet or names[0]
        cells = book.get_sheet_by_name(used)  # which needs nothing of the book from here on
    left = (cells.start or (0, 0))[1]  # columns before the first cell, which rows leave out
    _check_corner(cells.end or (0, 0), limits)
    chunks: list[list[pa.Array]] = [[] for _ in range(left + cells.width)]
    rows, n_cells, n_bytes, width = cells.iter_rows(), 0, 0, 0
    while batch := list(islice(rows, _BATCH)):
        columns = [pa.array([""] * len(batch), pa.string())] * left + [
            _texts(column) for column in zip(*batch, strict=True)
        ]
        blank = _is_blank(columns)
        width = max(
            [
                width,
                *(
                    k
                    for k, column in enumerate(columns, start=1)
                    if pc.any(pc.not_equal(column, "")).as_py()
                ),
            ]
        )
        check_columns(width, limits)
        n_cells += (len(batch) - int(pc.sum(blank).as_py())) * width
        if n_cells > limits.sheet_cells + width:  # the header does not count
            raise _too_many_cells(limits)
        n_bytes += sum(int(pc.sum(pc.binary_length(column)).as_py()) for column in columns)
        if n_bytes > limits.sheet_text_bytes:
            raise refused(
                "The cells of the sheet hold more than "
                f"{limits.sheet_text_bytes / 1e6:g} MB of text.",
                "Leave out columns that are not needed.",
            )
        for chunk, column in zip(chunks, columns, strict=True):
            chunk.append(column.filter(pc.invert(blank)))
    return names, used, [pa.chunked_array(chunk, pa.string()) for chunk in chunks[:width]]


def _check_corner(corner: tuple[int, int], limits: FileLimits) -> None:
    """Refuse a sheet whose last filled row or column is where no spreadsheet program has one."""
    if corner[0] >= _EXCEL_ROWS:
        raise refused(f"The sheet has more than {_EXCEL_ROWS:,} rows.", "Save it as .csv.")
    if corner[1] >= _EXCEL_COLUMNS:
        check_columns(corner[1] + 1, limits)


def _is_blank(columns: Sequence[pa.Array]) -> pa.Array:
    """Mark the rows without cells."""
    blank = pc.equal(columns[0], "")
    for column in columns[1:]:
        blank = pc.and_(blank, pc.equal(column, ""))
    return blank


def _texts(cells: Iterable[Any]) -> pa.Array:
    """Write the cells of one column as a CSV file would hold them, each by its own type."""
    filled = [None if cell == "" else cell for cell in cells]
    kinds = set(map(type, filled)) - {type(None)}
    if kinds == {str}:
        return pc.fill_null(pa.array(filled, pa.string()), "")
    numbers = pa.array([cell if type(cell) is float else None for cell in filled], pa.float64())
    is_whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), _WHOLE_BELOW))
    whole = pc.cast(pc.if_else(is_whole, numbers, None), pa.int64())
    text = pc.if_else(is_whole, pc.cast(whole, pa.string()), pc.cast(numbers, pa.string()))
    if kinds <= {float}:
        return pc.fill_null(text, "")
    others = [None if type(cell) is float else _cell_text(cell) for cell in filled]
    return pc.coalesce(text, pa.array(others, pa.string()))


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):  # its own text has days beside hours
        seconds = round(cell.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return str(cell)


def _check_formulas(lost: list[int], header: list[str]) -> None:
    """Refuse formulas without a saved result, as programs write that do no sums themselves."""
    if lost:
        name = dict(enumerate(header)).get(lost[0]) or f"column {lost[0] + 1}"
        raise refused(
            f"{counted(len(lost), 'cell')} {have(len(lost))} a formula without a saved "
            f"result, the first in column “{shortened(name)}”.",
            "Open the workbook in a spreadsheet program, save it, and upload it again.",
        )
