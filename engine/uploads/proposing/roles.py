"""The likeliest role of each column and reading of its cells, by names and counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.core.types import Array
from engine.uploads.proposing import names as usual
from engine.uploads.proposing.advice import advice_on, says_below_limit
from engine.uploads.proposing.content import Content, decimal_of, increases
from engine.uploads.proposing.framing import Framed
from engine.uploads.proposing.moments import beginning_of, kind_of_name, time_in_name
from engine.uploads.proposing.names import (
    by_plain_name,
    column_key,
    first_of,
    nearest,
    plain_name,
    roles_by_name,
    says_censored,
)
from engine.uploads.proposing.people import Ids, proposed_ids
from engine.uploads.proposing.series import (
    UNNAMED,
    are_slots,
    check_beginning,
    check_family,
    is_family_of_people,
    may_begin_with_times,
    numbered,
    refuse_names,
    refuse_slashed,
    series_of,
    with_colons,
)
from engine.uploads.proposing.stated import Stated
from engine.uploads.reading_of_files import (
    CODED,
    DAY,
    FIRST,
    LISTED,
    Column,
    Kind,
    Offset,
    Order,
    Other,
)
from engine.uploads.units import in_words, same_unit, unit_in_name

_ZERO_ONE = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "m"),
    ("female", "male"),
    ("control", "treated"),
)
"""Words for 0 and 1, the same whatever a file holds."""
_FEW_TEXTS = 6  # of a column that may say how a time ended
_SURE_STATUS = frozenset(usual.STATUS[: usual.STATUS.index("outcome")])
_FEW_LINES = 10  # of which nobody can tell whether they are one person's
_FEW_WORDS = 3  # different ones among numbers, which may stand for a missing value


class FileKind(Enumeration):
    """The content of a file for each person."""

    CURVES = "curves"
    SINGLE = "single observations"
    RECORDS = "records"
    OUTCOMES = "times with events"
    VALUES = "single values"
    SCORES = "scores with labels"


EVENTS = (FileKind.OUTCOMES, FileKind.VALUES, FileKind.SCORES)


@dataclass(frozen=True, eq=False)
class _Named:
    """Columns of a file by their names, as `names` and `series` look at them."""

    contents: Mapping[str, Content]
    decimal: str

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.contents)

    def find(self, name: str) -> str:
        """Return the column of this name, whatever its case."""
        by_key = {column_key(column): column for column in self.contents}
        if column_key(name) in by_key:
            return by_key[column_key(name)]
        raise InputError(
            f"There is no column “{shortened(name)}”.",
            field="columns",
            hint=f"{nearest(name, self.columns)}Name one of the header.",
        )

    def holds(self, column: str, text: str) -> bool:
        """Return True if a text stands in a column."""
        return text in self.contents[column].known


@dataclass(frozen=True, eq=False)
class Inspection:
    """A framed file with all that is guessed of it once and used often."""

    framed: Framed
    stated: Stated

    @cached_property
    def _raw(self) -> dict[str, str]:
        """Each column, of which compact clock times have a colon, with its name in the header."""
        header = self.framed.names
        clock = with_colons(header)
        return {clock.get(name, name): name for name in header}

    @cached_property
    def columns(self) -> dict[str, Content]:
        """Columns by their names, of which compact clock times have a colon."""
        return {
            shim: Content(name, text)
            for (shim, name), text in zip(self._raw.items(), self.framed.columns, strict=True)
        }

    @cached_property
    def decimal(self) -> str:
        """The decimal mark of all numbers."""
        if self.framed.frame.separator == ",":
            return "."
        names = sum(
            name.count(",") == 1 and name.replace(",", "").isdigit() for name in self.framed.names
        )
        return "," if names > 1 else decimal_of(self.columns.values())

    @cached_property
    def named(self) -> _Named:
        """The columns, with what their names and marks in them mean."""
        return _Named(self.columns, self.decimal)

    def raw(self, name: str) -> str:
        """Return the name of a column in the header."""
        return self._raw[name]

    @cached_property
    def choices(self) -> dict[str, Any]:
        """Columns by the roles that were stated, under names that no other has."""
        return usual.found(self.named, self.stated.columns)

    @cached_property
    def by_name(self) -> dict[str, str]:
        """Role → column, by usual names; stated ones come first."""
        return roles_by_name(self.named, self.choices)

    @cached_property
    def series(self) -> dict[str, float]:
        """Columns of observations with their times, where a line is a curve."""
        found = series_of(self.named, usual.names_in(self.choices))
        is_long = (
            "time" in self.by_name
            and not are_slots([*found])
            and any(
                self.kind(name) is Kind.CLOCK or self.columns[name].have_clock
                for name in self.columns
                if name not in found
            )
        )
        return {} if is_long else found

    def kind(self, name: str) -> Kind:
        """Return the kind of most cells of a column."""
        return self.columns[name].kind(self.decimal)

    def is_named(self, name: str) -> bool:
        """True if the header calls the column by more than its place."""
        return name != UNNAMED.format(1 + [*self.columns].index(name))

    def free(self, used: Iterable[str | None]) -> list[str]:
        """Columns that are in no use."""
        taken = {*used}
        return [name for name in self.columns if name not in taken]


@dataclass(frozen=True)
class Roles:
    """The role of each column, under unique names."""

    kind: FileKind
    single: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # role → its columns
    covariates: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    at: tuple[tuple[str, float], ...] = ()
    people_in_columns: bool = False
    may_have_people_in_columns: bool = False
    candidates: tuple[str, ...] = ()  # of the value, where its name says nothing

    @property
    def used(self) -> tuple[str, ...]:
        """All columns with a role, but for people."""
        return (
            *(name for names in self.single.values() for name in names),
            *self.covariates,
            *self.features,
            *(name for name, _ in self.at),
        )


def roles_of(look: Inspection, kind: FileKind | None = None) -> Roles:
    """Return the likeliest roles of all columns but that of people."""
    if look.framed.frame.export:
        return _of_export(look)
    _refuse_without_header(look)
    guessed = _kind_of_file(look) if kind is None else kind
    if kind is None and guessed is FileKind.RECORDS:
        refuse_slashed(look.named)
    roles = (
        _of_records(look)
        if guessed is FileKind.RECORDS
        else _of_events(look, guessed)
        if guessed in EVENTS
        else _of_curves(look, guessed)
    )
    chosen = {
        role: (look.choices[name],)
        for role, name in (("group", "group"), ("site", "server"))
        if look.choices.get(name)
    }
    return replace(roles, single={**roles.single, **chosen})


def _of_export(look: Inspection) -> Roles:
    """Return the roles in an export, whose values are read in the stated unit or its own."""
    time, *values = [name for name in look.columns if name != "id"]
    unit = look.stated.value_unit or look.framed.unit
    value = look.choices.get("value") or next(
        (name for name in values if unit and same_unit(unit_in_name(name), unit)), values[0]
    )
    return Roles(FileKind.CURVES, {"time": (time,), "value": (str(value),)})


def _refuse_without_header(look: Inspection) -> None:
    """Refuse a first line of data: numbers, and texts that stand below themselves as well."""
    numbers = [name for name in look.columns if numbered(name, look.named)[0] == ""]
    texts = [name for name in look.columns if name not in numbers and look.is_named(name)]
    is_data = all(
        name.casefold() in {text.casefold() for text in look.columns[name].known} for name in texts
    )
    if numbers and is_data and (texts or not look.series):
        raise InputError(
            "The first line holds data in place of names of columns.",
            field="header",
            hint="Put a line of names above it, such as id, time and value.",
        )


# -- what the file holds ---------------------------------------------------------------------------


def _kind_of_file(look: Inspection) -> FileKind:
    """Return what the file most likely holds of each person."""
    stated = look.stated
    if stated.features:
        return FileKind.RECORDS
    if stated.events or look.choices.get("status") or look.choices.get("without"):
        return FileKind.OUTCOMES
    plain, roles = by_plain_name(tuple(look.columns)), look.by_name
    if look.choices.get("value") or look.series or _may_have_people_in_columns(look):
        return FileKind.CURVES
    status, ids = _status(look, plain), _ids(look, ())
    repeats = ids is not None and ids.repeats
    if status is not None:
        score = first_of(usual.SCORES, plain)
        if score is not None and look.kind(score) is Kind.NUMBER:
            return FileKind.SCORES
        others = {name: column for name, column in plain.items() if column != status}
        if first_of(usual.ENDS, others) or (
            not repeats and plain_name(status) in _SURE_STATUS and _dates(look)
        ):
            return FileKind.OUTCOMES
    if repeats or (_times(look) and not _is_of_records(look)):
        return FileKind.CURVES
    numbers = [
        name for name in look.columns if name != roles.get("id") and _is_of_numbers(look, name)
    ]
    return FileKind.VALUES if len(numbers) == 1 and roles.get("id") else FileKind.RECORDS


def _dates(look: Inspection) -> list[str]:
    return [name for name in look.columns if look.kind(name) is Kind.DATE]


def _is_of_records(look: Inspection) -> bool:
    """True if everybody has one line: of several numbers, or of an age and what no name says."""
    times = _times(look)
    ids = _ids(look, times)
    if ids is None or ids.repeats:
        return False
    numbers = [
        name
        for name in look.free(times)
        if look.kind(name) is Kind.NUMBER and look.columns[name] is not ids.content
    ]
    is_age = plain_name(times[0]).split("_")[0] == "age"
    return len(numbers) > 1 or (is_age and "value" not in look.by_name)


def _status(look: Inspection, plain: Mapping[str, str]) -> str | None:
    """Return the column that says how times ended, or has a label: few texts, and a usual name."""
    chosen = look.choices.get("status")
    if chosen:
        return str(chosen)
    few = {
        name: column
        for name, column in plain.items()
        if look.columns[column].n_different <= _FEW_TEXTS
    }
    for name in usual.STATUS:
        column = few.get(name)
        if column is not None and (
            name in _SURE_STATUS
            or look.kind(column) is Kind.WORD
            or look.columns[column].n_different <= 2
        ):
            return column
    return first_of(
        _SURE_STATUS,
        {
            name: column
            for name, column in few.items()
            if any(map(says_end, look.columns[column].known))
        },
    )


def says_end(text: str) -> bool:
    """True if a text is a usual one of a status: dead, 1:DECEASED, no."""
    return not {*plain_name(text).split("_")}.isdisjoint(usual.EVENTS | usual.NO_EVENTS)


# -- curves ----------------------------------------------------------------------------------------


def _of_curves(look: Inspection, kind: FileKind) -> Roles:
    covariates = tuple(look.choices.get("covariates") or ())
    named = look.choices.get("time") or look.choices.get("value")
    may_turn = False
    if not named and kind is FileKind.CURVES:
        may_turn = not look.choices.get("id") and _may_have_people_in_columns(look)
        first, *others = look.columns
        if may_turn and is_family_of_people(others, look.named):
            return Roles(kind, {"time": (first,)}, people_in_columns=True)
        if look.series:
            _refuse_long_and_wide(look)
            refuse_names(look.named)
            check_family(look.named, look.series, covariates)
            check_beginning(look.named, look.series, covariates)
            return Roles(
                kind,
                {},
                covariates,
                at=tuple(_at(look).items()),
                may_have_people_in_columns=may_turn,
            )
    times = (str(look.choices["time"]),) if look.choices.get("time") else _times(look)
    times = _with_clock(look, times)
    ids = _ids(look, times)
    value, candidates = _value(look, times, ids, covariates)
    single = {role: names for role, names in (("time", times), ("value", value)) if names}
    if not times:
        refuse_names(look.named)
    return Roles(
        _single_or_curves(look, kind, ids, named),
        single,
        covariates,
        candidates=candidates,
        may_have_people_in_columns=may_turn,
    )


def _may_have_people_in_columns(look: Inspection) -> bool:
    """True if the first column may be the times of all others, which hold numbers."""
    may, is_called_so = may_begin_with_times(look.named)
    first, *others = look.columns
    kind = look.kind(first)
    if not may or kind is Kind.WORD or not (is_called_so or kind in (Kind.DATE, Kind.CLOCK)):
        return False  # row numbers and what was measured increase as well
    times = (
        hours_of(look, (first,), Order.UNSTATED)
        if kind is Kind.DATE
        else look.columns[first].numbers(look.decimal, kind)
    )
    return (
        look.framed.n_lines > 1
        and increases([times])
        and all(look.kind(name) in (Kind.NUMBER, Kind.PERCENTAGE) for name in others)
    )


def _single_or_curves(look: Inspection, kind: FileKind, ids: Ids | None, named: Any) -> FileKind:
    """Return single observations where everybody has one line, unless curves were asked for."""
    is_single = kind is FileKind.CURVES and not named and ids is not None and not ids.repeats
    return FileKind.SINGLE if is_single else kind


def _refuse_long_and_wide(look: Inspection) -> None:
    both = [look.by_name.get(role) for role in ("time", "value")]
    if all(both):
        raise InputError(
            f"The table looks both long and wide: {listed([str(name) for name in both])} would be "
            f"one line an observation, {counted(len(look.series), 'numbered column')} such as "
            f"{listed(list(look.series)[:1])} one line a curve.",
            field="columns",
            hint="Name the columns of time and value, or leave one of both out of the file.",
        )


def _at(look: Inspection) -> dict[str, float]:
    """Return the times of columns, in hours of dates and clock times in their names."""
    kind = kind_of_name(next(iter(look.series)))
    if kind is None:
        return dict(look.series)
    counted = look.stated.counted or _counted_in_header(look, kind)
    moments = {name: time_in_name(name, kind, counted) for name in look.series}
    times = {name: time for name, time in moments.items() if time is not None}
    first = min(times.values()) if counted.endswith(FIRST) else 0.0
    return {name: time - first for name, time in times.items()}


def _counted_in_header(look: Inspection, kind: Kind) -> str:
    """Return what dates or clock times in the names of columns most likely count."""
    if kind is Kind.CLOCK:
        return f"hours {DAY}"
    hours = np.array(
        [time_in_name(name, kind, f"hours since {FIRST}") for name in look.series], dtype=float
    )
    return beginning_of(hours, np.zeros(len(hours), dtype=np.int64))


def _times(look: Inspection) -> tuple[str, ...]:
    """Return the column of times: by its name, or the only one of dates."""
    if look.choices.get("time"):
        return (str(look.choices["time"]),)
    dates, named = _dates(look), look.by_name.get("time")
    if named is not None and "time" not in look.choices:
        stamps = [name for name in dates if look.columns[name].have_clock]
        is_part = look.kind(named) in (Kind.CLOCK, Kind.ELAPSED) and len(stamps) == 1
        return (stamps[0] if is_part else named,)
    return (dates[0],) if len(dates) == 1 else ()


def _with_clock(look: Inspection, times: tuple[str, ...]) -> tuple[str, ...]:
    """Return a date and its clock time, where these stand in two columns."""
    is_whole = (
        look.kind(times[0]) is Kind.DATE and look.columns[times[0]].have_clock
        if (len(times) == 1)
        else True
    )
    if is_whole:
        return times
    kinds = {name: look.kind(name) for name in look.columns}
    days = [
        name
        for name, kind in kinds.items()
        if kind is Kind.DATE and not look.columns[name].have_clock
    ]
    clocks = [
        name
        for name, kind in kinds.items()
        if kind is Kind.CLOCK and plain_name(name) in usual.CLOCKS
    ]
    is_pair = len(days) == len(clocks) == 1 and times[0] in (days[0], clocks[0])
    return (days[0], clocks[0]) if is_pair else times


def _ids(look: Inspection, used: Sequence[str]) -> Ids | None:
    """Return the people: as stated, or by a usual name."""
    if "id" in look.choices:
        named = look.choices["id"]
        return Ids(look.columns[named]) if named else None
    return proposed_ids([look.columns[name] for name in look.free(used)])


def _value(
    look: Inspection, times: Sequence[str], ids: Ids | None, covariates: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the column of values, or those that may hold them where no name says it."""
    if look.choices.get("value"):
        return (str(look.choices["value"]),), ()
    named = look.by_name.get("value")
    if named is not None and named not in times:
        return (named,), ()
    taken = (*times, *covariates, look.by_name.get("server"), look.choices.get("group"))
    able = [
        name
        for name in look.free(taken)
        if look.is_named(name)
        and not usual.is_id(name)
        and (ids is None or look.columns[name] is not ids.content)
    ]
    left = [name for name in able if look.kind(name) in (Kind.NUMBER, Kind.PERCENTAGE)] or [
        name for name in able if look.columns[name].are_nearly_numbers
    ]
    return ((left[0],), ()) if len(left) == 1 else ((), tuple(left))


