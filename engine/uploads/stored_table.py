"""Curves of any number of people, put together from batches of lines in bounded memory.

    batches ── people ──→ lines in buckets, by a hash of ids ── records ──→ curves of each bucket

A bucket holds all lines of its people and is a small file of its own: `part_of_curves` makes their
curves as `curves_of` makes those of a whole file, so Lemma 1 of `engine.uploads.records` holds as
it stands. The curves are kept as times, values and counts, which each pass of a release reads
again; nothing that is derived from them is kept. Buckets and curves are in memory up to an eighth
of what is allowed each, beyond it in nameless files. What would not fit into memory and stands in
order of rising ids is not copied: each pass reads the files themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.identity import named_once
from engine.core.lists import counted
from engine.running.progress import stage
from engine.uploads.batches import batches
from engine.uploads.buckets import Buckets, LineColumns, NotInOrderError, people_in_order
from engine.uploads.curves import CurveTable, notes_on_curves
from engine.uploads.files import TableFile, check_unchanged
from engine.uploads.people import People, as_strings, read_batches
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import nothing_known, part_of_curves
from engine.uploads.scratch import Arrays, Resources, StoredArray

R = TypeVar("R")
SAMPLE = 5000  # people at whom doubts look
MOST_BUCKETS = 256
_WORK = 200  # bytes that a line takes while its bucket is put in order
_KEPT = 8  # parts of the memory: one for lines in buckets, one for curves, and room for work
_LINE = 48  # bytes of a line in a bucket, about


class Texts(NamedTuple):
    """Texts one after the other, and where each ends."""

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Join some texts."""
        _, ends, letters = pa.array(texts, pa.large_string()).buffers()
        if letters is None or not texts:
            return cls(np.empty(0, np.uint8), np.zeros(len(texts), np.int64))
        places = np.frombuffer(ends, np.int64)[: len(texts) + 1]
        return cls(np.frombuffer(letters, np.uint8)[: places[-1]], places[1:])

    def apart(self) -> tuple[str, ...]:
        """Return each of the texts."""
        places = pa.py_buffer(np.append(np.int64(0), self.ends))
        letters = pa.py_buffer(np.ascontiguousarray(self.letters))
        return as_strings(pa.LargeStringArray.from_buffers(len(self.ends), places, letters))


class StoredTexts(NamedTuple):
    """The places of `Texts`."""

    letters: StoredArray
    ends: StoredArray

    @classmethod
    def put(cls, texts: Texts, arrays: Arrays) -> StoredTexts:
        """Keep some texts."""
        return cls(arrays.put(texts.letters), arrays.put(texts.ends))

    def get(self, arrays: Arrays) -> tuple[str, ...]:
        """Return each of the texts."""
        return self.joined(arrays).apart()

    def joined(self, arrays: Arrays) -> Texts:
        """Return the texts as they were kept."""
        return Texts(arrays.get(self.letters), arrays.get(self.ends))


