"""A person's own curves of any size, with the facts they state about them, as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.identity import Traces
from engine.core.types import CurveData, CurveStore, PublicFacts, Sizes
from engine.uploads.curves import CurveTable, Upload
from engine.uploads.misfits import check_covariates, check_fit
from engine.uploads.partitioned_table import PartitionedTable
from engine.uploads.reading_of_files import Reading
from engine.uploads.source import UploadedData
from engine.uploads.stored_table import StoredTable

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredCurves(UploadedData[Any]):
    """Curves of a `StoredTable`, of which a block at a time is in memory.

    Its data are a `CurveStore`, for methods that read blocks. What its holder is told beside counts
    is of a sample of the people.
    """

    key = "upload"
    label = "Your curves"
    tasks = Upload.tasks
    read_as = "table"

    table: StoredTable | PartitionedTable

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.declared.observations_per_curve:
            raise InputError(
                "State how many observations each curve was planned to have.",
                field="observations_per_curve",
                hint="How many single curves have is private.",
            )
        self.facts  # noqa: B018  (checks the bounds of a change)
        sample = self.observations
        check_fit(sample.times, sample.values, sample.counts, sample.time_unit, self.declared)
        check_covariates(self.covariates, self.declared)

    @property
    def observations(self) -> CurveTable:
        return self.table.sample

    @property
    def sizes(self) -> Sizes:
        planned, n = self.declared.observations_per_curve, self.table.n_curves
        return Sizes(self.table.people, planned * n, planned, len(self.declared.covariates))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Signs that the sample differs from its declaration."""
        return self._of(self.observations).doubts

    def remarks(self) -> list[str]:
        """Numbers that were moved to a bound in the sample, and repeated curves there."""
        return self._of(self.observations).remarks()

    def without(self, members: NDArray[np.bool_]) -> Self:
        return replace(self, table=self.table.without(members))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveStore:
        """Return the curves as a store; `rng` is not used."""
        self._only_once(n_repeats)
        return self._store

    @cached_property
    def _store(self) -> CurveStore:
        return CurveStore(self.facts, self.table.people, self._of_parts)

    def _of_parts(self, site: int, function: Callable[[Iterator[CurveData]], R]) -> list[R]:
        return self.table.of_parts(self._each(_drawn, function), site)

    def _of(self, curves: CurveTable) -> _Curves:
        return _Curves(curves=curves, declared=self.declared, reading=self.reading)

    def _each(
        self, form: Callable[[Upload], T], function: Callable[[Iterator[T]], R]
    ) -> _OfCurves[T, R]:
        return _OfCurves(self.declared, self.reading, form, function)

    def contents(self) -> Iterable[bytes]:
        return chain.from_iterable(self.table.of_parts(self._each(Upload.contents, _all_bytes)))

    def traces(self) -> Traces:
        """Ids and shapes of curves, read anew; see `Source.traces`."""

        def of_parts(function: Callable[[Iterator[Traces]], R]) -> list[R]:
            return self.table.of_parts(self._each(Upload.traces, function), with_ids=True)

        return Traces(self.table.n_curves, stored=of_parts)


@dataclass(frozen=True)
class _OfCurves(Generic[T, R]):
    """A function of the curves of some tables, each in another form."""

    declared: PublicFacts
    reading: Reading | None
    form: Callable[[Upload], T]
    function: Callable[[Iterator[T]], R]

    def __call__(self, tables: Iterator[CurveTable]) -> R:
        return self.function(
            self.form(_Curves(curves=each, declared=self.declared, reading=self.reading))
            for each in tables
        )


def _drawn(curves: Upload) -> CurveData:
    return curves.draw(1, np.random.default_rng(0))


def _all_bytes(contents: Iterator[Iterable[bytes]]) -> list[bytes]:
    return [content for each in contents for content in each]


class _Curves(Upload):
    """Some of the people, who are not compared with what is stated of all."""

    def __post_init__(self) -> None:
        pass
