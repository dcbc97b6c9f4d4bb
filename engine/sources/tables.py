"""An uploaded file, as bytes, turned into a checked table of text cells.

The content decides how a file is read, never its name. Every cell stays text until its role is
known, so that identifiers such as 007 survive; numbers are read column by column. Nothing here
guesses a value: what cannot be read is counted by column, and no message holds a cell.
"""

from __future__ import annotations

import csv
import datetime
import difflib
import io
import re
import unicodedata
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from engine.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MOST_BYTES = 20_000_000
ENCODINGS = ("utf-8", "latin-1", "windows-1252", "windows-1250", "utf-16")
MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "none", ".")
_INFINITE = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
_MARKS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"),
          (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_COMMA_NUMBER = r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?"
_OWN = b"# Privacy Curves"  # how our own exports begin: notes, then a table
_SAMPLE = 65_536  # bytes from which separators are recognised
_LONGEST_HEADER = 100_000  # bytes
_EXCEL_ROWS = 1_048_576

# How other kinds of file begin, and what they are called.
_MARKUP = ((b"%pdf-", "a PDF document"), (b"<!doctype html", "a web page"),
           (b"<html", "a web page"), (b"<table", "a web page"), (b"<?xml", "an XML file"),
           (b"{\\rtf", "a text document (RTF)"))
_BINARY = (  # only with zero bytes behind it: a column may well be called PAR1
    (b"\x89PNG", "a picture (PNG)"), (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"), (b"\x1f\x8b", "a compressed file (gzip)"),
    (b"BZh", "a compressed file (bzip2)"), (b"\xfd7zXZ", "a compressed file (xz)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"), (b"Rar!", "an archive (rar)"),
    (b"PAR1", "a Parquet file"), (b"ARROW1", "an Arrow file"), (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "a database (SQLite)"), (b"\x7fELF", "a program"), (b"MZ", "a program"),
    (b"$FL2", "an SPSS file"))
_SAVE = "Save the table as .xlsx or .csv and upload that."


@dataclass(frozen=True)
class Limits:
    """How large a file may be; each limit is named in the message that refuses it."""

    bytes: int = MOST_BYTES
    cells: int = 4_000_000
    columns: int = 200
    unpacked_bytes: int = 100_000_000
    unpacked_ratio: int = 100
    members: int = 200


LIMITS = Limits()


@dataclass(frozen=True)
class Numbers:
    """One column read as numbers: `values` (rows,) with NaN for missing, and what was found.

    `missing` counts empty cells and marks such as NA, `infinite` cells beyond the largest number,
    `unreadable` all others; `advice` says what to do about those.
    """

    values: NDArray[np.float64]
    missing: int = 0
    infinite: int = 0
    unreadable: int = 0
    advice: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table: every cell as text, one row per data row of the file.

    `notes` say how it was read; `decimal` is the mark in its numbers; `sheets` names the sheets of
    a workbook.
    """

    cells: pa.Table
    notes: tuple[str, ...]
    decimal: str = "."
    sheets: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The cells as a data frame of text, for looking at."""
        return self.cells.to_pandas()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.cells.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.cells.num_rows)

    def find(self, name: str) -> str:
        """The column of this name, whatever its case.

        Raises
        ------
        InputError
            If there is none; it suggests the nearest name.
        """
        by_key = {column_key(column): column for column in self.columns}
        if column_key(name) in by_key:
            return by_key[column_key(name)]
        raise InputError(f"There is no column “{shortened(name)}”.", field="layout",
                         hint=f"{nearest(name, self.columns)}Choose which column it is.")

    def codes(self, column: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the number of each row's text (rows,) and the texts, in order of appearance.

        Blanks around a text are dropped and it is brought to NFC: spellings that look alike for
        such a reason are one person, not two.
        """
        written = self.cells[column].combine_chunks().dictionary_encode()
        text = pc.utf8_normalize(pc.utf8_trim_whitespace(written.dictionary), form="NFC")
        coded = text.dictionary_encode()
        codes = coded.indices.to_numpy().astype(np.int64)[written.indices.to_numpy()]
        return codes, tuple(coded.dictionary.to_pylist())

    def numbers(self, column: str) -> Numbers:
        """The column as numbers; cells that hold none are counted, not guessed."""
        cells = self.cells[column].combine_chunks()
        if self.decimal == ".":
            try:  # plain numbers and empty cells: by far the fastest way
                filled = pc.if_else(pc.equal(cells, ""), None, cells)
                return _counted(_as_array(pc.cast(filled, pa.float64())))
            except pa.ArrowInvalid:
                pass
        return _numbers_among_text(cells, self.decimal)


def read_table(content: bytes, encoding: str = "utf-8", sheet: str | None = None, *,
               limits: Limits = LIMITS) -> Table:
    """Read a text table (comma, semicolon, tab or bar) or one sheet of an .xlsx workbook.

    `encoding` is one of `ENCODINGS`, for text without a byte-order mark; `sheet` names one of
    several sheets (the first if None).

    Raises
    ------
    InputError
        If the file is empty, too large, of another kind, or not one header with rows below it.
    """
    _check_bytes(content, limits)
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        header, columns, notes, sheets = _read_workbook(content, sheet, limits)
        return _checked(header, columns, notes, limits, sheets=sheets)
    text, notes = _decoded(content, encoding)
    header, columns, separator = _read_text(text, limits)
    notes.insert(0, f"columns separated by {_SEPARATORS[separator]}")
    return _checked(header, columns, notes, limits, separator)


# -- names and counts in messages -------------------------------------------------------------


def shortened(name: str, length: int = 40) -> str:
    """A visitor's name for something, on one line and no longer than fits a message."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name[:1000]).split())
    return line if len(line) <= length else f"{line[:length - 1]}…"


def counted(number: int, noun: str) -> str:
    """“1 row”, “4 rows”, “1,000 rows”."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """“a”, “b” and 4 more."""
    quoted = [f"“{shortened(name)}”" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(quoted)} and {len(names) - most:,} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def column_key(name: str) -> str:
    """What column names are compared by: without case and without blanks at the ends."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def nearest(wanted: str, columns: Iterable[str]) -> str:
    """“The nearest name is “age”. ”, or nothing if no column is near."""
    by_key = {column_key(column)[:100]: column for column in columns}
    near = difflib.get_close_matches(column_key(wanted)[:100], by_key, n=1, cutoff=0.6)
    return f"The nearest name is “{shortened(by_key[near[0]])}”. " if near else ""


def _refused(message: str, hint: str, field: str = "file") -> InputError:
    return InputError(message, field=field, hint=hint)


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


# -- numbers in a column ----------------------------------------------------------------------


def _as_array(cells: pa.Array) -> NDArray[np.float64]:
    return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)


def _counted(values: NDArray[np.float64]) -> Numbers:
    missing, infinite = np.isnan(values), np.isinf(values)
    if infinite.any():
        values = np.where(infinite, np.nan, values)
    return Numbers(values, int(missing.sum()), int(infinite.sum()))


def _numbers_among_text(cells: pa.Array, decimal: str) -> Numbers:
    """Read numbers among blanks, missing marks and other text."""
    text = pc.utf8_lower(pc.utf8_trim_whitespace(cells))
    missing = pc.is_in(text, value_set=pa.array(MISSING))
    infinite = pc.is_in(text, value_set=pa.array(_INFINITE))
    pattern = NUMBER if decimal == "." else NUMBER.replace(r"\.", ",")
    plain = pc.match_substring_regex(text, f"^{pattern}$")
    dotted = pc.replace_substring(text, ",", ".") if decimal == "," else text
    found = _counted(_as_array(pc.cast(pc.if_else(plain, dotted, None), pa.float64())))
    unreadable = pc.invert(pc.or_(pc.or_(missing, infinite), plain))
    return Numbers(found.values, _number_of(missing), found.infinite + _number_of(infinite),
                   _number_of(unreadable), _advice(text.filter(unreadable), decimal))


def _number_of(flags: pa.Array) -> int:
    return int(pc.sum(flags).as_py() or 0)


def _advice(text: pa.Array, decimal: str) -> str:
    """What to do about cells that hold no number, from what most of them look like."""
    date = r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}|^[0-9]{1,2}:[0-9]{2}"
    if _most(text, date):
        return ("They look like dates or clock times: write numbers, for example days since the "
                "first visit.")
    if decimal == "." and _most(text, ","):
        return ("They hold a comma, which may be a decimal mark or separate thousands: write "
                "numbers as 1234.5, or separate columns by semicolons.")
    if decimal == "," and _most(text, r"\."):
        return ("They hold a dot, while this file has decimal commas: write all numbers in one "
                "way, without a mark between thousands.")
    return "Fill them in or leave those rows out, then upload again."


