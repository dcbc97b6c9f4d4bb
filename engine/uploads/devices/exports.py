"""The exports of devices that are known.

What a glucose monitor writes as low or high, because it lies beyond what it can measure, is read as
the end of its range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.types import Array
from engine.core.units import GLUCOSE
from engine.uploads.devices.format import (
    Columns,
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

# -- continuous glucose monitors -------------------------------------------------------------------


MG_PER_MMOL = GLUCOSE["mg/dL"]
UNITS = ("glucose (mg/dL)", "glucose (mmol/L)")
_LOW = pa.array(["low", "lo"])
_HIGH = pa.array(["high", "hi"])


def _in_both_units(text: pa.Array, is_mmol: bool, ends: tuple[float, float]) -> Array:
    """Cells in mg/dL and mmol/L (N, 2); NaN where they hold no number.

    `ends` are what a monitor measures at least and at most, in mg/dL.

    >>> _in_both_units(pa.array(["10", "Low"]), True, (40, 400))[:, 0]
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
        return (
            self._type in header
            and starting(header, self._time) != ""
            and starting(header, self._value) != ""
        )

    def needs(self, header: Sequence[str]) -> list[str]:
        return [
            starting(header, self._time),
            self._type,
            starting(header, self._value),
            *column_of_ids(header),
        ]

    def observations(self, columns: Columns) -> DeviceObservations:
        columns = only(columns, pc.equal(columns[self._type], self._sensor))
        time, value = (starting([*columns], start) for start in (self._time, self._value))
        return DeviceObservations(
            hours_of_day(columns[time]),
            _in_both_units(columns[value], "mmol" in value, self._ends),
            days_of(columns[time]),
            people_in(columns),
        )


class Clarity(_Monitor):
    """Dexcom Clarity: rows of the type EGV, every five minutes."""

    name = "Dexcom Clarity"
    minutes = 5
    notes = ("“Low” and “High” are read as 40 and 400 mg/dL, the ends of what is measured",)
    _time, _type, _value, _sensor = "timestamp", "event type", "glucose value", "EGV"
    _ends = (40, 400)


class LibreView(_Monitor):
    """LibreView: rows of type 0, which the sensor stores every quarter of an hour."""

    name = "LibreView"
    minutes = 15
    notes = (
        "glucose that the sensor stores by itself is read; scans are left out, because people "
        "choose when to scan",
        "“LO” and “HI” are read as 40 and 500 mg/dL, the ends of what is measured",
    )
    _time, _type, _value, _sensor = "device timestamp", "record type", "historic glucose", "0"
    _ends = (40, 500)


class Nightscout(Format):
    """Nightscout: entries with sensor glucose in mg/dL, as CSV with a header or as JSON."""

    name = "Nightscout"
    units = UNITS
    minutes = 5
    notes = (
        "times with a Z are moved by their utcOffset, or are UTC where there is none",
        "entries below 13 are error codes of the sensor and left out",
    )
    _lowest_reading = 13
    _needed = ("sgv", "datestring")

    def fits(self, header: Sequence[str]) -> bool:
        return set(self._needed) <= set(header)

    def needs(self, header: Sequence[str]) -> list[str]:
        people = column_of_ids([name for name in header if name != "id"])
        return [*self._needed, *["utcoffset"] * ("utcoffset" in header), *people]

    def observations(self, columns: Columns) -> DeviceObservations:
        is_sensor = ~(numbers(columns["sgv"]) < self._lowest_reading)
        columns = only(columns, pc.and_(pa.array(is_sensor), pc.not_equal(columns["sgv"], "")))
        times = columns["datestring"]
        hours = hours_of_day(times)
        if "utcoffset" in columns:
            offset = np.nan_to_num(numbers(columns["utcoffset"])) / 60
            is_utc = np.asarray(pc.ends_with(pc.utf8_upper(times), "Z"))
            hours = np.where(is_utc, (hours + offset) % 24, hours)
        return DeviceObservations(
            hours,
            _in_both_units(columns["sgv"], False, (40, 400)),
            days_of(times),
            people_in(columns),
        )

    def columns_of(self, entries: Sequence[object]) -> Columns:
        """Return entries of JSON as columns of text; those of no sensor are left out."""
        rows = [
            {str(name).casefold(): value for name, value in entry.items()}
            for entry in entries
            if isinstance(entry, dict) and "sgv" in entry
        ]
        if not rows:
            raise lacking(
                self.name, "sensor glucose (sgv)", "Export entries, not treatments or profiles."
            )
        return {
            name: pa.array([str(row.get(name, "")) for row in rows], pa.string())
            for name in (*self._needed, "utcoffset")
        }


# -- summaries of accelerometers by GGIR: hours of the day (part 2), days of the week (part 5) -----


