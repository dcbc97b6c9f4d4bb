"""What tests cost: ``python -m pytest -n 0 -p tests.processor_time tests/unit``.

Prints the processor time of this process and of all that it starts, by file and by test, those that
cost most first. What else the machine does changes little of it. A file counts what runs while it
does, such as a server that it shares with others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import psutil
import pytest

_SHOWN = 20
_files: dict[str, float] = defaultdict(float)
_tests: dict[str, float] = {}
_before: dict[str, float] = {}


def seconds(process: psutil.Process) -> float:
    """Processor time of a process, and of those of its children that have ended."""
    try:
        return sum(process.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0


def of_family() -> float:
    return sum(map(seconds, [psutil.Process(), *psutil.Process().children(recursive=True)]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    file = item.nodeid.partition("::")[0]
    if file not in _before:
        _before[file] = of_family()
    before = seconds(psutil.Process())
    result = yield
    _tests[item.nodeid] = seconds(psutil.Process()) - before
    if nextitem is None or nextitem.path != item.path:
        _files[file] += of_family() - _before.pop(file)
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for title, costs in (("file", _files), ("test", _tests)):
        terminalreporter.section(f"processor time by {title}, {sum(costs.values()):.0f} s in all")
        for name, cost in sorted(costs.items(), key=lambda pair: -pair[1])[:_SHOWN]:
            terminalreporter.write_line(f"{cost:8.2f} s  {name}")
