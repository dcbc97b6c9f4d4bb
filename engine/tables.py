"""Bytes that somebody uploaded → a checked table, or one sentence about what is wrong.

The content decides what a file is, never its name. Limits are checked before anything is parsed,
and a message never holds a cell of the file.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engine.errors import InputError

MOST_BYTES = 20_000_000
MOST_COLUMNS = 200
MOST_CELLS = 4_000_000
MOST_UNPACKED_BYTES = 100_000_000
MOST_TIMES_LARGER = 100  # unpacked over packed
MOST_MEMBERS = 200
ENCODINGS = ("utf-8", "latin-1", "windows-1252")

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_DECIMAL_COMMA = re.compile(r"(?:^|[;\t|])\s*[+-]?\d+,\d+\s*(?=[;\t|]|$)", re.MULTILINE)
_OLE = b"\xd0\xcf\x11\xe0"  # old Excel, and new Excel behind a password


@dataclass(frozen=True)
class Table:
    """A table as read: trimmed header, columns of numbers where they are numbers, and how."""

    frame: pd.DataFrame
    notes: tuple[str, ...]


def read_table(content: bytes, encoding: str = "utf-8", sheet: str | None = None) -> Table:
    """Read CSV, TSV or XLSX.

    Raises
    ------
    InputError
        For an empty, too large, binary, packed or ragged file, and for one without rows.
    """
    if not content:
        raise InputError("The file is empty.", field="file", hint="Choose another file.")
    if len(content) > MOST_BYTES:
        raise InputError(f"The file is larger than {MOST_BYTES // 1_000_000} MB "
                         f"({len(content) / 1e6:.0f} MB).", field="file",
                         hint="Leave out columns that are not needed, or fewer readings per curve.")
    if content.startswith(_OLE):
        raise InputError("This is an old or password-protected Excel file.", field="file",
                         hint="Save it as .xlsx without a password, or as .csv.")
    if content.startswith(b"PK"):
        return _read_workbook(content, sheet)
    return _read_text(_decoded(content, encoding))


# -- text -----------------------------------------------------------------------------------


def _decoded(content: bytes, encoding: str) -> str:
    """The text of the file; byte-order marks win over the chosen encoding."""
    marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    encoding = next((name for mark, name in marks if content.startswith(mark)), encoding)
    if encoding != "utf-16" and b"\x00" in content:
        raise _not_a_table()
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise InputError("The file is not UTF-8 text.", field="encoding",
                         hint="Choose its encoding; Latin-1 is usual for older spreadsheets."
                         ) from None
    printable = sum(c.isprintable() or c in "\r\n\t" for c in text[:2000])
    if printable < 0.95 * len(text[:2000]):
        raise _not_a_table()
    return text


def _not_a_table() -> InputError:
    return InputError("This is not a text table.", field="file",
                      hint="Upload a CSV, TSV or XLSX file.")


def _read_text(text: str) -> Table:
    lines = text.lstrip("\ufeff").lstrip("\r\n \t")
    header = lines.split("\n", 1)[0]
    separator = max(_SEPARATORS, key=header.count)
    _check_size(header.count(separator) + 1, lines.count("\n"))
    if separator not in header:
        raise InputError("The file has only one column.", field="file",
                         hint="Separate columns by commas, semicolons or tabs.")
    comma = separator != "," and bool(_DECIMAL_COMMA.search(lines[:20_000]))
    notes = [f"columns separated by {_SEPARATORS[separator]}"]
    notes += ["decimal commas read as points"] if comma else []
    try:
        frame = pd.read_csv(io.StringIO(lines), sep=separator, decimal="," if comma else ".",
                            skipinitialspace=True, low_memory=False, on_bad_lines="error")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError):
        raise _ragged() from None
    if not isinstance(frame.index, pd.RangeIndex):  # more cells in a row than names in the header
        raise _ragged()
    return _checked(frame, notes)


def _ragged() -> InputError:
    return InputError("The rows do not all have the same columns.", field="file",
                      hint="Check quotes and separators, and save the table again.")


def _check_size(columns: int, rows: int) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(f"The table has {columns} columns; at most {MOST_COLUMNS} are read.",
                         field="file", hint="Leave out columns that are not needed.")
    if columns * rows > MOST_CELLS:
        raise InputError(f"The table has {columns * rows:,} cells; at most {MOST_CELLS:,} are "
                         "read.", field="file", hint="Leave out columns or rows.")


def _checked(frame: pd.DataFrame, notes: list[str]) -> Table:
    """Trim the header, and refuse tables without names or rows."""
    names = [str(name).strip() for name in frame.columns]
    if any(not name or name.startswith("Unnamed:") for name in names):
        raise InputError("A column has no name.", field="file",
                         hint="Give every column a name in the first row.")
    lowered = [name.lower() for name in names]
    twice = next((n for n in names if lowered.count(n.lower()) > 1), None)
    if twice is not None:
        raise InputError(f"Two columns are called “{shortened(twice)}”.", field="file",
                         hint="Names are compared without case and outer blanks.")
    frame.columns = pd.Index(names)
    frame = frame.dropna(how="all")
    if frame.empty:
        raise InputError("There are no data rows below the header.", field="file",
                         hint="Choose another file.")
    return Table(frame, tuple(notes))


def shortened(name: str, length: int = 40) -> str:
    """A name of the visitor's as it is shown: not endlessly long."""
    return name if len(name) <= length else f"{name[:length - 1]}…"


