"""A call that takes too much is ended, says nothing, and the next one goes on as before."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.__main__ import main
from engine.core.errors import InputError
from engine.core.faults import WorkerFault
from engine.running.bounded import BoundedWorker, Bounds, Ended
from engine.uploads import bounded
from engine.uploads.proposal import propose, propose_within
from pages.shared.server import computing
from tests import files
from tests.heavy import slow
from tests.hostile.workbooks import WORKBOOKS
from tests.processes import job_targets
from tests.sentences import of_topic
from tests.waiting import PATIENCE

wording = of_topic("work")

ROOT = Path(__file__).parents[2]
BOUNDS = Bounds(seconds=1, megabytes=200, wait=60)
AMPLE = Bounds(seconds=60, megabytes=400, wait=PATIENCE)  # however busy the machine is


@pytest.fixture(scope="module")
def worker():
    worker = BoundedWorker()
    yield worker
    worker._worker.kill()


def test_what_keeps_to_its_bounds_is_answered_by_the_same_process(worker):
    first, second = (worker.call(BOUNDS, os.getpid) for _ in range(2))
    assert first == second != os.getpid()


@pytest.mark.parametrize("task", [job_targets.spin, job_targets.gather, slow(job_targets.end)])
def test_what_takes_more_than_its_bounds_is_ended_and_the_next_call_goes_on(worker, task):
    with pytest.raises(Ended):
        worker.call(BOUNDS, task)
    assert worker.call(BOUNDS, sum, (1, 2)) == 3


def test_what_neither_computes_nor_ends_is_ended_by_the_clock(worker):
    with pytest.raises(Ended):
        worker.call(Bounds(wait=0.1), job_targets.rest)
    assert worker.call(BOUNDS, sum, (1, 2)) == 3


@pytest.mark.parametrize("task", [job_targets.break_down, job_targets.leave])
def test_a_worker_that_breaks_down_is_a_fault_and_the_next_call_goes_on(worker, task):
    with pytest.raises(WorkerFault, match="broke down"):
        worker.call(BOUNDS, task)
    assert worker.call(BOUNDS, sum, (1, 2)) == 3


def test_what_a_person_can_put_right_comes_back_and_nothing_else_is_said(worker, capfd):
    with pytest.raises(InputError, match="Too few people") as refused:
        worker.call(BOUNDS, job_targets.decline)
    assert refused.value.hint == "Ask more."
    with pytest.raises(WorkerFault, match="ValueError in ") as fault:
        worker.call(BOUNDS, job_targets.chatter)
    result = capfd.readouterr()
    assert job_targets.SECRET not in str(fault.value) + result.out + result.err


@pytest.mark.slow
def test_limits_last_as_long_as_the_call(worker):
    import resource

    worker.call(BOUNDS, sum, (1, 2))
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
        assert worker.call(BOUNDS, resource.getrlimit, kind)[0] > 0
    assert worker.call(Bounds(megabytes=2000), len, bytes(500_000_000)) == 500_000_000


# -- reading --------------------------------------------------------------------------------------


def test_a_file_is_read_as_without_bounds():
    for content in (files.csv(), files.xlsx(), b"a,b\n" + b"1,2\n" * 50_000):
        here, there = propose(content), propose_within(content)
        assert there == here


def test_a_script_without_a_guard_reads_a_file_and_runs_once(tmp_path):
    script = tmp_path / "study.py"
    script.write_text("""
from engine.uploads.proposal import propose_within
print("begun", flush=True)
print(propose_within(b"a,b\\n" + b"1,2\\n" * 50_000).n_lines, flush=True)
""")
    result = subprocess.run(
        [sys.executable, script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=PATIENCE,
    )
    assert result.stdout.split() == ["begun", "50000"], result.stderr


def test_a_fault_of_the_reader_is_no_limit_that_the_file_passes(capsys):
    content = b"a,b\n" + b"1,2\n" * 50_000
    with pytest.raises(WorkerFault, match=r"^ValueError in \S+, line \d+$"):
        bounded.within_bounds(job_targets.break_on_file, content)

    def add(commands):
        commands.add_parser("read").set_defaults(
            command=lambda _: bounded.within_bounds(job_targets.break_on_file, content)
        )

    assert main(["read"], [SimpleNamespace(add=add)]) == 70
    said = capsys.readouterr().err
    wording.found("our side valueerror", said)
    assert job_targets.SECRET not in said


def test_a_wide_table_needs_no_more_memory_than_a_narrow_one():
    header, row = ((b"1.25," * 200)[:-1] + b"\n" for _ in range(2))
    header = b",".join(b"c%d" % k for k in range(200)) + b"\n"
    assert propose_within(header + row * 19_800).n_lines == 19_800


@pytest.mark.parametrize(
    "name", ["a cell far off", slow("one long string in every cell"), slow("two columns far apart")]
)
def test_a_workbook_that_takes_the_reader_down_is_refused_in_a_sentence(name, capfd):
    with pytest.raises(InputError, match=r"15 seconds or 270 MB|damaged"):
        propose_within(WORKBOOKS[name][0]())
    result = capfd.readouterr()
    assert not result.out and not result.err
    assert propose_within(files.xlsx()).n_lines


def test_pages_read_within_the_same_bounds(in_workers):
    with pytest.raises(Ended):
        computing.computed("file that ends the worker", job_targets.end, bounds=BOUNDS)
    with pytest.raises(Ended):
        computing.computed("file that fills it", job_targets.gather, bounds=BOUNDS)
    assert computing.computed("file fine", propose, files.xlsx(), bounds=AMPLE).n_lines
    for fault in (job_targets.break_down, job_targets.chatter):
        with pytest.raises(WorkerFault, match="in job"):
            computing.computed(f"file {fault.__name__}", fault, bounds=BOUNDS)
