"""Summaries of accelerometers by GGIR: hours of the day (part 2), days of the week (part 5)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.uploads.devices.format import (
    Columns,
    DeviceExport,
    DeviceObservations,
    Format,
    lacking,
    numbers,
    only,
)

_WINDOW = re.compile(r"^(?:ad_)?mean_(?P<metric>\w+)_mg_(?P<low>[0-9.]+)-(?P<high>[0-9.]+)hr$")
_LONGEST = 12  # hours of a window
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _windows(header: Sequence[str]) -> dict[str, float]:
    """Column → middle of its window of the day, for the first metric; no long windows."""
    matches = {name: match for name in header if (match := _WINDOW.match(name))}
    metric = next(iter(matches.values()))["metric"]
    ends = {name: (float(match["low"]), float(match["high"])) for name, match in matches.items()
            if match["metric"] == metric}
    return {name: (low + high) / 2 for name, (low, high) in ends.items() if high - low <= _LONGEST}


class GgirHours(Format):
    """GGIR part 2: mean acceleration in windows of the day, a row per day or per person."""

    export = DeviceExport("GGIR part 2")
    units = ("acceleration (mg)",)
    notes = ("acceleration of each window of the day stands at the middle of the window",)

    def fits(self, header: Sequence[str]) -> bool:
        """Whether it has windows of the day and names people."""
        return "id" in header and any(_WINDOW.match(name) for name in header)

    def needs(self, header: Sequence[str]) -> list[str]:
        """People, dates, and the windows of one metric."""
        windows = _windows(header)
        if len(windows) < 2:
            raise lacking(self.export.name, "windows of the day",
                          "Run GGIR with qwindow = 0:24, so that every hour has a column.")
        return ["id", *["calendar_date"] * ("calendar_date" in header), *windows]

    def observations(self, columns: Columns) -> DeviceObservations:
        """All windows of all days."""
        windows, people = _windows([*columns]), columns["id"]
        n, k = len(people), len(windows)
        days = columns.get("calendar_date", pa.array([""] * n, pa.string()))
        return DeviceObservations(
            np.repeat([*windows.values()], n),
            np.concatenate([numbers(columns[name]) for name in windows])[:, np.newaxis],
            pa.concat_arrays([days] * k), pa.concat_arrays([people] * k))


class GgirDays(Format):
    """GGIR part 5: acceleration of each waking day, by day of the week."""

    export = DeviceExport("GGIR part 5")
    time = "day"
    units = ("acceleration (mg)",)
    notes = ("days are numbered by the day of the week: Monday is 1 and Sunday 7",)
    _needed = ("id", "window_number", "weekday", "acc_day_mg")

    def fits(self, header: Sequence[str]) -> bool:
        """Whether it has windows with days of the week and their acceleration."""
        return set(self._needed) <= set(header)

    def needs(self, header: Sequence[str]) -> list[str]:
        """People, windows, days of the week and acceleration."""
        return [*self._needed]

    def observations(self, columns: Columns) -> DeviceObservations:
        """The mean acceleration of waking hours on each day."""
        day = pc.index_in(pc.utf8_lower(columns["weekday"]), value_set=pa.array(_WEEK))
        columns, day = only(columns, day.is_valid()), day.drop_null()
        return DeviceObservations(1.0 + np.asarray(day), numbers(columns["acc_day_mg"])[:, None],
                                  columns["window_number"], columns["id"])
