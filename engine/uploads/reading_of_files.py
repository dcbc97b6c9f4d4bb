"""The written reading: how the bytes of a file become people's records, stated before any is read.

    bytes ── frame ──→ lines ── columns ──→ numbers, words, ids ── person ──→ one record a person

Each line is cut by the frame, and each of its cells is read by the entry of its column, and by
nothing else: no sample, majority, minimum or count of a column enters. `engine.uploads.proposal`
may look at the whole file to propose a reading; nothing that is certified calls it.

A reading may have gaps while it is being made (`gaps`); whatever publishes refuses it until they
are filled. As JSON, whole:

{"frame": {"encoding": "utf-8", "separator": ";", "header": ["id", "visit", "cm", "sex", "note"]},
 "person": {"column": "id", "form": "number", "list": "school register"},
 "columns": {"time": {"name": "visit", "kind": "date", "order": "dmy",
                      "from": "years since 2019-01-01"},
             "value": {"name": "cm", "kind": "number", "unit": "cm"},
             "group": {"name": "sex", "kind": "word", "words": {"f": "girls", "m": "boys"},
                       "other": "left out"}},
 "decimal": ",", "missing": ["", "NA"], "several": "keep"}

"covariates" of curves and "features" of records are lists of such columns. Where a row is a curve
"values" takes the place of time and value: {"at": [["week 0", 0], ["week 6", 6]], "kind":
"number"}; where a column is one ("people": "columns" in the frame, whose header names the first
column alone) "time" is that first column and "values" says of what kind all others are. "person" is
{"column": …}, {"rows": true} where every line is another person, {"file": true} where the file is
one person's, or every file of an archive, and {"header": true} where people stand in columns.

A column without a name is called by its place, as "column 1". An export of a device ("export" in
the frame) has the columns of its format, "hour" or "day" and values such as "glucose (mg/dL)".
"start" is the date at which a person's own time begins, "entry" a time at which somebody came under
observation later: late entry, where 0 or “start” is when their own time begins. "without" is the
last visit without the event, and "time" then the first visit with it, if there was one. Numbers of
a "start" are taken off only where "from" is "each start", so that nobody's entry is taken for a
beginning. The meanings of a group are the groups, those of a site the sites, and those of a
status the events, or 0; all in their order. A "period" has two meanings, the earlier period first:
a person's curve is then the change from the first to the second, and "paired": true states that
everybody is in both.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple
from zoneinfo import available_timezones

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError, brief
from engine.core.lists import shortened
from engine.core.plain import checked_object
from engine.uploads.ids import IdForm, canonical

MAX_BYTES = 262_144  # of two thousand columns, of which each stands in the header and in “at”
MAX_COLUMNS = 200  # besides those of curves in rows
SINGLE = ("time", "start", "entry", "without", "value", "status", "group", "site", "period")
LISTED = ("covariates", "features")
SEVERAL = ("keep", "average", "join", "refuse")
CODED = ("status", "group", "site", "period")  # whose texts have stated meanings
UNITS = ("seconds", "minutes", "hours", "days", "weeks", "years")
FIRST, DAY = "first observation", "of day"
EACH_START = "each start"  # what numbers of times count from, if their starts are beginnings
_SINCE = re.compile(rf"({'|'.join(UNITS)}) since ([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|{FIRST})")
_COUNTED = re.compile(rf"calendar years|({'|'.join(UNITS[:3])}) {DAY}|({'|'.join(UNITS)})")


class Kind(Enumeration):
    """The content of a column's cells."""

    NUMBER = "number"
    DATE = "date"
    CLOCK = "clock"
    ELAPSED = "elapsed"
    PERCENTAGE = "percentage"
    WORD = "word"


class Order(Enumeration):
    """The order of the parts of a date; UNSTATED is a gap."""

    UNSTATED = ""
    YMD = "ymd"
    DMY = "dmy"
    MDY = "mdy"
    UNIX = "unix"  # seconds since 1970
    UNIX_MILLISECONDS = "unix milliseconds"


