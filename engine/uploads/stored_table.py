"""Curves of any number of people, put together from batches of lines in bounded memory.

    batches ── people ──→ lines in buckets, by a hash of ids ── records ──→ curves of each bucket

A bucket holds all lines of its people and is a small file of its own: `part_of_curves` makes their
curves as `curves_of` makes those of a whole file, so Lemma 1 of `engine.uploads.records` holds as
it stands. The curves are kept as times, values and counts, which each pass of a release reads
again; nothing that is derived from them is kept. Buckets and curves are in memory up to an eighth
of what is allowed each, beyond it in nameless files.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.identity import named_once
from engine.core.lists import counted
from engine.running.progress import stage
from engine.uploads.batches import batches
from engine.uploads.curves import CurveTable, notes_on_curves
from engine.uploads.files import TableFile, changed
from engine.uploads.people import People, read_batches
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import nothing_known, part_of_curves
from engine.uploads.scratch import Arrays, Resources, StoredArray, noticing_full_disks

SAMPLE = 5000  # people at whom doubts look
MOST_BUCKETS = 256
_WORK = 200  # bytes that a line takes while its bucket is put in order
_KEPT = 8  # parts of the memory: one for lines in buckets, one for curves, and room for work
_LINE = 48  # bytes of a line in a bucket, about
_ID, _WIDE = "id", "wide"


class _StoredPart(NamedTuple):
    """The places of the curves of a bucket."""

    times: StoredArray
    values: StoredArray
    counts: StoredArray
    server: StoredArray
    covariates: StoredArray
    ids: StoredArray  # texts one after the other
    ends: StoredArray  # where each text ends
    n: int


@named_once
@dataclass(frozen=True, eq=False)
class StoredTable:
    """The curves of all people of some files, read anew whenever they are asked for."""

    reading: Reading
    files: tuple[TableFile, ...]
    people: tuple[int, ...]  # of each site
    n_observations: int
    n_missing: int
    sample: CurveTable  # of some of the people, chosen by a hash of their ids
    arrays: Arrays
    parts: tuple[_StoredPart, ...]
    kept: NDArray[np.bool_] | None = field(default=None)  # (n,), in the order of the parts

    @property
    def n_curves(self) -> int:
        return sum(self.people)

    def tables(self, site: int | None = None, with_ids: bool = False) -> Iterator[CurveTable]:
        """Yield all curves in tables of some of them, or those of a site, which is the only one.

        Raises
        ------
        InputError
            If a file changed since it was read.
        """
        self.check_unchanged()
        first, advance = 0, stage("Curves", sum(part.n for part in self.parts))
        for part in self.parts:
            is_kept = None if self.kept is None else self.kept[first : first + part.n]
            first += part.n
            table = self._table(part, site, with_ids, is_kept)
            advance(part.n)
            if len(table.counts):
                yield table

    def check_unchanged(self) -> None:
        """Refuse files that changed since they were read.

        Raises
        ------
        InputError
            If a file changed.
        """
        if number := changed(self.files):
            raise InputError(
                f"{counted(number, 'file')} changed while {'it was' if number == 1 else 'they were'} "
                "read; nothing was published.",
                field="file",
                hint="Release from files that nobody writes to.",
            )

    def without(self, members: NDArray[np.bool_]) -> StoredTable:
        """Leave out these people (n,), in the order of the tables."""
        kept = np.ones(len(members), bool) if self.kept is None else self.kept.copy()
        kept[np.flatnonzero(kept)[members] if self.kept is not None else members] = False
        arrays, first, people = self.arrays, 0, np.zeros(len(self.people), np.int64)
        for part in self.parts:
            server = arrays.get(part.server)[kept[first : first + part.n]]
            people += np.bincount(server, minlength=len(people))
            first += part.n
        if not people.all():
            raise InputError("A site would have nobody left.", field="exhausted", hint="Lower ε.")
        return replace(self, kept=kept, people=tuple(people.tolist()))

    def _table(
        self, part: _StoredPart, site: int | None, with_ids: bool, is_kept: NDArray[np.bool_] | None
    ) -> CurveTable:
        counts, server = self.arrays.get(part.counts), self.arrays.get(part.server)
        chosen = np.ones(part.n, bool) if is_kept is None else is_kept
        if site is not None:
            chosen = chosen & (server == site)
        times, values = self.arrays.get(part.times), self.arrays.get(part.values)
        covariates = self.arrays.get(part.covariates)
        ids = self._ids(part) if with_ids else ()
        if not chosen.all():
            observed = np.repeat(chosen, counts)
            times, values, counts = times[observed], values[observed], counts[chosen]
            server, covariates = server[chosen], covariates[chosen]
            ids = tuple(ids[k] for k in np.flatnonzero(chosen)) if ids else ()
        return replace(
            self.sample,
            times=times,
            values=values,
            counts=counts,
            server=np.zeros_like(server) if site is not None else server,
            covariates=covariates,
            ids=ids,
            n_people=len(counts),
            notes=(),
        )

    def _ids(self, part: _StoredPart) -> tuple[str, ...]:
        texts = self.arrays.get(part.ids).tobytes()
        ends = self.arrays.get(part.ends).tolist()
        starts = [0, *ends[:-1]]
        return tuple(texts[start:end].decode() for start, end in zip(starts, ends, strict=True))


def stored_table(files: Sequence[TableFile], reading: Reading, resources: Resources) -> StoredTable:
    """Read the curves of files of any size.

    Raises
    ------
    InputError
        As `people.read` and `records.curves_of`; if there is no room, or a file changed.
    """
    reading.complete()
    if "group" in reading.columns:
        raise InputError(
            "Groups of files of this size are not read together.",
            field="group",
            hint="Write the files of each group, and publish them one by one.",
        )
    rows = sum(file.most_rows for file in files)
    width = max(len(reading.at), 1)
    spooled = resources.memory // _KEPT
    if rows * width * _LINE > spooled:
        resources.check_room(rows * (_LINE + 16 * width))
    number = int(np.clip(rows * width * _WORK * _KEPT // resources.memory, 1, MOST_BUCKETS))
    buckets = _Buckets(number, reading, resources, spooled // number)
    progress = stage("Reading", sum(file.size for file in files))
    for people in read_batches(batches(files, reading, progress), reading):
        buckets.add(people)
    return _grouped(buckets, files, reading, Arrays(resources, spooled))


class _Buckets:
    """Lines of people, of whom each is in one bucket."""

    def __init__(self, number: int, reading: Reading, resources: Resources, memory: int) -> None:
        self._reading, self._resources, self._memory = reading, resources, memory
        self._files: list[IO[bytes] | None] = [None] * number
        self._writers: dict[int, Any] = {}
        weakref.finalize(self, _close, self._files)
        self._n_lines = 0  # so far; where each line is another person
        self._spellings = set[str]()

    def add(self, people: People) -> None:
        """Put the lines of a batch into their buckets."""
        if not people.n_lines:
            return
        self._spellings.update(filter(None, people.spellings.split("\0")))
        batch, bucket = self._lines(people)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=len(self._files)))
        sorted_batch = batch.take(pa.array(order)) if len(self._files) > 1 else batch
        first = 0
        with noticing_full_disks():
            for k, end in enumerate(ends.tolist()):
                if end > first:
                    self._writer(k, batch.schema).write_batch(
                        sorted_batch.slice(first, end - first)
                    )
                first = end

    @property
    def spellings(self) -> str:
        """Other spellings of ids in all batches; see `People.spellings`."""
        return "\0".join(sorted(self._spellings))

    def _lines(self, people: People) -> tuple[pa.RecordBatch, NDArray[np.uint16]]:
        """The lines of a batch as columns, and the bucket of each."""
        from pandas.util import hash_array  # on first use: few files are so large

        number, n = len(self._files), people.n_lines
        assert self._reading.person is not None  # the reading is complete
        if self._reading.person.rows:
            names = np.arange(self._n_lines, self._n_lines + n)
            ids, bucket = pa.array(names).cast(pa.string()), (names % number).astype(np.uint16)
        else:
            texts = pa.array(people.ids, pa.string())
            hashes = hash_array(np.array(people.ids, dtype=object), categorize=False)
            ids = texts.take(pa.array(people.person))
            bucket = (hashes % np.uint64(number)).astype(np.uint16)[people.person]
        self._n_lines += n
        columns: dict[str, Any] = {_ID: ids}
        for name, numbers in people.columns.items():
            if numbers.ndim == 1:
                columns[f"column {name}"] = numbers
                continue
            columns |= {f"{_WIDE} {k}": column for k, column in enumerate(numbers.T)}
        columns |= {f"code {name}": codes for name, codes in people.codes.items()}
        columns |= {f"covariate {k}": each for k, each in enumerate(people.covariates.T)}
        self._like = replace(
            people,
            ids=(),
            person=np.empty(0, np.int64),
            spellings="",
            columns={},
            codes=dict.fromkeys(people.codes, np.empty(0, np.int64)),
        )
        arrays = [
            each if isinstance(each, pa.Array) else pa.array(np.ascontiguousarray(each))
            for each in columns.values()
        ]
        return pa.record_batch(arrays, names=list(columns)), bucket

    def _writer(self, k: int, schema: pa.Schema) -> Any:
        if k not in self._writers:
            file = self._files[k] = self._resources.file(self._memory)
            self._writers[k] = pa.ipc.new_stream(file, schema)
        return self._writers[k]

    def people(self) -> Iterator[People]:
        """Yield the people of each bucket, which is forgotten behind them."""
        for k, file in enumerate(self._files):
            if file is None:
                continue
            with noticing_full_disks():
                self._writers.pop(k).close()
            file.seek(0)
            table = pa.ipc.open_stream(file).read_all()
            file.close()
            self._files[k] = None
            yield self._people(table)

    def _people(self, table: pa.Table) -> People:
        coded = table[_ID].combine_chunks().dictionary_encode()
        numbers = {name: table[name].to_numpy() for name in table.column_names if name != _ID}
        wide = [numbers[name] for name in numbers if name.startswith(_WIDE)]
        covariates = [numbers[name] for name in numbers if name.startswith("covariate ")]
        return replace(
            self._like,
            ids=tuple(coded.dictionary.to_pylist()),
            person=np.asarray(coded.indices).astype(np.int64),
            columns={
                name.removeprefix("column "): each
                for name, each in numbers.items()
                if name.startswith("column ")
            }
            | ({"wide": np.column_stack(wide)} if wide else {}),
            codes={name: numbers[f"code {name}"] for name in self._like.codes},
            covariates=np.column_stack(covariates) if covariates else np.empty((len(table), 0)),
        )


def _close(files: Iterable[IO[bytes] | None]) -> None:
    for file in files:
        if file is not None:
            file.close()


def _grouped(
    buckets: _Buckets, files: Sequence[TableFile], reading: Reading, arrays: Arrays
) -> StoredTable:
    """Make curves of the people of each bucket, and keep them."""
    parts, n_missing, n_observations = list[_StoredPart](), 0, 0
    sites = reading.columns["site"].words.values() if "site" in reading.columns else ("",)
    people = np.zeros(len({*map(str, sites)}), np.int64)
    sample: _Sample | None = None
    for lines in buckets.people():
        curves, missing = _part_of_curves(lines)
        n_missing, n_observations = n_missing + missing, n_observations + len(curves.times)
        people += np.bincount(curves.server, minlength=len(people))
        sample = _Sample.of(curves, len(parts)).with_(sample)
        parts.append(_put(curves, arrays))
    if sample is None or not n_observations:
        raise nothing_known()
    if not people.all():
        number = int((people == 0).sum())
        raise InputError(
            f"{counted(number, 'stated site')} {'has' if number == 1 else 'have'} nobody in these "
            "files.",
            field="site",
            hint="Name the sites of the files, and no others, as “words” of “site”.",
        )
    notes = (
        f"what follows is of {len(sample.keys):,} of {int(people.sum()):,} people, chosen by "
        "their ids",
    )
    return StoredTable(
        reading,
        tuple(files),
        tuple(people.tolist()),
        n_observations,
        n_missing,
        replace(
            notes_on_curves(sample.in_order(), notes, n_missing, is_single=False),
            spellings=buckets.spellings,
        ),
        arrays,
        tuple(parts),
    )


def _part_of_curves(people: People) -> tuple[CurveTable, int]:
    try:
        return part_of_curves(people)
    except InputError as problem:
        raise InputError(
            problem.message,
            field=problem.field,
            hint=f"{problem.hint} The counts are of a part of the people.".lstrip(),
        ) from None


class _Sample(NamedTuple):
    """Curves of the people whose ids have the smallest hashes."""

    curves: CurveTable
    keys: NDArray[np.uint64]

    @classmethod
    def of(cls, curves: CurveTable, number: int) -> _Sample:
        """Choose among the curves of a bucket, by its number where nobody has an id."""
        from pandas.util import hash_array  # on first use: few files are so large

        names = (
            np.array(curves.ids, dtype=object)
            if curves.ids
            else np.arange(curves.n_curves, dtype=np.uint64) + np.uint64(number << 32)
        )
        keys = hash_array(names, hash_key="for a sample....", categorize=False)
        return cls(curves, keys).cut()

    def with_(self, other: _Sample | None) -> _Sample:
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
        return _Sample(curves, np.concatenate([other.keys, self.keys])).cut()

    def cut(self) -> _Sample:
        """Keep as many as a sample has."""
        if len(self.keys) <= SAMPLE:
            return self
        chosen = np.zeros(len(self.keys), bool)
        chosen[np.argpartition(self.keys, SAMPLE)[:SAMPLE]] = True
        curves, observed = self.curves, np.repeat(chosen, self.curves.counts)
        return _Sample(
            replace(
                curves,
                times=curves.times[observed],
                values=curves.values[observed],
                counts=curves.counts[chosen],
                server=curves.server[chosen],
                covariates=curves.covariates[chosen],
                ids=tuple(curves.ids[k] for k in np.flatnonzero(chosen)) if curves.ids else (),
                n_people=int(chosen.sum()),
            ),
            self.keys[chosen],
        )

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


def _put(curves: CurveTable, arrays: Arrays) -> _StoredPart:
    texts = [text.encode() for text in curves.ids]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    put = arrays.put
    return _StoredPart(
        put(curves.times),
        put(curves.values),
        put(curves.counts),
        put(curves.server),
        put(curves.covariates),
        put(np.frombuffer(b"".join(texts), np.uint8)),
        put(ends),
        curves.n_curves,
    )
