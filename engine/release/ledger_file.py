"""The ledger's SQLite file: made whole, opened with suspicion, never another program's.

A ledger is made under another name, with its tables and keys, and only then given its own; so a
ledger is never empty, and an empty file in its place was cut off. Before SQLite may look at a file
its first hundred bytes must say that it is ours: somebody else's database gets no table, no lock
and no journal of us. After that its tables must be those of its version, and SQLite's own check of
all pages must pass.

What lies beside it
-------------------
A process that is killed in the middle of a transaction leaves a rollback journal, with which SQLite
undoes what was half written at the next opening. It believes any journal of that name, also one
that somebody put there with a copy of another ledger. So a journal is first tried on a copy of both
files, and only if that gives a ledger that can be believed may it touch the real one. A write-ahead
log is never ours and is refused.

POSIX forgets all locks of a process on a file when any handle to that file is closed; looking at
the first bytes would drop those of another thread. So within one process ledgers are opened one
after the other.
"""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from engine.core.errors import InputError
from engine.release.folder import to_disk

VERSION = 5  # 1 had no ρ, 2 no seals, 3 no messages and no application, 4 no people
_PROGRAM = 0x50724300  # with the version: whose database it is, in the file's head
APPLICATION = _PROGRAM + VERSION
PATIENCE = 30.0  # seconds that a writer waits for others
_HEAD, _MAGIC = 100, b"SQLite format 3\x00"
_STEP = 0.02  # seconds between two looks at a journal that may be at work
_JOURNAL_PATIENCE = 5.0
_NEW, _TRIAL = ".new", ".trial"  # ends of names of what is not a ledger yet, or a copy of one
_turn = threading.RLock()

SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE log (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, seal BLOB NOT NULL);
CREATE TABLE kept (digest TEXT PRIMARY KEY, content BLOB NOT NULL);
"""
_FACTS = ("name", "value")
_LOG = ("number", "entry", "seal")
_EARLY_RELEASES = ("id", "fingerprint", "at", "name", "what", "epsilon", "delta", "is_finished")
_EARLY_SETS = ("fingerprint", "label", "total_epsilon", "total_delta")
_TABLES: dict[int, dict[str, tuple[str, ...]]] = {
    1: {"facts": _FACTS, "data_sets": _EARLY_SETS, "releases": _EARLY_RELEASES},
    2: {
        "facts": _FACTS,
        "data_sets": (*_EARLY_SETS, "tight_delta"),
        "releases": (*_EARLY_RELEASES, "rho"),
    },
    3: {"facts": _FACTS, "log": _LOG, "sketches": ("digest", "hashes")},
    4: {"facts": _FACTS, "log": _LOG, "kept": ("digest", "content")},
    VERSION: {"facts": _FACTS, "log": _LOG, "kept": ("digest", "content")},
}

WHAT_TO_DO = (
    "Nothing was published. Put back the newest copy of the ledger. If there is none, "
    "“python -m engine ledger rebuild” makes one from the witness, which never lowers "
    "what was spent."
)
Trial = Callable[[sqlite3.Connection], object]


class Damaged(InputError):
    """The ledger or its witness is not as it was left, so what was spent is not known from it."""


def changed() -> Damaged:
    """Make the error for a ledger that cannot be trusted."""
    return Damaged(
        "The ledger was changed by other means than a release, so what was spent is not known.",
        field="ledger",
        hint=WHAT_TO_DO,
    )


def create(path: Path, fill: Callable[[sqlite3.Connection], object]) -> None:
    """Make a ledger with its tables and what `fill` adds; one that another made meanwhile stays."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = write_aside(path, fill)
    try:
        _name(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    to_disk(path.parent)


def tidy(path: Path) -> None:
    """Remove what processes left that were killed while they made or tried a ledger.

    Whoever is making one at this moment finds that another was faster, or tries once more.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.????????.*"):
        if left.suffix == _NEW:
            left.unlink(missing_ok=True)
        elif left.suffix == _TRIAL:
            shutil.rmtree(left, ignore_errors=True)


def write_aside(path: Path, fill: Callable[[sqlite3.Connection], object]) -> Path:
    """Write a whole ledger under a name of its own in the same folder, for its owner alone."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_NEW, dir=path.parent)
    os.close(handle)
    file = sqlite3.connect(name, isolation_level=None)
    try:
        file.execute("PRAGMA journal_mode = MEMORY")  # nobody reads it before it is whole
        file.execute("PRAGMA synchronous = EXTRA")
        file.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";"):
            file.execute(statement)
        file.execute(f"PRAGMA application_id = {APPLICATION}")
        file.execute(f"PRAGMA user_version = {VERSION}")
        fill(file)
        file.execute("COMMIT")
    except BaseException:
        file.close()
        os.unlink(name)
        raise
    file.close()
    return Path(name)


def replace(aside: Path, path: Path) -> None:
    """Put a whole ledger of the same folder in the place of another, durably."""
    aside.replace(path)
    to_disk(path.parent)


