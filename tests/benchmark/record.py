"""What a benchmark gave: rows with goals, on a machine in general terms, and what became slower."""

from __future__ import annotations

import json
import math
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from engine import __version__

FILE = Path(__file__).parent / "results.json"
DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"
SITES_HEADING, _ALL = "## Several sites, each with its own file", "## All ratios"
_SITES = re.compile(rf"^{re.escape(SITES_HEADING)}\n.*?(?=^## )", re.S | re.M)
REGRESSION = 0.2  # share by which a ratio may become worse before it is flagged


@dataclass(frozen=True)
class Row:
    """One ratio, the goal for it where there is one, and which way is better.

    Parameters
    ----------
    name : str
        What is divided by what.
    ratio : float
        What was measured.
    goal : float or None
        What it shall be at most, or at least where more is better.
    more_is_better : bool
        Whether it is a speed-up.
    is_compared : bool
        Whether it may be compared with what another machine gave: not if one part is arithmetic and
        the other memory, or if cores must be idle.
    milliseconds : dict of str to float or None
        Of a study over its floor: the parts of the floor, and what was measured.
    """

    name: str
    ratio: float
    goal: float | None = None
    more_is_better: bool = False
    is_compared: bool = True
    milliseconds: dict[str, float] | None = None

    @property
    def reaches_goal(self) -> bool | None:
        """None without a goal."""
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.more_is_better else self.ratio <= self.goal

    def better(self, other: Row) -> Row:
        """This row or another run of it, whichever is better."""
        return other if self.worse_than(other.ratio) > 1 else self

    def worse_than(self, before: float) -> float:
        """Factor by which the ratio became worse than `before`; below 1 where it became better."""
        worse, than = (before, self.ratio) if self.more_is_better else (self.ratio, before)
        if than == 0:  # a count of none
            return math.inf if worse > 0 else 1.0
        return worse / than


def regressions(rows: Sequence[Row], before: Sequence[Row]) -> list[tuple[Row, float]]:
    """Rows that became worse by more than a fifth, with the ratio they had; new ones are none."""
    known = {row.name: row.ratio for row in before}
    return [
        (row, known[row.name])
        for row in rows
        if row.name in known
        and row.is_compared
        and row.worse_than(known[row.name]) > 1 + REGRESSION
    ]


def here() -> dict[str, Any]:
    """The machine in general terms, versions, and how busy it was."""
    return {
        "version": __version__,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "load": [round(one, 2) for one in os.getloadavg()] if hasattr(os, "getloadavg") else [],
    }


def _processor() -> str:
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def save(
    rows: Sequence[Row],
    machine: dict[str, Any],
    before: Sequence[Row] = (),
    file: Path = FILE,
    page: Path = DOCUMENT,
) -> None:
    """Keep a run as the one that later ones are compared with, and as a page to read.

    Parameters
    ----------
    rows : sequence of Row
        Of this run.
    machine : dict
        As `here` gives it.
    before : sequence of Row
        The run that was kept until now, whose ratios stand beside.
    """
    file.write_text(
        json.dumps(
            {"machine": machine, "rows": [asdict(row) for row in rows]},
            indent=1,
            ensure_ascii=False,
        )
        + "\n",
        encoding="utf-8",
    )
    sites = _SITES.search(page.read_text("utf-8")) if page.exists() else None
    page.write_text(
        with_sites(document(rows, machine, before), sites[0] if sites else ""), encoding="utf-8"
    )


def with_sites(text: str, section: str) -> str:
    """The page with this section on several sites, in place of the one it has, before all ratios.

    Parameters
    ----------
    text : str
        The page.
    section : str
        With its heading and without what follows; it may be empty.
    """
    without = _SITES.sub("", text)
    return without.replace(_ALL, f"{section.rstrip()}\n\n{_ALL}", 1) if section else without


def load(file: Path = FILE) -> list[Row]:
    """The rows that were kept; none if there are none."""
    if not file.exists():
        return []
    return [Row(**row) for row in json.loads(file.read_text(encoding="utf-8"))["rows"]]


def table(rows: Sequence[Row], before: Sequence[Row] = ()) -> str:
    """Aligned columns: ratio, goal, the ratio that was kept, and what is to be noticed."""
    known = {row.name: row.ratio for row in before}
    slower = {row.name for row, _ in regressions(rows, before)}
    width = max(len(row.name) for row in rows)
    lines = [f"{'':{width}}  {'ratio':>8}  {'goal':>8}  {'kept':>8}"]
    for row in rows:
        kept = f"{known[row.name]:8.2f}" if row.name in known else " " * 8
        marks = ["missed"] * (row.reaches_goal is False) + ["WORSE"] * (row.name in slower)
        lines.append(
            f"{row.name:{width}}  {row.ratio:8.2f}  {_goal(row):>8}  {kept}  "
            f"{' '.join(marks)}".rstrip()
        )
    return "\n".join(lines)


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    return f"{'≥' if row.more_is_better else '≤'} {row.goal:g}"


