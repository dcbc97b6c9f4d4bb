"""An uploaded file, as bytes, turned into a checked table of text cells.

The content decides how a file is read, never its name: `text` reads text, `workbooks` sheets. Every
cell stays text until its role is known, so that identifiers such as 007 survive; numbers are read
column by column. Nothing here guesses a value: what cannot be read is counted by column, and no
message holds a cell.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.uploads.conversions import ASK, CALENDAR, Dates, converted, with_colons
from engine.uploads.devices.format import DeviceExport
from engine.uploads.devices.reading import Read, is_archive_of_exports, read_archive, read_export
from engine.uploads.limits import (
    LIMITS,
    Limits,
    check_bytes,
    check_cells,
    check_columns,
    refused,
)
from engine.uploads.proposing.advice import FILL_IN as FILL_IN
from engine.uploads.proposing.advice import advice_on
from engine.uploads.text import SEPARATORS, decoded, read_text
from engine.uploads.workbooks import read_workbook

if TYPE_CHECKING:
    import pandas as pd

# Arrow's own allocator reserves a gigabyte of addresses, which limits of memory count, and keeps
# what is freed.
pa.set_memory_pool(pa.system_memory_pool())

MISSING = ("", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "none", ".")
_MAX_COMPARED = 200  # names, of a table that is wider
_INFINITE = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_MARKS = r"\pM{31}"
_COMMA_NUMBER = r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?"
_WHOLE = r"^\s*[+-]?[0-9]+\s*$"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Numbers:
    """One column read as numbers.

    Parameters
    ----------
    values : (rows,)
        NaN where a cell holds no number.
    missing : int
        Empty cells, and marks such as NA.
    infinite : int
        Cells beyond the largest number.
    unreadable : int
        All others.
    advice : str
        What to do about those.
    conversion : str
        How cells became numbers that are none themselves: dates, clock times, percentages.
    kind : str
        Which of these, one of `Kind`; "" of numbers.
    """

    values: NDArray[np.float64]
    missing: int = 0
    infinite: int = 0
    unreadable: int = 0
    advice: str = ""
    conversion: str = ""
    kind: str = ""

    @property
    def is_ambiguous(self) -> bool:
        """Whether somebody has to say how its dates are meant."""
        return self.advice == ASK


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table: every cell as text, one row per data row of the file.

    Parameters
    ----------
    cells : pyarrow.Table
        Of text.
    notes : tuple of str
        How the file was read.
    decimal : str
        The mark in its numbers.
    sheets : tuple of str
        The names of the sheets of a workbook.
    dates : Dates
        How its dates are read.
    export : DeviceExport or None
        Where the file was an export of a device: then all days of a person are on the same hours.
    """

    cells: pa.Table
    notes: tuple[str, ...]
    decimal: str = "."
    sheets: tuple[str, ...] = ()
    dates: Dates = CALENDAR
    export: DeviceExport | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The cells as a data frame of text, for looking at."""
        frame: pd.DataFrame = self.cells.to_pandas()
        return frame

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.cells.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.cells.num_rows)

    def find(self, name: str) -> str:
        """The column of this name, whatever its case.

        Parameters
        ----------
        name : str

        Returns
        -------
        str
            Its name in the table's own spelling.

        Raises
        ------
        InputError
            If there is none; it suggests the nearest name.
        """
        by_key = {column_key(column): column for column in self.columns}
        if column_key(name) in by_key:
            return by_key[column_key(name)]
        raise InputError(f"There is no column “{shortened(name)}”.", field="layout",
                         hint=f"{nearest(name, self.columns)}Name one of the header.")

    def codes(self, column: str, check: Callable[[int], None] | None = None
              ) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the number of each row's text (rows,) and the texts, in order of appearance.

        Blanks around a text are dropped and it is brought to NFC: spellings that look alike for
        such a reason are one person, not two.

        Parameters
        ----------
        column : str
        check : callable
            Is told how many texts there are before any is made, and may refuse them.
        """
        codes, texts = self._coded(column)
        if check is not None:
            check(len(texts))
        return codes.astype(np.int64), tuple(texts.to_pylist())

    def n_texts(self, column: str) -> int:
        """How many different texts there are, as `codes` tells them apart.

        Parameters
        ----------
        column : str
        """
        return len(self._coded(self.find(column))[1])

    def holds(self, column: str, text: str) -> bool:
        """Whether a text is in a column, as `codes` tells them apart.

        Parameters
        ----------
        column, text : str
        """
        return bool(pc.any(pc.equal(self._coded(column)[1], text)).as_py())

    def _coded(self, column: str) -> tuple[NDArray[np.int32], pa.Array]:
        """The same as `codes` gives, with the texts as an array."""
        written = self.cells[column].combine_chunks().dictionary_encode()
        codes, texts = written.indices.to_numpy(), pc.utf8_trim_whitespace(written.dictionary)
        if not pc.all(pc.string_is_ascii(texts)).as_py():
            texts = pc.utf8_normalize(texts, form="NFC")
        if texts.equals(written.dictionary):  # nearly always: they differ as they are written
            return codes, texts
        coded = texts.dictionary_encode()
        return coded.indices.to_numpy()[codes], coded.dictionary

    def numbers(self, column: str) -> Numbers:
        """The column as numbers; cells that hold none are counted, not guessed.

        Parameters
        ----------
        column : str
        """
        cells = self.cells[column].combine_chunks()
        if self.decimal == ".":
            try:  # plain numbers and empty cells: by far the fastest way
                filled = pc.if_else(pc.equal(cells, ""), None, cells)
                numbers = _counted(_as_array(pc.cast(filled, pa.float64())))
            except pa.ArrowInvalid:
                pass
            else:
                return _without_thousands(numbers, cells, self.decimal)
        return _numbers_among_text(cells, self.decimal, self.dates)

    def transposed(self) -> Table:
        """Rows as columns: of a table with a column for each person one with a row for each.

        The first column names the columns of the result, whose own first column, “id”, holds the
        names of the others.

        Raises
        ------
        InputError
            If there are more rows than columns are read, or the first column names two rows alike.
        """
        first, *people = self.columns
        check_columns(self.n_rows + 1, LIMITS)
        header = ["id", *self.cells[first].to_pylist()]
        cells = pa.concat_arrays([self.cells[name].combine_chunks() for name in people])
        starts = self.n_rows * np.arange(len(people))
        columns = [pa.array(people, pa.string()), *(cells.take(pa.array(starts + row))
                                                    for row in range(self.n_rows))]
        named = dict(zip(_column_names(header), columns, strict=True))
        return replace(self, cells=pa.table(named))


