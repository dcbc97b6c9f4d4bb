"""No test depends on how fast a machine is: the tests themselves are read for what would."""

import ast
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
TOOLS = ("benchmark", "load")  # measure times, by hand; they are no tests
WAITS = ("waiting.py",)  # where all waiting is done
# Work that takes its time, and a server that answers late: a slower machine only makes it longer.
ALLOWED = {
    "processes/job_targets.py": {"a sleep"},
    "processes/sweep_targets.py": {"a sleep"},
    "browser/harness/slow_app.py": {"a clock"},
    "hostile/test_connections.py": {"a sleep"},  # senders who are slow
    "killing.py": {"a sleep"},  # after which a process is killed, at any instant
    "processes/test_walkthrough.py": {"a ceiling of its own"},  # of a whole suite inside it
    "conftest.py": {"a ceiling of its own"},
}  # that of the slow tests
CLOCKS = {
    "time",
    "monotonic",
    "perf_counter",
    "process_time",
    "thread_time",
    "time_ns",
    "monotonic_ns",
    "perf_counter_ns",
}
CEILINGS = {"timeout", "default_timeout", "open_timeout", "deadline", "duration"}
TAKE_A_CEILING = {"wait", "result", "join", "wait_for", "set_default_timeout"}


def read():
    return [
        file
        for file in sorted(ROOT.rglob("*.py"))
        if file.relative_to(ROOT).parts[0] not in (*TOOLS, *WAITS)
    ]


def is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value > 0


def faults(text):
    """What in a test would pass or fail by the speed of the machine."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and "performance.now" in str(node.value):
            yield "a clock of the browser"
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        of = getattr(getattr(node.func, "value", None), "id", "")
        if name == "wait_for_timeout" or (
            name == "sleep"
            and not (
                node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
            )
        ):
            yield "a sleep"
        if (name in CLOCKS and of == "time") or name in CLOCKS - {"time"}:
            yield "a clock"
        if any(word.arg in CEILINGS and is_number(word.value) for word in node.keywords) or (
            name in TAKE_A_CEILING and any(map(is_number, node.args))
        ):
            yield "a ceiling of its own"
        if name == "timeout" and getattr(getattr(node.func, "value", None), "attr", "") == "mark":
            yield "a ceiling of its own"


def test_no_test_sleeps_looks_at_a_clock_or_sets_a_ceiling_of_its_own():
    for file in read():
        place = file.relative_to(ROOT).as_posix()
        if file != Path(__file__):
            assert not {*faults(file.read_text("utf-8"))} - ALLOWED.get(place, set()), place


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("time.sleep(1)", "a sleep"),
        ("sleep(0.1)", "a sleep"),
        ("await asyncio.sleep(pause)", "a sleep"),
        ("page.wait_for_timeout(250)", "a sleep"),
        ("assert time.monotonic() - start < 2", "a clock"),
        ("start = perf_counter()", "a clock"),
        ("page.evaluate('performance.now()')", "a clock of the browser"),
        ("box.wait_for(timeout=20_000)", "a ceiling of its own"),
        ("job.wait(1)", "a ceiling of its own"),
        ("AppTest.from_file(SHELL, default_timeout=90)", "a ceiling of its own"),
        ("@pytest.mark.timeout(900)\ndef test_it(): pass", "a ceiling of its own"),
        ("@settings(deadline=200)\ndef test_it(): pass", "a ceiling of its own"),
    ],
)
def test_each_of_these_is_noticed(line, fault):
    assert fault in {*faults(line)}


@pytest.mark.parametrize(
    "line",
    [
        "await asyncio.sleep(0)",
        "box.wait_for()",
        "job.wait(PATIENCE)",
        "settings(deadline=None)",
        "run(timeout=4 * PATIENCE)",
        "facts.time()",
    ],
)
def test_waiting_for_a_condition_is_not(line):
    assert not {*faults(line)}


def test_a_whole_wait_may_take_minutes():
    assert PATIENCE >= 300
