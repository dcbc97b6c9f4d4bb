"""What can still be read of a damaged ledger, row by row, on a copy of it.

A row is *intact* if its seal follows from its text and the seal stored with the row before it; one
that reads but whose seal does not is taken as evidence of what was spent and of nothing else.
"""

from __future__ import annotations

import hmac
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.release import ledger_file
from engine.release.sealed_log import checked_entry, digest, sealed

_BEYOND = 64  # rows that are looked for behind the last one that is known of
_FAULTS = (sqlite3.Error, UnicodeError, MemoryError)  # of reading a damaged file
_OURS = {"log", "releases"}  # of this version and of the first ones


@dataclass
class Salvage:
    """Rows of a damaged ledger that can be read.

    Attributes
    ----------
    entries : dict of int to dict
        Plain values by number.
    intact : set of int
        Numbers whose seals hold.
    contents : dict of str to bytes
        What entries refer to, by its digest.
    key, salt : bytes or None
        Of seals and hashes of people, and of hashes of data.
    is_foreign : bool
        Whether the file is somebody else's sound database.
    """

    entries: dict[int, dict[str, Any]] = field(default_factory=dict)
    intact: set[int] = field(default_factory=set)
    contents: dict[str, bytes] = field(default_factory=dict)
    key: bytes | None = None
    salt: bytes | None = None
    is_foreign: bool = False

    @property
    def knows_salt(self) -> bool:
        """Whether the salt is that of the hashes of data."""
        return (self.salt is not None and 1 in self.intact
                and self.entries[1].get("salt") == digest(self.salt))

    @property
    def knows_key(self) -> bool:
        """Whether the key is that of the hashes of people."""
        return bool(self.intact)

    def lost(self, last_number: int) -> set[int]:
        """Numbers of rows up to `last_number`, or the last that can be read, that are not intact.

        Parameters
        ----------
        last_number : int
            A number of rows that there were at least.
        """
        return set(range(1, max([last_number, *self.entries]) + 1)) - self.intact


def salvage(path: Path, last_number: int) -> Salvage:
    """Read what can be read; the file itself is only copied.

    Parameters
    ----------
    path : Path
        Of the ledger; there may be none.
    last_number : int
        A number of rows that there were at least.
    """
    if not path.exists() or path.stat().st_size == 0:
        return Salvage()
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".trial", dir=path.parent))
    try:
        copy = folder / "ledger"
        shutil.copyfile(path, copy)
        if _is_foreign(copy):
            return Salvage(is_foreign=True)
        _mend_head(copy)
        return _rows_of(copy, last_number)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connected(copy: Path) -> sqlite3.Connection:
    file = sqlite3.connect(copy, isolation_level=None)
    file.text_factory = lambda text: text.decode(errors="replace")
    return file


def _is_foreign(copy: Path) -> bool:
    """Whether it is a sound database without the tables of a ledger."""
    file = _connected(copy)
    try:
        is_sound = file.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
        tables = {name for name, in file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")}
        return is_sound and not _OURS & tables
    except _FAULTS:
        return False
    finally:
        file.close()


def _mend_head(copy: Path) -> None:
    """Write what the head of every ledger says, so that a hit there does not hide all rows."""
    with copy.open("r+b") as stream:
        head = stream.read(100)
        if len(head) == 100:
            stream.seek(0)
            stream.write(ledger_file.mended(head))


def _rows_of(copy: Path, last_number: int) -> Salvage:
    rescued = Salvage()
    file = _connected(copy)
    try:
        with suppress(*_FAULTS):
            file.execute("PRAGMA journal_mode = OFF")
        facts = dict(_readable(file, "SELECT name, value FROM facts WHERE rowid = ?", range(1, 9)))
        key, salt = facts.get("key"), facts.get("salt")
        rescued.key = key if isinstance(key, bytes) else None
        rescued.salt = salt if isinstance(salt, bytes) else None
        _read_log(file, rescued, max(last_number, _last(file, "log")) + _BEYOND)
        for table in ("kept", "sketches"):
            rows = _readable(file, f"SELECT rowid, * FROM {table} WHERE rowid = ?",
                             range(1, _last(file, table) + 1))
            rescued.contents |= {digest(row[2]): row[2] for row in rows
                                 if isinstance(row[2], bytes)}
    finally:
        file.close()
    return rescued


def _last(file: sqlite3.Connection, table: str) -> int:
    """The largest number of a row, or many where it cannot be read."""
    try:
        last = file.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # no such table
    except _FAULTS:
        return 10 * _BEYOND
    return min(int(last or 0), 1 << 20)


def _readable(file: sqlite3.Connection, query: str, rows: Iterable[int]) -> list[tuple[Any, ...]]:
    """Rows one by one; those that cannot be read are left out."""
    records = []
    for row in rows:
        with suppress(*_FAULTS):
            records += file.execute(query, (row,)).fetchall()
    return records


def _read_log(file: sqlite3.Connection, rescued: Salvage, last_number: int) -> None:
    seals: dict[int, bytes] = {0: b""}
    for number, text, seal in _readable(
            file, "SELECT number, entry, seal FROM log WHERE number = ?",
                                        range(1, last_number + 1)):
        if isinstance(seal, bytes):
            seals[number] = seal
        if not isinstance(text, str):
            continue
        with suppress(InputError):
            rescued.entries[number] = checked_entry(text)
        before = seals.get(number - 1)
        if (number in rescued.entries and rescued.key is not None and before is not None
                and hmac.compare_digest(sealed(rescued.key, before, number, text),
                                        seals.get(number, b""))):
            rescued.intact.add(number)
