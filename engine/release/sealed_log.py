"""The file of the ledger: entries in SQLite that are only ever added, each sealed with all before.

Seals
-----
Entry k has the seal HMAC(key, seal of entry k − 1, k, text of entry k), and the key stands in the
same file. Whatever is changed, taken out or put in by other means than this module breaks the
seals from there on, and a broken log can be neither read nor added to. This notices every edit by
somebody who does not look for the key. Who does can seal a false log anew, and who deletes the last
entries leaves the others sealed: both are noticed by the witness.

Witness
-------
A second file, of plain text, gets one line for each release: its number, its seal, and the running
total of the people it is about. Put it where the ledger's own backups and accidents do not reach
it, best on a medium that can only be appended to. The log must contain every line of the witness:
a log that was rolled back to an older copy, deleted, replaced or sealed anew does not, and refuses.
The other way round, lines that the witness lacks are added to it before the next charge, because a
process can be killed between the two files. So a witness that is deleted is written anew, and
nobody notices; whoever can undo both files at once undoes the record of what was spent.

Readers look at the witness first and at the log after it, so that a line in between is no alarm.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import InputError

_PATIENCE = 30.0  # seconds that a writer waits for others
_VERSION = 3  # 1 had no ρ, 2 no seals
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE log (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, seal BLOB NOT NULL);
CREATE TABLE sketches (digest TEXT PRIMARY KEY, hashes BLOB NOT NULL);
"""
_LINE = re.compile(r"(\d+) ([0-9a-f]{64}) ")
_WHAT_TO_DO = ("Nothing was published. Put back the newest copy of the ledger. If there is none, "
               "publish nothing more about the people it was about, and begin a new ledger with a "
               "new witness for others.")


@dataclass(frozen=True)
class Sealed:
    """One entry of the log: plain values under a number, and its seal."""

    number: int
    entry: Mapping[str, Any]
    seal: bytes


class OpenLog:
    """The log while its file is open: the entries so far, the keys, and the way to add one."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file
        facts = dict(file.execute("SELECT name, value FROM facts"))
        if not {"key", "salt"} <= set(facts):
            raise _broken()
        self.key: bytes = facts["key"]
        self.salt: bytes = facts["salt"]
        self.entries: list[Sealed] = []

    def read(self) -> None:
        """Read all entries, as they stand at this moment.

        Raises
        ------
        InputError
            If a seal is broken.
        """
        self.entries, seal = [], b""
        rows = self._file.execute("SELECT number, entry, seal FROM log ORDER BY number")
        for expected, (number, text, stored) in enumerate(rows, start=1):
            seal = _seal(self.key, seal, expected, text)
            if number != expected or not hmac.compare_digest(seal, bytes(stored)):
                raise _broken()
            self.entries.append(Sealed(number, json.loads(text), seal))
        if not self.entries or self.entries[0].entry.get("salt") != _digest(self.salt):
            raise _broken()

    def add(self, **entry: Any) -> int:
        """Add an entry and return its number; whoever has it open decides when it is on disk."""
        text = json.dumps(entry, ensure_ascii=False, sort_keys=True, allow_nan=False)
        last = self.entries[-1] if self.entries else Sealed(0, {}, b"")
        seal = _seal(self.key, last.seal, last.number + 1, text)
        self._file.execute("INSERT INTO log VALUES (?, ?, ?)", (last.number + 1, text, seal))
        self.entries.append(Sealed(last.number + 1, json.loads(text), seal))
        return last.number + 1

    def keep(self, hashes: bytes) -> str:
        """Keep a sketch beside the log and return the digest by which an entry names it."""
        digest = _digest(hashes)
        self._file.execute("INSERT OR IGNORE INTO sketches VALUES (?, ?)", (digest, hashes))
        return digest

    def kept(self, digest: str) -> bytes:
        """The sketch of that digest.

        Raises
        ------
        InputError
            If it is missing or was changed.
        """
        row = self._file.execute("SELECT hashes FROM sketches WHERE digest = ?",
                                 (digest,)).fetchone()
        if row is None or _digest(row[0]) != digest:
            raise _broken()
        return bytes(row[0])


class SealedLog:
    """The log and its witness as files; the log is made when it is first written to.

    Raises
    ------
    InputError
        From every method, if a file cannot be read or written, if the log was changed by other
        means, or if it lacks what its witness lists.
    """

    def __init__(self, path: Path, witness: Path) -> None:
        self.path, self.witness = path, witness

    def exists(self) -> bool:
        """Whether there is a log; without one there must be no lines of a witness either."""
        with _refusals():
            lines = self._witnessed()
            if lines and not self.path.exists():
                raise _behind()
            return self.path.exists()

    @contextmanager
    def reading(self) -> Iterator[OpenLog]:
        """The log as it stands."""
        with self._open() as file:
            lines, log = self._witnessed(), OpenLog(file)
            log.read()
            _check_witness(log, lines)
            yield log

    @contextmanager
    def writing(self) -> Iterator[OpenLog]:
        """The log while all other writers wait; on disk, if nothing is raised, when this ends."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._open() as file:
            with self._locked(file) as log:
                self._catch_up(log)
                yield log
            with self._locked(file) as log:
                self._catch_up(log)

    @contextmanager
    def _locked(self, file: sqlite3.Connection) -> Iterator[OpenLog]:
        file.execute("BEGIN IMMEDIATE")  # from here on other writers wait
        log = OpenLog(file)
        log.read()
        _check_witness(log, self._witnessed())
        yield log
        file.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection that is safe against power loss; every statement commits by itself."""
        with _refusals():
            lines, is_new = self._witnessed(), not self.path.exists()  # in this order
            if lines and is_new:
                raise _behind()
            file = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            try:
                if is_new:
                    self.path.chmod(0o600)
                file.execute("PRAGMA synchronous = EXTRA")
                _prepare(file)
                yield file
            finally:
                file.close()  # an open transaction is rolled back

    # -- the witness --------------------------------------------------------------------------

    def _witnessed(self) -> dict[int, str]:
        """Number and seal of every line; a line that a power cut left unfinished is none."""
        if not self.witness.exists():
            return {}
        lines = self.witness.read_text("utf-8", errors="replace").splitlines()
        found = [match for line in lines if (match := _LINE.match(line))]
        return {int(match[1]): match[2] for match in found}

    def _catch_up(self, log: OpenLog) -> None:
        """Append a line for every release that has none; nobody else writes at this moment."""
        lines = self._witnessed()
        missing = [one for one in log.entries
                   if one.entry["kind"] == "release" and one.number not in lines]
        if not missing:
            return
        self.witness.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        handle = os.open(self.witness, flags, 0o600)
        try:
            size = os.fstat(handle).st_size
            unfinished = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            text = "\n" * unfinished + "".join(map(_line, missing))
            os.write(handle, text.encode())
            os.fsync(handle)
        finally:
            os.close(handle)


def _line(one: Sealed) -> str:
    entry = one.entry
    return (f"{one.number} {one.seal.hex()} {entry['at']} {entry['label']} "
            f"total epsilon {entry['spent'][0] / 10**9:.9g} delta {entry['spent'][1]:.6g}\n")


def _check_witness(log: OpenLog, lines: Mapping[int, str]) -> None:
    seals = {one.number: one.seal.hex() for one in log.entries}
    if any(seals.get(number) != seal for number, seal in lines.items()):
        raise _behind()


def _broken() -> InputError:
    return InputError("The ledger was changed by other means than a release, so what was spent is "
                      "not known.", field="ledger", hint=_WHAT_TO_DO)


def _behind() -> InputError:
    return InputError("The ledger lacks releases that its witness file lists: it was deleted, "
                      "replaced or set back to an older copy.", field="ledger", hint=_WHAT_TO_DO)


@contextmanager
def _refusals() -> Iterator[None]:
    """What goes wrong with files, in one sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        busy = "locked" in str(problem) or "busy" in str(problem)
        raise InputError(
            "The ledger is in use by others." if busy else "The ledger cannot be used.",
            field="ledger", hint="Nothing was published. " + (
                "Try again in a moment." if busy else
                "Check that the ledger and its witness are where they should be and can be "
                "written.")) from None


