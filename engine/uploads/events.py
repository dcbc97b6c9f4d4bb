"""Times and how they ended from a person's own table, with the facts they state, as a source.

One person has one time. Several rows of one person, which only a column of ids can show, are read
where they say the same, or are intervals from start to stop, one after the other, of which the last
says how it ended; other times of one person are refused. Of several values or scores of one person
the first in the file counts; how many were set aside is for the holder alone. All of this follows
from the rows of that person. A row is never left out because
of what it holds: what a strange time or status counts as is said by
`engine.numerics.counts.cells`, row by row. People who come under observation late (left truncation)
are not taken: entries and exits released together would have sensitivity 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from engine.core.errors import InputError
from engine.core.identity import Traces, named_once, people_in_order
from engine.core.lists import counted, listed, shortened
from engine.core.names import uncapital
from engine.core.tasks import DataType
from engine.core.types import Array, DataKind, EventData, EventFacts, Sizes
from engine.numerics.counts.cells import Counted
from engine.numerics.counts.estimands import ESTIMANDS
from engine.uploads.columns import (
    Integers,
    Observations,
    People,
    in_order,
    order_by_person,
    people_of,
)
from engine.uploads.conversions import CALENDAR, Dates, Kind, check_not_compact
from engine.uploads.facts import stated_bounds
from engine.uploads.layout import Layout, check_one_role_each, plain_name, repeated
from engine.uploads.misfits import (
    OF_OUTCOMES,
    check_follow_up,
    check_named_units,
    check_numbers,
    remarks_on_codes,
)
from engine.uploads.rows import MAX_ROWS
from engine.uploads.source import UploadedData
from engine.uploads.spellings import check_kinds, check_spellings
from engine.uploads.tables import FILL_IN, Numbers, Table
from engine.uploads.traces import pieces, traces_of

MAX_CODES = 100  # texts of a column of codes; a column with more holds something else
OR = " or "  # between the texts of a label, which are one cause
_FEW_OTHERS = 0.1  # a share of people whose group may be missing or misspelled
_SAYS_SO = {"1", "1.0", "yes", "y", "true", "t", "x", "censored"}
_UNKNOWN = -1  # a status that is no stated code
_FIRST_DAY = "1970-01-01"  # from which both dates of a duration are counted


@dataclass(frozen=True)
class _Rows:
    """What the rows of a file of one kind hold, and what is said of it.

    Parameters
    ----------
    due : str
        What the main column holds.
    names : tuple of str
        Usual names of that column, the likeliest first.
    roles : tuple of str
        Other columns that names can speak of.
    range, range_name, why, example : str
        What is stated as its range, what that is called, why, and where it may come from.
    missing : tuple of str
        What a missing number is called, and how it counts.
    blank, others : str
        How a missing status or label, or one that was not stated, counts, and `{}` for how many
        there are; before it for how many other texts.
    value_name : str
        What a curve is the value of.
    """

    due: str
    names: tuple[str, ...]
    roles: tuple[str, ...]
    range: str
    range_name: str = "range"
    why: str = "They come from outside the file."
    example: str = "For example a manual."
    missing: tuple[str, str] = ("number", "in the lowest interval")
    blank: str = "no label: {:,} people, who count as without it"
    others: str = ("the label has {} besides those that you stated: {:,} people, who count as "
                   "without it")
    value_name: str = "Share of people"
    counts_as: str = "without the label"


_ROWS = {
    Counted.OUTCOMES: _Rows(
        "times", ("time", "days", "months", "years", "weeks", "survival_time", "duration",
                  "follow_up", "futime", "end", "end_date", "exit", "date_of_end", "tstop", "stop",
                  "stop_time", "time2"),
        ("start", "status", "id"), "the planned follow-up", "planned follow-up",
        "It comes from how the study was planned: the longest time in the file would reveal "
        "something about somebody.",
        "For example the protocol of the study.", ("time", "as censored at once"),
        "no status: {:,} people, who count as censored",
        "the status has {} besides the events that you stated: {:,} people, who count as censored",
        counts_as="censored"),
    Counted.VALUES: _Rows(
        "values", ("value", "concentration", "measurement", "result", "level", "y", "x"),
        ("id",), "the lowest and highest possible values"),
    Counted.LABELS: _Rows(
        "scores", ("score", "risk", "prediction", "predicted", "probability", "marker"),
        ("status", "id"), "the lowest and highest possible scores",
        value_name="True-positive share")}


def counted_for(task: str) -> Counted:
    """What a file holds of everybody: a time and how it ended, a score and a label, or a value.

    Parameters
    ----------
    task : str
        Key of a task of counts.
    """
    return ESTIMANDS[task].counted


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Which columns of a table hold what, and what their texts mean; all stated.

    Parameters
    ----------
    time : str
        Times, values or scores; the date of the end where there is a column of starts.
    start : str or None
        Dates at which people came under observation: times are then days from it to `time`.
    status : str or None
        How a time ended, or a label; None where values alone are counted.
    events : tuple of str
        The texts of the status that are events, in their order, or those of the label; everything
        else is censored, or without the label.
    group : str or None
        Which of two groups a person is in.
    groups : tuple of str
        The texts of both groups.
    id, server : str or None
        Who a row belongs to, and where they are.
    counted : Counted
        Whether these are outcomes, values or labels.
    dates : Dates
        How dates are read.
    """

    time: str
    start: str | None = None
    status: str | None = None
    events: tuple[str, ...] = ()
    group: str | None = None
    groups: tuple[str, ...] = ()
    id: str | None = None
    server: str | None = None
    counted: Counted = Counted.OUTCOMES
    dates: Dates = CALENDAR

    data: ClassVar[DataType] = DataType.EVENTS
    is_wide: ClassVar[bool] = False

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        roles = (self.time, self.start, self.status, self.group, self.id, self.server)
        return tuple(name for name in roles if name)

    def of(self, table: Table) -> Table:
        """The table with its dates read as stated; durations count days from any first day.

        Parameters
        ----------
        table : Table
            Of the file.
        """
        return replace(table, dates=replace(self.dates, since=_FIRST_DAY) if self.start else
                       self.dates)

    def unused(self, table: Table) -> list[str]:
        """The columns of a table without a role."""
        return [name for name in table.columns if name not in self.columns]

    def check(self) -> None:
        """Refuse two roles of one column, and texts with two meanings.

        Raises
        ------
        InputError
            Naming the column.
        """
        check_one_role_each(self.columns)
        for field, texts in (("events", self.events), ("groups", self.groups)):
            if twice := repeated(texts):
                raise InputError(f"“{shortened(twice[0])}” is stated twice.", field=field)
        if self.group and len(self.groups) != 2:
            raise InputError(f"Two groups can be compared; got {len(self.groups)}.", field="groups",
                             hint=f"State the two texts of “{shortened(self.group)}” that are "
                             "compared, or leave the column out.")


