"""Records from a person's own file, one of each person, with the facts they state, as a source.

As for curves, nothing of the file travels in a link or a scenario, and no message holds a number, a
line or an id of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from engine.core.identity import Traces, named_once
from engine.core.lists import counted, listed
from engine.core.tasks import TASKS
from engine.core.types import Array, SampleData, Sizes
from engine.uploads.columns import Observations
from engine.uploads.misfits import check_records, remarks_on_covariates
from engine.uploads.source import UploadedData
from engine.uploads.traces import bits_of_records, coarse, pieces, traces_of

MAX_ROWS = 1_000_000


# -- reading the file -----------------------------------------------------------------------------


@named_once
@dataclass(frozen=True, eq=False, kw_only=True)
class RowTable(Observations):
    """Records read from a table; `Observations` says what they have in common with curves."""

    # (n,) or None: the responses, NaN where a cell holds no number; None without a column of them
    values: Array | None = None
    value_name: str | None = None

    @property
    def n_rows(self) -> int:
        """The number of records."""
        return len(self.server)


def notes_on_rows(rows: RowTable, notes: tuple[str, ...]) -> RowTable:
    """Return records with what their holder should know of them."""
    return replace(rows, notes=(*notes, *_doubtful(rows)))


def _doubtful(rows: RowTable) -> list[str]:
    """List what a person should know before believing a picture; counts only."""
    columns = dict(zip(rows.covariate_names, rows.covariates.T, strict=True))
    if rows.values is not None:
        columns[str(rows.value_name)] = rows.values
    missing = sum(int(np.isnan(column).sum()) for column in columns.values())
    constant = [name for name, column in columns.items() if np.nanmin(column) == np.nanmax(column)]
    applies = {
        f"{counted(missing, 'number')} missing: their rows count, with the middle of the stated "
        "range, or a released mean": missing,
        f"the same in all rows: {listed(constant)}": constant,
    }
    return [note for note, holds in applies.items() if holds]


# -- as data --------------------------------------------------------------------------------------


class ClippedInRows(NamedTuple):
    """Counts of numbers moved to a stated bound; for the holder of the records alone."""

    features: int
    responses: int


@dataclass(frozen=True, kw_only=True, eq=False)
class UploadRows(UploadedData[SampleData]):
    """A person's own records with the facts they declared; the same in every draw.

    What they can be used for follows from what was declared (`serves`).
    """

    key = "upload_rows"
    label = "Your records"
    tasks: ClassVar[frozenset[str]] = frozenset(
        task.key for task in TASKS.values() if task.features
    )

    read_as = "rows"

    rows: RowTable

    def __post_init__(self) -> None:
        super().__post_init__()
        is_stated = self.declared.value_name == self.rows.value_name  # densities have no response
        check_records(self.covariates, self.rows.values if is_stated else None, self.declared)

    @property
    def observations(self) -> RowTable:
        return self.rows

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            tuple(np.bincount(self.rows.server).tolist()),
            self.rows.n_rows,
            1,
            len(self.declared.covariates),
        )

    def serves(self, task: str) -> bool:
        """Densities take one or two columns, the others a response; sparse regression needs σ."""
        if task not in self.tasks:
            return False
        needs, has_spread = TASKS[task], self.declared.reading_sd > 0
        return (
            needs.features is not None
            and needs.features.allows(len(self.declared.covariates))
            and ("value" not in needs.roles or self.rows.values is not None)
            and ("spread" not in needs.states or has_spread)
        )

    @property
    def n_clipped(self) -> ClippedInRows:
        """Counts of numbers moved to a stated bound."""
        x, y = self._within_ranges
        values = self.rows.values
        return ClippedInRows(
            _moved(self.covariates, x), 0 if y is None or values is None else _moved(values, y)
        )

    def contents(self) -> Iterable[bytes]:
        """The numbers of each record; see `Source.contents`."""
        table = self._numbers
        return pieces(np.arange(1, len(table) + 1) * table.shape[1], table.ravel())

    def traces(self) -> Traces:
        """Ids, and the numbers of each record in order of size; see `Source.traces`."""
        numbers, stated = self._numbers, self.declared
        used = (
            self.covariates
            if self.rows.values is None
            else (np.column_stack([self.covariates, self.rows.values]))
        )
        extents = [each.high - each.low for each in stated.covariates]
        if self.rows.values is not None:
            extents.append(stated.value_high - stated.value_low)
        table = np.sort(numbers, axis=1)  # what is no number comes last
        known = np.isfinite(table)
        return traces_of(
            self.rows,
            lambda: iter(self.contents()),
            tuple(pieces(np.cumsum(known.sum(axis=1)), *coarse(table[known]))),
            bits_of_records(used, np.array(extents)),
            "values",
            reading=self.reading,
        )

    @property
    def _numbers(self) -> Array:
        """All numbers of every record (n, columns), what is none as one kind of NaN."""
        table = self.rows.covariates
        if self.rows.values is not None:
            table = np.column_stack([table, self.rows.values])
        return np.ascontiguousarray(np.where(np.isnan(table), np.nan, table + 0.0))

    def remarks(self) -> list[str]:
        """List the values moved to a bound; for their holder alone."""
        features, responses = self.n_clipped
        moved = [
            f"{counted(features, 'number')} and {counted(responses, 'response')} lay outside "
            "the ranges you stated: moved to the nearest bound."
        ] * bool(features or responses)
        return moved + remarks_on_covariates(self.covariates, self.declared)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        """Return the records, moved into the stated ranges; `rng` is not used.

        What is no number stays NaN, which mechanisms take for the middle of its range.
        """
        self._only_once(n_repeats)
        x, y = self._within_ranges
        return SampleData(
            x[np.newaxis], None if y is None else y[np.newaxis], self.rows.server, self.declared
        )

    @property
    def _within_ranges(self) -> tuple[Array, Array | None]:
        """The declared columns (n, d) and the responses (n,), moved into their stated ranges."""
        facts, values = self.declared, self.rows.values
        low, high = np.array([(c.low, c.high) for c in facts.covariates]).T
        return (
            np.clip(self.covariates, low, high),
            None if values is None else np.clip(values, facts.value_low, facts.value_high),
        )


def _moved(numbers: Array, clipped: Array) -> int:
    return int(((numbers != clipped) & np.isfinite(numbers)).sum())
