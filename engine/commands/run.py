"""The command `run`: the errors of a scenario, over as many repeats and axes as it asks for."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

from engine.commands import arguments
from engine.core.entrance import text_of
from engine.core.errors import InputError
from engine.exports import outcome_rows
from engine.running import executors
from engine.simulation import experiments, scenario
from engine.simulation.experiments import BlockResult, Outcome
from engine.simulation.part_files import PartFiles
from engine.simulation.sweeps import run_sweep


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser("run", help="run a scenario and print its errors")
    parser.add_argument("file", help="scenario file, or - for standard input")
    parser.add_argument("--repeats", type=int, help="instead of the scenario's own")
    parser.add_argument("--seed", type=int, help="instead of the scenario's own")
    parser.add_argument(
        "--executor", default="serial", help="serial (default), processes:N or dask://HOST:PORT"
    )
    parser.add_argument(
        "--resume",
        metavar="DIR",
        help="keep finished parts in this folder, and take up those that are there",
    )
    arguments.add_limits(parser)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object")
    shape.add_argument("--csv", action="store_true", help="print a CSV file")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    """Run every cell and print its errors, as a table, JSON or CSV."""
    start = time.perf_counter()
    instead = {
        name: getattr(options, name)
        for name in ("repeats", "seed")
        if getattr(options, name) is not None
    }
    stated = scenario.from_json(text_of(options.file), instead)
    outcomes = _outcomes(stated, options)
    seconds = round(time.perf_counter() - start, 3)
    origin = outcome_rows.provenance(stated, options.executor)
    if options.json:
        print(outcome_rows.as_json(outcomes, origin, seconds))
    elif options.csv:
        print(outcome_rows.as_csv(outcomes, origin), end="")
    else:
        print(outcome_rows.as_table(outcomes, seconds, stated.run.is_study))


def _outcomes(stated: scenario.Scenario, options: argparse.Namespace) -> list[Outcome]:
    """Every cell run to its end; an error if none of them can run at all."""
    finished = PartFiles(options.resume) if options.resume else None
    cells, allowed = stated.cells(), arguments.limits(options)
    work = experiments.blocks(cells, stated.run)
    with executors.make(options.executor) as executor:
        parts = _with_progress(run_sweep(work, executor, finished, allowed), len(work))
    outcomes = experiments.gather(cells, parts)
    if stated.run.is_study:
        outcomes = experiments.with_baselines(outcomes, stated.run.seed)
    if all(outcome.failure for outcome in outcomes):
        raise InputError(outcomes[0].failure)
    return outcomes


def _with_progress(parts: Iterator[BlockResult], total: int) -> list[BlockResult]:
    """Collect the parts, counting them on a terminal when the run takes over a second."""
    start, done = time.perf_counter(), []
    early = 0  # done within the first second, as those that were kept are: they tell no pace
    for part in parts:
        done.append(part)
        spent = time.perf_counter() - start - 1
        if spent <= 0:
            early = len(done)
        elif sys.stderr.isatty():
            left = spent / max(1, len(done) - early) * (total - len(done))
            duration = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
            print(
                f"\r{len(done)} of {total} blocks, about {duration} left   ",
                end="",
                file=sys.stderr,
                flush=True,
            )
    if len(done) > early and sys.stderr.isatty():
        print(file=sys.stderr)
    return done
