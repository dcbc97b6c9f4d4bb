"""A real scheduler with two worker processes: the same numbers, and no loss when one dies."""

import csv
import json
import os
import signal
import subprocess
import sys
import tomllib
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import Budget
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.running import cluster, executors
from engine.simulation import scenario
from engine.simulation.experiments import Cell, Run, blocks, gather, run_block, run_cells
from engine.simulation.part_files import PartFiles
from engine.simulation.sweeps import run_sweep
from engine.sources.sparse_curves import SparseCurves
from tests.processes.sweep_targets import Deadly, Slow, process_id, wrong
from tests.sentences import of_topic
from tests.waiting import PATIENCE, until

wording = of_topic("work")

ROOT = Path(__file__).parents[2]
MECHANISM = NoisyGradientMean(truncation=3)
BUDGETS = ((Budget(0.5, 1e-3),), (Budget(4.0, 1e-3),))
PLAIN = [SparseCurves(n_curves=n, n_observations_per_curve=5) for n in range(50, 62)]


@contextmanager
def scheduler_and_workers(folder, n_workers, **otherwise):
    """The address of a scheduler with workers on this machine, and the scheduler's process."""
    where = folder / "scheduler.json"
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        **otherwise,
        "MALLOC_TRIM_THRESHOLD_": "4000000000",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    }
    usual = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(where)]
    commands = [
        ["dask_scheduler", *usual, "--port", "0"],
        [
            "dask_worker",
            *usual,
            "--nthreads",
            "1",
            "--nworkers",
            str(n_workers),
            "--local-directory",
            str(folder),
        ],
    ]
    with open(folder / "log", "w") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:]],
                cwd=folder,
                env=settings,
                stdout=log,
                stderr=log,
            )
            for command in commands
        ]
        try:
            yield found(where, n_workers), processes[0]
        finally:
            for process in reversed(processes):
                end(process)


