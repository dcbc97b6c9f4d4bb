"""Releases over partitions that workers read: the same bits as alone, whoever ends meanwhile."""

import json
import os
import signal

import numpy as np
import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.noise.hardened import LatticeNoise
from engine.release import certified, partial, published
from engine.release.ledger import Ledger
from engine.release.people import RecordHashes
from engine.running import partitions
from engine.running.executors import SerialExecutor
from engine.running.partitions import HomeExecutor, LostWorkersError
from engine.uploads import partitioned_table
from engine.uploads.partitioned_table import PartitionedTable
from engine.uploads.scratch import Resources
from tests import large
from tests.large import COMMON, EVEN, UNKNOWN

KEY = b"k" * 32


@pytest.fixture(scope="module")
def workers():
    with HomeExecutor(2) as executor:
        yield executor


def by_person(table, folder, n_files=5, kind="csv"):
    """Parts of a table of which each has all rows of its people."""
    (folder / "parts").mkdir()
    number = table["id"].str[1:].astype(int) % n_files
    for k in range(n_files):
        large.written(table[number == k], folder / "parts" / f"{k}.{kind}", kind)


def asked(folder, executor, **stated):
    return large.asked(large.plain("parts", **stated), folder, Resources(50_000, folder, executor))


@pytest.mark.parametrize("design", [EVEN, UNKNOWN, COMMON])
def test_messages_over_partitions_are_those_of_one_process(design, tmp_path, workers):
    by_person(large.frame(common=design is COMMON), tmp_path)
    alone, many = (asked(tmp_path, each, design=design) for each in (None, workers))
    assert isinstance(many.source.table, PartitionedTable)
    assert many.source.sizes == alone.source.sizes
    large.assert_same(large.messages(many), large.messages(alone))


def test_coefficients_and_sites_are_the_same_over_partitions(tmp_path, workers):
    table = large.frame()
    number = table["id"].str[1:].astype(int)
    table = table.assign(age=number % 10, site=np.where(number % 5 < 2, "north", "south"))
    by_person(table, tmp_path, kind="parquet")
    words = {"north": "north", "south": "south"}
    stated = {
        "header": [*large.HEADER, "age", "site"],
        "columns": {
            "covariates": [{"name": "age"}],
            "site": {"name": "site", "kind": "word", "words": words},
        },
        "facts": {"covariates": [large.COVARIATE]},
        "mechanism": "adaptive_coefficients",
        "epsilon": 20.0,
    }
    alone, many = (asked(tmp_path, each, **stated) for each in (None, workers))
    assert many.source.sizes.n_curves_per_server == (96, 144)  # no partition has both
    large.assert_same(large.messages(many), large.messages(alone))


def test_an_id_at_two_sites_of_a_partition_is_two_people(tmp_path, workers):
    table = large.frame(n=60)
    both = large.pd.concat([table.assign(site=site) for site in ("north", "south")])
    by_person(both, tmp_path)
    words = {"north": "north", "south": "south"}
    stated = {
        "header": [*large.HEADER, "site"],
        "columns": {"site": {"name": "site", "kind": "word", "words": words}},
    }
    assert asked(tmp_path, workers, **stated).source.sizes.n_curves_per_server == (60, 60)


def test_people_are_known_again_and_left_out_over_partitions(tmp_path, workers):
    by_person(large.frame(), tmp_path)
    alone, many = (asked(tmp_path, each).source for each in (None, workers))
    assert RecordHashes.of(many.traces(), KEY).digest == RecordHashes.of(alone.traces(), KEY).digest
    one, other = map(certified.publishable_data, (alone, many))
    assert one.content() == other.content()
    ids = RecordHashes.of(many.traces(), KEY).ids
    fewer = many.without(ids < np.uint64(2**63))
    assert fewer.sizes.n_curves == (ids >= np.uint64(2**63)).sum()
    assert {*RecordHashes.of(fewer.traces(), KEY).ids} == {*ids[ids >= np.uint64(2**63)]}


def test_people_in_several_partitions_are_refused(tmp_path):
    table = large.frame()
    (tmp_path / "parts").mkdir()
    large.written(table[:600], tmp_path / "parts" / "a.csv")
    large.written(table[600:], tmp_path / "parts" / "b.csv")
    with pytest.raises(InputError, match="several partitions") as refusal:
        asked(tmp_path, SerialExecutor())
    assert "by person" in refusal.value.hint


def test_a_method_that_stays_in_memory_is_refused_with_workers(tmp_path):
    by_person(large.frame(n=40), tmp_path, n_files=1)
    with pytest.raises(InputError, match="20 MB"):
        asked(tmp_path, SerialExecutor(), mechanism="iclp")


def test_files_that_change_between_passes_are_refused(tmp_path, workers):
    by_person(large.frame(), tmp_path)
    many = asked(tmp_path, workers)
    with (tmp_path / "parts" / "0.csv").open("a") as file:
        file.write("P9999,0.5,0.5\n")
    with pytest.raises(InputError, match="nothing was published"):
        large.messages(many)


# -- workers that end ------------------------------------------------------------------------------


def worker(_):
    return os.getpid()


def nothing(_):
    pass