def read_table(content: bytes, encoding: str = "utf-8", sheet: str | None = None, *,
               limits: Limits = LIMITS) -> Table:
    r"""Read a text table (comma, semicolon, tab or bar) or one sheet of an .xlsx workbook.

    Exports of devices are recognised by their headers and folded into the hours of a day; an
    archive may hold one of each person.

    Parameters
    ----------
    content : bytes
        The file.
    encoding : str
        One of `ENCODINGS`, for text without a byte-order mark.
    sheet : str or None
        One of several sheets; the first if None.

    Raises
    ------
    InputError
        If the file is empty, too large, of another kind, or not one header with rows below it.

    Examples
    --------
    >>> table = read_table(b"child;age;height\nann;2,5;91\nbob;3;88\n")
    >>> table.columns, table.numbers("age").values
    (('child', 'age', 'height'), array([2.5, 3. ]))
    """
    check_bytes(content, limits)
    if is_workbook(content):
        if is_archive_of_exports(content):
            return _of_export(read_archive(content, lambda part: decoded(part, encoding)[0],
                                           limits), [], limits)
        header, columns, notes, sheets = read_workbook(content, sheet, limits)
        return _checked(header, columns, notes, limits, sheets=sheets)
    text, notes = decoded(content, encoding)
    export = read_export(text, limits)
    if export is not None:
        return _of_export(export, notes, limits)
    header, columns, separator = read_text(text, limits)
    notes.insert(0, f"columns separated by {SEPARATORS[separator]}")
    return _checked(header, columns, notes, limits, separator)


def _of_export(read: Read, notes: list[str], limits: Limits) -> Table:
    header, columns, more, export = read
    return replace(_checked(header, columns, [*notes, *more], limits), export=export)


