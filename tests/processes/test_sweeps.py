"""Sweeps in groups, on processes, resumed, broken and refused: always the same numbers."""

import json
import os
import random
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.running import executors
from engine.running.executors import SerialExecutor, WorkerDied
from engine.simulation import effort, part_files
from engine.simulation.effort import EffortLimits
from engine.simulation.experiments import Cell, Run, blocks, gather, run_block, run_cells
from engine.simulation.part_files import VERSIONS, PartFiles
from engine.simulation.sweeps import _Queue, run_group, run_sweep
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.dense_curves import DenseCurves
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few
from tests.processes.sweep_targets import Deadly, Slow, process_id, wrong
from tests.sentences import of_topic
from tests.waiting import PATIENCE, until

wording = of_topic("work")

ROOT = Path(__file__).parents[2]
BUDGETS = ((Budget(0.5, 1e-3),), (Budget(4.0, 1e-3),))
SOURCES = [SparseCurves(n_curves=n, n_observations_per_curve=5) for n in range(50, 62)]
NOISY = NoisyGradientMean(truncation=3)
RUN = Run(3, 2)


def cells_of(sources, mechanism=NOISY, budgets=BUDGETS):
    return [Cell({}, source, mechanism, own) for source in sources for own in budgets]


CELLS = [
    *cells_of(SOURCES),
    *cells_of(SOURCES[:2], AdaptiveMean(truncation=4)),
    *cells_of([DenseCurves(n_curves=40)], Iclp(), [(NON_PRIVATE,)]),
]
WORK = blocks(CELLS, RUN)
EXPECTED = run_cells(CELLS, RUN, SerialExecutor())


def assert_expected(parts, cells=CELLS, expected=EXPECTED):
    parts = list(parts)
    for one, other in zip(gather(cells, parts), expected, strict=True):
        assert one.failure == other.failure == ""
        assert one.spends == other.spends
        for kind, values in other.errors.items():
            assert (values is None) == (one.errors[kind] is None)
            assert values is None or (
                one.errors[kind].tobytes() == values.tobytes()
                and one.errors[kind].shape == values.shape
            )


@pytest.fixture(scope="module")
def pool():
    with executors.make("processes:2") as pool:
        yield pool


class Shuffled(Executor):
    """Runs each task at once; tells of them in the order of a shuffled deck."""

    n_workers, slots = 2, 5

    def submit(self, fn, /, *args, **kwargs):
        return SerialExecutor().submit(fn, *args, **kwargs)


# -- the same numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("long_enough", [0.0, 0.01, 100.0])
def test_any_grouping_gives_the_numbers_of_one_block_after_the_other(long_enough):
    for executor in (SerialExecutor(), Shuffled()):
        assert_expected(run_sweep(WORK, executor, long_enough=long_enough))


def test_processes_give_the_numbers_of_a_serial_run_to_the_last_bit(pool):
    assert_expected(run_sweep(WORK, pool))


def test_any_order_of_blocks_gives_the_same_numbers():
    shuffled = random.Random(1).sample(WORK, len(WORK))
    assert_expected(run_sweep(shuffled, SerialExecutor()))


def test_limits_change_no_number(pool):
    assert_expected(run_sweep(WORK, pool, limits=EffortLimits(60, 8)))


def test_every_block_gives_one_part(pool):
    for limits in (EffortLimits(), EffortLimits(minutes=60)):
        assert len(list(run_sweep(WORK, pool, limits=limits))) == len(WORK)


def test_small_blocks_go_together_until_a_task_is_long_enough():
    assert len(run_group(WORK)) > 1
    assert len(run_group(WORK, long_enough=0.0)) == 1


# -- resumed --------------------------------------------------------------------------------


class NoMore(Executor):
    def submit(self, *_, **__):
        raise AssertionError("This should have been known already.")


def test_a_sweep_that_was_left_is_taken_up_where_it_was():
    kept = {}
    parts = run_sweep(WORK, SerialExecutor(), kept, long_enough=0.0)
    for _ in range(4):
        next(parts)
    parts.close()
    assert 4 <= len(kept) < len(WORK)
    assert_expected(run_sweep(WORK, SerialExecutor(), kept))
    assert_expected(run_sweep(WORK, NoMore(), kept))


