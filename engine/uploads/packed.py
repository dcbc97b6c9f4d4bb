"""Compressed text, Parquet and Arrow tables, told by their content and read in pieces.

A compressed text is the text in it. In a table of typed columns a row is a line: numbers and
moments are taken as they are, texts as cells, null as a missing one. Neighbours are tables whose
columns have the same types.
"""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.uploads.limits import FileLimits, check_columns, refused
from engine.uploads.reading_of_files import DAY, Column, Kind, Offset, Reading

ROWS = 1 << 17  # of a batch, at most
_BATCH, _NUMBER = 1 << 25, 8  # bytes of a batch, about, and of each number in it
HEAD = 4096  # bytes that tell what a file is
_PIECE = 1 << 20
_BROKEN = (EOFError, OSError, zlib.error, pa.ArrowException)


class Packing(Enumeration):
    """The packing of a table."""

    PLAIN = ""  # text, a workbook, or what is no table
    GZIP = "gzip"
    BZIP2 = "bzip2"
    ZSTD = "zstd"
    PARQUET = "parquet"
    ARROW = "arrow"
    ARROW_STREAM = "arrow stream"

    @property
    def is_text(self) -> bool:
        """True for compressed text."""
        return self in (Packing.GZIP, Packing.BZIP2, Packing.ZSTD)

    @property
    def is_typed(self) -> bool:
        """True for tables whose columns have types."""
        return self in (Packing.PARQUET, Packing.ARROW, Packing.ARROW_STREAM)


_STARTS = (
    (b"\x1f\x8b\x08", Packing.GZIP),
    (b"\x28\xb5\x2f\xfd", Packing.ZSTD),
    (b"ARROW1\0\0", Packing.ARROW),
    (b"\xff\xff\xff\xff", Packing.ARROW_STREAM),
)


class EndsEarlyError(InputError):
    """A file that ends too early, or is damaged."""


@contextmanager
def noticing_ends() -> Iterator[None]:
    """Turn what libraries raise about broken files into `EndsEarlyError`."""
    try:
        yield
    except InputError:
        raise
    except _BROKEN as problem:
        if isinstance(problem, OSError) and problem.errno:
            raise InputError(
                f"The file cannot be read: {problem.strerror}.", field="file"
            ) from None
        raise EndsEarlyError(
            "The file ends too early, or is damaged.", field="file", hint="Copy or write it again."
        ) from None


def packing_of(head: bytes) -> Packing:
    """Tell the packing of a file from its first bytes."""
    if head.startswith(b"PARE"):
        raise _encrypted()
    if head.startswith(b"PAR1") and b"\0" in head:  # a column may well be called PAR1
        return Packing.PARQUET
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return Packing.BZIP2
    return next((each for start, each in _STARTS if head.startswith(start)), Packing.PLAIN)


def _encrypted() -> InputError:
    return refused(
        "This Parquet file is encrypted.", "Write it without encryption, on this machine."
    )


# -- compressed text -------------------------------------------------------------------------------


def opened_text(file: IO[bytes], packing: Packing) -> IO[bytes]:
    """Open the text in a file, to be read in pieces."""
    if packing is Packing.GZIP:
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if packing is Packing.BZIP2:
        return bz2.BZ2File(file)
    if packing is Packing.ZSTD:
        stream: IO[bytes] = pa.CompressedInputStream(file, "zstd")
        return stream
    return file


def text_within(content: bytes, limits: FileLimits) -> bytes:
    """Return the text of compressed content, of bounded size; other content as it is."""
    packing = packing_of(content[:HEAD])
    if not packing.is_text:
        return content
    pieces, size = list[bytes](), 0
    with noticing_ends():
        text = opened_text(io.BytesIO(content), packing)
        while piece := text.read(_PIECE):
            size += len(piece)
            if size > limits.unpacked_bytes:
                raise refused(
                    f"Unpacked the file is larger than {limits.unpacked_bytes / 1e6:g} MB.",
                    "Leave out columns that are not needed, or fewer observations per curve.",
                )
            pieces.append(bytes(piece))
    return b"".join(pieces)


# -- tables of typed columns -----------------------------------------------------------------------


class TypedTable:
    """A table of typed columns, read batch by batch."""

    def __init__(self, source: Path | bytes, packing: Packing) -> None:
        self._packing = packing
        self.share = 0.0  # of the table, as far as batches were read
        with noticing_ends():
            self._file = (
                pa.BufferReader(source) if isinstance(source, bytes) else pa.OSFile(str(source))
            )
            try:
                self._table = _OPENERS[packing](self._file)
            except pa.ArrowException as problem:
                if "encrypt" in str(problem).lower():
                    raise _encrypted() from None
                raise
            self.schema: pa.Schema = (
                self._table.schema_arrow if packing is Packing.PARQUET else self._table.schema
            )

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where the file says it."""
        return self._table.metadata.num_rows if self._packing is Packing.PARQUET else None

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield some of the columns in batches; others are never decoded."""
        with noticing_ends():
            if self._packing is Packing.PARQUET:
                rows, most = 0, self._rows_of_parquet({*names})
                for batch in self._table.iter_batches(most, columns=list(names), use_threads=False):
                    rows += batch.num_rows
                    self.share = rows / max(self._table.metadata.num_rows, 1)
                    yield batch
                return
            for batch, share in self._whole_batches():
                self.share, chosen = share, batch.select(list(names))
                most = _rows_of_batch(chosen.num_rows, chosen.nbytes)
                for first in range(0, batch.num_rows, most):
                    yield chosen.slice(first, most)

    def _rows_of_parquet(self, names: Set[str]) -> int:
        """Return how many rows of the group whose rows are longest make a batch."""
        metadata, least = self._table.metadata, ROWS
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            columns = map(group.column, range(group.num_columns))
            written = sum(
                column.total_uncompressed_size
                for column in columns
                if column.path_in_schema in names
            )
            numbers = _NUMBER * len(names) * group.num_rows  # which may be written shorter
            least = min(least, _rows_of_batch(group.num_rows, max(written, numbers)))
        return least

    def _whole_batches(self) -> Iterator[tuple[pa.RecordBatch, float]]:
        """Yield the batches of an Arrow file or stream, each with the share up to its end."""
        if self._packing is Packing.ARROW:
            number = self._table.num_record_batches
            for k in range(number):
                yield self._table.get_batch(k), (k + 1) / number
        else:
            for batch in self._table:
                yield batch, self._file.tell() / max(self._file.size(), 1)