@named_once
@dataclass(frozen=True, eq=False, kw_only=True)
class EventTable(Observations):
    """People read from a table; `Observations` says what they have in common with curves.

    Parameters
    ----------
    time : (n,)
        NaN where a cell holds no number.
    status : (n,) of int
        1 … J for the stated events, 0 where the text is another one, −1 where there is none.
    group : (n,) of int or None
        1 for the second stated group, 0 for all others.
    counted : Counted
        Whether these are outcomes, values or labels.
    time_unit : str
        Of times between dates; "" where they were numbers.
    """

    time: Array
    status: Integers
    group: Integers | None = None
    counted: Counted = Counted.OUTCOMES
    time_unit: str = ""


_NAMES = {  # usual names of columns, the likeliest first; a status is never the time
    "start": ("start", "start_date", "tstart", "start_time", "entry", "entry_date",
              "diagnosis_date", "date_of_diagnosis", "randomisation_date", "randomization_date"),
    "status": ("status", "event", "end_status", "outcome", "death", "died", "dead", "cause",
               "death_event", "censored", "label", "class", "result", "disease"),
    "id": ("id", "patient_id", "person_id", "subject_id", "participant_id", "patient", "person",
           "subject", "participant")}


def suggest_columns(table: Table, kind: Counted) -> dict[str, str]:
    r"""Columns whose names are usual for a role: to be offered, and changed by the person.

    Parameters
    ----------
    kind : Counted
        Whether these are outcomes, values or labels.

    Returns
    -------
    dict of str to str
        Role to column, for the roles that a name speaks of. Groups and sites are never offered.

    Examples
    --------
    >>> from engine.uploads.tables import read_table
    >>> suggest_columns(read_table(b"Patient ID,Days,Status\n1,12,dead\n"), Counted.OUTCOMES)
    {'time': 'Days', 'status': 'Status', 'id': 'Patient ID'}
    """
    free = {plain_name(column): column for column in reversed(table.columns)}
    rows = _ROWS[kind]
    names = {"time": rows.names, **{role: _NAMES[role] for role in rows.roles}}
    return {role: free[default[0]] for role, listed_names in names.items()
            if (default := [name for name in listed_names if name in free])}


