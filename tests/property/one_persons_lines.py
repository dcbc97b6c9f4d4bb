"""Files of many kinds in which the lines of one person are replaced by whatever bytes there are.

A reader is a function from the bytes of a file to records, as (id, bytes) of each person. It
couples people if the records of all others are not among those that it reads once one person's
lines are replaced. Lines that hold the id of somebody else are no replacement: they would be theirs.
"""

from __future__ import annotations

import io
import random
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests import files

Records = Counter[tuple[str, bytes]]
Reader = Callable[[bytes], Records]
PEOPLE = 7

CELLS = (  # in place of a cell: dates, numbers, words and marks that mean something elsewhere
    "13/04/2024",
    "04/13/2024",
    "2024-13-04",
    "2024-04-13",
    "13.04.2024",
    "April 13, 2024",
    "25:10",
    "23:59",
    "1:40:00 PM",
    "2024-01-02T03:04:05+09:00",
    "2024-01-02T03:04:05",
    "20240413",
    "1704067200",
    "1704067200000",
    "1.050",
    "1,050",
    "1,5",
    "1 050",
    "1.5",
    "-999",
    "9999",
    "99",
    "1e5",
    "1E400",
    "inf",
    "-inf",
    "nan",
    "\N{MINUS SIGN}3",
    "12 %",
    "<5",
    "5 mg",
    "",
    " ",
    "NA",
    "n/a",
    ".",
    "none",
    "x",
    "yes",
    "no",
    "f",
    "M",
    "female",
    "1",
    "0",
    "1.0",
    "death",
    "Death ",
    "total",
    "0830",
    "007",
    "\u200b",
    "\u200b1",
    "\ufeff",
    "\u2028",
    "\x0b",
    "\x1f",
    "\x00",
    '"',
    '""',
    '"a',
    'a"',
    '"a"b',
    '"5"',
    '"1\n2"',
    '"x\r"',
    '"a,b;c\td|e"',
    "\n",
    "\r",
    "\r\n",
    ",",
    ";",
    "\t",
    "|",
    " 5 ",
    "\xa0",
    "a" * 300,
    "\u0301" * 40,
)
PAIRS = {  # cells between which a rule on a whole column may change its mind
    "order of day and month": ("13/04/2024", "04/13/2024"),
    "the only column of numbers": ("50", "x"),
    "decimal mark": ("1,5", "1.5"),
    "marks between thousands": ("1.050", "980"),
    "quotes": ('"', '5"'),
    "codes for missing numbers": ("-999", "50"),
    "elapsed times": ("25:10", "9:10"),
    "kind of a column": ("2024-01-02", "12 %"),
    "zone": ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05"),
    "separator": ("1;2", "1\t2"),
    "clock without a colon": ("0830", "5"),
    "words for 0 and 1": ("yes", "m"),
}
LINES = (
    "",
    '"',
    '"\n',
    ",,,",
    "id,time,value",
    "\ufeff",
    "\x00",
    "# note",
    "1",
    "a,b",
    "a;b",
    "sep=;",
    "x\ty\tz",
    '"a\nb","c"',
    "," * 30,
    " ",
    "\u2029",
    "\x85",
    "{}",
    "mg/dL",
    "Subject ID,Timestamp,Event Type,Glucose Value (mmol/L)",
)


class Kind(NamedTuple):
    """A kind of file: its lines of each person, and the complete reading as JSON."""

    name: str
    header: str
    cells: Callable[[random.Random], list[str]]  # of one line, behind the id
    reading: dict[str, Any]
    separator: str = ","
    each: int = 3  # lines of a person
    encoding: str = "utf-8"
    is_named: bool = True  # the first cell is the id
    written: str = (
        "text"  # or a workbook, an archive with a file of each person, or columns of people
    )


class Variant(NamedTuple):
    """A file with other lines of one person."""

    person: str
    others: frozenset[str]
    content: bytes


