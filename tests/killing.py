"""Processes that publish and are killed at a chosen or a random instant.

`python -m tests.killing` is a process of one thread that has everything loaded. For every line of
JSON on its input it forks a child that publishes and is killed, and answers with what the child had
shown. Instants are counted: each call of something that touches a file, the ledger or the noise, in
Python, is one before and one after; between them, a kill comes after a random time.
"""

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = "child_id,age,height\n" + "".join(
    f"c{k},{age},{80 + 5.5 * age + k % 7}\n" for k in range(40) for age in (2, 8, 14)
)
REQUEST = {
    "version": 1,
    "name": "growth",
    "data": {
        "file": "heights.csv",
        "reading": {
            "frame": {
                "encoding": "utf-8",
                "separator": ",",
                "header": ["child_id", "age", "height"],
            },
            "person": {"column": "child_id"},
            "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
        },
        "facts": {
            "value_low": 60,
            "value_high": 210,
            "time_low": 2,
            "time_high": 18,
            "origin": "a chart",
            "design": {"law": "even"},
            "observations_per_curve": 3,
        },
    },
    "mechanism": {"key": "bernstein", "parameters": {}},
    "budgets": [{"epsilon": 1.0}],
}


class Nursery:
    """The process that forks and kills, as seen from a test."""

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.killing"],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def publish(self, folder, at=None, after=None):
        """Publish in that folder, killed at the instant `at` or `after` seconds if it lasts so long.

        Answers with the instants that passed, whether it was killed and what it printed.
        """
        self._process.stdin.write(
            json.dumps({"folder": str(folder), "at": at, "after": after}) + "\n"
        )
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def prepared(folder):
    """A folder with data and a request."""
    folder.mkdir(parents=True)
    (folder / "heights.csv").write_text(ROWS)
    (folder / "request.json").write_text(json.dumps(REQUEST))
    return folder


def command(folder):
    return [
        "release",
        str(folder / "request.json"),
        "--yes",
        "--ledger",
        str(folder / "ledger"),
        "--witness",
        str(folder / "witness"),
        "--out",
        str(folder / "out"),
    ]


def _count_instants(instant):
    """Call `instant` before and after everything that could be half done."""
    from engine.release import (
        certified,
        folder,
        ledger,
        ledger_file,
        published,
        sealed_log,
        witness,
    )

    def watched(owner, name):
        usual = getattr(owner, name)

        def call(*args, **more):
            instant()
            result = usual(*args, **more)
            instant()
            return result

        setattr(owner, name, call)

    for owner, names in (
        (os, ("open", "write", "fsync", "link", "unlink", "replace", "close")),
        (Path, ("replace", "unlink", "mkdir", "open", "rmdir")),
        (sealed_log.OpenLog, ("add", "keep", "read")),
        (sealed_log.SealedLog, ("_catch_up",)),
        (ledger.Ledger, ("charge", "store", "release")),
        (witness, ("append",)),
        (ledger_file, ("create",)),
        (certified, ("hardened", "replayed")),
        (published, ("assemble",)),
        (folder, ("write",)),
    ):
        for name in names:
            watched(owner, name)

    class Connection(sqlite3.Connection):
        def execute(self, *args):
            instant()
            result = super().execute(*args)
            instant()
            return result

    usual = sqlite3.connect
    sqlite3.connect = lambda *args, **more: usual(*args, **{**more, "factory": Connection})


def _child(folder, at, started, shown, counted):
    from engine import __main__

    passed = 0

    def instant():
        nonlocal passed
        passed += 1
        if passed == at:
            os.kill(os.getpid(), signal.SIGKILL)

    os.dup2(shown, 1)
    _count_instants(instant)
    os.write(started, b"x")
    code = __main__.main(command(Path(folder)))
    sys.stdout.flush()
    os.write(counted, f"{passed} {code}".encode())
    os._exit(0)


def _answer(job):
    ends = [os.pipe() for _ in range(3)]
    child = os.fork()
    if child == 0:
        _child(job["folder"], job["at"], ends[0][1], ends[1][1], ends[2][1])
    for _, end in ends:
        os.close(end)
    os.read(ends[0][0], 1)
    if job["after"] is not None:
        time.sleep(job["after"])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    read = [os.fdopen(end, "rb") for end, _ in ends]
    _, shown, counted = (stream.read().decode() for stream in read)
    for stream in read:
        stream.close()
    passed, code = map(int, counted.split()) if counted else (0, None)
    return {"killed": os.WIFSIGNALED(status), "shown": shown, "instants": passed, "code": code}


def _serve():
    from engine import __main__
    from engine.release import request

    folder = prepared(Path(tempfile.mkdtemp()) / "warm")  # everything is loaded and read once
    with redirect_stdout(io.StringIO()):
        assert __main__.main(command(folder)) == 0
    known = request.from_json((folder / "request.json").read_text(), folder)
    request.from_json = lambda *_: known
    shutil.rmtree(folder.parent)
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    _serve()