def read_events(table: Table, columns: EventColumns) -> EventTable:
    r"""Read one time for each person, and how it ended.

    Parameters
    ----------
    columns : EventColumns
        With the texts that are events.

    Returns
    -------
    EventTable
        In the unit of the file, by site.

    Raises
    ------
    InputError
        If a column is missing or has two roles, the times hold no number at all or numbers in
        another form, such as 1,095, dates are ambiguous or have no start, no stated text is in its
        column or another spelling of one, somebody has several times that are no intervals one
        after the other, many are in neither group, or there are too few or too many rows.

    Examples
    --------
    >>> from engine.uploads.tables import read_table
    >>> table = read_table(b"days,end\n12,death\n30,alive\n")
    >>> events = read_events(table, EventColumns(time="days", status="end", events=("death",)))
    >>> sorted(zip(events.time.tolist(), events.status.tolist()))
    [(12.0, 1), (30.0, 0)]
    """
    if not 2 <= table.n_rows <= MAX_ROWS:
        raise InputError(f"There are {table.n_rows:,} rows; from 2 to {MAX_ROWS:,} are read.",
                         field="file")
    columns.check()
    table = columns.of(table)
    notes = list(table.notes)
    layout = Layout(columns.id and table.find(columns.id), table.find(columns.time),
                    server=columns.server and table.find(columns.server))
    people = people_of(table, layout, notes)
    check_kinds(table, columns.unused(table), columns.time)
    spans = _times(table, columns, notes)
    status = np.ones(table.n_rows, dtype=np.int64)
    if columns.status is not None:
        _check_meaning(columns.status, columns.events)
        status = _coded(table, columns.status, columns.events, "events", notes)
        if columns.counted is Counted.LABELS:
            status = np.minimum(status, 1)
    codes = _group_codes(table, columns, notes)
    first, last = _rows_that_count(people, spans, status, codes, columns, notes)
    with np.errstate(invalid="ignore"):
        time = spans.end[last] - spans.start[first]
    status, codes = status[last], codes[first]
    group = None
    if columns.group is not None:
        others = int((codes < 1).sum())
        if others > max(1, _FEW_OTHERS * len(codes)):
            raise InputError(f"{others:,} of {len(codes):,} people are in neither group, and would "
                             f"count in “{shortened(columns.groups[0])}”.", field="groups",
                             hint="Leave those of further groups out of the file.")
        if others:
            notes.append(f"in neither group: {others:,} people, who count in "
                         f"“{shortened(columns.groups[0])}”")
        group = np.maximum(codes - 1, 0)
    notes += _doubtful(time, status, columns, table)
    if unused := columns.unused(table):
        notes.append(f"not used: {listed(unused)}")
    order = order_by_person(people.server, people.ids)
    return EventTable(
        time=time[order], status=status[order], group=None if group is None else group[order],
        counted=columns.counted, time_unit=spans.unit, notes=tuple(notes),
        **in_order(table, layout, order, people.server, people.ids, np.empty((len(first), 0)))
        | ({"time_column": ""} if spans.unit else {}))