def variants(
    kind: Kind, seed: int, number: int, cells: tuple[str, ...] = CELLS
) -> Iterator[Variant]:
    """Yield files that differ in the lines of one person, for several people of one file."""
    rng = random.Random(f"{kind.name} {seed}")
    ids = [f"p{k}" for k in range(1, PEOPLE + 1)]
    lines = [
        (who, [*([who] if kind.is_named else []), *kind.cells(rng)])
        for who in ids
        for _ in range(kind.each)
    ]
    rng.shuffle(lines)
    whole = _file(kind, [(who, kind.separator.join(line)) for who, line in lines])
    for turn in range(number):
        person = ids[turn % 3]
        places = [place for place, (who, _) in enumerate(lines) if who == person]
        if not kind.is_named:  # every line is a person
            places = places[:1]
        new = _replaced(kind, rng, [lines[place][1] for place in places], cells)
        texts = [(who, kind.separator.join(line)) for who, line in lines]
        for place, text in zip(places, new, strict=True):
            texts[place] = person, text
        others = frozenset(who for who in ids if who != person)
        if turn < 3:
            yield Variant(person, others, whole)
        if not (kind.is_named and _names_others("\n".join(new), others)):
            yield Variant(person, others, _file(kind, texts))


def _file(kind: Kind, lines: list[tuple[str, str]]) -> bytes:
    return _WRITTEN[kind.written](kind, lines)


def _text(kind: Kind, lines: list[tuple[str, str]]) -> bytes:
    return "\n".join([kind.header, *(text for _, text in lines), ""]).encode(
        kind.encoding, "replace"
    )


def _workbook(kind: Kind, lines: list[tuple[str, str]]) -> bytes:
    """Write a cell of the sheet for each cell of a line: numbers as such, all others as text."""
    rows = [text.split(kind.separator) for _, text in lines]
    return files.sheet(
        kind.header.split(kind.separator),
        *(
            [
                float(cell)
                if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", cell)
                else _NO_CELL.sub("", cell)
                for cell in row
            ]
            for row in rows
        ),
    )


def _archive(kind: Kind, lines: list[tuple[str, str]]) -> bytes:
    """Write the lines of each person, without the id, into a file with that name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for person in dict.fromkeys(who for who, _ in lines):
            own = [text.partition(kind.separator)[2] for who, text in lines if who == person]
            packed.writestr(
                f"{person}.csv", "\n".join([kind.header, *own, ""]).encode(kind.encoding, "replace")
            )
    return out.getvalue()


def _columns(kind: Kind, lines: list[tuple[str, str]]) -> bytes:
    """Write the line of each person as a column: a cell has no line break, which would be a line's."""
    names = kind.header.split(kind.separator)
    cells = [
        [" ".join(cell.splitlines()) for cell in text.split(kind.separator)] for _, text in lines
    ]
    columns = [[*each, *names][: len(names)] for each in cells]
    return "\n".join(
        [kind.separator.join(row) for row in zip(names, *columns, strict=True)] + [""]
    ).encode(kind.encoding, "replace")


_WRITTEN = {"text": _text, "workbook": _workbook, "archive": _archive, "columns": _columns}
_NO_CELL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # characters that no workbook holds


