"""The entries of the ledger: only ever added, each sealed with all before, and seen by a witness.

Seals
-----
Entry k has the seal HMAC(key, seal of entry k − 1, k, text of entry k); the key is in a file of its
own (`engine.release.key_file`). Whatever is changed, taken out or put in by somebody without the
key breaks the seals from there on, and a broken log can be neither read nor added to. What entries
refer to, such as noised messages, is kept beside them under its digest, and checked when it is
used. Who deletes the last entries leaves the others sealed: the witness notices that.

Witness
-------
A second file, of plain text, gets one line for everything that is final (`FINAL`): a charge, a
message or a release that was drawn, a lower total (see `engine.release.witness`). Put it where the
ledger's own backups and accidents do not reach it, best on a medium that can only be appended to.
The log must contain every line of the witness: a log that was rolled back to an older copy, deleted
or replaced does not, and refuses. The other way round, a line that the witness lacks is added to it
before anything else is written, because a process can be killed between the two files. So there is
never more than one, and a witness that lacks more was deleted, cut or exchanged: then, too, nothing
is read or spent until it is put back or completed.

Readers look at the witness first, at the log after it, and at the witness again, so that a line in
between is no alarm. Whoever can undo both files at once, to the same moment or to nothing, undoes
the record of what was spent.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.release import key_file, ledger_file, witness
from engine.release.ledger_file import WHAT_TO_DO, Damaged, changed
from engine.release.witness import Witness, WitnessedRelease

FINAL = ("release", "part", "drawn", "closed", "lower", "rebuilt")  # what the witness lists


@dataclass(frozen=True)
class Sealed:
    """One entry of the log."""

    number: int  # from 1 on
    entry: Mapping[str, Any]  # plain values; "kind" says which
    seal: bytes  # 32 of them, over all entries so far

    @property
    def name(self) -> tuple[int, str]:
        """The name in a line of the witness."""
        return self.number, self.seal.hex()


class OpenLog:
    """The log while its file is open: the entries so far, the key, and how to add one."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file
        facts = dict(file.execute("SELECT name, value FROM facts").fetchall())
        self._check, self.salt = facts.get("check"), facts.get("salt", b"")
        if not isinstance(self._check, str) or not isinstance(self.salt, bytes):
            raise changed()
        key = key_file.key_for(self._check)
        if key is None:
            raise Damaged(
                "The key of this ledger is not on this machine, so nobody in it is known.",
                field="key",
                hint="Nothing was published. Put the key file back. If it is lost, "
                "“python -m engine ledger rebuild” makes a ledger in which every earlier release "
                "counts for everybody.",
            )
        self.key = key
        self.entries: list[Sealed] = []

    def read(self) -> None:
        """Read all entries, as they stand at this moment."""
        self.entries, seal = [], b""
        rows = self._file.execute("SELECT number, entry, seal FROM log ORDER BY number")
        for expected, (number, text, stored) in enumerate(rows.fetchall(), start=1):
            if not (isinstance(text, str) and isinstance(stored, bytes)):
                raise changed()
            seal = sealed(self.key, seal, expected, text)
            if number != expected or not hmac.compare_digest(seal, stored):
                raise changed()
            self.entries.append(Sealed(number, parsed(text), seal))
        if not self.entries or self.entries[0].entry.get("salt") not in (None, digest(self.salt)):
            raise changed()

    def keyed(self, content: bytes) -> str:
        """Compute a digest under the key of the ledger."""
        return key_file.keyed(self.key, content)

    def add(self, **entry: Any) -> int:
        """Add an entry of plain values and return its number; on disk when its transaction is."""
        text = json.dumps(entry, ensure_ascii=False, sort_keys=True, allow_nan=False)
        last = self.entries[-1] if self.entries else Sealed(0, {}, b"")
        seal = sealed(self.key, last.seal, last.number + 1, text)
        self._file.execute("INSERT INTO log VALUES (?, ?, ?)", (last.number + 1, text, seal))
        self.entries.append(Sealed(last.number + 1, json.loads(text), seal))
        return last.number + 1

    def keep(self, content: bytes) -> str:
        """Keep something beside the log and return the digest by which an entry names it."""
        name = digest(content)
        self._file.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (name, content))
        return name

    def content(self, name: str) -> bytes:
        """Read what is kept under that digest."""
        row = self._file.execute("SELECT content FROM kept WHERE digest = ?", (name,)).fetchone()
        if row is None or not isinstance(row[0], bytes) or digest(row[0]) != name:
            raise changed()
        return row[0]