def _check_meaning(status: str, events: Sequence[str]) -> None:
    """Refuse 1 or yes as an event in a column that says who is censored."""
    if "censor" in plain_name(status) and {text.casefold() for text in events} & _SAYS_SO:
        raise InputError(f"By its name the column “{shortened(status)}” says who is censored, and "
                         "its yes is stated as an event.", field="events", hint="State the text of "
                         "those who are not censored, such as 0; or rename the column.")


def _group_codes(table: Table, columns: EventColumns, notes: list[str]) -> Integers:
    """1 and 2 for the stated groups of all rows (rows,), less for others; 0 without groups."""
    if columns.group is not None:
        return _coded(table, columns.group, columns.groups, "groups", notes)
    if columns.groups:
        raise InputError("Groups are stated, and no column that holds them.", field="group",
                         hint="Choose the column of groups.")
    return np.zeros(table.n_rows, dtype=np.int64)


class _Spans(NamedTuple):
    """Where the time of each row starts and ends (rows,), and the unit of times between dates."""

    start: Array
    end: Array
    unit: str = ""


def _rows_that_count(people: People, spans: _Spans, status: Integers, group: Integers,
                     columns: EventColumns, notes: list[str]) -> tuple[Integers, Integers]:
    """The rows at which the time of each person begins and ends: (n,) each, mostly the same."""
    person = people.person
    first = np.unique(person, return_index=True)[1]
    further = len(person) - len(first)
    if not further:
        return first, first
    whose = first[person]
    agree = [np.array_equal(cells, cells[whose], equal_nan=True)
             for cells in (spans.start, spans.end, status, group)]
    if columns.counted is not Counted.OUTCOMES or all(agree):
        notes.append(f"{counted(further, 'further row')} of people who have several: the first of "
                     "each counts")
        return first, first
    order = np.lexsort((spans.end, spans.start, person))
    if columns.start is None or not agree[-1] or not _are_intervals(
            person[order], _Spans(spans.start[order], spans.end[order], spans.unit),
            status[order]):
        raise InputError(
            f"{int((people.rows > 1).sum()):,} of {len(first):,} people have several rows that are "
            "not intervals one after the other, with the event in the last.",
            field="id", hint="Keep one row of each person: until the first event, or the end of "
            "observation. Or give each interval its start and its stop, without gaps or overlaps, "
            "and one group to a person.")
    notes.append(f"{counted(further, 'further row')} of people who have several: read as intervals "
                 "one after the other, from the first start to the last stop")
    ends = np.cumsum(people.rows)
    return order[ends - people.rows], order[ends - 1]


def _are_intervals(person: Integers, spans: _Spans, status: Integers) -> bool:
    """Whether rows that are in order of people and starts join, without an event before the last.

    Intervals of dates may begin on the day after the one before has ended.
    """
    start, end, unit = spans
    is_next = person[1:] == person[:-1]
    several = np.append(is_next, False) | np.append(False, is_next)
    with np.errstate(invalid="ignore"):
        gaps = (start[1:] - end[:-1])[is_next]
    rounding = 1e-9 * np.abs(end[np.isfinite(end)]).max(initial=1.0)
    return bool((end > start)[several].all() and (gaps >= -rounding).all()
                and (gaps <= (unit == "days") + rounding).all()
                and (status[:-1][is_next] < 1).all())


