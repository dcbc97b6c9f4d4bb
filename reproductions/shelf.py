"""All papers, found by their files, and each exhibit by its name."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache

from engine.core.discovery import modules_in
from engine.core.errors import InputError, brief
from engine.running.executors import SerialExecutor
from reproductions.exhibits import Exhibit, Paper, Result, WorkProgress, run


@cache
def papers() -> tuple[Paper, ...]:
    """List all papers, in their order; a file that is added here is found."""
    modules = modules_in(__name__.rpartition(".")[0])
    found = (module.PAPER for module in modules if hasattr(module, "PAPER"))
    return tuple(sorted(found, key=lambda paper: paper.order))


def names() -> list[str]:
    """List names of all exhibits: "paper/exhibit"."""
    return [f"{paper.key}/{exhibit.key}" for paper in papers() for exhibit in paper.exhibits]


def find(key: str) -> tuple[Paper, Exhibit]:
    """Find the exhibit of that name, with its paper."""
    for paper in papers():
        for exhibit in paper.exhibits:
            if key == f"{paper.key}/{exhibit.key}":
                return paper, exhibit
    raise InputError(
        f"There is no exhibit {brief(key)}.",
        field="exhibit",
        hint=f"Choose one of {', '.join(names())}.",
    )


def quick(key: str) -> Generator[WorkProgress, None, Result]:
    """Run the quick form of an exhibit in this process; see `exhibits.run`."""
    return run(find(key)[1], "quick", SerialExecutor())
