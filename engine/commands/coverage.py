"""`coverage`: measures whether bands and intervals hold on data as they come.

One table for each kind of estimate. Those of mean curves can be written into the notes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from engine.commands import arguments
from engine.core.entrance import existing_file, text_of, write_whole
from engine.core.errors import InputError
from engine.topics.coefficients.coverage import covariate_coverage
from engine.topics.coverage import sites as sites_table
from engine.topics.coverage import table as coverage_table
from engine.topics.regression.intervals import coverage_table as wavelet_coverage
from engine.topics.sparse.coverage import sparse_coverage

_MARKS = {"mean": "coverage", "sites": "coverage of sites"}  # of each table in the notes
_MOST = 10_000  # repeats
_OTHERS: dict[str, Callable[..., Sequence[Any]]] = {
    "covariates": covariate_coverage, "sparse": sparse_coverage, "wavelets": wavelet_coverage}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    parser = commands.add_parser(
        "coverage", help="measure the coverage of confidence bands on uneven, sparse and skewed "
                         "data")
    parser.add_argument("--of", choices=(*_MARKS, *_OTHERS), default="mean",
                        help="mean curves, those of several sites, effects of covariates, sparse "
                             "or wavelet regression")
    parser.add_argument("--repeats", type=int, default=60, help="data sets of each row")
    parser.add_argument("--seed", type=arguments.seed, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose label has this word")
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="put the table into this file, between its two marks")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if not 1 <= options.repeats <= _MOST:
        raise InputError(f"“repeats” must lie between 1 and {_MOST}; got {options.repeats}.",
                         field="repeats")
    if options.of in _OTHERS:
        rows_of_others = _OTHERS[options.of](repeats=options.repeats, seed=options.seed)
        print(_as_table(rows_of_others))
        return 0
    if options.write is not None:
        existing_file(options.write, "write")  # before minutes of work
    table, holds = (_of_sites if options.of == "sites" else _of_designs)(options)
    if options.write is not None:
        _write(options.write, table, _MARKS[options.of])
    return 0 if holds else 1


def _of_designs(options: argparse.Namespace) -> tuple[str, bool]:
    """The table of designs and people, and whether every band holds; rows are printed as made."""
    rows = []
    for setting in coverage_table.settings():
        if options.only in setting.label:
            rows.append(coverage_table.measured(setting, options.repeats, options.seed))
            print(coverage_table.as_markdown(rows[-1:]).splitlines()[-1], flush=True)
    return coverage_table.as_markdown(rows), all(row.holds for row in rows)


def _of_sites(options: argparse.Namespace) -> tuple[str, bool]:
    """The same for networks of sites."""
    rows = []
    for network in sites_table.networks():
        if options.only in network.label:
            rows.append(sites_table.measured(network, options.repeats, options.seed))
            print(sites_table.as_markdown(rows[-1:]).splitlines()[-1], flush=True)
    return sites_table.as_markdown(rows), all(row.holds for row in rows)


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
