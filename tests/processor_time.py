"""What the tests cost: ``python -m pytest -n 0 -p tests.processor_time tests/unit``.

Prints processor time by file and by test, those that cost most first. It counts this process, and
all that it starts; how busy the machine is, and with what, changes little of it. What a file leaves
running, such as a server for the whole session, is counted by the file during which it works.
"""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator

import psutil
import pytest

_SHOWN = 20
_files: dict[str, float] = defaultdict(float)
_tests: dict[str, float] = {}


def spent() -> float:
    """Seconds of this process, of those that it started and that have ended, and of those that run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + ended.ru_utime + ended.ru_stime
    for process in psutil.Process(os.getpid()).children(recursive=True):
        try:
            seconds += sum(process.cpu_times()[:4])  # with its own children that have ended
        except psutil.NoSuchProcess:
            continue
    return seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = spent()
    result = yield
    seconds = spent() - before
    _files[item.nodeid.partition("::")[0]] += seconds
    _tests[item.nodeid] = seconds
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for title, costs in (("file", _files), ("test", _tests)):
        terminalreporter.section(f"processor time by {title}, {sum(costs.values()):.0f} s in all")
        for name, seconds in sorted(costs.items(), key=lambda cost: -cost[1])[:_SHOWN]:
            terminalreporter.write_line(f"{seconds:8.2f} s  {name}")


def pytest_sessionfinish() -> None:
    if path := os.environ.get("PROCESSOR_TIME"):
        with open(path, "w") as out:
            out.writelines(f"{seconds:.3f}\t{name}\n" for name, seconds in _tests.items())