def _most(text: pa.Array, pattern: str) -> bool:
    return 2 * _number_of(pc.match_substring_regex(text, pattern)) > len(text)


# -- size, kind, encoding -----------------------------------------------------------------------


def _check_bytes(content: bytes, limits: Limits) -> None:
    if not content:
        raise _refused("The file is empty.", "Upload a table with a header and rows below it.")
    if len(content) > limits.bytes:
        raise _refused(f"The file is larger than {limits.bytes / 1e6:g} MB "
                       f"({len(content) / 1e6:.1f} MB).",
                       "Leave out columns that are not needed, or fewer readings per curve.")


def _decoded(content: bytes, encoding: str) -> tuple[bytes, list[str]]:
    """Return the text as UTF-8 and how its encoding was found."""
    _refuse_other_kinds(content)
    if encoding not in ENCODINGS:
        raise _refused(f"There is no encoding “{shortened(encoding)}”.",
                       f"Choose one of {', '.join(ENCODINGS)}.", "encoding")
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    codec = marked or encoding
    label = codec.removesuffix("-sig").upper()
    try:
        is_ascii = codec == "utf-8" and content.isascii()
        text = content if is_ascii else content.decode(codec).encode()
    except UnicodeError:
        raise _wrong_encoding(content, codec, label) from None
    _refuse_binary(text)
    return text, [] if codec == "utf-8" else [f"read as {label}"]