def test_more_repeats_and_further_sizes_use_the_blocks_that_are_there():
    kept = {}
    list(run_sweep(blocks(cells_of(SOURCES[1:]), RUN), SerialExecutor(), kept))
    assert {digest(block.recipe) for block in blocks(cells_of(SOURCES), RUN)[1:]} == set(kept)
    few, many = (blocks(cells_of([DenseCurves(n_curves=500)]), Run(n)) for n in (16, 24))
    assert [digest(b.recipe) for b in few] == [digest(b.recipe) for b in many[:2]]


def test_parts_come_back_from_files_to_the_last_bit(tmp_path):
    assert_expected(run_sweep(WORK, SerialExecutor(), PartFiles(tmp_path)))
    assert len(list(tmp_path.iterdir())) == len(WORK)
    assert_expected(run_sweep(WORK, NoMore(), PartFiles(tmp_path)))


def test_a_part_from_before_steps_had_keys_and_lines_one_kind_of_neighbours_is_read_as_ever(
    tmp_path,
):
    kept, key, file = a_file(tmp_path)

    def written_before(part):
        for line in (line for lines in part["spends"].values() for line in lines):
            line |= {"what": line.pop("step")["key"], "relation": "replace one"}

    rewritten(file, key, written_before)
    assert kept.get(key).spends == run_block(WORK[0].recipe).spends


def test_a_recorded_failure_is_kept_too(tmp_path):
    work = blocks(
        cells_of(SOURCES[:1], NoisyGradientMean(n_iterations=100, scheme="split")), Run(1)
    )
    (first,) = run_sweep(work, SerialExecutor(), PartFiles(tmp_path))
    (again,) = run_sweep(work, NoMore(), PartFiles(tmp_path))
    assert first.failures == again.failures and "need at least" in first.failures[0]


PART = run_block(WORK[0].recipe)


def a_file(folder):
    kept, key = PartFiles(folder), digest(WORK[0].recipe)
    kept[key] = PART
    return kept, key, folder / f"{key}.part"


def test_a_file_that_is_cut_anywhere_counts_as_missing(tmp_path):
    kept, key, file = a_file(tmp_path)
    whole = file.read_bytes()
    for end in [*range(0, len(whole) - 1, 97), len(whole) - 2]:
        file.write_bytes(whole[:end])
        assert kept.get(key) is None
    file.write_bytes(whole)
    assert kept.get(key) is not None


def test_a_file_with_one_changed_byte_counts_as_missing(tmp_path):
    kept, key, file = a_file(tmp_path)
    whole = file.read_bytes()
    for at in range(0, len(whole) - 1, 53):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert kept.get(key) is None


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_a_file_of_another_version_counts_as_missing(tmp_path, monkeypatch, name):
    kept, key, _ = a_file(tmp_path)
    monkeypatch.setitem(VERSIONS, name, "another")
    assert kept.get(key) is None


def test_a_file_under_the_name_of_another_block_counts_as_missing(tmp_path):
    kept, key, file = a_file(tmp_path)
    file.rename(tmp_path / "0123456789abcdef.part")
    assert kept.get("0123456789abcdef") is None


def changed(part, change):
    """The part with one thing that no run of its block gives."""
    measures, ledger = part.errors[0], part.spends[0]
    with_error = {
        kind: {**part.errors, 0: {**measures, "total_error": array}}
        for kind, array in {
            "other repeats": measures["total_error"][:-1],
            "no number": measures["total_error"] * np.nan,
            "infinite": measures["total_error"] + np.inf,
            "negative": -measures["total_error"],
            "whole numbers": np.ones((3, 2), int),
            "flat": measures["total_error"].ravel(),
        }.items()
    }
    with_line = {
        kind: {**part.spends, 0: (replace(ledger[0], **other), *ledger[1:])}
        for kind, other in {
            "another budget": {"budget": Budget(3.0, 1e-3)},
            "another site": {"server": 1},
            "no site": {"server": -1},
        }.items()
    }
    others = {
        "another block": {"index": 1},
        "a cell too many": {"failures": {2: "no"}},
        "both": {"failures": {0: "no"}},
        "no words": {"errors": {}, "spends": {}, "failures": {0: "", 1: ""}},
        "a cell less": {"errors": {0: measures}, "spends": {0: ledger}},
        "no ledger": {"spends": {**part.spends, 0: ()}},
        "another measure": {"errors": {**part.errors, 0: {**measures, "bias": None}}},
        "a measure less": {
            "errors": {
                **part.errors,
                0: {kind: array for kind, array in measures.items() if kind != "coverage"},
            }
        },
        "no privacy": {"errors": {**part.errors, 0: {**measures, "privacy_error": None}}},
    }
    return replace(
        part,
        **{
            **others,
            **{kind: {"errors": errors} for kind, errors in with_error.items()},
            **{kind: {"spends": spends} for kind, spends in with_line.items()},
        }[change],
    )


