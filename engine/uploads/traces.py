"""By which bytes data and single people are known again: of all observations, and coarse ones.

Nothing of it is ever published: it is as private as the data.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.core.identity import Integers
from engine.core.types import Array

TELLING = 0.9  # of all traces of a kind must differ
_DIGITS = 6  # of a value in a trace
_FEWEST = 3  # values of a curve that has a shape
_CELLS, _OFFSET = 1e5, 0.4142135623730951  # of a shape; common fractions are no borders of cells


def pieces(ends: Integers, *columns: Array | Integers) -> Iterator[bytes]:
    """The bytes of the numbers of each record, column after column.

    Parameters
    ----------
    ends : (n,)
        Where the numbers of each end.
    columns : (N,)
        Numbers, record after record.
    """
    first = 0
    for end in ends.tolist():
        yield b"".join(column[first:end].tobytes() for column in columns)
        first = end


def filled(records: Iterator[bytes]) -> tuple[bytes, ...]:
    """Those that hold anything."""
    return tuple(record for record in records if record)


def traces_of_ids(ids: tuple[str, ...]) -> tuple[bytes, ...]:
    """Of the ids of a file, without spaces around and without case."""
    return tuple(name.strip().casefold().encode() for name in ids)


def coarse(values: Array) -> tuple[Array, Array]:
    """Values with so many digits each, as whole numbers and powers of ten."""
    size = np.floor(np.log10(np.maximum(np.abs(values), 1e-290)))
    return np.rint(values / 10.0 ** (size - _DIGITS + 1)) + 0.0, size


def shapes(values: Array, ends: Integers) -> tuple[Integers, Integers]:
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