_WHERE_TIME_GOES = """## Where the time goes

* *Monte-Carlo study.* Its curves are drawn at little more than their floor: half are random numbers, most
  of the rest the products and sums of a polynomial of degree 16. Moments take nearly twice theirs:
  looking up a cosine takes more than twice as long as its bytes, and a block's basis functions fill new
  arrays of 800 kB, which are slower to write than those in use. In each of the 34 rounds only 585 curves
  take part, so that calls are nine tenths of it.
* *Twenty budgets.* Rounds take longer than their floor because products over 20 features reach
  two thirds of the rate of large ones, and clipping works on 735 short rows. Planning and
  its ledgers, which no floor counts, take 2.4 ms. To be within 1.5 of the floor, moments would have to
  be at theirs.
* *Sparse regression.* Two fifths are X'X, from which the length of steps follows, a sixth the draw, a
  sixth the rounds, which read all rows each.
* *Adaptive mean.* For a thousand curves of ten observations, calls on arrays of twelve numbers take most.
* *Wavelets.* The sums spread each observation over the seven functions it meets by a sparse matrix with
  two entries for each: half of the time, and by index, not in a row. With 200 small sites a sixth
  is spent site by site, because each draws from its own generator.
* *A table of a million observations.* Sorting observations takes a third; parsing, telling people apart by
  their ids and putting curves in their public order a sixth each, parsing numbers a
  tenth.
* *What varies.* Passes slow down while other programs share the cache, by up to a half, floors with
  them: a ratio is known to about a tenth, of wavelets to a fifth.
"""


def floors(rows: Sequence[Row], before: Sequence[Row] = ()) -> str:
    """The studies and their floors in processor milliseconds, and the ratio that was kept before."""
    known = {row.name: row.ratio for row in before}
    lines = [
        "| study | random numbers | passes | products | floor | measured | ratio | before |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        if row.milliseconds:
            *parts, measured = row.milliseconds.values()
            numbers = " | ".join(f"{number:.1f}" for number in (*parts, sum(parts), measured))
            earlier = f"{known[row.name]:.2f}" if row.name in known else ""
            lines.append(
                f"| {row.name.partition(' / ')[0]} | {numbers} | {row.ratio:.2f} | {earlier} |"
            )
    return "\n".join(lines)


def document(rows: Sequence[Row], machine: dict[str, Any], before: Sequence[Row] = ()) -> str:
    """The same for reading, with what the ratios are."""
    load = ", ".join(f"{one:g}" for one in machine["load"]) or "unknown"
    body = "\n".join(
        f"| {row.name} | {row.ratio:.2f} | {_goal(row)} | "
        f"{ {None: '', True: 'yes', False: '**no**'}[row.reaches_goal] } |"
        for row in rows
    )
    return f"""# Benchmarks

Written by `make bench RECORD=1`; `make bench` measures again, compares ratios with these and ends
with exit code 1 if one became worse by more than a fifth in two runs. Not compared are ratios that
differ from machine to machine: those of arithmetic or of Python to memory, those to other libraries,
and those that need idle cores. Tests never assert a time.

Every figure is a ratio taken in one run: candidates take turns, and the least processor time of each
counts. “Naive” is the loop as the papers write it down. Peers do the same job on the same numbers;
those that are not installed are left out. Memory that is freed stays with the process, as with one
that has run for a while.

Version {machine["version"]} on {machine["processor"]}, {machine["cores"]} cores, one thread for
linear algebra; Python {machine["python"]}, NumPy {machine["numpy"]}, SciPy {machine["scipy"]}.
Load averages over 1, 5 and 15 minutes at the end of the run: {load}.
The speed-up of two processes is left out where cores are busy.

## Studies and their floors

The floor of a study is what it cannot do without: so many random numbers of each kind, so many bytes
read and written by passes over arrays, and so many operations in products of matrices. The counts
are derived beside each study in `tests/benchmark/kernels.py`; what one of each takes is measured in
turn with the study. Calls, copies, planning and small arrays are above the floor. Processor
milliseconds, each study the run with the middle ratio of five; the ratio before is the one that was
kept until this run.

{floors(rows, before)}

{_ALL}

| what | ratio | goal | reached |
|---|---:|---:|---|
{body}

{_WHERE_TIME_GOES}"""