def end(process):
    """Kill a process with those it started: a worker whose scheduler is gone waits for another."""
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    process.kill()
    process.wait()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A scheduler on a busy machine may answer late."""
    monkeypatch.setattr(cluster, "_PATIENCE", PATIENCE)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with scheduler_and_workers(tmp_path_factory.mktemp("cluster"), 2) as (address, _):
        yield address


def found(where, n_workers):
    from distributed import Client

    with Client(scheduler_file=str(where), timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(n_workers, timeout=PATIENCE)
        return client.scheduler.address.partition("//")[2]


@pytest.fixture
def pool(address):
    with executors.make(f"dask://{address}") as pool:
        yield pool


def cells_of(sources):
    return [Cell({}, source, MECHANISM, budgets) for source in sources for budgets in BUDGETS]


def slow(folder, sizes, seconds):
    return [Slow(marks=str(folder), seconds=seconds, n_curves=n) for n in sizes]


def assert_same(outcomes, others):
    for one, other in zip(outcomes, others, strict=True):
        assert one.failure == other.failure == ""
        assert (one.errors["total_error"] == other.errors["total_error"]).all()
        assert one.spends == other.spends


def serial(cells, run):
    with executors.make("serial") as here:
        return run_cells(cells, run, here)


def test_a_cluster_gives_the_numbers_of_a_serial_run_to_the_last_bit(pool):
    cells, run = cells_of(PLAIN), Run(3)
    parts = list(run_sweep(blocks(cells, run), pool))
    assert_same(gather(cells, parts), serial(cells, run))


def test_a_bug_in_a_task_comes_back_as_it_is(pool):
    with pytest.raises(KeyError):
        pool.submit(wrong).result(PATIENCE)


@pytest.mark.slow
def test_killing_a_worker_in_the_middle_loses_nothing(pool, tmp_path):
    cells, run = cells_of(slow(tmp_path, range(50, 58), 0.2)), Run(1)
    parts = run_sweep(blocks(cells, run), pool)
    first = next(parts)
    os.kill(pool.submit(process_id).result(PATIENCE), signal.SIGKILL)
    assert_same(gather(cells, [first, *parts]), serial(cells, run))


@pytest.mark.slow
def test_a_block_that_kills_every_worker_fails_alone(pool, tmp_path):
    cells, run = cells_of([*PLAIN[:3], Deadly(marks=str(tmp_path), deaths=9)]), Run(1)
    outcomes = gather(cells, list(run_sweep(blocks(cells, run), pool)))
    assert_same(outcomes[:6], serial(cells[:6], run))
    assert all("ended 3 times" in outcome.failure for outcome in outcomes[6:])
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_an_error_that_says_what_to_do(tmp_path):
    (tmp_path / "marks").mkdir()
    cells, run, kept = cells_of(slow(tmp_path / "marks", range(50, 58), 0.2)), Run(1), {}
    with (
        scheduler_and_workers(tmp_path, 1) as (address, scheduler),
        executors.make(f"dask://{address}") as pool,
    ):
        parts = run_sweep(blocks(cells, run), pool, kept)
        next(parts)
        scheduler.kill()
        with pytest.raises(InputError, match=r"scheduler was lost.*can be resumed"):
            list(parts)
    assert 1 <= len(kept) < 8


SWEEP = {
    "source": {"key": "sparse_curves", "parameters": {"n_observations_per_curve": 40}},
    "mechanism": {"key": "noisy_gradient_mean", "parameters": {}},
    "budgets": [{"epsilon": 1.0, "delta": 1e-4}],
    "repeats": 4,
    "draws": 2,
    "seed": 3,
    "axes": {"source.n_curves": [*range(5000, 5060)]},
}


def command(folder, executor="serial"):
    """The arguments of a sweep that keeps its parts in that folder."""
    (folder / "sweep.json").write_text(json.dumps(SWEEP))
    return [
        sys.executable,
        "-m",
        "engine",
        "run",
        str(folder / "sweep.json"),
        "--csv",
        "--executor",
        executor,
        "--resume",
        str(folder / "parts"),
    ]


def parts_in(folder):
    """When each part in a folder was written."""
    return {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("*.part")}


def worker_ids(address):
    with executors.make(f"dask://{address}") as pool:
        return [*pool._client.run(os.getpid).values()]


@pytest.mark.slow
def test_a_sweep_outlives_a_worker_and_is_resumed_to_the_last_bit_when_its_scheduler_is_lost(
    tmp_path,
):
    chosen = scenario.from_json(json.dumps(SWEEP))
    work = blocks(chosen.cells(), chosen.run)
    with scheduler_and_workers(tmp_path, 2) as (address, scheduler):
        sweep = subprocess.Popen(
            command(tmp_path, f"dask://{address}"),
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until(lambda: parts_in(tmp_path))
        victim, *others = worker_ids(address)
        os.kill(victim, signal.SIGKILL)
        done = len(parts_in(tmp_path))
        until(lambda: len(parts_in(tmp_path)) > done + 4 or sweep.poll() is not None)
        scheduler.kill()
        printed, said = sweep.communicate(timeout=PATIENCE)
    assert (sweep.returncode, printed) == (2, "")
    assert said == (
        "error: The scheduler was lost. Start it again; what is finished can be resumed.\n"
    )
    result = parts_in(tmp_path)
    assert done + 4 < len(result) < len(work) and victim not in others

    (tmp_path / "again").mkdir()
    with scheduler_and_workers(tmp_path / "again", 2) as (address, _):
        resumed = subprocess.run(
            command(tmp_path, f"dask://{address}"),
            cwd=ROOT,
            text=True,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
    written = parts_in(tmp_path)
    assert len(written) == len(work) and result.items() <= written.items()  # none was made again
    finished = PartFiles(tmp_path / "parts")
    for block in work:
        there, here = finished.get(digest(block.recipe)), run_block(block.recipe)
        assert there.spends == here.spends and there.failures == here.failures == {}
        for kind, values in here.errors[0].items():
            theirs = there.errors[0][kind]
            assert (values is None) == (theirs is None)
            assert values is None or values.tobytes() == theirs.tobytes()
    serial_run = subprocess.run(
        command(tmp_path, "serial"),
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    assert (
        rows_of(resumed.stdout) == rows_of(serial_run.stdout) and len(rows_of(resumed.stdout)) == 61
    )


def rows_of(printed):
    """The table, without the lines above it that say where it is from."""
    return [*csv.reader(line for line in printed.splitlines() if not line.startswith("#"))]


@pytest.mark.slow
def test_a_cluster_without_this_project_is_refused_with_what_to_do(tmp_path):
    with (
        scheduler_and_workers(tmp_path, 1, PYTHONPATH="") as (address, _),
        pytest.raises(InputError, match=r"cannot load this project.*PYTHONPATH=\."),
    ):
        cluster.connect(address)


def test_leaving_the_loop_cancels_what_has_not_started(pool, tmp_path):
    work = blocks(cells_of(slow(tmp_path, range(50, 90), 0.3)), Run(1))
    parts = run_sweep(work, pool)
    next(parts)
    parts.close()
    for task in [pool.submit(process_id) for _ in range(4)]:  # behind whatever is still there
        task.result(PATIENCE)
    assert 1 <= len(list(tmp_path.iterdir())) <= 6


def test_workers_with_other_versions_are_refused(pool, address, monkeypatch):
    monkeypatch.setattr(cluster, "__version__", "0.0.9")
    with pytest.raises(InputError, match=r"A worker has engine .*must be 0\.0\.9"):
        cluster.connect(address)
    with pytest.raises(InputError, match=r"A worker has engine"):  # one that came later
        pool.submit(process_id).result(PATIENCE)


def test_a_cluster_that_is_not_there_is_refused_with_what_to_do():
    for address in ("127.0.0.1:9", "nowhere", ""):
        with pytest.raises(InputError, match=r"No Dask scheduler answers.*dask worker"):
            cluster.connect(address, patience=0.5)


def test_a_missing_extra_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    with pytest.raises(InputError) as refused:
        executors.make("dask://127.0.0.1:8786")
    wording.found("run pip install", refused.value.hint, extras["cluster"][0], alone=True)