@pytest.mark.parametrize(
    "change",
    [
        "other repeats",
        "no number",
        "infinite",
        "negative",
        "whole numbers",
        "flat",
        "another budget",
        "another site",
        "no site",
        "another block",
        "a cell too many",
        "both",
        "no words",
        "a cell less",
        "no ledger",
        "another measure",
        "a measure less",
        "no privacy",
    ],
)
def test_a_part_that_no_run_of_its_block_gives_does_not_fit_it(tmp_path, change):
    kept, key, _ = a_file(tmp_path)
    kept[key] = changed(PART, change)
    assert PART.fits(WORK[0].recipe) and not kept.get(key).fits(WORK[0].recipe)


def test_a_part_that_does_not_fit_its_block_is_computed_again_and_said(tmp_path, capsys):
    kept, key, _ = a_file(tmp_path)
    kept[key] = changed(PART, "a cell less")
    assert_expected(run_sweep(WORK, SerialExecutor(), kept))
    wording.found("fit run they", capsys.readouterr().err, 1)
    assert_expected(run_sweep(WORK, NoMore(), kept))
    assert capsys.readouterr().err == ""


def rewritten(file, key, change):
    """Write the part of a file anew, with its checksum."""
    part = json.loads(file.read_text().splitlines()[1])
    text = json.dumps(change(part) or part)
    file.write_text(f"{json.dumps(part_files.header(key, text))}\n{text}\n")


@pytest.mark.parametrize(
    "change",
    [
        lambda part: [part],
        lambda part: "part",
        lambda part: part.clear(),
        lambda part: part.update(errors=[]),
        lambda part: part.update(errors={"x": {}}),
        lambda part: part.update(failures=7),
        lambda part: part.update(spends={"0": [[]], "1": []}),
        lambda part: part["spends"]["0"][0].update(server="0"),
        lambda part: part["spends"]["0"][0].update(mu="much"),
        lambda part: part["spends"]["0"][0].update(noise_scale=[float("nan")]),
        lambda part: part["spends"]["0"][0].update(composition="beside"),
        lambda part: part["spends"]["0"][0]["step"].update(key=7),
        lambda part: part["errors"]["0"]["total_error"].update(dtype="O"),
        lambda part: part["errors"]["0"]["total_error"].update(shape=[10**30, 1]),
        lambda part: part["errors"]["0"]["total_error"].update(shape="3, 2"),
        lambda part: part["errors"]["0"]["total_error"].update(bytes="!"),
    ],
)
def test_a_part_of_other_types_counts_as_missing_and_is_said(tmp_path, capsys, change):
    kept, key, file = a_file(tmp_path)
    rewritten(file, key, change)
    assert kept.get(key) is None
    said = capsys.readouterr().err
    assert file.name in said
    wording.found("damaged held computed", said)


def test_a_damaged_part_is_computed_again(tmp_path):
    kept, key, file = a_file(tmp_path)
    rewritten(file, key, lambda part: [part])
    assert_expected(run_sweep(WORK, SerialExecutor(), kept))
    assert kept.get(key) is not None


def test_what_is_no_file_in_place_of_a_part_is_refused_in_words(tmp_path):
    kept, key, file = a_file(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError, match=r"is a folder, not a regular file\..*Move it away"):
        next(run_sweep(WORK, NoMore(), kept))
    file.rmdir()
    file.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"No such file\..*Move it away"):
        kept.get(key)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="Cannot write into"):
        PartFiles(tmp_path / "file" / "folder")


# -- workers that die -----------------------------------------------------------------------