def _refuse_other_kinds(content: bytes) -> None:
    markup = content[:64].lstrip().lower()
    kinds = [kind for start, kind in _MARKUP if markup.startswith(start)]
    if b"\x00" in content:
        kinds += [kind for start, kind in _BINARY if content.startswith(start)]
    if kinds:
        raise _refused(f"This is not a text table but {kinds[0]}.", _SAVE)
    if content.startswith(b"\xd0\xcf\x11\xe0"):  # the container of old and of locked documents
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise _refused("This workbook is protected by a password.",
                           "Remove the password, or save as .csv.")
        raise _refused("This is an old workbook (.xls), which is not read.", _SAVE)


def _wrong_encoding(content: bytes, codec: str, label: str) -> InputError:
    if b"\x00" in content and codec == "utf-8":
        return _not_text()
    places = content.decode(codec, "replace").count("\ufffd")
    return _refused(f"The file is not {label} text: {counted(places, 'place')} cannot be read.",
                    "Choose its encoding (often windows-1252), or save it as CSV UTF-8.",
                    "encoding")


def _refuse_binary(text: bytes) -> None:
    start = text[:_SAMPLE]
    control = len(start) - len(start.translate(None, bytes(set(range(32)) - set(b"\t\n\r\f\v"))))
    if b"\x00" in text or control > 0.01 * len(start):
        raise _not_text()


def _not_text() -> InputError:
    return _refused("This is not a text table.", "Save the table as CSV UTF-8 or .xlsx.")


# -- text ---------------------------------------------------------------------------------------


def _read_text(text: bytes, limits: Limits) -> tuple[list[str], list[pa.Array], str]:
    """Return header, columns and separator of a text table."""
    text = _without_notes(text.lstrip(b"\r\n \f\v") + b"\n")  # the last line may lack its end
    if not text or text.isspace():
        raise _refused("The file holds only blank lines.", "Upload a header and rows below it.")
    separator, header = _sniff(_sample(text, limits))
    _check_columns(len(header), limits)
    names = [str(k) for k in range(len(header))]
    bad_rows: list[int] = []
    try:
        cells = _parse(text, names, separator, bad_rows)
    except pa.ArrowInvalid:  # its message may quote a row
        raise _open_quote() from None
    if cells.num_rows and cells[names[-1]][-1].as_py().endswith("\n"):  # it ran to the end
        raise _open_quote()
    if bad_rows:
        raise _refused(f"{counted(len(bad_rows), 'row')} {_have(len(bad_rows))} more or fewer "
                       f"cells than the header, which has {len(header):,}.",
                       "Check the separators and quotation marks of those rows."
                       + (" Numbers with decimal commas need semicolons between columns."
                          if separator == "," else ""))
    return header, [cells[name].combine_chunks() for name in names], separator


def _without_notes(text: bytes) -> bytes:
    """One of our own exports without the notes above its table; anything else as it is."""
    if text.startswith(_OWN):
        while text.startswith(b"#"):
            text = text.partition(b"\n")[2]
    return text


def _open_quote() -> InputError:
    return _refused("The rows of this file cannot be told apart.",
                    "Check that every quotation mark is closed.")