def column_key(name: str) -> str:
    """What column names are compared by: without case and without blanks at the ends.

    Parameters
    ----------
    name : str
    """
    return unicodedata.normalize("NFC", name).strip().casefold()


def nearest(name: str, columns: Iterable[str]) -> str:
    """“The nearest name is “age”. ”, or nothing if no column is near.

    Parameters
    ----------
    name : str
        Which was looked for.
    columns : iterable of str
        The names that there are.
    """
    by_key = {column_key(column)[:100]: column for column in islice(columns, _MAX_COMPARED)}
    near = difflib.get_close_matches(column_key(name)[:100], by_key, n=1, cutoff=0.6)
    return f"The nearest name is “{shortened(by_key[near[0]])}”. " if near else ""


def is_workbook(content: bytes) -> bool:
    """Whether a file is an archive, as workbooks are, and not text.

    Parameters
    ----------
    content : bytes
    """
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def _as_array(cells: pa.Array) -> NDArray[np.float64]:
    return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)


def _counted(values: NDArray[np.float64]) -> Numbers:
    missing, infinite = np.isnan(values), np.isinf(values)
    if infinite.any():
        values = np.where(infinite, np.nan, values)
    return Numbers(values, int(missing.sum()), int(infinite.sum()))


def _number_of(flags: pa.Array) -> int:
    return int(pc.sum(flags).as_py() or 0)


def _numbers_among_text(cells: pa.Array, decimal: str, dates: Dates) -> Numbers:
    """Read numbers among blanks, missing marks and other text."""
    text = pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(cells)), MINUS, "-")
    missing = pc.is_in(text, value_set=pa.array(MISSING))
    infinite = pc.is_in(text, value_set=pa.array(_INFINITE))
    pattern = NUMBER if decimal == "." else NUMBER.replace(r"\.", ",")
    plain = pc.match_substring_regex(text, f"^{pattern}$")
    dotted = pc.replace_substring(text, ",", ".") if decimal == "," else text
    numbers = _counted(_as_array(pc.cast(pc.if_else(plain, dotted, None), pa.float64())))
    unreadable = pc.invert(pc.or_(pc.or_(missing, infinite), plain))
    blank, beyond = _number_of(missing), numbers.infinite + _number_of(infinite)
    other = _converted(pc.if_else(missing, None, dotted), dates) if pc.any(unreadable).as_py(
        ) else None
    if other is not None:
        return replace(other, missing=blank, infinite=beyond, unreadable=other.unreadable - blank)
    result = Numbers(numbers.values, blank, beyond, _number_of(unreadable),
                     advice_on(text.filter(unreadable), decimal))
    return result if result.unreadable else _without_thousands(result, text, decimal)


def _without_thousands(numbers: Numbers, text: pa.Array, decimal: str) -> Numbers:
    """The same, unless the decimal mark of the file stands between thousands in this column.

    Every number with a mark then has three digits behind it, 1.050 with its last 0 as well, which
    nobody writes beside whole numbers without a mark, such as 980, if it is a decimal one.
    """
    marked = text.filter(pc.match_substring(text, decimal))
    if (not _could_be_thousands(marked[:100], decimal)
            or not pc.any(pc.match_substring_regex(marked, r"0\s*$")).as_py()
            or not _could_be_thousands(marked, decimal)
            or not pc.any(pc.match_substring_regex(text, _WHOLE)).as_py()):
        return _with_three_digits(numbers, text, decimal)
    return replace(numbers, values=np.full(len(text), np.nan), unreadable=len(marked), advice=(
        f"They look like numbers with a mark between thousands, such as 1{decimal}050, beside "
        "others without: write all numbers without a mark between thousands."))


def _with_three_digits(numbers: Numbers, text: pa.Array, decimal: str) -> Numbers:
    """The same, with a line for the holder where every mark could as well be one of thousands."""
    marked = text.filter(pc.match_substring(text, decimal))
    if len(marked) < len(text) / 2 or not (_could_be_thousands(marked[:100], decimal)
                                           and _could_be_thousands(marked, decimal)):
        return numbers
    return replace(numbers, conversion=(
        f"every number with a mark has three digits behind it: 1{decimal}234 is read as a decimal "
        "number, between 1 and 2. If the mark stands between thousands, leave it out of the file"))


