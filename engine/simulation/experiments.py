"""Running scenarios: cells of a sweep, repeated on fresh data, serially or in parallel.

Work is cut into blocks of repeats. A block knows the recipe (source, mechanism, budgets, seed),
not the arrays, and its random numbers depend on which block it is, never on when or where it runs:
serial and parallel runs are equal to the last bit. Cells that differ only in budget share a block,
so that each curve's moments are computed once for all of them, on the same data and noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, Spend
from engine.mechanisms import Mechanism, one_per_server
from engine.mechanisms.study import Study
from engine.privacy import accounting
from engine.simulation import studies
from engine.simulation.metrics import (
    NOTHING,
    Accuracy,
    coverage,
    distances,
    integrated_squared_errors,
)
from engine.sources import Source

READINGS_PER_BLOCK = 400_000  # part of the definition of a run: changing it changes the draws
NOT_RUN = "not run"  # what is said of a cell of which nothing is there
KINDS = ("total_error", "privacy_error", "estimation_error", "coverage", "coverage_of_curve")


@dataclass(frozen=True)
class Cell:
    """One point of a sweep: where it lies on the axes, and what is run there.

    The task that source and mechanism share decides whether the data are curves or records.
    """

    at: dict[str, Any]  # its coordinates: the value of every axis, by name
    source: Source[Any]
    mechanism: Mechanism
    budgets: tuple[Budget, ...]


@dataclass(frozen=True)
class Run:
    """Repetitions and seed of every cell."""

    repeats: int = 1
    draws: int = 1
    seed: int = 1
    # every cell is run as the study of the pages (`engine.simulation.studies`), whose repeats and
    # draws follow from public sizes; those given here are not used then
    is_study: bool = False


@dataclass(frozen=True)
class Block:
    """The smallest piece of work: some repeats of cells that differ only in their budget."""

    cells: tuple[int, ...]  # numbers of the cells in the sweep
    # source, mechanism: what all of them share
    source: Source[Any]
    mechanism: Mechanism
    budgets: tuple[tuple[Budget, ...], ...]  # those of each cell, one for each server
    run: Run
    index: int  # number of the block, on which its random streams depend

    @property
    def recipe(self) -> Block:
        """The same work wherever it stands in a sweep: its cells are numbered from 0."""
        return replace(self, cells=tuple(range(len(self.cells))))


@dataclass(frozen=True)
class BlockResult:
    """The result of one block."""

    index: int
    # for each cell its measures (repeats, draws) by kind
    errors: dict[int, dict[str, Array | None]]
    spends: dict[int, tuple[Spend, ...]]
    failures: dict[int, str]  # for each cell that could not be run, the message

    def fits(self, block: Block) -> bool:
        """True if the block can give this: its cells, shapes, finite numbers and ledgers."""
        given, failed = self.errors.keys(), self.failures.keys()
        return (
            type(self.index) is int
            and self.index == block.index
            and given == self.spends.keys()
            and not given & failed
            and given | failed == set(block.cells)
            and all(type(said) is str and said for said in self.failures.values())
            and all(_are_measures(errors, block.run) for errors in self.errors.values())
            and all(
                _is_ledger(self.spends[cell], budgets, block.source.sizes.n_servers)
                for cell, budgets in zip(block.cells, block.budgets, strict=True)
                if cell in given
            )
        )

    def placed(self, cells: Sequence[int]) -> BlockResult:
        """Return the part of a recipe at its place in a sweep: the numbers of its cells there."""

        def numbered(by_cell: Mapping[int, Any]) -> dict[int, Any]:
            return {cells[k]: value for k, value in by_cell.items()}

        return BlockResult(
            self.index, numbered(self.errors), numbered(self.spends), numbered(self.failures)
        )


def _are_measures(errors: Mapping[str, Array | None], run: Run) -> bool:
    """True for the measures of one cell: a number for each repeat and draw.

    Errors are finite; a coverage is a share, or NaN where the method gives no band.
    """
    known = {kind: array for kind, array in errors.items() if array is not None}
    return (
        errors.keys() == set(KINDS)
        and "privacy_error" in known
        and all(
            array.dtype.kind == "f"
            and array.shape == (run.repeats, run.draws)
            and bool(_may_be(kind, array).all())
            for kind, array in known.items()
        )
    )


def _may_be(kind: str, array: Array) -> NDArray[np.bool_]:
    if kind.startswith("coverage"):
        return np.isnan(array) | (array >= 0) & (array <= 1)
    return np.isfinite(array) & (array >= 0)


def _is_ledger(spends: Sequence[Spend], budgets: tuple[Budget, ...], n_servers: int) -> bool:
    """True if every line is of a server of the source, and of the budget that it was given."""
    of_server = one_per_server(budgets, n_servers)
    return bool(spends) and all(
        0 <= spend.server < n_servers and spend.budget == of_server[spend.server]
        for spend in spends
    )


@dataclass(frozen=True)
class Outcome:
    """A cell with its measures: arrays (repeats, draws) by kind, and the ledger."""

    cell: Cell
    # by the names of `KINDS`: the three errors and, where the mechanism gives a band and the truth
    # is known, how often the band holds the best curve with the kept waves, and how often the curve
    # itself
    errors: dict[str, Array | None]
    spends: tuple[Spend, ...]
    failure: str = ""  # why there is nothing; empty otherwise
    # the error without privacy (`engine.simulation.studies`), where it was asked for
    baseline: float | None = None

    @property
    def guarantee(self) -> tuple[Budget, ...]:
        return accounting.guarantees(self.spends)

    @cached_property
    def is_published(self) -> bool:
        """True if the method would publish anything; else its measures are of no release."""
        cell = self.cell
        return not self.failure and studies.is_published(
            cell.mechanism, cell.source.sizes, cell.budgets, self.spends
        )

    @property
    def accuracy(self) -> Accuracy | None:
        """The error and its 95 % value; None where the error is unknown.

        NaN where the method would publish nothing.
        """
        squares = self.errors.get("total_error")
        if squares is None:
            return None
        return Accuracy.of(distances(squares)) if self.is_published else NOTHING

    def summary(self, kind: str) -> dict[str, float | None] | None:
        """Mean over repeats and draws, and its standard error; None if nothing is known."""
        errors = self.errors.get(kind)
        return None if errors is None else mean_and_se(errors)

    @property
    def repeats(self) -> int:
        return max((len(e) for e in self.errors.values() if e is not None), default=0)


def mean_and_se(errors: Array) -> dict[str, float | None]:
    """Mean and standard error of (repeats, draws); draws on the same data are not independent.

    "se" is over repeats, or over draws of a single repeat; None for one run.

    Examples
    --------
    >>> mean_and_se(np.array([[1.0, 3.0], [4.0, 4.0]]))
    {'mean': 3.0, 'se': 1.0}
    """
    independent = errors.mean(axis=1) if len(errors) > 1 else errors[0]
    count = len(independent)
    se = float(independent.std(ddof=1) / math.sqrt(count)) if count > 1 else None
    return {"mean": float(errors.mean()), "se": se}


def blocks(cells: Sequence[Cell], run: Run) -> list[Block]:
    """Cut a sweep into blocks; cells with equal source and mechanism go together."""
    if run.is_study:
        return _study_blocks(cells, run)
    groups: dict[tuple[Source[Any], Mechanism], list[int]] = {}
    for k, cell in enumerate(cells):
        groups.setdefault((cell.source, cell.mechanism), []).append(k)
    return [
        Block(
            tuple(members),
            source,
            mechanism,
            tuple(cells[k].budgets for k in members),
            replace(run, repeats=repeats),
            index,
        )
        for (source, mechanism), members in groups.items()
        for index, repeats in enumerate(_block_sizes(source, run))
    ]


def _study_blocks(cells: Sequence[Cell], run: Run) -> list[Block]:
    """Make one block for cells that differ in nothing but ε on the range of the slider."""
    groups: dict[tuple[Source[Any], Mechanism], list[int]] = {}
    for k, cell in enumerate(cells):
        groups.setdefault((cell.source, cell.mechanism), []).append(k)
    work = []
    for (source, mechanism), members in groups.items():
        study = replace(run, repeats=studies.data_sets(source), draws=studies.draws(source))
        for indices in studies.grouped_by_delta([cells[k].budgets for k in members]):
            group = tuple(members[index] for index in indices)
            work.append(
                Block(
                    group,
                    source,
                    mechanism,
                    tuple(cells[k].budgets for k in group),
                    study,
                    studies.block(source),
                )
            )
    return work


def _block_sizes(source: Source[Any], run: Run) -> list[int]:
    """Repeats in each block; the size of a full block depends on the source alone."""
    if not source.is_random:
        if run.repeats > 1:
            raise InputError(
                "Real curves are the same in every repeat; got repeats above 1.",
                field="repeats",
                hint="Set repeats to 1 and draws to the number of releases you want to see.",
            )
        return [1]
    sizes = source.sizes
    per_row = max(1, sizes.n_covariates) if sizes.n_observations == sizes.n_curves else 1
    full = max(1, READINGS_PER_BLOCK // (sizes.n_observations * per_row))
    whole, rest = divmod(run.repeats, full)
    return [full] * whole + [rest] * (rest > 0)


def run_block(block: Block) -> BlockResult:
    """Run one block; an `InputError` is recorded for its cell, anything else is a bug."""
    try:
        return _run_together(block)
    except InputError as problem:
        if len(block.cells) == 1:
            return BlockResult(block.index, {}, {}, {block.cells[0]: str(problem)})
    alone = [
        run_block(replace(block, cells=(cell,), budgets=(budgets,)))
        for cell, budgets in zip(block.cells, block.budgets, strict=True)
    ]
    return BlockResult(
        block.index,
        *(
            {k: v for part in alone for k, v in getattr(part, name).items()}
            for name in ("errors", "spends", "failures")
        ),
    )


def _run_together(block: Block) -> BlockResult:
    run = block.run
    data = block.source.draw(run.repeats, generator(run.seed, DATA_STREAM, block.index))
    budgets = studies.beside_the_highest(block.budgets) if run.is_study else block.budgets
    estimate = block.mechanism.release_many(
        data, budgets, run.draws, generator(run.seed, NOISE_STREAM, block.index)
    )
    truth = block.mechanism.truth_of(data)
    errors, covered = integrated_squared_errors(estimate, truth), coverage(estimate, truth)
    if run.is_study:
        study = Study(
            source=block.source, mechanism=block.mechanism, budgets=block.budgets[0], seed=run.seed
        )
        squares = studies.squared_errors(study, data, estimate, block.budgets)
        errors = replace(errors, total=squares.sum(axis=-1))
    by_kind = (
        errors.total,
        errors.privacy,
        errors.estimation,
        *((None, None) if covered is None else (covered.of_kept, covered.of_curve)),
    )
    return BlockResult(
        block.index,
        {
            cell: {
                kind: None if e is None else e[k] for kind, e in zip(KINDS, by_kind, strict=True)
            }
            for k, cell in enumerate(block.cells)
        },
        dict(zip(block.cells, estimate.spends, strict=False)),
        {},
    )


def gather(cells: Sequence[Cell], parts: Sequence[BlockResult]) -> list[Outcome]:
    """Put the parts of every cell together, in the order of blocks.

    Parts may come in any order; where some are missing a cell has fewer repeats.
    """
    ordered = sorted(parts, key=lambda part: part.index)
    return [_gather_cell(k, cell, ordered) for k, cell in enumerate(cells)]


def _gather_cell(k: int, cell: Cell, parts: Sequence[BlockResult]) -> Outcome:
    failures = [part.failures[k] for part in parts if k in part.failures]
    finished = [part for part in parts if k in part.errors]
    if failures or not finished:
        return Outcome(cell, {}, (), failures[0] if failures else NOT_RUN)
    errors = {kind: _joined([part.errors[k][kind] for part in finished]) for kind in KINDS}
    return Outcome(cell, errors, finished[0].spends[k])


def _joined(pieces: list[Array | None]) -> Array | None:
    known = [piece for piece in pieces if piece is not None]
    return np.concatenate(known) if known else None


def with_baselines(outcomes: Sequence[Outcome], seed: int) -> list[Outcome]:
    """Add the error without privacy to each outcome, computed once for cells that share it.

    It is the `baseline`; None where a cell failed. The outcomes come from a sweep run as a study.
    """
    known: dict[Study[Any], float | None] = {}
    compared = []
    for outcome in outcomes:
        cell = outcome.cell
        study = Study(
            source=cell.source, mechanism=cell.mechanism, budgets=cell.budgets, seed=seed
        ).at(1.0)  # the error without privacy depends on no ε
        if not outcome.failure and study not in known:
            known[study] = studies.baseline(study)
        compared.append(replace(outcome, baseline=known.get(study)))
    return compared


def run_cells(cells: Sequence[Cell], run: Run, executor: Executor) -> list[Outcome]:
    """Run a small sweep and wait for it; `sweeps.run_sweep` is for long ones.

    Results, one per cell, do not depend on the executor.
    """
    return gather(cells, list(executor.map(run_block, blocks(cells, run))))