def _times(table: Table, columns: EventColumns, notes: list[str]) -> _Spans:
    """Starts and ends of all rows; from 0 to times, values or scores without starts."""
    end = _numbers(table, columns.time, columns.counted)
    if columns.start is None:
        if end.conversion and columns.counted is Counted.OUTCOMES and "dates" in end.conversion:
            raise InputError(f"The column “{shortened(columns.time)}” holds dates, and a time is "
                             "counted from a start.", field="start",
                             hint="Choose the column with the date at which each person came under "
                             "observation.")
        if end.conversion:
            notes.append(end.conversion)
        return _Spans(np.zeros(table.n_rows), end.values)
    start = _numbers(table, columns.start, columns.counted)
    if start.kind != end.kind:
        held = {Kind.DATES: "dates", Kind.CLOCK: "clock times"}
        one, other = (held.get(Kind(each.kind), "numbers") if each.kind else "numbers"
                      for each in sorted((start, end), key=lambda each: not each.kind))
        raise InputError(f"Of “{shortened(columns.start)}” and “{shortened(columns.time)}” one "
                         f"holds {one} and the other {other}.", field="start",
                         hint="Give both as dates, or times since the start alone.")
    is_of_dates = end.kind == Kind.DATES
    notes.append(f"times are days from “{shortened(columns.start)}” to "
                 f"“{shortened(columns.time)}”" if is_of_dates else
                 f"times are “{shortened(columns.time)}” less “{shortened(columns.start)}”")
    unit = "days" if is_of_dates else table.dates.unit_of(end.kind)
    return _Spans(start.values, end.values, unit)


def _numbers(table: Table, name: str, kind: Counted) -> Numbers:
    """One column as numbers, with +∞ and −∞ where it says so."""
    column = table.find(name)
    numbers = table.numbers(column)
    if numbers.infinite:
        codes, texts = table.codes(column)
        ends = np.array([_infinite(text, table.decimal) for text in texts])[codes]
        numbers = replace(numbers, values=np.where(np.isnan(ends), numbers.values, ends))
    if numbers.is_ambiguous:
        raise InputError(f"The dates in “{shortened(name)}” can be read in two ways.",
                         field="dates", hint=numbers.advice)
    if numbers.unreadable and numbers.advice != FILL_IN:  # a number in another form is no gap
        raise InputError(f"{counted(numbers.unreadable, 'row')} of column “{shortened(name)}” "
                         f"{'holds' if numbers.unreadable == 1 else 'hold'} no number.",
                         field="time", hint=numbers.advice)
    if kind is Counted.OUTCOMES and not numbers.kind:
        check_not_compact(numbers.values, name)
    if np.isnan(numbers.values).all():
        raise InputError(f"The column “{shortened(name)}” holds no number.", field="time",
                         hint=numbers.advice if numbers.unreadable else
                         f"Choose the column of {_ROWS[kind].due}.")
    return numbers


def _infinite(text: str, decimal: str) -> float:
    try:
        number = float(text.replace(decimal, "."))
    except ValueError:
        return math.nan
    return number if math.isinf(number) else math.nan


def _coded(table: Table, name: str, stated: Sequence[str], field: str, notes: list[str]
           ) -> Integers:
    """1 … J for the stated texts of a column, 0 for others, −1 where nothing stands: (rows,).

    A stated text that nobody has is told the holder and no reason to refuse, or a release would
    show that somebody has it; where nobody has any of them it is the wrong column.
    """
    column = table.find(name)
    if not stated:
        raise InputError(f"Say which texts of “{shortened(name)}” are {field}.", field=field,
                         hint="Give each text as it stands in the file.")
    codes, texts = table.codes(column)
    check_spellings(texts, stated, field)
    strange = [text for text in stated if text not in texts]
    if len(strange) == len(stated):
        raise InputError(f"The column “{shortened(name)}” never holds {listed(strange)}.",
                         field=field, hint="Give each text as it stands in the file.")
    if strange:
        notes.append(f"“{shortened(name)}” never holds {listed(strange)}")
    meaning = [stated.index(text) + 1 if text in stated else 0 if text else _UNKNOWN
               for text in texts]
    return np.array(meaning, dtype=np.int64)[codes]