def test_a_worker_that_dies_in_the_middle_loses_nothing(pool, tmp_path):
    cells = cells_of([*SOURCES, Deadly(marks=str(tmp_path), deaths=2, n_curves=50)])
    whole = cells_of([*SOURCES, SparseCurves(n_curves=50)])
    assert_expected(
        run_sweep(blocks(cells, RUN), pool), cells, run_cells(whole, RUN, SerialExecutor())
    )
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_a_block_that_kills_every_worker_fails_alone_and_is_not_kept(pool, tmp_path):
    cells = [*cells_of([Deadly(marks=str(tmp_path), deaths=9)]), *CELLS]
    kept = {}
    outcomes = gather(cells, list(run_sweep(blocks(cells, RUN), pool, kept, EffortLimits(60))))
    assert [bool(outcome.failure) for outcome in outcomes] == [True] * 2 + [False] * len(CELLS)
    assert "ended 3 times" in outcomes[0].failure
    assert len(kept) == len(WORK) and len(list(tmp_path.iterdir())) == 3


class Blaming(Executor):
    """A cluster that blames all tasks it holds when one of them kills a worker."""

    n_workers, slots = 2, 4

    def __init__(self, deadly):
        self.deadly, self.held, self.lock = deadly, [], threading.Lock()

    def submit(self, fn, group, *how):
        future = Future()
        with self.lock:
            self.held.append((future, fn, group))
        threading.Timer(0.02, self.turn).start()
        return future

    def turn(self):
        with self.lock:
            held, self.held = self.held, []
        dies = any(block.source == self.deadly for _, _, group in held for block in group)
        for future, fn, group in held:
            if dies:
                future.set_exception(WorkerDied())
            else:
                future.set_result(fn(group))


def test_only_the_block_that_dies_alone_is_given_up_by_a_cluster_that_blames_many():
    work = blocks(cells_of(SOURCES), Run(1))
    failed = [part for part in run_sweep(work, Blaming(SOURCES[4])) if part.failures]
    assert [set(part.failures) for part in failed] == [{8, 9}]


def test_what_was_there_at_two_deaths_waits_until_it_is_alone():
    queue = _Queue(WORK[:3], max_blocks=1, slots=1)
    together = [queue.next_group(False)[0] for _ in range(3)]
    assert queue.died(together) == []
    assert [queue.next_group(False)[0] for _ in range(3)] == together[::-1]
    assert queue.died(together) == []
    assert queue.next_group(False) == []
    for block in together:
        assert queue.next_group(True) == [block]
    assert queue.died(together[:1]) == together[:1]
    assert queue.next_group(True) == []


def test_a_bug_ends_the_sweep_with_the_place_where_it_was(pool):
    with pytest.raises(KeyError) as caught:
        pool.submit(wrong).result(PATIENCE)
    assert "in wrong" in "".join(caught.value.__notes__)


# -- leaving --------------------------------------------------------------------------------


class Busy(Executor):
    """Does the first task and begins no other."""

    n_workers, slots = 3, 6

    def __init__(self):
        self.waiting = []

    def submit(self, fn, group, *how):
        if not self.waiting:
            self.waiting.append(Future())
            return SerialExecutor().submit(fn, group)
        self.waiting.append(Future())
        return self.waiting[-1]


def test_leaving_the_loop_cancels_every_task_that_waits():
    busy = Busy()
    parts = run_sweep(WORK, busy)
    next(parts)
    assert len(busy.waiting) == 6 and not any(task.cancelled() for task in busy.waiting)
    parts.close()
    assert all(task.cancelled() for task in busy.waiting[1:])


def test_leaving_the_loop_leaves_the_rest_of_a_sweep_undone(pool, tmp_path):
    slow = [Slow(marks=str(tmp_path), seconds=0.2, n_curves=n) for n in range(50, 90)]
    parts = run_sweep(blocks(cells_of(slow), Run(1)), pool)
    next(parts)
    parts.close()
    for task in [pool.submit(process_id) for _ in range(4)]:  # behind whatever is still there
        task.result(PATIENCE)
    assert 1 <= len(list(tmp_path.iterdir())) <= 6


def test_leaving_the_pool_by_an_exception_kills_what_runs(tmp_path):
    forever = [Slow(marks=str(tmp_path), seconds=1000.0, n_curves=50)]
    with pytest.raises(KeyboardInterrupt), executors.make("processes:1") as pool:
        task = pool.submit(run_group, blocks(cells_of(forever), Run(1)))
        until(lambda: task.done() or list(tmp_path.iterdir()))
        assert not task.done()
        raise KeyboardInterrupt
    assert isinstance(task.exception(), WorkerDied)
    with pytest.raises(RuntimeError):
        pool.submit(process_id)


