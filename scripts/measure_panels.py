"""Measure releases on the panels: coverage, false alarms, and failures that are not told.

    .venv/bin/python -m scripts.measure_panels [--releases 40] [--write]

Prints the tables of the adaptive mean and of other methods. Ends with 1 where a line of what is
accepted is missed. `--write` puts the tables into docs/methods.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.panels import failures, ordinary, others, tables
from tests.panels.cells import Cell, Measured, measured

FILE = Path(__file__).parents[1] / "docs" / "methods.md"
SECTION = re.compile(r"(?<=<!-- panels: start -->\n).*?(?=<!-- panels: end -->)", re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure the panels.")
    parser.add_argument("--releases", type=int, default=40, help="of each setting")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/methods.md")
    options = parser.parse_args(arguments)

    def all_of(cells: Sequence[Cell]) -> list[Measured]:
        found = []
        for cell in cells:
            print(f"  {cell.name}", file=sys.stderr, flush=True)
            found.append(measured(cell, options.releases))
        return found

    alike, failing = all_of(ordinary.CELLS), all_of(failures.CELLS)
    other_alike, other_failing = all_of(others.ORDINARY), all_of(others.FAILURES)
    lines = [
        *tables.of_ordinary(alike),
        *tables.of_failures(failing),
        *tables.of_others(other_alike, other_failing),
    ]
    text = (
        "\n\n".join(
            (
                f"*Ordinary data*; held-back settings in italics.\n\n{tables.ordinary_table(alike)}",
                f"*Failures*\n\n{tables.failures_table(failing)}",
                f"*Other methods*\n\n{tables.others_table([*other_alike, *other_failing])}",
                f"*What is accepted*\n\n{tables.accepted_table(lines)}",
            )
        )
        + "\n"
    )
    print(text)
    if options.write:
        FILE.write_text(SECTION.sub(lambda _: text, FILE.read_text("utf-8")), "utf-8")
    return 0 if all(holds for *_, holds in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
