"""Exports of continuous glucose monitors: Dexcom Clarity, LibreView, Nightscout.

What a monitor writes as low or high, because it lies beyond what it can measure, is read as the end
of its range.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.types import Array
from engine.core.units import GLUCOSE
from engine.uploads.devices.format import (
    Columns,
    DeviceExport,
    DeviceObservations,
    Format,
    column_of_ids,
    days_of,
    hours_of_day,
    lacking,
    numbers,
    only,
    people_in,
    starting,
)

MG_PER_MMOL = GLUCOSE["mg/dL"]
UNITS = ("glucose (mg/dL)", "glucose (mmol/L)")
_LOW = pa.array(["low", "lo"])
_HIGH = pa.array(["high", "hi"])


def in_both_units(text: pa.Array, is_mmol: bool, ends: tuple[float, float]) -> Array:
    """Cells in mg/dL and mmol/L (N, 2); NaN where they hold no number.

    Parameters
    ----------
    text : array of text
    is_mmol : bool
        Whether the cells are in mmol/L.
    ends : pair of float
        What a monitor measures at least and at most, in mg/dL.

    Examples
    --------
    >>> in_both_units(pa.array(["10", "Low"]), True, (40, 400))[:, 0]
    array([180.156,  40.   ])
    """
    word, mg = pc.utf8_lower(text), numbers(text) * (MG_PER_MMOL if is_mmol else 1.0)
    for words, end in zip((_LOW, _HIGH), ends, strict=True):
        mg = np.where(np.asarray(pc.is_in(word, value_set=words)), end, mg)
    return np.stack([mg, mg / MG_PER_MMOL], axis=-1)


class _Monitor(Format):
    """A row of one type per observation, with its time and its glucose in a stated unit."""

    units = UNITS
    _time: str
    _type: str
    _value: str
    _sensor: str  # the type of rows that the sensor makes by itself
    _ends: tuple[float, float]

    def fits(self, header: Sequence[str]) -> bool:
        """Whether it has times, types of rows and glucose."""
        return (self._type in header and starting(header, self._time) != ""
                and starting(header, self._value) != "")

    def needs(self, header: Sequence[str]) -> list[str]:
        """Times, types, glucose and people."""
        return [starting(header, self._time), self._type, starting(header, self._value),
                *column_of_ids(header)]

    def observations(self, columns: Columns) -> DeviceObservations:
        """What the sensor measured; meals, insulin, alerts and finger sticks are left out."""
        columns = only(columns, pc.equal(columns[self._type], self._sensor))
        time, value = (starting([*columns], start) for start in (self._time, self._value))
        return DeviceObservations(
            hours_of_day(columns[time]),
            in_both_units(columns[value], "mmol" in value, self._ends), days_of(columns[time]),
            people_in(columns))


class Clarity(_Monitor):
    """Dexcom Clarity: rows of the type EGV, every five minutes."""

    export = DeviceExport("Dexcom Clarity")
    minutes = 5
    notes = ("“Low” and “High” are read as 40 and 400 mg/dL, the ends of what is measured",)
    _time, _type, _value, _sensor = "timestamp", "event type", "glucose value", "EGV"
    _ends = (40, 400)


class LibreView(_Monitor):
    """LibreView: rows of type 0, which the sensor stores every quarter of an hour."""

    export = DeviceExport("LibreView")
    minutes = 15
    notes = ("glucose that the sensor stores by itself is read; scans are left out, because people "
             "choose when to scan",
             "“LO” and “HI” are read as 40 and 500 mg/dL, the ends of what is measured")
    _time, _type, _value, _sensor = "device timestamp", "record type", "historic glucose", "0"
    _ends = (40, 500)


class Nightscout(Format):
    """Nightscout: entries with sensor glucose in mg/dL, as CSV with a header or as JSON."""

    export = DeviceExport("Nightscout")
    units = UNITS
    minutes = 5
    notes = ("times with a Z are moved by their utcOffset, or are UTC where there is none",
             "entries below 13 are error codes of the sensor and left out")
    _least = 13
    _needed = ("sgv", "datestring")

    def fits(self, header: Sequence[str]) -> bool:
        """Whether it has sensor glucose and dates as text."""
        return set(self._needed) <= set(header)

    def needs(self, header: Sequence[str]) -> list[str]:
        """Glucose, times, offsets and people; its own id names an entry."""
        people = column_of_ids([name for name in header if name != "id"])
        return [*self._needed, *["utcoffset"] * ("utcoffset" in header), *people]

    def observations(self, columns: Columns) -> DeviceObservations:
        """Sensor glucose; finger sticks and calibrations have none and are left out."""
        is_sensor = ~(numbers(columns["sgv"]) < self._least)
        columns = only(columns, pc.and_(pa.array(is_sensor), pc.not_equal(columns["sgv"], "")))
        times = columns["datestring"]
        hours = hours_of_day(times)
        if "utcoffset" in columns:
            offset = np.nan_to_num(numbers(columns["utcoffset"])) / 60
            is_utc = np.asarray(pc.ends_with(pc.utf8_upper(times), "Z"))
            hours = np.where(is_utc, (hours + offset) % 24, hours)
        return DeviceObservations(hours, in_both_units(columns["sgv"], False, (40, 400)),
                                  days_of(times), people_in(columns))

    def columns_of(self, entries: Sequence[object]) -> Columns:
        """Entries as columns of text.

        Parameters
        ----------
        entries : sequence
            From JSON; what is no entry of a sensor is left out.

        Raises
        ------
        InputError
            If none is one.
        """
        rows = [{str(name).casefold(): value for name, value in entry.items()}
                for entry in entries if isinstance(entry, dict) and "sgv" in entry]
        if not rows:
            raise lacking(self.export.name, "sensor glucose (sgv)",
                          "Export entries, not treatments or profiles.")
        return {name: pa.array([str(row.get(name, "")) for row in rows], pa.string())
                for name in (*self._needed, "utcoffset")}