class Offset(Enumeration):
    """The treatment of a time zone behind a stamp, such as +01:00 or Z."""

    NONE = "none"  # there is none: such a cell is unreadable
    KEPT = "kept"  # the clock on the wall: the offset is dropped
    UTC = "to UTC"  # the offset is applied: a stamp without one is unreadable


class Other(Enumeration):
    """The treatment of a text without a stated meaning."""

    UNSTATED = ""
    CENSORED = "censored"  # for a label: without it
    LEFT_OUT = "left out"
    MISSING = "missing"


class Gap(NamedTuple):
    """A question that a reading leaves open."""

    field: str  # such as "person" or "columns.time.order"
    question: str
    words: str  # what to add to the reading, as JSON

    def refusal(self) -> InputError:
        """Return the refusal of whatever publishes."""
        return InputError(self.question, field=self.field, hint=f"State {self.words}.")


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The division of bytes into lines and cells."""

    encoding: str = "utf-8"  # one of `engine.uploads.text.ENCODINGS`; "" of a workbook
    separator: str = ","  # " " for any number of blanks; "" of a workbook
    sheet: str = ""  # of a workbook
    above: int = 0  # lines of titles above the header
    header: tuple[str, ...] = ()  # all names in order; where people stand in columns, the first
    people: str = "rows"  # or "columns"
    export: str = ""  # the export of a device, which has a header of its own


@dataclass(frozen=True, kw_only=True)
class LineOwner:
    """Whose a line is: by a column, or stated to be another person's in every line or file."""

    column: str = ""
    form: IdForm = IdForm.TEXT
    list: str = ""  # whose ids these are, such as a register; one for each ledger unless stated
    rows: bool = False
    file: bool = False
    header: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """The reading of each cell of a column, by itself."""

    names: tuple[str, ...]  # one; two where a date and its clock time stand apart
    kind: Kind = Kind.NUMBER
    unit: str = ""
    order: Order = Order.UNSTATED  # of dates
    counted: str = ""  # "from": what a date, clock or elapsed time counts, such as "hours of day"
    offset: Offset = Offset.NONE
    zone: str = ""  # "time_zone": where clock and calendar of moments in UTC are, as Europe/Berlin
    words: Mapping[str, str | float] = field(default_factory=dict)  # text to its meaning
    other: Other = Other.UNSTATED

    @property
    def name(self) -> str:
        """The name of the column, or both names."""
        return " ".join(self.names)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """All statements by which bytes become records; see the module for its JSON."""

    frame: Frame
    person: LineOwner | None = None  # a gap until somebody says
    columns: Mapping[str, Column] = field(default_factory=dict)  # by role, of `SINGLE`
    covariates: tuple[Column, ...] = ()
    features: tuple[Column, ...] = ()
    at: tuple[tuple[str, float], ...] = ()  # columns of observations with their times
    values: Column | None = None  # how cells are read where a row or column is a curve; no names
    decimal: str = "."
    missing: tuple[str, ...] = ("",)
    several: str = "keep"
    paired: bool = False  # states that everybody is in both periods

    def __post_init__(self) -> None:
        _check(self)

    @property
    def every_column(self) -> tuple[Column, ...]:
        """The entries of all columns with a role, and of cells whose columns are curves."""
        return (
            *self.columns.values(),
            *self.covariates,
            *self.features,
            *(
                (replace(self.values, names=tuple(name for name, _ in self.at)),)
                if self.values
                else ()
            ),
        )

    @property
    def used(self) -> tuple[str, ...]:
        """The names of all columns that are read."""
        person = (self.person.column,) if self.person and self.person.column else ()
        return (*person, *(name for column in self.every_column for name in column.names))

    @property
    def is_wide(self) -> bool:
        """True if a row or a column is a whole curve."""
        return self.values is not None

    @property
    def unit(self) -> str:
        """The unit of protection that one record is: a person, a row or an observation."""
        if self.person is None or not self.person.rows:
            return "person"
        return "observation" if "time" in self.columns and "value" in self.columns else "row"

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the public groups, in their stated order."""
        return self._meanings("group")

    @property
    def periods(self) -> tuple[str, ...]:
        """Names of the two periods between which changes are taken, the first one first."""
        return self._meanings("period")

    @property
    def is_of_changes(self) -> bool:
        """True if a person's curve is the change between two periods."""
        return "period" in self.columns

    def _meanings(self, role: str) -> tuple[str, ...]:
        column = self.columns.get(role)
        return () if column is None else tuple(dict.fromkeys(map(str, column.words.values())))

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Questions to answer before publication."""
        return (
            *_gaps_of_person(self),
            *(
                gap
                for role, column in (
                    *self.columns.items(),
                    *((name, column) for name in LISTED for column in getattr(self, name)),
                )
                for gap in _gaps_of_column(role, column)
            ),
            *_gaps_of_beginning(self),
            *_gaps_of_pairs(self),
            *_gaps_of_starts(self),
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the reading as JSON holds it; `of` reads it back."""
        return _plain(self)

    @classmethod
    def of(cls, plain: Any) -> Reading:
        """Return the reading that JSON describes."""
        return _reading(plain)

    def complete(self) -> Reading:
        """Return the same reading if it has no gap; else ask for the first one, with its words."""
        if self.gaps:
            raise self.gaps[0].refusal()
        return self


