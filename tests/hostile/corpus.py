"""Inputs that somebody could bring to break something, for every door: made by a script and a seed.

A case is refused in a sentence, or is answered. `python -m tests.hostile.corpus` runs all of them,
each in a process of its own, and prints the time and memory of the worst.
"""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import resource
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.__main__ import main
from engine.uploads import bounded
from pages.shared.state import links
from tests import files
from tests.hostile.workbooks import WORKBOOKS
from tests.waiting import PATIENCE

SEED = 20
_STARTED = multiprocessing.get_context("forkserver")
_STARTED.set_forkserver_preload([__name__])
ROOT = Path(__file__).parents[2]
SECRET = b"73731.25"  # a reading, in every table that has readings
SECRET_ID = b"Zaphodella"
_HEADER = b"id,time,value\n"
_ROW = SECRET_ID + b",1," + SECRET + b"\n"
DATA = _HEADER + b"".join(
    b"%s%d,%d,%d\n" % (SECRET_ID, k, age, 80 + age) for k in range(20) for age in range(3, 9)
)
MAX = 19_900_000  # bytes, just below the limit of a file
DEEP = 100_000
MAX_MEGABYTES = (
    800  # of a process: the engine itself, 400 for reading, and as much for what follows
)

FACTS = {
    "value_low": 60,
    "value_high": 210,
    "time_low": 2,
    "time_high": 18,
    "origin": "a chart",
    "design": {"law": "even"},
    "observations_per_curve": 6,
}
READING = {
    "frame": {"header": ["id", "time", "value"], "separator": ",", "encoding": "utf-8"},
    "person": {"column": "id", "list": "a register"},
    "columns": {"time": {"name": "time"}, "value": {"name": "value"}},
}
REQUEST = {
    "version": 1,
    "name": "growth",
    "data": {"file": "data", "reading": READING, "facts": FACTS},
    "mechanism": {"key": "bernstein", "parameters": {}},
    "budgets": [{"epsilon": 2.0}],
}
SCENARIO = {
    "source": {"key": "sparse_curves", "parameters": {"n_curves": 20}},
    "mechanism": {"key": "adaptive_mean", "parameters": {}},
    "budgets": [{"epsilon": 1.0, "delta": 0.001}],
    "repeats": 1,
    "draws": 1,
    "seed": 1,
}


@dataclass(frozen=True)
class Case:
    """One input at one door.

    `inputs` are files by name, made when they are asked for; `arguments` those of the command line,
    or the link. `codes` are the exit codes that are right; `is_heavy` says that it takes seconds.
    """

    door: str
    name: str
    arguments: tuple[str, ...]
    inputs: dict[str, Callable[[], bytes]]
    codes: tuple[int, ...] = (2,)
    is_heavy: bool = False
    stdin: Callable[[], bytes] | None = None

    def __str__(self) -> str:
        return f"{self.door}: {self.name}"


def in_order() -> list[Case]:
    """The request and the scenario from which the others are made: nothing is wrong with them."""
    return [
        Case(
            "request",
            "in order",
            ("release", "input.json", "--ledger", "ledger"),
            {"input.json": lambda: json.dumps(REQUEST).encode(), "data": lambda: DATA},
            (0,),
        ),
        Case(
            "scenario",
            "in order",
            ("run", "input.json"),
            {"input.json": lambda: json.dumps(SCENARIO).encode()},
            (0,),
        ),
    ]


def cases(seed: int = SEED) -> list[Case]:
    """All of them, in a fixed order."""
    rng = np.random.default_rng(seed)
    return [*_files(rng), *_scenarios(rng), *_requests(rng), *_arguments(), *_links(rng)]


def few(seed: int = SEED) -> list[Case]:
    """About a tenth: those that cost little, evenly from all doors."""
    return [case for case in cases(seed) if not case.is_heavy and case.stdin is None][::8]


# -- files ----------------------------------------------------------------------------------------