_WINDOW = re.compile(r"^(?:ad_)?mean_(?P<metric>\w+)_mg_(?P<low>[0-9.]+)-(?P<high>[0-9.]+)hr$")
_LONGEST = 12  # hours of a window
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _windows(header: Sequence[str]) -> dict[str, float]:
    """Column → middle of its window of the day, for the first metric; no long windows."""
    matches = {name: match for name in header if (match := _WINDOW.match(name))}
    metric = next(iter(matches.values()))["metric"]
    ends = {
        name: (float(match["low"]), float(match["high"]))
        for name, match in matches.items()
        if match["metric"] == metric
    }
    return {name: (low + high) / 2 for name, (low, high) in ends.items() if high - low <= _LONGEST}


class GgirHours(Format):
    """GGIR part 2: mean acceleration in windows of the day, a row per day or per person."""

    name = "GGIR part 2"
    units = ("acceleration (mg)",)
    notes = ("acceleration of each window of the day stands at the middle of the window",)

    def fits(self, header: Sequence[str]) -> bool:
        return "id" in header and any(_WINDOW.match(name) for name in header)

    def needs(self, header: Sequence[str]) -> list[str]:
        windows = _windows(header)
        if len(windows) < 2:
            raise lacking(
                self.name,
                "windows of the day",
                "Run GGIR with qwindow = 0:24, so that every hour has a column.",
            )
        return ["id", *["calendar_date"] * ("calendar_date" in header), *windows]

    def observations(self, columns: Columns) -> DeviceObservations:
        windows, people = _windows([*columns]), columns["id"]
        n, k = len(people), len(windows)
        days = columns.get("calendar_date", pa.array([""] * n, pa.string()))
        return DeviceObservations(
            np.repeat([*windows.values()], n),
            np.concatenate([numbers(columns[name]) for name in windows])[:, np.newaxis],
            pa.concat_arrays([days] * k),
            pa.concat_arrays([people] * k),
        )


class GgirDays(Format):
    """GGIR part 5: acceleration of each waking day, by day of the week."""

    name = "GGIR part 5"
    time = "day"
    units = ("acceleration (mg)",)
    notes = ("days are numbered by the day of the week: Monday is 1 and Sunday 7",)
    _needed = ("id", "window_number", "weekday", "acc_day_mg")

    def fits(self, header: Sequence[str]) -> bool:
        return set(self._needed) <= set(header)

    def needs(self, header: Sequence[str]) -> list[str]:
        return [*self._needed]

    def observations(self, columns: Columns) -> DeviceObservations:
        day = pc.index_in(pc.utf8_lower(columns["weekday"]), value_set=pa.array(_WEEK))
        columns, day = only(columns, day.is_valid()), day.drop_null()
        return DeviceObservations(
            1.0 + np.asarray(day),
            numbers(columns["acc_day_mg"])[:, None],
            columns["window_number"],
            columns["id"],
        )


# -- Green Button CSV: electricity in intervals, as utilities give it to customers -----------------


_PER_KWH = {"kwh": 1.0, "wh": 1e-3}


class GreenButton(Format):
    """Energy of each interval, read as the mean power in it."""

    name = "Green Button"
    units = ("power (kW)",)
    minutes = 0.5  # quarters of an hour have their middles there
    notes = ("energy of an interval is read as its mean power, which stands at its middle",)
    _needed = ("date", "start time", "end time")

    def fits(self, header: Sequence[str]) -> bool:
        return set(self._needed) <= set(header) and _usage(header) != ""

    def needs(self, header: Sequence[str]) -> list[str]:
        return [
            *self._needed,
            _usage(header),
            *[name for name in ("units", "type") if name in header],
            *column_of_ids(header),
        ]

    def observations(self, columns: Columns) -> DeviceObservations:
        if "type" in columns:
            gas = pc.match_substring(columns["type"], "gas", ignore_case=True)
            columns = only(columns, pc.invert(gas))
        start, end = (hours_of_day(columns[name]) for name in self._needed[1:])
        minutes = np.round((end - start) % 24 * 60)
        # An hour runs from 00:00 to 00:59, or to 01:00 where utilities write the next start.
        hours = (minutes + (minutes % 5 == 4)) / 60
        hours[hours == 0] = np.nan
        power = numbers(columns[_usage([*columns])]) * self._in_kwh(columns) / hours
        return DeviceObservations(
            (start + hours / 2) % 24, power[:, None], columns["date"], people_in(columns)
        )

    def _in_kwh(self, columns: Columns) -> float | Array:
        """Return the factor from energy to kWh, for each row or for all."""
        usage = _usage([*columns])
        for unit, factor in _PER_KWH.items():
            if f"({unit})" in usage:
                return factor
        if "units" not in columns:
            return 1.0
        index = pc.index_in(pc.utf8_lower(columns["units"]), value_set=pa.array([*_PER_KWH]))
        if index.null_count:
            raise lacking(
                self.name,
                "unit of energy that is read, kWh or Wh",
                "Export electricity, by the hour or shorter.",
            )
        factors: Array = np.array([*_PER_KWH.values()])[np.asarray(index)]
        return factors


def _usage(header: Sequence[str]) -> str:
    """Find the column of used energy; "" if there is none."""
    return next((name for name in header if name.split(" (")[0] in ("usage", "import")), "")
