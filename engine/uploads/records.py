"""Conversion of lines to one record of each person: curves, rows of numbers, times and ends.

Lemma 1
-------
Let R be a complete reading, and x and x′ two files in its domain (`engine.uploads.people`) that are
neighbours: they have the same ids in normal form, and all their lines but those of one id i are
equal as a multiset. (Where every line is stated to be another person: they have as many lines, and
one differs.) Let L_j(x) be the lines of id j, and let g map them to that person's record: keeping,
averaging or joining observations, counting times from the first of them, taking changes between
two periods, taking the code of a group. Then D(x) = {g(L_j(x)) : j} and D(x′) have equal n and
differ in at most the record of i.

*Proof.* Framing cuts at every line feed and carriage return, also inside quotation marks, and tells
of each line alone if it is in the frame (`engine.uploads.lines`); a cell is read by the entry of
its column (`engine.uploads.cells`), and an id is brought to its normal form by itself. So a line of
x gives the same numbers and the same id as the equal line of x′, and L_j, a filter by a function of
the line, has L_j(x) = L_j(x′) for j ≠ i. Each function below computes the record of j from L_j
alone: sums, means, minima and orders are taken within one person, and what runs over all lines at
once (sorting, ranking moments, counting) gives each person what it would give for them alone. As
lines are put in order of what they hold before anything is added up, equal multisets give equal
records to the last bit. The ids are the same, so n is. Whose record comes first depends on the ids,
and what is published is taken in a uniformly random order. ∎

So every sensitivity that is proved for “one record is replaced” holds for bytes of a file. The
refusals below depend on private data: they are told to the holder alone, and publish nothing.
Membership in groups and sites is public: neighbours share it, as they share ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.types import Array
from engine.core.types.facts import MAX_GROUPS
from engine.numerics.counts.cells import Counted
from engine.uploads.cells import unit_of
from engine.uploads.changes import changes_of
from engine.uploads.columns import order_by_person
from engine.uploads.curves import MAX_CURVES, MAX_POINTS, CurveTable, in_time_order, notes_on_curves
from engine.uploads.events import EventColumns, EventTable, notes_on_events
from engine.uploads.people import OTHER, Integers, People, unit_of_spans
from engine.uploads.reading_of_files import FIRST, Column, Kind, Other, Reading
from engine.uploads.rows import MAX_ROWS, RowTable, notes_on_rows
from engine.uploads.spellings import check_sites

_FEW_PEOPLE = 10  # at a site, below which hospitals usually keep a number to themselves
_FEW_OTHERS = 0.1  # a share of people whose group may be missing or misspelled
_ROUNDING = 1e-9  # of the ends of intervals, relative
EventCounts = Counter[str]  # of people, lines and ids, by what is told of them


class _Whose(NamedTuple):
    """The record of each line (lines,), and site and id of each record (n,)."""

    record: Integers
    server: Integers
    ids: tuple[str, ...]
    server_names: tuple[str, ...]

    @property
    def n(self) -> int:
        return len(self.ids)


def _whose(people: People, is_part: bool = False) -> _Whose:
    """Tell records apart: sites number their people on their own, so an id at two is two people.

    Each stated site has somebody, but for a part of the people.
    """
    if "site" not in people.codes:
        return _Whose(people.person, np.zeros(len(people.ids), dtype=np.int64), people.ids, ())
    names = tuple(map(str, people.words["site"]))
    check_sites(names)
    keys, record = np.unique(people.person * len(names) + people.codes["site"], return_inverse=True)
    server = keys % len(names)
    if not is_part:
        check_no_site_is_empty(server, names)
    return _Whose(
        record.astype(np.int64),
        server,
        tuple(people.ids[place] for place in keys // len(names)),
        names,
    )


def check_no_site_is_empty(server: Integers, names: Sequence[str]) -> None:
    """Refuse stated sites without people."""
    empty = len(names) - len(np.unique(server)) if names else 0
    if empty:
        raise InputError(
            f"{counted(empty, 'stated site')} {'has' if empty == 1 else 'have'} "
            "nobody in this file.",
            field="site",
            hint="Name the sites of the file, and no others, as “words” of “site”.",
        )


def _notes(people: People, whose: _Whose) -> tuple[str, ...]:
    """Return how the file was read, and what may be wrong with its sites: private counts."""
    is_of_sites = bool(whose.server_names)
    return (*people.notes, *_notes_on_sites(whose.server, len(people.ids), is_of_sites))


def _notes_on_sites(server: Integers, n_ids: int, is_of_sites: bool) -> tuple[str, ...]:
    """Return what may be wrong with sites: private counts."""
    few = int((np.bincount(server) < _FEW_PEOPLE).sum()) if is_of_sites else 0
    several = len(server) - n_ids
    applies = {
        f"{counted(few, 'site')} with fewer than {_FEW_PEOPLE} people: how many each site has is "
        "published, so that who is there may be no secret": few,
        f"{counted(several, 'id')} at more than one site: taken for different people": several,
    }
    return tuple(note for note, holds in applies.items() if holds)


def _in_order(
    people: People, whose: _Whose, order: Integers, covariates: Array, columns: Sequence[Column]
) -> dict[str, Any]:
    """Return what all kinds of records say of everybody, in the order of `order_by_person`."""
    has_ids = people.reading.person is not None and not people.reading.person.rows
    return {
        "server": whose.server[order],
        "covariates": covariates[order],
        "covariate_names": tuple(column.name for column in columns),
        "ids": tuple(map(whose.ids.__getitem__, order.tolist())) if has_ids else (),
        "spellings": people.spellings,
        "server_names": whose.server_names,
        "time_column": _number_column(people.reading, "time"),
        "value_column": _number_column(people.reading, "value"),
    }


def _number_column(reading: Reading, role: str) -> str:
    """Return the name of a column of plain numbers; "" where there is none."""
    column = reading.columns.get(role)
    return column.name if column is not None and column.kind is Kind.NUMBER else ""


def _one_of_each(values: Array, record: Integers, n: int, what: str) -> Array:
    """Return one value for each record (n,), NaN where it has none; two that differ are refused."""
    lowest, changing = _lowest(values, record, n)
    if changing:
        raise _changes(what, changing, n)
    return lowest


def _lowest(values: Array, record: Integers, n: int) -> tuple[Array, int]:
    """Return the lowest value of each record (n,), and count those with two that differ."""
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    known = np.isfinite(values)
    np.minimum.at(low, record[known], values[known])
    np.maximum.at(high, record[known], values[known])
    return np.where(np.isfinite(low), low, np.nan), int((low < high).sum())


def _changes(what: str, number: int, n: int) -> InputError:
    return InputError(
        f"{what} changes within the lines of {number:,} of {n:,} people.",
        field="covariates",
        hint="It has one value for each person: choose another column, or correct these lines.",
    )


def _several(number: int, n: int, hint: str) -> InputError:
    return InputError(f"{number:,} of {n:,} people have several lines.", field="several", hint=hint)


# -- curves ----------------------------------------------------------------------------------------


def curves_of(people: People, single: bool = False) -> CurveTable:
    r"""Return the curve of each person, or, if `single`, the one observation of each.

    Examples
    --------
    >>> from engine.uploads.people import read
    >>> reading = Reading.of({"frame": {"separator": ",", "encoding": "utf-8",
    ...                                 "header": ["child", "2", "6", "10"]},
    ...     "person": {"column": "child"},
    ...     "columns": {"values": {"at": [["2", 2], ["6", 6], ["10", 10]]}}})
    >>> curves = curves_of(read(b"child,2,6,10\nann,86,115,138\nbob,84,112,135\n", reading))
    >>> curves.n_curves, curves.counts, curves.times
    (2, array([3, 3]), array([ 2.,  6., 10.,  2.,  6., 10.]))
    """
    whose = _whose(people)
    if whose.n > MAX_CURVES:
        raise InputError(
            f"There are {whose.n:,} curves; at most {MAX_CURVES:,} are read.",
            field="person",
            hint="Take a part of them, or check which column says who a line belongs to.",
        )
    curves, n_missing = _curves(people, whose, order_by_person(whose.server, whose.ids))
    if not len(curves.times):
        raise nothing_known()
    if curves.counts.max() > MAX_POINTS:
        raise InputError(
            f"A curve has more than {MAX_POINTS:,} observations.",
            field="time",
            hint="Thin the observations of long curves, or check which column says "
            "who a line belongs to.",
        )
    return notes_on_curves(curves, _notes(people, whose), n_missing, single)


def nothing_known() -> InputError:
    """Return the refusal of a file without an observation."""
    return InputError(
        "No line has both a time and a value.",
        field="value",
        hint="Check which columns the reading says hold them.",
    )


def part_of_curves(people: People) -> tuple[CurveTable, int]:
    """Return curves of some people of a file, by site, and the number of missing cells."""
    whose = _whose(people, is_part=True)
    return _curves(people, whose, np.argsort(whose.server, kind="stable"))


def _curves(people: People, whose: _Whose, order: Integers) -> tuple[CurveTable, int]:
    """Return the curve of each person in an order, and count observations with a part missing."""
    reading = people.reading
    read = _of_changes if reading.is_of_changes else _of_wide if reading.is_wide else _of_long
    record, times, values = read(people, whose)
    known = np.isfinite(times) & np.isfinite(values)
    n_missing = int((~known).sum())
    if n_missing:
        record, times, values = record[known], times[known], values[known]
    if _counts_from_first(reading):
        first = np.full(whose.n, np.inf)
        np.minimum.at(first, record, times)
        times = times - first[record]
    curve, times, values = in_time_order(np.argsort(order)[record], times, values)
    covariates = np.empty((whose.n, len(reading.covariates)))
    for k, column in enumerate(reading.covariates):
        covariates[:, k] = _one_of_each(
            people.covariates[:, k],
            whose.record,
            whose.n,
            f"The covariate “{shortened(column.name)}”",
        )
    curves = CurveTable(
        times=times,
        values=values,
        counts=np.bincount(curve, minlength=whose.n).astype(np.int64),
        n_people=whose.n,
        header_times=()
        if people.times is None or _counts_from_first(reading)
        else tuple(people.times.tolist()),
        time_unit=_time_unit(reading),
        **_groups(people, whose, order),
        **_in_order(people, whose, order, covariates, reading.covariates),
    )
    return curves, n_missing


def _counts_from_first(reading: Reading) -> bool:
    time = reading.columns.get("time")
    return time is not None and time.counted.endswith(FIRST)


def _time_unit(reading: Reading) -> str:
    time = reading.columns.get("time")
    return "" if time is None else unit_of(time)


def _of_changes(people: People, whose: _Whose) -> tuple[Integers, Array, Array]:
    """Return record, time and change between two periods; see `engine.uploads.changes`."""
    record, period, times = whose.record, people.codes["period"], people.times
    if people.reading.is_wide:
        assert times is not None
        wide = people.columns["wide"]
        record, period = (np.repeat(each, len(times)) for each in (record, period))
        times, values = np.tile(times, len(wide)), wide.ravel()
    else:
        _check_named(people)
        times, values = people.columns["time"], people.columns["value"]
    return changes_of(record, period, times, values, people.reading.several == "refuse")


def _of_long(people: People, whose: _Whose) -> tuple[Integers, Array, Array]:
    """Return record, time and value of each line; or of each moment of a person, averaged."""
    _check_named(people)
    times, values = people.columns["time"], people.columns["value"]
    several = people.reading.several
    if several == "keep":
        return whose.record, times, values
    if several == "join":
        raise InputError(
            "Observations are not joined.",
            field="several",
            hint="State “keep”, “average” or “refuse”.",
        )
    order = np.lexsort((values, times, whose.record))
    record, times, values = whose.record[order], times[order], values[order]
    known = np.isfinite(times) & np.isfinite(values)
    is_first = np.append(True, (record[1:] != record[:-1]) | (times[1:] != times[:-1]))
    if several == "refuse" and not is_first[known].all():
        number = len(np.unique(record[known & ~is_first]))
        raise _several(
            number, whose.n, "State “keep” to use all observations of one time, or “average”."
        )
    keep = np.flatnonzero(known)
    starts = _starts(record[keep], times[keep])
    sizes = np.diff(np.append(starts, len(keep)))
    means = (
        np.add.reduceat(values[keep] / np.repeat(sizes, sizes), starts)
        if len(keep)
        else (values[keep])
    )  # a sum of large values could overflow
    unknown = np.flatnonzero(~known)
    return (
        np.concatenate([record[keep][starts], record[unknown]]),
        np.concatenate([times[keep][starts], times[unknown]]),
        np.concatenate([means, values[unknown]]),
    )


def _check_named(people: People) -> None:
    """Refuse a reading without times or values."""
    missing = [role for role in ("time", "value") if role not in people.columns]
    if missing:
        raise InputError(
            f"The reading names no column of the role {missing[0]}.",
            field=missing[0],
            hint=f'State it in “columns”, such as "{missing[0]}": {{"name": "…"}}.',
        )


def _starts(record: Integers, times: Array) -> Integers:
    """Return where each moment of a person begins among sorted lines."""
    if not len(record):
        return np.empty(0, dtype=np.int64)
    is_new = (record[1:] != record[:-1]) | (times[1:] != times[:-1])
    return np.flatnonzero(np.append(True, is_new))


def _of_wide(people: People, whose: _Whose) -> tuple[Integers, Array, Array]:
    """Return record, time and value of each cell; several curves of a person are averaged."""
    wide, times, record = people.columns["wide"], people.times, whose.record
    assert times is not None  # where a row or a column is a curve
    several = int((np.bincount(record, minlength=whose.n) > 1).sum())
    if several:
        if people.reading.several != "average":
            raise _several(
                several,
                whose.n,
                'State "several": "average" to average them: one '
                "person is protected. If every line is another person, say so as "
                "“person”.",
            )
        wide, record = _averaged(wide, record, whose.n), np.arange(whose.n)
    return np.repeat(record, len(times)), np.tile(times, len(record)), wide.ravel()


def _averaged(cells: Array, record: Integers, n: int) -> Array:
    """Return the average of the lines of each record (n, m), of the cells that hold a number."""
    order = np.lexsort((*cells.T[::-1], record))
    cells, record = cells[order], record[order]
    known = np.isfinite(cells)
    number, total = np.zeros((n, cells.shape[1])), np.zeros((n, cells.shape[1]))
    np.add.at(number, record, known)
    np.add.at(total, record, np.where(known, cells, 0.0) / np.maximum(number, 1)[record])
    return np.where(number > 0, total, np.nan)


def _groups(people: People, whose: _Whose, order: Integers) -> dict[str, Any]:
    """Return the group of each record, in order, and the names: "" is nobody's who is in none."""
    if "group" not in people.codes:
        return {}
    names = tuple(map(str, people.words["group"]))
    code = np.where(people.codes["group"] < 0, len(names), people.codes["group"])
    group, several = _lowest_group(code, whose)
    if several:
        raise _in_two(several, whose.n)
    return {"group": group[order], "group_names": (*names, "")}