def _name(aside: Path, path: Path) -> None:
    """Give a finished file its name unless that is taken; never over a ledger of somebody else."""
    try:
        os.link(aside, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links: an empty file reserves the name
        if not aside.exists() and path.exists():
            return  # another was faster, and has tidied up
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return
        aside.replace(path)


# -- opening --------------------------------------------------------------------------------------


@contextmanager
def opened(path: Path, trial: Trial) -> Iterator[sqlite3.Connection]:
    """Open a connection that is safe against power loss; every statement commits by itself.

    `trial` reads a ledger and raises what is wrong with it. It runs on a copy if a journal lies
    beside the ledger.
    """
    with _turn:
        version = _check_head(path)
        _check_beside(path, trial)
        file = _connected(path)
        try:
            _check_pages(file, version)
            yield file
        finally:
            with suppress(sqlite3.Error):
                file.rollback()  # also where somebody still holds a half-read query
            file.close()


def _check_head(path: Path) -> int:
    """Return the version of a ledger from its first bytes; refuse another or an empty file."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if not head:
        raise Damaged(
            "The ledger is empty, which no ledger ever is: it was cut off, or another "
            "file was put in its place.",
            field="ledger",
            hint=WHAT_TO_DO,
        )
    if len(head) < _HEAD or not head.startswith(_MAGIC):
        raise _not_ours()
    (version,) = struct.unpack_from(">i", head, 60)
    (application,) = struct.unpack_from(">I", head, 68)
    if VERSION < version < 256 and application == _PROGRAM + version:
        raise InputError(
            "The ledger was made by a newer version of this program.",
            field="ledger",
            hint="Use that version. Nothing was published or touched.",
        )
    if (application, version) not in {
        (APPLICATION, VERSION),
        (_PROGRAM + 4, 4),
        (0, 1),
        (0, 2),
        (0, 3),
    }:
        raise _not_ours()
    if head[18:20] != b"\x01\x01":  # a ledger never has a write-ahead log
        raise changed()
    return int(version)


def _not_ours() -> Damaged:
    return Damaged(
        "The file in the place of the ledger is none of this program, or its head is "
        "damaged; it was not touched.",
        field="ledger",
        hint="Nothing was published. Name another file if this is not the ledger; "
        f"else: {WHAT_TO_DO.removeprefix('Nothing was published. ')}",
    )


def _check_beside(path: Path, trial: Trial) -> None:
    """Let no journal touch the ledger but one that a killed writer of it left.

    A journal may also belong to a writer who is at work; then it is gone in a moment.
    """
    for suffix in ("-wal", "-shm"):
        if os.path.lexists(f"{path}{suffix}"):
            raise InputError(
                f"Beside the ledger lies a file of another database, with its name "
                f"and “{suffix}” at the end.",
                field="ledger",
                hint="Nothing was published or touched. Move that file away.",
            )
    end = time.monotonic() + _JOURNAL_PATIENCE
    while _has_journal(path):
        if _holds_on_copy(path, trial):
            return
        if time.monotonic() > end:
            raise Damaged(
                "Beside the ledger lies a journal, with its name and “-journal” at the end, that "
                "does not belong to it.",
                field="ledger",
                hint="Nothing was published or touched. "
                "Move that file away if it came with another copy; else put back the newest copy "
                "of the ledger without it.",
            )
        time.sleep(_STEP)


def _has_journal(path: Path) -> bool:
    try:
        return os.stat(f"{path}-journal").st_size > 0
    except FileNotFoundError:
        return False


def _holds_on_copy(path: Path, trial: Trial) -> bool:
    """True if the ledger with its journal applied passes the trial, on a copy of both."""
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=_TRIAL, dir=path.parent))
    copy = folder / "ledger"
    try:
        shutil.copyfile(path, copy)
        shutil.copyfile(f"{path}-journal", f"{copy}-journal")
        file = _connected(copy)
        try:
            _check_pages(file, _check_head(copy))
            trial(file)
        finally:
            file.close()
        return True
    except FileNotFoundError:  # its writer has ended meanwhile
        return not _has_journal(path)
    except (InputError, sqlite3.Error, UnicodeDecodeError, MemoryError):
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connected(path: Path) -> sqlite3.Connection:
    """Connect to an existing file: SQLite must not create it or interpret its name."""
    address = f"file:{quote(os.path.abspath(path))}?mode=rw"
    file = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    for setting in (
        "synchronous = EXTRA",
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "secure_delete = ON",
    ):
        file.execute(f"PRAGMA {setting}")
    return file


def _check_pages(file: sqlite3.Connection, version: int) -> None:
    """Check all pages, and that the tables are those of this version, or one that came after it.

    The head was checked before; another process may have taken the ledger over since.
    """
    file.execute("BEGIN")  # all at one moment
    actual = file.execute("PRAGMA user_version").fetchone()[0]  # another may have taken it over
    kinds = file.execute(
        "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    columns = {
        name: tuple(row[1] for row in file.execute(f'PRAGMA table_info("{name}")'))
        for kind, name in kinds
        if kind == "table" and name in _TABLES.get(actual, {})
    }
    if len(kinds) != len(columns) or columns != _TABLES.get(actual) or actual < version:
        raise changed()
    if file.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise changed()
    file.execute("COMMIT")


def is_foreign(path: Path) -> bool:
    """True for a sound database without the tables of a ledger; only a copy is opened."""
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=_TRIAL, dir=path.parent))
    try:
        shutil.copyfile(path, folder / "ledger")
        file = sqlite3.connect(folder / "ledger")
        try:
            tables = {
                name
                for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            is_sound = file.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
            return is_sound and bool(tables) and not tables & {"facts", "data_sets"}
        finally:
            file.close()
    except (OSError, sqlite3.Error, UnicodeDecodeError):
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