# -- seals, and files of earlier versions ---------------------------------------------------------


def _seal(key: bytes, before: bytes, number: int, text: str) -> bytes:
    return hmac.digest(key, before + number.to_bytes(8, "big") + text.encode(), "sha256")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _prepare(file: sqlite3.Connection) -> None:
    """Make the tables and the keys, or take over an earlier version; others may do the same."""
    version = file.execute("PRAGMA user_version").fetchone()[0]
    if version == _VERSION:
        return
    if version > _VERSION:
        raise sqlite3.DatabaseError("made by a newer version")
    file.execute("BEGIN IMMEDIATE")
    version = file.execute("PRAGMA user_version").fetchone()[0]
    if version < _VERSION:  # not yet by another
        for statement in _SCHEMA.split(";"):
            file.execute(statement)
        for name, size in (("salt", 16), ("key", 32)):
            file.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)",
                         (name, secrets.token_bytes(size)))
        log = OpenLog(file)
        log.add(kind="start", salt=_digest(log.salt))
        if version:
            _take_over(file, log)
        file.execute(f"PRAGMA user_version = {_VERSION}")
    file.execute("COMMIT")


def _take_over(file: sqlite3.Connection, log: OpenLog) -> None:
    """Data sets and releases of the versions without seals, in their order, as entries.

    Every data set has a total of its own, as it had; of its people nothing was kept.
    """
    spent: dict[str, list[float]] = {}
    labels: dict[str, str] = {}
    for row in _rows(file, "data_sets", "rowid"):
        labels[row["fingerprint"]] = row["label"]
        log.add(kind="data set", data_set=row["fingerprint"], label=row["label"], people={},
                total=[row["total_epsilon"], row["total_delta"]],
                tight_delta=row.get("tight_delta"))
    for row in _rows(file, "releases", "id"):
        total = spent.setdefault(row["fingerprint"], [0, 0.0])
        total[0] += row["epsilon"]
        total[1] += row["delta"]
        number = log.add(kind="release", data_set=row["fingerprint"], at=row["at"],
                         label=labels[row["fingerprint"]], id=secrets.token_hex(8),
                         name=row["name"], what=row["what"], epsilon=row["epsilon"],
                         delta=row["delta"], rho=row.get("rho"), spent=list(total))
        if row["is_finished"]:
            log.add(kind="finished", release=number)
    file.execute("DROP TABLE releases")
    file.execute("DROP TABLE data_sets")


def _rows(file: sqlite3.Connection, table: str, order: str) -> list[dict[str, Any]]:
    found = file.execute(f"SELECT * FROM {table} ORDER BY {order}")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