def _lowest_group(code: Integers, whose: _Whose) -> tuple[Integers, int]:
    """Return the first group of each record (n,), and count those in several."""
    low, high = np.full(whose.n, code.max(initial=0)), np.full(whose.n, code.min(initial=0))
    np.minimum.at(low, whose.record, code)
    np.maximum.at(high, whose.record, code)
    return low, int((low < high).sum())


def _in_two(number: int, n: int) -> InputError:
    return InputError(
        f"{number:,} of {n:,} people are in several groups.",
        field="group",
        hint="Only groups of which nobody is in two can be compared: whoever is in two pays "
        "for both releases, and these are not independent.",
    )


# -- rows ------------------------------------------------------------------------------------------


def rows_of(people: People) -> RowTable:
    """Return the record of each person: the numbers of one line."""
    reading, whose = people.reading, _whose(people)
    columns = reading.features or reading.covariates
    if not columns:
        raise InputError(
            "The reading names no features.",
            field="features",
            hint="State at least one column of numbers, as “features”.",
        )
    check_several(whose.n)
    _check_most(whose.n)
    several = int((np.bincount(whose.record, minlength=whose.n) > 1).sum())
    if several:
        raise _several(
            several,
            whose.n,
            "One record is protected, so they would be protected "
            "less. Keep one line of each, by a rule that does not look at the numbers, "
            "such as the first visit.",
        )
    line = np.argsort(whose.record)
    covariates = people.covariates[line][:, : len(columns)]
    named = dict(zip((column.name for column in columns), covariates.T, strict=True))
    values = people.columns["value"][line] if "value" in people.columns else None
    if values is not None:
        named[reading.columns["value"].name] = values
    for name, numbers in named.items():
        if not np.isfinite(numbers).any():
            raise InputError(
                f"The column “{shortened(name)}” holds no number.",
                field="features",
                hint="Choose another column.",
            )
    order = order_by_person(whose.server, whose.ids)
    rows = RowTable(
        values=None if values is None else values[order],
        value_name=reading.columns["value"].name if values is not None else None,
        **_in_order(people, whose, order, covariates, columns),
    )
    return notes_on_rows(rows, _notes(people, whose))


