"""Long sweeps: spread over workers, left and taken up again, and nothing lost when a worker dies.

The work is the blocks of `experiments`. What a block gives does not depend on where or when it
runs, so a sweep may group, repeat, reorder and remember blocks as it likes: the numbers are the
same to the last bit.
"""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from typing import Protocol

from engine.core.identity import digest
from engine.privacy.accounting import exact_mu
from engine.running import executors
from engine.running.executors import SerialExecutor
from engine.running.workers import WorkerDied
from engine.simulation import effort
from engine.simulation.effort import NO_LIMITS, EffortLimits
from engine.simulation.experiments import Block, BlockResult, blocks, run_block
from engine.simulation.scenario import Scenario

_log = logging.getLogger("privacy_curves")
_LONG_ENOUGH = 0.2  # seconds of a task, next to which sending it costs little
_MAX_TOGETHER = 256
_WARM_FROM = 1.0  # seconds from which a first run is not repeated to leave out imports
_Done = list[tuple[BlockResult, float]]  # parts, and the seconds of each
_MAX_DEATHS = 3
_GAVE_UP = (
    f"The worker ended {_MAX_DEATHS} times in the middle of this, perhaps for lack of "
    "memory. Take smaller data, fewer draws or fewer budgets."
)


class Finished(Protocol):
    """A store of finished parts, by the digest of their block: a dictionary, or files."""

    def get(self, key: str, /) -> BlockResult | None:
        """Return the stored part of a block."""
        ...

    def __setitem__(self, key: str, part: BlockResult, /) -> None: ...


def run_sweep(
    work: Sequence[Block],
    executor: Executor,
    finished: Finished | None = None,
    limits: EffortLimits = NO_LIMITS,
    long_enough: float = _LONG_ENOUGH,
) -> Iterator[BlockResult]:
    """Run blocks and yield their parts as they finish: one for each, those in `finished` first.

    Kept parts that do not fit their blocks are computed again, and their number is logged. New
    parts are put into `finished` before they are yielded. Leaving the loop cancels what has not
    started; a task that runs goes on for `long_enough` seconds or for one block. A block whose
    worker died is tried again; at its third death its cells fail, and the rest goes on. For the
    time limit, one block of each kind runs before the others; its part is not lost.
    """
    left: list[Block] = []
    unfit = 0
    for block in work:
        part = None if finished is None else finished.get(digest(block.recipe))
        if part is not None and part.fits(block.recipe):
            yield part.placed(block.cells)
        else:
            unfit += part is not None
            left.append(block)
    if unfit:
        _log.warning("Kept parts that do not fit this run: %d. They are computed again.", unfit)
    sweep = _Sweep(executor, finished, long_enough)
    effort.refuse_memory(work, left, executors.n_workers(executor), limits)
    if limits.minutes < math.inf:
        probes = effort.probes(left)
        yield from sweep.run(probes, max_blocks=1)
        left = [block for block in left if block not in probes]
        effort.refuse_time(left, sweep.seconds, executors.n_workers(executor), limits)
    yield from sweep.run(left, _MAX_TOGETHER)


class _Sweep:
    """Runs blocks on an executor, keeps their parts, and notes the seconds that each took."""

    def __init__(self, executor: Executor, finished: Finished | None, long_enough: float) -> None:
        self.seconds: dict[Block, float] = {}
        self._executor, self._finished, self._long_enough = executor, finished, long_enough

    def run(self, work: Sequence[Block], max_blocks: int) -> Iterator[BlockResult]:
        """The parts of these blocks, at most so many to a task."""
        slots = executors.slots(self._executor)
        queue = _Queue(work, max_blocks, slots)
        running: dict[Future[_Done], list[Block]] = {}
        try:
            while True:
                while len(running) < slots and (group := queue.next_group(not running)):
                    recipes = [block.recipe for block in group]
                    task = self._executor.submit(run_group, recipes, self._long_enough)
                    running[task] = group
                if not running:
                    return
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                parts = [self._parts_of(queue, task, running.pop(task)) for task in ended]
                yield from itertools.chain.from_iterable(parts)
        finally:
            for task in running:
                task.cancel()

    def _parts_of(
        self, queue: _Queue, task: Future[_Done], group: Sequence[Block]
    ) -> list[BlockResult]:
        """The parts of a task that has ended; blocks it did not run go back into the queue."""
        try:
            done = task.result()
        except WorkerDied:  # not put into the finished parts: another day it may go well
            return [
                BlockResult(block.index, {}, {}, dict.fromkeys(block.cells, _GAVE_UP))
                for block in queue.died(group)
            ]
        queue.put_back(group[len(done) :])
        return [self._recorded(block, *result) for block, result in zip(group, done, strict=False)]

    def _recorded(self, block: Block, part: BlockResult, seconds: float) -> BlockResult:
        self.seconds[block] = seconds
        if self._finished is not None:
            self._finished[digest(block.recipe)] = part
        return part.placed(block.cells)


