"""What the ledger knows data by: a hash of all observations, and traces of single people.

The hash says whether data are exactly the same, and the traces whether they are about the same
people (see `engine.release.overlap`). Neither is ever published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np

from engine.core.errors import InputError
from engine.core.record_bytes import people_in_order
from engine.core.types import Array, Data
from engine.release.overlap import TELLING
from engine.sources import Source
from engine.sources.ages_at_death import AgesAtDeath
from engine.sources.bundled import DATA, BundledCurves
from engine.sources.heart_failure import HeartFailurePatients
from engine.uploads.columns import Integers
from engine.uploads.curves import CurveTable, Upload
from engine.uploads.events import UploadEvents
from engine.uploads.rows import RowTable, UploadRows

Traces = Mapping[str, tuple[bytes, ...]]
_DIGITS = 6  # of a value in a trace
_FEWEST = 3  # values of a curve that has a shape
_CELLS, _OFFSET = 1e5, 0.4142135623730951  # of a shape; common fractions are no borders of cells


def content_of(source: Source[Data]) -> bytes:
    """A hash of all observations: the same whatever the order, names, sites and stated bounds.

    Curves are hashed one by one, observations in order of time, and their hashes are sorted. People
    of whom two or three numbers are known are sorted by these instead: a million hashes take
    seconds. A bundled file is one data set, whichever part of it is used.

    Parameters
    ----------
    source : Source
        Public data, or an upload.

    Returns
    -------
    bytes
        32 of them (SHA-256). As private as the data: whoever has it can check a guess of all
        observations.

    Raises
    ------
    InputError
        If these are no real data, of which a ledger is kept.
    """
    if isinstance(source, Upload):
        times, values, ends = _sorted(source.curves)
        records = _pieces(ends, times, values)
    elif isinstance(source, UploadRows):
        table = _numbers(source.rows)
        records = _pieces(_ends_of_rows(table), table.ravel())
    elif isinstance(source, UploadEvents):
        events = source.events
        records = iter([people_in_order(events.time, events.status, events.group)])
    elif isinstance(source, BundledCurves | AgesAtDeath | HeartFailurePatients):
        records = iter([(DATA / source.file).read_bytes()])
    else:
        raise InputError("There is no ledger of simulated data.", field="source",
                         hint="Choose public data, or use your own.")
    one_by_one = sorted(hashlib.sha256(record).digest() for record in records)
    return hashlib.sha256(b"".join(one_by_one)).digest()


def traces_of(source: Source[Data]) -> Traces:
    """Texts by which the people of a file are known again; none for public data.

    Parameters
    ----------
    source : Source
        Public data, or an upload.

    Returns
    -------
    mapping of str to tuple of bytes
        "ids" are those of the file, where it has some; "values" and "shapes" are one for each curve
        or record. All are as private as the data.
    """
    if isinstance(source, Upload):
        _, values, ends = _sorted(source.curves)
        return {"ids": _ids(source.curves.ids), "values": _filled(_pieces(ends, *_coarse(values))),
                "shapes": _filled(_pieces(*_shapes(values, ends)))}
    if isinstance(source, UploadEvents):
        events = source.events
        content = people_in_order(events.time, events.status, events.group)
        width = len(content) // max(len(events.time), 1)
        rows = np.frombuffer(content, dtype="<f8").reshape(len(events.time), -1)
        alike = (rows[1:] == rows[:-1]) | np.isnan(rows[1:]) & np.isnan(rows[:-1])
        if alike.all(axis=1).mean() > 1 - TELLING:  # as with whole days: nobody is told by them
            return {"ids": _ids(events.ids)}
        return {"ids": _ids(events.ids), "values": tuple(
            content[first:first + width] for first in range(0, len(content), width))}
    if isinstance(source, UploadRows):
        table = np.sort(_numbers(source.rows), axis=1)  # what is no number comes last
        known = np.isfinite(table)
        return {"ids": _ids(source.rows.ids), "values": _filled(_pieces(
            np.cumsum(known.sum(axis=1)), *_coarse(table[known])))}
    return {}


def _sorted(curves: CurveTable) -> tuple[Array, Array, Integers]:
    """Times and values (N,) of all curves, in order of time and then of value; where each ends."""
    times, values = curves.times + 0.0, curves.values + 0.0  # −0 is 0
    curve = np.repeat(np.arange(len(curves.counts)), curves.counts)
    order = np.lexsort((values, times, curve))
    return times[order], values[order], np.cumsum(curves.counts)


def _numbers(rows: RowTable) -> Array:
    """All numbers of every record (n, columns), what is none as one kind of NaN."""
    table = rows.covariates
    if rows.values is not None:
        table = np.column_stack([table, rows.values])
    return np.ascontiguousarray(np.where(np.isnan(table), np.nan, table + 0.0))


def _ends_of_rows(table: Array) -> Integers:
    return np.asarray(np.arange(1, len(table) + 1) * table.shape[1])


def _pieces(ends: Integers, *columns: Array | Integers) -> Iterator[bytes]:
    """The bytes of the numbers of each record, column after column."""
    first = 0
    for end in ends.tolist():
        yield b"".join(column[first:end].tobytes() for column in columns)
        first = end


def _filled(records: Iterator[bytes]) -> tuple[bytes, ...]:
    return tuple(record for record in records if record)


def _ids(ids: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(name.strip().casefold().encode() for name in ids)


def _coarse(values: Array) -> tuple[Array, Array]:
    """Values with so many digits each, as whole numbers and powers of ten."""
    size = np.floor(np.log10(np.maximum(np.abs(values), 1e-290)))
    return np.rint(values / 10.0 ** (size - _DIGITS + 1)) + 0.0, size


def _shapes(values: Array, ends: Integers) -> tuple[Integers, Integers]:
    """Of curves with three values or more that differ: the ends, and the values in cells."""
    # `counts` are (curves,), `starts` those of curves that have values, all else is (values,).
    counts = np.diff(ends, prepend=0)
    starts = (ends - counts)[counts > 0]
    low, high = (np.repeat(end.reduceat(values, starts), counts[counts > 0])
                 for end in (np.minimum, np.maximum))
    has_shape = (high > low) & (np.repeat(counts, counts) >= _FEWEST)
    cells = np.floor((values[has_shape] - low[has_shape]) / (high - low)[has_shape] * _CELLS
                     + _OFFSET)
    sizes = np.add.reduceat(has_shape.astype(np.int64), starts)
    return np.cumsum(sizes), cells.astype(np.int64)