def _doubtful(time: Array, status: Integers, columns: EventColumns, table: Table) -> list[str]:
    """What strange rows count as; counts of private data, for the holder alone."""
    missing, rows = int(np.isnan(time).sum()), _ROWS[columns.counted]
    noun, counts_as = rows.missing
    applies = {f"{counted(missing, noun)} missing: these people count {counts_as}": missing}
    if columns.counted is Counted.OUTCOMES:
        early = int((time <= 0).sum())
        applies[f"{counted(early, 'time')} of 0 or less: these people count in the first "
                "interval"] = early
    if columns.status is not None:
        blank, others = int((status == _UNKNOWN).sum()), int((status == 0).sum())
        applies[rows.blank.format(blank)] = blank
        texts = {*table.codes(table.find(columns.status))[1]} - {*columns.events, ""}
        applies[rows.others.format(counted(len(texts), "text"), others)] = others
    return [note for note, holds in applies.items() if holds]


def notes_on_events(table: EventTable, notes: tuple[str, ...], n_further: int,
                    n_others: int) -> EventTable:
    """Return times with what their holder should know of them: counts of private data."""
    rows, missing = _ROWS[table.counted], int(np.isnan(table.time).sum())
    noun, counts_as = rows.missing
    early = int((table.time <= 0).sum()) if table.counted is Counted.OUTCOMES else 0
    blank = int((table.status == _UNKNOWN).sum())
    applies = {
        f"{counted(n_further, 'further line')} of people who have several": n_further,
        f"{counted(missing, noun)} missing: these people count {counts_as}": missing,
        f"{counted(early, 'time')} of 0 or less: these people count in the first interval": early,
        rows.blank.format(blank): blank,
        f"{counted(n_others, 'line')} with another text than the stated ones: "
        f"{rows.counts_as}": n_others}
    return replace(table, notes=(*notes, *(note for note, holds in applies.items() if holds)))


def codes_in(table: Table, column: str) -> tuple[str, ...]:
    """The texts of a column of codes, for its holder to say what they mean.

    Parameters
    ----------
    column : str

    Raises
    ------
    InputError
        If there are more than `MAX_CODES`: then it holds no codes.
    """
    if table.n_texts(column) > MAX_CODES:
        raise InputError(f"The column “{shortened(column)}” holds more than {MAX_CODES} different "
                         "texts.", field="status", hint="Choose a column of codes, such as alive "
                         "and dead.")
    return tuple(sorted(text for text in table.codes(column)[1] if text))


def declare_events(time_low: float | None, time_high: float | None, origin: str,
                   columns: EventColumns, edges: Sequence[float] = (),
                   group_sizes: Sequence[int] = (), **words: Any) -> EventFacts:
    """The facts a person states about their times, from outside the data.

    Parameters
    ----------
    time_low, time_high : float
        0 and the planned follow-up, not the longest time seen; of scores and values their range.
    origin : str
        Where they come from: a protocol, a manual.
    columns : EventColumns
        With the names of events and groups.
    edges : sequence of float
        Those of the intervals; none for equally wide ones.
    group_sizes : sequence of int
        Sizes of the groups, where they are public.
    **words : str
        "time_name", "time_unit", "person" and "people", of which empty ones are left as usual.

    Raises
    ------
    InputError
        If the range or the origin is not stated or makes no sense.
    """
    rows, labels = _ROWS[columns.counted], columns.counted is Counted.LABELS
    low, high = stated_bounds("time", (time_low, time_high), rows.range, rows.why)
    if not origin.strip():
        raise InputError(f"Say where the {rows.range_name} comes from.", field="origin",
                         hint=rows.example)
    if not all(math.isfinite(edge) for edge in edges):
        raise InputError("The edges of intervals must be numbers.", field="edges",
                         hint="For example 0, 90, 180, 365.")
    causes = columns.events or ("Event",)
    return EventFacts(
        kind=DataKind.UPLOAD, name="Your people", time_low=low, time_high=high,
        origin=origin.strip()[:200], causes=(OR.join(causes),) if labels else causes,
        groups=columns.groups, edges=tuple(map(float, edges)),
        group_sizes=tuple(map(int, group_sizes)),
        value_name=rows.value_name, value_low=0.0, value_high=1.0,
        **{name: word for name, word in words.items() if word})


class Moved(NamedTuple):
    """How many people have a time outside what was stated; for the holder of the file alone."""

    below: int
    beyond: int


