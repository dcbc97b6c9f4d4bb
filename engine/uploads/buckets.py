"""Lines of people as columns: kept in buckets, or as they stand where people stand in order."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.uploads.people import People, as_strings
from engine.uploads.reading_of_files import Reading
from engine.uploads.scratch import Resources, noticing_full_disks

_ID, _WIDE = "id", "wide"


class NotInOrderError(Exception):
    """The end of reading people as they stand: their ids do not rise."""


class LineColumns:
    """Lines of people as Arrow tables, and back."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._n_lines = 0  # so far; where each line is another person
        self._spellings = set[str]()

    @property
    def spellings(self) -> str:
        """Other spellings of ids in all batches; see `People.spellings`."""
        return "\0".join(sorted(self._spellings))

    @property
    def are_people(self) -> bool:
        """True where each line is another person, whom the place of the line tells apart."""
        assert self._reading.person is not None  # the reading is complete
        return self._reading.person.rows

    def table(self, people: People) -> pa.Table:
        """Return the lines of a batch, each with its id."""
        self._spellings.update(filter(None, people.spellings.split("\0")))
        n = people.n_lines
        if self.are_people:
            ids = pa.array(np.arange(self._n_lines, self._n_lines + n)).cast(pa.string())
        else:
            ids = pa.array(people.ids, pa.string()).take(pa.array(people.person))
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
        return pa.table(arrays, names=list(columns))

    def people(self, table: pa.Table) -> People:
        """Return the people of some lines."""
        coded = table[_ID].combine_chunks().dictionary_encode()
        numbers = {name: table[name].to_numpy() for name in table.column_names if name != _ID}
        wide = [numbers[name] for name in numbers if name.startswith(_WIDE)]
        covariates = [numbers[name] for name in numbers if name.startswith("covariate ")]
        return replace(
            self._like,
            ids=as_strings(coded.dictionary),
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


class Buckets:
    """Lines of people, of whom each is in one bucket."""

    def __init__(
        self, number: int, columns: LineColumns, resources: Resources, memory: int
    ) -> None:
        self.columns, self._resources, self._memory = columns, resources, memory
        self._files: list[IO[bytes] | None] = [None] * number
        self._writers: dict[int, Any] = {}
        weakref.finalize(self, _close, self._files)

    def add(self, people: People) -> None:
        """Put the lines of a batch into their buckets."""
        if not people.n_lines:
            return
        table, number = self.columns.table(people), len(self._files)
        bucket = np.zeros(people.n_lines, np.uint16)
        if number > 1:
            bucket = (
                _hashes(table[_ID].to_pylist(), number)
                if self.columns.are_people
                else _hashes(people.ids, number)[people.person]
            )
            table = table.take(pa.array(np.argsort(bucket, kind="stable")))
        ends = np.cumsum(np.bincount(bucket, minlength=number))
        first = 0
        with noticing_full_disks():
            for k, end in enumerate(ends.tolist()):
                if end > first:
                    self._writer(k, table.schema).write_table(table.slice(first, end - first))
                first = end

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
            yield self.columns.people(table)


def _hashes(ids: Sequence[str], number: int) -> NDArray[np.uint16]:
    """The bucket of each id."""
    from pandas.util import hash_array  # on first use: few files are so large

    hashes = hash_array(np.array(ids, dtype=object), categorize=False) % np.uint64(number)
    return np.asarray(hashes.astype(np.uint16))


def _close(files: Iterable[IO[bytes] | None]) -> None:
    for file in files:
        if file is not None:
            file.close()


def people_in_order(batches: Iterable[People], columns: LineColumns) -> Iterator[People]:
    """Yield people as they stand, each whole, if ids rise as texts or numbers; else raise.

    Rising ids are the proof that nobody comes back after their last line.
    """
    kept: pa.Table | None = None  # lines of the last person, who may go on
    rises = np.ones(2, bool)  # as texts, as numbers
    for people in batches:
        if not people.n_lines:
            continue
        table = columns.table(people)
        if kept is not None:
            table = pa.concat_tables([kept, table]).combine_chunks()
        ids = table[_ID].combine_chunks()
        starts = 1 + np.flatnonzero(pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)))
        runs = ids.take(pa.array(np.append(0, starts)))
        later, earlier = runs.slice(1), runs.slice(0, len(runs) - 1)
        is_above = np.asarray(pc.greater(later, earlier))
        length = np.asarray(pc.utf8_length(runs))
        is_longer, is_as_long = length[1:] > length[:-1], length[1:] == length[:-1]
        rises &= [is_above.all(), (is_longer | (is_as_long & is_above)).all()]
        if not rises.any():
            raise NotInOrderError
        cut = int(starts[-1]) if len(starts) else 0
        if cut:
            yield columns.people(table.slice(0, cut))
        kept = table.slice(cut)
    if kept is not None:
        yield columns.people(kept)