class SealedLog:
    """The log and its witness as files; the log is made when it is first written to.

    Every method refuses files that cannot be read or written, a log that was changed by other
    means, and a log and witness that do not belong together.
    """

    def __init__(self, path: Path, beside: Path) -> None:
        self.path, self.witness = path, beside

    def exists(self) -> bool:
        """True if there is a log; without one the witness must be empty, too."""
        with refusals():
            witnessed = witness.read(self.witness)
            if witnessed and not self.path.exists():
                raise _behind()
            return self.path.exists()

    @contextmanager
    def reading(self) -> Iterator[OpenLog]:
        """Open the log as it stands."""
        with refusals(), ledger_file.opened(self.path, self.trial) as file:
            log = self._read(file)
            yield log

    @contextmanager
    def writing(self) -> Iterator[OpenLog]:
        """Open the log while all other writers wait; it is stored at the end, unless it fails."""
        with refusals():
            if not self.exists():
                ledger_file.create(self.path, begin)
            ledger_file.tidy(self.path)
            with ledger_file.opened(self.path, self.trial) as file:
                with self._locked(file) as log:
                    self._catch_up(log)
                    yield log
                with self._locked(file) as log:
                    self._catch_up(log)

    def trial(self, file: sqlite3.Connection) -> None:
        """Read a ledger, such as a copy, and raise what is wrong; not one of an earlier version."""
        if file.execute("PRAGMA user_version").fetchone()[0] == ledger_file.VERSION:
            log = OpenLog(file)
            log.read()
            self._check_contains(log, witness.read(self.witness))

    @contextmanager
    def _locked(self, file: sqlite3.Connection) -> Iterator[OpenLog]:
        _take_over(file)
        file.execute("BEGIN IMMEDIATE")  # from here on other writers wait
        yield self._read(file, take_over=False)
        file.execute("COMMIT")

    def _read(self, file: sqlite3.Connection, take_over: bool = True) -> OpenLog:
        if take_over:
            _take_over(file)
        before, log = witness.read(self.witness), OpenLog(file)
        log.read()
        self._check_contains(log, before)
        _check_complete(log, witness.read(self.witness))
        return log

    # -- the witness --------------------------------------------------------------------------

    def _check_contains(self, log: OpenLog, witnessed: Witness) -> None:
        """Check that every line names an entry, if only one from before the ledger was rebuilt."""
        settled = {
            (number, seal)
            for logged in log.entries
            for number, seal in logged.entry.get("settled", ())
        }
        if witnessed.names - settled - {logged.name for logged in log.entries}:
            raise _behind()

    def is_witnessed(self, log: OpenLog) -> bool:
        """True if everything final stands in the witness."""
        return not unseen(log, witness.read(self.witness))

    def _catch_up(self, log: OpenLog) -> None:
        """Append a line for everything final that has none; nobody else writes at this moment."""
        missing = unseen(log, witness.read(self.witness))
        if missing:
            witness.append(self.witness, [line_for(logged) for logged in missing])


def line_for(logged: Sealed) -> str:
    """Write the line of the witness for a final entry."""
    entry = logged.entry
    return witness.line(
        logged.number,
        logged.seal,
        WitnessedRelease(
            entry["at"],
            entry["kind"],
            entry["epsilon"],
            entry["delta"],
            entry["mu_squared"],
            tuple(entry["sets"]),
            entry["total"][0],
            entry["total"][1],
            entry["id"],
        ),
    )


def unseen(log: OpenLog, witnessed: Witness) -> list[Sealed]:
    """List final entries without a line, in order; those of earlier ledgers have old ones."""
    names = witnessed.names
    begun = _last(log, "format", "rebuilt")
    return [
        logged
        for logged in log.entries
        if logged.entry["kind"] in FINAL
        and logged.name not in names
        and (logged.number > begun or logged.entry["kind"] == "rebuilt")
    ]


