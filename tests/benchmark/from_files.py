"""Releases from files of any size: processor time over a bare group-by, memory, and the ledger.

`python -m tests.benchmark.from_files` measures these rows alone. Each release is a process of its
own, which publishes a small table first: what is measured afterwards is above its start.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from engine.release import published
from engine.release.ledger import Ledger
from engine.release.request import from_json
from engine.uploads.scratch import Resources
from tests.benchmark import record
from tests.benchmark.record import Row

PEOPLE, READINGS = 100_000, 10
MEMORY = 300_000_000
_HEADER = ["id", "time", "value"]
_TIMES = (np.arange(READINGS) + 0.5) / READINGS
_MODULE = "tests.benchmark.from_files"
_HIGHEST = Path("/proc/self/clear_refs")  # Linux forgets the highest memory so far
_WARM = 3000  # people of the first release of a process


def rows() -> Iterator[Row]:
    """Ratios of processor time in one run, and megabytes above the start of a process."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        yield from _over_group_by(folder)
        if not _HIGHEST.exists():
            return
        small, large = (released(folder, "curves", n) for n in (PEOPLE // 10, PEOPLE))
        yield Row("release of 1,000,000 rows from a file / of 100,000", large[0] / small[0], 11.0)
        yield Row("megabytes of a release of 1,000,000 rows", large[1] / 1e6, 300.0)
        few, many = (released(folder, "counts", n) for n in (3 * PEOPLE, 10 * PEOPLE))
        yield Row("counts of 1,000,000 people / of 300,000", many[0] / few[0], 3.7)
        yield Row("bytes of a person of counts", many[1] / (10 * PEOPLE), 300.0)
        again = released(folder, "counts", 3 * PEOPLE, is_twice=True)
        yield Row("a charge of people who are known / of new ones", again[0] / few[0], 2.0)


def written(folder: Path, n: int, kind: str, is_common: bool = False) -> Path:
    """Write n people, observed in order of time, or one line of each for `kind` "counts"."""
    path, rng = folder / f"{n} {is_common}.{kind}", np.random.default_rng(5)
    if path.exists():
        return path
    if kind == "counts":
        columns = [10**7 + rng.permutation(n), rng.integers(1, 1200, n), rng.integers(0, 2, n)]
    else:
        ids = np.tile(10**7 + np.arange(n), READINGS)
        times = np.repeat(_TIMES, n) if is_common else np.sort(rng.random(n * READINGS)).round(4)
        columns = [ids, times, (0.5 * np.sin(6 * times) + 0.2 * rng.normal(size=len(ids))).round(3)]
    table = pa.table([*map(pa.array, columns)], names=_HEADER)
    if kind in ("parquet", "counts"):
        pa.parquet.write_table(table, path)
        return path
    with pa.BufferOutputStream() as out:
        pa.csv.write_csv(table, out)
        text = out.getvalue().to_pybytes()
    path.write_bytes(gzip.compress(text, 1) if kind == "gz" else text)
    return path


def request(path: Path, name: str, is_common: bool = False) -> dict[str, Any]:
    """A request to publish the mean of such a file, or its survival curve."""
    time_of_value = {"time": {"name": "time"}, "value": {"name": "value"}}
    ended = {"name": "value", "kind": "word", "words": {"1": "death"}, "other": "censored"}
    is_counted = path.suffix == ".counts"
    design = {"law": "common", "times": _TIMES.tolist()} if is_common else {"law": "even"}
    bounds = {"value_low": -1, "value_high": 1, "time_low": 0, "time_high": 1, "design": design}
    return {
        "version": 1,
        "name": name,
        "data": {
            "file": [path.name],
            "reading": {
                "frame": {"encoding": "utf-8", "separator": ",", "header": _HEADER},
                "person": {"column": "id"},
                "columns": {"time": {"name": "time"}, "status": ended}
                if is_counted
                else time_of_value,
                "missing": [""],
                **({"several": "join"} if is_counted else {}),
            },
            "facts": {"origin": "a manual", "time_high": 1000, "time_unit": "days"}
            if is_counted
            else {"origin": "a manual", "observations_per_curve": READINGS, **bounds},
        },
        "mechanism": {"key": "noisy_counts", "parameters": {"task": "survival"}}
        if is_counted
        else {"key": "adaptive_mean", "parameters": {}},
        "budgets": [{"epsilon": 1.0}],
    }


def publish(path: Path, ledger: Ledger, name: str, is_common: bool = False) -> None:
    """Read a file in batches and publish it."""
    resources = Resources(MEMORY, path.parent)
    (one,) = from_json(json.dumps(request(path, name, is_common)), path.parent, resources)
    published.publish(one.source, one.mechanism, one.budget, ledger, name)


def released(folder: Path, kind: str, n: int, is_twice: bool = False) -> tuple[float, int]:
    """Processor seconds and bytes above its start of a process that releases, perhaps once more."""
    kind = "parquet" if kind == "curves" else kind
    paths = [written(folder, each, kind) for each in (_WARM, n)]
    command = [sys.executable, "-m", _MODULE, *map(str, paths), "twice" * is_twice]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, size = json.loads(ran.stdout)
    return float(seconds), int(size)


def _released_here(warm: Path, path: Path, is_twice: bool) -> None:
    with TemporaryDirectory(dir=path.parent) as folder:
        ledger = Ledger(Path(folder) / "ledger", Path(folder) / "witness")
        publish(warm, ledger, "warm")
        if is_twice:
            publish(path, ledger, "first")
        before, start = _memory("VmRSS"), time.process_time()
        _HIGHEST.write_text("5")  # from here on
        publish(path, ledger, "measured")
        seconds = time.process_time() - start
        print(json.dumps([seconds, _memory("VmHWM") - before]))


def _memory(name: str) -> int:
    """Bytes of this process, as Linux counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def _over_group_by(folder: Path) -> Iterator[Row]:
    """Reading, quote and release of 1,000,000 rows over DuckDB's group-by of the same file."""
    try:
        duckdb = import_module("duckdb")
    except ImportError as problem:
        print(f"left out, as duckdb cannot be imported: {problem}")
        return
    database = duckdb.connect(config={"threads": 1})
    for name, kind, is_common, goal in (
        ("text at own times", "csv", False, 10.0),
        ("text at common times", "csv", True, 5.0),
        ("gzip at own times", "gz", False, None),
        ("Parquet at own times", "parquet", False, None),
    ):
        path = written(folder, PEOPLE, kind, is_common)
        source = f"read_{'parquet' if kind == 'parquet' else 'csv'}('{path}')"
        query = f"SELECT id, count(*), sum(time), sum(value) FROM {source} GROUP BY id"

        def release(path: Path = path, is_common: bool = is_common) -> None:
            with TemporaryDirectory(dir=folder) as place:
                ledger = Ledger(Path(place) / "ledger", Path(place) / "witness")
                publish(path, ledger, "meters", is_common)

        def group(query: str = query) -> None:
            database.execute(query).fetchall()

        least = min_of(release), min_of(group)
        yield Row(f"release of 1,000,000 rows, {name} / group-by", least[0] / least[1], goal)


def min_of(run: Callable[[], None], rounds: int = 2) -> float:
    """The least processor time of all threads."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _released_here(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "twice")
    else:
        for row in rows():
            print(record.table([row]), flush=True)
