"""A ledger that was hit, cut, exchanged, set back or deleted never gives a fresh or lower budget.

Each damage is either refused with words, or harmless, or makes a release count for everybody; and a
ledger rebuilt from its witness never lowers what anybody spent.
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
from engine.release import key_file, ledger, ledger_file, repair, witness
from engine.release.ledger import Ledger
from tests.heavy import slow
from tests.ledgers import Some, gaussian, pure, spent
from tests.sentences import of_topic

wording = of_topic("release")

SOME = Some([f"id {k}" for k in range(40)], [f"curve {k}" for k in range(40)])
FEWER = Some(SOME.ids[:30])
OTHERS = Some([f"other {k}" for k in range(30)])
NEW = Some(["somebody new"])
KNOWN = (SOME, FEWER, OTHERS)


def charged(book, source, name, epsilon, delta=0.0, **more):
    cost = gaussian(epsilon, delta) if delta else pure(epsilon)
    return book.charge(
        source,
        cost,
        name,
        "what",
        plan=f"plan {name}".encode(),
        requests=(f"request {name}".encode(),),
        **more,
    )


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A ledger of three sets of people, and a released, a charged and a closed release; what
    everybody lost, and an older copy of it."""
    folder = tmp_path_factory.mktemp("sound")
    book = Ledger(folder / "ledger")
    receipt = charged(book, SOME, "first", 0.5, 1e-6, total=Budget(4.0, 1e-3))
    book.store(receipt, bytes(range(256)) * 8)
    charged(book, FEWER, "fewer", 0.25)
    book.lower(Budget(3.0, 1e-4), FEWER)
    shutil.copyfile(book.path, folder / "older")
    book.store(charged(book, OTHERS, "other", 1.5), b"noise" * 50)
    book.close(charged(book, OTHERS, "closed", 0.125))
    charged(book, SOME, "again", 0.5)
    return folder, receipt.release_id, standings(book)


def standings(book):
    """Of everybody: the losses and totals of all shares."""
    return [
        [(share.people, share.loss, share.total) for share in book.standing_of(source).shares]
        for source in KNOWN
    ]


def copied(sound, tmp_path):
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sound[0], folder)
    return Ledger(folder / "ledger")


def outcome(book, sound):
    """Name what a damage does; another total than before, or less spent, fails."""
    _, release_id, before = sound
    try:
        now = standings(book)
    except InputError as refusal:
        assert str(book.path.parent) not in str(refusal)
        with pytest.raises(InputError):
            charged(book, SOME, "more", 0.1)
        return "refused"
    never_less(book, sound)
    try:
        assert book.release(release_id).messages == bytes(range(256)) * 8
    except InputError:
        return "not made again"
    return "as before" if now == before else "for everybody"


def never_less(book, sound):
    """Nobody spent less than before by any sum, or has more of a total."""
    for before, now in zip(sound[2], standings(book), strict=True):
        for part in (
            lambda loss: loss.epsilon,
            lambda loss: loss.delta,
            lambda loss: np.inf if loss.mu_squared is None else loss.mu_squared,
        ):
            assert max(part(loss) for _, loss, _ in now) >= max(part(loss) for _, loss, _ in before)
            assert min(part(loss) for _, loss, _ in now) >= min(part(loss) for _, loss, _ in before)
        assert max(total.epsilon for *_, total in now) <= max(total.epsilon for *_, total in before)


def refused_or_harmless(book, sound):
    """And what was refused can be rebuilt, no cheaper."""
    result = outcome(book, sound)
    if result != "refused":
        return result
    before = book.path.read_bytes() if book.path.is_file() else None
    done = repair.rebuild(book)
    never_less(book, sound)
    assert repair.verify(book).problem is None
    if before is not None and not done.added:
        assert (book.path.parent / done.damaged_file).read_bytes() == before
    if not done.is_incomplete and spent(book, NEW) < 2.9:  # it works
        charged(book, NEW, "new", 0.01)
    assert repair.verify(book).problem is None
    return "refused"


def seeds(fast, every):
    return [k if k < fast else slow(k) for k in range(every)]


# -- hits and cuts --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_ten_random_bits_of_the_ledger_are_each_refused_or_harmless(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        book = copied(sound, tmp_path)
        content = bytearray(book.path.read_bytes())
        place = rng.integers(len(content)) if rng.random() < 0.8 else rng.integers(100)
        content[place] ^= 1 << rng.integers(8)
        book.path.write_bytes(content)
        refused_or_harmless(book, sound)