# -- gaps ------------------------------------------------------------------------------------------


def _gaps_of_person(reading: Reading) -> tuple[Gap, ...]:
    if reading.person is not None:
        return ()
    return (
        Gap(
            "person",
            "No column names people yet.",
            '"person": {"column": "…"}; or, if every line is another person, '
            '"person": {"rows": true}',
        ),
    )


def _gaps_of_beginning(reading: Reading) -> tuple[Gap, ...]:
    """Ask what dates of observations count; times to an event count from each person’s start."""
    time = reading.columns.get("time")
    if (
        time is None
        or time.kind is not Kind.DATE
        or time.counted
        or ({"start", "entry", "without", "status"} & reading.columns.keys())
    ):
        return ()
    return (
        Gap(
            "columns.time.from",
            f"The reading does not say what the time of “{shortened(time.name)}” is counted from.",
            '"from": "hours of day", "days since 2024-01-31", "calendar years" or "hours since '
            'first observation" in the reading',
        ),
    )


def _gaps_of_pairs(reading: Reading) -> tuple[Gap, ...]:
    if not reading.is_of_changes or reading.paired:
        return ()
    return (
        Gap(
            "paired",
            "The reading does not say that everybody is in both periods.",
            '"paired": true in the reading, if it is public that everybody is',
        ),
    )


def _gaps_of_starts(reading: Reading) -> tuple[Gap, ...]:
    """Ask what numbers of starts are: late entries, or beginnings of each person's own time."""
    start = reading.columns.get("start")
    if start is None or start.kind is Kind.DATE or start.counted == EACH_START:
        return ()
    return (
        Gap(
            "columns.start.from",
            f"“{shortened(start.name)}” can be late entry, when observation began, or the start "
            "from which time is counted.",
            f'"entry" in place of "start" for late entry, or "from": "{EACH_START}" for time '
            "since start",
        ),
    )


def _gaps_of_column(role: str, column: Column) -> list[Gap]:
    gaps = []
    if column.kind is Kind.DATE and column.order is Order.UNSTATED:
        gaps.append(
            Gap(
                f"columns.{role}.order",
                f"The dates of “{shortened(column.name)}” can be day/month or month/day.",
                '"order": "dmy" or "order": "mdy" in the reading',
            )
        )
    if column.kind is Kind.WORD and role in CODED and not column.words:
        gaps.append(
            Gap(
                f"columns.{role}.words",
                f"The reading does not say what the texts of “{shortened(column.name)}” mean.",
                '"words": {"text": "meaning"} in the reading',
            )
        )
    elif column.kind is Kind.WORD and role in ("status", "group") and not column.other:
        gaps.append(
            Gap(
                f"columns.{role}.other",
                f"The reading does not say what other texts of “{shortened(column.name)}” are.",
                '"other": "censored" or "missing" in the reading'
                if role == "status"
                else '"other": "left out" or "missing" in the reading',
            )
        )
    return gaps


