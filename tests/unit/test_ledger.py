"""The ledger: exact totals, many writers, a kill at any instant, and nothing of the data in it."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InputError
from engine.privacy import accounting
from engine.release import ledger
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.sources import sources
from engine.sources.tables import read_table
from engine.sources.upload import Upload
from engine.sources.upload_curves import read_curves
from engine.sources.upload_facts import declare
from engine.sources.upload_layout import suggest_layout
from engine.types import Budget
from tests import files

HELD = bytes(32)
ROWS = [("a", 1, 61.25), ("a", 2, 77.125), ("b", 1, 62.5), ("b", 2, 78.75), ("c", 1, 63.375)]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "deep" / "ledger.sqlite3")


def own(rows=ROWS, high=100.0, header="id,time,value"):
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    table = read_table(text.encode())
    curves = read_curves(table, suggest_layout(table))
    return Upload(curves=curves, declared=declare(0.0, high, 0.0, 5.0, "a manual",
                                                   **files.EVEN))


# -- totals ---------------------------------------------------------------------------------------


def test_nothing_is_made_before_the_first_charge(book):
    assert book.odometer(HELD) is None
    assert not book.path.parent.exists()


def test_three_tenths_fill_a_total_of_three_tenths_exactly(book):
    for name in "abc":
        book.charge(HELD, Budget(0.1, 1e-9), name, "what", Budget(0.3, 1e-6))
    found = book.odometer(HELD)
    assert (found.spent_epsilon, found.left) == (0.3, 0.0)
    assert found.spent_delta == pytest.approx(3e-9)
    with pytest.raises(InputError, match="ε = 0 is left"):
        book.charge(HELD, Budget(1e-9), "d", "what")


def test_charges_are_rounded_up_to_billionths(book):
    book.charge(HELD, Budget(1 / 3), "a", "what", Budget(1.0))
    assert book.odometer(HELD).spent_epsilon == 0.333333334


def test_delta_has_a_total_as_well(book):
    book.charge(HELD, Budget(0.1, 6e-4), "a", "what", Budget(3.0, 1e-3))
    with pytest.raises(InputError, match="total of δ"):
        book.charge(HELD, Budget(0.1, 6e-4), "b", "what")
    book.charge(HELD, Budget(0.1), "b", "what")


def test_a_total_can_be_lowered_and_never_raised(book):
    book.charge(HELD, Budget(1.0), "a", "what", Budget(3.0))
    with pytest.raises(InputError, match="cannot be raised"):
        book.charge(HELD, Budget(1.0), "b", "what", Budget(4.0))
    book.charge(HELD, Budget(0.5), "b", "what", Budget(2.0))
    assert book.odometer(HELD).total.epsilon == 2.0


def test_a_refused_charge_leaves_nothing_behind(book):
    with pytest.raises(InputError, match="over the total"):
        book.charge(HELD, Budget(4.0), "a", "what", Budget(3.0))
    assert book.odometer(HELD) is None  # not even the total


def test_a_name_is_used_once_and_must_be_one(book):
    book.charge(HELD, Budget(0.1), "a", "what")
    for name, message in (("a ", "name already"), ("  ", "needs a name"), ("x" * 81, "needs a name"),
                          ("two\nlines", "needs a name")):
        with pytest.raises(InputError, match=message):
            book.charge(HELD, Budget(0.1), name, "what")


RHO = accounting.rho_of(0.5, 1e-6)


def charged(book, count, delta=1e-3):
    for k in range(count):
        book.charge(HELD, Budget(0.5, 1e-6), f"release {k}", "what", Budget(9.0, delta), rho=RHO)
    return book.odometer(HELD)


def test_many_releases_cost_less_together_than_their_sum(book):
    """Sixteen of ε = 0.5 at δ = 10⁻⁶, all at δ = 10⁻⁶: the square of the first total δ."""
    found = charged(book, 16)
    assert found.tight.delta == pytest.approx(1e-6)
    assert found.tight.epsilon == accounting.epsilon_at_any_time(16 * RHO, found.tight.delta)
    assert found.tight.epsilon < 0.4 * found.spent_epsilon


def test_a_lower_total_leaves_the_delta_of_the_tighter_figure_as_it_was_fixed(book):
    before = charged(book, 1).tight
    book.charge(HELD, Budget(0.5), "next", "what", Budget(2.0, 1e-5), rho=0.125)
    assert book.odometer(HELD).tight.delta == before.delta


@pytest.mark.parametrize("rho, delta", [(None, 1e-3), (0.1, 0.0)])
def test_without_a_rho_or_a_fixed_delta_there_is_no_tighter_figure(book, rho, delta):
    book.charge(HELD, Budget(0.5), "a", "what", Budget(3.0, delta), rho=RHO)
    book.charge(HELD, Budget(0.5), "b", "what", rho=rho)
    assert book.odometer(HELD).tight is None


def test_a_ledger_of_the_first_version_is_taken_over_with_all_that_was_spent(tmp_path):
    path = tmp_path / "ledger"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(ledger._SCHEMA + "INSERT INTO facts VALUES ('salt', x'00');"
                           "PRAGMA user_version = 1;")
        held = ledger._slow_hash(HELD, bytes(1))
        file.execute("INSERT INTO data_sets VALUES (?, 'data-old', 3000000000, 0.001)", (held,))
        file.execute("INSERT INTO releases VALUES (1, ?, 'then', 'old', 'what', 1000000000, 0, 1)",
                     (held,))
        file.commit()
    book = Ledger(path)
    assert book.charge(HELD, Budget(0.5), "new", "what", rho=RHO).odometer.spent_epsilon == 1.5
    assert book.odometer(HELD).tight is None
    assert book.charge(b"other" * 6, Budget(0.5), "new", "what", Budget(3.0, 1e-3), rho=RHO
                       ).odometer.tight is not None


def test_other_data_have_a_total_of_their_own(book):
    book.charge(HELD, Budget(3.0), "a", "what")
    book.charge(b"other" * 6, Budget(3.0), "a", "what")
    assert book.odometer(HELD).label != book.odometer(b"other" * 6).label


@pytest.mark.parametrize("bad", [b"no database at all " * 100, None])
def test_a_ledger_that_cannot_be_used_refuses_kindly(tmp_path, bad):
    path = tmp_path / "ledger"
    path.mkdir() if bad is None else path.write_bytes(bad)
    with pytest.raises(InputError, match="cannot be used"):
        Ledger(path).charge(HELD, Budget(1.0), "a", "what")
    with pytest.raises(InputError, match="cannot be used"):
        Ledger(path).odometer(HELD)


def test_its_place_is_chosen_by_option_variable_or_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "by-variable"))
    assert ledger.path_of(tmp_path / "by-option").name == "by-option"
    assert ledger.path_of().name == "by-variable"
    monkeypatch.delenv(ledger.VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert ledger.path_of() == tmp_path / "privacy-curves" / "ledger.sqlite3"


# -- which data are the same ------------------------------------------------------------------------


def test_the_same_readings_are_the_same_data_in_any_order_with_any_names_and_bounds():
    assert content_of(own()) == content_of(own(ROWS[::-1]))
    renamed = [({"a": "x9", "b": "x1", "c": "x5"}[who], t, v) for who, t, v in ROWS]
    assert content_of(own()) == content_of(own(renamed, 200.0, "person,time,value"))


def test_another_reading_makes_other_data():
    changed = [*ROWS[:-1], ("c", 1, 63.5)]
    assert content_of(own()) != content_of(own(changed))
    regrouped = [*ROWS[:-1], ("b", 3, 63.0)]
    assert content_of(own()) != content_of(own(regrouped))


def test_a_part_of_a_bundled_file_is_the_same_data():
    few = sources.build("sea_temperature", {"n_curves": 30})
    assert content_of(few) == content_of(sources.build("sea_temperature", {}))


def test_every_real_source_has_a_ledger_and_no_simulated_one():
    for cls in sources.all():
        if cls.is_random:
            with pytest.raises(InputError, match="simulated"):
                content_of(cls())
        else:
            assert len(content_of(cls())) == 32


def test_the_file_holds_no_reading_and_no_plain_hash(book):
    source = own()
    held = content_of(source)
    book.charge(held, Budget(1.0), "growth", "Average curve by Adaptive mean")
    raw = book.path.read_bytes()
    assert held not in raw
    assert held.hex().encode() not in raw
    for value in source.curves.values:
        assert f"{value:g}".encode() not in raw
        assert np.float64(value).tobytes() not in raw
        assert np.float64(value).tobytes()[::-1] not in raw
    assert book.path.stat().st_mode & 0o077 == 0  # for its owner alone


def test_two_ledgers_know_the_same_data_by_different_hashes(tmp_path):
    one, other = Ledger(tmp_path / "1"), Ledger(tmp_path / "2")
    for each in (one, other):
        each.charge(HELD, Budget(1.0), "a", "what")
    assert one.odometer(HELD).label != other.odometer(HELD).label


# -- many writers, and a kill ---------------------------------------------------------------------


_SPENDER = """
import sys
from engine.errors import InputError
from engine.release.ledger import Ledger
from engine.types import Budget
from tests import files
done = 0
for k in range(40):
    try:
        Ledger(sys.argv[1]).charge(bytes(32), Budget(0.1), f"{sys.argv[2]}-{k}", "what", Budget(2.0))
    except InputError:
        continue
    done += 1