def _names_others(text: str, others: frozenset[str]) -> bool:
    """True if somebody else's id stands in a text, however it is written."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKC", text).casefold()
        if unicodedata.category(letter)[0] not in "CZ"
    )
    return any(name in plain for name in others)


def _replaced(
    kind: Kind, rng: random.Random, lines: list[list[str]], cells: tuple[str, ...]
) -> list[str]:
    """Return other lines for these: the same cell in all, some cells, or anything at all."""
    way = rng.random()
    first = 1 if kind.is_named else 0
    changed = [[*line] for line in lines]
    if way < 0.55:  # one column of all lines, which is what tips a rule on a whole column
        column, cell = rng.randrange(first, len(lines[0])), rng.choice(cells)
        for line in changed:
            line[column] = cell
    elif way < 0.8:
        for line in changed:
            for column in range(len(line)):
                if rng.random() < 0.4:
                    line[column] = (
                        rng.choice(cells) if column >= first else _spelled(line[column], rng)
                    )
    texts = [kind.separator.join(line) for line in changed]
    if way >= 0.8:
        for place, text in enumerate(texts):
            texts[place] = rng.choice(
                (
                    rng.choice(LINES),
                    text + rng.choice(cells),
                    rng.choice(cells) + text,
                    _noise(rng),
                    text[: rng.randrange(len(text) + 1)] + _noise(rng),
                )
            )
    return texts


def _spelled(name: str, rng: random.Random) -> str:
    return rng.choice((name.upper(), f" {name}", f"{name}\u200b", f'"{name}"', "", "\u200b"))


def _noise(rng: random.Random) -> str:
    return "".join(
        chr(rng.choice((rng.randrange(1, 128), rng.randrange(128, 0x2100))))
        for _ in range(rng.randrange(1, 30))
    )


def couplings(
    kind: Kind,
    reader: Reader,
    refused: type[Exception],
    files: int,
    each: int,
    cells: tuple[str, ...] = CELLS,
) -> tuple[int, int]:
    """Count the couplings among the variants of files, and the variants that are not refused."""
    found = accepted = 0
    for seed in range(files):
        first: dict[str, Records] = {}  # of each person, the records of the first file that is read
        for variant in variants(kind, seed, each, cells):
            try:
                records = reader(variant.content)
            except refused:
                continue
            accepted += 1
            kept = first.setdefault(
                variant.person,
                records
                if not kind.is_named
                else Counter(
                    {
                        record: number
                        for record, number in records.items()
                        if record[0] in variant.others
                    }
                ),
            )
            found += bool((kept - records).total() > (0 if kind.is_named else 1))
    return found, accepted


# -- kinds of files --------------------------------------------------------------------------------


def _number(rng: random.Random, low: float = 40, high: float = 60) -> str:
    return f"{rng.uniform(low, high):.2f}"


def _date(rng: random.Random) -> str:
    """A date that is one by either order."""
    return f"{rng.randint(1, 12):02d}/{rng.randint(1, 12):02d}/2024"


def _frame(header: str, separator: str = ",", **more: Any) -> dict[str, Any]:
    return {"encoding": "utf-8", "separator": separator, "header": header.split(separator), **more}


def _long(
    header: str,
    time: dict[str, Any],
    value: dict[str, Any] | None = None,
    separator: str = ",",
    **more: Any,
) -> dict[str, Any]:
    return {
        "frame": _frame(header, separator),
        "person": {"column": "id"},
        "columns": {"time": {"name": "time", **time}, "value": {"name": "value", **(value or {})}},
        "missing": ["", "NA"],
        **more,
    }


_STATUS = {
    "name": "status",
    "kind": "word",
    "words": {"death": "death", "1": "death"},
    "other": "censored",
}
_WIDE = "id,a,b,c"
KINDS = (
    Kind(
        "numbers",
        "id,time,value",
        lambda rng: [_number(rng, 0, 1), _number(rng)],
        _long("id,time,value", {}),
    ),
    Kind(
        "dates by day",
        "id,time,value",
        lambda rng: [_date(rng), _number(rng)],
        _long("id,time,value", {"kind": "date", "order": "dmy", "from": "days since 2024-01-01"}),
    ),
    Kind(
        "dates by month",
        "id,time,value",
        lambda rng: [_date(rng), _number(rng)],
        _long("id,time,value", {"kind": "date", "order": "mdy", "from": "calendar years"}),
    ),
    Kind(
        "stamps since the first",
        "id,time,value",
        lambda rng: [f"2024-01-{rng.randint(1, 28):02d} {rng.randint(0, 23):02d}:30", _number(rng)],
        _long(
            "id,time,value",
            {
                "kind": "date",
                "order": "ymd",
                "offset": "kept",
                "from": "hours since first observation",
            },
            several="average",
        ),
    ),
    Kind(
        "stamps with offsets",
        "id,time,value",
        lambda rng: [f"2024-01-02T{rng.randint(0, 23):02d}:04:05+01:00", _number(rng)],
        _long(
            "id,time,value",
            {"kind": "date", "order": "ymd", "offset": "to UTC", "from": "hours of day"},
        ),
    ),
    Kind(
        "clock times",
        "id,time,value",
        lambda rng: [f"{rng.randint(0, 23)}:{rng.randint(0, 59):02d}", _number(rng)],
        _long("id,time,value", {"kind": "clock"}),
    ),
    Kind(
        "elapsed times",
        "id,time,value",
        lambda rng: [f"{rng.randint(0, 9)}:{rng.randint(0, 59):02d}", _number(rng)],
        _long("id,time,value", {"kind": "elapsed", "from": "minutes"}),
    ),
    Kind(
        "unix seconds",
        "id,time,value",
        lambda rng: [str(rng.randint(1_704_100_000, 1_710_000_000)), _number(rng)],
        _long("id,time,value", {"kind": "date", "order": "unix", "from": "days since 2024-01-01"}),
    ),
    Kind(
        "decimal commas",
        "id;time;value",
        lambda rng: [_number(rng, 0, 1).replace(".", ","), _number(rng).replace(".", ",")],
        _long("id;time;value", {}, separator=";", decimal=","),
        ";",
    ),
    Kind(
        "three decimals",
        "id;time;value",
        lambda rng: [_number(rng, 0, 1), f"{rng.uniform(1, 9):.3f}"],
        _long("id;time;value", {}, separator=";"),
        ";",
    ),
    Kind(
        "percentages",
        "id,time,value",
        lambda rng: [_number(rng, 0, 1), f"{rng.randint(1, 99)} %"],
        _long("id,time,value", {}, {"kind": "percentage"}),
    ),
    Kind(
        "blanks",
        "id time value",
        lambda rng: [_number(rng, 0, 1), _number(rng)],
        _long("id time value", {}, separator=" "),
        " ",
    ),
    Kind(
        "two arms",
        "id,time,left,value",
        lambda rng: [_number(rng, 0, 1), _number(rng), _number(rng, 70, 90)],
        _long("id,time,left,value", {}),
    ),
    Kind(
        "with covariates",
        "id,time,value,sex,note",
        lambda rng: [_number(rng, 0, 1), _number(rng), "f", "a"],
        {
            **_long("id,time,value,sex,note", {}),
            "columns": {
                "time": {"name": "time"},
                "value": {"name": "value"},
                "covariates": [
                    {"name": "sex", "kind": "word", "words": {"f": 0, "m": 1}, "other": "missing"}
                ],
            },
        },
        each=4,
    ),
    Kind(
        "export of a device",
        "Subject ID,Timestamp,Event Type,Glucose Value (mg/dL)",
        lambda rng: [
            f"2024-01-02T{rng.randint(0, 23):02d}:05:00",
            "EGV",
            str(rng.randint(80, 200)),
        ],
        {
            "frame": {"encoding": "utf-8", "export": "Dexcom Clarity"},
            "person": {"column": "Subject ID"},
            "several": "average",
            "columns": {"time": {"name": "hour"}, "value": {"name": "glucose (mg/dL)"}},
        },
    ),
    Kind(
        "groups",
        "id,time,value,arm",
        lambda rng: [_number(rng, 0, 1), _number(rng), "A"],
        {
            **_long("id,time,value,arm", {}),
            "columns": {
                "time": {"name": "time"},
                "value": {"name": "value"},
                "group": {
                    "name": "arm",
                    "kind": "word",
                    "words": {"A": "A", "B": "B"},
                    "other": "left out",
                },
            },
        },
    ),
    Kind(
        "date and clock apart",
        "id,day,clock,value",
        lambda rng: [_date(rng), f"{rng.randint(0, 11)}:30", _number(rng)],
        {
            **_long("id,day,clock,value", {}),
            "columns": {
                "time": {
                    "name": ["day", "clock"],
                    "kind": "date",
                    "order": "dmy",
                    "from": "hours since 2024-01-01",
                },
                "value": {"name": "value"},
            },
        },
    ),
    Kind(
        "curves in rows",
        _WIDE,
        lambda rng: [_number(rng) for _ in range(3)],
        {
            "frame": _frame(_WIDE),
            "person": {"column": "id"},
            "several": "average",
            "columns": {"values": {"at": [["a", 1], ["b", 2], ["c", 3]]}},
        },
        each=2,
    ),
    Kind(
        "rows of nobody",
        "a,b,c",
        lambda rng: [_number(rng) for _ in range(3)],
        {
            "frame": _frame("a,b,c"),
            "person": {"rows": True},
            "columns": {"values": {"at": [["a", 1], ["b", 2], ["c", 3]]}},
        },
        each=1,
        is_named=False,
    ),
    Kind(
        "records",
        "id,a,b",
        lambda rng: [_number(rng), rng.choice("MF")],
        {
            "frame": _frame("id,a,b"),
            "person": {"column": "id"},
            "columns": {
                "features": [
                    {"name": "a"},
                    {"name": "b", "kind": "word", "words": {"F": 0, "M": 1}, "other": "missing"},
                ]
            },
        },
        each=1,
    ),
    Kind(
        "times and ends",
        "id,time,status",
        lambda rng: [_number(rng), rng.choice(["1", "alive"])],
        {
            "frame": _frame("id,time,status"),
            "person": {"column": "id", "form": "number"},
            "columns": {"time": {"name": "time"}, "status": _STATUS},
        },
        each=1,
    ),
    Kind(
        "dates of start and end",
        "id,start,time,status",
        lambda rng: [_date(rng).replace("2024", "2023"), _date(rng), "death"],
        {
            "frame": _frame("id,start,time,status"),
            "person": {"column": "id"},
            "several": "join",
            "columns": {
                "start": {"name": "start", "kind": "date", "order": "dmy"},
                "time": {"name": "time", "kind": "date", "order": "dmy"},
                "status": _STATUS,
            },
        },
        each=1,
    ),
    Kind(
        "cells of a workbook",
        "id,time,value",
        lambda rng: [_number(rng, 0, 1), _number(rng)],
        {
            **_long("id,time,value", {}),
            "frame": {"sheet": "Sheet", "header": ["id", "time", "value"]},
        },
        written="workbook",
    ),
    Kind(
        "dates in a workbook",
        "id,time,value",
        lambda rng: [_date(rng), _number(rng)],
        {
            **_long(
                "id,time,value", {"kind": "date", "order": "dmy", "from": "days since 2024-01-01"}
            ),
            "frame": {"sheet": "Sheet", "header": ["id", "time", "value"]},
        },
        written="workbook",
    ),
    Kind(
        "an archive of exports",
        "Timestamp,Event Type,Glucose Value (mg/dL)",
        lambda rng: [
            f"2024-01-02T{rng.randint(0, 23):02d}:05:00",
            "EGV",
            str(rng.randint(80, 200)),
        ],
        {
            "frame": {"encoding": "utf-8", "export": "Dexcom Clarity"},
            "person": {"file": True},
            "columns": {"time": {"name": "hour"}, "value": {"name": "glucose (mg/dL)"}},
            "several": "average",
        },
        written="archive",
    ),
    Kind(
        "people in columns",
        "time,1,2.5,4",
        lambda rng: [_number(rng) for _ in range(3)],
        {
            "frame": {
                "encoding": "utf-8",
                "separator": ",",
                "header": ["time"],
                "people": "columns",
            },
            "person": {"header": True},
            "missing": ["", "NA"],
            "several": "average",
            "columns": {"time": {"name": "time"}, "values": {"kind": "number"}},
        },
        each=1,
        written="columns",
    ),
    Kind(
        "utf-16",
        "id,time,value",
        lambda rng: [_number(rng, 0, 1), _number(rng)],
        {**_long("id,time,value", {}), "frame": {**_frame("id,time,value"), "encoding": "utf-16"}},
        encoding="utf-16",
    ),
)