def _sample(text: bytes, limits: Limits) -> str:
    """The first lines, from which separators are told; a giant first line is refused unread."""
    first = re.search(rb"[\r\n]", text)
    end = first.start() if first else len(text)
    if end > _LONGEST_HEADER:
        _check_columns(1 + max(text.count(mark.encode(), 0, end) for mark in _SEPARATORS), limits)
        raise _refused(f"The first line is longer than {_LONGEST_HEADER:,} characters.",
                       "It should hold the column names.")
    whole = text[:max(_SAMPLE, end + 1)]
    last = max(whole.rfind(b"\n"), whole.rfind(b"\r"))
    return whole[:last + 1].decode(errors="ignore")


def _check_columns(n_columns: int, limits: Limits) -> None:
    if n_columns > limits.columns:
        raise _refused(f"The table has {n_columns:,} columns; at most {limits.columns:,} are read.",
                       "Leave out columns that are not needed, or upload one row per reading.")


def _sniff(sample: str) -> tuple[str, list[str]]:
    """Return the separator and header.

    The separator is the one with which most rows are as long as the header. A comma comes last
    among equals, because it may be the decimal mark of every cell.
    """
    best: tuple[float, str, list[str]] = (0.0, ",", [])
    for separator in _SEPARATORS:
        rows = _rows(sample, separator)
        if rows and len(rows[0]) > 1:
            fitting = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
            best = max(best, (fitting, separator, rows[0]), key=lambda found: found[0])
    if not best[2]:
        raise _refused("The file has only one column.",
                       "Separate columns by commas, semicolons or tabs, and quote no whole lines.")
    return best[1], best[2]


def _rows(sample: str, separator: str) -> list[list[str]]:
    try:
        lines = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
        return [row for row in lines if row]
    except csv.Error:  # a cell of more than 131072 characters
        return []


def _parse(text: bytes, names: list[str], separator: str, bad_rows: list[int]) -> pa.Table:
    def skip(row: Any) -> str:
        bad_rows.append(row.actual_columns)
        return "skip"

    return arrow_csv.read_csv(
        pa.BufferReader(text),
        read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(text) + 1,
                                           column_names=names, skip_rows_after_names=1),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True,
                                             invalid_row_handler=skip),
        convert_options=arrow_csv.ConvertOptions(column_types={n: pa.string() for n in names},
                                                 strings_can_be_null=False, check_utf8=False))


# -- header and decimals ------------------------------------------------------------------------


def _checked(header: list[str], columns: list[pa.Array], notes: list[str], limits: Limits,
             separator: str = "", sheets: tuple[str, ...] = ()) -> Table:
    """Name the columns, drop what is wholly empty, and find the decimal mark."""
    columns, n_blank = _without_blank_rows(columns)
    if not columns or not len(columns[0]):
        raise _refused("There are no data rows below the header.",
                       "Upload a table with at least one row of data.")
    header, columns = _without_blank_columns(header, columns)
    _check_columns(len(header), limits)
    _check_cells(len(columns[0]), len(header), limits)
    names = _column_names(header)
    if n_blank:
        notes.append(f"{counted(n_blank, 'blank row')} left out")
    decimal = _decimal(names, columns) if separator not in ("", ",") else "."
    if decimal == ",":
        notes.append("decimal commas read as points")
    return Table(pa.table(dict(zip(names, columns, strict=True))), tuple(notes), decimal, sheets)


def _without_blank_rows(columns: list[pa.Array]) -> tuple[list[pa.Array], int]:
    blank: Any = None
    for column in columns:
        empty = pc.equal(column, "")
        blank = empty if blank is None else pc.and_(blank, empty)
        if not pc.any(blank).as_py():
            return columns, 0
    return [column.filter(pc.invert(blank)) for column in columns], _number_of(blank)


def _without_blank_columns(header: list[str], columns: list[pa.Array]
                           ) -> tuple[list[str], list[pa.Array]]:
    """Drop unnamed columns without content: separators at the ends of all lines."""
    kept = [(name, column) for name, column in zip(header, columns, strict=True)
            if name.strip() or not pc.all(pc.equal(column, "")).as_py()]
    return [name for name, _ in kept], [column for _, column in kept]


def _check_cells(n_rows: int, n_columns: int, limits: Limits) -> None:
    if n_rows * n_columns > limits.cells:
        raise _refused(f"The table has {n_rows * n_columns:,} cells ({n_rows:,} rows of "
                       f"{n_columns:,}); at most {limits.cells:,} are read.",
                       "Leave out columns that are not needed, or fewer readings per curve.")