def end_once(mark):
    """End the worker, unless it has been done."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark.name


def end_always(mark):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_partition_stays_with_its_worker(workers):
    first, second = (partitions.mapped(worker, range(6), workers, nothing) for _ in range(2))
    assert first == second and len({*first}) == 2


def test_work_of_a_worker_that_ends_is_done_again(tmp_path, workers):
    marks = [tmp_path / str(k) for k in range(4)]
    assert partitions.mapped(end_once, marks, workers, nothing) == ["0", "1", "2", "3"]


def test_work_that_ends_every_worker_is_given_up(tmp_path, workers):
    with pytest.raises(LostWorkersError, match="3 times"):
        partitions.mapped(end_always, [tmp_path], workers, nothing)


def check_kill(folder, workers, instant):
    """Kill a worker before a pass; the messages are those of one process."""
    by_person(large.frame(), folder)
    want, many = large.messages(asked(folder, None)), asked(folder, workers)
    passes = 0
    usual = partitions.mapped

    def mapped(work, parts, executor, advance):
        nonlocal passes
        passes += 1
        if passes == instant:
            victim = usual(worker, [0, 1], executor, nothing)[instant % 2]
            os.kill(victim, signal.SIGKILL)
        return usual(work, parts, executor, advance)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.uploads.partitioned_table.mapped", mapped)
        large.assert_same(large.messages(many), want)
    return passes


@pytest.mark.slow
def test_sixty_kills_of_a_worker_change_no_bit(tmp_path):
    """Workers of a release are killed before each of its passes in turn."""
    kills = 0
    with HomeExecutor(2) as own:
        for repeat in range(60):
            (tmp_path / str(repeat)).mkdir()
            n_passes = check_kill(tmp_path / str(repeat), own, 1 + repeat % 5)
            kills += n_passes >= 1 + repeat % 5
    assert kills == 60


@pytest.mark.parametrize("instant", [1, 3])
def test_a_killed_worker_changes_no_bit(instant, tmp_path, workers):
    assert check_kill(tmp_path, workers, instant) >= instant


def test_a_release_whose_workers_are_lost_goes_on_under_its_charge(tmp_path, workers, monkeypatch):
    by_person(large.frame(), tmp_path)
    ledger = Ledger(tmp_path / "ledger", tmp_path / "witness")
    one = asked(tmp_path, workers)
    drawn = []

    def lost(work, parts, executor, advance):
        if ledger.entries():
            drawn.append(1)
        if len(drawn) == 3:
            raise LostWorkersError("Workers ended.", field="executor")
        return usual(work, parts, executor, advance)

    usual = partitions.mapped
    with monkeypatch.context() as patch:
        patch.setattr("engine.uploads.partitioned_table.mapped", lost)
        with pytest.raises(LostWorkersError):
            published.publish(one.source, one.mechanism, one.budget, ledger, "meters")
    (entry,) = ledger.entries()
    assert entry.state == "under way"
    published.publish(one.source, one.mechanism, one.budget, ledger, "meters")
    (entry,) = ledger.entries()
    assert entry.state == "drawn" and entry.budget.epsilon <= 2.9


def test_the_command_takes_workers(tmp_path, capsys):
    by_person(large.frame(), tmp_path)
    (tmp_path / "request.json").write_text(json.dumps(large.plain("parts")))
    names = ("ledger", "witness", "out")
    paths = [word for name in names for word in (f"--{name}", str(tmp_path / name))]
    words = ["release", str(tmp_path / "request.json"), "--yes", *paths]
    assert __main__.main([*words, "--executor", "processes:2"]) == 0
    assert "wrote" in capsys.readouterr().out


# -- a coordinator that ends -----------------------------------------------------------------------


def publish_and_end(folder, instant):
    """Publish by two workers, in a process that is killed at an instant; true if it was."""
    child = os.fork()
    if child == 0:
        passed = 0

        def watched(owner, name):
            usual = getattr(owner, name)

            def call(*arguments, **more):
                nonlocal passed
                passed += 1
                if passed == instant:
                    os.kill(os.getpid(), signal.SIGKILL)
                return usual(*arguments, **more)

            setattr(owner, name, call)

        watched(partitioned_table, "mapped")
        watched(Ledger, "charge")
        watched(Ledger, "store")
        watched(partial, "store")
        watched(LatticeNoise, "__call__")
        try:
            with HomeExecutor(2) as workers:
                one = asked(folder, workers)
                ledger = Ledger(folder / "ledger", folder / "witness")
                published.publish(one.source, one.mechanism, one.budget, ledger, "meters")
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def check_end(folder, instant, workers):
    """What is stored when a coordinator ends is part of the one release that follows."""
    by_person(large.frame(), folder)
    ledger = Ledger(folder / "ledger", folder / "witness")
    was_killed = publish_and_end(folder, instant)
    entries = ledger.entries()
    begun = (
        partial.stored(ledger, ledger.receipt(entries[0].release_id))
        if entries and entries[0].state == "under way"
        else {}
    )
    one = asked(folder, workers)
    release = published.publish(one.source, one.mechanism, one.budget, ledger, "meters")
    (entry,) = ledger.entries()
    assert entry.state == "drawn" and entry.budget.epsilon <= 2.9
    content = ledger.release(release.release_id).messages
    for message in begun.values():
        assert message.partition(b"\n")[2] in content
    return was_killed


@pytest.mark.parametrize("instant", [4, 12])
def test_a_coordinator_that_ends_charges_nothing_twice(instant, tmp_path, workers):
    assert check_end(tmp_path, instant, workers)


@pytest.mark.slow
def test_sixty_ends_of_a_coordinator_charge_nothing_twice(tmp_path, workers):
    killed = 0
    for repeat in range(66):
        (tmp_path / str(repeat)).mkdir()
        killed += check_end(tmp_path / str(repeat), 1 + repeat % 22, workers)
    assert killed >= 60
