"""Times and how they ended from a person's own table, with the facts they state, as a source.

One person is one row. Of several rows of one person, which only a column of ids can show, the first
in the file counts; how many were set aside is for the holder alone. A row is never left out because
of what it holds: what a strange time or status counts as is said by
`engine.numerics.counts.cells`, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from engine.core.errors import InputError
from engine.core.identity import named_once
from engine.core.lists import counted, shortened
from engine.core.tasks import COUNTED, DISTRIBUTION, INCIDENCE
from engine.core.types import Array, DataKind, EventData, EventFacts, Sizes
from engine.uploads.columns import Integers, Observations, in_order, order_by_person, people_of
from engine.uploads.layout import Layout
from engine.uploads.rows import MOST_ROWS
from engine.uploads.source import UploadedData
from engine.uploads.tables import Table

_UNKNOWN = -1  # a status that is no stated code


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Which columns of a table hold what, and what their texts mean; all stated.

    Parameters
    ----------
    time : str
        Times, values or scores.
    status : str or None
        How a time ended, or a label; None where values alone are counted.
    events : tuple of str
        The texts of the status that are events, in their order; everything else is censored.
    group : str or None
        Which of two groups a person is in.
    groups : tuple of str
        The texts of both groups.
    id, server : str or None
        Who a row belongs to, and where they are.
    """

    time: str
    status: str | None = None
    events: tuple[str, ...] = ()
    group: str | None = None
    groups: tuple[str, ...] = ()
    id: str | None = None
    server: str | None = None


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
    """

    time: Array
    status: Integers
    group: Integers | None = None


def read_events(table: Table, columns: EventColumns) -> EventTable:
    r"""Read one time for each person, and how it ended.

    Parameters
    ----------
    table : Table
    columns : EventColumns
        With the texts that are events.

    Returns
    -------
    EventTable
        In the unit of the file, by site.

    Raises
    ------
    InputError
        If a column is missing, the times hold no number at all, a stated text is nowhere in its
        column, or there are too few or too many rows.

    Examples
    --------
    >>> from engine.uploads.tables import read_table
    >>> table = read_table(b"days,end\n12,death\n30,alive\n")
    >>> events = read_events(table, EventColumns(time="days", status="end", events=("death",)))
    >>> sorted(zip(events.time.tolist(), events.status.tolist()))
    [(12.0, 1), (30.0, 0)]
    """
    if not 2 <= table.n_rows <= MOST_ROWS:
        raise InputError(f"There are {table.n_rows:,} rows; from 2 to {MOST_ROWS:,} are read.",
                         field="file")
    notes = list(table.notes)
    layout = Layout(columns.id and table.find(columns.id),
                    server=columns.server and table.find(columns.server))
    people = people_of(table, layout, notes)
    first = np.unique(people.person, return_index=True)[1]  # (n,): the first row of each person
    if len(first) < table.n_rows:
        notes.append(f"{counted(table.n_rows - len(first), 'further row')} of people who have "
                     "several: the first of each counts")
    numbers = table.numbers(table.find(columns.time))
    if not np.isfinite(numbers.values).any():
        raise InputError(f"The column “{shortened(columns.time)}” holds no number.", field="time",
                         hint=numbers.advice if numbers.unreadable else "Choose another column.")
    missing = int((~np.isfinite(numbers.values[first])).sum())
    if missing:
        notes.append(f"{counted(missing, 'time')} missing: these people count as censored at once")
    status = np.ones(table.n_rows, dtype=np.int64)
    if columns.status is not None:
        status = _coded(table, columns.status, columns.events, "events")
    group = None
    if columns.group is not None:
        group = np.maximum(_coded(table, columns.group, columns.groups, "groups") - 1, 0)
    order = order_by_person(people.server, people.ids)
    rows = first[order]
    return EventTable(
        time=numbers.values[rows], status=status[rows],
        group=None if group is None else group[rows], notes=tuple(notes),
        **in_order(table, layout, order, people.server, people.ids, np.empty((len(first), 0))))


def _coded(table: Table, name: str, stated: Sequence[str], field: str) -> Integers:
    """1 … J for the stated texts of a column, 0 for others, −1 where nothing stands: (rows,)."""
    column = table.find(name)
    codes, texts = table.codes(column)
    strange = [text for text in stated if text not in texts]
    if strange or not stated:
        raise InputError(
            f"The column “{shortened(name)}” never holds “{shortened(strange[0])}”." if strange
            else f"Say which texts of “{shortened(name)}” are {field}.", field=field,
            hint="Give each text as it stands in the file.")
    meaning = [stated.index(text) + 1 if text in stated else 0 if text else _UNKNOWN
               for text in texts]
    return np.array(meaning, dtype=np.int64)[codes]


def declare_events(time_low: float, time_high: float, origin: str, columns: EventColumns,
                   edges: Sequence[float] = (), group_sizes: Sequence[int] = (), **words: Any
                   ) -> EventFacts:
    """The facts a person states about their times, from outside the data.

    Parameters
    ----------
    time_low, time_high : float
        The planned follow-up, not the longest time seen; of scores and values their range.
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
        If the origin is missing or the range makes no sense.
    """
    if not origin.strip():
        raise InputError("Say where the planned follow-up comes from.", field="origin",
                         hint="For example the protocol of the study.")
    return EventFacts(
        kind=DataKind.UPLOAD, name="Your people", time_low=time_low, time_high=time_high,
        origin=origin.strip()[:200], causes=columns.events or ("Event",), groups=columns.groups,
        edges=tuple(map(float, edges)), group_sizes=tuple(map(int, group_sizes)),
        value_name="Share of people", value_low=0.0, value_high=1.0,
        **{name: word for name, word in words.items() if word})


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
    tasks: ClassVar[frozenset[str]] = frozenset(COUNTED)

    events: EventTable
    declared: EventFacts

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

    def serves(self, task: str) -> bool:
        """Incidences need several events; all but a distribution need how times ended."""
        has_causes = len(self.declared.causes) > 1
        return task in self.tasks and (task != INCIDENCE.key or has_causes) and (
            task == DISTRIBUTION.key or bool(self.declared.causes))

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
