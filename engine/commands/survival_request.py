"""A request for a release of survival, from options of the command line and the names of columns.

Nothing is inferred from the rows of the file: of its lines only the first, with the names of
columns, is read. Whatever the options leave open is a gap, which the release refuses.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

from engine.commands import arguments
from engine.core.errors import InputError
from engine.uploads.reading_of_files import EACH_START, Order

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_LONGEST_HEADER = 262_144  # bytes


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options that state a table with one time of each person."""
    of_table = parser.add_argument_group(
        "survival from a table",
        "in place of a request: release events.csv --id patient --time days --status end --event "
        "death --follow-up 1095 --unit days --origin “the protocol” --epsilon 1",
    )
    for name, what in (
        ("id", "column that names people; without it every row is another person"),
        ("time", "column of times, or of dates"),
        ("status", "column of how a time ended"),
        ("entry", "column at which observation began: late entry, while times count from 0"),
        ("without", "column of the last visit without the event; --time is the first one with it"),
        ("start", "column from which each person's time counts: time since start"),
        ("group", "column of groups"),
        ("unit", "unit of the times"),
        ("origin", "public source of the follow-up"),
    ):
        of_table.add_argument(f"--{name}", help=what)
    of_table.add_argument(
        "--event", action="append", default=[], help="text of the status that is an event"
    )
    of_table.add_argument(
        "--groups", default="", metavar="A,B", help="texts of the groups, in their order"
    )
    of_table.add_argument(
        "--group-sizes", default="", metavar="N,N", help="public sizes of the groups"
    )
    of_table.add_argument(
        "--group-weights", default="", metavar="W,W", help="for one curve adjusted for the groups"
    )
    of_table.add_argument(
        "--dates",
        choices=[order.value for order in (Order.YMD, Order.DMY, Order.MDY)],
        help="times are dates in this order",
    )
    of_table.add_argument(
        "--edges", default="", metavar="E,E", help="edges of unequal intervals, or times of visits"
    )
    of_table.add_argument("--follow-up", type=float, metavar="H", help="planned follow-up")
    of_table.add_argument(
        "--epsilon", type=arguments.number(1e-6, 1e6), metavar="E", help="ε of the release"
    )


def is_table(file: str) -> bool:
    """True if a file is a table and no request, by its name."""
    return Path(file).suffix.lower() in _SEPARATORS


def text(options: argparse.Namespace) -> str:
    """The request that the options state, as JSON."""
    for name, value in (("time", options.time), ("status", options.status or options.without)):
        if not value:
            raise InputError(
                f"Name the column of the {name}.", field=name, hint=f"For example --{name} end."
            )
    if options.epsilon is None:
        raise InputError("State ε.", field="epsilon", hint="For example --epsilon 1.")
    if options.start and options.entry and not options.dates:
        raise InputError(
            "Numbers have a start or an entry.",
            field="start",
            hint="--entry for late entry, or --start for time since start.",
        )
    path = Path(options.file)
    data: dict[str, Any] = {
        "file": path.name,
        "reading": {
            "frame": {
                "encoding": "utf-8",
                "separator": _SEPARATORS[path.suffix.lower()],
                "header": _header(path),
            },
            "person": {"column": options.id} if options.id else {"rows": True},
            "columns": _columns(options),
            "several": "join",
        },
        "facts": {
            name: value
            for name, value in (
                ("time_high", options.follow_up),
                ("time_unit", options.unit),
                ("origin", options.origin),
            )
            if value is not None
        },
        **{
            name: [kind(part) for part in stated.split(",")]
            for name, stated, kind in (
                ("group_sizes", options.group_sizes, _whole),
                ("group_weights", options.group_weights, _number),
                ("edges", options.edges, _number),
            )
            if stated
        },
    }
    return json.dumps(
        {
            "version": 1,
            "name": options.name or path.stem,
            "data": data,
            "mechanism": {"key": "noisy_counts", "parameters": {}},
            "budgets": [{"epsilon": options.epsilon}],
        }
    )


def _columns(options: argparse.Namespace) -> dict[str, Any]:
    kind = {"kind": "date", "order": options.dates} if options.dates else {"kind": "number"}
    columns: dict[str, Any] = {
        role: {"name": name, **kind}
        for role in ("time", "entry", "without", "start")
        if (name := getattr(options, role))
    }
    if "start" in columns and not options.dates:
        columns["start"]["from"] = EACH_START
    if options.status:
        columns["status"] = {
            "name": options.status,
            "kind": "word",
            "words": {text: text if text != "0" else "event" for text in options.event},
            "other": "censored",
        }
    if options.group:
        words = {name: name for name in options.groups.split(",") if name}
        columns["group"] = {"name": options.group, "kind": "word", "words": words}
        columns["group"]["other"] = "missing"
    return columns


def _header(path: Path) -> list[str]:
    """The names of columns: the first line of the file, and no other."""
    try:
        with path.open("rb") as file:
            line = file.readline(_LONGEST_HEADER)
        decoded = line.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            "The first line of the table cannot be read as UTF-8 text.", field="file"
        ) from None
    return next(csv.reader([decoded], delimiter=_SEPARATORS[path.suffix.lower()]), [])


def _number(part: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise InputError(
            "A list of numbers has commas between them.", field="group_weights", hint="0.5,0.5"
        ) from None


def _whole(part: str) -> int:
    number = _number(part)
    if not number.is_integer():
        raise InputError("Sizes of groups are whole numbers.", field="group_sizes")
    return int(number)