# -- records and events ----------------------------------------------------------------------------


def _of_records(look: Inspection) -> Roles:
    plain = by_plain_name(tuple(look.columns))
    response = (
        look.choices.get("value") if "value" in look.choices else (first_of(usual.RESPONSES, plain))
    )
    if look.stated.features:
        features = tuple(look.named.find(name) for name in look.stated.features)
        if "value" not in look.choices:
            response = None
    else:
        ids = _ids(look, ())
        taken = (
            response,
            look.by_name.get("server"),
            look.choices.get("group"),
            look.choices.get("server"),
        )
        features = tuple(
            name
            for name in look.free(taken)
            if look.is_named(name)
            and not usual.is_id(name)
            and (ids is None or look.columns[name] is not ids.content)
            and _is_of_numbers(look, name)
        )
    single = {"value": (str(response),)} if response else {}
    return Roles(FileKind.RECORDS, single, features=features)


def _is_of_numbers(look: Inspection, name: str) -> bool:
    """True if cells hold numbers, dates in an order that is settled, or a known pair of words."""
    content, kind = look.columns[name], look.kind(name)
    if kind is Kind.DATE:
        return bool(content.order or look.stated.order)
    return kind is not Kind.WORD or bool(words_for_numbers(content))


def _of_events(look: Inspection, kind: FileKind) -> Roles:
    plain, single = by_plain_name(tuple(look.columns)), dict[str, tuple[str, ...]]()
    without = look.choices.get("without") if kind is FileKind.OUTCOMES else None
    if without is not None:
        single["without"] = (str(without),)
    elif kind is not FileKind.VALUES and (status := _status(look, plain)) is not None:
        single["status"] = (status,)
    free = {
        name: column
        for name, column in plain.items()
        if (column,) not in single.values() and column not in look.choices.values()
    }
    main = look.choices.get("time") or first_of(
        {
            FileKind.OUTCOMES: usual.ENDS,
            FileKind.VALUES: usual.SINGLE_VALUES,
            FileKind.SCORES: usual.SCORES,
        }[kind],
        free,
    )
    if main is None and kind is not FileKind.OUTCOMES:
        ids = _ids(look, ())
        numbers = [
            name
            for name in look.free(look.choices.values())
            if look.kind(name) is Kind.NUMBER
            and (name,) not in single.values()
            and (ids is None or look.columns[name] is not ids.content)
        ]
        main = numbers[0] if len(numbers) == 1 else None
    if main is not None:
        single["time"] = (str(main),)
    if kind is FileKind.OUTCOMES and main is not None:
        starts = _starts(look, free, str(main))
        single |= {role: names for role, names in starts.items() if not without or role == "start"}
    return Roles(kind, single)