def check_several(n: int) -> None:
    """Refuse a file of one person."""
    if n < 2:
        raise InputError("There is only one person.", field="file", hint="Protection needs others.")


def _check_most(n: int) -> None:
    if n > MAX_ROWS:
        raise InputError(
            f"There are {n:,} people; at most {MAX_ROWS:,} are read.",
            field="file",
            hint="Take a part of them, chosen without looking at the numbers.",
        )


# -- times and how they ended ----------------------------------------------------------------------


def event_columns(reading: Reading, kind: Counted) -> EventColumns:
    """Return what a reading says that the texts of a status and of groups mean."""
    return EventColumns(
        counted=kind,
        events=_events_in(reading),
        groups=reading.groups,
        enters_late="entry" in reading.columns,
        at_visits="without" in reading.columns,
    )


def _events_in(reading: Reading) -> tuple[str, ...]:
    """Return the events that words of the status mean, in their order; 0 is none."""
    status = reading.columns.get("status")
    if status is None:
        return ()
    return tuple(
        _word(meaning)
        for meaning in dict.fromkeys(status.words.values())
        if meaning not in (0, "0")
    )


def _word(meaning: str | float) -> str:
    return meaning if isinstance(meaning, str) else f"{meaning:g}"


def events_of(people: People, kind: Counted) -> EventTable:
    r"""Return one time of each person and how it ended, one value, or one score with a label.

    Examples
    --------
    >>> from engine.uploads.people import read
    >>> reading = Reading.of({"frame": {"separator": ",", "encoding": "utf-8",
    ...                                 "header": ["id", "days", "end"]},
    ...     "person": {"column": "id"}, "columns": {"time": {"name": "days"},
    ...     "status": {"name": "end", "kind": "word", "words": {"death": "death"},
    ...                "other": "censored"}}})
    >>> events = events_of(read(b"id,days,end\na,12,death\nb,30,alive\n", reading),
    ...                    Counted.OUTCOMES)
    >>> sorted(zip(events.time.tolist(), events.status.tolist()))
    [(12.0, 1), (30.0, 0)]
    """
    whose = _whose(people)
    check_several(whose.n)
    _check_most(whose.n)
    check_event_columns(people.reading, kind)
    order = order_by_person(whose.server, whose.ids)
    table, counts = _events(people, whose, order, kind)
    return checked_events(table, counts, people.reading, people.notes)