def _could_be_thousands(marked: pa.Array, mark: str) -> bool:
    """Whether there are numbers with a mark, and each is like 1.050: it can stand for thousands."""
    pattern = rf"^\s*[+-]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}\s*$"
    return len(marked) > 0 and bool(pc.all(pc.match_substring_regex(marked, pattern)).as_py())


def _converted(text: pa.Array, dates: Dates) -> Numbers | None:
    """Cells of dates, clock times or percentages; all others of the column are unreadable then."""
    read = converted(text, dates)
    if read is None:
        return None
    lost = int((~np.isfinite(read.values)).sum())
    if read.advice:
        return Numbers(np.full(len(text), np.nan), unreadable=len(text), advice=read.advice,
                       kind=read.kind)
    return Numbers(read.values, unreadable=lost, conversion=read.words, kind=read.kind, advice=(
        "Most cells of it are dates, clock times or percentages: write all of them in one way."))


def _matches_most(text: pa.Array, pattern: str) -> bool:
    return 2 * _number_of(pc.match_substring_regex(text, pattern)) > len(text)


def _checked(header: list[str], columns: list[pa.Array], notes: list[str], limits: Limits,
             separator: str = "", sheets: tuple[str, ...] = ()) -> Table:
    """Name the columns, drop what is wholly empty, and find the decimal mark."""
    _check_marks([pa.array(header, pa.string()), *columns])
    columns, n_blank = _without_blank_rows(columns)
    if not columns or not len(columns[0]):
        raise refused("There are no data rows below the header.",
                      "Take a table with at least one line of data.")
    header, columns = _without_blank_columns(header, columns)
    check_columns(len(header), limits)
    check_cells(len(columns[0]), len(header), limits)
    names = _column_names(header)
    if n_blank:
        notes.append(f"{counted(n_blank, 'blank row')} left out")
    if clock := with_colons(names):
        names = [clock.get(name, name) for name in names]
        notes.append(f"columns such as “{next(iter(clock))}” are called by clock times, as "
                     f"“{next(iter(clock.values()))}”")
    decimal = _decimal(names, columns) if separator not in ("", ",") else "."
    if decimal == ",":
        notes.append("decimal commas read as points")
    return Table(pa.table(dict(zip(names, columns, strict=True))), tuple(notes), decimal, sheets)


def _check_marks(columns: list[pa.Array]) -> None:
    """Refuse text with long runs of combining marks: to order them takes the square of their time.

    The bound is that of Unicode's stream-safe text (UAX #15), which no language comes near.
    """
    for column in columns:
        text = column.buffers()[2]
        if (text is not None and np.frombuffer(text, np.int8).min(initial=0) < 0
                and pc.any(pc.match_substring_regex(column, _MARKS)).as_py()):
            raise refused("Some text has more than 30 accents on one letter.",
                          "Replace it by plain text.")


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
    filled = [(name, column) for name, column in zip(header, columns, strict=True)
              if name.strip() or not pc.all(pc.equal(column, "")).as_py()]
    return [name for name, _ in filled], [column for _, column in filled]


def _column_names(header: list[str]) -> list[str]:
    """Trimmed names that differ in more than case; a column without a name is called by place."""
    names = [unicodedata.normalize("NFC", name).strip() or f"column {number}"
             for number, name in enumerate(header, start=1)]
    keys: set[str] = set()
    for name in names:
        if column_key(name) in keys:
            raise refused(f"Two columns are called “{shortened(name)}”.",
                          "Names are compared without case and outer blanks.")
        keys.add(column_key(name))
    return names


def _decimal(names: list[str], columns: list[pa.Array]) -> str:
    """The decimal mark: a comma if in some column most numbers show one, or two names are such.

    A column that may as well have commas between thousands, 980 beside 1,050, tells nothing.
    """
    if sum(re.fullmatch(_COMMA_NUMBER, name) is not None for name in names) > 1:
        return ","
    for column in columns:
        with_comma = column.filter(pc.match_substring(column, ","))
        if len(with_comma) and _matches_most(with_comma, rf"^\s*{_COMMA_NUMBER}\s*$") and not (
                _could_be_thousands(with_comma, ",")
                and pc.any(pc.match_substring_regex(column, _WHOLE)).as_py()):
            return ","
    return "."
