"""Releases of files of any size that are killed: nothing twice, nothing forgotten, the same bits."""

import os
import signal

import pytest

from engine.noise.hardened import CountNoise, LatticeNoise
from engine.release import partial, published
from engine.release.ledger import Ledger
from engine.uploads.buckets import Buckets
from engine.uploads.scratch import Arrays, Resources
from engine.uploads.stored_table import StoredTable
from tests import large
from tests.release.test_large_counts import people, survival
from tests.site_runs import silence

ROUNDS = (
    (StoredTable, "tables"),
    (Ledger, "charge"),
    (Ledger, "store"),
    (partial, "store"),
    (LatticeNoise, "__call__"),
    (CountNoise, "__call__"),
)
WITHIN = ((Buckets, "add"), (Arrays, "put"), (Arrays, "get"))  # reading, and blocks of a round


def curves(folder, mechanism="adaptive_mean"):
    """A request of curves in two files, read anew each time."""
    table = large.frame()
    ages = table["id"].str[1:].astype(int) % 11
    stated = large.plain(
        "parts",
        mechanism=mechanism,
        header=[*large.HEADER, "age"],
        columns={"covariates": [{"name": "age"}]},
        facts={"covariates": [large.COVARIATE]},
    )
    return asked(table.assign(age=ages), stated, folder)


def coefficients(folder):
    return curves(folder, "adaptive_coefficients")


def outcomes(folder):
    return asked(people(), survival("parts"), folder, memory=50_000)


def asked(table, stated, folder, memory=500_000):
    parts = folder / "parts"
    parts.mkdir()
    half = len(table) // 2
    large.written(table[:half], parts / "0.csv")
    large.written(table[half:], parts / "1.parquet", "parquet")
    return lambda: large.asked(stated, folder, Resources(memory, folder))


def killed(read, ledger, instant, watched):
    """Read and publish in a process of its own that is killed at an instant; True if it was."""
    child = os.fork()
    if child == 0:
        passed = 0

        def watch(owner, name):
            usual = getattr(owner, name)

            def call(*arguments, **more):
                nonlocal passed
                passed += 1
                if passed == instant:
                    os.kill(os.getpid(), signal.SIGKILL)
                return usual(*arguments, **more)

            setattr(owner, name, call)

        for owner, name in watched:
            watch(owner, name)
        try:
            publish(read(), ledger)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def publish(one, ledger):
    return published.publish(one.source, one.mechanism, one.budget, ledger, "meters")


def sent(one, ledger):
    """Publish, and give the noised messages of the one charge of the ledger."""
    release = publish(one, ledger)
    (entry,) = ledger.entries()
    assert entry.state == "drawn" and entry.budget.epsilon <= one.budget.epsilon
    return ledger.release(release.release_id).messages


def under_way(ledger):
    """What is stored of the one release under way, by position."""
    entries = ledger.entries() if ledger.log.exists() else ()
    if not entries or entries[0].state != "under way":
        return {}
    return partial.stored(ledger, ledger.receipt(entries[0].release_id))


def check_kills(read, folder, instants, watched=ROUNDS, want=None):
    """Kill at each of some instants, and go on; count those that were reached."""
    one, n_killed = read(), 0
    before = {*folder.iterdir()}
    for instant in instants:
        ledger = Ledger(folder / f"ledger {instant}", folder / f"witness {instant}")
        was_killed = killed(read, ledger, instant, watched)
        begun = under_way(ledger)
        content = sent(one, ledger)
        assert want is None or content == want
        assert all(message.partition(b"\n")[2] in content for message in begun.values())
        n_killed += was_killed
        if not was_killed:
            break
    added = {path.name.split()[0] for path in {*folder.iterdir()} - before}
    assert added <= {"ledger", "witness"}  # no file of the scratch folder is left
    return n_killed


@pytest.mark.parametrize("instant", [1, 3, 8, 13, 18])
def test_a_kill_charges_nothing_twice_and_forgets_no_message(instant, tmp_path):
    assert check_kills(curves(tmp_path), tmp_path, [instant]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("repeat", range(3))
def test_sixty_kills_between_steps_charge_nothing_twice(repeat, tmp_path):
    assert check_kills(curves(tmp_path), tmp_path, range(1, 60)) >= 20


@pytest.mark.parametrize("kind", [curves, coefficients])
@pytest.mark.parametrize("instants", [(8, 9), (12,), (14, 5)])
def test_what_goes_on_is_what_would_have_been(kind, instants, tmp_path, monkeypatch):
    silence(monkeypatch)
    read = kind(tmp_path)
    want = sent(read(), Ledger(tmp_path / "whole", tmp_path / "w"))
    ledger = Ledger(tmp_path / "ledger", tmp_path / "witness")
    was_killed = [killed(read, ledger, instant, ROUNDS) for instant in instants]
    assert was_killed[0]
    assert sent(read(), ledger) == want


@pytest.mark.parametrize("kind", [curves, outcomes])
@pytest.mark.parametrize("instants", [(1,), (20,)])
def test_a_kill_within_reading_or_a_round_changes_no_bit(kind, instants, tmp_path, monkeypatch):
    silence(monkeypatch)
    read = kind(tmp_path)
    want = sent(read(), Ledger(tmp_path / "whole", tmp_path / "w"))
    assert check_kills(read, tmp_path, instants, WITHIN, want) == len(instants)


@pytest.mark.slow
@pytest.mark.parametrize("kind, step, n", [(curves, 3, 60), (outcomes, 1, 50)])
def test_kills_throughout_reading_and_rounds_change_no_bit(kind, step, n, tmp_path, monkeypatch):
    silence(monkeypatch)
    read = kind(tmp_path)
    want = sent(read(), Ledger(tmp_path / "whole", tmp_path / "w"))
    instants = range(1, 1000, step)  # until one is not reached
    assert check_kills(read, tmp_path, instants, (*WITHIN, *ROUNDS), want) >= n