def test_workers_use_one_blas_thread(pool):
    assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result(PATIENCE) == "1"
    for order, said in (("numpy, engine", "None"), ("engine, numpy", "1")):
        code = f"import {order}, os; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
        bare = {name: value for name, value in os.environ.items() if "THREADS" not in name}
        ran = subprocess.run(
            [sys.executable, "-c", code], env=bare, cwd=ROOT, capture_output=True, text=True
        )
        assert ran.stdout.strip() == said


# -- limits ---------------------------------------------------------------------------------


def test_too_much_memory_is_refused_with_the_figure_before_anything_runs():
    large = blocks(cells_of(SOURCES[:1]), Run(100_000, 10_000))
    with pytest.raises(InputError, match=r"about \S+ GB of memory; the limit is 8 GB"):
        next(run_sweep(large, NoMore(), limits=EffortLimits(gigabytes=8)))


def test_too_much_time_is_refused_with_the_figure_after_one_block_which_is_kept(tmp_path):
    slow = [Slow(marks=str(tmp_path), seconds=0.05, n_curves=n) for n in range(50, 60)]
    kept = {}
    parts = run_sweep(blocks(cells_of(slow), Run(1)), SerialExecutor(), kept, EffortLimits(0.001))
    next(parts)
    with pytest.raises(InputError, match=r"about \S+ minutes more; the limit is 0\.001"):
        next(parts)
    assert len(list(tmp_path.iterdir())) == len(kept) == 1


def test_what_is_finished_needs_no_time():
    kept = {}
    list(run_sweep(WORK, SerialExecutor(), kept))
    assert_expected(run_sweep(WORK, NoMore(), kept, EffortLimits(minutes=1e-9)))


def test_a_limit_must_be_positive():
    for wrongly in ({"minutes": 0.0}, {"gigabytes": -1.0}, {"minutes": float("nan")}):
        with pytest.raises(InputError, match="must be above 0"):
            EffortLimits(**wrongly)


def test_time_adds_up_over_blocks_and_is_shared_by_workers():
    work = blocks(cells_of(SOURCES[:1] * 1), Run(100))
    timed = {work[0]: 2.0}
    assert effort.seconds(work * 6, timed, 3) == pytest.approx(4.0)
    (one,) = blocks(cells_of([SparseCurves(n_curves=20_000, n_observations_per_curve=20)]), Run(1))
    (two,) = blocks(cells_of([SparseCurves(n_curves=10_000, n_observations_per_curve=20)]), Run(1))
    assert effort.seconds([one], {two: 1.0}, 1) == pytest.approx(2.0, rel=0.03)


def test_one_block_of_each_kind_is_timed_the_largest():
    probes = effort.probes(WORK)
    assert sorted(type(block.mechanism).__name__ for block in probes) == [
        "AdaptiveMean",
        "Iclp",
        "NoisyGradientMean",
    ]
    assert SOURCES[-1] in [block.source for block in probes]


GROWTH = SparseCurves(n_curves=200)
FEW = CoefficientCurves(n_curves=300, n_observations_per_curve=5)
MANY = CoefficientCurves(n_curves=400, n_observations_per_curve=3, n_covariates=8)


@pytest.mark.parametrize(
    "source, mechanism, repeats",
    few(
        [
            (GROWTH, NOISY, 40),
            (GROWTH, AdaptiveMean(), 40),
            (GROWTH, Iclp(), 40),
            (FEW, AdaptiveCoefficients(), 1),
            (FEW, AdaptiveCoefficients(), 20),
            (MANY, AdaptiveCoefficients(), 1),
        ]
    ),
    ids=lambda x: getattr(x, "key", str(x)),
)
@pytest.mark.parametrize("n_draws", [1, 50])
def test_the_memory_of_a_block_is_not_underestimated(source, mechanism, repeats, n_draws):
    import tracemalloc

    budgets = [(mechanism.suited(Budget(1.0, 1e-3)),)]
    work = blocks(cells_of([source], mechanism, budgets), Run(repeats, n_draws))
    run_block(work[0])
    tracemalloc.start()
    run_block(work[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < effort.memory(work, work, 1)