@dataclass(frozen=True, kw_only=True, eq=False)
class UploadEvents(UploadedData[EventData]):
    """A person's own times with the facts they declared; the same in every draw.

    Parameters
    ----------
    events : EventTable
        As they stand in the file.
    declared : EventFacts
        From `declare_events`.
    """

    key = "upload_events"
    label = "Your people"
    tasks: ClassVar[frozenset[str]] = frozenset(ESTIMANDS)

    read_as = "events"

    events: EventTable
    declared: EventFacts

    def __post_init__(self) -> None:
        super().__post_init__()
        check_named_units([(self.events.time_column, self.declared.time_unit)])
        if self.events.counted is Counted.OUTCOMES:
            check_follow_up(self.events.time, self.events.status > 0, self.declared,
                            self.events.time_unit)
        else:
            check_numbers(self.events.time, self.declared)

    @property
    def observations(self) -> EventTable:
        return self.events

    @property
    def facts(self) -> EventFacts:
        """What was declared, and nothing else."""
        return self.declared

    @property
    def sizes(self) -> Sizes:
        return Sizes(tuple(np.bincount(self.events.server).tolist()), len(self.events.time), 1)

    @property
    def moved(self) -> Moved:
        """How many times are outside the stated range, and count at its ends."""
        time, facts = self.events.time, self.declared
        return Moved(int((time < facts.time_low).sum()), int((time > facts.time_high).sum()))

    def remarks(self) -> list[str]:
        """What of the times counts at an end of the stated range; for their holder alone."""
        below, beyond = self.moved
        facts = self.declared
        of_outcomes = self.events.counted is Counted.OUTCOMES
        codes = remarks_on_codes(self.events.time, facts.time_low, facts.time_high,
                                 uncapital(facts.time_name), *(OF_OUTCOMES,) * of_outcomes)
        if self.events.counted is not Counted.OUTCOMES:
            outside = below + beyond
            return [f"{outside:,} people lie outside the stated range and count at its nearest end."
                    ] * bool(outside) + codes
        return codes + [sentence for count, sentence in (
            (below, f"{counted(below, 'time')} below 0: these people count in the first interval."),
            (beyond, f"{counted(beyond, 'time')} beyond the stated end: these people count as "
             "event-free until then.")) if count]

    def serves(self, task: str) -> bool:
        """What a file was read for: outcomes, values or labels; incidences need several events."""
        if task not in self.tasks:
            return False
        estimand = ESTIMANDS[task]
        return estimand.counted is self.events.counted and (
            not estimand.tells_causes or len(self.declared.causes) > 1)

    def check_sizes(self) -> None:
        """Compare the sizes of groups that were stated as public with those in the file.

        Raises
        ------
        InputError
            If they are others: what is stated as public must be true.
        """
        stated, group = self.declared.group_sizes, self.events.group
        if stated and group is not None and stated != (int((group == 0).sum()),
                                                       int((group == 1).sum())):
            raise InputError("The sizes of the groups are stated as public, and these are others.",
                             field="group_sizes",
                             hint="State those of the protocol, or leave them private.")

    def contents(self) -> Iterable[bytes]:
        """All people together, whom one call sorts; a million hashes would take seconds."""
        return [self._people]

    def traces(self) -> Traces:
        """Ids alone: a time and a status tell nobody apart; see `Source.traces`."""
        events = self.events
        columns = [events.time, events.status.astype(float)]
        if events.group is not None:
            columns.append(events.group.astype(float))
        rows = np.ascontiguousarray(np.column_stack(columns), "<f8")
        return traces_of(events, lambda: pieces(
            np.arange(1, len(rows) + 1) * rows.shape[1], rows.ravel()), reading=self.reading)

    @property
    def _people(self) -> bytes:
        return people_in_order(self.events.time, self.events.status, self.events.group)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Return the people as they are; `rng` is not used.

        Raises
        ------
        InputError
            If more than one data set is asked for: there is only one.
        """
        self._only_once(n_repeats)
        events = self.events
        return EventData(events.time[None], events.status[None], events.server, self.declared,
                         None if events.group is None else events.group[None])
