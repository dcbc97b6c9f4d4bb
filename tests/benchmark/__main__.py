"""`make bench`: speed as ratios taken in one run, compared with those that were kept.

Exit code 1 if one became worse by more than a fifth. `--record` keeps this run instead, for the
project and for docs/benchmarks.md; `--json` prints it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from tests.benchmark import kernels, peers, record


def main(options: list[str]) -> int:
    rows = [*kernels.rows(), *peers.rows()]
    machine, before = record.here(), record.load()
    print(record.table(rows, before))
    print(f"load averages {machine['load']}; the speed-up of two processes needs two idle cores")
    if "--json" in options:
        print(json.dumps({"machine": machine, "rows": [asdict(row) for row in rows]}))
    if "--record" in options:
        record.save(rows, machine)
        return 0
    return 1 if record.regressions(rows, before) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