# -- what cannot be --------------------------------------------------------------------------------


def _check(reading: Reading) -> None:
    """Refuse a reading that contradicts itself or its header."""
    if reading.several not in SEVERAL:
        raise _wrong("several", f"“several” must be one of {', '.join(SEVERAL)}.")
    if reading.decimal not in (".", ","):
        raise _wrong("decimal", "“decimal” must be a point or a comma.")
    if reading.frame.people not in ("rows", "columns"):
        raise _wrong("people", "“people” must be rows or columns.")
    used = reading.used
    twice = next(_repeated(used), None)
    if twice is not None:
        raise _wrong("columns", f"The column “{shortened(twice)}” has two roles.")
    if len(used) > MAX_COLUMNS and not reading.at:
        raise _wrong("columns", f"A reading has at most {MAX_COLUMNS} columns.")
    header = () if reading.frame.export else reading.frame.header
    known = {*header}
    lacking = [name for name in used if name not in known]
    if lacking and not reading.frame.export:
        raise _wrong("columns", f"The header has no column “{shortened(lacking[0])}”.")
    several = next((name for name in _repeated(header) if name in {*used}), None)
    if several is not None:
        raise _wrong("header", f"The header has several columns “{shortened(several)}”.")
    _check_roles(reading)
    if reading.person is not None:
        _check_person(reading.person, reading.frame)
    for role, column in reading.columns.items():
        _check_column(role, column)
    for column in (*reading.covariates, *reading.features):
        _check_column("covariates", column)
    if reading.values is not None:
        _check_column("values", reading.values)


def _repeated(names: Iterable[str]) -> Iterator[str]:
    counts = Counter(names)
    return (name for name, number in counts.items() if number > 1)


def _check_roles(reading: Reading) -> None:
    """Refuse roles that do not go together, and an entry that its role cannot have."""
    in_columns = reading.frame.people == "columns"
    if reading.values is not None and (
        bool(reading.at) == in_columns
        or "value" in reading.columns
        or ("time" in reading.columns) != in_columns
    ):
        raise _wrong(
            "values",
            "“values” take the place of time and value: “at” lists columns with "
            "their times, or people stand in columns and “time” is the first of them.",
        )
    if in_columns and reading.values is None:
        raise _wrong("values", "“values” must say how the cells of people in columns are read.")
    if in_columns and set(reading.columns) - {"time"}:
        raise _wrong("columns", "People in columns have only “time”, the first, and “values”.")
    _check_spans(reading.columns)
    _check_periods(reading)
    for role, column in reading.columns.items():
        if role in CODED and column.kind is not Kind.WORD:
            raise _wrong(role, f"A {role} is of the kind word: “words” give its texts a meaning.")
        is_class = role == "value" and bool(reading.features)  # that records are predicted to have
        if role not in CODED and column.kind is Kind.WORD and not is_class:
            raise _wrong(role, f"The {role} is no word.")
        if column.other is Other.LEFT_OUT and role != "group":
            raise _wrong(
                "other",
                f"Nobody is left out for a {role}: how many people there are is "
                "public, and would follow from it.",
            )
        if column.other is Other.CENSORED and role != "status":
            raise _wrong("other", "Only a status is censored.")
    if "site" in reading.columns and reading.columns["site"].other:
        raise _wrong("other", "Every site is stated: “words” name them all.")
    numbers = [column for role, column in reading.columns.items() if role not in CODED]
    for column in (*numbers, *reading.covariates, *reading.features):
        if column.kind is Kind.WORD and not all(
            isinstance(meaning, int | float) for meaning in column.words.values()
        ):
            raise _wrong("words", f"The words of “{shortened(column.name)}” stand for numbers.")


