"""Green Button CSV: electricity of a household in intervals, as utilities give it to customers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.types import Array
from engine.uploads.devices.format import (
    Columns,
    DeviceExport,
    DeviceObservations,
    Format,
    column_of_ids,
    hours_of_day,
    lacking,
    numbers,
    only,
    people_in,
)

_PER_KWH = {"kwh": 1.0, "wh": 1e-3}


class GreenButton(Format):
    """Energy of each interval, read as the mean power in it."""

    export = DeviceExport("Green Button")
    units = ("power (kW)",)
    minutes = 0.5  # quarters of an hour have their middles there
    notes = ("energy of an interval is read as its mean power, which stands at its middle",)
    _needed = ("date", "start time", "end time")

    def fits(self, header: Sequence[str]) -> bool:
        """Whether it has dates, starts and ends of intervals, and usage or import."""
        return set(self._needed) <= set(header) and _usage(header) != ""

    def needs(self, header: Sequence[str]) -> list[str]:
        """Intervals, energy with its unit, what was delivered, and households."""
        return [*self._needed, _usage(header), *[name for name in ("units", "type")
                                                 if name in header], *column_of_ids(header)]

    def observations(self, columns: Columns) -> DeviceObservations:
        """All intervals of electricity."""
        if "type" in columns:
            gas = pc.match_substring(columns["type"], "gas", ignore_case=True)
            columns = only(columns, pc.invert(gas))
        start, end = (hours_of_day(columns[name]) for name in self._needed[1:])
        minutes = np.round((end - start) % 24 * 60)
        # An hour runs from 00:00 to 00:59, or to 01:00 where utilities write the next start.
        hours = (minutes + (minutes % 5 == 4)) / 60
        hours[hours == 0] = np.nan
        power = numbers(columns[_usage([*columns])]) * self._in_kwh(columns) / hours
        return DeviceObservations((start + hours / 2) % 24, power[:, None], columns["date"],
                                  people_in(columns))

    def _in_kwh(self, columns: Columns) -> float | Array:
        """What energy is multiplied by, for each row or for all."""
        usage = _usage([*columns])
        for unit, factor in _PER_KWH.items():
            if f"({unit})" in usage:
                return factor
        if "units" not in columns:
            return 1.0
        index = pc.index_in(pc.utf8_lower(columns["units"]), value_set=pa.array([*_PER_KWH]))
        if index.null_count:
            raise lacking(self.export.name, "unit of energy that is read, kWh or Wh",
                          "Export electricity, by the hour or shorter.")
        factors: Array = np.array([*_PER_KWH.values()])[np.asarray(index)]
        return factors


def _usage(header: Sequence[str]) -> str:
    """The column of energy that was used; "" where there is none."""
    return next((name for name in header if name.split(" (")[0] in ("usage", "import")), "")
