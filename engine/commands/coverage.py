"""`coverage`: measures whether bands and intervals hold on data as they come.

One table for each kind of estimate. Those of curves can be written into the notes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engine.commands import arguments
from engine.core.entrance import existing_file, text_of, write_whole
from engine.core.errors import InputError
from engine.topics.coefficients.coverage import covariate_coverage
from engine.topics.coverage import counts as counts_table
from engine.topics.coverage import percentiles as percentiles_table
from engine.topics.coverage import sites as sites_table
from engine.topics.coverage import table as coverage_table
from engine.topics.regression.intervals import coverage_table as wavelet_coverage
from engine.topics.sparse.coverage import sparse_coverage


@dataclass(frozen=True)
class Table:
    """A table that can be written into the notes: its rows, how one is measured, and its marks."""

    mark: str
    settings: Callable[[], Iterable[Any]]
    measured: Callable[[Any, int, int], Any]
    as_markdown: Callable[[list[Any]], str]


_TABLES = {
    "mean": Table("coverage", coverage_table.settings, coverage_table.measured,
                  coverage_table.as_markdown),
    "sites": Table("coverage of sites", sites_table.networks, sites_table.measured,
                   sites_table.as_markdown),
    "percentiles": Table("coverage of percentiles", percentiles_table.settings,
                         percentiles_table.measured, percentiles_table.as_markdown),
    "counts": Table("coverage of counts", counts_table.settings, counts_table.measured,
                    counts_table.as_markdown)}
_MAX = 10_000  # repeats
_OTHERS: dict[str, Callable[..., Sequence[Any]]] = {
    "covariates": covariate_coverage, "sparse": sparse_coverage, "wavelets": wavelet_coverage}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    parser = commands.add_parser(
        "coverage", help="measure the coverage of confidence bands on uneven, sparse and skewed "
                         "data")
    parser.add_argument("--of", choices=(*_TABLES, *_OTHERS), default="mean",
                        help="mean curves, those of several sites, percentile or counting curves, "
                             "effects of covariates, sparse or wavelet regression")
    parser.add_argument("--repeats", type=int, default=60, help="data sets of each row")
    parser.add_argument("--seed", type=arguments.seed, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose label has this word")
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="put the table into this file, between its two marks")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if not 1 <= options.repeats <= _MAX:
        raise InputError(f"“repeats” must lie between 1 and {_MAX}; got {options.repeats}.",
                         field="repeats")
    if options.of in _OTHERS:
        rows_of_others = _OTHERS[options.of](repeats=options.repeats, seed=options.seed)
        print(_as_table(rows_of_others))
        return 0
    if options.write is not None:
        existing_file(options.write, "write")  # before minutes of work
    chosen = _TABLES[options.of]
    table, holds = _measured(chosen, options)
    if options.write is not None:
        _write(options.write, table, chosen.mark)
    return 0 if holds else 1


def _measured(chosen: Table, options: argparse.Namespace) -> tuple[str, bool]:
    """The table, and whether every band holds; rows are printed as made."""
    rows = []
    for setting in chosen.settings():
        if options.only in setting.label:
            rows.append(chosen.measured(setting, options.repeats, options.seed))
            print(chosen.as_markdown(rows[-1:]).splitlines()[-1], flush=True)
    return chosen.as_markdown(rows), all(row.holds for row in rows)


def _as_table(rows: Sequence[Any]) -> str:
    """Records of one kind as a table, a column for each field."""
    names = [field.name for field in fields(rows[0])]
    cells = [[f"{value:.3g}" if isinstance(value, float) else str(value)
              for value in (getattr(row, name) for name in names)] for row in rows]
    heads = [name.replace("_", " ") for name in names]
    lines = [heads, ["--"] * len(names), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _write(path: Path, table: str, name: str) -> None:
    first, last = f"<!-- {name}: start -->\n", f"<!-- {name}: end -->\n"
    text = text_of(str(existing_file(path, "write")), "write")
    start, end = text.find(first), text.find(last)
    if not 0 <= start < end:
        raise InputError("The file has no place for the table.", field="write",
                         hint=f"Put the lines {first.strip()} and {last.strip()} there.")
    write_whole(path, (text[:start] + first + table + text[end:]).encode(), "write")
