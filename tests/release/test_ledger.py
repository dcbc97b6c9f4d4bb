"""The ledger: exact totals, many writers, a kill at any instant, and nothing of the data in it."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.identity import people_in_order
from engine.core.types import Budget
from engine.privacy import accounting
from engine.release import ledger, repair, sealed_log
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.release.ledger import _slow_hash as books_hash
from engine.sources import sources
from engine.uploads.curves import Upload, read_curves
from engine.uploads.facts import declare
from engine.uploads.layout import suggest_layout
from engine.uploads.tables import read_table
from tests import files
from tests.heavy import few

HELD = bytes(32)
ROWS = [("a", 1, 61.25), ("a", 2, 77.125), ("b", 1, 62.5), ("b", 2, 78.75), ("c", 1, 63.375)]


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "deep" / "ledger.sqlite3")


def own(rows=ROWS, high=100.0, header="id,time,value", last=5.0):
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    table = read_table(text.encode())
    curves = read_curves(table, suggest_layout(table))
    return Upload(curves=curves, declared=declare(0.0, high, 0.0, last, "a manual",
                                                   **files.EVEN))


# -- totals ---------------------------------------------------------------------------------------


def test_nothing_is_made_before_the_first_charge(book):
    assert book.odometer(HELD) is None
    assert not book.path.parent.exists()


def test_three_tenths_fill_a_total_of_three_tenths_exactly(book):
    for name in "abc":
        book.charge(HELD, Budget(0.1, 1e-9), name, "what", Budget(0.3, 1e-6))
    result = book.odometer(HELD)
    assert (result.spent_epsilon, result.left) == (0.3, 0.0)
    assert result.spent_delta == pytest.approx(3e-9)
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
    result = charged(book, 16)
    assert result.tight.delta == pytest.approx(1e-6)
    assert result.tight.epsilon == accounting.epsilon_at_any_time(16 * RHO, result.tight.delta)
    assert result.tight.epsilon < 0.4 * result.spent_epsilon


def test_a_lower_total_leaves_the_delta_of_the_tighter_figure_as_it_was_fixed(book):
    before = charged(book, 1).tight
    book.charge(HELD, Budget(0.5), "next", "what", Budget(2.0, 1e-5), rho=0.125)
    assert book.odometer(HELD).tight.delta == before.delta


@pytest.mark.parametrize("rho, delta", [(None, 1e-3), (0.1, 0.0)])
def test_without_a_rho_or_a_fixed_delta_there_is_no_tighter_figure(book, rho, delta):
    book.charge(HELD, Budget(0.5), "a", "what", Budget(3.0, delta), rho=RHO)
    book.charge(HELD, Budget(0.5), "b", "what", rho=rho)
    assert book.odometer(HELD).tight is None


FIRST = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE data_sets (
    fingerprint TEXT PRIMARY KEY, label TEXT UNIQUE NOT NULL,
    total_epsilon INTEGER NOT NULL, total_delta REAL NOT NULL);
CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL REFERENCES data_sets, at TEXT NOT NULL, name TEXT NOT NULL,
    what TEXT NOT NULL, epsilon INTEGER NOT NULL, delta REAL NOT NULL,
    is_finished INTEGER NOT NULL);
"""
SECOND = ("ALTER TABLE releases ADD COLUMN rho REAL;"
          "ALTER TABLE data_sets ADD COLUMN tight_delta REAL;")