def part_of_events(people: People, kind: Counted) -> tuple[EventTable, EventCounts]:
    """Return the times of some people of a file, by site, and what `checked_events` counts."""
    whose = _whose(people, is_part=True)
    return _events(people, whose, np.argsort(whose.server, kind="stable"), kind)


def _events(
    people: People, whose: _Whose, order: Integers, kind: Counted
) -> tuple[EventTable, EventCounts]:
    """Return one time of each person in an order, and count who is to be refused or told of."""
    reading, counts = people.reading, Counter[str]()
    counts["ids"], counts["lines"] = len(people.ids), people.n_lines
    counts["others"] = int((people.codes.get("status", np.empty(0)) == OTHER).sum())
    spans = _spans(people, _status(people, kind))
    time, entry, status = _one_time_of_each(spans, whose, reading, kind, counts)
    without = None
    if "without" in reading.columns:  # whoever has a first visit with the event had it
        without, entry, status = entry, None, (~np.isnan(time)).astype(np.int64)
    group = _event_groups(people, whose, counts)
    table = EventTable(
        time=time[order],
        entry=None if entry is None else entry[order],
        without=None if without is None else without[order],
        status=status[order],
        group=None if group is None else group[order],
        counted=kind,
        time_unit=unit_of_spans(reading),
        **_in_order(people, whose, order, np.empty((whose.n, 0)), ()),
    )
    return table, counts