def _check_periods(reading: Reading) -> None:
    """Refuse a period without curves, with other than two meanings, and pairs without a period."""
    if not reading.is_of_changes:
        if reading.paired:
            raise _wrong("paired", "“paired” is about the two periods of a column “period”.")
        return
    if {"start", "entry", "without", "status"} & reading.columns.keys() or reading.features:
        raise _wrong("period", "Only curves have changes between two periods.")
    if reading.columns["period"].words and len(reading.periods) != 2:
        raise _wrong(
            "period", f"A period has two meanings, the earlier first; got {len(reading.periods)}."
        )


def _check_spans(columns: Mapping[str, Column]) -> None:
    """Refuse a start and a time of two kinds, and a unit alone for dates that have no start."""
    spans = [columns[role] for role in ("start", "entry", "without", "time") if role in columns]
    if len(spans) > 1:
        if "time" not in columns or len({column.kind for column in spans}) > 1:
            raise _wrong(
                "start",
                "“start”, “entry”, “without” and “time” are of one kind: all dates, or all numbers.",
            )
        if len({column.counted for column in spans if column.counted != EACH_START}) > 1:
            raise _wrong(
                "from",
                "“start”, “entry”, “without” and “time” count in one unit, from one beginning.",
            )
    elif any(column.kind is Kind.DATE and column.counted in UNITS for column in spans):
        raise _wrong("from", "Dates count from a beginning, such as days since 2024-01-31.")


def _check_person(person: LineOwner, frame: Frame) -> None:
    if sum((bool(person.column), person.rows, person.file, person.header)) != 1:
        raise _wrong(
            "person",
            "“person” names a column, or says that every line, every file or "
            "every column is another person: one of these.",
        )
    if person.header != (frame.people == "columns"):
        raise _wrong(
            "person",
            "People stand in the header where “people” of the frame is columns, and nowhere else.",
        )


def is_counted(text: str) -> bool:
    """True if a text says what dates, clock or elapsed times count, as “days since 2024-01-31”."""
    since = _SINCE.fullmatch(text)
    if since is None:
        return _COUNTED.fullmatch(text) is not None
    return since[2] == FIRST or _is_day(since[2])


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _check_column(role: str, column: Column) -> None:
    """Refuse what a kind of cell does not have."""
    is_date = column.kind is Kind.DATE
    if column.order and not is_date:
        raise _wrong(
            "order",
            f"“{shortened(column.name)}” has an order of day and month, and is "
            f"of the kind {column.kind}.",
        )
    if column.counted == EACH_START:
        if role != "start" or column.kind is not Kind.NUMBER:
            raise _wrong("from", f"“{EACH_START}” is for numbers of a start.")
        return
    if column.counted and column.kind not in (Kind.DATE, Kind.CLOCK, Kind.ELAPSED):
        raise _wrong(
            "from",
            f"“{shortened(column.name)}” is counted from a beginning, and is of "
            f"the kind {column.kind}.",
        )
    if column.counted and not is_counted(column.counted):
        raise _wrong(
            "from",
            "“from” must be such as calendar years, days since 2024-01-31, hours "
            "since first observation, minutes of day, or minutes of an elapsed time.",
        )
    if column.offset is not Offset.NONE and not is_date:
        raise _wrong(
            "offset", f"“{shortened(column.name)}” has an offset, and is of the kind {column.kind}."
        )
    if column.zone and column.offset is not Offset.UTC:
        raise _wrong(
            "time_zone", "A “time_zone” is of moments: the column needs the offset “to UTC”."
        )
    if column.zone and column.zone not in available_timezones():
        raise _wrong("time_zone", "There is no such “time_zone”; one is “Europe/Berlin”.")
    if (column.words or column.other) and column.kind is not Kind.WORD:
        raise _wrong(
            "words", f"“{shortened(column.name)}” has words, and is of the kind {column.kind}."
        )
    if column.kind is Kind.CLOCK and column.counted and not column.counted.endswith((DAY, FIRST)):
        raise _wrong(
            "from",
            f"The clock times of “{shortened(column.name)}” count from midnight "
            "(hours of day) or since each first observation.",
        )
    if column.kind is Kind.ELAPSED and column.counted and column.counted not in UNITS:
        raise _wrong(
            "from",
            f"“from” of the elapsed times “{shortened(column.name)}” is a unit alone, such as "
            "minutes.",
        )
    if column.words:
        _check_words(column)
    if role != "values" and (len(column.names) > 2 or not column.names):
        raise _wrong("name", "A column has one name; a date and its clock time have two.")
    if len(column.names) == 2 and not is_date:
        raise _wrong("name", "Only a date and its clock time stand in two columns.")


