"""`coverage`: measures whether bands hold on data as they come, and writes the table."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.errors import InputError
from engine.views import coverage_table

_START, _END = "<!-- coverage: start -->\n", "<!-- coverage: end -->\n"
_MOST = 10_000  # repeats


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    parser = commands.add_parser(
        "coverage", help="measure whether confidence bands hold on uneven, sparse and skewed data")
    parser.add_argument("--repeats", type=int, default=60, help="data sets of each row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose label has this word")
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="put the table into this file, between its two marks")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if not 1 <= options.repeats <= _MOST:
        raise InputError(f"“repeats” must lie between 1 and {_MOST}; got {options.repeats}.",
                         field="repeats")
    rows = []
    for setting in coverage_table.settings():
        if options.only in setting.label:
            rows.append(coverage_table.measured(setting, options.repeats, options.seed))
            print(coverage_table.as_markdown(rows[-1:]).splitlines()[-1], flush=True)
    if options.write is not None:
        _write(options.write, coverage_table.as_markdown(rows))
    return 0 if all(row.holds for row in rows) else 1


def _write(path: Path, table: str) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise InputError(f"The file to write into cannot be read: {problem.strerror}.",
                         field="write") from None
    start, end = text.find(_START), text.find(_END)
    if not 0 <= start < end:
        raise InputError("The file has no place for the table.", field="write",
                         hint=f"Put the lines {_START.strip()} and {_END.strip()} there.")
    path.write_text(text[:start] + _START + table + text[end:], encoding="utf-8")
