"""Figures and tables of the papers, made again here and held against what the papers say.

An exhibit is data: its work (cells of a sweep, and calculations), how the results are
drawn, the numbers that were published, and the claims. Drawings and claims read the table of
results and nothing else, so a stored table shows all that a new run would.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import scipy

from engine import __version__
from engine.core.entrance import bytes_of, write_whole
from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.exhibits import Form as Form
from engine.figures.theme import Chart
from engine.running import executors
from engine.simulation import sweeps
from engine.simulation.effort import NO_LIMITS, EffortLimits
from engine.simulation.experiments import KINDS, Cell, Outcome, Run, blocks, gather
from engine.simulation.part_files import ResultFiles

Value = float | int | str | bool | None
Row = Mapping[str, Value]
Table = Sequence[Row]


def frame(table: Table | pd.DataFrame) -> pd.DataFrame:
    """Put rows into a data frame: a column for every name, NaN where a row lacks it.

    A frame is returned as it is.
    """
    return table if isinstance(table, pd.DataFrame) else pd.DataFrame(list(table))


@dataclass(frozen=True)
class Call:
    """A calculation of rows of a table: a function of a module, and plain values as arguments."""

    function: Callable[..., list[Row]]
    arguments: tuple[Any, ...] = ()

    def __call__(self) -> list[Row]:
        return self.function(*self.arguments)


@dataclass(frozen=True)
class Work:
    """Work of an exhibit: the cells of a sweep, and calculations that are no sweep."""

    cells: tuple[Cell, ...] = ()
    run: Run = field(default_factory=Run)
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Finding:
    """ClaimVerdict on a claim, and the numbers behind it in a short sentence."""

    holds: bool
    measured: str


@dataclass(frozen=True)
class Panel:
    """One picture of an exhibit and the few words above it."""

    title: str
    chart: Chart


class ClaimVerdict(Enumeration):
    """Outcome of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_COMPARABLE = "not comparable"


class Reason(Enumeration):
    """Reason why a claim fails, or why its check cannot contradict the document."""

    verdict: ClaimVerdict
    words: str

    MISPRINT = "misprint", ClaimVerdict.FAILS, "misprints, or text against its own formula or table"
    PRIVACY = "privacy", ClaimVerdict.FAILS, "noise or accounting that does not keep the stated ε"
    PROOF = "proof", ClaimVerdict.FAILS, "gaps in a proof"
    NUMBERS = "numbers", ClaimVerdict.FAILS, "printed numbers that the stated method cannot give"
    RESULT = "result", ClaimVerdict.FAILS, "another result when simulated again"
    CONDITION = "condition", ClaimVerdict.NOT_COMPARABLE, "checked outside their condition"
    DATA = "data", ClaimVerdict.NOT_COMPARABLE, "checked on other data"
    CRITERION = "criterion", ClaimVerdict.NOT_COMPARABLE, "judged by a criterion of ours"


@dataclass(frozen=True)
class Claim:
    """A statement, of a document or of our own, that a table can confirm or contradict."""

    says: str
    # what a frame of results says on it; see `reproductions.evidence` for what such functions are
    # made of
    evidence: Callable[[pd.DataFrame], Finding]
    because: str = ""  # why it fails or is not comparable, "" for one that holds
    reason: Reason | None = None  # the kind of that, None for one that holds
    # a check of our own that stands beside what the document says: of a calculation against another
    # one, or of what a repaired form does. It counts apart.
    is_ours: bool = False
    place: str = ""  # where the document says so; that of the exhibit if empty
    extent: str = ""  # the range in which it is said; that of the exhibit if empty

    def check(self, table: Table | pd.DataFrame) -> Finding:
        """Decide whether the statement holds, with the numbers that say so."""
        finding = self.evidence(frame(table))
        return Finding(bool(finding.holds), finding.measured)  # frames give numpy's own booleans

    def verdict(self, finding: Finding) -> ClaimVerdict:
        """Settle the claim: on other data neither outcome of the check says anything of it."""
        if self.reason is Reason.DATA:
            return ClaimVerdict.NOT_COMPARABLE
        if finding.holds:
            return ClaimVerdict.HOLDS
        return self.reason.verdict if self.reason else ClaimVerdict.FAILS


def outcome_row(outcome: Outcome) -> Row:
    """Return a cell's place on the axes, mean and standard error of what was measured, repeats.

    The row of a cell that failed says why.
    """
    if outcome.failure:
        return {**outcome.cell.at, "failure": outcome.failure}
    figures = {
        (kind if figure == "mean" else f"{kind}_se"): value
        for kind in KINDS
        for figure, value in (outcome.summary(kind) or {}).items()
    }
    return {**outcome.cell.at, **figures, "repeats": outcome.repeats}


@dataclass(frozen=True)
class Exhibit:
    """One figure or table of a paper.

    The table of its results has a row for each cell, and then the rows of the calls.
    """

    # key, title: the key is unique in its paper
    key: str
    title: str
    about: str
    # what to run in either form: the quick one takes at most a minute on two cores, the full one is
    # that of the paper
    work: Callable[[Form], Work]
    # drawings of a frame of results, in the order in which they stand side by side
    pictures: Callable[[pd.DataFrame], tuple[Panel, ...]]
    claims: tuple[Claim, ...] = ()  # what the paper says of it
    published: Table = ()  # the numbers as printed, where there are any
    row: Callable[[Outcome], Row] = outcome_row
    extent: str = ""  # the range in which the document makes its claims here

    def place(self, claim: Claim) -> str:
        """Name the place of a claim in its document."""
        return "" if claim.is_ours else claim.place or self.title.partition(":")[0]

    def draw(self, table: Table | pd.DataFrame) -> tuple[Panel, ...]:
        """Draw the pictures of a table of results."""
        return self.pictures(frame(table))

    def findings(self, table: Table | pd.DataFrame) -> list[Finding]:
        """Check every claim against a table, in their order."""
        results = frame(table)
        return [claim.check(results) for claim in self.claims]


