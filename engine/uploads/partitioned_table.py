"""Curves of files that several workers read, each some of the files, for all passes of a release.

Every worker has a `StoredTable` of each of its partitions, and functions of curves are sent there.
What comes back of a pass is what they make: sums over people before noise, a digest and hashes of
each person, or covariates. So workers belong to the holder of the data; see
`engine.running.cluster`.

All lines of a person must be in one partition. Sums are exact and samples follow from ids, so
that no number of files, partitions or workers changes a bit of what is sent.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.running.executors import n_workers
from engine.running.partitions import mapped
from engine.running.progress import stage
from engine.uploads.curves import CurveTable
from engine.uploads.files import TableFile, check_unchanged
from engine.uploads.reading_of_files import Reading
from engine.uploads.scratch import Resources
from engine.uploads.stored_table import StoredTable, Summarised, Summary, id_hashes, read_table

R = TypeVar("R")
_OF_WORKER = 2  # partitions


@dataclass(frozen=True, eq=False)
class Partition:
    """Files that one worker reads, by paths that it sees."""

    files: tuple[TableFile, ...]
    reading: Reading
    memory: int
    folder: Path
    of: str  # names the files of all partitions

    @cached_property
    def name(self) -> str:
        return _digest(self.of, self.files)

    @property
    def resources(self) -> Resources:
        """Memory and folder of the worker: the stated one, if it has such a one."""
        folder = self.folder if self.folder.is_dir() else Resources.usual().folder
        return Resources(self.memory, folder)


@dataclass(frozen=True, eq=False)
class PartitionedTable(Summarised):
    """The curves of all people of some files, as `StoredTable` has them, kept by workers."""

    files: tuple[TableFile, ...]
    summary: Summary
    people: tuple[int, ...]  # of each site
    partitions: tuple[Partition, ...]
    of_partitions: tuple[int, ...]  # people that were read of each
    executor: Executor
    kept: NDArray[np.bool_] | None = field(default=None)  # (n,), partition after partition

    def of_parts(
        self,
        function: Callable[[Iterator[CurveTable]], R],
        site: int | None = None,
        with_ids: bool = False,
    ) -> list[R]:
        """Apply a function to the curves of each partition, or to those of a site there."""
        check_unchanged(self.files)
        work = _Pass(function, site, with_ids)
        return by_workers(work, list(zip(self.partitions, self._kept, strict=True)), self.executor)

    @property
    def _kept(self) -> Sequence[NDArray[np.bool_] | None]:
        if self.kept is None:
            return [None] * len(self.partitions)
        return np.split(self.kept, np.cumsum(self.of_partitions)[:-1])

    def without(self, members: NDArray[np.bool_]) -> Self:
        """Leave out these people (n,), in the order of the partitions."""
        kept = np.ones(sum(self.of_partitions), bool) if self.kept is None else self.kept.copy()
        kept[np.flatnonzero(kept)[members]] = False
        others = replace(self, kept=kept)
        people = np.sum(others.of_parts(_Count(len(self.people))), axis=0)
        if not people.all():
            raise InputError("A site would have nobody left.", field="exhausted", hint="Lower ε.")
        return replace(others, people=tuple(people.tolist()))


def table_of_files(
    files: Sequence[TableFile], reading: Reading, resources: Resources
) -> StoredTable | PartitionedTable:
    """Read the curves of files of any size, here or by the workers.

    Refuse what `stored_table.read_table` does, sites with nobody, and people in several partitions.
    """
    if resources.executor is None:
        table = read_table(files, reading, resources)
        table.summary.check()
        return table
    return _partitioned(files, reading, resources, resources.executor)


def _partitioned(
    files: Sequence[TableFile], reading: Reading, resources: Resources, executor: Executor
) -> PartitionedTable:
    partitions = partitions_of(files, reading, resources, executor)
    read = by_workers(_summed_up, partitions, executor)
    check_apart([ids for _, ids in read])
    summary = Summary.merged([each for each, _ in read])
    summary.check()
    return PartitionedTable(
        tuple(files),
        summary,
        summary.people,
        tuple(partitions),
        tuple(sum(each.people) for each, _ in read),
        executor,
    )


def partitions_of(
    files: Sequence[TableFile], reading: Reading, resources: Resources, executor: Executor
) -> list[Partition]:
    """Deal files to partitions, a few for each worker.

    Raises
    ------
    InputError
        If lines do not say whose they are.
    """
    person = reading.complete().person
    if person is None or person.rows:
        raise InputError(
            "Workers read files that say whose each line is.",
            field="executor",
            hint="State a column of ids, or leave out --executor.",
        )
    groups = _groups(files, _OF_WORKER * n_workers(executor))
    memory = resources.memory // -(-len(groups) // n_workers(executor))
    of = _digest(tuple(files), reading, memory)
    return [Partition(group, reading, memory, resources.folder, of) for group in groups]


def _groups(files: Sequence[TableFile], most: int) -> list[tuple[TableFile, ...]]:
    """Deal files to so many partitions at most, the largest first to what is smallest yet."""
    groups = [list[TableFile]() for _ in range(min(most, len(files)))]
    sizes = [0] * len(groups)
    for file in sorted(files, key=lambda file: -file.size):
        k = sizes.index(min(sizes))
        groups[k].append(file)
        sizes[k] += file.size + 1
    return [tuple(group) for group in groups]


def check_apart(ids: Sequence[NDArray[np.uint64]]) -> None:
    """Refuse people in several partitions; each has an id once."""
    together = np.sort(np.concatenate(ids))
    number = int((together[1:] == together[:-1]).sum())
    if number:
        raise InputError(
            "Some people are in several partitions.",
            field="file",
            hint="Write the table by person, so that all lines of a person are in one file.",
        )


def by_workers(work: Callable[[Any], R], partitions: Sequence[Any], executor: Executor) -> list[R]:
    """Do the same work for each partition, and show how far it is."""
    return mapped(work, partitions, executor, stage("Partitions", len(partitions)))


def _digest(*parts: Any) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


# -- in a worker -----------------------------------------------------------------------------------

_tables: dict[str, StoredTable] = {}  # of the partitions that this process has read
_reads_of = ""  # the files whose partitions these are: a worker keeps those of one table
_lock = threading.RLock()


def _table(partition: Partition) -> StoredTable:
    """Return the table of a partition, read once by this process."""
    global _reads_of
    with _lock:
        if _reads_of != partition.of:
            _tables.clear()
            _reads_of = partition.of
        if partition.name not in _tables:
            _tables[partition.name] = read_table(
                partition.files, partition.reading, partition.resources
            )
        return _tables[partition.name]


def _summed_up(partition: Partition) -> tuple[Summary, NDArray[np.uint64]]:
    """Count the people of a partition, and hash their ids."""
    table = _table(partition)
    hashes = [id_hashes(curves.ids) for curves in table.tables(with_ids=True)]
    return table.summary, np.unique(np.concatenate(hashes))  # of one id at two sites once


@dataclass(frozen=True)
class _Pass(Generic[R]):
    """A pass over the curves of a partition."""

    function: Callable[[Iterator[CurveTable]], R]
    site: int | None
    with_ids: bool

    def __call__(self, some: tuple[Partition, NDArray[np.bool_] | None]) -> R:
        partition, kept = some
        table = replace(_table(partition), kept=kept)
        return self.function(table.tables(self.site, self.with_ids))


@dataclass(frozen=True)
class _Count:
    """Counts people by site."""

    n_sites: int

    def __call__(self, tables: Iterator[CurveTable]) -> NDArray[np.int64]:
        none = np.zeros(self.n_sites, np.int64)
        return sum((np.bincount(each.server, minlength=self.n_sites) for each in tables), none)
