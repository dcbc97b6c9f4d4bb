"""The table of a release as CSV: written with a plain header, and read as any version wrote it.

A header of fixed names lets any program read the file: `time` (or `place`, of a feature) and of a
surface `time2`, `function` first where there are several, then `value` and, with a band, `low` and
`high`. Names with units are in the guarantee card and in `datapackage.json`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import InputError
from engine.core.tasks import Argument
from engine.core.types import Array
from engine.language.grammar import safe_cell
from engine.release.published import Published

TEXT_COLUMN = "function"


class ReleasedTable(NamedTuple):
    """One function of a release as its table holds it."""

    name: str  # empty where there is only one
    x: Array  # (k,)
    value: Array  # (k,)
    band: tuple[Array, Array] | None  # lower and upper ends, (k,) each


def table_of(release: Published) -> dict[str, Sequence[Any]]:
    """Collect the columns of a release, each function after the one before."""
    functions, x = release.functions, release.x
    place = "time" if release.argument in (Argument.TIME, Argument.TWO_TIMES) else "place"
    names = list(release.columns)
    rows: dict[str, list[Any]] = {}
    if len(names) > 1 and not functions.is_surface:
        rows[TEXT_COLUMN] = [name for name in names for _ in x]
    if release.axis:
        rows[place] = [each for _ in names for each in x]
    if functions.is_surface:
        rows["time2"] = [second for second in x for _ in x]
    rows["value"] = [each for name in names for each in release.columns[name]]
    if release.ranges:
        for k, end in enumerate(("low", "high")):
            rows[end] = [each for name in names for each in release.ranges[name][k]]
    return dict(rows)


def written(columns: Mapping[str, Iterable[Any]]) -> bytes:
    """Write columns as CSV: a row of names, then numbers with ten digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in columns])
    writer.writerows(
        [safe_cell(each) if isinstance(each, str) else f"{each:.10g}" for each in row]
        for row in zip(*columns.values(), strict=True)
    )
    return out.getvalue().encode()


def read(content: bytes) -> list[ReleasedTable]:
    """Read the functions of a table, by its own header or by that of earlier versions."""
    try:
        text = content.decode()
        header, *rows = csv.reader(line for line in text.splitlines() if line[:1] != "#")
        if not rows or any(len(row) != len(header) for row in rows):
            raise ValueError
        if TEXT_COLUMN not in header and not {"value"} <= {*header}:
            return _earlier(header, np.array(rows, dtype=float))
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
        names = columns.get(TEXT_COLUMN, ("",) * len(rows))
        numbers = {
            name: np.array(cells, dtype=float)
            for name, cells in columns.items()
            if name != TEXT_COLUMN
        }
        return [_function(name, numbers, np.array(names) == name) for name in dict.fromkeys(names)]
    except (UnicodeDecodeError, ValueError, KeyError, csv.Error):
        raise InputError(
            "This is no table of a release.",
            field="table",
            hint="It is the file release.csv of a release.",
        ) from None


def _function(name: str, columns: Mapping[str, Array], chosen: Array) -> ReleasedTable:
    if not all(np.isfinite(numbers).all() for numbers in columns.values()):
        raise ValueError
    x = next((columns[place] for place in ("time", "place") if place in columns), None)
    value = columns["value"][chosen]
    band = (columns["low"][chosen], columns["high"][chosen]) if "low" in columns else None
    return ReleasedTable(name, np.zeros(len(value)) if x is None else x[chosen], value, band)


def _earlier(header: Sequence[str], rows: Array) -> list[ReleasedTable]:
    """Read the columns of version 0.9.0: places, then each function and the ends of its band."""
    if not np.isfinite(rows).all():
        raise ValueError
    tables, column = [], 1
    while column < len(header):
        has_band = column + 2 < len(header) and header[column + 1].startswith(header[column] + ",")
        band = (rows[:, column + 1], rows[:, column + 2]) if has_band else None
        name = header[column] if column > 1 or column + 1 + 2 * has_band < len(header) else ""
        tables.append(ReleasedTable(name, rows[:, 0], rows[:, column], band))
        column += 3 if has_band else 1
    return tables