def _rows_of_batch(rows: int, size: int) -> int:
    """Return how many of some rows make a batch, if all have so many bytes."""
    return min(ROWS, max(1, rows * _BATCH // max(size, 1))) if rows else ROWS


_OPENERS: Mapping[Packing, Any] = {
    Packing.PARQUET: lambda file: parquet.ParquetFile(file, pre_buffer=False, buffer_size=_PIECE),
    Packing.ARROW: pa.ipc.open_file,
    Packing.ARROW_STREAM: pa.ipc.open_stream,
}


def cells_of_column(values: pa.Array, name: str, entry: Column | None, missing: str) -> pa.Array:
    """Return the cells of a typed column: texts, numbers or moments.

    `entry` is None for a column of ids; `missing` is the text that stands for null.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.dictionary_decode(), kind.value_type
    _check_type(kind, name, entry)
    if pa.types.is_timestamp(kind) and entry is not None and entry.kind is Kind.DATE:
        return values.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_date(kind) and entry is not None and entry.kind is Kind.DATE:
        return values.cast(pa.timestamp("us"))
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if is_number and entry is not None and entry.kind is not Kind.WORD:
        return values.cast(pa.float64(), safe=False)
    if pa.types.is_floating(kind):  # NaN is missing
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, kind), values)
    return _texts(values, name).fill_null(missing)


def _texts(values: pa.Array, name: str) -> pa.Array:
    """Return cells as texts, and refuse bytes that are no UTF-8: no file is checked for these."""
    texts = values.cast(pa.string())
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raise refused(
            f"Some text of “{shortened(name)}” is not UTF-8.",
            "Write the column again as UTF-8 text.",
            "encoding",
        ) from None
    return texts


def _check_type(kind: pa.DataType, name: str, entry: Column | None) -> None:
    """Refuse types that hold several observations, or none that can be told apart."""
    called = shortened(name)
    if pa.types.is_nested(kind):
        raise refused(
            f"The cells of “{called}” are lists or records.",
            "Each row must be one observation: unnest the column first.",
        )
    if (
        pa.types.is_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_duration(kind)
    ):
        raise refused(
            f"The cells of “{called}” have the type {kind}, which is not read.",
            "Write them as numbers, moments or text.",
        )
    if entry is None:
        is_whole = pa.types.is_decimal(kind) and kind.scale == 0
        is_id = pa.types.is_integer(kind) or is_whole or _is_text(kind)
        if not is_id:
            raise refused(
                f"The ids of “{called}” have the type {kind}.",
                "Write ids as text or whole numbers: 007 and 7.0 are not told apart.",
            )
        return
    if pa.types.is_timestamp(kind) and kind.tz and entry.kind is Kind.DATE:
        of_place = entry.counted.endswith(DAY) or entry.counted == "calendar years"
        if entry.offset is not Offset.UTC or (of_place and not entry.zone):
            raise refused(
                f"The stamps of “{called}” are moments with a time zone.",
                'State "offset": "to UTC"'
                + (', and "time_zone", such as "Europe/Berlin".' if of_place else "."),
                "offset",
            )


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )


def entries_of(reading: Reading) -> dict[str, Column]:
    """The entry of each column that is read, by its name; columns of ids have none."""
    return {name: column for column in reading.every_column for name in column.names}


def as_text(content: bytes, limits: FileLimits) -> bytes:
    """Write a typed table as text with commas, to propose how it is read; unpack other content."""
    packing = packing_of(content[:HEAD])
    if not packing.is_typed:
        return text_within(content, limits)
    table = TypedTable(content, packing)
    names = list(table.schema.names)
    check_columns(len(names), limits)
    out, cells = pa.BufferOutputStream(), 0
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        _check_type(kind, field.name, Column(names=(field.name,)))
    texts = pa.schema([(name, pa.string()) for name in names])
    with arrow_csv.CSVWriter(out, texts) as writer:
        for batch in table.batches(names):
            cells += batch.num_rows * len(names)
            if cells > limits.cells:
                raise refused(
                    f"The table has more than {limits.cells:,} cells.",
                    "Leave out columns that are not needed, or fewer observations per curve.",
                )
            writer.write_batch(
                pa.record_batch([*map(_as_text, batch.columns, names)], schema=texts)
            )
    return bytes(out.getvalue())


def _as_text(values: pa.Array, name: str) -> pa.Array:
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.dictionary_decode(), kind.value_type
    if pa.types.is_timestamp(kind) and kind.tz:
        stamps = values.cast(pa.timestamp("us", "UTC"), safe=False).cast(pa.timestamp("us"))
        return pc.binary_join_element_wise(stamps.cast(pa.string()), "Z", "").fill_null("")
    if pa.types.is_floating(kind):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, kind), values)
    return _texts(values, name).fill_null("")