@pytest.mark.parametrize("seed", seeds(2, 40))
def test_ten_random_bits_of_the_witness_are_each_refused_or_harmless(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        book = copied(sound, tmp_path)
        content = bytearray(book.witness.read_bytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        book.witness.write_bytes(content)
        assert refused_or_harmless(book, sound) in ("refused", "as before")


@pytest.mark.parametrize("seed", seeds(1, 30))
def test_a_ledger_that_is_cut_anywhere_is_refused(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for kind in range(6):
        book = copied(sound, tmp_path)
        size = book.path.stat().st_size
        os.truncate(
            book.path,
            [0, int(rng.integers(100)), int(rng.integers(size // 4096)) * 4096][kind]
            if kind < 3
            else int(rng.integers(size)),
        )
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
        expected = (
            "as before" if content[:at].count(b"\n") >= content.count(b"\n") - 1 else "refused"
        )
        assert refused_or_harmless(book, sound) == expected


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_hits_on_both_files_at_once_leave_nothing_for_anybody(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        book = copied(sound, tmp_path)
        with closing(sqlite3.connect(book.path)) as file:
            file.execute("UPDATE log SET seal = x'00' WHERE number = 3")
            file.commit()
        lines = book.witness.read_bytes().splitlines(keepends=True)
        hit = bytearray(lines[int(rng.integers(len(lines)))])
        gone = bytes(hit)
        hit[int(rng.integers(len(hit) - 1))] ^= 1
        book.witness.write_bytes(b"".join(bytes(hit) if line == gone else line for line in lines))
        done = repair.rebuild(book)
        never_less(book, sound)
        assert done.is_incomplete and book.standing(NEW) == {0.0: 1}


# -- other files in its place ---------------------------------------------------------------------


def database(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE log (number INTEGER PRIMARY KEY, entry TEXT)")
        file.execute("CREATE TABLE customers (name TEXT)")
        file.execute("PRAGMA user_version = 3")
        file.commit()


FOREIGN = {
    "text": lambda path: path.write_text("a list of things to do\n" * 50),
    "one byte": lambda path: path.write_bytes(b"x"),
    "empty": lambda path: path.write_bytes(b""),
    "database": database,
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to nowhere": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("with_witness", [False, True], ids=["alone", "in place of a ledger"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_is_not_ours_is_refused_and_never_touched(sound, tmp_path, kind, with_witness):
    path = tmp_path / "ledger"
    FOREIGN[kind](path)
    if with_witness:
        shutil.copyfile(sound[0] / "ledger.witness", tmp_path / "ledger.witness")
    files = sorted(tmp_path.iterdir())
    before = path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 20 else None
    for ask in (
        lambda book: book.standing(SOME),
        lambda book: charged(book, SOME, "a", 0.5),
        lambda book: book.release("0" * 16),
        lambda book: book.entries(),
    ):
        with pytest.raises(InputError) as refusal:
            ask(Ledger(path))
        assert str(tmp_path) not in str(refusal.value)
    assert sorted(tmp_path.iterdir()) == files
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["", "/proc/version", "/proc/self/mem", "/dev/null", "a\0b", "/sys/x"]
)
@pytest.mark.parametrize("option", ["--ledger", "--witness"])
def test_names_that_are_no_files_are_refused_in_one_sentence(
    tmp_path, monkeypatch, capsys, name, option
):
    monkeypatch.chdir(tmp_path)
    assert __main__.main(["ledger", "verify", option, name]) == 2
    problem = capsys.readouterr().err
    assert problem.startswith("error: ") and problem.count("\n") == 1
    assert not list(tmp_path.iterdir())


ADDRESSES = [
    ":memory:",
    ":",
    "file:x?mode=memory",
    "file:/tmp/x",
    "sqlite:///L",
    "sqlite+pysqlite:////L",
    "~nobody-of-this-name/L",
    "~nobody/L",
]


@pytest.mark.parametrize("name", ADDRESSES)
def test_names_that_say_more_than_a_path_make_no_ledger_witness_or_key(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for door in (lambda: Ledger(name), lambda: Ledger(tmp_path / "ledger", name)):
        with pytest.raises(InputError):
            door()
    for variable in (ledger.VARIABLE, ledger.WITNESS_VARIABLE, key_file.VARIABLE):
        monkeypatch.setenv(variable, name)
        with pytest.raises(InputError) as refused:
            charged(Ledger(), SOME, "a", 0.5)
        assert variable in refused.value.message and name not in str(refused.value)
        monkeypatch.delenv(variable)
    assert not list(tmp_path.iterdir())


def test_a_relative_name_is_taken_from_the_one_who_types_it_and_from_no_variable(
    tmp_path, monkeypatch
):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="folder"):
        Ledger(".")
    book = Ledger("a?b#c %41")
    monkeypatch.chdir(tmp_path / "elsewhere")  # the ledger stays where it was named
    charged(book, SOME, "a", 0.5)
    assert book.path == tmp_path / "a?b#c %41" and spent(Ledger(book.path), SOME) == 0.5
    for variable in (ledger.VARIABLE, ledger.WITNESS_VARIABLE, key_file.VARIABLE):
        for name in ("L", "./L", "../L", "", "0" * 63):
            if name or variable != key_file.VARIABLE:  # an empty one names no key
                monkeypatch.setenv(variable, name)
                with pytest.raises(InputError, match=variable):
                    charged(Ledger(), SOME, "a", 0.5)
        monkeypatch.delenv(variable)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"])
def test_a_folder_of_the_user_that_is_relative_makes_no_ledger(tmp_path, monkeypatch, variable):
    monkeypatch.chdir(tmp_path)
    for name in (ledger.VARIABLE, key_file.VARIABLE, "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(variable, "relative")
    with pytest.raises(InputError):
        charged(Ledger(), SOME, "a", 0.5)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_witness_cannot_be_the_ledger(tmp_path):
    with pytest.raises(InputError, match="cannot be the ledger"):
        Ledger(tmp_path / "a", tmp_path / "a")


# -- deletion, and older copies -------------------------------------------------------------------


def test_a_deleted_ledger_is_rebuilt_from_its_witness_for_everybody(sound, tmp_path):
    book = copied(sound, tmp_path)
    book.path.unlink()
    assert outcome(book, sound) == "refused"
    done = repair.rebuild(book)
    never_less(book, sound)
    assert (done.damaged_file, done.n_releases, done.n_for_everybody) == ("", 5, 5)
    assert spent(book, NEW) == spent(book, SOME) == 2.875


def test_an_older_copy_is_refused_and_its_sets_are_taken_over(sound, tmp_path):
    """The set of the others was not in it: their releases count for everybody."""
    book = copied(sound, tmp_path)
    shutil.copyfile(sound[0] / "older", book.path)
    assert outcome(book, sound) == "refused"
    done = repair.rebuild(book)
    never_less(book, sound)
    assert (done.n_releases, done.n_for_everybody) == (5, 2)
    assert spent(book, NEW) == 1.625 and spent(book, SOME) == 2.875


def test_a_second_older_copy_after_a_rebuild_is_noticed_as_well(sound, tmp_path):
    book = copied(sound, tmp_path)
    older = book.path.read_bytes()
    shutil.copyfile(sound[0] / "older", book.path)
    repair.rebuild(book)
    charged(book, NEW, "after", 0.5)
    book.path.write_bytes(older)
    assert outcome(book, sound) == "refused"
    repair.rebuild(book)
    assert spent(book, NEW) >= 0.5 and repair.verify(book).problem is None
    never_less(book, sound)


def test_a_deleted_witness_is_noticed_and_written_again_from_the_ledger(sound, tmp_path):
    book = copied(sound, tmp_path)
    whole = book.witness.read_bytes()
    book.witness.unlink()
    assert outcome(book, sound) == "refused"
    done = repair.rebuild(book)
    assert done.added == whole.count(b"\n") and book.witness.read_bytes() == whole
    assert outcome(book, sound) == "as before"


def test_a_clock_that_is_set_back_changes_nothing_but_the_time_that_is_noted(
    sound, tmp_path, monkeypatch
):
    class Past(ledger.datetime):
        @classmethod
        def now(cls, zone=None):
            return cls(1999, 1, 1, tzinfo=zone)

    book = copied(sound, tmp_path)
    monkeypatch.setattr(ledger, "datetime", Past)
    assert charged(book, SOME, "past", 0.5).at.startswith("1999")
    assert spent(book, SOME) == 1.75 and book.entries()[-1].name == "past"


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
    charged(other, SOME, "a", 0.5)
    _, journal = hot(other, "theirs")
    book = copied(sound, tmp_path)
    before = book.path.read_bytes()
    Path(f"{book.path}-journal").write_bytes(journal)
    with pytest.raises(InputError, match=r"journal.*does not belong"):
        book.standing(SOME)
    assert book.path.read_bytes() == before
    repair.rebuild(book)
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
    for statement in (
        "CREATE TABLE notes (text TEXT)",
        "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM kept; END",
        "CREATE VIEW v AS SELECT 1",
        "ALTER TABLE log ADD COLUMN more TEXT",
    ):
        book = copied(sound, tmp_path)
        with closing(sqlite3.connect(book.path)) as file:
            file.execute(statement)
        assert outcome(book, sound) == "refused"


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM facts",
        "UPDATE facts SET value = 7 WHERE name = 'check'",
        "UPDATE log SET seal = 'text' WHERE number = 2",
        "UPDATE log SET entry = x'00' WHERE number = 2",
        "UPDATE log SET entry = 17 WHERE number = 3",
        "DROP TABLE kept",
        """UPDATE log SET entry = replace(entry, '"epsilon": 500000000000', '"epsilon": "half"')""",
    ],
)
def test_text_for_numbers_and_missing_facts_are_a_sentence_and_rebuilt(sound, tmp_path, edit):
    book = copied(sound, tmp_path)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute(edit)
        file.commit()
    assert refused_or_harmless(book, sound) == "refused"


def test_sets_and_messages_that_are_gone_count_for_everybody(sound, tmp_path):
    book = copied(sound, tmp_path)
    with closing(sqlite3.connect(book.path)) as file:
        file.execute("DELETE FROM kept")
        file.commit()
    assert outcome(book, sound) == "not made again"
    assert spent(book, NEW) == 2.875


def test_a_folder_that_cannot_be_written_is_a_sentence(sound, tmp_path, monkeypatch):
    """As root may write anywhere, the refusal of the system is played."""
    book = copied(sound, tmp_path)

    def refuse(*_args, **_more):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(ledger_file.tempfile, "mkstemp", refuse)
        with pytest.raises(InputError, match="cannot be written"):
            charged(Ledger(tmp_path / "new"), SOME, "a", 0.5)
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(witness, "append", refuse)
    with pytest.raises(InputError, match="cannot be written"):
        charged(book, SOME, "a", 0.5)


# -- a ledger of version 3 ------------------------------------------------------------------------

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger_version_3.sqlite3"
THEN = Some([f"ids {k}" for k in range(40)])


@pytest.fixture
def early(tmp_path, costly_guesses, monkeypatch):
    """What version 0.2.0 wrote, with the hashes of that time."""
    monkeypatch.setenv("PRIVACY_CURVES_KEY", str(tmp_path / "key"))
    shutil.copyfile(GOLDEN, tmp_path / "ledger")
    shutil.copyfile(f"{GOLDEN}.witness", tmp_path / "ledger.witness")
    return Ledger(tmp_path / "ledger")


def test_a_ledger_of_version_3_is_taken_over_with_everything_in_it(early):
    """Nobody of the other data set was kept, so its release counts for everybody."""
    assert [(entry.name, entry.state) for entry in early.standing_of(THEN).entries] == [
        ("first", "released"),
        ("killed", "unfinished"),
        ("copy", "released"),
        ("other", "released"),
    ]
    assert spent(early, THEN) == 3.25 and early.standing_of(THEN).least.total == Budget(3.0, 1e-3)
    assert spent(early, NEW) == 1.5
    with pytest.raises(InputError, match="40 of 40 children"):
        charged(early, THEN, "new", 0.5)
    charged(early, NEW, "others", 0.5)
    assert repair.verify(early).problem is None


def test_what_an_old_witness_knows_is_charged_to_everybody(early):
    """Its lines name neither the data nor who was joined to whom."""
    os.truncate(early.path, 0)
    done = repair.rebuild(early)
    assert done.n_for_everybody == done.n_releases > 1
    assert spent(early, THEN) == spent(early, NEW) >= 3.25


# -- the command ----------------------------------------------------------------------------------


def test_verify_and_show_say_in_words_what_is_right_or_wrong(sound, tmp_path, capsys):
    book = copied(sound, tmp_path)
    command = ["ledger", "verify", "--ledger", str(book.path)]
    assert __main__.main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("Right: all")
    wording.found("again charged never", out)
    assert "closed (charged, lost)" in out
    assert __main__.main(["ledger", "show", "--ledger", str(book.path)]) == 0
    assert capsys.readouterr().out in out
    os.truncate(book.path, 0)
    assert __main__.main(command) == 1
    wording.found("wrong ledger empty", capsys.readouterr().out)
    assert __main__.main(["ledger", "rebuild", "--ledger", str(book.path)]) == 0
    out = capsys.readouterr().out
    wording.found("kept beside ledger", out)
    wording.found("count everybody", out, 5)
    assert __main__.main(command) == 0
    assert __main__.main(["ledger", "verify", "--ledger", str(tmp_path / "none")]) == 3
    assert "no ledger yet" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_nothing_is_rebuilt_where_nothing_is_known(tmp_path, capsys):
    (tmp_path / "ledger").write_bytes(b"")
    assert __main__.main(["ledger", "rebuild", "--ledger", str(tmp_path / "ledger")]) == 2
    assert "nothing is known" in capsys.readouterr().err
    database(tmp_path / "theirs")
    before = (tmp_path / "theirs").read_bytes()
    assert __main__.main(["ledger", "rebuild", "--ledger", str(tmp_path / "theirs")]) == 2
    assert (tmp_path / "theirs").read_bytes() == before


def test_a_sound_ledger_is_not_rebuilt(sound, tmp_path, capsys):
    book = copied(sound, tmp_path)
    assert __main__.main(["ledger", "rebuild", "--ledger", str(book.path)]) == 0
    assert "Nothing to rebuild" in capsys.readouterr().out
    assert outcome(book, sound) == "as before"