def run_group(group: Sequence[Block], long_enough: float = _LONG_ENOUGH) -> _Done:
    """Run the first blocks of a group, until the task is long enough; parts with their seconds."""
    start, done = time.perf_counter(), []
    for block in group:
        began = time.perf_counter()
        part = run_block(block)
        ended = time.perf_counter()
        done.append((part, ended - began))
        if ended - start >= long_enough:
            break
    return done


class _Queue:
    """Blocks that wait: in groups at first, then alone those on which a worker may have died.

    A cluster does not always know which of its tasks killed a worker. So a block that was there at
    two deaths runs last, with nothing beside it: a third death is its own doing.
    """

    def __init__(self, work: Sequence[Block], max_blocks: int, slots: int) -> None:
        self._waiting, self._suspects = deque(work), deque[Block]()
        self._deaths: Counter[Block] = Counter()
        self._most, self._slots = max_blocks, slots

    def next_group(self, is_quiet: bool) -> list[Block]:
        """Blocks of one task, fewer towards the end, so that all workers end together."""
        if self._waiting:
            count = max(1, min(self._most, len(self._waiting) // (2 * self._slots)))
            return [self._waiting.popleft() for _ in range(count)]
        if self._suspects and (is_quiet or self._deaths[self._suspects[0]] == 1):
            return [self._suspects.popleft()]
        return []

    def put_back(self, group: Sequence[Block]) -> None:
        self._waiting.extendleft(reversed(group))

    def died(self, group: Sequence[Block]) -> list[Block]:
        """Note the death of a worker; returns the blocks that are given up."""
        self._deaths.update(group)
        self._suspects.extendleft(b for b in group if self._deaths[b] == 1)
        self._suspects.extend(b for b in group if 1 < self._deaths[b] < _MAX_DEATHS)
        return [b for b in group if self._deaths[b] >= _MAX_DEATHS]


# -- sweeps of the dashboard, as work for one worker process --------------------------------------


@dataclass(frozen=True)
class Foreseen:
    """Forecast of a sweep on one worker."""

    seconds: float
    bytes: float


def run_scenario(scenario: Scenario, limits: EffortLimits) -> Iterator[BlockResult]:
    """Yield the parts of a sweep, one for each block, as `python -m engine run` has them."""
    yield from run_sweep(blocks(scenario.cells(), scenario.run), SerialExecutor(), limits=limits)


def foresee(scenario: Scenario) -> Iterator[Foreseen]:
    """Time one repeat of the largest block of each kind, and reckon from it; yields once.

    A block that cannot be run takes no time: its message is what there is to know of it.
    """
    exact_mu(1.0, 1e-6)  # its import takes long, once
    work = blocks(scenario.cells(), scenario.run)
    probes = [replace(block, run=replace(block.run, repeats=1)) for block in effort.probes(work)]
    timed = {block: _seconds(block) for block in probes}
    yield Foreseen(effort.seconds(work, timed, 1), effort.memory(work, work, 1))


def _seconds(block: Block) -> float:
    """Time the second run of two, unless the first is long."""
    for _ in range(2):
        start = time.perf_counter()
        run_block(block)
        spent = time.perf_counter() - start
        if spent > _WARM_FROM:
            break
    return spent