def _check_words(column: Column) -> None:
    """Refuse two words that are one text in another spelling, and mean two things."""
    meaning: dict[str, str | float] = {}
    for text, means in column.words.items():
        if meaning.setdefault(canonical(text, IdForm.NUMBER), means) != means:
            raise _wrong(
                "words",
                f"Two words of “{shortened(column.name)}” are one text in two "
                "spellings, and have two meanings.",
            )


def _wrong(name: str, message: str) -> InputError:
    return InputError(message, field=name, hint="Correct it in “reading”.")


# -- as JSON ---------------------------------------------------------------------------------------

_FRAME = ("encoding", "separator", "sheet", "above", "header", "people", "export")
_PERSON = ("column", "form", "list", "rows", "file", "header")
_COLUMN = ("name", "kind", "unit", "order", "from", "offset", "words", "other", "time_zone")
_KEYS = ("frame", "person", "columns", "decimal", "missing", "several", "paired", "ask")


def _plain(reading: Reading) -> dict[str, Any]:
    columns: dict[str, Any] = {
        role: _plain_column(column) for role, column in reading.columns.items()
    }
    for name in LISTED:
        if each := getattr(reading, name):
            columns[name] = [_plain_column(column) for column in each]
    if reading.values is not None:
        at = {"at": [list(pair) for pair in reading.at]} if reading.at else {}
        columns["values"] = {**at, **_plain_column(reading.values)}
    ask = [
        {"field": gap.field, "question": gap.question, "words": gap.words} for gap in reading.gaps
    ]
    return {
        "frame": _stated(reading.frame, Frame(encoding="", separator="")),
        "person": None if reading.person is None else _stated(reading.person, LineOwner()),
        "columns": columns,
        "decimal": reading.decimal,
        "missing": list(reading.missing),
        "several": reading.several,
        **({"paired": True} if reading.paired else {}),
        **({"ask": ask} if ask else {}),
    }