def _starts(look: Inspection, free: Mapping[str, str], end: str) -> dict[str, tuple[str, ...]]:
    """Return where a person's own time begins, and where they came under observation.

    A date at which time begins is a start, and so is a number, of which it is asked what it is. A
    column that is stated as the entry is one.
    """
    alike = {
        name: column
        for name, column in free.items()
        if column != end
        and (look.kind(column) is Kind.DATE) == (look.kind(end) is Kind.DATE)
        and look.kind(column) is not Kind.WORD
    }
    named = look.choices.get("start") or first_of(usual.START, alike)
    late = look.choices.get("entry") or first_of(usual.ENTRY, alike)
    if not named and "entry" not in look.choices and look.kind(end) is not Kind.DATE:
        named = late  # numbers by their name alone: asked about as well
    roles: dict[str, tuple[str, ...]] = {"start": (str(named),)} if named else {}
    if late and late != named:
        roles["entry"] = (str(late),)
    return roles


# -- how cells are read ----------------------------------------------------------------------------


def words_for_numbers(content: Content) -> dict[str, str | float]:
    """Return which text is 0 and which 1, of a known pair of words; empty for any others."""
    if content.n_different > _FEW_TEXTS:
        return {}
    texts = {text.casefold() for text in content.known}
    pair = next((pair for pair in _ZERO_ONE if texts and texts <= {*pair}), None)
    return {} if pair is None else {text: pair.index(text) for text in pair}