def checked_events(
    table: EventTable, counts: EventCounts, reading: Reading, notes: tuple[str, ...] = ()
) -> EventTable:
    """Return the times of all people with notes on them, unless their counts are refused.

    Counts add up over parts of the people, so that what is refused does not depend on parts.
    """
    n, kind = len(table.time), table.counted
    for what, refusal in _REFUSALS.items():
        if counts[what]:
            raise refusal(counts[what], n)
    if counts["several"]:
        raise _several(counts["several"], n, _HINTS_ON_SEVERAL[kind is Counted.OUTCOMES])
    if np.isnan(table.time).all():
        raise InputError(
            f"The column “{shortened(reading.columns['time'].name)}” holds no number.",
            field="time",
            hint="Choose another column.",
        )
    if kind is not Counted.VALUES and not (table.status > 0).any():
        raise InputError(
            "No line has a text that the reading says is an event.",
            field="status",
            hint="Give the “words” of the status as they stand in the file.",
        )
    if counts["in two"]:
        raise _in_two(counts["in two"], n)
    if counts["in neither"] > max(1, _FEW_OTHERS * n):
        raise InputError(
            f"{counts['in neither']:,} of {n:,} people are in no stated group, and would count "
            f"in “{shortened(reading.groups[0])}”.",
            field="group",
            hint="Leave those of further groups out of the file.",
        )
    on_sites = _notes_on_sites(table.server, counts["ids"], bool(table.server_names))
    return notes_on_events(table, (*notes, *on_sites), counts["lines"] - n, counts["others"])


