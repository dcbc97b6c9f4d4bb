"""Tables of any size as batches of lines: each batch is read alone and alike, by the reading.

What a line gives follows from that line and the reading, whichever batch it is in; so the lines of
all batches are those that `engine.uploads.lines` cuts the whole into.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from engine.core.errors import InputError
from engine.core.lists import counted
from engine.uploads.files import TableFile
from engine.uploads.limits import LIMITS, check_columns, refused
from engine.uploads.lines import (
    SEPARATORS,
    Lines,
    below,
    check_header,
    cut_lines,
    header_of,
    line_ends,
    lines_of_table,
)
from engine.uploads.packed import EndsEarlyError, Packing, TypedTable, noticing_ends, opened_text
from engine.uploads.reading_of_files import Reading
from engine.uploads.text import check_beginning, codec_of
from engine.uploads.workbooks import is_workbook

_PIECE = 1 << 22  # bytes of text in a batch
_LONGEST = 1 << 22  # bytes of a line
Progress = Callable[[int], None]  # gets bytes that were read


def _unheard(n: int) -> None:
    return None


def batches(
    files: Sequence[TableFile], reading: Reading, progress: Progress = _unheard
) -> Iterator[Lines]:
    """Yield the lines of all files in batches.

    Raises
    ------
    InputError
        Once all files were read, if some end too early or have other columns than the reading
        states; at once, if one is of a kind that is not read in batches.
    """
    check_frame(reading)
    faults, one = Counter[str](), InputError("", field="file")
    for file in files:
        try:
            yield from _of_file(file, reading, progress)
        except EndsEarlyError as problem:
            faults[f"end too early, or {'is' if len(files) == 1 else 'are'} damaged"] += 1
            one = problem
        except InputError as problem:
            if problem.field != "header":
                raise
            faults["have other columns than the reading states"] += 1
            one = problem
    if faults and len(files) == 1:
        raise one
    if faults:
        told = ", ".join(f"{n:,} of {counted(len(files), 'file')} {kind}" for kind, n in faults.items())
        raise InputError(
            f"{told}. Nothing was read.",
            field="file",
            hint="Write these files again, with the columns of the reading.",
        )


def check_frame(reading: Reading) -> None:
    """Refuse what is not read in batches.

    Raises
    ------
    InputError
        If people stand in columns, or the reading is of a workbook or of an export.
    """
    frame = reading.frame
    if frame.people == "columns" or frame.export or frame.sheet:
        raise InputError(
            "Files of this size are tables with people in rows, in text, Parquet or Arrow.",
            field="frame",
            hint="Write the table so, and state its header.",
        )


def _of_file(file: TableFile, reading: Reading, progress: Progress) -> Iterator[Lines]:
    packing = file.packing
    own = reading
    if file.partition:  # the header of the reading names them behind those of the file
        names = reading.frame.header
        if not {*file.partition} <= {*names}:
            raise InputError("", field="header")
    pieces = (
        _of_typed(file, packing, own, progress)
        if packing.is_typed
        else _of_text(file, packing, own, progress)
    )
    name = _person(file) if reading.person is not None and reading.person.file else None
    for lines in pieces:
        if name is not None:
            codes = pa.array([0] * lines.n_lines, pa.int32())
            named = pa.DictionaryArray.from_arrays(codes, pa.array([name]))
            lines = lines._replace(person=named.dictionary_decode())
        yield lines