def _column_names(header: list[str]) -> list[str]:
    """Trimmed names that differ in more than case; a column without a name is called by place."""
    names = [unicodedata.normalize("NFC", name).strip() or f"column {place}"
             for place, name in enumerate(header, start=1)]
    seen: set[str] = set()
    for name in names:
        if column_key(name) in seen:
            raise _refused(f"Two columns are called “{shortened(name)}”.",
                           "Names are compared without case and outer blanks.")
        seen.add(column_key(name))
    return names


def _decimal(names: list[str], columns: list[pa.Array]) -> str:
    """The decimal mark: a comma if in some column most numbers show one, or two names are such."""
    if sum(re.fullmatch(_COMMA_NUMBER, name) is not None for name in names) > 1:
        return ","
    for column in columns:
        with_comma = column.filter(pc.match_substring(column, ","))
        if len(with_comma) and _most(with_comma, rf"^\s*{_COMMA_NUMBER}\s*$"):
            return ","
    return "."


# -- workbooks ----------------------------------------------------------------------------------


def _read_workbook(content: bytes, sheet: str | None, limits: Limits
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
        raise _refused("This workbook is damaged and cannot be read.", _SAVE) from None
    if not rows:
        raise _refused("The sheet is empty.", "Upload a workbook whose first sheet is the table.")
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
                while part.read(_SAMPLE):
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
        raise _refused(f"The workbook has {n_members:,} parts; at most {limits.members:,} are "
                       "read.", _SAVE)
    if declared > limits.unpacked_bytes:
        raise _refused(f"The workbook expands to {declared / 1e6:,.0f} MB (limit "
                       f"{limits.unpacked_bytes / 1e6:g} MB).", "Save the table as .csv.")
    if declared > limits.unpacked_ratio * packed:
        raise _refused(f"The workbook expands to {declared / packed:,.0f} times its own size "
                       f"(limit {limits.unpacked_ratio:g}).", "Save the table as .csv.")


def _check_kind(names: set[str], is_locked: bool) -> None:
    if is_locked:
        raise _refused("This file is protected by a password.",
                       "Remove the password, or save as .csv.")
    if any(name.endswith("vbaProject.bin") for name in names):
        raise _macros()
    if "xl/workbook.bin" in names:
        raise _refused("This is a binary workbook (.xlsb), which is not read.", _SAVE)
    if "content.xml" in names:
        raise _refused("This is an OpenDocument file (.ods), which is not read.", _SAVE)
    if not {"xl/workbook.xml", "[Content_Types].xml"} <= names:
        raise _refused("This archive is not an Excel workbook.",
                       "Unpack it and upload the table inside.")


def _macros() -> InputError:
    return _refused("This is a workbook with macros (.xlsm), which is not read.", _SAVE)


def _sheet_rows(content: bytes, sheet: str | None, limits: Limits, formulas: bool = False
                ) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names of all sheets, and the rows of one from the first that is not blank."""
    from openpyxl import load_workbook  # only workbooks need it

    book = load_workbook(io.BytesIO(content), read_only=True, data_only=not formulas,
                         keep_links=False)
    try:
        sheets = {found.title: found for found in book.worksheets}
        if sheet is not None and sheet not in sheets:
            raise _refused(f"There is no sheet “{shortened(sheet)}”.",
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
            raise _refused(f"The sheet has more than {_EXCEL_ROWS:,} rows.", "Save it as .csv.")
        filled = _without_tail(row)
        _check_columns(len(filled), limits)
        width = max(width, len(filled))
        n_cells += width if filled else 0
        if n_cells > limits.cells + width:  # the header does not count
            raise _refused(f"The sheet has more than {limits.cells:,} cells.",
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
        raise _refused(f"{counted(len(lost), 'cell')} {_have(len(lost))} a formula without a saved "
                       f"result, the first in column “{shortened(str(name))}”.",
                       "Open the workbook in a spreadsheet program, save it, and upload it again.")


def _is_formula(cell: Any) -> bool:
    return (isinstance(cell, str) and cell.startswith("=")) or type(cell).__name__ in (
        "ArrayFormula", "DataTableFormula")


def _columns_of(rows: list[list[Any]]) -> tuple[list[str], list[pa.Array]]:
    header, body = [_cell_text(cell) for cell in rows[0]], [row for row in rows[1:] if row]
    too_long = sum(len(row) > len(header) for row in body)
    if too_long:
        raise _refused(f"{counted(too_long, 'row')} of the sheet {_have(too_long)} more cells than "
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