@dataclass(frozen=True)
class Paper:
    """A document and its exhibits; papers stand in the order of `order`."""

    key: str
    title: str
    reference: str
    exhibits: tuple[Exhibit, ...]
    order: int = 100

    def exhibit(self, key: str) -> Exhibit:
        """Find an exhibit by a key such as "table-2"; `reproductions.find` words refusals."""
        return next(exhibit for exhibit in self.exhibits if exhibit.key == key)


@dataclass(frozen=True)
class Result:
    """The table of an exhibit, and where it is from: the digest names the work and the engine."""

    form: Form
    table: Table
    seconds: float
    digest: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class WorkProgress:
    """Pieces of work that are done, and all of them."""

    done: int
    total: int


class Calculated(Protocol):
    """Store of the rows of finished calls, by the digest of the call: a dictionary, or files."""

    def get(self, key: str, /) -> list[Row] | None:
        """Return the rows of a call that are there."""
        ...

    def __setitem__(self, key: str, rows: list[Row], /) -> None: ...


def run(
    exhibit: Exhibit,
    form: Form,
    executor: Executor,
    finished: sweeps.Finished | None = None,
    limits: EffortLimits = NO_LIMITS,
    calculated: Calculated | None = None,
) -> Generator[WorkProgress, None, Result]:
    """Run an exhibit; yields after each part.

    The table does not depend on the executor. Parts of earlier runs in `finished`, for cells, and
    `calculated`, for calls, are not made again. A sweep that would pass the limits is refused
    before it runs; how long calls take is not known before, so they end when the time has passed.
    """
    start, work = time.perf_counter(), exhibit.work(form)
    pieces = blocks(work.cells, work.run)
    total = len(pieces) + len(work.calls)
    parts, rows = [], dict[Call, list[Row]]()
    for part in sweeps.run_sweep(pieces, executor, finished, limits):
        parts.append(part)
        yield WorkProgress(len(parts), total)
    end = start + 60 * limits.minutes
    for call, its_rows in _calculate(
        work.calls, executor, {} if calculated is None else calculated, end
    ):
        rows[call] = its_rows
        yield WorkProgress(len(parts) + len(rows), total)
    outcomes = gather(work.cells, parts)
    table = [dict(_plain(exhibit.row(outcome))) for outcome in outcomes]
    table += [dict(_plain(row)) for call in work.calls for row in rows[call]]
    return Result(form, table, time.perf_counter() - start, digest(work), versions())


def _calculate(
    calls: Sequence[Call], executor: Executor, calculated: Calculated, end: float
) -> Iterator[tuple[Call, list[Row]]]:
    """Yield rows of each call, those that are there first; refuse and begin none after `end`."""
    waiting, running = deque[Call](), dict[Future[list[Row]], Call]()
    for call in dict.fromkeys(calls):
        rows = calculated.get(digest(call))
        if rows is None:
            waiting.append(call)
        else:
            yield call, rows
    try:
        while waiting or running:
            while (
                waiting and len(running) < executors.slots(executor) and end > time.perf_counter()
            ):
                call = waiting.popleft()
                running[executor.submit(call)] = call
            left = end - time.perf_counter()
            ended, _ = wait(running, None if left == math.inf else max(left, 0.0), FIRST_COMPLETED)
            for future in ended:
                call = running.pop(future)
                rows = calculated[digest(call)] = future.result()
                yield call, rows
            if left <= 0 and (waiting or running):
                raise InputError(
                    f"The time is up; {len(waiting) + len(running)} of {len(calls)} calculations "
                    "are not done.",
                    field="limit-minutes",
                    hint="Raise the limit; --resume DIR keeps what is done.",
                )
    finally:
        for future in running:
            future.cancel()


def n_pieces(work: Work) -> int:
    """Count the steps of progress."""
    return len(blocks(work.cells, work.run)) + len(work.calls)


def versions() -> dict[str, str]:
    """Name the versions on which the last digits of a result depend."""
    return {"engine": __version__, "numpy": np.__version__, "scipy": scipy.__version__}


def _plain(row: Row) -> dict[str, Value]:
    """Convert a row from number types of numpy, so that it can be written as JSON."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in row.items()
    }


class RowFiles(ResultFiles[list[Row]]):
    """Files that runs leave in a folder, so that a long run can be taken up again.

    Beside the parts of sweeps lie the rows of calls, a file for each digest, and the seconds that
    all runs of an exhibit took so far; see `ResultFiles`.
    """

    ending, max_bytes = "rows", 50_000_000

    def _as_text(self, result: list[Row]) -> str:
        return json.dumps(result, default=lambda number: number.item())  # numpy's own

    def _from_plain(self, plain: Any) -> list[Row]:
        if not all(
            type(value) in (float, int, str, bool, type(None))
            for row in plain
            for value in row.values()
        ):
            raise TypeError("Rows hold plain values.")
        rows: list[Row] = plain
        return rows

    def seconds(self, key: str) -> float:
        """Read how long all runs of an exhibit have taken so far."""
        try:
            seconds = float(bytes_of(self._clock(key), 100, "resume"))
        except ValueError:
            return 0.0
        return seconds if 0 <= seconds < math.inf else 0.0

    def add_seconds(self, key: str, seconds: float) -> None:
        """Count a step of a run, whether it came to its end or not."""
        write_whole(
            self._clock(key), f"{self.seconds(key) + seconds:.3f}".encode(), "resume", sync=False
        )

    def _clock(self, key: str) -> Path:
        return self.folder / f"{key}.seconds"
