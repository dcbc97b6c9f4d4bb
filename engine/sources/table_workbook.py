"""A table in one sheet of an Excel workbook, read without running anything in it.

Sizes are checked before anything is unpacked at once; formulas, macros and links are not followed.
"""

from __future__ import annotations

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from engine.errors import InputError
from engine.sources.table_limits import SAMPLE, SAVE, Limits, check_columns, have, refused
from engine.sources.table_words import counted, listed, shortened

_EXCEL_ROWS = 1_048_576


def read_workbook(content: bytes, sheet: str | None, limits: Limits
                  ) -> tuple[list[str], list[pa.Array], list[str], tuple[str, ...]]:
    """Return header, columns, notes and the names of all sheets."""
    try:
        notes, has_formulas = _inspect(content, limits)
        with warnings.catch_warnings():  # they would write cells into the log
            warnings.simplefilter("ignore")
            names, rows = _sheet_rows(content, sheet, limits)
            if has_formulas:
                _check_formulas(content, sheet, limits, rows)
    except InputError:
        raise
    except Exception:  # a damaged archive fails anywhere in three libraries, in any way
        raise refused("This workbook is damaged and cannot be read.", SAVE) from None
    if not rows:
        raise refused("The sheet is empty.", "Upload a workbook whose first sheet is the table.")
    used = sheet or names[0]
    notes.insert(0, f"sheet “{shortened(used)}”")
    if len(names) > 1:
        notes.insert(1, f"not read: {listed([name for name in names if name != used])}")
    return (*_columns_of(rows), notes, names)


def _inspect(content: bytes, limits: Limits) -> tuple[list[str], bool]:
    """Refuse what must not be unpacked; return notes, and whether any sheet has formulas.

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
                while part.read(SAMPLE):
                    pass
        if b"macroEnabled" in archive.read("[Content_Types].xml"):
            raise _macros()
        sheets = [n for n in names if n.startswith("xl/worksheets/") and n.endswith(".xml")]
        has_formulas = any(re.search(rb"<(\w+:)?f[ />]", archive.read(name)) for name in sheets)
    notes = ["formulas were not run: their saved results were read"] if has_formulas else []
    if any(name.startswith("xl/externalLinks/") for name in names):
        notes.append("links to other files were not followed")
    return notes, has_formulas


def _check_unpacked(n_members: int, declared: int, packed: int, limits: Limits) -> None:
    if n_members > limits.members:
        raise refused(f"The workbook has {n_members:,} parts; at most {limits.members:,} are "
                      "read.", SAVE)
    if declared > limits.unpacked_bytes:
        raise refused(f"The workbook expands to {declared / 1e6:,.0f} MB (limit "
                      f"{limits.unpacked_bytes / 1e6:g} MB).", "Save the table as .csv.")
    if declared > limits.unpacked_ratio * packed:
        raise refused(f"The workbook expands to {declared / packed:,.0f} times its own size "
                      f"(limit {limits.unpacked_ratio:g}).", "Save the table as .csv.")


def _check_kind(names: set[str], is_locked: bool) -> None:
    if is_locked:
        raise refused("This file is protected by a password.",
                      "Remove the password, or save as .csv.")
    if any(name.endswith("vbaProject.bin") for name in names):
        raise _macros()
    if "xl/workbook.bin" in names:
        raise refused("This is a binary workbook (.xlsb), which is not read.", SAVE)
    if "content.xml" in names:
        raise refused("This is an OpenDocument file (.ods), which is not read.", SAVE)
    if not {"xl/workbook.xml", "[Content_Types].xml"} <= names:
        raise refused("This archive is not an Excel workbook.",
                      "Unpack it and upload the table inside.")


def _macros() -> InputError:
    return refused("This is a workbook with macros (.xlsm), which is not read.", SAVE)


def _sheet_rows(content: bytes, sheet: str | None, limits: Limits, formulas: bool = False
                ) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names of all sheets, and the rows of one from the first that is not blank."""
    from openpyxl import load_workbook  # only workbooks need it

    book = load_workbook(io.BytesIO(content), read_only=True, data_only=not formulas,
                         keep_links=False)
    try:
        sheets = {found.title: found for found in book.worksheets}
        if sheet is not None and sheet not in sheets:
            raise refused(f"There is no sheet “{shortened(sheet)}”.",
                          f"Choose one of {listed(list(sheets), 10)}.", "sheet")
        chosen = sheets[sheet or next(iter(sheets))]
        chosen.reset_dimensions()  # the stated size is a claim, and rows would be padded to it
        return tuple(sheets), list(_filled_rows(chosen.iter_rows(values_only=True), limits))
    finally:
        book.close()


def _filled_rows(rows: Iterable[tuple[Any, ...]], limits: Limits) -> Iterator[list[Any]]:
    """Rows without the empty cells at their ends; stops as soon as a limit is passed."""
    width = n_cells = 0
    for place, row in enumerate(rows):
        if place >= _EXCEL_ROWS:
            raise refused(f"The sheet has more than {_EXCEL_ROWS:,} rows.", "Save it as .csv.")
        filled = _without_tail(row)
        check_columns(len(filled), limits)
        width = max(width, len(filled))
        n_cells += width if filled else 0
        if n_cells > limits.cells + width:  # the header does not count
            raise refused(f"The sheet has more than {limits.cells:,} cells.",
                          "Leave out columns that are not needed, or fewer readings per curve.")
        if width:
            yield filled


def _without_tail(row: tuple[Any, ...]) -> list[Any]:
    end = len(row)
    while end and row[end - 1] in (None, ""):
        end -= 1
    return list(row[:end])


def _check_formulas(content: bytes, sheet: str | None, limits: Limits,
                    results: list[list[Any]]) -> None:
    """Refuse formulas without a saved result, as programs write that do no sums themselves."""
    formulas = _sheet_rows(content, sheet, limits, formulas=True)[1]
    shorter = [*results, *[[]] * (len(formulas) - len(results))]
    lost = [column for row, result in zip(formulas, shorter, strict=False)
            for column, cell in enumerate(row)
            if _is_formula(cell) and (column >= len(result) or result[column] is None)]
    if lost:
        named = dict(enumerate(results[0] if results else []))
        name = named.get(lost[0]) or f"column {lost[0] + 1}"
        raise refused(f"{counted(len(lost), 'cell')} {have(len(lost))} a formula without a saved "
                      f"result, the first in column “{shortened(str(name))}”.",
                      "Open the workbook in a spreadsheet program, save it, and upload it again.")


def _is_formula(cell: Any) -> bool:
    return (isinstance(cell, str) and cell.startswith("=")) or type(cell).__name__ in (
        "ArrayFormula", "DataTableFormula")


def _columns_of(rows: list[list[Any]]) -> tuple[list[str], list[pa.Array]]:
    header, body = [_cell_text(cell) for cell in rows[0]], [row for row in rows[1:] if row]
    too_long = sum(len(row) > len(header) for row in body)
    if too_long:
        raise refused(f"{counted(too_long, 'row')} of the sheet {have(too_long)} more cells than "
                      f"the header, which has {len(header):,}.",
                      "Name every column, and leave notes beside the table out.")
    padded = ([*map(_cell_text, row), *[""] * (len(header) - len(row))] for row in body)
    return header, [pa.array(column, pa.string()) for column in zip(*padded, strict=True)]


def _cell_text(cell: Any) -> str:
    """A cell as the text a CSV file would hold."""
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return repr(cell) if isinstance(cell, float) else str(cell)
