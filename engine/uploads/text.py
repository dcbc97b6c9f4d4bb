"""A table in a text file: its kind, its encoding, its separator, and its cells as text.

The content decides, never the name of the file.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.uploads.limits import SAMPLE, SAVE, Limits, check_columns, have, refused

ENCODINGS = ("utf-8", "latin-1", "windows-1252", "windows-1250", "utf-16")
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
_MARKS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"),
          (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_OWN = b"# Privacy Curves"  # how our own exports begin: notes, then a table
_SEPARATOR_LINE = re.compile(rb"sep=[\t;|,]\r?\n?", re.IGNORECASE)  # above a table, for Excel
_TABLE_LINE = re.compile(rb"^(?!#)", re.MULTILINE)  # where the first line that is no note begins
_LONGEST_HEADER = 100_000  # bytes
_MAX_BAD_ROWS = 100_000  # that are counted
_MOST_CONTROL = 0.01  # of the characters of a text

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


def decoded(content: bytes, encoding: str) -> tuple[bytes, list[str]]:
    """Bring a text to UTF-8.

    Parameters
    ----------
    content : bytes
    encoding : str
        One of `ENCODINGS`, for text without a byte-order mark.

    Returns
    -------
    tuple
        The text, and notes on its encoding.

    Raises
    ------
    InputError
        If it is no text, or in another encoding.
    """
    _refuse_other_kinds(content)
    if encoding not in ENCODINGS:
        raise refused(f"There is no encoding “{shortened(encoding)}”.",
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


def checked_text(content: bytes, encoding: str) -> bytes:
    """Bring a text of the stated encoding to UTF-8, without a byte-order mark at its beginning.

    Raises
    ------
    InputError
        If it is no text, or a mark or a character at some place says that it is in another one.
    """
    _refuse_other_kinds(content)
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), encoding)
    if marked.removesuffix("-sig") != encoding:
        raise refused(f"The file begins with the mark of {marked.removesuffix('-sig').upper()}, "
                      "which is not the stated encoding.", "State it as “encoding” of the “frame”.",
                      "encoding")
    try:
        is_ascii = marked == "utf-8" and content.isascii()
        text = content if is_ascii else content.decode(marked).encode()
    except UnicodeError:
        raise _wrong_encoding(content, marked, encoding.upper()) from None
    if _share_of_control(text[:SAMPLE].replace(b"\0", b"")) > _MOST_CONTROL:
        raise _not_text()  # zero bytes are counted by line
    return text


def _refuse_other_kinds(content: bytes) -> None:
    markup = content[:64].lstrip().lower()
    kinds = [kind for start, kind in _MARKUP if markup.startswith(start)]
    if b"\x00" in content:
        kinds += [kind for start, kind in _BINARY if content.startswith(start)]
    if kinds:
        raise refused(f"This is not a text table but {kinds[0]}.", SAVE)
    if content.startswith(b"\xd0\xcf\x11\xe0"):  # the container of old and of locked documents
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise refused("This workbook is protected by a password.",
                          "Remove the password, or save as .csv.")
        raise refused("This is an old workbook (.xls), which is not read.", SAVE)


def _wrong_encoding(content: bytes, codec: str, label: str) -> InputError:
    if b"\x00" in content and codec == "utf-8":
        return _not_text()
    places = content.decode(codec, "replace").count("\ufffd")
    return refused(f"The file is not {label} text: {counted(places, 'place')} cannot be read.",
                   "State its encoding (often windows-1252), or save it as CSV UTF-8.",
                   "encoding")


def _refuse_binary(text: bytes) -> None:
    if b"\x00" in text or _share_of_control(text) > _MOST_CONTROL:
        raise _not_text()


def _share_of_control(text: bytes) -> float:
    """Return the share of control characters at the beginning of a text."""
    start = text[:SAMPLE]
    left = start.translate(None, bytes(set(range(32)) - set(b"\t\n\r\f\v")))
    return 1 - len(left) / len(start) if start else 0.0


def _not_text() -> InputError:
    return refused("This is not a text table.", "Save the table as CSV UTF-8 or .xlsx.")


def read_text(text: bytes, limits: Limits) -> tuple[list[str], list[pa.Array], str]:
    """Read a table from text.

    Parameters
    ----------
    text : bytes
        In UTF-8.

    Returns
    -------
    tuple
        Header, columns and separator.

    Raises
    ------
    InputError
        If there is no table, it is too wide, or its rows are of several lengths.
    """
    text = _without_notes(text.lstrip(b"\r\n \f\v") + b"\n")  # the last line may lack its end
    if line := _SEPARATOR_LINE.match(text):
        text = text[line.end():]
    if not text or text.isspace():
        raise refused("The file holds only blank lines.",
                      "Take a table with a header and lines below it.")
    separator, header = _sniff(_sample(text, limits))
    check_columns(len(header), limits)
    names = [str(k) for k in range(len(header))]
    bad_rows: list[int] = []
    try:
        cells = _parse(text, names, separator, bad_rows)
    except pa.ArrowInvalid:  # its message may quote a row
        raise (_uneven(bad_rows, header, separator) if len(bad_rows) > _MAX_BAD_ROWS else
               _open_quote()) from None
    if cells.num_rows and cells[names[-1]][-1].as_py().endswith("\n"):  # it ran to the end
        raise _open_quote()
    if bad_rows:
        raise _uneven(bad_rows, header, separator)
    return header, [cells[name].combine_chunks() for name in names], separator


def _uneven(bad_rows: list[int], header: list[str], separator: str) -> InputError:
    number = (f"More than {_MAX_BAD_ROWS:,} rows have" if len(bad_rows) > _MAX_BAD_ROWS else
              f"{counted(len(bad_rows), 'row')} {have(len(bad_rows))}")
    return refused(f"{number} more or fewer cells than the header, which has {len(header):,}.",
                   "Check the separators and quotation marks of those rows."
                   + (" Numbers with decimal commas need semicolons between columns."
                      if separator == "," else ""))


def _without_notes(text: bytes) -> bytes:
    """One of our own exports without the notes above its table; anything else as it is."""
    table = _TABLE_LINE.search(text) if text.startswith(_OWN) else None
    return text[table.start():] if table else text


def _open_quote() -> InputError:
    return refused("The rows of this file cannot be told apart.",
                   "Check that every quotation mark is closed.")


def _sample(text: bytes, limits: Limits) -> str:
    """The first lines, from which separators are told; a giant first line is refused unread."""
    first = re.search(rb"[\r\n]", text)
    end = first.start() if first else len(text)
    if end > _LONGEST_HEADER:
        check_columns(1 + max(text.count(mark.encode(), 0, end) for mark in SEPARATORS), limits)
        raise refused(f"The first line is longer than {_LONGEST_HEADER:,} characters.",
                      "It should hold the column names.")
    whole = text[:max(SAMPLE, end + 1)]
    last = max(whole.rfind(b"\n"), whole.rfind(b"\r"))
    return whole[:last + 1].decode(errors="ignore")


def _sniff(sample: str) -> tuple[str, list[str]]:
    """Return the separator and header.

    The separator is the one with which most rows are as long as the header. A comma comes last
    among equals, because it may be the decimal mark of every cell.
    """
    best: tuple[float, str, list[str]] = (0.0, ",", [])
    for separator in SEPARATORS:
        rows = _rows(sample, separator)
        if rows and len(rows[0]) > 1:
            fitting = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
            best = max(best, (fitting, separator, rows[0]), key=lambda candidate: candidate[0])
    if not best[2]:
        below = max(len(row) for separator in SEPARATORS for row in _rows(sample, separator))
        if below > 1:
            raise refused("The first line has a single cell, and there are lines below it with "
                          f"{below:,}.", "Delete titles and notes above the column names.")
        raise refused("The file has only one column.",
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
        return "skip" if len(bad_rows) <= _MAX_BAD_ROWS else "error"  # each takes microseconds

    return arrow_csv.read_csv(
        pa.BufferReader(text),
        read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(text) + 1,
                                           column_names=names, skip_rows_after_names=1),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True,
                                             invalid_row_handler=skip),
        convert_options=arrow_csv.ConvertOptions(column_types={n: pa.string() for n in names},
                                                 strings_can_be_null=False, check_utf8=False))
