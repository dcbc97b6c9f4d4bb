"""Times and how they ended from a person's own file, with the facts they state, as a source.

One person has one time; how several lines of a person become one is said by the reading
(`engine.uploads.records`). A person is never left out because of what their lines hold: what a
strange time or status counts as is said by `engine.numerics.counts.cells`, person by person. People
who come under observation late (left truncation) have an entry besides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from engine.core.errors import InputError
from engine.core.identity import Traces, named_once, people_in_order
from engine.core.lists import counted
from engine.core.names import uncapital
from engine.core.types import Array, DataKind, EventData, EventFacts, Sizes
from engine.numerics.counts.cells import Counted
from engine.numerics.counts.estimands import ESTIMANDS
from engine.uploads.columns import Integers, Observations
from engine.uploads.facts import stated_bounds
from engine.uploads.misfits import (
    OF_OUTCOMES,
    check_follow_up,
    check_named_units,
    check_numbers,
    remarks_on_codes,
)
from engine.uploads.reading_of_files import Reading
from engine.uploads.source import UploadedData
from engine.uploads.traces import pieces, traces_of

OR = " or "  # between the texts of a label, which are one cause
_NEAR = 0.1  # of the smallest gap between visits, within which a time is at a visit
_UNKNOWN = -1  # a status that is no stated code


@dataclass(frozen=True)
class _Rows:
    """Statements and notes about data of one kind."""

    range: str  # what is stated as the range of the main column
    range_name: str = "range"
    why: str = "They come from outside the file."
    example: str = "For example a manual."
    missing: tuple[str, str] = ("number", "in the lowest interval")  # and how it counts
    blank: str = "no label: {:,} people, who count as without it"
    counts_as: str = "without the label"  # another text than the stated ones
    value_name: str = "Share of people"  # what a curve is the value of


_ROWS = {
    Counted.OUTCOMES: _Rows(
        "the planned follow-up",
        "planned follow-up",
        "It comes from how the study was planned: the longest time in the file would reveal "
        "something about somebody.",
        "For example the protocol of the study.",
        ("time", "as censored at once"),
        "no status: {:,} people, who count as censored",
        "censored",
    ),
    Counted.VALUES: _Rows("the lowest and highest possible values"),
    Counted.LABELS: _Rows(
        "the lowest and highest possible scores", value_name="True-positive share"
    ),
}


def counted_for(task: str) -> Counted:
    """Name a file's content per person: a time and its ending, a score and a label, or a value."""
    return ESTIMANDS[task].counted


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Stated meanings of texts in a file with one time, value or score of each person."""

    counted: Counted = Counted.OUTCOMES
    events: tuple[str, ...] = ()  # in their order; for a label those with it
    groups: tuple[str, ...] = ()  # in their order, or none
    enters_late: bool = False  # whether people have an entry
    at_visits: bool = False  # whether they have a last visit without the event


@named_once
@dataclass(frozen=True, eq=False, kw_only=True)
class EventTable(Observations):
    """People read from a table; `Observations` says what they have in common with curves."""

    time: Array  # (n,): NaN where a cell holds no number
    # (n,) of int: 1 … J for the stated events, 0 where the text is another one, −1 where there is
    # none
    status: Integers
    # (n,) of int or None: the place of the stated group; 0 for all others
    group: Integers | None = None
    entry: Array | None = None  # (n,): NaN where a cell holds no number; None without late entry
    without: Array | None = None  # (n,): last visits without the event; None unless seen at visits
    counted: Counted = Counted.OUTCOMES  # whether these are outcomes, values or labels
    time_unit: str = ""  # of times between dates; "" where they were numbers

    @property
    def earlier(self) -> Array | None:
        """The earlier time of people who have two: of their entry, or of a visit."""
        return self.entry if self.without is None else self.without

    @property
    def last_seen(self) -> Array:
        """The later time of each person: that of the event, or the last one without it."""
        if self.without is None:
            return self.time
        return np.where(np.isnan(self.time), self.without, self.time)


def notes_on_events(
    table: EventTable, notes: tuple[str, ...], n_further: int, n_others: int
) -> EventTable:
    """Return times with what their holder should know of them: counts of private data."""
    rows, missing = _ROWS[table.counted], int(np.isnan(table.time).sum())
    noun, counts_as = rows.missing
    early = int((table.time <= 0).sum()) if table.counted is Counted.OUTCOMES else 0
    unknown = reversed_ = 0
    if table.entry is not None:
        unknown, reversed_ = int(np.isnan(table.entry).sum()), int((table.entry > table.time).sum())
    blank = int((table.status == _UNKNOWN).sum())
    if table.without is not None:
        return replace(table, notes=(*notes, *_notes_on_visits(table, n_further)))
    applies = {
        f"{counted(n_further, 'further line')} of people who have several": n_further,
        f"{counted(missing, noun)} missing: these people count {counts_as}": missing,
        f"{counted(early, 'time')} of 0 or less: these people count in the first interval": early,
        f"{counted(unknown, 'entry time')} missing: these people count as entered at the "
        "start": unknown,
        f"entry after exit in {counted(reversed_, 'row')}: these people count as entered at their "
        "exit": reversed_,
        rows.blank.format(blank): blank,
        f"{counted(n_others, 'line')} with another text than the stated ones: "
        f"{rows.counts_as}": n_others,
    }
    return replace(table, notes=(*notes, *(note for note, holds in applies.items() if holds)))


def _notes_on_visits(table: EventTable, n_further: int) -> tuple[str, ...]:
    """Notes on people who are seen at visits."""
    assert table.without is not None
    never, unseen = int(np.isnan(table.time).sum()), int(np.isnan(table.without).sum())
    crossed = int((table.without >= table.time).sum())
    applies = {
        f"{counted(n_further, 'further line')} of people who have several": n_further,
        f"no visit with the event: {never:,} people, who count as without it until their last "
        "visit": never,
        f"no visit without the event: {unseen:,} people, who count as last seen without it at the "
        "start": unseen,
        f"the last visit without the event is no earlier than the first with it: {crossed:,} "
        "people, of whom the first with it counts": crossed,
    }
    return tuple(note for note, holds in applies.items() if holds)


def declare_events(
    time_low: float | None,
    time_high: float | None,
    origin: str,
    columns: EventColumns,
    edges: Sequence[float] = (),
    group_sizes: Sequence[int] = (),
    time_step: float | None = None,
    group_weights: Sequence[float] = (),
    **words: Any,
) -> EventFacts:
    """The facts a person states about their times, from outside the data.

    The range is from 0 to the planned follow-up, not to the longest time seen; that of scores and
    values is stated. Without edges intervals are equally wide; a time step is such as a month.
    Weights of groups, which sum to 1, ask for one adjusted curve. Empty words, such as "time_name",
    are left as usual.
    """
    rows, labels = _ROWS[columns.counted], columns.counted is Counted.LABELS
    low, high = stated_bounds("time", (time_low, time_high), rows.range, rows.why)
    if not origin.strip():
        raise InputError(
            f"Say where the {rows.range_name} comes from.", field="origin", hint=rows.example
        )
    if not all(math.isfinite(edge) for edge in edges):
        raise InputError(
            "The edges of intervals must be numbers.",
            field="edges",
            hint="For example 0, 90, 180, 365.",
        )
    causes = columns.events or ("Event",)
    return EventFacts(
        kind=DataKind.UPLOAD,
        name="Your people",
        time_low=low,
        time_high=high,
        origin=origin.strip()[:200],
        causes=(OR.join(causes),) if labels else causes,
        groups=columns.groups,
        edges=tuple(map(float, edges)),
        group_sizes=tuple(map(int, group_sizes)),
        group_weights=tuple(map(float, group_weights)),
        late_entry=columns.enters_late,
        at_visits=columns.at_visits,
        time_step=float(time_step or 0.0),
        value_name=rows.value_name,
        value_low=0.0,
        value_high=1.0,
        **{name: word for name, word in words.items() if word},
    )


def traces_of_events(events: EventTable, reading: Reading | None) -> Traces:
    """Collect what people are known again by: their ids, or where there are none, all of them."""
    columns = [events.time, events.status.astype(float)]
    if events.group is not None:
        columns.append(events.group.astype(float))
    if events.earlier is not None:
        columns.append(events.earlier)
    rows = np.ascontiguousarray(np.column_stack(columns), "<f8")
    return traces_of(
        events,
        lambda: pieces(np.arange(1, len(rows) + 1) * rows.shape[1], rows.ravel()),
        reading=reading,
    )


class TimesOutside(NamedTuple):
    """Numbers of people with a time outside the stated range; for the holder of the file alone."""

    below: int
    beyond: int


@dataclass(frozen=True, kw_only=True, eq=False)
class UploadEvents(UploadedData[EventData]):
    """A person's own times with the facts they declared; the same in every draw."""

    key = "upload_events"
    label = "Your people"
    tasks: ClassVar[frozenset[str]] = frozenset(ESTIMANDS)

    read_as = "events"

    events: EventTable
    declared: EventFacts  # from `declare_events`

    def __post_init__(self) -> None:
        super().__post_init__()
        check_named_units([(self.events.time_column, self.declared.time_unit)])
        if self.events.counted is Counted.OUTCOMES:
            check_follow_up(
                self.events.last_seen, self.events.status > 0, self.declared, self.events.time_unit
            )
        else:
            check_numbers(self.events.time, self.declared)

    @property
    def observations(self) -> EventTable:
        return self.events

    @property
    def facts(self) -> EventFacts:
        """The declared facts, and nothing else."""
        return self.declared

    @property
    def sizes(self) -> Sizes:
        return Sizes(tuple(np.bincount(self.events.server).tolist()), len(self.events.time), 1)

    @property
    def moved(self) -> TimesOutside:
        """Numbers of times outside the stated range, which count at its ends."""
        time, facts = self.events.time, self.declared
        return TimesOutside(int((time < facts.time_low).sum()), int((time > facts.time_high).sum()))

    def remarks(self) -> list[str]:
        """List the times that count at an end of the stated range; for their holder alone."""
        below, beyond = self.moved
        facts = self.declared
        if self.events.without is not None:
            return self._remarks_on_visits()
        of_outcomes = self.events.counted is Counted.OUTCOMES
        codes = remarks_on_codes(
            self.events.time,
            facts.time_low,
            facts.time_high,
            uncapital(facts.time_name),
            *(OF_OUTCOMES,) * of_outcomes,
        )
        if self.events.counted is not Counted.OUTCOMES:
            outside = below + beyond
            return [
                f"{outside:,} people lie outside the stated range and count at its nearest end."
            ] * bool(outside) + codes
        return codes + [
            sentence
            for count, sentence in (
                (
                    below,
                    f"{counted(below, 'time')} below 0: these people count in the first interval.",
                ),
                (
                    beyond,
                    f"{counted(beyond, 'time')} beyond the stated end: these people count as "
                    f"event-free until {'their last visit' if facts.at_visits else 'then'}.",
                ),
            )
            if count
        ]

    def _remarks_on_visits(self) -> list[str]:
        """Count recorded times that are at no stated visit."""
        assert self.events.without is not None
        times = np.concatenate([self.events.time, self.events.without])
        edges = np.asarray(self.declared.edges)
        far = np.abs(times[:, None] - edges).min(axis=1) > _NEAR * np.diff(edges).min()
        n = int(far.sum())
        return [
            f"{counted(n, 'recorded time')} not at a stated visit: each counts as the nearest one, "
            "and the curve is shifted if many are far from it."
        ] * bool(n)

    def serves(self, task: str) -> bool:
        """True if the file holds what the task needs; incidences need several events.

        Late entry, visits and weights of groups are for survival alone.
        """
        if task not in self.tasks:
            return False
        estimand, declared = ESTIMANDS[task], self.declared
        if estimand.takes_entry:
            return estimand.counted is self.events.counted
        if declared.late_entry or declared.at_visits or declared.group_weights:
            return False
        return estimand.counted is self.events.counted and (
            not estimand.tells_causes or len(declared.causes) > 1
        )

    def check_sizes(self) -> None:
        """Compare the sizes of groups that were stated as public with those in the file."""
        stated, group = self.declared.group_sizes, self.events.group
        if (
            stated
            and group is not None
            and stated != tuple(np.bincount(group, minlength=len(stated)).tolist())
        ):
            raise InputError(
                "The sizes of the groups are stated as public, and these are others.",
                field="group_sizes",
                hint="State those of the protocol, or leave them private.",
            )

    def contents(self) -> Iterable[bytes]:
        """All people together, whom one call sorts; a million hashes would take seconds."""
        return [self._people]

    def traces(self) -> Traces:
        """Ids alone: a time and a status tell nobody apart; see `Source.traces`."""
        return traces_of_events(self.events, self.reading)

    @property
    def _people(self) -> bytes:
        events = self.events
        return people_in_order(events.time, events.status, events.group, earlier=events.earlier)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Return the people as they are; `rng` is not used."""
        self._only_once(n_repeats)
        events = self.events
        return EventData(
            events.time[None],
            events.status[None],
            events.server,
            self.declared,
            None if events.group is None else events.group[None],
            entry=None if events.entry is None else events.entry[None],
            without=None if events.without is None else events.without[None],
        )
