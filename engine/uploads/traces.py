"""Bytes by which single people are known again: ids, and the shapes of their curves.

Nothing of it is ever published: it is as private as the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.identity import Integers, Traces
from engine.core.types import Array
from engine.uploads.columns import Observations
from engine.uploads.ids import IdForm, canonical_texts
from engine.uploads.reading_of_files import Reading

_DIGITS = 6  # of a value in a trace
_FEWEST = 3  # values of a curve that has a shape
_CELLS, _OFFSET = 1e5, 0.4142135623730951  # of a shape; common fractions are no borders of cells


def pieces(ends: Integers, *columns: Array | Integers) -> Iterator[bytes]:
    """Return the bytes of the numbers of each record, column after column; `ends` are theirs."""
    parts = []
    for column in columns:
        text, cuts = column.tobytes(), (column.itemsize * np.append(0, ends)).tolist()
        parts.append([text[first:end] for first, end in pairwise(cuts)])
    return map(b"".join, zip(*parts, strict=True))


def coarse(values: Array) -> tuple[Array, Array]:
    """Values with so many digits each, as whole numbers and powers of ten."""
    size = np.floor(np.log10(np.maximum(np.abs(values), 1e-290)))
    return np.rint(values / 10.0 ** (size - _DIGITS + 1)) + 0.0, size


def shapes(values: Array, ends: Integers) -> tuple[Integers, Integers]:
    """Return the ends and the binned values of curves with at least three values that differ."""
    # `counts` are (curves,), `starts` those of curves that have values, all else is (values,).
    counts = np.diff(ends, prepend=0)
    starts = (ends - counts)[counts > 0]
    low, high = (
        np.repeat(end.reduceat(values, starts), counts[counts > 0])
        for end in (np.minimum, np.maximum)
    )
    has_shape = (high > low) & (np.repeat(counts, counts) >= _FEWEST)
    cells = np.floor(
        (values[has_shape] - low[has_shape]) / (high - low)[has_shape] * _CELLS + _OFFSET
    )
    sizes = np.zeros(len(ends), np.int64)
    sizes[counts > 0] = np.add.reduceat(has_shape.astype(np.int64), starts)
    return np.cumsum(sizes), cells.astype(np.int64)


def traces_of(
    read: Observations,
    records: Callable[[], Iterator[bytes]],
    content: tuple[bytes, ...] = (),
    bits: Array | None = None,
    kind: str = "shapes",
    reading: Reading | None = None,
) -> Traces:
    """Collect what people of a file are known again by.

    Ids are compared as numbers, whatever form the reading of a file gives them, and without the
    site. Where a reading tells apart more people than that, such as 007 and 7, or one id at two
    sites, they have one id here and are charged together: another reading makes no new people. All
    of a record is looked at only where there are no ids.
    """
    n = len(read.server)
    ids_from = reading.person.list if reading is not None and reading.person is not None else ""
    if not read.ids:
        return Traces(n, (), content, np.zeros(n) if bits is None else bits, tuple(records()), kind)
    ids = canonical_texts(pa.array(read.ids, pa.string()), IdForm.NUMBER)
    texts = tuple(ids.cast(pa.binary()).to_numpy(zero_copy_only=False).tolist())
    return Traces(
        n,
        texts,
        content,
        np.zeros(n) if bits is None else bits,
        (),
        kind,
        ids_from,
        _spelled(read.spellings, ids),
    )


def _spelled(spellings: str, ids: pa.Array) -> tuple[tuple[int, bytes], ...]:
    """Give each other spelling of an id the place of its person."""
    if not spellings:
        return ()
    texts = pa.array(spellings.split("\0"), pa.string())
    places = pc.index_in(canonical_texts(texts, IdForm.NUMBER), value_set=ids)
    return tuple(
        (place, text.encode())
        for place, text in zip(places.to_pylist(), texts.to_pylist(), strict=True)
        if place is not None
    )


def digits(values: Array) -> Integers:
    """Count the decimals of each number, at most `_DIGITS`."""
    counts = np.full(values.shape, _DIGITS, np.int64)
    for decimals in range(_DIGITS - 1, -1, -1):
        scaled = np.abs(values) * 10.0**decimals
        counts[np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(scaled, 1)] = decimals
    return counts


def bits_of_shapes(values: Array, ends: Integers) -> Array:
    """Compute the nominal bits of each curve's shape: (m − 2) log2(1 + range/10^(−d)).

    m observations have the range and d decimals of that curve; a shape tells 10⁵ cells apart.
    """
    counts = np.diff(ends, prepend=0)
    out, starts = np.zeros(len(ends)), (ends - counts)[counts > 0]
    if len(values):
        extent = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        cells = extent * 10.0 ** np.maximum.reduceat(digits(values), starts)
        out[counts > 0] = np.maximum(counts[counts > 0] - 2, 0) * np.log2(
            1 + np.minimum(cells, _CELLS)
        )
    return out


def bits_of_records(table: Array, extents: Array) -> Array:
    """Compute the nominal bits of records (n, columns) whose columns have these stated ranges."""
    known = np.isfinite(table)
    cells = extents * 10.0 ** digits(np.where(known, table, 0.0))
    bits: Array = np.sum(np.log2(1 + np.minimum(cells, 10.0**_DIGITS)) * known, axis=1)
    return bits
