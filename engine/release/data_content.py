"""What the ledger knows data by: a hash of all readings, and traces of single people.

The hash says whether data are exactly the same, and the traces whether they are about the same
people (see `engine.release.overlap`). Neither is ever published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.sources import Source
from engine.sources.ages_at_death import AgesAtDeath
from engine.sources.bundled import DATA, BundledCurves
from engine.sources.upload import Upload
from engine.sources.upload_rows import UploadRows
from engine.types import Array

Traces = Mapping[str, tuple[bytes, ...]]
_DIGITS = 6  # of a value in a trace
_CELLS, _OFFSET = 1e5, 0.4142135623730951  # of a shape; common fractions are no borders of cells


def content_of(source: Source) -> bytes:
    """A hash of all readings: the same whatever the order, names, sites and stated bounds.

    Curves are hashed one by one, readings in order of time, and their hashes are sorted. A bundled
    file is one data set, whichever part of it is used.

    Raises
    ------
    InputError
        If these are no real data, of which a ledger is kept.
    """
    records: Iterator[bytes]
    if isinstance(source, Upload):
        curves = source.curves
        records = (curve.tobytes() for curve in _curves(curves.times, curves.values, curves.counts))
    elif isinstance(source, UploadRows):
        records = (row.tobytes() for row in _rows(source.rows.x, source.rows.y))
    elif isinstance(source, BundledCurves | AgesAtDeath):
        records = iter([(DATA / source.file).read_bytes()])
    else:
        raise InputError("There is no ledger of simulated data.", field="source",
                         hint="Choose public data, or use your own.")
    one_by_one = sorted(hashlib.sha256(record).digest() for record in records)
    return hashlib.sha256(b"".join(one_by_one)).digest()


def traces_of(source: Source) -> Traces:
    """Texts by which the people of a file are known again; none for public data.

    "ids" are those of the file, where it has some; "values" and "shapes" are one for each curve or
    record. All are as private as the data.
    """
    if isinstance(source, Upload):
        curves = list(_curves(source.curves.times, source.curves.values, source.curves.counts))
        values = [_coarse(curve[1]) for curve in curves if curve.size]
        shapes = [shape for curve in curves if (shape := _shape(curve[1]))]
        return {"ids": _ids(source.curves.ids), "values": tuple(values), "shapes": tuple(shapes)}
    if isinstance(source, UploadRows):
        rows = [np.sort(row[np.isfinite(row)]) for row in _rows(source.rows.x, source.rows.y)]
        return {"ids": _ids(source.rows.ids),
                "values": tuple(_coarse(row) for row in rows if row.size)}
    return {}


def _curves(times: Array, values: Array, counts: NDArray[np.int64]) -> Iterator[Array]:
    """Times and values (2, m) of every curve, in order of time and then of value."""
    ends = np.cumsum(counts)
    for first, end in zip(ends - counts, ends, strict=True):
        curve = np.stack([times[first:end], values[first:end]]) + 0.0  # −0 is 0
        yield curve[:, np.lexsort(curve[::-1])]


def _rows(x: Array, y: Array | None) -> Iterator[Array]:
    table = x if y is None else np.column_stack([x, y])
    yield from np.where(np.isnan(table), np.nan, table + 0.0)


def _ids(ids: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(name.strip().casefold().encode() for name in ids)


def _coarse(values: Array) -> bytes:
    """Values with so many digits each."""
    size = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    unit = 10.0 ** (size - _DIGITS + 1)
    return np.stack([np.rint(values / unit), size]).tobytes()


def _shape(values: Array) -> bytes:
    """Values on [0, 1] by their own range, in cells; empty where there are too few of them."""
    if len(values) < 3 or not np.ptp(values) > 0:
        return b""
    unit = (values - values.min()) / np.ptp(values)
    return np.floor(unit * _CELLS + _OFFSET).astype(np.int64).tobytes()
