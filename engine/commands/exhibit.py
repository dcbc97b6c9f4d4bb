"""The command `exhibit`: run a figure or table of a paper, and write or print what it gave."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import exhibits
from engine.commands import arguments
from engine.commands.exit_codes import Exit
from engine.core.entrance import folder_to_fill, write_whole
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.exhibits import Form
from engine.running import executors
from engine.simulation.part_files import PartFiles

if TYPE_CHECKING:
    from engine.exhibits import Exhibit, Paper, Result, RowFiles, WorkProgress

ALL = "all"


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser("exhibit", help="replicate a figure or table of a paper")
    parser.add_argument("key", nargs="?", help="PAPER/EXHIBIT, or “all”; without it, a list")
    parser.add_argument("--full", action="store_true", help="the paper's own sizes and repeats")
    parser.add_argument(
        "--executor",
        default="processes:2",
        help="serial, processes:N (default: processes:2) or dask://HOST:PORT",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="write the drawing (HTML), the table (CSV) and all of it (JSON)",
    )
    parser.add_argument(
        "--store",
        action="store_true",
        help="renew the results that come with the engine, in the form that is "
        "run; with --resume, those that are not there in the present form",
    )
    parser.add_argument("--resume", metavar="DIR", help="keep finished parts in this folder")
    arguments.add_limits(parser)
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> Exit:
    """Run exhibits, and end with 1 if a claim fails for no known reason.

    Of all exhibits, one that is refused by the limits does not stop the others; its claims are not
    known.
    """
    if options.key is None:
        _list()
        return Exit.DONE
    for folder, field in ((options.out, "out"), (options.resume, "resume")):
        if folder is not None:
            folder_to_fill(folder, field)  # before minutes of work
    if options.key != ALL:
        return Exit.of([_run_and_print(*exhibits.find(options.key), options)])
    return Exit.of([_tried(key, options) for key in exhibits.names()])


def _tried(key: str, options: argparse.Namespace) -> bool | None:
    """Run one of all exhibits; False if a claim fails that should hold, None if it was refused."""
    try:
        return _run_and_print(*exhibits.find(key), options)
    except InputError as refusal:
        print(f"{key}: {refusal}", file=sys.stderr, flush=True)
        return None


def _list() -> None:
    for paper in exhibits.papers():
        print(paper.title)
        for exhibit in paper.exhibits:
            print(f"  {paper.key}/{exhibit.key}  {exhibit.title}")


def _run_and_print(paper: Paper, exhibit: Exhibit, options: argparse.Namespace) -> bool:
    """Run and print one exhibit; False if a claim fails that should hold."""
    form: Form = "full" if options.full else "quick"
    result = _result(paper, exhibit, form, options)
    findings = exhibit.findings(result.table)
    lines = [exhibits.words.claim(*pair) for pair in zip(exhibit.claims, findings, strict=True)]
    print(
        "\n  ".join(
            [f"{paper.key}/{exhibit.key}: {exhibit.title} ({result.seconds:.1f} s)", *lines]
        ),
        flush=True,
    )
    if options.out is not None:
        _write(folder_to_fill(options.out), paper, exhibit, result, lines)
    if options.store:
        path = exhibits.files.path_of(paper, exhibit, form)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(exhibits.files.as_json(paper, exhibit, result), "utf-8")
    return all(
        finding.holds or claim.because
        for claim, finding in zip(exhibit.claims, findings, strict=True)
    )


def _result(paper: Paper, exhibit: Exhibit, form: Form, options: argparse.Namespace) -> Result:
    """A new result; of a run that is taken up, with the seconds of all its runs."""
    if options.resume is None:
        with executors.make(options.executor) as executor:
            return _with_progress(
                exhibits.run(exhibit, form, executor, limits=arguments.limits(options))
            )
    key = digest(exhibit.work(form))
    stored = exhibits.files.stored(paper, exhibit, form) if options.store else None
    if stored is not None and stored.digest == key and dict(stored.versions) == exhibits.versions():
        return stored
    rows = exhibits.RowFiles(options.resume)
    with executors.make(options.executor) as executor:
        steps = exhibits.run(
            exhibit, form, executor, PartFiles(options.resume), arguments.limits(options), rows
        )
        result = _with_progress(_timed(steps, rows, key))
    return replace(result, seconds=rows.seconds(key))


def _timed(
    steps: Generator[WorkProgress, None, Result], rows: RowFiles, key: str
) -> Generator[WorkProgress, None, Result]:
    """The same steps; each is counted as it ends, since a run that is killed cannot count later."""
    while True:
        start = time.perf_counter()
        try:
            step = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        finally:
            rows.add_seconds(key, time.perf_counter() - start)
        yield step


def _with_progress(steps: Generator[WorkProgress, None, Result]) -> Result:
    """Run to the end, counting on a terminal."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        if sys.stderr.isatty():
            print(
                f"\r{step.done} of {step.total}   ",
                end="\n" * (step.done == step.total),
                file=sys.stderr,
                flush=True,
            )


def _write(folder: Path, paper: Paper, exhibit: Exhibit, result: Result, lines: list[str]) -> None:
    from engine.figures import rendered

    stem = exhibits.files.name(paper, exhibit)
    panels = [(panel.title, panel.chart) for panel in exhibit.draw(result.table)]
    texts = {
        f"{stem}.json": exhibits.files.as_json(paper, exhibit, result),
        f"{stem}.csv": exhibits.files.as_csv(paper, exhibit, result),
        f"{stem}.html": rendered.page(
            f"{paper.title}: {exhibit.title}",
            exhibit.about,
            panels,
            [*lines, exhibits.words.made(result)],
        ),
        rendered.SCRIPT: rendered.script(),
    }
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