def _last(log: OpenLog, *kinds: str) -> int:
    return max(
        (logged.number for logged in log.entries if logged.entry["kind"] in kinds), default=0
    )


def _check_complete(log: OpenLog, witnessed: Witness) -> None:
    """Check that only the last final entry, or one before a new beginning, lacks its line."""
    exempt, last = _last(log, "format", "taken over", "joined", "rebuilt"), _last(log, *FINAL)
    if any(exempt < logged.number < last for logged in unseen(log, witnessed)):
        raise Damaged(
            "The witness of the ledger lacks lines that were written to it: it was deleted, cut or "
            "exchanged.",
            field="witness",
            hint="Nothing was published. Put it back. If it is "
            "lost, “python -m engine ledger rebuild” writes it anew from the ledger.",
        )


def _behind() -> Damaged:
    return Damaged(
        "The ledger lacks releases that its witness file lists: it was deleted, "
        "replaced or set back to an older copy.",
        field="ledger",
        hint=WHAT_TO_DO,
    )


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors of files into one sentence."""
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeDecodeError, MemoryError) as problem:
        raise _refusal(problem) from None


def _refusal(problem: Exception) -> InputError:
    """Full, busy or forbidden, as SQLite or the system names it; else SQLite says it is damaged."""
    name = getattr(problem, "sqlite_errorname", "")
    number = getattr(problem, "errno", None)
    nothing = "Nothing was published."
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return InputError(
            "The ledger is in use by others.",
            field="ledger",
            hint=f"{nothing} Try again in a moment.",
        )
    if name == "SQLITE_FULL" or number in (errno.ENOSPC, errno.EDQUOT):
        return InputError(
            "The disk of the ledger or of its witness is full.",
            field="ledger",
            hint=f"{nothing} Make room and ask again under the same name: what was "
            "charged already is not charged twice.",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")) or number in (
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
    ):
        return InputError(
            "The ledger or its witness cannot be written.",
            field="ledger",
            hint=f"{nothing} Check who may write these files and their folder.",
        )
    is_outside = name.startswith(("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_NOMEM"))
    if isinstance(problem, UnicodeDecodeError) or (
        isinstance(problem, sqlite3.Error) and (not is_outside or name == "SQLITE_IOERR_SHORT_READ")
    ):
        return changed()
    return InputError(
        "The ledger cannot be used.",
        field="ledger",
        hint=f"{nothing} Check that "
        "the ledger and its witness are where they should be and can be written.",
    )


# -- seals and entries ----------------------------------------------------------------------------


def sealed(key: bytes, before: bytes, number: int, text: str) -> bytes:
    """Seal an entry as it is stored, after another with the seal `before` (HMAC-SHA256)."""
    content = text.encode(errors="surrogatepass")
    return hmac.digest(key, before + number.to_bytes(8, "big") + content, "sha256")


def digest(content: bytes) -> str:
    """Name what is kept beside the log (SHA-256)."""
    return hashlib.sha256(content).hexdigest()


def parsed(text: str) -> dict[str, Any]:
    """Read an entry as plain values."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
        raise changed()
    return entry


def begin(file: sqlite3.Connection, key: bytes | None = None) -> OpenLog:
    """Begin the log of a new ledger with the check value of a key, by default that of new ones."""
    key = key or key_file.own_key()
    file.execute("INSERT INTO facts VALUES ('check', ?)", (key_file.check_value(key),))
    log = OpenLog(file)
    log.add(kind="start", version=ledger_file.VERSION)
    return log


def _take_over(file: sqlite3.Connection) -> None:
    """Make a ledger of an earlier version one of this; another process may do the same."""
    if file.execute("PRAGMA user_version").fetchone()[0] == ledger_file.VERSION:
        return
    from engine.release import earlier_ledgers  # on first use: it reads plans

    file.execute("BEGIN IMMEDIATE")
    if file.execute("PRAGMA user_version").fetchone()[0] < ledger_file.VERSION:
        earlier_ledgers.take_over(file)
        file.execute(f"PRAGMA application_id = {ledger_file.APPLICATION}")
        file.execute(f"PRAGMA user_version = {ledger_file.VERSION}")
    file.execute("COMMIT")