class _StoredPart(NamedTuple):
    """The places of the curves of a bucket."""

    times: StoredArray
    values: StoredArray
    counts: StoredArray
    server: StoredArray
    covariates: StoredArray
    ids: StoredTexts
    n: int


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts of all people of some files, and a sample of them."""

    people: tuple[int, ...]  # of each site
    n_observations: int
    n_missing: int
    sample: Sample
    spellings: str  # other ones of ids; see `People.spellings`

    @classmethod
    def merged(cls, parts: Sequence[Summary]) -> Summary:
        """Add up the counts of parts."""
        sample = parts[0].sample
        for part in parts[1:]:
            sample = part.sample.with_(sample)
        return cls(
            tuple(map(sum, zip(*(part.people for part in parts), strict=True))),
            sum(part.n_observations for part in parts),
            sum(part.n_missing for part in parts),
            sample,
            "\0".join(
                sorted({each for part in parts for each in part.spellings.split("\0")} - {""})
            ),
        )

    def check(self) -> None:
        """Refuse files without an observation, and sites without people."""
        if not self.n_observations:
            raise nothing_known()
        if number := self.people.count(0):
            raise InputError(
                f"{counted(number, 'stated site')} {'has' if number == 1 else 'have'} nobody in "
                "these files.",
                field="site",
                hint="Name the sites of the files, and no others, as “words” of “site”.",
            )

    def shown(self) -> CurveTable:
        """The sample, with notes on it."""
        notes = (
            f"what follows is of {len(self.sample.keys):,} of {sum(self.people):,} people, chosen "
            "by their ids",
        )
        curves = notes_on_curves(self.sample.in_order(), notes, self.n_missing, is_single=False)
        return replace(curves, spellings=self.spellings)


class Summarised:
    """A table of which people of each site and a summary are in memory."""

    summary: Summary
    people: tuple[int, ...]  # of each site

    @property
    def n_curves(self) -> int:
        return sum(self.people)

    @property
    def n_observations(self) -> int:
        return self.summary.n_observations

    @cached_property
    def sample(self) -> CurveTable:
        """Some of the people, chosen by a hash of their ids."""
        return self.summary.shown()


@named_once
@dataclass(frozen=True, eq=False)
class StoredTable(Summarised):
    """The curves of all people of some files, read anew whenever they are asked for."""

    reading: Reading
    files: tuple[TableFile, ...]
    summary: Summary
    people: tuple[int, ...]  # of each site
    read: Callable[[bool], Iterator[CurveTable]]  # all curves anew; with ids or perhaps without
    kept: NDArray[np.bool_] | None = field(default=None)  # (n,), in the order of reading

    def of_parts(
        self,
        function: Callable[[Iterator[CurveTable]], R],
        site: int | None = None,
        with_ids: bool = False,
    ) -> list[R]:
        """Apply a function to the curves of all people, or of a site, which are one part."""
        return [function(self.tables(site, with_ids))]

    def tables(self, site: int | None = None, with_ids: bool = False) -> Iterator[CurveTable]:
        """Yield all curves in tables of some of them, or those of a site, which is the only one.

        Files are looked at before and behind them: no sum of files that change is released.
        """
        check_unchanged(self.files)
        first, advance = 0, stage("Curves", self.n_curves if self.kept is None else len(self.kept))
        for curves in self.read(with_ids):
            n = curves.n_curves
            chosen = np.ones(n, bool) if self.kept is None else self.kept[first : first + n]
            if site is not None:
                chosen = chosen & (curves.server == site)
            table = _chosen(curves, chosen)
            first += n
            advance(n)
            if len(table.counts):
                server = table.server if site is None else np.zeros_like(table.server)
                yield replace(table, server=server, spellings=self.summary.spellings)
        check_unchanged(self.files)  # what changed in the last pass is not seen by another

    def without(self, members: NDArray[np.bool_]) -> Self:
        """Leave out these people (n,), in the order of the tables."""
        kept = np.ones(len(members), bool) if self.kept is None else self.kept.copy()
        kept[np.flatnonzero(kept)[members] if self.kept is not None else members] = False
        first, people = 0, np.zeros(len(self.people), np.int64)
        for curves in self.read(False):
            here = kept[first : first + curves.n_curves]
            people += np.bincount(curves.server[here], minlength=len(people))
            first += curves.n_curves
        if not people.all():
            raise InputError("A site would have nobody left.", field="exhausted", hint="Lower ε.")
        return replace(self, kept=kept, people=tuple(people.tolist()))


def _chosen(curves: CurveTable, chosen: NDArray[np.bool_]) -> CurveTable:
    """Keep some of the curves; sites keep their numbers."""
    if chosen.all():
        return curves
    observed = np.repeat(chosen, curves.counts)
    return replace(
        curves,
        times=curves.times[observed],
        values=curves.values[observed],
        counts=curves.counts[chosen],
        server=curves.server[chosen],
        covariates=curves.covariates[chosen],
        ids=tuple(curves.ids[k] for k in np.flatnonzero(chosen)) if curves.ids else (),
        n_people=int(chosen.sum()),
    )


class _KeptCurves:
    """Curves kept as arrays, a part for each bucket."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays, self._parts = arrays, list[_StoredPart]()
        self._like: CurveTable | None = None

    def put(self, curves: CurveTable) -> None:
        """Keep the curves of a bucket."""
        self._parts.append(_put(curves, self._arrays))
        self._like = curves if self._like is None else self._like

    def read(self, with_ids: bool) -> Iterator[CurveTable]:
        """Yield all curves, part by part."""
        assert self._like is not None  # a file without a line is refused
        get = self._arrays.get
        for part in self._parts:
            counts = get(part.counts)
            yield replace(
                self._like,
                times=get(part.times),
                values=get(part.values),
                counts=counts,
                server=get(part.server),
                covariates=get(part.covariates),
                ids=part.ids.get(self._arrays) if with_ids else (),
                n_people=len(counts),
            )


