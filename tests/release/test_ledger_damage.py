"""A ledger that was hit, cut, exchanged, set back or deleted never gives a fresh or lower budget.

Each damage is either refused with words or harmless to the last digit of what was spent; and a
repair of what was refused never lowers what anybody spent nor leaves more than before.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.release import ledger, ledger_file, repair, sealed_log, witness
from engine.release.ledger import Ledger
from tests.heavy import slow

PEOPLE = {kind: tuple(f"{kind} {k}".encode() for k in range(40)) for kind in ("ids", "values")}
OTHERS = {kind: tuple(f"other {kind} {k}".encode() for k in range(30)) for kind in ("ids", "values")}
SOME, COPY, PUBLIC = bytes(32), b"copy" * 8, b"public" * 5
TOTAL = Budget(4.0, 1e-3)


def charged(book, content, name, epsilon, **more):
    return book.charge(content, Budget(epsilon, 1e-6), name, "what", plan=f"plan {name}".encode(),
                       request=f"request {name}".encode(), **more)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A ledger of two groups of people, one in two data sets, and a released, a charged, and a
    closed release; its odometers, and an older copy of it."""
    folder = tmp_path_factory.mktemp("sound")
    book = Ledger(folder / "ledger")
    receipt = charged(book, SOME, "first", 0.5, total=TOTAL, traces=PEOPLE, rho=0.01)
    book.store(receipt, bytes(range(256)) * 8)
    charged(book, COPY, "copy", 0.25, traces=PEOPLE, same_people=True, total=Budget(3.0, 1e-4))
    shutil.copyfile(book.path, folder / "older")
    last = charged(book, PUBLIC, "other", 1.5, total=TOTAL, traces=OTHERS)
    book.store(last, b"noise" * 50)
    book.close(charged(book, PUBLIC, "closed", 0.125))
    charged(book, SOME, "again", 0.5)
    return folder, receipt.release_id, spent(book)


def spent(book):
    return {content: book.odometer(content) for content in (SOME, COPY, PUBLIC)}


def copied(sound, tmp_path):
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sound[0], folder)
    return Ledger(folder / "ledger")


def outcome(book, sound):
    """"as before" or "refused"; anything else, such as another total or a traceback, fails."""
    _, release_id, before = sound
    try:
        now, messages = spent(book), book.release(release_id).messages
    except InputError as refusal:
        assert str(book.path.parent) not in str(refusal)
        with pytest.raises(InputError):
            charged(book, SOME, "more", 0.1)
        return "refused"
    assert (now, messages) == (before, bytes(range(256)) * 8)
    return "as before"


def never_less(book, sound, is_known=True):
    """What anybody spent is no less than before, what is left no more; or their holder is asked.

    Where neither file says what was spent, nothing is left.
    """
    for (content, before), traces in zip(sound[2].items(), (PEOPLE, PEOPLE, OTHERS), strict=True):
        now = book.odometer(content)
        if now is None:
            with pytest.raises(InputError, match="seem to be in the ledger"):
                charged(book, content, "more", 0.1, traces=traces)
            assert book.known(content, traces).kind == "repair"
            continue
        assert now.left <= before.left and now.total.delta <= before.total.delta
        if is_known:
            assert now.spent_epsilon >= before.spent_epsilon and now.spent_delta >= before.spent_delta
        elif now.spent_epsilon < before.spent_epsilon:
            assert now.left <= 0


def refused_or_harmless(book, sound, is_known=True):
    """And a repair, where there is something to repair from, makes it usable and no cheaper."""
    if outcome(book, sound) == "as before":
        return "as before"
    before = book.path.read_bytes() if book.path.is_file() else None
    repair.repair(book)
    never_less(book, sound, is_known)
    assert repair.verify(book).problem is None
    if before is not None and len(list(book.path.parent.glob("ledger.damaged-*"))):
        kept, = book.path.parent.glob("ledger.damaged-*")
        assert kept.read_bytes() == before
    charged(book, b"new people" * 3, "new", 0.01, total=TOTAL, same_people=False)  # it works
    assert repair.verify(book).problem is None
    return "refused"


def seeds(fast, every):
    return [k if k < fast else slow(k) for k in range(every)]


