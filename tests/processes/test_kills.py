"""A process that publishes and is killed at any instant: nothing charged, or nothing lost.

Afterwards the same command, once more, gives the release: at no further charge if it was charged,
and the very same one if it had been shown. Three states, and no other.
"""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest

from engine import __main__
from engine.release import repair
from engine.release.ledger import Ledger
from tests import killing

FILES = {
    "release.csv",
    "release.svg",
    "release.html",
    "guarantee.json",
    "datapackage.json",
    "citation.txt",
    "check.html",
    "again.json",
}


@pytest.fixture(scope="module")
def nursery():
    with killing.Nursery() as process:
        yield process


@pytest.fixture(scope="module")
def instants(nursery, tmp_path_factory):
    """How many instants publishing has."""
    whole = nursery.publish(killing.prepared(tmp_path_factory.mktemp("whole") / "a"))
    assert whole["code"] == 0 and not whole["killed"] and whole["instants"] > 300
    return whole["instants"]


def entries(folder):
    """All charges in that folder's ledger."""
    state = repair.verify(Ledger(folder / "ledger", folder / "witness"))
    assert state.problem is None
    return list(state.entries)


def published(folder):
    """The files of the folder that are whole by name; nothing else may be there but leftovers."""
    out = folder / "out"
    names = {path.name for path in out.iterdir()} if out.is_dir() else set()
    assert all(name in FILES or name.startswith(".") for name in names)
    return {name: (out / name).read_bytes() for name in names & FILES}


def state_of(folder, shown):
    """Which of the three states a kill left, and that nothing was shown which is not stored."""
    charges = entries(folder)
    files = published(folder)
    if not charges:
        assert not files and "wrote" not in shown
        return "nothing charged"
    (charge,) = charges
    assert charge.budget.epsilon == 1.0 and charge.name == "growth"
    if charge.state == "charged":
        assert not files and "wrote" not in shown
        return "charged and recoverable"
    assert charge.state == "drawn"
    return "released and recoverable"


def recovered(folder, state):
    """The same command once more: the release, charged once in all; written again as often as asked."""
    before = published(folder)
    charges = entries(folder)
    assert __main__.main(killing.command(folder)) == 0
    (charge,) = entries(folder)
    assert charge.state == "drawn"
    if charges:
        assert charge.release_id == charges[0].release_id
    files = published(folder)
    assert set(files) == FILES and {path.name for path in (folder / "out").iterdir()} == FILES
    assert all(files[name] == content for name, content in before.items())
    assert json.loads(files["guarantee.json"])["release"]["id"] == charge.release_id
    assert (
        __main__.main(
            [
                "release",
                "--again",
                charge.release_id,
                "--ledger",
                str(folder / "ledger"),
                "--witness",
                str(folder / "witness"),
                "--out",
                str(folder / "more"),
            ]
        )
        == 0
    )
    assert all((folder / "more" / name).read_bytes() == content for name, content in files.items())
    assert entries(folder) == [charge]
    assert {path.name for path in folder.iterdir()} == {
        "heights.csv",
        "request.json",
        "ledger",
        "witness",
        "out",
        "more",
    }


def killed(nursery, folder, **when):
    """Publish, be killed, perhaps once more while recovering, and recover."""
    result = nursery.publish(killing.prepared(folder), **when)
    state = state_of(folder, result["shown"])
    recovered(folder, state)
    shutil.rmtree(folder)
    return state


def test_a_kill_at_chosen_instants_leaves_one_of_three_states(nursery, instants, tmp_path):
    """Eight, spread over the whole run."""
    at = np.linspace(1, instants, 8).astype(int)
    states = [killed(nursery, tmp_path / str(k), at=int(k)) for k in at]
    assert set(states) == {"nothing charged", "charged and recoverable", "released and recoverable"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_kill_at_any_of_350_instants_leaves_one_of_three_states(
    nursery, instants, tmp_path, part
):
    at = np.linspace(1, instants, 350).astype(int)[part::10]
    for k in at:
        killed(nursery, tmp_path / str(k), at=int(k))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_kill_after_a_random_time_leaves_one_of_three_states(nursery, tmp_path, seed):
    """Fifteen each; most of them inside of SQLite or the system."""
    rng = np.random.default_rng(seed)
    for k in range(15):
        killed(nursery, tmp_path / str(k), after=float(rng.uniform(0, 0.4)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_release_that_is_killed_again_and_again_is_charged_once(
    nursery, instants, tmp_path, seed
):
    rng = np.random.default_rng(seed)
    folder = killing.prepared(tmp_path / "often")
    collected = []
    for _ in range(6):
        result = nursery.publish(folder, at=int(rng.integers(1, instants)))
        collected.append(published(folder))
        assert len(entries(folder)) <= 1
    for earlier, later in pairwise(collected):
        assert all(later[name] == content for name, content in earlier.items())
    recovered(folder, state_of(folder, result["shown"]))