def check_event_columns(reading: Reading, kind: Counted) -> None:
    """Refuse a reading without what such data need."""
    if "time" not in reading.columns:
        raise InputError(
            "The reading names no column of the role time.",
            field="time",
            hint='State it in “columns”, such as "time": {"name": "days"}.',
        )
    if "without" in reading.columns:
        _check_visits(reading)
    elif kind is not Counted.VALUES and not _events_in(reading):
        raise InputError(
            "The reading says of no text that it is an event.",
            field="status",
            hint='State “status”, such as {"name": "end", "kind": "word", "words": '
            '{"death": "death"}, "other": "censored"}.',
        )
    spans = {"start", "entry", "without"} & reading.columns.keys()
    if spans and kind is not Counted.OUTCOMES:
        raise InputError(
            "Only times until an event have a start.",
            field=min(spans),
            hint="Leave it out of the reading.",
        )
    if (
        kind is Counted.OUTCOMES
        and reading.columns["time"].kind is Kind.DATE
        and "start" not in reading.columns
    ):
        raise InputError(
            f"The column “{shortened(reading.columns['time'].name)}” holds dates, and "
            "a time is counted from a start.",
            field="start",
            hint="State as “start” the column with the date at which each person’s "
            "own time begins.",
        )
    if "group" in reading.columns:
        _check_event_groups(reading)


def _check_visits(reading: Reading) -> None:
    """Refuse a status and an entry beside two visits, which say all that is counted."""
    for role in ("status", "entry"):
        if role in reading.columns:
            raise InputError(
                "The last visit without the event and the first with it say all that is counted.",
                field=role,
                hint=f"Leave the column of the role “{role}” out.",
            )


def _check_event_groups(reading: Reading) -> None:
    """Refuse too few or too many groups, or groups of which people are left out."""
    column, number = reading.columns["group"], len(reading.groups)
    if not 1 < number <= MAX_GROUPS:
        raise InputError(
            f"There can be 2 to {MAX_GROUPS} groups; the reading has {number}.",
            field="group",
            hint="State the texts of all groups as “words” of “group”.",
        )
    if column.other is Other.LEFT_OUT:
        raise InputError(
            "Whoever is in no stated group is not left out here: how many people there "
            "are would depend on it.",
            field="group",
            hint='State "other": "missing": such people count in the first group; '
            "or leave those of further groups out of the file.",
        )


class _Spans(NamedTuple):
    """Beginning of a person's own time, span of observation, and status of each line (lines,)."""

    origin: Array
    start: Array
    end: Array
    status: Integers


def _spans(people: People, status: Integers) -> _Spans:
    """Return what each line spans: times count from a start, else from 0.

    It begins at the entry or the last visit without the event where one is stated, else when the
    time does.
    """
    end, origin, entry = (people.columns.get(role) for role in ("time", "start", "entry"))
    assert end is not None  # `check_event_columns`
    if origin is None:
        origin = np.zeros(len(end))
    entry = people.columns.get("without", entry)
    return _Spans(origin, origin if entry is None else entry, end, status)


def _status(people: People, kind: Counted) -> Integers:
    """Return 1 … J for events, 0 for other texts, −1 where nothing stands (lines,)."""
    if "status" not in people.codes:
        return np.ones(people.n_lines, dtype=np.int64)
    code, words = people.codes["status"], people.words["status"]
    events = _events_in(people.reading)
    number = np.array(
        [*(events.index(_word(word)) + 1 if _word(word) in events else 0 for word in words), 0, -1],
        dtype=np.int64,
    )  # OTHER, UNKNOWN from behind
    status: Integers = number[code]
    return np.minimum(status, 1) if kind is Counted.LABELS else status