def read_table(files: Sequence[TableFile], reading: Reading, resources: Resources) -> StoredTable:
    """Read the curves of files of any size."""
    reading.complete()
    if "group" in reading.columns:
        raise InputError(
            "Groups of files of this size are not read together.",
            field="group",
            hint="Write the files of each group, and publish them one by one.",
        )
    people, is_rising = begun(files, reading, resources)
    if is_rising:
        with suppress(NotInOrderError):
            return _in_order(people, files, reading)
        people = read_people_of(files, reading)
    columns, kept = LineColumns(reading), _KeptCurves(Arrays(resources, resources.memory // _KEPT))
    counting = _Counting(reading)
    for lines in people_of_buckets(people, files, reading, resources, columns):
        kept.put(counting.added(lines))
    return counting.table(files, reading, kept.read, columns.spellings)


def begun(
    files: Sequence[TableFile], reading: Reading, resources: Resources
) -> tuple[Iterator[People], bool]:
    """Begin to read people; True if lines would not fit and ids of the first batch rise."""
    people = read_people_of(files, reading)
    if not _are_spooled(files, reading, resources):
        return people, False
    first = []
    for some in people:
        first.append(some)
        if some.n_lines:
            break
    try:
        for _ in people_in_order(first, LineColumns(reading)):
            pass
    except NotInOrderError:
        return chain(first, people), False
    return chain(first, people), True


def _are_spooled(files: Sequence[TableFile], reading: Reading, resources: Resources) -> bool:
    """True if the lines of files would not fit into the memory that buckets have."""
    return _n_cells(files, reading) * _LINE > resources.memory // _KEPT


def _n_cells(files: Sequence[TableFile], reading: Reading) -> int:
    return sum(file.most_rows for file in files) * max(len(reading.at), 1)


def people_of_buckets(
    batches: Iterable[People],
    files: Sequence[TableFile],
    reading: Reading,
    resources: Resources,
    columns: LineColumns,
) -> Iterator[People]:
    """Yield all people of the batches of some files, each whole, from buckets filled first.

    Raises
    ------
    InputError
        As `people.read`; if there is no room.
    """
    n_cells, spooled = _n_cells(files, reading), resources.memory // _KEPT
    if _are_spooled(files, reading, resources):
        rows = n_cells // max(len(reading.at), 1)
        resources.check_room(rows * _LINE + 16 * n_cells)
    number = int(np.clip(n_cells * _WORK * _KEPT // resources.memory, 1, MOST_BUCKETS))
    buckets = Buckets(number, columns, resources, spooled // number)
    for people in batches:
        buckets.add(people)
    advance = stage("Curves", number)
    for lines in buckets.people():
        yield lines
        advance(1)


def read_people_of(files: Sequence[TableFile], reading: Reading) -> Iterator[People]:
    """Yield the people of each batch of lines; a person may come in several."""
    progress = stage("Reading", sum(file.size for file in files))
    return read_batches(batches(files, reading, progress), reading)


def _in_order(
    first_pass: Iterable[People], files: Sequence[TableFile], reading: Reading
) -> StoredTable:
    """Read people as they stand, in each pass."""

    def read(with_ids: bool) -> Iterator[CurveTable]:
        lines = read_batches(batches(files, reading), reading)
        try:
            for people in people_in_order(lines, LineColumns(reading)):
                yield _part_of_curves(people)[0]
        except NotInOrderError:
            check_unchanged(files)
            raise

    columns, counting = LineColumns(reading), _Counting(reading)
    for people in people_in_order(first_pass, columns):
        counting.added(people)
    return counting.table(files, reading, read, columns.spellings)


class _Counting:
    """Counts people as they are read, and keeps a sample of them."""

    def __init__(self, reading: Reading) -> None:
        sites = reading.columns["site"].words.values() if "site" in reading.columns else ("",)
        self._n_parts = 0
        self._people = np.zeros(len({*map(str, sites)}), np.int64)
        self._n_missing = self._n_observations = 0
        self._sample: Sample | None = None

    def added(self, lines: People) -> CurveTable:
        """Make the curves of some of the people, and count them."""
        curves, missing = _part_of_curves(lines)
        self._n_missing += missing
        self._n_observations += len(curves.times)
        self._people += np.bincount(curves.server, minlength=len(self._people))
        self._sample = Sample.of(curves, self._n_parts).with_(self._sample)
        self._n_parts += 1
        return curves

    def table(
        self,
        files: Sequence[TableFile],
        reading: Reading,
        read: Callable[[bool], Iterator[CurveTable]],
        spellings: str,
    ) -> StoredTable:
        """Return the table of all people."""
        assert self._sample is not None  # a file without a line is refused
        people = tuple(self._people.tolist())
        summary = Summary(people, self._n_observations, self._n_missing, self._sample, spellings)
        return StoredTable(reading, tuple(files), summary, people, read)


def _part_of_curves(people: People) -> tuple[CurveTable, int]:
    try:
        return part_of_curves(people)
    except InputError as problem:
        raise InputError(
            problem.message,
            field=problem.field,
            hint=f"{problem.hint} The counts are of a part of the people.".lstrip(),
        ) from None


class Sample(NamedTuple):
    """Curves of the people whose ids have the smallest hashes."""

    curves: CurveTable
    keys: NDArray[np.uint64]

    @classmethod
    def of(cls, curves: CurveTable, number: int) -> Sample:
        """Choose among the curves of a bucket, by its number where nobody has an id."""
        names = (
            curves.ids
            if curves.ids
            else np.arange(curves.n_curves, dtype=np.uint64) + np.uint64(number << 32)
        )
        return cls(curves, id_hashes(names)).cut()

    def with_(self, other: Sample | None) -> Sample:
        """Choose among both."""
        if other is None:
            return self
        both = (other.curves, self.curves)
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(each, name) for each in both])
            for name in ("times", "values", "counts", "server", "covariates")
        }
        curves = replace(
            self.curves,
            **columns,
            ids=(*other.curves.ids, *self.curves.ids),
            n_people=sum(each.n_people for each in both),
        )
        return Sample(curves, np.concatenate([other.keys, self.keys])).cut()

    def cut(self) -> Sample:
        """Keep as many as a sample has."""
        if len(self.keys) <= SAMPLE:
            return self
        chosen = np.zeros(len(self.keys), bool)
        chosen[np.argpartition(self.keys, SAMPLE)[:SAMPLE]] = True
        return Sample(_chosen(self.curves, chosen), self.keys[chosen])

    def in_order(self) -> CurveTable:
        """The curves by site."""
        curves = self.curves
        order = np.argsort(curves.server, kind="stable")
        starts = (np.cumsum(curves.counts) - curves.counts)[order]
        counts = curves.counts[order]
        moved = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        observations = moved + np.arange(counts.sum())
        return replace(
            curves,
            times=curves.times[observations],
            values=curves.values[observations],
            counts=counts,
            server=curves.server[order],
            covariates=curves.covariates[order],
            ids=tuple(curves.ids[k] for k in order) if curves.ids else (),
        )


def id_hashes(ids: Sequence[str] | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash ids without a secret, to choose among people and to compare partitions."""
    from pandas.util import hash_array  # on first use: few files are so large

    names = ids if isinstance(ids, np.ndarray) else np.array(ids, dtype=object)
    return np.asarray(hash_array(names, hash_key="for a sample....", categorize=False))


def _put(curves: CurveTable, arrays: Arrays) -> _StoredPart:
    put = arrays.put
    return _StoredPart(
        put(curves.times),
        put(curves.values),
        put(curves.counts),
        put(curves.server),
        put(curves.covariates),
        StoredTexts.put(Texts.of(curves.ids), arrays),
        curves.n_curves,
    )