# -- hits and cuts --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(2, 40))
def test_ten_random_bits_of_the_ledger_are_each_refused_or_harmless(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        book = copied(sound, tmp_path)
        content = bytearray(book.path.read_bytes())
        place = rng.integers(len(content)) if rng.random() < 0.8 else rng.integers(100)
        content[place] ^= 1 << rng.integers(8)
        book.path.write_bytes(content)
        refused_or_harmless(book, sound)


@pytest.mark.parametrize("seed", seeds(1, 40))
def test_ten_random_bits_of_the_witness_are_each_refused_or_harmless(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        book = copied(sound, tmp_path)
        content = bytearray(book.witness.read_bytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        book.witness.write_bytes(content)
        refused_or_harmless(book, sound)


@pytest.mark.parametrize("seed", seeds(1, 30))
def test_a_ledger_that_is_cut_anywhere_is_refused(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for kind in range(6):
        book = copied(sound, tmp_path)
        size = book.path.stat().st_size
        os.truncate(book.path, [0, int(rng.integers(100)), int(rng.integers(size // 4096)) * 4096][kind]
                    if kind < 3 else int(rng.integers(size)))
        assert refused_or_harmless(book, sound) == "refused"


@pytest.mark.parametrize("seed", seeds(1, 30))
def test_a_witness_that_is_cut_anywhere_is_refused_or_harmless(sound, tmp_path, seed):
    """Its last line may be missing, as after a kill; more may not."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        book = copied(sound, tmp_path)
        content = book.witness.read_bytes()
        at = int(rng.integers(len(content)))
        book.witness.write_bytes(content[:at])
        expected = "as before" if content[:at].count(b"\n") >= content.count(b"\n") - 1 else "refused"
        assert refused_or_harmless(book, sound) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(1, 20))
def test_hits_on_both_files_at_once_are_refused_or_harmless(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        book = copied(sound, tmp_path)
        for path, hits in ((book.path, 40), (book.witness, 3)):
            content = bytearray(path.read_bytes())
            for place in rng.integers(100, len(content), hits):
                content[place] ^= 1 << rng.integers(8)
            path.write_bytes(content)
        refused_or_harmless(book, sound, is_known=False)


# -- other files in its place ---------------------------------------------------------------------


def database(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE log (number INTEGER PRIMARY KEY, entry TEXT)")
        file.execute("CREATE TABLE customers (name TEXT)")
        file.execute("PRAGMA user_version = 3")
        file.commit()


FOREIGN = {"text": lambda path: path.write_text("a list of things to do\n" * 50),
           "one byte": lambda path: path.write_bytes(b"x"), "empty": lambda path: path.write_bytes(b""),
           "database": database, "zeros": lambda path: path.write_bytes(bytes(8192)),
           "folder": lambda path: path.mkdir(), "pipe": os.mkfifo,
           "device": lambda path: path.symlink_to("/dev/zero"),
           "link to nowhere": lambda path: path.symlink_to("nowhere")}


@pytest.mark.parametrize("with_witness", [False, True], ids=["alone", "in place of a ledger"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_is_not_ours_is_refused_and_never_touched(sound, tmp_path, kind, with_witness):
    path = tmp_path / "ledger"
    FOREIGN[kind](path)
    if with_witness:
        shutil.copyfile(sound[0] / "ledger.witness", tmp_path / "ledger.witness")
    files = sorted(tmp_path.iterdir())
    before = path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 20 else None
    for ask in (lambda book: book.odometer(SOME), lambda book: charged(book, SOME, "a", 0.5),
                lambda book: book.release("0" * 16), lambda book: book.known(SOME, PEOPLE)):
        with pytest.raises(InputError) as refusal:
            ask(Ledger(path))
        assert str(tmp_path) not in str(refusal.value)
    assert sorted(tmp_path.iterdir()) == files
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("name", ["", "/proc/version", "/proc/self/mem", "/dev/null", "a\0b", "/sys/x"])
@pytest.mark.parametrize("option", ["--ledger", "--witness"])
def test_names_that_are_no_files_are_refused_in_one_sentence(tmp_path, monkeypatch, capsys, name, option):
    monkeypatch.chdir(tmp_path)
    assert __main__.main(["ledger", "verify", option, name]) == 2
    problem = capsys.readouterr().err
    assert problem.startswith("error: ") and problem.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_names_that_a_database_takes_for_words_are_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory", "a?b#c %41"):
        book = Ledger(name)
        charged(book, SOME, "a", 0.5, total=TOTAL)
        assert (tmp_path / name).is_file() and Ledger(name).odometer(SOME).spent_epsilon == 0.5


def test_an_empty_variable_is_no_other_ledger(monkeypatch):
    monkeypatch.setenv("PRIVACY_CURVES_LEDGER", "")
    with pytest.raises(InputError, match="name of the ledger is empty"):
        Ledger()


def test_the_witness_cannot_be_the_ledger(tmp_path):
    with pytest.raises(InputError, match="cannot be the ledger"):
        Ledger(tmp_path / "a", tmp_path / "a")


# -- deletion, and older copies -------------------------------------------------------------------


def test_a_deleted_ledger_is_rebuilt_from_its_witness_and_every_holder_is_asked(sound, tmp_path):
    book = copied(sound, tmp_path)
    book.path.unlink()
    assert outcome(book, sound) == "refused"
    done = repair.repair(book)
    never_less(book, sound)
    assert done.damaged_file == "" and len(done.unknown) == 2
    same = charged(book, SOME, "mine", 0.1, traces=PEOPLE, same_people=True)
    assert same.odometer.spent_epsilon >= sum(
        one.spent_epsilon for one in {id(o.label): o for o in sound[2].values()}.values()) - 1.25


def test_an_older_copy_is_refused_and_repaired_up_to_what_the_witness_says(sound, tmp_path):
    book = copied(sound, tmp_path)
    shutil.copyfile(sound[0] / "older", book.path)
    assert outcome(book, sound) == "refused"
    done = repair.repair(book)
    never_less(book, sound)
    assert book.odometer(SOME).spent_epsilon == sound[2][SOME].spent_epsilon
    assert sorted(done.more.values()) == [500_000_000, 1_625_000_000]
    assert book.odometer(PUBLIC) is not None  # the witness knows the hash of its data


def test_a_second_older_copy_after_a_repair_is_noticed_as_well(sound, tmp_path):
    book = copied(sound, tmp_path)
    older = book.path.read_bytes()
    shutil.copyfile(sound[0] / "older", book.path)
    repair.repair(book)
    charged(book, SOME, "after", 0.5)
    book.path.write_bytes(older)
    assert outcome(book, sound) == "refused"
    repair.repair(book)
    assert book.odometer(SOME).spent_epsilon == sound[2][SOME].spent_epsilon + 0.5


def test_a_deleted_witness_is_noticed_and_written_again_by_a_repair_alone(sound, tmp_path):
    book = copied(sound, tmp_path)
    whole = book.witness.read_bytes()
    book.witness.unlink()
    assert outcome(book, sound) == "refused"
    done = repair.repair(book)
    assert done.added == whole.count(b"\n") and book.witness.read_bytes() == whole
    assert outcome(book, sound) == "as before"


def test_an_older_copy_of_both_files_is_not_noticed_as_the_documents_say(sound, tmp_path):
    folder = tmp_path / "ledger"
    book = Ledger(folder)
    charged(book, SOME, "a", 0.5, total=TOTAL)
    older = book.path.read_bytes(), book.witness.read_bytes()
    charged(book, SOME, "b", 0.5)
    book.path.write_bytes(older[0])
    book.witness.write_bytes(older[1])
    assert book.odometer(SOME).spent_epsilon == 0.5


def test_a_clock_that_is_set_back_changes_nothing_but_the_time_that_is_noted(sound, tmp_path, monkeypatch):
    class Past(ledger.datetime):
        @classmethod
        def now(cls, zone=None):
            return cls(1999, 1, 1, tzinfo=zone)

    book = copied(sound, tmp_path)
    monkeypatch.setattr(ledger, "datetime", Past)
    receipt = charged(book, SOME, "past", 0.5)
    assert receipt.at.startswith("1999") and receipt.odometer.spent_epsilon == 1.75
    assert book.odometer(SOME).entries[-1].name == "past"


def test_a_repair_that_somebody_made_up_is_noticed_by_the_totals_of_the_witness(sound, tmp_path):
    """With the ledger's own key: a new log that calls all lines settled, and adds its own line."""
    book = copied(sound, tmp_path)
    seen = witness.read(book.witness)
    with closing(sqlite3.connect(book.path)) as file:
        log = sealed_log.OpenLog(file)
        log.read()
        first = log.entries[0].entry
        file.execute("DELETE FROM log")
        log.entries = []
        log.add(**first)
        log.add(kind="repair", at="now", id="0" * 16, label="nobody", spent=[0, 0.0], total=[0, 0.0],
                joined=[], settled=[[one.number, one.seal] for one in seen.lines])
        file.commit()
        forged = log.entries[-1]
    assert outcome(book, sound) == "refused"
    witness.append(book.witness, [sealed_log.line_for(forged)])
    assert outcome(book, sound) == "refused"
    repair.repair(book)
    never_less(book, sound)


# -- what lies beside it --------------------------------------------------------------------------


def hot(book, name):
    """Leave a journal as a process does that is killed in the middle of a transaction."""
    with closing(sqlite3.connect(book.path, isolation_level=None)) as file:
        file.execute("PRAGMA cache_size = 1")
        file.execute("BEGIN IMMEDIATE")
        for k in range(60):
            file.execute("INSERT INTO kept VALUES (?, ?)", (f"{name} {k}", os.urandom(3000)))
        journal = Path(f"{book.path}-journal").read_bytes()
        half = book.path.read_bytes()
        file.execute("ROLLBACK")
    return half, journal


def test_a_journal_that_a_kill_left_undoes_what_was_half_written(sound, tmp_path):
    book = copied(sound, tmp_path)
    half, journal = hot(book, "half")
    book.path.write_bytes(half)
    Path(f"{book.path}-journal").write_bytes(journal)
    assert len(half) > 4096 * 20
    assert outcome(book, sound) == "as before"
    assert not Path(f"{book.path}-journal").exists()


def test_a_journal_of_another_ledger_does_not_touch_this_one(sound, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_file, "_JOURNAL_PATIENCE", 0.0)
    other = Ledger(tmp_path / "other")
    charged(other, SOME, "a", 0.5, total=TOTAL)
    _, journal = hot(other, "theirs")
    book = copied(sound, tmp_path)
    before = book.path.read_bytes()
    Path(f"{book.path}-journal").write_bytes(journal)
    with pytest.raises(InputError, match=r"journal.*does not belong"):
        book.odometer(SOME)
    assert book.path.read_bytes() == before
    repair.repair(book)
    never_less(book, sound)
    assert not Path(f"{book.path}-journal").exists()


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_write_ahead_log_beside_the_ledger_is_refused(sound, tmp_path, suffix):
    book = copied(sound, tmp_path)
    before = book.path.read_bytes()
    Path(f"{book.path}{suffix}").write_bytes(b"x" * 4096)
    assert outcome(book, sound) == "refused"
    assert book.path.read_bytes() == before


def test_a_trigger_or_table_that_somebody_added_is_noticed(sound, tmp_path):
    for statement in ("CREATE TABLE notes (text TEXT)", "CREATE TRIGGER t AFTER INSERT ON log BEGIN "
                      "DELETE FROM kept; END", "CREATE VIEW v AS SELECT 1",
                      "ALTER TABLE log ADD COLUMN more TEXT"):
        book = copied(sound, tmp_path)
        with closing(sqlite3.connect(book.path)) as file:
            file.execute(statement)
        assert outcome(book, sound) == "refused"


@pytest.mark.parametrize("edit", [
    "DELETE FROM facts", "UPDATE facts SET value = 'text' WHERE name = 'salt'",
    "UPDATE facts SET value = 7 WHERE name = 'key'", "UPDATE log SET seal = 'text' WHERE number = 2",
    "UPDATE log SET entry = x'00' WHERE number = 2", "UPDATE log SET entry = 17 WHERE number = 3",
    "UPDATE kept SET content = 'text'", "DELETE FROM kept", "DROP TABLE kept",
    """UPDATE log SET entry = replace(entry, '"epsilon": 500000000', '"epsilon": "half"')"""])
def test_text_for_numbers_and_missing_keys_are_a_sentence_and_repaired(sound, tmp_path, edit):
    book = copied(sound, tmp_path)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute(edit)
        file.commit()
    assert refused_or_harmless(book, sound) == "refused"


def test_a_folder_that_cannot_be_written_is_a_sentence(sound, tmp_path, monkeypatch):
    """As root may write anywhere, the refusal of the system is played."""
    book = copied(sound, tmp_path)

    def refuse(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(ledger_file.tempfile, "mkstemp", refuse)
    with pytest.raises(InputError, match="cannot be written"):
        charged(Ledger(tmp_path / "new"), SOME, "a", 0.5, total=TOTAL)
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(witness, "append", refuse)
    with pytest.raises(InputError, match="cannot be written"):
        charged(book, SOME, "a", 0.5)


# -- a ledger of the version before ---------------------------------------------------------------

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger_version_3.sqlite3"


@pytest.fixture
def early(tmp_path, costly_guesses):
    """What version 0.2.0 wrote, with the hashes of that time."""
    shutil.copyfile(GOLDEN, tmp_path / "ledger")
    shutil.copyfile(f"{GOLDEN}.witness", tmp_path / "ledger.witness")
    return Ledger(tmp_path / "ledger")


def test_a_ledger_of_the_version_before_is_taken_over_with_everything_in_it(early):
    some, public = early.odometer(SOME), early.odometer(PUBLIC)
    assert [(entry.name, entry.state) for entry in some.entries] == [
        ("first", "released"), ("killed", "unfinished"), ("copy", "released")]
    assert (some.spent_epsilon, some.total, public.spent_epsilon) == (1.75, Budget(3.0, 1e-3), 1.5)
    assert some.tight == Budget(1.655454376865066, 1e-6) and some == early.odometer(COPY)
    assert early.known(b"new" * 10, PEOPLE).share == 1.0
    with pytest.raises(InputError, match="has this name already"):
        charged(early, SOME, "killed", 0.5)
    early.store(charged(early, SOME, "new", 0.5), b"noise")
    assert early.odometer(SOME).spent_epsilon == 2.25
    assert repair.verify(early).problem is None


def test_what_an_old_witness_knows_is_charged_and_what_it_does_not_leaves_nothing(early):
    """Its lines name neither the data nor who was joined to whom."""
    os.truncate(early.path, 0)
    done = repair.repair(early)
    assert done.closed and all(book.left <= 0 for book in done.odometers)
    assert early.known(SOME, PEOPLE).odometer.spent_epsilon >= 3.25
    with pytest.raises(InputError, match="seem to be in the ledger"):
        charged(early, SOME, "again", 0.1, traces=PEOPLE)


@pytest.mark.parametrize("seed", seeds(1, 10))
def test_bits_of_a_ledger_of_the_version_before_are_refused_or_harmless(early, seed):
    rng, whole, lines = np.random.default_rng(seed), early.path.read_bytes(), early.witness.read_bytes()
    for _ in range(6):
        content = bytearray(whole)
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        early.path.write_bytes(content)
        early.witness.write_bytes(lines)
        try:
            now = early.odometer(SOME)
            assert now is not None and (now.spent_epsilon, now.left) == (1.75, 1.25)
        except InputError:
            repair.repair(early)
            now = early.odometer(SOME) or early.known(SOME, PEOPLE).odometer
            assert now.spent_epsilon >= 1.75 and now.left <= 1.25


# -- the command ----------------------------------------------------------------------------------


def test_verify_says_in_words_what_is_right_or_wrong(sound, tmp_path, capsys):
    book = copied(sound, tmp_path)
    command = ["ledger", "verify", "--ledger", str(book.path)]
    assert __main__.main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("Right: all") and "ε = 1.25 of 3" in out
    assert "again (charged, never drawn: ask for it with the same settings" in out
    assert "closed (charged, lost)" in out
    os.truncate(book.path, 0)
    assert __main__.main(command) == 1
    assert capsys.readouterr().out.startswith("Wrong: The ledger is empty")
    assert __main__.main(["ledger", "repair", "--ledger", str(book.path)]) == 0
    out = capsys.readouterr().out
    assert "kept beside it as ledger.damaged-" in out and "asked whether they are the same" in out
    assert __main__.main(command) == 0
    assert __main__.main(["ledger", "verify", "--ledger", str(tmp_path / "none")]) == 0
    assert "no ledger yet" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_nothing_is_repaired_where_nothing_is_known(tmp_path, capsys):
    (tmp_path / "ledger").write_bytes(b"")
    assert __main__.main(["ledger", "repair", "--ledger", str(tmp_path / "ledger")]) == 2
    assert "nothing is known" in capsys.readouterr().err
    database(tmp_path / "theirs")
    before = (tmp_path / "theirs").read_bytes()
    shutil.copyfile(tmp_path / "theirs", tmp_path / "copy")
    assert __main__.main(["ledger", "repair", "--ledger", str(tmp_path / "theirs")]) == 2
    assert (tmp_path / "theirs").read_bytes() == before


def test_a_sound_ledger_is_not_repaired(sound, tmp_path, capsys):
    book = copied(sound, tmp_path)
    assert __main__.main(["ledger", "repair", "--ledger", str(book.path)]) == 0
    assert "Nothing to repair" in capsys.readouterr().out
    assert outcome(book, sound) == "as before"


def test_rows_that_the_witness_does_not_explain_leave_nothing_for_anybody(sound, tmp_path):
    book = copied(sound, tmp_path)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute("DELETE FROM log WHERE number = 6")
        file.commit()
    book.witness.unlink()
    done = repair.repair(book)
    assert done.closed and all(one.left <= 0 for one in done.odometers)
    with pytest.raises(InputError, match="seem to be in the ledger"):
        charged(book, b"anybody" * 4, "new", 0.1, total=TOTAL)


def test_what_was_drawn_can_still_be_made_again_after_a_repair(sound, tmp_path):
    book = copied(sound, tmp_path)
    shutil.copyfile(sound[0] / "older", book.path)
    repair.repair(book)
    assert book.release(sound[1]).messages == bytes(range(256)) * 8
    assert [entry.state for entry in book.odometer(SOME).entries] == ["drawn", "closed", "lost"]