def _one_time_of_each(
    spans: _Spans, whose: _Whose, reading: Reading, kind: Counted, counts: EventCounts
) -> tuple[Array, Array | None, Integers]:
    """Return time, entry and status of each record (n,), and count those that have none.

    Of several lines the first start is the entry, and the last stop the time.
    """
    record = whose.record
    order = np.lexsort((spans.status, spans.end, spans.start, record))
    record, status = record[order], spans.status[order]
    start, end, origin = spans.start[order], spans.end[order], spans.origin[order]
    is_new = np.append(True, record[1:] != record[:-1])
    same = ~is_new & np.append(False, _equal(start) & _equal(end) & (status[1:] == status[:-1]))
    if same.any():  # copies of a line say nothing more
        record, start, end, status = record[~same], start[~same], end[~same], status[~same]
        origin = origin[~same]
    first = np.flatnonzero(np.append(True, record[1:] != record[:-1]))
    last = np.append(first[1:], len(record)) - 1
    with np.errstate(invalid="ignore"):
        time = end[last] - origin[first]
        has_two = {"entry", "without"} & reading.columns.keys()
        entry = start[first] - origin[first] if has_two else None
    has_several, has_starts = first < last, {"start", "entry"} & reading.columns.keys()
    if kind is Counted.OUTCOMES and reading.several == "join" and has_starts:
        counts["unjoined"] = _n_unjoined(
            record, start, end, status, unit_of_spans(reading) == "days"
        )
    elif kind is not Counted.OUTCOMES and reading.several == "average":
        label, counts["labels"] = _lowest(status.astype(float), record, whose.n)
        time = np.where(has_several, _averages(record, end, whose.n), time)
        return time, None, label.astype(np.int64)
    else:
        counts["several"] = int(has_several.sum())
    return time, entry, status[last]


def _equal(numbers: Array) -> Any:
    """True where a number equals the one before it, or both are missing."""
    return (numbers[1:] == numbers[:-1]) | (np.isnan(numbers[1:]) & np.isnan(numbers[:-1]))


def _n_unjoined(record: Integers, start: Array, end: Array, status: Integers, of_days: bool) -> int:
    """Count people whose sorted intervals do not join, or who have an event before the last.

    Intervals of dates may begin on the day after the one before has ended.
    """
    is_next = record[1:] == record[:-1]
    of_several = np.append(is_next, False) | np.append(False, is_next)
    with np.errstate(invalid="ignore"):
        gap = start[1:] - end[:-1]
        rounding = _ROUNDING * np.maximum(1.0, np.abs(end[:-1]))
        joins = (gap >= -rounding) & (gap <= of_days + rounding) & (status[:-1] < 1)
        wrong = np.append(False, is_next & ~joins) | (of_several & ~(end > start))
    return len(np.unique(record[wrong]))


def _unjoined(number: int, n: int) -> InputError:
    return InputError(
        f"{number:,} of {n:,} people have lines that are not intervals one after the other, "
        "with the event in the last.",
        field="several",
        hint="Give each interval its start and its stop, without gaps or overlaps.",
    )


def _averages(record: Integers, values: Array, n: int) -> Array:
    """Return the average value of each record."""
    known = np.isfinite(values)
    number = np.bincount(record, weights=known, minlength=n)
    total = np.zeros(n)
    np.add.at(total, record[known], values[known] / number[record[known]])
    return np.where(number > 0, total, np.nan)


def _event_groups(people: People, whose: _Whose, counts: EventCounts) -> Integers | None:
    """Return the place of each one's group, and 0 for a few whose group is not told."""
    if "group" not in people.codes:
        return None
    code, counts["in two"] = _lowest_group(people.codes["group"].clip(min=-1), whose)
    counts["in neither"] = int((code < 0).sum())
    return code.clip(min=0)


_REFUSALS: Mapping[str, Callable[[int, int], InputError]] = {
    "unjoined": _unjoined,
    "labels": partial(_changes, "The label"),
}  # by what is counted, in the order in which it is refused
_HINTS_ON_SEVERAL = {
    True: 'State "several": "join" where they are intervals from a “start” or “entry” to a “time”, '
    "one after the other; otherwise keep one line of each person, by a rule that does "
    "not look at what it says.",
    False: 'State "several": "average", or keep one line of each person, by a rule that '
    "does not look at the numbers.",
}  # by whether there are times to an event
