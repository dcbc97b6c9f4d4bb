"""The result of a reader of one format: observations of people by the hour of the day."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.types import Array
from engine.uploads.cells import NUMBER
from engine.uploads.limits import refused

Columns = Mapping[str, pa.Array]  # text without blanks at the ends, by names in lower case
_IDS = (
    "subject_id",
    "subject id",
    "patient_id",
    "patient id",
    "participant_id",
    "participant id",
    "person_id",
    "person id",
    "subject",
    "participant",
    "usubjid",
    "id",
)
_CLOCK = (
    r"(?:^|[T ])(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::[0-9.]+)?"
    r"\s*(?P<half>[AaPp]\.?[Mm])?"
)


class DeviceObservations(NamedTuple):
    """Observations in the order of the file."""

    hours: Array  # (N,) of the day, or the day of the week; NaN where unknown
    values: Array  # (N, units), in each unit of the format; NaN where a cell holds no number
    days: pa.Array  # (N,) of text: dates, or whatever tells days apart
    people: pa.Array | None  # (N,) of text; None where the file names nobody


class Format(ABC):
    """One kind of export; headers are in lower case and without blanks at the ends."""

    name: ClassVar[str]
    time: ClassVar[str] = "hour"
    minutes: ClassVar[float] = 1  # to which times of the day are rounded, so that days meet
    units: ClassVar[Sequence[str]]  # names of the columns of values, the usual unit first
    notes: ClassVar[Sequence[str]] = ()

    @abstractmethod
    def fits(self, header: Sequence[str]) -> bool:
        """Return True if a line is the header of such an export."""

    @abstractmethod
    def needs(self, header: Sequence[str]) -> list[str]:
        """Return the columns that are read, of a header that fits."""

    @abstractmethod
    def observations(self, columns: Columns) -> DeviceObservations:
        """Return the observations below a header, from the columns that are needed."""


def column_of_ids(header: Sequence[str]) -> list[str]:
    """Return the column that names people, in a list; an empty one where there is none."""
    return [name for name in _IDS if name in header][:1]


def people_in(columns: Columns) -> pa.Array | None:
    """Return the column that names people; None where there is none."""
    return next((columns[name] for name in column_of_ids([*columns])), None)


def starting(header: Sequence[str], start: str) -> str:
    """Return the first column whose name begins so; "" where none does."""
    return next((name for name in header if name.startswith(start)), "")


def hours_of_day(text: pa.Array) -> Array:
    """Return the hours of the day of times, or of dates with times; NaN where there is none.

    >>> hours_of_day(pa.array(["2024-01-15T13:30:00", "01-15-2024 1:30 PM", "?"]))
    array([13.5, 13.5,  nan])
    """
    parts = pc.extract_regex(text, _CLOCK)
    hour, minute = (
        np.asarray(
            pc.cast(pc.struct_field(parts, name), pa.float64()).to_numpy(zero_copy_only=False),
            dtype=float,
        )
        for name in ("hour", "minute")
    )
    half = pc.utf8_lower(pc.utf8_slice_codeunits(pc.struct_field(parts, "half"), 0, 1))
    is_am, is_pm = (np.asarray(pc.equal(half, letter).fill_null(False)) for letter in "ap")
    hour = np.where(is_am | is_pm, hour % 12 + 12 * is_pm, hour)
    return np.asarray(hour + minute / 60)


def numbers(text: pa.Array) -> Array:
    """Return the numbers in cells, with decimal points or commas; NaN where there is none.

    >>> numbers(pa.array(["5,6", "Low"]))
    array([5.6, nan])
    """
    dotted = pc.replace_substring(pc.utf8_lower(text), ",", ".")
    plain = pc.if_else(pc.match_substring_regex(dotted, f"^{NUMBER}$"), dotted, None)
    return np.asarray(pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False), dtype=float)


def days_of(text: pa.Array) -> pa.Array:
    """Return the dates at the beginning of cells."""
    return pc.utf8_slice_codeunits(text, 0, 10)


def only(columns: Columns, rows: pa.Array) -> dict[str, pa.Array]:
    """Return the columns in some rows."""
    return {name: column.filter(rows) for name, column in columns.items()}


def lacking(name: str, columns: str, hint: str) -> InputError:
    """Return the refusal of an export without what it is read for."""
    return refused(f"This {name} export has no {columns}.", hint)
