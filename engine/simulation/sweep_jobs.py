"""A sweep of the dashboard as work for one worker process: what it would take, and its parts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.privacy.accounting import exact_mu
from engine.running.executors import SerialExecutor
from engine.simulation import effort
from engine.simulation.effort import Limits
from engine.simulation.experiments import Block, Part, blocks, run_block
from engine.simulation.scenario import Scenario
from engine.simulation.sweeps import run_sweep

_WARM_FROM = 1.0  # seconds from which a first run is not repeated to leave out imports


@dataclass(frozen=True)
class Foreseen:
    """What a sweep will take on one worker.

    Attributes
    ----------
    seconds : float
        Right within a factor of three.
    bytes : float
        Of memory.
    """

    seconds: float
    bytes: float


def run(scenario: Scenario, limits: Limits) -> Iterator[Part]:
    """The parts of a sweep, one for each block, as `python -m engine run` has them.

    Parameters
    ----------
    scenario : Scenario
        Has the cells and how often they are run.
    limits : Limits
        What it may take.

    Yields
    ------
    Part

    Raises
    ------
    InputError
        If it needs more memory or time than `limits` allow, with the figure.
    """
    yield from run_sweep(blocks(scenario.cells(), scenario.run), SerialExecutor(), limits=limits)


def foresee(scenario: Scenario) -> Iterator[Foreseen]:
    """Time one repeat of the largest block of each kind, and reckon from it.

    A block that cannot be run takes no time: its message is what there is to know of it.

    Parameters
    ----------
    scenario : Scenario
        Has the cells and how often they are run.

    Yields
    ------
    Foreseen
        Once.
    """
    exact_mu(1.0, 1e-6)  # its import takes long, once
    work = blocks(scenario.cells(), scenario.run)
    probes = [replace(block, run=replace(block.run, repeats=1)) for block in effort.probes(work)]
    timed = {block: _seconds(block) for block in probes}
    yield Foreseen(effort.seconds(work, timed, 1), effort.memory(work, work, 1))


def _seconds(block: Block) -> float:
    """Of the second run of two, unless the first is long."""
    for _ in range(2):
        start = time.perf_counter()
        run_block(block)
        spent = time.perf_counter() - start
        if spent > _WARM_FROM:
            break
    return spent
