"""Which data are the same: a hash of readings, by which the ledger knows a data set again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.sources import Source
from engine.sources.ages_at_death import AgesAtDeath
from engine.sources.bundled import DATA, BundledCurves
from engine.sources.upload import Upload
from engine.sources.upload_rows import UploadRows
from engine.types import Array


def content_of(source: Source) -> bytes:
    """A hash of all readings: the same whatever the order, names, sites and stated bounds.

    Curves are hashed one by one, readings in order of time, and their hashes are sorted. A bundled
    file is one data set, whichever part of it is used.

    Raises
    ------
    InputError
        If these are no real data, of which a ledger is kept.
    """
    if isinstance(source, Upload):
        records = _curves(source.curves.times, source.curves.values, source.curves.counts)
    elif isinstance(source, UploadRows):
        records = _rows(source.rows.x, source.rows.y)
    elif isinstance(source, BundledCurves | AgesAtDeath):
        records = iter([(DATA / source.file).read_bytes()])
    else:
        raise InputError("There is no ledger of simulated data.", field="source",
                         hint="Choose public data, or use your own.")
    one_by_one = sorted(hashlib.sha256(record).digest() for record in records)
    return hashlib.sha256(b"".join(one_by_one)).digest()


def _curves(times: Array, values: Array, counts: NDArray[np.int64]) -> Iterator[bytes]:
    ends = np.cumsum(counts)
    for first, end in zip(ends - counts, ends, strict=True):
        curve = np.stack([times[first:end], values[first:end]]) + 0.0  # −0 is 0
        yield curve[:, np.lexsort(curve[::-1])].tobytes()


def _rows(x: Array, y: Array | None) -> Iterator[bytes]:
    table = x if y is None else np.column_stack([x, y])
    for row in np.where(np.isnan(table), np.nan, table + 0.0):
        yield row.tobytes()
