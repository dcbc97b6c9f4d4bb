"""Times, values and scores of any number of people, read in batches or by workers.

    batches ── people ──→ lines of whole people ── records ──→ one time of each person

A number and three codes are kept of each person, fifteen bytes, and a second time where they enter
late or are seen at visits: eight more. So the file is read once.
Ids are kept in memory up to a share of what is allowed, beyond it in nameless files; the ledger
reads them some at a time. Refusals go by counts that add up over parts, and by the kept numbers:
they are those of one table, however its lines are split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from engine.core.identity import Traces
from engine.numerics.counts.cells import Counted
from engine.uploads.buckets import LineColumns, NotInOrderError, people_in_order
from engine.uploads.columns import Integers
from engine.uploads.events import EventTable, UploadEvents, traces_of_events
from engine.uploads.files import TableFile, check_unchanged
from engine.uploads.partitioned_table import Partition, by_workers, check_apart, partitions_of
from engine.uploads.people import People
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import (
    EventCounts,
    check_event_columns,
    check_no_site_is_empty,
    check_several,
    checked_events,
    part_of_events,
)
from engine.uploads.scratch import Arrays, Resources
from engine.uploads.stored_table import (
    StoredTexts,
    Texts,
    begun,
    id_hashes,
    people_of_buckets,
    read_people_of,
)

R = TypeVar("R")
_OF_IDS = 8  # parts of the memory: one for ids


class _Chunk(NamedTuple):
    """People of one site side by side."""

    n: int
    ids: StoredTexts


@dataclass(frozen=True, eq=False)
class StoredIds:
    """The ids of people (n,), and which of them are left."""

    arrays: Arrays
    chunks: tuple[_Chunk, ...]
    kept: NDArray[np.bool_]  # (n,)

    def without(self, members: NDArray[np.bool_]) -> Self:
        """Leave out some of those that are left."""
        kept = self.kept.copy()
        kept[np.flatnonzero(kept)[members]] = False
        return replace(self, kept=kept)

    def tables(self, events: EventTable) -> Iterator[EventTable]:
        """Yield the people that are left with their ids, some at a time, in order."""
        first = end = 0
        for n, ids in self.chunks:
            left = np.flatnonzero(self.kept[first : first + n])
            first, place, end = first + n, end, end + len(left)
            texts = ids.get(self.arrays)
            named = tuple(texts[k] for k in left.tolist()) if texts else ()
            yield replace(events, ids=named, **_columns(events, slice(place, end)))


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredEvents(UploadEvents):
    """Times of people whose ids are stored; all else is as in `UploadEvents`."""

    stored_ids: StoredIds

    def without(self, members: NDArray[np.bool_]) -> Self:
        ids = self.stored_ids.without(members)
        return replace(self, events=self.events.only(~members), stored_ids=ids)

    def traces(self) -> Traces:
        """Ids, read anew some at a time; see `UploadEvents.traces`."""

        def of_parts(function: Callable[[Iterator[Traces]], R]) -> list[R]:
            tables = self.stored_ids.tables(self.events)
            return [function(traces_of_events(each, self.reading) for each in tables)]

        return Traces(len(self.events.time), stored=of_parts)


def read_events(
    files: Sequence[TableFile], reading: Reading, kind: Counted, resources: Resources
) -> tuple[EventTable, StoredIds]:
    """Read the times, values or scores of the people of files of any size, and their ids.

    Raises
    ------
    InputError
        As `records.events_of`; if there is no room, a file changed, or people are in several
        partitions.
    """
    check_event_columns(reading.complete(), kind)
    if resources.executor is None:
        kept = _read(files, reading, kind, resources)
    else:
        partitions = partitions_of(files, reading, resources, resources.executor)
        read = by_workers(_ReadPartition(kind), partitions, resources.executor)
        check_apart([_hashes(sent) for sent in read])
        kept = _Kept(resources)
        for sent in read:
            kept.take(sent)
    check_unchanged(files)
    return kept.whole(reading)


class _Batch(NamedTuple):
    """Some of the people, by site, with the ids of each site."""

    table: EventTable
    ids: tuple[Texts, ...]


class _Sent(NamedTuple):
    """The people of a partition, as a worker sends them."""

    parts: list[_Batch]
    counts: EventCounts
    spellings: set[str]


class _Kept:
    """Times, codes and ids of the people of some files."""

    def __init__(self, resources: Resources) -> None:
        self._arrays = Arrays(resources, resources.memory // _OF_IDS)
        self._tables = list[EventTable]()
        self._ids = list[tuple[StoredTexts, ...]]()
        self._counts, self._spellings = Counter[str](), set[str]()

    def read(self, people: Iterable[People], kind: Counted, columns: LineColumns) -> Self:
        """Keep people who come as lines of whole people."""
        for some in people:
            table, counts = part_of_events(some, kind)
            self._put(_Batch(_small(table), _by_site(table)))
            self._counts.update(counts)
        self._spellings |= {*filter(None, columns.spellings.split("\0"))}
        return self

    def take(self, sent: _Sent) -> None:
        """Keep people of a partition."""
        for part in sent.parts:
            self._put(part)
        self._counts.update(sent.counts)
        self._spellings |= sent.spellings

    def _put(self, part: _Batch) -> None:
        self._tables.append(part.table)
        self._ids.append(tuple(StoredTexts.put(each, self._arrays) for each in part.ids))

    def sent(self) -> _Sent:
        """Return all that is kept."""
        ids = [tuple(each.joined(self._arrays) for each in stored) for stored in self._ids]
        parts = [_Batch(*each) for each in zip(self._tables, ids, strict=True)]
        return _Sent(parts, self._counts, self._spellings)

    def whole(self, reading: Reading) -> tuple[EventTable, StoredIds]:
        """Return all people by site, part after part, unless they are refused."""
        like = self._tables[0]  # a file without a line is refused
        columns: dict[str, Any] = {
            name: np.concatenate([_columns(table)[name] for table in self._tables])
            for name in _columns(like)
        }
        order = np.argsort(columns["server"], kind="stable")
        columns = {name: each[order] for name, each in columns.items()}
        check_no_site_is_empty(columns["server"], like.server_names)
        check_several(len(order))
        spellings = "\0".join(sorted(self._spellings))
        table = replace(like, spellings=spellings, **columns)
        sizes = [np.bincount(each.server, minlength=len(self._ids[0])) for each in self._tables]
        chunks = tuple(
            _Chunk(int(size[site]), ids[site])
            for site in range(len(self._ids[0]))
            for size, ids in zip(sizes, self._ids, strict=True)
            if size[site]
        )
        return (
            checked_events(table, self._counts, reading),
            StoredIds(self._arrays, chunks, np.ones(len(order), bool)),
        )


def _by_site(table: EventTable) -> tuple[Texts, ...]:
    """Join the ids of each site."""
    ends = np.cumsum(np.bincount(table.server, minlength=max(len(table.server_names), 1))).tolist()
    return tuple(
        Texts.of(table.ids[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)
    )


def _columns(events: EventTable, people: slice = slice(None)) -> dict[str, Any]:
    """Return what is known of some of the people, by field."""
    columns = {
        name: getattr(events, name)
        for name in ("time", "entry", "without", "status", "group", "server")
    }
    known = {name: each[people] for name, each in columns.items() if each is not None}
    return known | {"covariates": np.empty((len(known["time"]), 0))}


def _small(table: EventTable) -> EventTable:
    """Keep codes in the few bytes that they need, and no ids."""

    def narrow(codes: Integers, kind: type[np.signedinteger[Any]]) -> Integers:
        return cast(Integers, codes.astype(kind))

    return replace(
        table,
        ids=(),
        spellings="",
        status=narrow(table.status, np.int16),
        group=None if table.group is None else narrow(table.group, np.int8),
        server=narrow(table.server, np.int32),
    )


def _read(
    files: Sequence[TableFile], reading: Reading, kind: Counted, resources: Resources
) -> _Kept:
    """Read people as they stand where ids rise and lines would not fit; else by buckets."""
    batches, is_rising = begun(files, reading, resources)
    columns = LineColumns(reading)
    if is_rising:
        with suppress(NotInOrderError):
            return _Kept(resources).read(people_in_order(batches, columns), kind, columns)
        batches, columns = read_people_of(files, reading), LineColumns(reading)
    people = people_of_buckets(batches, files, reading, resources, columns)
    return _Kept(resources).read(people, kind, columns)


@dataclass(frozen=True)
class _ReadPartition:
    """Reads a partition in a worker."""

    kind: Counted

    def __call__(self, partition: Partition) -> _Sent:
        return _read(partition.files, partition.reading, self.kind, partition.resources).sent()


def _hashes(sent: _Sent) -> NDArray[np.uint64]:
    """Hash the ids of a partition, each once."""
    hashes = [id_hashes(ids.apart()) for part in sent.parts for ids in part.ids]
    return np.unique(np.concatenate(hashes))