def _stated(part: Frame | LineOwner, usual: Frame | LineOwner) -> dict[str, Any]:
    """Return the fields that differ from the usual ones, and a frame's header."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(part).items()
        if value != getattr(usual, name) or (name == "header" and isinstance(part, Frame))
    }


def _plain_column(column: Column) -> dict[str, Any]:
    name = (
        {}
        if not column.names
        else {"name": column.names[0] if len(column.names) == 1 else list(column.names)}
    )
    rest = {
        "unit": column.unit,
        "order": column.order.value,
        "from": column.counted,
        "words": dict(column.words),
        "other": column.other.value,
        "offset": "" if column.offset is Offset.NONE else column.offset.value,
        "time_zone": column.zone,
    }
    return {
        **name,
        "kind": column.kind.value,
        **{key: value for key, value in rest.items() if value},
    }


def _reading(plain: Any) -> Reading:
    if len(json.dumps(plain).encode()) > MAX_BYTES:
        raise _wrong("reading", f"A reading has at most {MAX_BYTES // 1024} kB.")
    stated = checked_object(plain, "reading", _KEYS)
    every = checked_object(stated.get("columns", {}), "columns", (*SINGLE, *LISTED, "values"))
    columns = dict(every)
    wide = dict(checked_object(columns.pop("values", {}), "values", ("at", *_COLUMN[1:])))
    at = tuple(_at(pair) for pair in _listed(wide.pop("at", []), "at"))
    listed = {
        name: tuple(_column(each, name) for each in _listed(columns.pop(name, []), name))
        for name in LISTED
    }
    person = stated.get("person")
    return Reading(
        frame=_frame(stated.get("frame")),
        person=None if person is None else _person(person),
        columns={role: _column(each, role) for role, each in columns.items()},
        at=at,
        values=_column({"name": [], **wide}, "values") if "values" in every else None,
        decimal=_text(stated, "decimal", "."),
        several=_text(stated, "several", "keep"),
        paired=_flag(stated, "paired"),
        missing=tuple(map(_each_text, _listed(stated.get("missing", [""]), "missing"))),
        **listed,
    )


def _frame(plain: Any) -> Frame:
    stated = checked_object(plain, "frame", _FRAME)
    above = stated.get("above", 0)
    if type(above) is not int or not 0 <= above <= 1000:
        raise _wrong("above", "“above” must be how many lines stand above the header.")
    texts = {
        name: _text(stated, name, usual)
        for name, usual in (
            ("encoding", ""),
            ("separator", ""),
            ("sheet", ""),
            ("people", "rows"),
            ("export", ""),
        )
    }
    header = tuple(map(_each_text, _listed(stated.get("header", []), "header")))
    return Frame(above=above, header=header, **texts)


def _person(plain: Any) -> LineOwner:
    stated = checked_object(plain, "person", _PERSON)
    flags = {name: stated.get(name, False) for name in ("rows", "file", "header")}
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise _wrong("person", "“rows”, “file” and “header” are true or false.")
    return LineOwner(
        column=_text(stated, "column", ""),
        list=_text(stated, "list", ""),
        form=IdForm.named(stated.get("form", "text"), "form"),
        **flags,
    )


def _column(plain: Any, role: str) -> Column:
    stated = checked_object(plain, role, _COLUMN)
    name = stated.get("name")
    names = tuple(map(_each_text, name)) if isinstance(name, list) else (_each_text(name),)
    words = checked_object(stated.get("words", {}), "words")
    if not all(
        isinstance(meaning, str) or type(meaning) in (int, float) for meaning in words.values()
    ):
        raise _wrong("words", "“words” gives each text a meaning: a word or a number.")
    return Column(
        names=names,
        kind=Kind.named(stated.get("kind", "number"), "kind"),
        unit=_text(stated, "unit", ""),
        order=Order.named(stated.get("order", ""), "order"),
        counted=_text(stated, "from", ""),
        words=words,
        offset=Offset.named(stated.get("offset", "none"), "offset"),
        other=Other.named(stated.get("other", ""), "other"),
        zone=_text(stated, "time_zone", ""),
    )


def _at(pair: Any) -> tuple[str, float]:
    if not isinstance(pair, list) or len(pair) != 2 or type(pair[1]) not in (int, float):
        raise _wrong("at", '“at” lists columns with their times: ["week 6", 6].')
    return _each_text(pair[0]), float(pair[1])


def _listed(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(name, f"“{name}” must be a list in brackets.")
    return value


def _text(stated: Mapping[str, Any], name: str, usual: str) -> str:
    return _each_text(stated.get(name, usual))


def _flag(stated: Mapping[str, Any], name: str) -> bool:
    flag = stated.get(name, False)
    if not isinstance(flag, bool):
        raise _wrong(name, f"“{name}” is true or false.")
    return flag


def _each_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong("reading", f"A reading has text there; got {brief(value)}.")
    return value
