"""One person's bytes change that person's record alone, or the file is refused.

The same harness finds the coupling in every rule that looks at a whole column or at several lines;
each stands below as a small reader. Only then is it believed where it finds none.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine import api
from engine.core.errors import InputError
from engine.mechanisms import mechanisms
from engine.numerics.counts.cells import Counted
from engine.release import request
from engine.uploads.bounded import read_people
from engine.uploads.curves import CurveTable
from engine.uploads.events import EventTable
from engine.uploads.people import People
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of, events_of, rows_of
from engine.uploads.rows import RowTable
from tests.property.one_persons_lines import KINDS, PAIRS, Kind, Records, couplings

_BY_NAME = {kind.name: kind for kind in KINDS}
_RECORDS = ("records",)
_EVENTS = ("times and ends", "dates of start and end")
_FILES_EACH = ((1, 8), (1, 12))  # files and variants of each, of other doors and of the page
_FILES_OF_A_RULE = (5, 20)  # in which every rule that looks at more than a line is found


def _records(table: CurveTable | RowTable | EventTable) -> Records:
    """The record of each person, with all that is read of them."""
    ids = table.ids or [""] * len(table.server)
    if isinstance(table, CurveTable):
        ends = np.cumsum(table.counts)
        numbers = np.column_stack([table.times, table.values])
        parts = [numbers[end - count : end] for end, count in zip(ends, table.counts, strict=True)]
        group = [
            "" if table.group is None else table.group_names[table.group[k]]
            for k in range(len(ids))
        ]
        whole = [
            part[np.lexsort(part.T)].tobytes() + table.covariates[k].tobytes() + group[k].encode()
            for k, part in enumerate(parts)
        ]
    elif isinstance(table, EventTable):
        whole = [
            np.array([time, status]).tobytes()
            for time, status in zip(table.time, table.status, strict=True)
        ]
    else:
        whole = [row.tobytes() for row in table.covariates]
    return Counter(zip(ids, whole, strict=True))


def _of(kind: Kind, people: People) -> Records:
    if kind.name in _RECORDS:
        return _records(rows_of(people))
    return _records(
        events_of(people, Counted.OUTCOMES) if kind.name in _EVENTS else curves_of(people)
    )


# -- the doors -------------------------------------------------------------------------------------


def _page(kind: Kind, folder: Path) -> Callable[[bytes], Records]:
    reading = Reading.of(kind.reading)
    return lambda content: _of(kind, read_people(content, reading))


_FACTS = {
    "value_low": 0,
    "value_high": 500,
    "time_low": 0,
    "time_high": 20_000,
    "origin": "a source",
    "observations_per_curve": 3,
    "design": {"law": "even"},
    "symmetric": False,
}


def _data(kind: Kind) -> tuple[dict[str, Any], str]:
    """What a request states of such a file, and the method."""
    reading = {"reading": kind.reading}
    if kind.name in _EVENTS:
        return reading | {"facts": {"time_high": 1000, "origin": "a source"}}, "noisy_counts"
    if kind.name in _RECORDS:
        return reading | {
            "features": [{"name": "a", "low": 0, "high": 100}],
            "facts": {"origin": "a source"},
        }, "iclp"
    covariates = [{"name": "sex", "low": 0, "high": 1}] * (kind.name == "with covariates")
    return reading | {"facts": _FACTS | {"covariates": covariates}}, "adaptive_mean"


def _command_line(kind: Kind, folder: Path) -> Callable[[bytes], Records]:
    data, method = _data(kind)
    plain = {
        "version": 1,
        "name": "n",
        "data": data | {"file": "f.csv"} | ({"group": "A"} if kind.name == "groups" else {}),
        "mechanism": {"key": method, "parameters": {"task": "density"} if method == "iclp" else {}},
        "budgets": [{"epsilon": 1.0, "delta": 1e-6}],
    }
    if method == "noisy_counts":
        plain["budgets"] = [{"epsilon": 1.0, "delta": 0}]
    text = json.dumps(plain)

    def reader(content: bytes) -> Records:
        (folder / "f.csv").write_bytes(content)
        found: Records = Counter()
        for one in request.from_json(text, folder):  # one for each group
            found += _records(one.source.observations)
        return found

    return reader


def _site(kind: Kind, folder: Path) -> Callable[[bytes], Records]:
    data, method = _data(kind)
    mechanism = mechanisms.build(method, {"task": "density"} if method == "iclp" else {})
    return lambda content: _records(request.uploaded(content, data, mechanism).observations)


def _api(kind: Kind, folder: Path) -> Callable[[bytes], Records]:
    path = folder / "f.csv"

    def reader(content: bytes) -> Records:
        path.write_bytes(content)
        if kind.name in _EVENTS:
            return _records(
                api.read_survival(
                    path, reading=kind.reading, follow_up=1000.0, origin="a source"
                ).observations
            )
        return _records(
            api.read_curves(
                path,
                reading=kind.reading,
                values=(0, 500),
                times=(0, 20_000),
                origin="a source",
                design={"law": "even"},
                observations=3,
            ).observations
        )

    return reader


def _frame(kind: Kind, folder: Path) -> Callable[[bytes], Records]:
    """Read the lines that have all cells as rows of a data frame of text."""

    def reader(content: bytes) -> Records:
        header, *lines = (
            line.split(kind.separator) for line in content.decode(kind.encoding).split("\n") if line
        )
        if any(len(line) != len(header) for line in lines):
            raise InputError("No frame.")
        frame = pd.DataFrame(lines, columns=header, dtype=object)
        if kind.name in _EVENTS:
            return _records(
                api.read_survival(
                    frame, reading=kind.reading, follow_up=1000.0, origin="a source"
                ).observations
            )
        return _records(
            api.read_curves(
                frame,
                reading=kind.reading,
                values=(0, 500),
                times=(0, 20_000),
                origin="a source",
                design={"law": "even"},
                observations=3,
            ).observations
        )

    return reader


_DOORS = {
    "page": _page,
    "command line": _command_line,
    "site": _site,
    "API": _api,
    "API of frames": _frame,
}


@pytest.mark.parametrize("door", _DOORS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_one_persons_bytes_change_nobody_elses_record(kind, door, tmp_path):
    if door.startswith("API") and kind.name in _RECORDS:
        pytest.skip("the interface reads no records")
    if door == "API of frames" and (kind.written != "text" or "export" in kind.reading["frame"]):
        pytest.skip("it is no table of text")
    reader = _DOORS[door](kind, tmp_path)
    found, accepted = couplings(kind, reader, InputError, *_FILES_EACH[door == "page"])
    assert found == 0
    assert accepted > 2
    if door == "page":  # one pair for each kind; the slow test has them all
        pair = [*PAIRS.values()][KINDS.index(kind) % len(PAIRS)]
        assert couplings(kind, reader, InputError, 1, 6, pair)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_one_persons_bytes_change_nobody_elses_record_in_two_thousand_files(kind, tmp_path):
    """40 files with 20 variants of any cell, and for each pair as many as find a rule below."""
    reader = _page(kind, tmp_path)
    found, accepted = couplings(kind, reader, InputError, 40, 20)
    assert found == 0
    assert accepted > 100
    assert not any(
        couplings(kind, reader, InputError, *_FILES_OF_A_RULE, pair)[0] for pair in PAIRS.values()
    )


# -- rules that look at more than a line, each of which must be found --------------------------------


def _lines(content: bytes, separator: str = ",") -> list[list[str]]:
    return [line.split(separator) for line in content.decode().split("\n")[1:] if line]


def _float(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _gathered(rows: list[tuple[str, Any]]) -> Records:
    people: dict[str, list[Any]] = {}
    for name, what in rows:
        people.setdefault(name, []).append(what)
    return Counter(
        (name, repr(sorted(map(repr, all_of))).encode()) for name, all_of in people.items()
    )


def _order_by_majority(content: bytes) -> Records:
    """The order of day and month is the one in which more dates are real."""
    lines = [line for line in _lines(content) if len(line) == 3]

    def read(cell: str, day: int) -> tuple[int, int] | None:
        parts = re.fullmatch(r"(\d\d)/(\d\d)/2024", cell)
        if parts is None or not 1 <= int(parts[2 - day]) <= 12:
            return None
        return int(parts[2 - day]), int(parts[1 + day])

    best = max((0, 1), key=lambda day: sum(read(line[1], day) is not None for line in lines))
    return _gathered([(line[0], read(line[1], best)) for line in lines])


def _only_numeric_column(content: bytes) -> Records:
    """The values are the last column in which every cell is a number."""
    lines = [line for line in _lines(content) if len(line) == 4]
    column = max(
        (k for k in (2, 3) if all(_float(line[k]) is not None for line in lines)), default=2
    )
    return _gathered([(line[0], line[column]) for line in lines])


def _decimal_by_majority(content: bytes) -> Records:
    """A comma is a decimal mark where no cell has a point."""
    lines = [line for line in _lines(content, ";") if len(line) == 3]
    has_point = any("." in cell for line in lines for cell in line[1:])
    return _gathered(
        [
            (line[0], [_float(cell.replace(",", "" if has_point else ".")) for cell in line[1:]])
            for line in lines
        ]
    )


def _thousands_by_shape(content: bytes) -> Records:
    """A point stands between thousands where three digits are behind each, and some are whole."""
    lines = [line for line in _lines(content, ";") if len(line) == 3]
    cells = [line[2] for line in lines]
    of_thousands = all(re.fullmatch(r"\d+(\.\d{3})?", cell) for cell in cells) and any(
        cell.isdigit() for cell in cells
    )
    return _gathered(
        [(line[0], _float(line[2].replace(".", "") if of_thousands else line[2])) for line in lines]
    )


def _quotes_over_lines(content: bytes) -> Records:
    """A quoted cell goes on over the end of its line."""
    rows = list(csv.reader(content.decode().replace("\0", "").split("\n")[1:]))
    return _gathered([(row[0], row[1:3]) for row in rows if row])


def _header_or_data(content: bytes) -> Records:
    """The first line is one of data unless some line below has a word where it has one."""
    lines = [line.split(",") for line in content.decode().split("\n") if line]
    has_words = any(_float(cell) is None for line in lines[1:] for cell in line[1:2])
    below = lines[1:] if not has_words else lines
    return _gathered(
        [(line[0], [*line[1:], place == 0 and has_words]) for place, line in enumerate(below)]
        + [("p1", has_words)]
    )


def _codes_far_from_others(content: bytes) -> Records:
    """The largest number is a code for a missing one where it is far above all others."""
    numbers = [(line[0], _float(line[2])) for line in _lines(content) if len(line) == 3]
    known = sorted(number for _, number in numbers if number is not None and abs(number) < 1e9)
    scale = known[-1] - known[0]
    return _gathered(
        [
            (name, number is not None and round((number - known[0]) / scale, 3))
            for name, number in numbers
        ]
    )


def _elapsed_if_beyond_a_day(content: bytes) -> Records:
    """Times are those of a day, unless some pass 24 hours."""
    lines = [line for line in _lines(content) if len(line) == 3]
    hours = [
        int(parts[1]) if (parts := re.fullmatch(r"(\d+):\d\d", line[1])) else 0 for line in lines
    ]
    unit = 60 if max(hours) > 24 else 1
    return _gathered([(line[0], hour * unit) for line, hour in zip(lines, hours, strict=True)])


def _sniffed_separator(content: bytes) -> Records:
    """The separator is the mark that most lines hold equally often."""
    lines = [line for line in content.decode().split("\n")[1:] if line]

    def fitting(mark: str) -> tuple[bool, int]:
        numbers = [line.count(mark) for line in lines]
        return min(numbers) == max(numbers) and min(numbers) > 0, min(numbers)

    mark = max((".", ","), key=fitting)
    return _gathered([(line[:2], line.split(mark)) for line in lines])


def _since_the_first_of_all(content: bytes) -> Records:
    """Times are counted from the earliest of the file."""
    lines = [line for line in _lines(content) if len(line) == 3]
    times = [(line[0], _float(line[1])) for line in lines]
    known = [time for _, time in times if time is not None]
    return _gathered([(name, time is not None and time - min(known)) for name, time in times])


_RULES = {
    "order of dates by majority": (_order_by_majority, "dates by day", "order of day and month"),
    "the only column of numbers": (_only_numeric_column, "two arms", "the only column of numbers"),
    "decimal mark by majority": (_decimal_by_majority, "decimal commas", "decimal mark"),
    "thousands by the shape of all": (
        _thousands_by_shape,
        "three decimals",
        "marks between thousands",
    ),
    "quotes over lines": (_quotes_over_lines, "numbers", "quotes"),
    "header or data": (_header_or_data, "numbers", "the only column of numbers"),
    "codes far from all others": (_codes_far_from_others, "numbers", "codes for missing numbers"),
    "elapsed if beyond a day": (_elapsed_if_beyond_a_day, "clock times", "elapsed times"),
    "a sniffed separator": (_sniffed_separator, "numbers", "separator"),
    "since the first of all": (_since_the_first_of_all, "numbers", "codes for missing numbers"),
}


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_that_looks_at_more_than_a_line_is_found(rule):
    reader, name, pair = _RULES[rule]
    found, _ = couplings(
        _BY_NAME[name],
        reader,
        (ValueError, IndexError, csv.Error, ZeroDivisionError),
        *_FILES_OF_A_RULE,
        PAIRS[pair],
    )
    assert found > 0
