"""Going on where a run of all tests was stopped: ``pytest -p tests.resuming``, which is `make test-all`.

A test that has passed is noted in pytest's cache, under a digest of all files of the project. The next
run leaves out what has passed with these files, so that only what failed and what no run has come to
is run. A changed file begins anew, and so does a run in which all passed.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest


def digest(root: Path) -> str:
    """Digest the names and contents of all files below a folder, but for hidden and compiled ones."""
    content = hashlib.sha256()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "__pycache__")
        for path in (Path(folder, name) for name in sorted(names)):
            content.update(f"{path.relative_to(root)}\0".encode())
            content.update(hashlib.sha256(path.read_bytes()).digest())
    return content.hexdigest()


def pytest_configure(config: pytest.Config) -> None:
    folder = config.cache.mkdir("resuming")
    before = (
        folder / "before"
    )  # a copy: all workers leave out the same tests, also one that starts late
    if not hasattr(config, "workerinput"):
        notes = folder / digest(config.rootpath)
        for other in {*folder.iterdir()} - {notes}:
            other.unlink()
        notes.touch()
        before.write_bytes(notes.read_bytes())
        config.pluginmanager.register(Notes(notes))
    config.pluginmanager.register(Left(before.read_text("utf-8").splitlines()))


class Left:
    """Leaves out what has passed before."""

    def __init__(self, passed: list[str]) -> None:
        self._passed = {*passed}

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self._passed])
        items[:] = [item for item in items if item.nodeid not in self._passed]


class Notes:
    """Notes each test that passes, at once: a run may be stopped at any time."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes
        self._others: set[str] = set()  # that failed, or were skipped

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._others.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid not in self._others:
            with self._notes.open("a", encoding="utf-8") as notes:
                notes.write(f"{report.nodeid}\n")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            self._notes.unlink()