def _texts(rng: np.random.Generator) -> dict[str, tuple[Callable[[], bytes], bool]]:
    notes = b"# Privacy Curves\n"
    table = _HEADER + _ROW
    small: dict[str, bytes] = {
        "nothing": b"",
        "blank lines": b"\n \r\n\t\n",
        "a header alone": _HEADER,
        "one column": b"value\n" + SECRET,
        "zeros": table + b"\x00" * 1000,
        "control characters": table + bytes(range(1, 32)) * 50,
        "an open quotation mark": table + b'"' + _ROW * 3,
        "quotation marks alone": _HEADER + b'"' * 999,
        "rows of other lengths": table + SECRET + b"\n" + b"1,2,3,4\n",
        "invalid UTF-8": table + b"\xff\xfe\xfd\n",
        "an UTF-16 mark without text": b"\xff\xfe",
        "an odd UTF-16": b"\xff\xfe" + table,
        "a broken UTF-32": b"\xff\xfe\x00\x00" + table,
        "surrogates": table + "\ud800".encode("utf-8", "surrogatepass"),
        "two names alike": b"id,time,value,VALUE\n" + _ROW,
        "2001 columns": b",".join([b"c"] * 2001) + b"\n",
        "a header of accents": b"id,time,value" + "\u0301".encode() * 20_000 + b"\n" + _ROW,
        "an id of accents": _HEADER
        + SECRET_ID
        + "\u0301\u0323".encode() * 50_000
        + b",1,"
        + SECRET
        + b"\n",
        "numbers that are words": _HEADER + SECRET_ID + b",one,two\n",
        "numbers beyond floating point": _HEADER + SECRET_ID + b",1e400,-1e400\n" + _ROW,
        "numbers of many digits": _HEADER
        + SECRET_ID
        + b","
        + b"9" * 10_000
        + b","
        + SECRET
        + b"\n",
        "decimal commas": b"id;time;value\n" + SECRET_ID + b";1,5;73731,25\n",
        "dates": _HEADER + SECRET_ID + b",2024-01-31,12:30\n",
        "formulas": _HEADER + b"=cmd|' /C calc'!A0,1," + SECRET + b"\n",
        "a page": b"<!doctype html><table>" + SECRET,
        "a document": b"%PDF-1.7\n" + SECRET,
        "XML": b"<?xml?>" + SECRET,
        "a picture": b"\x89PNG\r\n\x1a\n\x00" + SECRET,
        "a pickle": b"\x80\x04\x95\x00\x00cos\nsystem\n.",
        "gzip": b"\x1f\x8b\x08\x00" + SECRET,
        "an old workbook": b"\xd0\xcf\x11\xe0" + SECRET * 99,
        "only notes": notes + b"#\n" * 99,
        "notes without an end": notes[:-1] + b"#" * 999,
        "another archive": files.zip_of(a_dot_csv=table),
        "no archive": b"PK\x03\x04" + SECRET * 9,
        "names of a script language": b"__proto__,constructor,value\n"
        + SECRET_ID
        + b",1,"
        + SECRET
        + b"\n",
        "separators in turn": b"a,b;c|d\te\n" * 1000,
        "lines ended by U+2028": "id,time,value\u2028a,1,2\u2028".encode() * 2,
        "a bell in each id": _HEADER + b"".join(b"a\x07%d,1,2\n" % k for k in range(10)),
        "digits of other scripts": "id,time,value\na,1_0,\u0663\nb,0x10,\uff11\uff12\n".encode(),
        "numbers of other languages": _HEADER + b"a,0x1p3,1'000\nb,1e-400,-0\n",
        "noise": rng.bytes(5000),
        "one cell per line of noise": b"\n".join(base64.b64encode(rng.bytes(9)) for _ in range(99)),
        "a person with too much": _HEADER
        + b"".join(b"%s,%d.5,1\n" % (SECRET_ID, k) for k in range(10_001)),
        "names of a formula language": b"{{7*7}},${7*7},%s%n\n" + _ROW,
        "lone carriage returns": _HEADER.replace(b"\n", b"\r") + _ROW.replace(b"\n", b"\r"),
        "nothing but separators": b",,,\n" * 99,
    }
    heavy: dict[str, Callable[[], bytes]] = {
        "notes to the limit": lambda: notes + b"#\n" * (MAX // 2 - 99),
        "notes without an end to the limit": lambda: notes[:-1] + b"#" * (MAX - 99),
        "notes above a table": lambda: notes + b"#\n" * (MAX // 2 - 99) + table,
        "returns in notes": lambda: notes[:-1] + b"\r#" * (MAX // 2 - 99),
        "quotation marks": lambda: _HEADER + b'"' * MAX,
        "pairs of quotation marks": lambda: _HEADER + b'"",' * (MAX // 3),
        "an open mark to the limit": lambda: table + b'"' + _ROW * (MAX // len(_ROW) - 9),
        "short rows": lambda: _HEADER + b"a\n" * (MAX // 2),
        "empty rows": lambda: _HEADER + b"\n" * MAX,
        "separators": lambda: (
            b",".join(b"c%d" % k for k in range(200))
            + b"\n"
            + (b"," * 199 + b"\n") * (MAX // 200 - 9)
        ),
        "cells beyond the limit": lambda: _HEADER + b"1,1,1\n" * (MAX // 6 - 9),
        "a person in each row": lambda: (
            _HEADER + b"".join(b"%x,1,2\n" % k for k in range(1_300_000))
        ),
        "words for numbers": lambda: _HEADER + b"1,2024-01-01,1\n" * (MAX // 15 - 9),
        "no UTF-8 anywhere": lambda: _HEADER + b"\xff" * MAX,
        "one line": lambda: b"a" * MAX,
        "one cell": lambda: _HEADER + SECRET_ID + b",1," + b"9" * (MAX - 99),
        "accents to the limit": lambda: (
            _HEADER + b"a" + "\u0301\u0323".encode() * (MAX // 4 - 99) + b",1,1\n"
        ),
        "ids with accents": lambda: (
            _HEADER + "".join(f"{k:x}e\u0301\u0323,1,1\n" for k in range(1_000_000)).encode()
        ),
        "UTF-32": lambda: (
            "id,time,value\n".encode("utf-32") + "é,1,1\n".encode("utf-32-le") * (MAX // 24 - 9)
        ),
        "zeros to the limit": lambda: _HEADER + b"\x00" * MAX,
        "larger than the limit": lambda: _ROW * 1_200_000,
        "quotation marks in UTF-16": lambda: (
            b"\xff\xfe" + ('"' * (MAX // 2 - 99)).encode("utf-16-le")
        ),
        "noise to the limit": lambda: np.random.default_rng(0).bytes(MAX),
    }
    return {
        **{name: (lambda c=content: c, False) for name, content in small.items()},
        **{name: (make, True) for name, make in heavy.items()},
    }


def _files(rng: np.random.Generator) -> list[Case]:
    """Each file by a reading, which refuses it, and by those who look and propose one."""
    made = {**_texts(rng), **{f"workbook, {name}": pair for name, pair in WORKBOOKS.items()}}
    request = json.dumps(REQUEST).encode()
    commands = {
        "release": ("release", "request.json", "--ledger", "ledger"),
        "look": ("look", "data", "-o", "picture.svg"),
        "propose": ("propose", "data", "-o", "reading.json"),
    }
    return [
        Case(
            "file",
            f"{command} {name}",
            words,
            {"request.json": lambda: request, "data": make},
            (2,) if command == "release" else (0, 2),
            is_heavy,
        )
        for name, (make, is_heavy) in made.items()
        for command, words in commands.items()
    ]


# -- JSON: scenarios, views and requests ----------------------------------------------------------


def _broken_json(noun: dict) -> dict[str, bytes]:
    """Texts that are no JSON, or more than is wanted, around a valid object."""
    text = json.dumps(noun)
    return {
        "empty": b"",
        "a zero": b"\x00",
        "a number": b"3",
        "a list": b"[]",
        "null": b"null",
        "a word": b'"x"',
        "half": text[: len(text) // 2].encode(),
        "UTF-16": text.encode("utf-16"),
        "not UTF-8": b"\xff" + text.encode(),
        "nested lists": b"[" * DEEP,
        "nested and closed lists": b"[" * DEEP + b"]" * DEEP,
        "nested objects": b'{"a":' * DEEP,
        "nested in place": text.replace("1", "[" * 5000 + "]" * 5000, 1).encode(),
        "escapes without an end": b'"' + b"\\" * 900_001,
        "quotation marks": b'"' * 900_000,
        "too long": text.encode() + b" " * 1_000_001,
        "a key twice": text[:-1].encode() + b"," + text[1:].encode(),
        "half a pair": text.replace("{", '{"\\ud800": 1,', 1).encode(),
        "NaN": text.replace("1", "NaN", 1).encode(),
        "Infinity": text.replace("1", "-Infinity", 1).encode(),
        "a number of 401 digits": text.replace("1", "1" + "0" * 400, 1).encode(),
        "a number of 100000 digits": text.replace("1", "9" * DEEP, 1).encode(),
        "1e999": text.replace("1", "1e999", 1).encode(),
        "an unknown key": text.replace("{", '{"x": 1,', 1).encode(),
        "a key of 100000 letters": text.replace("{", '{"%s": 1,' % ("x" * DEEP), 1).encode(),
    }


_VALUES: list[object] = [
    None,
    True,
    -1,
    10**400,
    1e308,
    1e-320,
    "",
    "x" * 5000,
    "\x00",
    "\x1b[31m",
    [],
    [1],
    {},
    {"key": 1},
    "../../etc/passwd",
    "$\\href{x}{y}$",
]


def _changed(plain: dict, path: tuple, value: object) -> bytes:
    """The object with another value in one place; whole numbers are written out in full."""
    plain = json.loads(json.dumps(plain))
    place = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(plain).encode()


def _scenarios(rng: np.random.Generator) -> list[Case]:
    made = {f"scenario that is {name}": text for name, text in _broken_json(SCENARIO).items()}
    paths = [
        ("source",),
        ("source", "key"),
        ("source", "parameters"),
        ("source", "parameters", "n_curves"),
        ("mechanism",),
        ("mechanism", "key"),
        ("budgets",),
        ("budgets", 0),
        ("budgets", 0, "epsilon"),
        ("budgets", 0, "delta"),
        ("repeats",),
        ("seed",),
        ("version",),
        ("axes",),
    ]
    for path in paths:
        for k in rng.choice(len(_VALUES), 4, replace=False):
            made[f"{'.'.join(map(str, path))} = value {k}"] = _changed(SCENARIO, path, _VALUES[k])
    for name, axes in {
        "no list": {"budgets.epsilon": 1},
        "no values": {"budgets.epsilon": []},
        "no such axis": {"x.y": [1]},
        "too many cells": {"source.n_curves": list(range(2, 300)), "budgets.epsilon": [1.0] * 300},
        "a key": {"source.key": ["x"]},
        "a huge value": {"source.n_curves": [10**400]},
        "an ε that is none": {"budgets.epsilon": ["x"]},
        "a deep path": {"source." + "a." * 5000: [1]},
    }.items():
        made[f"axes: {name}"] = _changed(SCENARIO, ("axes",), axes)
    commands = ("run", "plan", "run", "run")
    found = [
        Case(
            "scenario",
            name,
            (commands[k % 4], "input.json"),
            {"input.json": lambda t=text: t},
            (0, 2),
        )
        for k, (name, text) in enumerate(made.items())
    ]
    found += [
        Case(
            "scenario",
            f"view that is {name}",
            ("show", "input.json"),
            {"input.json": lambda t=text: t},
            (0, 2),
        )
        for name, text in list(_broken_json({"view": "curves", "scenario": SCENARIO}).items())[::3]
    ]
    for name, view in {
        "no words": {},
        "a view that is a list": {"view": []},
        "a lesson that is none": {"view": "lesson", "lesson": "x", "seed": 1},
        "a person that is none": {"view": "curves", "scenario": SCENARIO, "person": 3},
        "a target beyond": {
            "view": "plan",
            "scenario": SCENARIO,
            "unknown": "epsilon",
            "target": 1e308,
        },
        "a rate that is a number": {"view": "rate", "rate": 3, "point": {}},
        "sites that are words": {"view": "sites", "scenario": SCENARIO, "sites": "x"},
    }.items():
        found.append(
            Case(
                "scenario",
                f"view: {name}",
                ("show", "input.json"),
                {"input.json": lambda v=view: json.dumps(v).encode()},
            )
        )
    found += [
        Case(
            "scenario",
            "standard input without an end",
            ("run", "-"),
            {},
            stdin=lambda: b" " * 30_000_000,
        ),
        Case("scenario", "nothing at standard input", ("plan", "-"), {}, stdin=lambda: b""),
        Case(
            "scenario",
            "an audit of no scenario",
            ("audit", "--scenario", "input.json"),
            {"input.json": lambda: b"[" * DEEP},
        ),
    ]
    return found


def _requests(rng: np.random.Generator) -> list[Case]:
    made = {
        f"request that is {name}": text for name, text in list(_broken_json(REQUEST).items())[::2]
    }
    may_be_right = set[str]()
    paths = [
        ("name",),
        ("data",),
        ("data", "file"),
        ("data", "facts"),
        ("data", "facts", "value_low"),
        ("data", "facts", "time_high"),
        ("data", "facts", "origin"),
        ("data", "facts", "design"),
        ("data", "facts", "design", "law"),
        ("data", "facts", "observations_per_curve"),
        ("mechanism",),
        ("budgets",),
        ("budgets", 0, "epsilon"),
        ("data", "reading"),
        ("data", "reading", "frame"),
        ("data", "reading", "frame", "header"),
        ("data", "reading", "frame", "separator"),
        ("data", "reading", "person"),
        ("data", "reading", "person", "column"),
        ("data", "reading", "columns"),
        ("data", "reading", "columns", "value", "unit"),
        ("data", "reading", "paired"),
        ("source",),
    ]
    for path in paths:
        for k in rng.choice(len(_VALUES), 3, replace=False):
            name = f"{'.'.join(map(str, path))} = value {k}"
            made[name] = _changed(REQUEST, path, _VALUES[k])
            if isinstance(_VALUES[k], str):  # which a name, a source or a unit may be
                may_be_right.add(name)
    for name, file in {
        "a device": "/dev/zero",
        "memory": "/proc/self/mem",
        "the kernel": "/proc/kmsg",
        "a folder": ".",
        "a zero in its name": "data\0.csv",
        "a name that is too long": "x" * 5000,
        "a pipe": "pipe",
        "a link to itself": "loop",
        "terminal": "/dev/tty",
        "a number": 7,
        "passwords": "/etc/shadow",
    }.items():
        made[f"file: {name}"] = _changed(REQUEST, ("data", "file"), file)
    for name, columns in {
        "a number": {"time": 3},
        "a list": {"time": [{"name": "time"}]},
        "covariates that are a word": {"covariates": "time"},
        "a column twice": {"time": {"name": "id"}, "value": {"name": "id"}},
        "none": {"time": None},
        "no such column": {"time": {"name": "time"}, "value": {"name": "height"}},
        "an object": {"server": {"a": 1}},
        "a kind that is none": {"value": {"name": "value", "kind": "\x1b[31m"}},
        "words that are none": {"value": {"name": "value", "words": {SECRET.decode(): [1]}}},
        "a name that is long": {"value": {"name": "v" * 99_999}},
    }.items():
        made[f"columns: {name}"] = _changed(REQUEST, ("data", "reading", "columns"), columns)
    made["a hundred thousand budgets"] = _changed(
        REQUEST, ("budgets",), [{"epsilon": 1.0}] * 100_000
    )
    made["a million coefficients"] = _changed(
        REQUEST, ("mechanism", "parameters"), {"degree": 10**6}
    )
    return [
        Case(
            "request",
            name,
            ("release", "input.json", "--ledger", "ledger"),
            {"input.json": lambda t=text: t, "data": lambda: DATA},
            (0, 2) if name in may_be_right else (2,),
        )
        for name, text in made.items()
    ] + [
        Case(
            "request",
            f"ledger: {name}",
            ("release", "input.json", "--ledger", "ledger", "--yes"),
            {
                "input.json": lambda: json.dumps(REQUEST).encode(),
                "data": lambda: DATA,
                "ledger": lambda t=text: _database(t),
            },
        )
        for name, text in _DATABASES.items()
    ]


_DATABASES = {  # of somebody else, as a script of SQL
    "a view without an end": "create view entries as with recursive r(n) as (select 1 union all select n + 1 from r) "
    "select * from r",
    "a trigger": "create table entries(number, text, seal); create trigger t after insert on entries "
    "begin delete from entries; end",
    "an empty database": "create table x(y); drop table x",
}


def _database(script: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "database")
        connection.executescript(script)
        connection.close()
        return (Path(folder) / "database").read_bytes()


# -- the command line -----------------------------------------------------------------------------


def _arguments() -> list[Case]:
    small, huge = json.dumps(SCENARIO).encode(), "1" + "0" * 400
    refused: dict[str, tuple[str, ...]] = {
        "a file that is none": ("run", "nothing.json"),
        "a zero in a name": ("run", "a\ud800"),
        "an empty name": ("run", ""),
        "a device": ("run", "/dev/zero"),
        "noise": ("plan", "/dev/urandom"),
        "memory": ("run", "/proc/self/mem"),
        "the kernel": ("show", "/proc/kcore"),
        "a folder": ("run", "."),
        "a pipe": ("run", "pipe"),
        "a socket": ("plan", "socket"),
        "a link to itself": ("show", "loop"),
        "a link to a device": ("run", "zero"),
        "a name that is too long": ("run", "x" * 5000),
        "a path of steps": ("run", "../" * 3000 + "x"),
        "a table": ("run", "table.csv"),
        "repeats": ("run", "input.json", "--repeats", huge),
        "no repeats": ("run", "input.json", "--repeats", "0"),
        "a seed": ("run", "input.json", "--seed", huge),
        "a seed below zero": ("run", "input.json", "--seed", "-1"),
        "no executor": ("run", "input.json", "--executor", "x" * 5000),
        "too many processes": ("run", "input.json", "--executor", "processes:99999999999"),
        "no minutes": ("run", "input.json", "--limit-minutes", "nan"),
        "minutes below zero": ("run", "input.json", "--limit-minutes", "-1"),
        "no gigabytes": ("run", "input.json", "--limit-gigabytes", "0"),
        "parts on a device": ("run", "input.json", "--resume", "/dev/full"),
        "parts in a file": ("run", "input.json", "--resume", "table.csv"),
        "parts in the kernel": ("run", "input.json", "--resume", "/proc/x"),
        "parts in no name": ("run", "input.json", "--resume", "x" * 5000),
        "an unknown dial": ("plan", "input.json", "--unknown", "x"),
        "a target": ("plan", "input.json", "--target", huge),
        "no target": ("plan", "input.json", "--target", "nan"),
        "a target below zero": ("plan", "input.json", "--target", "-1"),
        "a tiny target": ("plan", "input.json", "--target", "1e-320"),
        "no mechanism": ("audit", "x" * 5000),
        "no variant": ("audit", "--broken", "\x1b[31m"),
        "an ε that is none": ("audit", "frl", "--epsilon", "nan"),
        "an ε beyond": ("audit", "frl", "--epsilon", "1e308"),
        "a tiny ε": ("audit", "frl", "--epsilon", "1e-320"),
        "tries": ("audit", "frl", "--tries", huge),
        "no tries": ("audit", "frl", "--tries", "0"),
        "runs": ("audit", "frl", "--runs", "-5"),
        "seconds": ("audit", "frl", "--seconds", "nan"),
        "a seed of an audit": ("audit", "frl", "--seed", "-1"),
        "an audit of a device": ("audit", "--scenario", "/dev/zero"),
        "no exhibit": ("exhibit", "x/" * 999),
        "an exhibit onto a device": ("exhibit", "sparse_federated/budget", "--out", "/dev/full"),
        "an exhibit into a file": ("exhibit", "sparse_federated/budget", "--out", "table.csv"),
        "an exhibit into the kernel": ("exhibit", "sparse_federated/budget", "--out", "/proc/1"),
        "no command": (),
        "an unknown command": ("x",),
        "an unknown option": ("run", "input.json", "--x"),
        "both shapes": ("run", "input.json", "--json", "--csv"),
        "a release of a device": ("release", "/dev/zero", "--ledger", "ledger"),
        "a release of a pipe": ("release", "pipe", "--ledger", "ledger"),
        "a release of a scenario of simulated data": (
            "release",
            "input.json",
            "--ledger",
            "ledger",
        ),
        "an address for a file": ("run", "http://127.0.0.1:1/x.json"),
        "a pattern for a file": ("run", "*.json"),
        "a file of words": ("run", "@input.json"),
        "digits that are none": ("run", "input.json", "--executor", "processes:\u00b2"),
        "half a host": ("run", "input.json", "--executor", "dask://[::1"),
        "a port beyond": ("run", "input.json", "--executor", "dask://127.0.0.1:99999"),
        "a release again of no number": ("release", "--again", "' or 1=1 --", "--ledger", "ledger"),
        "three thousand files": ("run", *["input.json"] * 3000),
    }
    inputs = {"input.json": lambda: small, "table.csv": lambda: _HEADER + _ROW}
    return [Case("arguments", name, words, inputs) for name, words in refused.items()]


# -- links ----------------------------------------------------------------------------------------


def _links(rng: np.random.Generator) -> list[Case]:
    words = [
        "epsilon",
        "c.n_curves",
        "m.rounds",
        "seed",
        "delta",
        "c",
        "budgets",
        "sites",
        "network",
        "shown",
        "methods",
        "open",
        "sweep.repeats",
        "look.x",
        "target",
        "people",
        "point",
        "view",
        "example",
        "along",
        "lesson",
    ]
    values = [
        "1e400",
        "-1",
        "nan",
        "inf",
        "1e-320",
        "9" * 3900,
        "",
        "\x00",
        "\ud800",
        "x" * 3000,
        "[x](javascript:0)",
        "%00",
        "..",
        "1_1_1",
        "True",
        "none",
        "٣",
        "1e308",
        "[[[[",
        "{}",
        "-",
        "--",
        "~",
        "1.5",
        "0x10",
    ]
    made = [
        "~" * 5000,
        "-" * 5000,
        "~".join(["epsilon-1"] * 2000),
        "c-sparse_curves~c.n_curves-" + "9" * 400,
        "c-hormone_study~c.site_sizes-" + ",".join(["999999999"] * 300),
        "sites-" + "_".join(["1.1.1"] * 900),
        "budgets-" + "_".join(["1"] * 1900),
        "network-" + ".".join(["9" * 20] * 150),
        "shown-" + "." * 3900,
        "\ud800\udfff",
        "\x00",
        "c-" + "c-" * 1900,
        "",
        "%ff%fe%00~c-%80",
        "c-" + "\u0301" * 3000,
        "c-sparse_curves~c.n_curves.real.imag-1",
        "c.__class__-1~m.__init__.__globals__-1",
    ]
    while len(made) < 50:
        made.append(
            "~".join(f"{rng.choice(words)}-{rng.choice(values)}" for _ in range(rng.integers(1, 6)))
        )
    return [Case("link", f"link {k}", (token,), {}, (0,)) for k, token in enumerate(made)]


# -- running one ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """What became of a case, with the processor time and the largest memory of its processes."""

    code: int
    output: str
    seconds: float
    megabytes: float


def prepared(case: Case, folder: Path) -> None:
    """The files of a case, and what is no file, in a folder."""
    os.mkfifo(folder / "pipe")
    os.mknod(folder / "socket", 0o600 | stat.S_IFSOCK)
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    for name, make in case.inputs.items():
        (folder / name).write_bytes(make())


def run(case: Case, folder: Path) -> Ran:
    """Run a case in a process of its own, forked from one that has loaded the engine alone."""
    prepared(case, folder)
    with tempfile.TemporaryDirectory() as name:
        stdin, output = Path(name, "stdin"), Path(name, "output")
        stdin.write_bytes(b"" if case.stdin is None else case.stdin())
        process = _STARTED.Process(
            target=_live, args=(case.door, case.arguments, folder, stdin, output)
        )
        process.start()
        process.join(PATIENCE)
        process.kill()
        process.join()
        *said, usage = output.read_text(errors="replace").split("\nUSAGE ")
    if not said:
        return Ran(process.exitcode, usage, 0.0, 0.0)
    spent, _, fault = usage.partition("\n")  # what follows it is a fault of this script
    seconds, megabytes = map(float, spent.split())
    return Ran(process.exitcode, "".join(said) + fault, seconds, megabytes)


def _live(door: str, words: tuple[str, ...], folder: Path, stdin: Path, output: Path) -> None:
    """One case, with a minute of processor time and 3 GB; its last line tells what it took."""
    with stdin.open("rb") as read, output.open("wb") as written:
        for file, number in ((read, 0), (written, 1), (written, 2)):
            os.dup2(file.fileno(), number)
    sys.stdin = os.fdopen(0)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
    try:
        code = answer(door, [*words])
    finally:
        sys.stdout.flush()
        bounded._WORKER._worker.kill()  # so that its memory counts
        # What `resource` says of a process begins with its parent's.
        status = Path("/proc/self/status").read_text()
        own, others = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        seconds = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
        most = max(int(status.split("VmHWM:")[1].split()[0]), others.ru_maxrss)
        print(f"\nUSAGE {seconds:.1f} {most / 1000:.0f}", flush=True)
    sys.exit(code)


def answer(door: str, words: list[str]) -> int:
    """The exit code of a case, in this process and folder."""
    return _link(words[0]) if door == "link" else _command(words)


def _command(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as end:  # of the parser of arguments
        return int(end.code or 0)


def _link(token: str) -> int:
    chosen, problems = links.decode(token)
    again, none = links.decode(links.encode(chosen))
    print(len(problems))
    return 0 if again == chosen and not none else 1


def assert_held(case: Case, ran: Ran, folder: Path) -> None:
    """It ended as it should, in words, and shows neither data nor the machine."""
    assert ran.code in case.codes, (ran.code, ran.output[-2000:])
    assert "Traceback" not in ran.output and "on our side" not in ran.output, ran.output[-2000:]
    for secret in (SECRET.decode(), SECRET_ID.decode(), str(folder), str(ROOT)):
        assert secret not in ran.output, ran.output[-2000:]
    assert len(ran.output) < 20_000
    if 2 in case.codes and ran.code == 2:
        assert ran.output.strip()


def worst() -> None:
    """Run all cases and print the worst, by processor time and by memory."""
    ran = []
    for case in cases():
        with tempfile.TemporaryDirectory() as name:
            result = run(case, Path(name))
            try:
                assert_held(case, result, Path(name))
            except AssertionError as problem:
                print("FAILED", case, problem, flush=True)
        ran.append((case, result))
    for title, of in (
        ("seconds of processor time", lambda r: r.seconds),
        ("MB", lambda r: r.megabytes),
    ):
        print(f"\n{title}, worst of {len(ran)}")
        for case, result in sorted(ran, key=lambda pair: -of(pair[1]))[:15]:
            print(f"  {of(result):8.1f}  {case}")


if __name__ == "__main__":
    worst()