def meaning_of(text: str) -> str:
    """Return what a stated text means: itself, or an event where it is 0, which else means none."""
    return "event" if text == "0" else text


def column_of(look: Inspection, names: Sequence[str], role: str, of_curves: bool = True) -> Column:
    """Return how the cells of a column, or of a date and its clock time, are read."""
    raw = tuple(look.raw(name) for name in names)
    content = look.columns[names[0]]
    if role in CODED:
        return _of_words(look, raw, content, role, of_curves)
    kind = look.kind(names[0])
    is_time = role in ("time", "start", "entry", "without")
    unit = in_words(unit_in_name(raw[0], of_time=is_time))
    unix = content.unix() if is_time and kind is Kind.NUMBER else None
    if unix is not None:
        return Column(names=raw, kind=Kind.DATE, order=unix, counted=look.stated.counted)
    if kind is Kind.DATE:
        return _of_dates(look, raw, names, role)
    if kind is Kind.WORD and role in (*LISTED, "value") and (words := words_for_numbers(content)):
        return Column(names=raw, kind=Kind.WORD, words=words, other=Other.MISSING)
    if kind is Kind.WORD:
        kind = Kind.NUMBER
    elapsed = look.stated.elapsed
    if kind is Kind.CLOCK and (elapsed or (usual.is_elapsed(names[0]) and not look.stated.counted)):
        kind = Kind.ELAPSED
    if content.n(kind, look.decimal) < content.n_known and (
        is_time or not words_for_missing(look, names[0])
    ):
        raise _unreadable(look, content, kind)
    if kind is Kind.NUMBER:
        _refuse_thousands(content, look.decimal)
    if kind in (Kind.CLOCK, Kind.ELAPSED):
        usually = elapsed or "hours" if kind is Kind.ELAPSED else "hours of day"
        counted = "" if kind is Kind.ELAPSED else look.stated.counted
        return Column(names=raw, kind=kind, counted=counted or usually)
    return Column(
        names=raw,
        kind=kind,
        unit="%" if kind is Kind.PERCENTAGE and not unit else unit,
        counted=look.stated.counted if role == "time" else "",
    )