# -- workbooks ------------------------------------------------------------------------------


def _read_workbook(content: bytes, sheet: str | None) -> Table:
    """Values of one sheet of an .xlsx file, after a check of what it would unpack to."""
    _check_archive(content)
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True,
                                      keep_links=False)
        name = sheet or book.sheetnames[0]
        rows = book[name].iter_rows(values_only=True)
        header = [("" if cell is None else cell) for cell in next(rows, ())]
        _check_size(len(header), book[name].max_row or 0)
        body = [row for row in rows if any(cell is not None for cell in row)]
    except InputError:
        raise
    except Exception:  # a damaged workbook fails in many ways, all of them the file's
        raise InputError("This workbook cannot be read.", field="file",
                         hint="Save it again as .xlsx, or as .csv.") from None
    notes = [f"sheet “{shortened(name)}”"]
    others = [shortened(other) for other in book.sheetnames if other != name]
    notes += [f"not read: {', '.join(others)}"] if others else []
    frame = pd.DataFrame(body, columns=pd.Index(_trimmed(header)))
    if not any(header):
        raise InputError("The first row of the sheet is empty.", field="file",
                         hint="Put the names of the columns there.")
    return _checked(frame.infer_objects(), notes)


def _trimmed(header: list[Any]) -> list[str]:
    return [f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in header]


def _check_archive(content: bytes) -> None:
    """Refuse archives that are not workbooks, hold macros, or unpack to far more than they are."""
    try:
        members = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except zipfile.BadZipFile:
        raise InputError("This archive is damaged.", field="file",
                         hint="Upload a CSV, TSV or XLSX file.") from None
    names = {member.filename for member in members}
    unpacked = sum(member.file_size for member in members)
    if "xl/workbook.xml" not in names:
        raise InputError("This archive is not an Excel workbook.", field="file",
                         hint="Unpack it and upload the table itself.")
    if any(name.endswith("vbaProject.bin") for name in names):
        raise InputError("This workbook holds macros.", field="file",
                         hint="Save it as .xlsx or .csv.")
    if unpacked > MOST_UNPACKED_BYTES or unpacked > MOST_TIMES_LARGER * len(content):
        raise InputError(f"The workbook expands to {unpacked / 1e6:.0f} MB (limit "
                         f"{MOST_UNPACKED_BYTES // 1_000_000} MB, and {MOST_TIMES_LARGER} times "
                         "its own size).", field="file", hint="Save the table as .csv.")
    if len(members) > MOST_MEMBERS:
        raise InputError(f"The workbook has {len(members)} parts; at most {MOST_MEMBERS} are read.",
                         field="file", hint="Save the table as .csv.")
