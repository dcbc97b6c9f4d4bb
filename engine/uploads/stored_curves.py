"""A person's own curves of any size, with the facts they state about them, as a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.identity import Traces
from engine.core.types import CurveData, CurveStore, Sizes
from engine.uploads.curves import CurveTable, Upload
from engine.uploads.misfits import check_covariates, check_fit
from engine.uploads.source import UploadedData
from engine.uploads.stored_table import StoredTable


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

    table: StoredTable

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.declared.observations_per_curve:
            raise InputError(
                "State how many observations each curve was planned to have.",
                field="observations_per_curve",
                hint="How many single curves have is private.",
            )
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
        return CurveStore(self.declared, self.table.people, self._blocks)

    def _blocks(self, site: int) -> Iterator[CurveData]:
        for each in self.table.tables(site):
            yield self._of(each).draw(1, np.random.default_rng(0))

    def _of(self, curves: CurveTable) -> _Curves:
        return _Curves(curves=curves, declared=self.declared, reading=self.reading)

    def contents(self) -> Iterable[bytes]:
        for each in self.table.tables():
            yield from self._of(each).contents()

    def traces(self) -> Traces:
        """Ids and shapes of curves, read anew; see `Source.traces`."""

        def parts() -> Iterator[Traces]:
            return (self._of(each).traces() for each in self.table.tables(with_ids=True))

        return Traces(self.table.n_curves, stored=parts)


class _Curves(Upload):
    """Some of the people, who are not compared with what is stated of all."""

    def __post_init__(self) -> None:
        pass