def _of_words(
    look: Inspection, raw: tuple[str, ...], content: Content, role: str, of_curves: bool
) -> Column:
    """Return a column of words: what its texts mean is for a person to say."""
    stated = {"status": look.stated.events, "group": look.stated.groups}.get(role, ())
    if role == "status" and any(says_censored(raw[0], text) for text in stated):
        raise InputError(
            f"By its name the column “{shortened(raw[0])}” says who is censored, and "
            "its yes is stated as an event.",
            field="events",
            hint="State the text of those who are not censored, such as 0; or rename the column.",
        )
    left = Other.LEFT_OUT if of_curves else Other.MISSING
    other = {"status": Other.CENSORED, "group": left}.get(role, Other.UNSTATED)
    if role == "site":
        stated = tuple(sorted(content.known))
    return Column(
        names=raw,
        kind=Kind.WORD,
        words={text: meaning_of(text) for text in stated},
        other=other if stated else Other.UNSTATED,
    )


def _of_dates(look: Inspection, raw: tuple[str, ...], names: Sequence[str], role: str) -> Column:
    content = look.columns[names[0]]
    for name, kind in zip(names, (Kind.DATE, Kind.CLOCK), strict=False):
        if look.columns[name].n(kind) < look.columns[name].n_known:
            raise _unreadable(look, look.columns[name], kind)
    order = content.order
    if order is not Order.YMD and look.stated.order:
        order = look.stated.order
    if not order and role in LISTED:
        raise InputError(
            f"The dates of “{shortened(raw[0])}” can be day/month or month/day.",
            field=raw[0],
            hint="Leave the column out, or write its dates as 2024-03-31.",
        )
    counting = look.stated.counted if role == "time" else ""
    return Column(
        names=raw,
        kind=Kind.DATE,
        order=order,
        counted=counting,
        offset=Offset.KEPT if content.n_with_offset else Offset.NONE,
    )


