"""`make bench`: speed, and one error, as ratios taken in one run and compared with those kept.

Exit code 1 if one became worse by more than a fifth in two runs. `--record` keeps this run instead, for the
project and for docs/benchmarks.md; `--json` prints it.
"""

from __future__ import annotations

import ctypes
import json
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

from tests.benchmark import from_files, kernels, peers, plain_means, record, sizes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as mallopt(3) numbers them


def keep_freed_memory() -> None:
    """Let this process keep what it frees, as one does that has run for a while.

    Whether the C library gives large arrays back depends on what was freed before, so a ratio would
    depend on the rows above it.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 32 * 2**20)  # the most it takes
        library.mallopt(_TRIM_THRESHOLD, 512 * 2**20)


def measured() -> list[record.Row]:
    """All rows, measured now."""
    return [*kernels.rows(), *sizes.rows(), *from_files.rows(), *plain_means.rows(), *peers.rows()]


def main(
    options: list[str],
    measured: Callable[[], list[record.Row]] = measured,
    before: Sequence[record.Row] | None = None,
) -> int:
    """Measure, and compare with the rows `before`, by default those that were kept."""
    keep_freed_memory()
    rows, before = measured(), record.load() if before is None else before
    if "--record" not in options and record.regressions(rows, before):
        again = {row.name: row for row in measured()}
        rows = [row.better(again.get(row.name, row)) for row in rows]
    machine = record.here()
    print(record.table(rows, before))
    print(
        f"load averages {machine['load']}; the speed-up of two processes is left out if cores are busy"
    )
    if "--json" in options:
        print(json.dumps({"machine": machine, "rows": [asdict(row) for row in rows]}))
    if "--record" in options:
        record.save(rows, machine, before)
        return 0
    return 1 if record.regressions(rows, before) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