print(done)
"""


def started(script, *arguments):
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], cwd=ROOT,
                            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_three_writers_at_once_spend_the_total_and_no_more(tmp_path):
    """Three processes ask 40 times each for a twentieth of the total: 20 of 120 are granted."""
    path = tmp_path / "ledger"
    writers = [started(_SPENDER, path, who) for who in range(3)]
    assert sum(int(writer.communicate(timeout=60)[0]) for writer in writers) == 20
    assert Ledger(path).odometer(HELD).left == 0.0


_PUBLISHER = """
import sys
from engine.release.ledger import Ledger
from engine.types import Budget
from tests import files
for k in range(10_000):
    Ledger(sys.argv[1]).charge(bytes(32), Budget(1e-4), f"{sys.argv[2]}-{k}", "what", Budget(9.0))
    print(k, flush=True)  # the release is shown
"""


def test_a_kill_at_any_instant_never_undercharges(tmp_path):
    """Three publishers are killed in the middle: the ledger has at least what each had shown."""
    path, shown = tmp_path / "ledger", 0
    for who in range(3):
        with started(_PUBLISHER, path, who) as process:
            for _ in range(3 + 2 * who):
                assert process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            shown += 3 + 2 * who + process.stdout.read().count(b"\n")
        entries = Ledger(path).odometer(HELD).entries
        assert shown <= len(entries) <= shown + who + 1
    assert Ledger(path).charge(HELD, Budget(1e-4), "after", "what").odometer.spent_epsilon > 0


def test_a_receipt_is_marked_when_its_release_was_made(book):
    receipt = book.charge(HELD, Budget(1.0), "a", "what")
    assert not book.odometer(HELD).entries[0].is_finished
    book.finished(receipt)
    assert book.odometer(HELD).entries == (replace(receipt.odometer.entries[0], is_finished=True),)