def earlier(path, version, rho=None, tight=None):
    """A ledger as an earlier version wrote it, with one release of ε = 1."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(FIRST + SECOND * (version - 1)
                           + f"INSERT INTO facts VALUES ('salt', x'00'); "
                             f"PRAGMA user_version = {version};")
        result = books_hash(HELD, bytes(1))
        more = [[], [tight]][version - 1], [[], [rho]][version - 1]
        sets, releases = (", ?" * len(extra) for extra in more)
        file.execute(f"INSERT INTO data_sets VALUES (?, 'data-old', 3000000000, 0.001{sets})",
                     (result, *more[0]))
        file.execute("INSERT INTO releases VALUES (1, ?, 'then', 'old', 'what', 1000000000, 0, 1"
                     f"{releases})", (result, *more[1]))
        file.commit()


def test_a_ledger_of_the_first_version_is_taken_over_with_all_that_was_spent(tmp_path):
    earlier(tmp_path / "ledger", 1)
    book = Ledger(tmp_path / "ledger")
    assert book.odometer(HELD).entries[0].state == "released"
    assert book.charge(HELD, Budget(0.5), "new", "what", rho=RHO).odometer.spent_epsilon == 1.5
    assert book.odometer(HELD).tight is None and book.odometer(HELD).label == "data-old"
    with pytest.raises(InputError, match="over the total"):
        book.charge(HELD, Budget(2.0), "too much", "what")
    assert book.charge(b"other" * 6, Budget(0.5), "new", "what", Budget(3.0, 1e-3), rho=RHO
                       ).odometer.tight is not None


def test_a_ledger_of_the_second_version_keeps_its_tighter_figure(tmp_path):
    earlier(tmp_path / "ledger", 2, RHO, 1e-6)
    result = Ledger(tmp_path / "ledger").odometer(HELD)
    assert result.tight == Budget(accounting.epsilon_at_any_time(RHO, 1e-6), 1e-6)
    assert result.spent_epsilon == 1.0 and result.entries[0].name == "old"


def test_other_data_have_a_total_of_their_own(book):
    book.charge(HELD, Budget(3.0), "a", "what")
    book.charge(b"other" * 6, Budget(3.0), "a", "what")
    assert book.odometer(HELD).label != book.odometer(b"other" * 6).label


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


def test_people_are_the_same_in_any_order_and_others_where_one_label_moves():
    rng = np.random.default_rng(3)
    time = rng.choice([0.5, 1.0, 2.5, np.nan, np.inf, 0.0], 200)
    status, group, order = rng.integers(-1, 3, 200), rng.integers(0, 2, 200), rng.permutation(200)
    content = people_in_order(time, status, group)
    assert content == people_in_order(time[order], status[order], group[order])
    assert content == people_in_order(np.where(time == 0, -0.0, time), status, group)
    swapped = group.copy()
    swapped[np.argmax((group == 0) & (time == 0.5))] = 1
    assert len({content, people_in_order(time, status, swapped), people_in_order(time, status, None),
                people_in_order(time, status - 1, group)}) == 4


def test_another_reading_makes_other_data():
    changed = [*ROWS[:-1], ("c", 1, 63.5)]
    assert content_of(own()) != content_of(own(changed))
    regrouped = [*ROWS[:-1], ("b", 3, 63.0)]
    assert content_of(own()) != content_of(own(regrouped))


def test_the_hash_of_data_stays_what_it_was_when_ledgers_were_first_kept():
    """Otherwise a ledger of an earlier version would not know its data again."""
    assert content_of(own()).hex() == (
        "1d7802ad4381d1a63836516a073ab95704c5aee0216f50b6425ea49e5b9cfad7")


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
    result = content_of(source)
    book.charge(result, Budget(1.0), "growth", "Average curve by Adaptive mean")
    raw = book.path.read_bytes()
    assert result not in raw
    assert result.hex().encode() not in raw
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


def test_a_receipt_is_marked_when_its_release_was_made(book):
    receipt = book.charge(HELD, Budget(1.0), "a", "what", plan=b"plan", request=b"request")
    assert book.odometer(HELD).entries[0].state == "charged"
    book.store(receipt, b"noise")
    assert book.odometer(HELD).entries == (replace(receipt.odometer.entries[0], state="drawn"),)
    assert book.release(receipt.release_id).messages == b"noise"


# -- what the ledger notices: edits, older copies, other copies of the same people -----------------


def spent(book, *epsilons, content=HELD):
    for k, epsilon in enumerate(epsilons):
        book.charge(content, Budget(epsilon), f"release {k}", "what", Budget(3.0) if not k else None)


def refuses(book, match):
    """Neither what was spent nor room for more is stated from a ledger that cannot be believed."""
    for ask in (lambda: book.odometer(HELD), lambda: book.charge(HELD, Budget(0.1), "x", "what"),
                lambda: book.known(HELD, {})):
        with pytest.raises(InputError, match=match) as refusal:
            ask()
        assert "Put" in refusal.value.hint and "Nothing was published" in refusal.value.hint


@pytest.mark.parametrize("edit", [
    """UPDATE log SET entry = replace(entry, '"epsilon": 1000000000', '"epsilon": 1')""",
    """UPDATE log SET entry = replace(entry, '"total": [3000000000', '"total": [9000000000')""",
    "DELETE FROM log WHERE number = 3", "DELETE FROM log WHERE number = 1",
    "UPDATE log SET number = 9 WHERE number = 3", "DELETE FROM facts WHERE name = 'key'",
    "UPDATE facts SET value = randomblob(32) WHERE name = 'key'",
    "UPDATE facts SET value = randomblob(16) WHERE name = 'salt'", "DELETE FROM log",
    "INSERT INTO log SELECT 5, entry, seal FROM log WHERE number = 4"])
def test_every_edit_of_a_row_is_noticed_and_nothing_is_spent(book, edit):
    spent(book, 1.0, 0.5)
    with closing(sqlite3.connect(book.path)) as file:
        before = file.total_changes
        file.execute(edit)
        assert file.total_changes > before
        file.commit()
    refuses(book, "changed by other means")


def test_an_older_copy_of_the_ledger_is_noticed_by_its_witness(book, tmp_path):
    spent(book, 1.0)
    older = book.path.read_bytes()
    book.charge(HELD, Budget(1.5), "second", "what")
    book.path.write_bytes(older)
    refuses(book, "lacks releases that its witness file lists")


def test_the_last_releases_cannot_be_cut_off(book):
    spent(book, 1.0, 0.5)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute("DELETE FROM log WHERE number = (SELECT max(number) FROM log)")
        file.commit()
    refuses(book, "lacks releases")


def test_a_deleted_or_replaced_ledger_is_noticed_by_its_witness(book, tmp_path):
    spent(book, 1.0)
    book.path.unlink()
    refuses(book, "lacks releases")
    assert not book.path.exists()
    spent(Ledger(tmp_path / "another"), 1.0)
    book.path.write_bytes((tmp_path / "another").read_bytes())
    refuses(book, "lacks releases")


def test_a_log_that_is_sealed_anew_with_its_own_key_is_noticed_by_its_witness(book):
    spent(book, 1.0, 0.5)
    with closing(sqlite3.connect(book.path)) as file:
        log, seal = sealed_log.OpenLog(file), b""
        for number, text in file.execute("SELECT number, entry FROM log ORDER BY number").fetchall():
            text = text.replace('"epsilon": 1000000000', '"epsilon": 1')
            seal = sealed_log.sealed(log.key, seal, number, text)
            file.execute("UPDATE log SET entry = ?, seal = ? WHERE number = ?", (text, seal, number))
        file.commit()
    refuses(book, "lacks releases")


def test_the_witness_has_a_line_for_each_release_with_the_total_so_far(book):
    spent(book, 1.0, 0.5)
    lines = book.witness.read_text().splitlines()
    assert [line.split(" people ")[0].partition("total ")[2] for line in lines] == [
        "epsilon 1.000000000 delta 0.0 of 3.000000000 0.0",
        "epsilon 1.500000000 delta 0.0 of 3.000000000 0.0"]
    label = book.odometer(HELD).label
    assert all(label in line for line in lines)
    assert book.witness.stat().st_mode & 0o077 == 0


def test_lines_that_a_kill_kept_from_the_witness_are_added_and_none_is_ever_changed(book):
    spent(book, 1.0)
    first = book.witness.read_text()
    book.charge(HELD, Budget(0.5), "killed", "what")
    book.witness.write_text(first + "17 unfinished")  # power went in the middle of the line
    book.charge(HELD, Budget(0.25), "next", "what")
    text = book.witness.read_text()
    assert text.startswith(first + "17 unfinished\n")
    assert [line.split()[7] for line in text.splitlines() if "total" in line] == [
        "1.000000000", "1.500000000", "1.750000000"]
    assert book.odometer(HELD).spent_epsilon == 1.75


def test_the_place_of_the_witness_is_chosen_by_argument_or_variable(monkeypatch, tmp_path):
    assert Ledger(tmp_path / "ledger").witness == tmp_path / "ledger.witness"
    monkeypatch.setenv(ledger.WITNESS_VARIABLE, str(tmp_path / "elsewhere" / "witness"))
    book = Ledger(tmp_path / "ledger")
    spent(book, 1.0)
    assert (tmp_path / "elsewhere" / "witness").read_text().count("\n") == 1
    assert Ledger(tmp_path / "ledger", tmp_path / "third").witness.name == "third"


def test_a_witness_and_a_ledger_that_are_both_undone_notice_nothing(book):
    """As the documents say: keep the witness where accidents of the ledger do not reach it."""
    spent(book, 1.0)
    book.path.unlink()
    book.witness.unlink()
    assert book.odometer(HELD) is None


def study(n=40, ids="child-{}", seed=3, m=5):
    rng = np.random.default_rng(seed)
    return [(ids.format(k), t, round(70 + 6 * t + 8 * rng.normal(), 1))
            for k in range(n) for t in range(1, m + 1)]


def each(change, rows=None):
    return [change(*row) for row in (study() if rows is None else rows)]


def first_release(book, rows=None):
    source = own(study() if rows is None else rows, 300.0)
    book.charge(content_of(source), Budget(2.0), "first", "what", Budget(3.0),
                traces=source.traces())
    return source


def nobody(rows):
    """The same rows without a column that names the people: wide, one row for each person."""
    people = dict.fromkeys(who for who, _, _ in rows)
    times = sorted({t for _, t, _ in rows})
    text = "\n".join([",".join(map(str, times)), *(
        ",".join(str(value) for who, _, value in rows if who == name) for name in people)])
    table = read_table(text.encode())
    curves = read_curves(table, suggest_layout(table))
    assert curves.ids == ()
    return Upload(curves=curves, declared=declare(0.0, 300.0, 0.0, 99.0, "a manual",
                                                   **files.EVEN))


def fresh(rows):
    """Other ids for the same people."""
    return [(f"new-{who[::-1]}", t, value) for who, t, value in rows]


COPIES = {
    "one reading + 1e-9": lambda rows: [(w, t, v + 1e-9 * (k == 7)) for k, (w, t, v) in
                                        enumerate(rows)],
    "every reading + 1e-9": lambda rows: [(w, t, v + 1e-9) for w, t, v in rows],
    "a person dropped": lambda rows: [row for row in rows if row[0] != "child-7"],
    "a person replaced": lambda rows: [(w, t, v + 9.3 * t * (w == "child-7")) for w, t, v in rows],
    "two in five changed": lambda rows: [(w, t, v + 1.7 * t * (int(w[6:]) % 5 < 2)) for w, t, v in
                                         rows],
    "months for years": lambda rows: [(w, 12 * t, v) for w, t, v in rows],
    "a shifted clock": lambda rows: [(w, t + 0.5, v) for w, t, v in rows],
    "inches for centimetres": lambda rows: [(w, t, v / 2.54) for w, t, v in rows],
    "half of the people": lambda rows: [row for row in rows if int(row[0][6:]) < 20],
    "three times the people": lambda rows: rows + each(lambda w, t, v: (f"more-{w}", t, v),
                                                       study(80, seed=9))}


@pytest.mark.parametrize("names", [None, fresh], ids=["same ids", "other ids"])
@pytest.mark.parametrize("copy", few(COPIES, 4))
def test_a_changed_copy_is_noticed_by_its_people_whether_or_not_ids_changed(book, copy, names):
    first_release(book)
    rows = COPIES[copy](study())
    source = own(rows if names is None else names(rows), 900.0, last=60.0)
    content, traces = content_of(source), source.traces()
    assert book.odometer(content) is None  # by the hash of all readings alone: other data
    result = book.known(content, traces)
    assert result.share > 0.5 and result.odometer.left == 1.0
    with pytest.raises(InputError, match="seem to be in the ledger already") as refusal:
        book.charge(content, Budget(2.0), "again", "what", traces=traces)
    assert refusal.value.field == "people"
    with pytest.raises(InputError, match="ε = 1 is left"):
        book.charge(content, Budget(2.0), "again", "what", traces=traces, same_people=True)
    after = book.charge(content, Budget(1.0), "again", "what", traces=traces, same_people=True)
    assert after.odometer.left == 0.0
    assert book.odometer(content) == book.odometer(content_of(own(study(), 300.0)))


def test_a_copy_without_any_ids_is_noticed_by_its_curves(book):
    first_release(book)
    copy = nobody(each(lambda w, t, v: (w, 12 * t, v)))
    assert book.known(content_of(copy), copy.traces()).kind == "values"
    inches = nobody(each(lambda w, t, v: (w, t, v / 2.54)))
    assert book.known(content_of(inches), inches.traces()).kind == "shapes"


def test_other_readings_of_the_same_people_are_noticed_by_their_ids_alone(book):
    first_release(book)
    later = own(study(seed=77), 300.0)
    assert book.known(content_of(later), later.traces()).kind == "ids"


def test_what_is_documented_as_not_noticeable_is_not_noticed(book):
    """Every curve moved visibly, and no id the same; and a fifth of the people."""
    first_release(book)
    moved = own(fresh(each(lambda w, t, v: (w, t, v + 0.3 * np.sin(7 * t + v)))), 300.0)
    assert book.known(content_of(moved), moved.traces()) is None
    few = own([row for row in fresh(study()) if row[1] < 3], 300.0)  # only two readings of each
    assert book.known(content_of(few), few.traces()) is None


def test_other_people_are_not_mistaken_for_known_ones(book):
    first_release(book)
    others = own(study(ids="pupil-{}", seed=8), 300.0)
    assert book.known(content_of(others), others.traces()) is None
    receipt = book.charge(content_of(others), Budget(3.0), "other", "what",
                          traces=others.traces())
    assert receipt.odometer.left == 0.0


def test_people_with_the_same_observations_are_the_same_whatever_is_said_of_them(book):
    first_release(book)
    renamed = own(study(ids="pupil-{}")[:-5], 300.0)  # other ids, and the last child is not there
    content, traces = content_of(renamed), renamed.traces()
    known = book.known(content, traces)
    assert known.is_certain and known.share > 0.9
    with pytest.raises(InputError, match="the same people"):
        book.charge(content, Budget(1.0), "other", "what", traces=traces, same_people=False)
    with pytest.raises(InputError):
        book.charge(content, Budget(2.0), "other", "what", traces=traces, same_people=True)
    joined = book.charge(content, Budget(1.0), "other", "what", traces=traces, same_people=True)
    assert joined.odometer.left == 0.0


def test_who_is_stated_to_be_others_has_a_total_of_their_own_and_the_statement_is_kept(book):
    first_release(book)
    namesakes = own(study(seed=8), 300.0)  # child-0 … of another school
    content, traces = content_of(namesakes), namesakes.traces()
    receipt = book.charge(content, Budget(3.0), "other", "what", traces=traces, same_people=False)
    assert receipt.odometer.left == 0.0 and book.known(content, traces) is None
    with closing(sqlite3.connect(book.path)) as file:
        entries = "".join(row[0] for row in file.execute("SELECT entry FROM log"))
    assert '"stated_others": ["data-' in entries


def rounded(rows, names=fresh):
    return own(names([(w, t, round(v)) for w, t, v in rows]), 300.0)


def test_known_observations_that_come_with_the_ids_of_others_are_noticed(book):
    """Rounded with new ids nobody is known; the same rounded file with the old ids is."""
    source = first_release(book)
    alone, named = rounded(study()), rounded(study(), list)
    content, traces = content_of(named), named.traces()
    assert content == content_of(alone)
    book.charge(content, Budget(0.5), "rounded", "what", Budget(3.0), traces=alone.traces())
    assert book.known(content, alone.traces()) is None
    result = book.known(content, traces)
    assert (result.kind, result.share, result.odometer.spent_epsilon) == ("ids", 1.0, 2.5)
    with pytest.raises(InputError, match="seem to be in the ledger already"):
        book.charge(content, Budget(0.5), "named", "what", traces=traces)
    with pytest.raises(InputError, match=r"ε = 0\.5 is left"):
        book.charge(content, Budget(0.6), "named", "what", traces=traces, same_people=True)
    assert book.odometer(content).spent_epsilon == 0.5  # what is refused leaves nothing behind
    receipt = book.charge(content, Budget(0.5), "named", "what", traces=traces, same_people=True)
    assert receipt.odometer.left == 0.0 and receipt.odometer.spent_epsilon == 3.0
    assert book.odometer(content_of(source)) == receipt.odometer
    assert book.known(content, traces) is None


def test_known_observations_with_the_ids_of_others_may_be_stated_to_be_others_once(book):
    source = first_release(book)
    alone, named = rounded(study()), rounded(study(), list)
    content, traces = content_of(named), named.traces()
    book.charge(content, Budget(0.5), "rounded", "what", Budget(3.0), traces=alone.traces())
    book.charge(content, Budget(0.5), "named", "what", traces=traces, same_people=False)
    assert book.known(content, traces) is None  # and nobody is asked again
    receipt = book.charge(content, Budget(0.5), "once more", "what", traces=traces)
    assert receipt.odometer.spent_epsilon == 1.5
    assert book.odometer(content_of(source)).spent_epsilon == 2.0
    with closing(sqlite3.connect(book.path)) as file:
        entry, = file.execute("SELECT entry FROM log WHERE entry LIKE '%\"people\"%stated_others%' "
                              "AND entry NOT LIKE '%data set%'").fetchone()
    assert json.loads(entry)["stated_others"] == [book.odometer(content_of(source)).label]


@pytest.mark.parametrize("is_repaired", [False, True])
def test_people_are_known_by_all_ids_under_which_their_observations_came(book, is_repaired):
    """Other observations under the later ids, or under the earlier ones, also after a repair."""
    first_release(book)
    again = own(fresh(study()), 300.0)
    book.charge(content_of(again), Budget(0.5), "again", "what", traces=again.traces())
    if is_repaired:
        with closing(sqlite3.connect(book.path)) as file:
            file.execute("UPDATE log SET seal = 'x' WHERE rowid = (SELECT max(rowid) FROM log)")
            file.commit()
        repair.repair(book)
    for names in (list, fresh):
        later = own(names(study(seed=77)), 300.0)
        assert book.known(content_of(later), later.traces()).kind == "ids"


def test_people_in_two_groups_join_them_and_all_that_both_spent_counts(book):
    one, other = study(seed=1), study(ids="b-{}", seed=2)
    for rows, epsilon in ((one, 2.0), (other, 1.5)):
        source = own(rows, 300.0)
        book.charge(content_of(source), Budget(epsilon, 1e-6), "its first", "what",
                    Budget(5.0, 1e-3), traces=source.traces(), rho=RHO)
    both = own(one + other, 300.0)
    receipt = book.charge(content_of(both), Budget(1.0), "both", "what", traces=both.traces(),
                          same_people=True, rho=RHO)
    assert receipt.odometer.spent_epsilon == 4.5 and receipt.odometer.tight is None
    assert book.odometer(content_of(own(one, 300.0))) == receipt.odometer


def test_whole_numbers_that_many_share_say_nothing_about_who_they_are(book):
    """Ages of two towns: the same few numbers, other people."""
    rng = np.random.default_rng(4)
    for town in "ab":
        rows = [(f"{town}{k}", 1, int(rng.integers(20, 60))) for k in range(300)]
        source = own(rows, 300.0)
        assert book.known(content_of(source), source.traces()) is None, town
        book.charge(content_of(source), Budget(1.0), "ages", "what", traces=source.traces())


def test_the_ledger_holds_no_id_and_other_ledgers_hash_people_differently(book, tmp_path):
    source = first_release(book)
    other = Ledger(tmp_path / "other")
    other.charge(content_of(source), Budget(1.0), "a", "what", traces=source.traces())
    contents = []
    for each_book in (book, other):
        raw = each_book.path.read_bytes() + each_book.witness.read_bytes()
        assert b"child-7" not in raw
        with closing(sqlite3.connect(each_book.path)) as file:
            contents.append({row[0] for row in file.execute("SELECT content FROM kept")})
    assert len(contents[0]) == 3 and not contents[0] & contents[1]


def test_a_changed_sketch_of_people_is_noticed(book):
    first_release(book)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute("UPDATE kept SET content = zeroblob(8)")
        file.commit()
    copy = own(COPIES["a person dropped"](study()), 300.0)
    with pytest.raises(InputError, match="changed by other means"):
        book.known(content_of(copy), copy.traces())


def test_people_of_a_ledger_that_was_taken_over_are_noted_at_their_next_release(tmp_path):
    source = own(study(), 300.0)
    earlier(tmp_path / "ledger", 2)
    book = Ledger(tmp_path / "ledger")
    book.charge(HELD, Budget(0.5), "next", "what", traces=source.traces())
    copy = own(COPIES["a person dropped"](study()), 300.0)
    assert book.known(content_of(copy), copy.traces()).odometer.spent_epsilon == 1.5
