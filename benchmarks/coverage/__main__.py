"""The command of the tables; each can be written into the notes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.coverage import (
    components,
    counts,
    covariates,
    percentiles,
    sites,
    sparse,
    table,
    wavelets,
)
from engine.__main__ import main as run
from engine.commands import arguments
from engine.commands.exit_codes import Exit
from engine.core.entrance import existing_file, text_of, write_whole
from engine.core.errors import InputError, brief


@dataclass(frozen=True)
class CoverageTable:
    """A table of the notes."""

    mark: str  # between whose marks it stands in a file
    repeats: int  # data sets of each row, unless others are asked for
    settings: Callable[[], Iterable[Any]]
    # the row of a setting, from the number of repeats and a seed
    measured: Callable[[Any, int, int], Any]
    as_markdown: Callable[[list[Any]], str]


_TABLES = {
    "mean": CoverageTable("coverage", 160, table.settings, table.measured, table.as_markdown),
    **{
        name: CoverageTable(
            f"coverage of {name}", repeats, topic.settings, topic.measured, topic.as_markdown
        )
        for name, repeats, topic in (
            ("percentiles", 40, percentiles),
            ("components", 20, components),
            ("counts", 400, counts),
            ("covariates", 120, covariates),
            ("sparse", 400, sparse),
            ("wavelets", 200, wavelets),
        )
    },
    "sites": CoverageTable(
        "coverage of sites", 100, sites.networks, sites.measured, sites.as_markdown
    ),
}
_ALL = "all"
_MAX = 10_000  # repeats


def main(words: Sequence[str] | None = None) -> int:
    """Run the command as `python -m engine` runs its own, with the same exit codes."""
    words = sys.argv[1:] if words is None else words
    return run(["coverage", *words], further=(sys.modules[__name__],))


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    parser = commands.add_parser(
        "coverage",
        prog="python -m benchmarks.coverage",
        description="Measure the coverage of confidence bands on uneven, sparse and skewed data.",
    )
    parser.add_argument(
        "--of",
        choices=(*_TABLES, _ALL),
        default="mean",
        help="mean curves, components of people, percentile or counting curves, effects of covariates, "
        "sparse or wavelet regression, mean curves of several sites, or all",
    )
    parser.add_argument("--repeats", type=int, help="data sets of each row")
    parser.add_argument("--seed", type=arguments.seed, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose label has this word")
    parser.add_argument(
        "--write",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="put each table into the one of these files that has its two marks",
    )
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> Exit:
    """Measure, and end with 1 if a band or an interval does not hold."""
    if options.repeats is not None and not 1 <= options.repeats <= _MAX:
        raise InputError(
            f"“repeats” must lie between 1 and {_MAX}; got {options.repeats}.", field="repeats"
        )
    chosen = list(_TABLES.values()) if options.of == _ALL else [_TABLES[options.of]]
    places = [_place(each.mark, options.write) for each in chosen]  # before minutes of work
    if options.only and options.write:
        raise InputError(
            "A table is written whole, not with some of its rows.",
            field="only",
            hint="Leave out either --only or --write.",
        )
    hold = []
    for each, place in zip(chosen, places, strict=True):
        text, holds = _measured(each, options)
        hold += holds
        if place is not None:
            _write(place, text, each.mark)
    if not hold:
        raise InputError(
            f"No row has {brief(options.only)} in its label.",
            field="only",
            hint="Leave --only out to see all labels.",
        )
    return Exit.of(hold)


def _measured(chosen: CoverageTable, options: argparse.Namespace) -> tuple[str, list[bool]]:
    """Measure a table, and which of its rows hold; rows are printed as made."""
    repeats, rows = options.repeats or chosen.repeats, []
    for setting in chosen.settings():
        if options.only in setting.label:
            rows.append(chosen.measured(setting, repeats, options.seed))
            print(chosen.as_markdown(rows[-1:]).splitlines()[-1], flush=True)
    return chosen.as_markdown(rows), [row.holds for row in rows]


def _marks(mark: str) -> tuple[str, str]:
    return f"<!-- {mark}: start -->\n", f"<!-- {mark}: end -->\n"


def _place(mark: str, files: Sequence[Path]) -> Path | None:
    """The file that has both marks, if a table is to be written at all."""
    if not files:
        return None
    first, last = _marks(mark)
    for path in files:
        text = text_of(str(existing_file(path, "write")), "write")
        if 0 <= text.find(first) < text.find(last):
            return path
    raise InputError(
        "No file has a place for the table.",
        field="write",
        hint=f"Put the lines {first.strip()} and {last.strip()} there.",
    )


def _write(path: Path, table_text: str, mark: str) -> None:
    """Put a table between its marks, in the file as it stands now."""
    first, last = _marks(mark)
    text = text_of(str(existing_file(path, "write")), "write")
    before, after = text.index(first) + len(first), text.index(last)
    write_whole(path, (text[:before] + table_text + text[after:]).encode(), "write")


if __name__ == "__main__":
    sys.exit(main())
