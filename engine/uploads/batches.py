"""Tables of any size as batches of lines: each batch is read alone and alike, by the reading.

What a line gives follows from that line and the reading, whichever batch it is in; so the lines of
all batches are those that `engine.uploads.lines` cuts the whole into.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from engine.core.errors import InputError
from engine.core.lists import counted
from engine.uploads.files import TableFile
from engine.uploads.limits import LIMITS, check_columns, refused
from engine.uploads.lines import (
    Lines,
    below,
    check_header,
    cut_lines,
    header_of,
    line_ends,
    lines_of_table,
)
from engine.uploads.packed import (
    HEAD,
    EndsEarlyError,
    Packing,
    TypedTable,
    noticing_ends,
    opened_text,
)
from engine.uploads.reading_of_files import Frame, Reading
from engine.uploads.text import check_beginning, codec_of
from engine.uploads.workbooks import is_workbook

_PIECE = 1 << 22  # bytes of text in a batch
_LONGEST = 1 << 22  # bytes of a line
_FIRST, _FIRST_ROWS = 1 << 20, 10_000  # bytes of text and rows that a proposal looks at
Progress = Callable[[int], None]  # gets bytes that were read


def _unheard(n: int) -> None:
    return None


def batches(
    files: Sequence[TableFile], reading: Reading, progress: Progress = _unheard
) -> Iterator[Lines]:
    """Yield the lines of all files in batches.

    Files that end too early or have other columns than stated are refused once all were read; a
    kind that is not read in batches at once.
    """
    check_frame(reading)
    faults, one = Counter[str](), _other_columns()
    for file in files:
        try:
            yield from _of_file(file, reading, progress)
        except EndsEarlyError as problem:
            faults["end too early or are damaged"] += 1
            one = problem
        except InputError as problem:
            if problem.field != "header":
                raise
            faults["have other columns than the reading states"] += 1
            one = problem
    if faults and len(files) == 1:
        raise one
    if faults:
        told = ", ".join(
            f"{n:,} of {counted(len(files), 'file')} {kind}" for kind, n in faults.items()
        )
        raise InputError(
            f"{told}. Nothing was read.",
            field="file",
            hint="Write these files again, with the columns of the reading.",
        )


def beginning_of(file: TableFile) -> bytes:
    """Return a small table of the first lines of a file, to propose how all of it is read."""
    packing = file.packing
    if packing.is_typed:
        table = TypedTable(file.path, packing)
        first = next(iter(table.batches(table.schema.names)), None)
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, table.schema) as writer:
            if first is not None:
                writer.write_batch(first.slice(0, _FIRST_ROWS))
        return bytes(out.getvalue())
    with file.path.open("rb") as raw, noticing_ends():
        text = opened_text(raw, packing).read(_FIRST)
    whole = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    if len(text) == _FIRST and not whole:
        raise _too_long(_FIRST)
    is_wide = text[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # two bytes for each mark
    return bytes(text[: whole + is_wide * whole % 2] or text)


def is_in_batches(file: TableFile) -> bool:
    """True if a file is of a kind that is read in batches: no workbook, archive or export."""
    with file.path.open("rb") as raw:
        return not is_workbook(raw.read(HEAD))


def check_frame(reading: Reading) -> None:
    """Refuse what is not read in batches: people in columns, workbooks and exports."""
    frame = reading.frame
    if frame.people == "columns" or frame.export or frame.sheet:
        raise InputError(
            "Files of this size are tables with people in rows, in text, Parquet or Arrow.",
            field="frame",
            hint="Write the table so, and state its header.",
        )


def _of_file(file: TableFile, reading: Reading, progress: Progress) -> Iterator[Lines]:
    """Yield the lines of one file, with the columns that its folders state behind its own."""
    packing, stated = file.packing, file.partition
    if not {*stated} <= {*reading.frame.header}:
        raise _other_columns()
    own = tuple(name for name in reading.frame.header if name not in stated)
    frame = replace(reading.frame, header=own)
    read = _of_typed if packing.is_typed else _of_text
    person = reading.person
    for lines in read(file, packing, reading, frame, progress):
        same = {
            name: pa.repeat(pa.scalar(text), lines.n_lines)
            for name, text in stated.items()
            if name in reading.used
        }
        by_file = person is not None and person.file
        yield lines._replace(
            cells={**lines.cells, **same},
            person=pa.repeat(pa.scalar(_name(file)), lines.n_lines) if by_file else None,
        )


def _other_columns() -> InputError:
    return InputError(
        "The folders of the file state other columns than the reading.",
        field="header",
        hint="Name them in the “header” of the “frame”, behind the columns of the file.",
    )


def _too_long(size: int) -> InputError:
    return refused(
        f"A line is longer than {size / 1e6:.0f} MB.",
        "Check that this is a table with a row for each observation.",
    )


def _name(file: TableFile) -> str:
    """Return the name of a file without its endings: the id of a person."""
    return file.path.name.partition(".")[0]


def _of_typed(
    file: TableFile, packing: Packing, reading: Reading, frame: Frame, progress: Progress
) -> Iterator[Lines]:
    table, told = TypedTable(file.path, packing), 0
    for lines in lines_of_table(table, reading, frame):
        yield lines
        told, at = int(table.share * file.size), told
        progress(told - at)
    progress(file.size - told)


def _of_text(
    file: TableFile, packing: Packing, reading: Reading, frame: Frame, progress: Progress
) -> Iterator[Lines]:
    header: tuple[str, ...] = ()
    for text in _pieces_of_text(file, packing, frame.encoding, progress):
        if not header:
            head, body = below(text, frame.above)
            header = header_of(head, frame.separator)
            check_columns(len(header), LIMITS)
            check_header(header, frame)
        else:
            body = text
        yield cut_lines(body, header, reading)


def _pieces_of_text(
    file: TableFile, packing: Packing, encoding: str, progress: Progress
) -> Iterator[bytes]:
    """Yield UTF-8 text in pieces of whole lines, each of which ends at a line feed."""
    with file.path.open("rb") as raw:
        if is_workbook(raw.read(HEAD)):
            raise refused("Workbooks are not read in batches.", "Save the table as .csv.")
        raw.seek(0)
        text, decoder, kept, told = opened_text(raw, packing), None, b"", 0
        while True:
            with noticing_ends():
                piece = text.read(_PIECE)
            if decoder is None:
                if not piece:
                    raise refused("The file is empty.", "Take a table with a header and lines.")
                decoder = codecs.getincrementaldecoder(codec_of(piece, encoding))()
                check_beginning(piece.replace(b"\0", b""))
            try:
                new = decoder.decode(piece, final=not piece).encode()
            except UnicodeError:
                raise refused(
                    f"The file is not {encoding.upper()} text.",
                    "State its encoding (often windows-1252), or save it as CSV UTF-8.",
                    "encoding",
                ) from None
            body = kept + new
            split = b"\r" if piece and body.endswith(b"\r") else b""  # a line feed may follow
            body = line_ends(body.removesuffix(split))
            end = body.rfind(b"\n") + 1 if piece else len(body)
            kept = body[end:] + split
            if len(kept) > _LONGEST:
                raise _too_long(_LONGEST)
            if end:
                yield body[:end]
            told, at = raw.tell(), told
            progress(told - at)
            if not piece:
                return
