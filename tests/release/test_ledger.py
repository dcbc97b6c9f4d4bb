"""The ledger by person: exact sums, who is known, many ledgers, and nothing of the data in it."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.identity import people_in_order
from engine.core.types import Budget
from engine.privacy.filters import Loss
from engine.release import key_file, ledger, partial, people, repair, sentences
from engine.release.books import Charge
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.sources import sources
from engine.uploads.facts import declare
from tests import files
from tests.heavy import few
from tests.ledgers import Some, charges, gaussian, pure, spent
from tests.readings import upload_of

ROWS = [("a", 1, 61.25), ("a", 2, 77.125), ("b", 1, 62.5), ("b", 2, 78.75), ("c", 1, 63.375)]
TWENTY = Some([f"id {k}" for k in range(20)], [f"curve {k}" for k in range(20)])
TOTAL = Budget(3.0, 1e-3)


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "deep" / "ledger.sqlite3")


def own(rows=ROWS, high=100.0, header="id,time,value", last=5.0):
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    return upload_of(text.encode(), declare(0.0, high, 0.0, last, "a manual", **files.EVEN))


def some(first, last, ids="id {}", content="curve {}"):
    numbers = range(first, last)
    return Some(
        [ids.format(k) for k in numbers] if ids else (),
        [content.format(k) for k in numbers] if content else (),
    )


# -- sums -----------------------------------------------------------------------------------------


def test_nothing_is_made_before_the_first_charge(book):
    assert book.standing(TWENTY) == {3.0: 20} and not book.standing_of(TWENTY).is_known
    assert not book.path.parent.exists()


def test_three_tenths_fill_a_total_of_three_tenths_exactly(book):
    for name in "abc":
        book.charge(TWENTY, pure(0.1), name, "what", Budget(0.3))
    assert book.standing(TWENTY) == {0.0: 20}
    with pytest.raises(InputError, match="20 of 20 children have less left"):
        book.charge(TWENTY, pure(1e-9), "d", "what")


def test_costs_are_rounded_up(book):
    book.charge(TWENTY, pure(1 / 3), "a", "what")
    assert spent(book, TWENTY) == 0.333333333334


def test_two_groupings_of_the_same_people_add_up(book):
    """Everybody is in one of A, B, C and in one of X, Y, Z."""
    for k, group in enumerate("ABC"):
        book.charge(
            some(100 * k, 100 * k + 100), gaussian(2.9, 5e-8), group, "what", Budget(3.0, 1e-6)
        )
    other = Some([f"id {k}" for k in range(0, 300, 3)])
    with pytest.raises(InputError, match="100 of 100 children have less left") as refusal:
        book.charge(other, gaussian(2.9, 5e-8), "X", "what")
    assert refusal.value.field == "epsilon"
    book.charge(other, gaussian(0.5, 5e-8), "X at less", "what")
    assert sum(book.standing(some(0, 300)).values()) == 300
    assert len(book.standing(some(0, 300))) == 2


def test_nine_gaussian_releases_fit_where_three_pure_ones_do(book):
    for k in range(9):
        book.charge(TWENTY, gaussian(1.0, 5e-8), f"release {k}", "what", Budget(3.0, 1e-6))
    with pytest.raises(InputError, match="have less left"):
        book.charge(TWENTY, gaussian(1.0, 5e-8), "tenth", "what")


def test_a_file_that_was_charged_is_known_at_once_and_in_any_order(book, monkeypatch):
    book.charge(TWENTY, pure(0.5), "first", "what")
    backwards = Some(TWENTY.ids[::-1], TWENTY.content[::-1])
    book.charge(backwards, pure(0.5), "backwards", "what")
    with monkeypatch.context() as at_once:  # no person is hashed alone
        at_once.setattr(people, "hashes_of", None)
        book.charge(TWENTY, pure(0.5), "again", "what")
        book.charge(backwards, pure(0.5), "backwards again", "what")
    assert book.standing(TWENTY) == book.standing(backwards) == {1.0: 20}
    assert repair.verify(book).problem is None and len(kept_hashes(book)[0]) == 40


@pytest.mark.parametrize(
    "changed",
    [
        {"ids": ("b", "ac")},
        {"ids": ("", "bac")},
        {"content": ("d", "c")},
        {"bits": 1.0},
        {"list": "school"},
        {"ids": (), "content": ("ba", "c", "c", "d")},
        {"ids": (), "records": ("ba", "c"), "content": ("c", "d")},
    ],
)
def test_files_whose_people_differ_in_anything_are_not_known_at_once(changed):
    one = {"ids": ("ba", "c"), "content": ("c", "d")}
    digests = {
        people.file_digest(Some(**{**one, **more}).traces(), bytes(32)) for more in ({}, changed)
    }
    assert len(digests) == 2
    assert people.file_digest(Some(**one).traces(), bytes([1] * 32)) not in digests


def test_a_yearly_update_charges_who_is_in_both_and_new_people_start_at_nothing(book):
    book.charge(some(0, 20), pure(2.0), "2025", "what")
    book.charge(some(10, 30), pure(1.0), "2026", "what")
    assert book.standing(some(0, 30)) == {2.0: 10, 1.0: 10, 0.0: 10}


def test_who_has_nothing_left_is_counted_and_may_be_left_out(book):
    book.charge(some(0, 5), pure(3.0), "first", "what")
    with pytest.raises(InputError, match="5 of 20 children have less left") as refusal:
        book.charge(TWENTY, pure(1.0), "all", "what")
    assert "leave out" in refusal.value.hint and "id 3" not in str(refusal.value)
    exhausted = book.standing_of(TWENTY, in_order=True).without_room(pure(1.0))
    assert exhausted.tolist() == [True] * 5 + [False] * 15


def test_a_refused_charge_leaves_nothing_behind(book):
    with pytest.raises(InputError, match="have less left"):
        book.charge(TWENTY, pure(4.0), "a", "what")
    assert book.entries() == () and book.total() is None  # not even the total
    book.charge(TWENTY, pure(4.0), "a", "what", Budget(5.0))


def test_a_name_is_used_once_in_a_ledger_and_must_be_one(book):
    book.charge(TWENTY, pure(0.1), "a", "what")
    for name, message in (
        ("a ", "name already"),
        ("  ", "needs a name"),
        ("x" * 81, "needs a name"),
        ("two\nlines", "needs a name"),
    ):
        with pytest.raises(InputError, match=message):
            book.charge(some(50, 60), pure(0.1), name, "what")


# -- totals ---------------------------------------------------------------------------------------


def test_a_total_can_be_lowered_and_never_raised(book):
    book.charge(TWENTY, pure(1.0), "a", "what", Budget(3.0))
    with pytest.raises(InputError, match="cannot be raised"):
        book.charge(TWENTY, pure(1.0), "b", "what", Budget(4.0))
    book.charge(TWENTY, pure(0.5), "b", "what", Budget(2.0))
    assert book.standing(TWENTY) == {0.5: 20}
    assert book.standing(some(30, 40)) == {3.0: 10}


def test_a_set_lowers_the_total_of_its_own_people_wherever_they_are(book):
    book.charge(some(0, 10), pure(0.5), "a", "what", Budget(3.0))
    book.charge(some(0, 20), pure(0.5), "b", "what", Budget(3.0))
    book.lower(Budget(1.5), some(0, 10))
    assert book.standing(some(0, 20)) == {2.5: 10, 0.5: 10}
    with pytest.raises(InputError, match="cannot be raised"):
        book.lower(Budget(1.6), some(0, 10))
    with pytest.raises(InputError, match="exactly these people"):
        book.lower(Budget(1.0), some(0, 5))
    book.lower(Budget(1.2))
    assert book.standing(some(0, 20)) == {0.7: 10, 0.2: 10}
    assert book.standing(some(30, 40)) == {1.2: 10}


def test_a_total_that_would_be_raised_is_refused_by_its_own_part_alone(book):
    """A ledger’s own δ is 0.1, that of one person: nobody stated it, and no set has it."""
    book.charge(TWENTY, pure(0.5), "a", "what", Budget(3.0, 1e-4))
    with pytest.raises(InputError, match="cannot be raised") as of_epsilon:
        book.lower(Budget(4.0, 1e-4))
    assert "3" in of_epsilon.value.message and "δ" not in of_epsilon.value.message
    with pytest.raises(InputError, match="cannot be raised") as of_delta:
        book.lower(Budget(2.0, 2e-4), TWENTY)
    assert "ε" not in of_delta.value.message


def test_a_ledger_that_is_none_is_named_before_a_total(tmp_path, capsys):
    path = str(tmp_path / "none.sqlite3")
    assert __main__.main(["ledger", "lower", "2", "--ledger", path]) == 2
    assert "δ" not in capsys.readouterr().err


def test_delta_has_a_total_as_well(book):
    mixed = Charge(Budget(0.1, 3e-4))
    book.charge(TWENTY, mixed, "a", "what", TOTAL)
    with pytest.raises(InputError, match="have less left") as refusal:
        book.charge(TWENTY, mixed, "b", "what")
    assert "δ" in refusal.value.hint
    book.charge(TWENTY, pure(0.1), "b", "what")


# -- who is the same person -----------------------------------------------------------------------


def first_release(book):
    book.charge(TWENTY, pure(2.0), "first", "what")


@pytest.mark.parametrize(
    "again",
    [
        some(0, 20, content="other {}"),
        some(0, 20, ids="new {}"),
        some(0, 20, ids=None),
        some(0, 20, content=None),
    ],
    ids=["old ids, new values", "new ids, old values", "old values alone", "old ids alone"],
)
def test_people_are_known_by_their_ids_or_by_their_curves(book, again):
    first_release(book)
    assert book.standing(again) == {1.0: 20}
    with pytest.raises(InputError, match="20 of 20 children"):
        book.charge(again, pure(2.0), "again", "what")


def test_new_ids_with_new_curves_are_new_people_as_the_documents_say(book):
    first_release(book)
    assert book.standing(some(0, 20, "new {}", "new {}")) == {3.0: 20}


def test_ids_of_another_list_are_other_people(book):
    first_release(book)
    school = Some(TWENTY.ids, list="school register")
    assert book.standing(school) == {3.0: 20}
    book.charge(school, pure(1.5), "school", "what")
    assert book.standing(school) == {1.5: 20} and book.standing(TWENTY) == {1.0: 20}


def test_a_curve_that_cannot_tell_people_apart_does_not_count(book):
    coarse = Some(TWENTY.ids, TWENTY.content, bits=47.9)
    book.charge(coarse, pure(2.0), "first", "what")
    assert book.standing(Some([f"new {k}" for k in range(20)], TWENTY.content, 47.9)) == {3.0: 20}


def test_an_id_of_one_and_the_curve_of_another_make_both_one_person(book):
    """A chain: each has lost what all three releases cost, and anybody found by either trace."""
    book.charge(Some(["anna"], ["curve a"]), pure(0.5), "first", "what")
    book.charge(Some(["bela"], ["curve b"]), pure(0.7), "second", "what")
    book.charge(Some(["anna", "carl"], ["curve b", "curve c"]), pure(1.0), "both", "what")
    for traces in (
        Some(["anna"]),
        Some(["bela"]),
        Some(content=["curve a"]),
        Some(content=["curve b"]),
        Some(["dora"], ["curve a"]),
    ):
        assert spent(book, traces) == 2.2
        assert [name for name, _ in charges(book, traces)] == ["first", "second", "both"]
    assert spent(book, Some(["carl"])) == 1.0
    with pytest.raises(InputError, match="1 of 1 children"):
        book.charge(Some(["bela"]), pure(0.9), "more", "what")


def test_a_long_chain_is_followed_to_its_end(book):
    for k in range(6):
        book.charge(Some([f"id {k}"], [f"curve {k}"]), pure(0.25), f"release {k}", "what")
    for k in range(5):
        book.charge(Some([f"id {k}"], [f"curve {k + 1}"]), pure(0.1), f"link {k}", "what")
    assert spent(book, Some(["id 0"])) == spent(book, Some(["id 5"])) == 2.0


@pytest.mark.parametrize(
    "twice",
    [Some(["a", "b"], ["one curve", "one curve"]), Some(["id 1", "x"], ["", "curve 1"])],
    ids=["one curve", "one known person"],
)
def test_two_records_of_one_person_are_refused_or_stated_to_be_others(book, twice):
    first_release(book)
    with pytest.raises(InputError, match="2 children have the id or the curve") as refusal:
        book.charge(twice, pure(0.5), "twice", "what")
    assert refusal.value.field == "people"
    book.charge(twice, pure(0.5), "twice", "what", same_people=False)
    assert charges(book, twice)[-1] == ("twice", "unfinished")


def test_people_known_by_their_curve_alone_count_unless_they_are_stated_to_be_others(book):
    first_release(book)
    others = some(0, 20, ids="pupil {}")
    assert book.standing_of(others).n_by_content == 20
    with pytest.raises(InputError, match="20 of 20"):
        book.charge(others, pure(2.0), "other", "what")
    book.charge(others, pure(2.0), "other", "what", same_people=False)
    assert book.standing(TWENTY) == {1.0: 20} and spent(book, others) == 2.0
    assert book.standing_of(others).n_by_content == 0  # and nobody is asked again
    with closing(sqlite3.connect(book.path)) as file:
        entries = "".join(row[0] for row in file.execute("SELECT entry FROM log"))
    assert '"stated_others": true' in entries


def test_people_who_are_new_by_a_list_that_was_never_stated_are_told(book):
    people = Some(ids=[f"p{k}" for k in range(12)])
    book.charge(people, pure(1.0), "first", "what")
    renamed = replace(people, list="school register")
    assert (book.standing_of(renamed).n_unlisted, book.standing_of(people).n_unlisted) == (12, 0)
    assert "12 children" in sentences.left(renamed.facts, book.standing_of(renamed))
    others = Some(ids=[f"q{k}" for k in range(12)], list="school register")
    assert book.standing_of(others).n_unlisted == 0
    book.charge(renamed, pure(1.0), "second", "what")
    assert book.standing_of(renamed).n_unlisted == 0  # known by now, by the list


def test_records_without_id_and_telling_curve_are_known_whatever_their_order(book):
    rows = Some(records=["x", "x", "y", "z"])
    book.charge(rows, pure(2.0), "first", "what")
    assert book.standing(Some(records=["z", "x", "y", "x"])) == {1.0: 4}
    assert book.standing(Some(records=["x", "x", "x"])) == {3.0: 1, 1.0: 2}


# -- files ----------------------------------------------------------------------------------------


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
    assert (
        len(
            {
                content,
                people_in_order(time, status, swapped),
                people_in_order(time, status, None),
                people_in_order(time, status - 1, group),
            }
        )
        == 4
    )


def test_another_reading_makes_other_data():
    changed = [*ROWS[:-1], ("c", 1, 63.5)]
    assert content_of(own()) != content_of(own(changed))
    regrouped = [*ROWS[:-1], ("b", 3, 63.0)]
    assert content_of(own()) != content_of(own(regrouped))


def test_the_hash_of_data_stays_what_it_was_when_ledgers_were_first_kept():
    """Otherwise a ledger of an earlier version would not know its data again."""
    assert content_of(own()).hex() == (
        "1d7802ad4381d1a63836516a073ab95704c5aee0216f50b6425ea49e5b9cfad7"
    )


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


def study(n=40, ids="child-{}", seed=3, m=10):
    rng = np.random.default_rng(seed)
    return [
        (ids.format(k), t, round(70 + 6 * t + 8 * rng.normal(), 1))
        for k in range(n)
        for t in range(1, m + 1)
    ]


def fresh(rows):
    """Other ids for the same people."""
    return [(f"new-{who[::-1]}", t, value) for who, t, value in rows]


def charged(book, rows, epsilon=2.0, name="first"):
    source = own(rows, 900.0, last=200.0)
    book.charge(source, pure(epsilon), name, "what")
    return source


COPIES = {
    "one reading + 1e-9": lambda rows: [
        (w, t, v + 1e-9 * (k == 7)) for k, (w, t, v) in enumerate(rows)
    ],
    "a person dropped": lambda rows: [row for row in rows if row[0] != "child-7"],
    "months for years": lambda rows: [(w, 12 * t, v) for w, t, v in rows],
    "a shifted clock": lambda rows: [(w, t + 0.5, v) for w, t, v in rows],
    "inches for centimetres": lambda rows: [(w, t, v / 2.54) for w, t, v in rows],
    "a tenth of the people": lambda rows: [row for row in rows if int(row[0][6:]) < 4],
}


@pytest.mark.parametrize("names", [list, fresh], ids=["same ids", "other ids"])
@pytest.mark.parametrize("copy", few(COPIES, 6))
def test_a_changed_copy_is_known_by_its_people_whether_or_not_ids_changed(book, copy, names):
    charged(book, study())
    again = own(names(COPIES[copy](study())), 900.0, last=200.0)
    assert book.standing(again) == {1.0: again.sizes.n_curves}


def test_rounded_curves_with_new_ids_are_not_noticed_as_the_documents_say(book):
    charged(book, study())
    rounded = own(fresh([(w, t, round(v)) for w, t, v in study()]), 900.0, last=200.0)
    assert book.standing(rounded) == {3.0: 40}


def test_short_curves_of_whole_numbers_say_nothing_about_who_they_are(book):
    rng = np.random.default_rng(4)
    for town in "ab":
        rows = [
            (f"{town}{k}", t, int(rng.integers(100, 180))) for k in range(200) for t in (1, 2, 3, 4)
        ]
        source = own(rows, 900.0)
        assert book.standing(source) == {3.0: 200}, town
        book.charge(source, pure(1.0), town, "heights")


def test_other_numbers_of_the_same_person_are_charged_again(book):
    """A correction: the id is the same, so it is that person."""
    charged(book, study())
    charged(book, study(seed=77), 1.0, "corrected")
    assert book.standing(own(study(), 900.0, last=200.0)) == {0.0: 40}


def test_one_id_at_two_sites_is_two_people():
    rows = [(who, t, v, site) for who, t, v in ROWS for site in "xy"]
    source = own(rows, header="id,time,value,site")
    assert len({*source.traces().ids}) == source.sizes.n_curves


def test_the_ledger_holds_no_id_no_reading_and_no_hash_that_others_can_compute(book, tmp_path):
    source = charged(book, study())
    raw = book.path.read_bytes() + book.witness.read_bytes()
    assert b"child-7" not in raw and content_of(source) not in raw
    assert content_of(source).hex().encode() not in raw
    for value in source.curves.values:
        assert np.float64(value).tobytes() not in raw
    assert book.path.stat().st_mode & 0o077 == 0  # for its owner alone
    assert book.witness.stat().st_mode & 0o077 == 0


# -- the key --------------------------------------------------------------------------------------


def kept_hashes(book):
    with closing(sqlite3.connect(book.path)) as file:
        content = b"".join(row[0] for row in file.execute("SELECT content FROM kept"))
        facts = dict(file.execute("SELECT name, value FROM facts"))
    return {*np.frombuffer(content[: len(content) // 8 * 8], "<u8").tolist()}, facts


def test_a_ledger_alone_confirms_no_guess_of_an_id_or_a_curve(book, monkeypatch, tmp_path):
    """With the key all 20 are found; with any of 1000 other keys, or what the file holds, none."""
    first_release(book)
    hashes, facts = kept_hashes(book)
    guesses = TWENTY.traces()
    from engine.release.people import RecordHashes

    right = RecordHashes.of(guesses, key_file.own_key())
    assert {*right.ids.tolist(), *right.contents.tolist()} <= hashes
    keys = [
        facts["check"].encode()[:64],
        bytes.fromhex(facts["check"]),
        bytes(32),
        *(k.to_bytes(32, "big") for k in range(1000)),
    ]
    for key in keys:
        wrong = RecordHashes.of(guesses, key)
        assert not {*wrong.ids.tolist(), *wrong.contents.tolist()} & hashes
    monkeypatch.setenv(key_file.VARIABLE, str(tmp_path / "another key"))
    with pytest.raises(InputError, match="key of this ledger is not on this machine"):
        book.standing(TWENTY)


def test_the_key_is_made_once_for_its_owner_alone(monkeypatch, tmp_path):
    monkeypatch.setenv(key_file.VARIABLE, str(tmp_path / "config" / "key"))
    first_release(Ledger(tmp_path / "one"))
    first = (tmp_path / "config" / "key").read_text()
    assert (tmp_path / "config" / "key").stat().st_mode & 0o077 == 0
    first_release(Ledger(tmp_path / "other"))
    assert (tmp_path / "config" / "key").read_text() == first and len(first) == 65
    monkeypatch.delenv(key_file.VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert key_file.path_of() == tmp_path / "privacy-curves" / "key"
    monkeypatch.setenv(key_file.VARIABLE, first.strip())  # the key itself
    assert Ledger(tmp_path / "one").standing(TWENTY) == {1.0: 20}


def test_a_lost_key_makes_every_release_count_for_everybody(book, monkeypatch, tmp_path):
    first_release(book)
    monkeypatch.setenv(key_file.VARIABLE, str(tmp_path / "new key"))
    done = repair.rebuild(book)
    assert (done.n_releases, done.n_for_everybody) == (1, 1)
    assert book.standing(some(500, 510)) == {1.0: 10}


# -- several ledgers ------------------------------------------------------------------------------


def test_joined_ledgers_count_each_release_once_and_know_people_by_either(book, tmp_path):
    other = Ledger(tmp_path / "other")
    book.charge(some(0, 10), pure(1.0), "a", "what")
    receipt = other.charge(
        some(5, 15, content=None), pure(1.5), "b", "what", plan=b"plan", requests=(b"request",)
    )
    other.store(receipt, b"noise")
    other.charge(some(20, 22), pure(0.5), "c", "what", requests=(b"never drawn",))
    assert book.join(other) == 2 and book.join(other) == 0
    assert book.standing(some(0, 15)) == {2.0: 5, 1.5: 5, 0.5: 5}
    assert book.release(receipt.release_id).messages == b"noise"
    assert dict(charges(book, some(20, 22))) == {"c": "closed"}  # it may be drawn in the other
    book.charge(some(0, 10), pure(0.5), "after", "what")
    assert repair.verify(book).problem is None


def test_people_who_are_one_by_a_joined_ledger_lose_what_both_cost(book, tmp_path):
    other = Ledger(tmp_path / "other")
    book.charge(Some(content=["a curve"]), pure(1.0), "a", "what")
    other.charge(Some(["anna"], ["a curve"]), pure(1.5), "b", "what")
    book.join(other)
    assert spent(book, Some(["anna"])) == spent(book, Some(content=["a curve"])) == 2.5


def test_ledgers_with_other_keys_are_not_joined(book, monkeypatch, tmp_path):
    first_release(book)
    own_file = os.environ[key_file.VARIABLE]
    monkeypatch.setenv(key_file.VARIABLE, str(tmp_path / "key"))
    other = Ledger(tmp_path / "other")
    first_release(other)
    both = (tmp_path / "key").read_text() + Path(own_file).read_text()
    (tmp_path / "key").write_text(both)  # on one machine
    with pytest.raises(InputError, match="another key"):
        book.join(other)


# -- rounds ---------------------------------------------------------------------------------------

ROUNDS = tuple(Loss.of(Budget(1.0, 1e-6), mu) for mu in (0.1, 0.1, 0.2, 0.05))
RUN = Charge(Budget(2.0, 1e-6), 0.26, None, ROUNDS)


def reserved(book):
    return book.charge(TWENTY, RUN, "run", "what", TOTAL, plan=b"plan", requests=(b"run",))


@pytest.mark.parametrize("drawn", range(5))
def test_a_run_that_is_stopped_is_charged_the_rounds_that_were_drawn(book, drawn):
    receipt = reserved(book)
    whole = book.standing_of(TWENTY).least.loss
    assert whole == RUN.loss  # all of it is reserved
    partial.store(book, receipt, 99, b"an order, without noise")
    for k in range(drawn):
        partial.store(book, receipt, k, b"message", k)
    book.close(receipt)
    lost = book.standing_of(TWENTY).least.loss
    assert lost.mu_squared == sum(each.mu_squared for each in ROUNDS[:drawn])
    assert lost.epsilon < whole.epsilon and lost.delta == whole.delta * (drawn > 0)
    with pytest.raises(InputError, match="has ended"):  # late messages, whenever they come
        partial.store(book, receipt, drawn, b"late", min(drawn, 3))
    assert [line.split()[3] for line in book.witness.read_text().splitlines()] == [
        "release",
        *["part"] * (drawn + 1),
        "closed",
    ]


def test_a_round_that_failed_while_it_was_drawn_counts(book):
    receipt = reserved(book)
    partial.store(book, receipt, 0, b"message", 0)
    book.close(receipt, drawing=2)
    lost = book.standing_of(TWENTY).least.loss
    assert lost.mu_squared == ROUNDS[0].mu_squared + ROUNDS[2].mu_squared


def test_a_central_drawing_that_fails_counts_whole(book):
    receipt = book.charge(TWENTY, pure(1.0), "a", "what", requests=(b"r",))
    book.close(receipt)
    assert spent(book, TWENTY) == 1.0


def test_pure_rounds_add(book):
    rounds = tuple(Loss.of(Budget(epsilon)) for epsilon in (0.5, 0.25, 0.25))
    receipt = book.charge(
        TWENTY, Charge(Budget(1.0), None, None, rounds), "run", "what", requests=(b"r",)
    )
    partial.store(book, receipt, 0, b"message", 1)
    book.close(receipt)
    assert spent(book, TWENTY) == 0.25


def test_a_message_is_drawn_once_and_only_in_a_round_of_the_charge(book):
    receipt = reserved(book)
    assert partial.store(book, receipt, 0, b"first", 0) == b"first"
    assert partial.store(book, receipt, 0, b"second", 0) == b"first"
    with pytest.raises(InputError, match="no such round"):
        partial.store(book, receipt, 1, b"message", 4)


# -- what the ledger notices: edits, older copies --------------------------------------------------


def releases(book, *epsilons):
    for k, epsilon in enumerate(epsilons):
        book.charge(TWENTY, pure(epsilon), f"release {k}", "what")


def refuses(book, match):
    """Neither what was spent nor room for more is stated from a ledger that cannot be believed."""
    for ask in (
        lambda: book.standing(TWENTY),
        lambda: book.charge(TWENTY, pure(0.1), "x", "what"),
        book.entries,
    ):
        with pytest.raises(InputError, match=match) as refusal:
            ask()
        assert "Put" in refusal.value.hint and "Nothing was published" in refusal.value.hint


@pytest.mark.parametrize(
    "edit",
    [
        """UPDATE log SET entry = replace(entry, '"epsilon": 1000000000000', '"epsilon": 1')""",
        """UPDATE log SET entry = replace(entry, '"total": [3000000000000', '"total": [9000000000000')""",
        "DELETE FROM log WHERE number = 3",
        "DELETE FROM log WHERE number = 1",
        "UPDATE log SET number = 9 WHERE number = 3",
        "DELETE FROM facts WHERE name = 'check'",
        "DELETE FROM log",
        "INSERT INTO log SELECT 5, entry, seal FROM log WHERE number = 4",
    ],
)
def test_every_edit_of_a_row_is_noticed_and_nothing_is_spent(book, edit):
    releases(book, 1.0, 0.5)
    with closing(sqlite3.connect(book.path)) as file:
        before = file.total_changes
        file.execute(edit)
        assert file.total_changes > before
        file.commit()
    refuses(book, "changed by other means")


def test_a_set_that_cannot_be_read_counts_for_everybody(book):
    releases(book, 1.0)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute("UPDATE kept SET content = zeroblob(48)")
        file.commit()
    assert book.standing(some(500, 510)) == book.standing(TWENTY) | {2.0: 10}
    assert repair.verify(book).n_unread == 1


def test_an_older_copy_of_the_ledger_is_noticed_by_its_witness(book):
    releases(book, 1.0)
    older = book.path.read_bytes()
    book.charge(TWENTY, pure(1.5), "second", "what")
    book.path.write_bytes(older)
    refuses(book, "lacks releases that its witness file lists")


def test_the_last_releases_cannot_be_cut_off(book):
    releases(book, 1.0, 0.5)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute("DELETE FROM log WHERE number = (SELECT max(number) FROM log)")
        file.commit()
    refuses(book, "lacks releases")


def test_a_deleted_or_replaced_ledger_is_noticed_by_its_witness(book, tmp_path):
    releases(book, 1.0)
    book.path.unlink()
    refuses(book, "lacks releases")
    assert not book.path.exists()
    releases(Ledger(tmp_path / "another"), 1.0)
    book.path.write_bytes((tmp_path / "another").read_bytes())
    refuses(book, "lacks releases")


def test_the_witness_has_a_line_for_each_release_with_what_it_cost(book):
    releases(book, 1.0, 0.5)
    lines = [line.split() for line in book.witness.read_text().splitlines()]
    assert [line[3:8:2] for line in lines] == [
        ["release", "1000000000000", "0"],
        ["release", "500000000000", "0"],
    ]
    assert lines[0][lines[0].index("sets") + 1] == lines[1][lines[1].index("sets") + 1]


def test_lines_that_a_kill_kept_from_the_witness_are_added_and_none_is_ever_changed(book):
    releases(book, 1.0)
    first = book.witness.read_text()
    book.charge(TWENTY, pure(0.5), "killed", "what")
    book.witness.write_text(first + "17 unfinished")  # power went in the middle of the line
    book.charge(TWENTY, pure(0.25), "next", "what")
    text = book.witness.read_text()
    assert text.startswith(first + "17 unfinished\n")
    assert [line.split()[5] for line in text.splitlines() if "release" in line] == [
        "1000000000000",
        "500000000000",
        "250000000000",
    ]
    assert spent(book, TWENTY) == 1.75


def test_its_place_is_chosen_by_option_variable_or_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "by-variable"))
    assert ledger.path_of(tmp_path / "by-option").name == "by-option"
    assert ledger.path_of().name == "by-variable"
    monkeypatch.delenv(ledger.VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert ledger.path_of() == tmp_path / "privacy-curves" / "ledger.sqlite3"


def test_the_place_of_the_witness_is_chosen_by_argument_or_variable(monkeypatch, tmp_path):
    assert Ledger(tmp_path / "ledger").witness == tmp_path / "ledger.witness"
    monkeypatch.setenv(ledger.WITNESS_VARIABLE, str(tmp_path / "elsewhere" / "witness"))
    releases(Ledger(tmp_path / "ledger"), 1.0)
    assert (tmp_path / "elsewhere" / "witness").read_text().count("\n") == 1
    assert Ledger(tmp_path / "ledger", tmp_path / "third").witness.name == "third"


def test_a_witness_and_a_ledger_that_are_both_undone_notice_nothing(book):
    """As the documents say: keep the witness where accidents of the ledger do not reach it."""
    releases(book, 1.0)
    book.path.unlink()
    book.witness.unlink()
    assert book.standing(TWENTY) == {3.0: 20}


def test_a_receipt_says_what_became_of_its_release(book):
    receipt = book.charge(TWENTY, pure(1.0), "a", "what", plan=b"plan", requests=(b"request",))
    assert receipt.state == "charged" and receipt.is_new
    book.store(receipt, b"noise")
    again = book.charge(TWENTY, pure(1.0), "a", "what", plan=b"plan", requests=(b"request",))
    assert (again.state, again.is_new, again.release_id) == ("drawn", False, receipt.release_id)
    assert book.release(receipt.release_id).messages == b"noise"
    assert spent(book, TWENTY) == 1.0


# -- people whom only a reading tells apart ---------------------------------------------------------


def test_ids_that_a_reading_tells_apart_are_charged_together_in_every_file(book):
    alone, both = _of_ids("007", "c1"), _of_ids("007", "7", "c2")
    book.charge(alone, pure(2.0), "alone", "what")
    assert book.standing(both) == {3.0: 1, 1.0: 2}
    book.charge(both, pure(1.0), "both", "what")
    assert book.standing(alone) == {1.0: 1, 0.0: 1} and book.standing(_of_ids("7.0")) == {0.0: 1}


def test_a_column_of_sites_makes_no_new_people(book):
    lines = "".join(
        f"{who},{time},{time + 61.25},{site}\n"
        for who in ("7", "8")
        for site in ("north", "south")
        for time in (1, 2)
    )
    content = f"id,time,value,site\n{lines}".encode()
    declared = declare(0.0, 100.0, 0.0, 5.0, "a manual", **files.EVEN)
    book.charge(upload_of(content, declared, {"id": "id"}), pure(2.0), "whole", "what")
    by_site = upload_of(content, declared, {"id": "id", "server": "site"})
    assert by_site.sizes.n_curves == 4 and book.standing(by_site) == {1.0: 4}
    with pytest.raises(InputError, match="4 of 4 people"):
        book.charge(by_site, pure(2.0), "by site", "what")


def _of_ids(*ids):
    lines = "".join(f"{who},{time},{time + 61.25}\n" for who in ids for time in (1, 2))
    return upload_of(
        f"id,time,value\n{lines}".encode(),
        declare(0.0, 100.0, 0.0, 5.0, "a manual", **files.EVEN),
        {"id": "id"},
    )
