"""Ledgers of earlier versions: taken over with their key moved, and nothing that was spent lowered."""

import json
import shutil
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.release import key_file, repair
from engine.release.data_content import content_of
from engine.release.earlier_ledgers import slow_hash
from engine.release.ledger import Ledger
from engine.release.people import PeopleSet, hashes_of
from tests.golden.ledgers_of_050 import CHARGES, FACTS, data, file_of
from tests.ledgers import SEA, Some, charges, pure, spent
from tests.readings import upload_of

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger_of_050.sqlite3"
LEFT = json.loads(GOLDEN.with_suffix(".json").read_text())
WAITING = ("many", "sea")  # data whose people are not known until they are shown


@pytest.fixture(scope="module")
def known():
    return data(lambda content: upload_of(content, FACTS))


@pytest.fixture
def book(tmp_path, costly_guesses, monkeypatch):
    monkeypatch.setenv(key_file.VARIABLE, str(tmp_path / "key"))
    for suffix in ("", ".witness"):
        shutil.copyfile(f"{GOLDEN}{suffix}", tmp_path / f"ledger{suffix}")
    return Ledger(tmp_path / "ledger")


def left_by_sum(book, source):
    """ε that is left for whoever has least, by the sum rule alone."""
    return min(
        share.total.epsilon - share.loss.epsilon / 1e12 for share in book.standing_of(source).shares
    )


def test_nobody_of_a_ledger_of_version_050_has_more_left_than_before(book, known):
    for name, source in known.items():
        assert left_by_sum(book, source) <= LEFT[name] + 1e-9, name
        if name in WAITING:
            book.complete(source)
            assert left_by_sum(book, source) <= LEFT[name] + 1e-9, name
    with pytest.raises(InputError, match="waits for these data"):
        book.complete(known["children"])
    assert repair.verify(book).problem is None


def test_sets_that_were_not_whole_count_for_everybody_until_their_data_are_shown(book, known):
    """2100 people, of whom 2048 were kept, and public data, of which nobody was."""
    stranger = Some(["somebody else"])
    assert spent(book, stranger) == 1.25
    assert [entry.name for entry in book.complete(known["many"])] == ["release 8"]
    assert spent(book, stranger) == 0.75
    book.charge(SEA, pure(0.5), "by itself", "what")  # showing data to publish them will do
    assert spent(book, stranger) == 0.0
    assert spent(book, SEA) == 1.25
    assert left_by_sum(book, known["many"]) == pytest.approx(LEFT["many"])


def test_people_of_a_taken_over_ledger_are_known_by_their_ids_and_curves(book, known):
    for name in ("many", "sea"):
        book.complete(known[name])
    renamed = Some([f"new {k}" for k in range(40)])
    assert spent(book, renamed) == 0
    assert spent(book, Some([f"child-{k}" for k in range(3)])) == pytest.approx(2.4375)
    assert spent(book, known["months"]) == pytest.approx(2.4375)  # under other ids


def test_numbers_that_an_earlier_version_kept_with_zeros_before_them_are_the_same_people(book):
    """Ids are compared as numbers now; a set of 0.5.0 has them as they were written."""
    with book.log.writing() as log:
        ids = hashes_of("ids", [b"007", b"0042", b"9.0"], log.key)
        held = log.keep(PeopleSet(ids, 0 * ids, ids).to_bytes())
        log.add(
            kind="release",
            name="padded",
            what="a mean",
            n=0,
            rho=None,
            records="",
            plan="",
            request="",
            data_sets=[],
            missing=[],
            at="",
            id="1" * 16,
            sets=[held],
            total=[3 * 10**12, 1e-6],
            epsilon=10**12,
            delta=0,
            mu_squared=None,
        )
    everybody = spent(book, Some(["8"]))
    assert [spent(book, Some([name])) for name in ("7", "42", "9", "70")] == [
        everybody + 1.0
    ] * 3 + [everybody]


SPELLED = ["a 1", "B\u20102", "c\u200b3", "D\u00a04", "e5", "stra\u00dfe 6", " Z\u0308 7 ", "09 8"]


def test_ids_that_an_earlier_version_kept_as_they_were_written_are_the_same_people(book, known):
    """Inner blanks, dashes and unseen characters make no other people now; in 0.5.0 they did."""
    for name in WAITING:
        book.complete(known[name])
    with book.log.writing() as log:
        texts = [unicodedata.normalize("NFC", name.strip()).casefold().encode() for name in SPELLED]
        held = log.keep(PeopleSet(ids := hashes_of("ids", texts, log.key), 0 * ids, ids).to_bytes())
        log.add(
            kind="release",
            name="spelled",
            what="a mean",
            n=0,
            rho=None,
            records="",
            plan="",
            request="",
            data_sets=[],
            missing=[],
            at="2026-11-01",
            id="1" * 16,
            sets=[held],
            total=[3 * 10**12, 1e-6],
            epsilon=10**11,
            delta=0,
            mu_squared=None,
        )
    plain = own_of(["a1", "b-2", "c3", "d4"])
    book.charge(plain, pure(0.01), "as one writes today", "what")  # spellings that are not known
    assert spent(book, plain) == spent(book, own_of(["a1"])) == 0.01
    for name in SPELLED:  # those who were released today have lost both
        assert spent(book, own_of([name])) == pytest.approx(0.1 + 0.01 * (name in SPELLED[:4])), (
            name
        )
    assert spent(book, own_of(["b\u20112", "B\u20102", "b-2"])) == pytest.approx(0.11)
    assert [share.people for share in book.standing_of(own_of([*SPELLED, "new"])).shares] == [
        1,
        4,
        4,
    ]