def words_for_missing(look: Inspection, name: str) -> tuple[str, ...]:
    """Return the few words beside numbers of a column that may stand for a missing value.

    One that stands below the name alone describes the column, and one that says that too little was
    there to be measured is no missing value.
    """
    content, kind = look.columns[name], look.kind(name)
    if kind not in (Kind.NUMBER, Kind.PERCENTAGE):
        return ()
    words = content.others_than(kind, look.decimal)
    are_words = not any(
        re.search("[0-9]", word) or says_below_limit(word) or column_key(word) == column_key(name)
        for word in words
    )
    is_description = words == {content.first: 1}
    return tuple(words) if len(words) <= _FEW_WORDS and are_words and not is_description else ()


def _unreadable(look: Inspection, content: Content, kind: Kind) -> InputError:
    """Return the refusal of cells that are of no kind, with what most of them look like."""
    bad = content.others_than(kind, look.decimal)
    number = sum(bad.values())
    held = {Kind.DATE: "date", Kind.CLOCK: "clock time"}.get(kind, "number")
    if content.name.casefold() in {text.casefold() for text in bad}:
        hint = "The names of columns stand in lines below as well: leave those lines out."
    elif bad == {content.first: 1} and look.framed.n_lines > _FEW_LINES:
        hint = (
            "The first line below the names of columns seems to hold units, descriptions or "
            "the names themselves: leave out what is no data."
        )
    else:
        hint = advice_on(pa.array([*bad], pa.string()), look.decimal, look.framed.frame.separator)
    return InputError(
        f"{counted(number, 'line')} of column “{shortened(content.name)}” "
        f"{'holds' if number == 1 else 'hold'} no {held}.",
        field=content.name,
        hint=hint,
    )


def _refuse_thousands(content: Content, decimal: str) -> None:
    if content.has_thousands(decimal):
        raise InputError(
            f"{counted(content.n_with(decimal), 'number')} of column “{shortened(content.name)}” "
            f"seem to have a mark between thousands, such as 1{decimal}050, beside others without.",
            field=content.name,
            hint="Write all numbers without a mark between thousands.",
        )


def hours_of(look: Inspection, names: Sequence[str], order: Order) -> Array:
    """Return hours from 1970 of each line's date, with its clock time in another column."""
    hours = look.columns[names[0]].hours(order or look.columns[names[0]].likely_order)
    return hours if len(names) == 1 else hours + look.columns[names[1]].numbers(kind=Kind.CLOCK)


def are_one_series(look: Inspection, roles: Roles) -> bool:
    """True if times increase from line to line, as in one person's series: by up to two columns.

    Times until an event are one of each person, in whatever order.
    """
    times = roles.single.get("time", ()) if roles.kind is FileKind.CURVES else ()
    if not times or roles.people_in_columns or look.framed.n_lines < _FEW_LINES:
        return False
    if look.kind(times[0]) is Kind.DATE:
        return increases([hours_of(look, times, Order.UNSTATED)])
    of_time = [
        name
        for name in look.columns
        if plain_name(name) in usual.usual_names("time") or usual.is_of_time(plain_name(name))
    ]
    known = [
        look.columns[name].numbers(look.decimal, look.kind(name))
        for name in of_time
        if look.kind(name) in (Kind.NUMBER, Kind.CLOCK, Kind.ELAPSED)
    ]
    return 1 <= len(of_time) == len(known) <= 2 and increases(known)