def own_of(ids):
    """A file with these ids, exactly as they are spelled, and two observations of each."""
    rows = [(f'"{name}"', time, 61.25 + time) for name in ids for time in (1, 2)]
    return upload_of(file_of(rows), FACTS, {"id": "id"})


def test_the_key_moves_to_its_file_and_no_byte_of_it_stays(book, tmp_path):
    with closing(sqlite3.connect(GOLDEN)) as file:
        key = file.execute("SELECT value FROM facts WHERE name = 'key'").fetchone()[0]
    assert book.standing_of(SEA).is_known
    assert (tmp_path / "key").read_text() == key.hex() + "\n"
    assert key not in book.path.read_bytes() and key in GOLDEN.read_bytes()
    salt = sqlite_salt(book)
    assert slow_hash(content_of(SEA), salt).encode() not in kept_and_entries(book)


def sqlite_salt(book):
    with closing(sqlite3.connect(book.path)) as file:
        return file.execute("SELECT value FROM facts WHERE name = 'salt'").fetchone()[0]


def kept_and_entries(book):
    """All that was written since the ledger was taken over."""
    with closing(sqlite3.connect(book.path)) as file:
        rows = file.execute(
            "SELECT entry FROM log WHERE number > (SELECT number FROM log WHERE "
            "entry LIKE '%\"format\"%')"
        ).fetchall()
    return "".join(row[0] for row in rows).encode()


def test_charges_keep_their_names_states_and_costs(book, known):
    entries = book.entries()
    assert [entry.name for entry in entries] == [f"release {k}" for k in range(len(CHARGES))]
    assert [entry.state for entry in entries] == [
        "charged" if k % 3 else "drawn" for k in range(len(CHARGES))
    ]
    assert [entry.budget.epsilon for entry in entries] == [charge[1] for charge in CHARGES]
    assert [entry.budget.delta for entry in entries] == [charge[2] for charge in CHARGES]
    asked = book.charge(known["children"], pure(0.5), "release 1", "what", requests=(b"request 1",))
    assert not asked.is_new and asked.state == "charged"


def test_the_witness_goes_on_and_an_older_copy_of_the_ledger_is_noticed(book, known):
    before = book.witness.read_text()
    for name in ("many", "sea"):
        book.complete(known[name])
    book.charge(known["pupils"], pure(0.01), "new", "what")
    assert book.witness.read_text().startswith(before)
    shutil.copyfile(GOLDEN, book.path)
    with pytest.raises(InputError, match="lacks releases"):
        book.standing(SEA)
    done = repair.rebuild(book)
    assert done.n_releases == len(CHARGES) + 1 > done.n_for_everybody >= 1
    for name, source in known.items():
        assert left_by_sum(book, source) <= LEFT[name] + 1e-9, name


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
SECOND = (
    "ALTER TABLE releases ADD COLUMN rho REAL;ALTER TABLE data_sets ADD COLUMN tight_delta REAL;"
)


@pytest.mark.parametrize("version", [1, 2])
def test_a_ledger_without_seals_is_taken_over_with_all_that_was_spent(tmp_path, version):
    path = tmp_path / "ledger"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(
            FIRST + SECOND * (version - 1) + f"INSERT INTO facts VALUES ('salt', x'00'); "
            f"PRAGMA user_version = {version};"
        )
        of_data, more = slow_hash(content_of(SEA), bytes(1)), ", NULL" * (version - 1)
        file.execute(
            f"INSERT INTO data_sets VALUES (?, 'data-old', 3000000000, 0.001{more})", (of_data,)
        )
        file.execute(
            f"INSERT INTO releases VALUES (1, ?, 'then', 'old', 'what', 1000000000, 0, 1{more})",
            (of_data,),
        )
        file.commit()
    book = Ledger(path)
    assert charges(book, SEA) == [("old", "released")]
    assert spent(book, Some(["anybody"])) == 1.0
    book.charge(SEA, pure(0.5), "new", "what")
    assert spent(book, SEA) == 1.5 and spent(book, Some(["anybody"])) == 0.0
    with pytest.raises(InputError, match="have less left"):
        book.charge(SEA, pure(2.0), "too much", "what")
    assert book.total() == Budget(3.0, 0.001)
