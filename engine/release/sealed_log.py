"""The entries of the ledger: only ever added, each sealed with all before, and seen by a witness.

Seals
-----
Entry k has the seal HMAC(key, seal of entry k − 1, k, text of entry k), and the key stands in the
same file. Whatever is changed, taken out or put in by other means than this module breaks the
seals from there on, and a broken log can be neither read nor added to. What entries refer to, such
as noised messages, is kept beside them under its digest and checked with them. This notices every
edit by somebody who does not look for the key. Who does can seal a false log anew, and who deletes
the last entries leaves the others sealed: both are noticed by the witness.

Witness
-------
A second file, of plain text, gets one line for everything that is final (`FINAL`): a charge, a
message or a release that was drawn, a repair (see `engine.release.witness`). Put it where the
ledger's own backups and accidents do not reach it, best on a medium that can only be appended to.
The log must contain every line of the witness, and come to no less than any of them says was spent:
a log that was rolled back to an older copy, deleted, replaced or sealed anew does not, and refuses.
The other way round, a line that the witness lacks is added to it before anything else is written,
because a process can be killed between the two files. So there is never more than one, and a
witness that lacks more was deleted, cut or exchanged: then, too, nothing is read or spent until it
is put back or repaired.

Readers look at the witness first, at the log after it, and at the witness again, so that a line in
between is no alarm. Whoever can undo both files at once, to the same moment or to nothing, undoes
the record of what was spent.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import math
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.release import ledger_file, witness
from engine.release.ledger_file import WHAT_TO_DO, Damaged, changed
from engine.release.witness import Spent, Witness

FINAL = ("release", "part", "drawn", "closed", "repair")  # kinds of entries that the witness lists
_MAX = 10**18  # billionths of ε


@dataclass(frozen=True)
class Sealed:
    """One entry of the log.

    Parameters
    ----------
    number : int
        From 1 on.
    entry : mapping
        Plain values; "kind" says which.
    seal : bytes
        32 of them, over all entries so far.
    """

    number: int
    entry: Mapping[str, Any]
    seal: bytes

    @property
    def name(self) -> tuple[int, str]:
        """How a line of the witness names it."""
        return self.number, self.seal.hex()


class OpenLog:
    """The log while its file is open: the entries so far, the keys, and how to add one.

    Parameters
    ----------
    file : sqlite3.Connection
        To a ledger of this version.

    Raises
    ------
    InputError
        If it has no keys.
    """

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file
        facts = dict(file.execute("SELECT name, value FROM facts").fetchall())
        key, salt = facts.get("key"), facts.get("salt")
        if not (isinstance(key, bytes) and isinstance(salt, bytes)):
            raise changed()
        self.key, self.salt = key, salt
        self.entries: list[Sealed] = []

    def read(self) -> None:
        """Read all entries, as they stand at this moment, and check what they refer to.

        Raises
        ------
        InputError
            If a seal is broken, an entry is none, or something it refers to is missing or changed.
        """
        self.entries, seal = [], b""
        rows = self._file.execute("SELECT number, entry, seal FROM log ORDER BY number")
        for expected, (number, text, stored) in enumerate(rows.fetchall(), start=1):
            if not (isinstance(text, str) and isinstance(stored, bytes)):
                raise changed()
            seal = sealed(self.key, seal, expected, text)
            if number != expected or not hmac.compare_digest(seal, stored):
                raise changed()
            self.entries.append(Sealed(number, checked_entry(text), seal))
        if not self.entries or self.entries[0].entry.get("salt") != digest(self.salt):
            raise changed()
        there = dict(self._file.execute("SELECT digest, content FROM kept").fetchall())
        for name in {name for logged in self.entries for name in _referred(logged.entry)}:
            if not (isinstance(there.get(name), bytes) and digest(there[name]) == name):
                raise changed()

    def add(self, **entry: Any) -> int:
        """Add an entry and return its number; whoever has it open decides when it is on disk.

        Parameters
        ----------
        **entry : object
            Plain values; `kind` says which.
        """
        text = json.dumps(entry, ensure_ascii=False, sort_keys=True, allow_nan=False)
        last = self.entries[-1] if self.entries else Sealed(0, {}, b"")
        seal = sealed(self.key, last.seal, last.number + 1, text)
        self._file.execute("INSERT INTO log VALUES (?, ?, ?)", (last.number + 1, text, seal))
        self.entries.append(Sealed(last.number + 1, json.loads(text), seal))
        return last.number + 1

    def keep(self, content: bytes) -> str:
        """Keep something beside the log and return the digest by which an entry names it.

        Parameters
        ----------
        content : bytes
            A plan, noised messages, or hashes of people.
        """
        name = digest(content)
        self._file.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (name, content))
        return name

    def content(self, name: str) -> bytes:
        """What is kept under that digest.

        Parameters
        ----------
        name : str
            From `keep`.

        Raises
        ------
        InputError
            If it is missing or was changed.
        """
        row = self._file.execute("SELECT content FROM kept WHERE digest = ?", (name,)).fetchone()
        if row is None or not isinstance(row[0], bytes) or digest(row[0]) != name:
            raise changed()
        return row[0]


class SealedLog:
    """The log and its witness as files; the log is made when it is first written to.

    Parameters
    ----------
    path, beside : Path
        Of the log and of its witness.
    covers : callable
        Whether entries come to no less than any line of the witness says was spent.

    Raises
    ------
    InputError
        From every method, if a file cannot be read or written, if the log was changed by other
        means, or if log and witness do not belong together.
    """

    def __init__(self, path: Path, beside: Path,
                 covers: Callable[[Sequence[Sealed], Witness], bool] = lambda *_: True) -> None:
        self.path, self.witness, self._covers = path, beside, covers

    def exists(self) -> bool:
        """Whether there is a log; without one there must be nothing in a witness either."""
        with refusals():
            witnessed = witness.read(self.witness)
            if witnessed and not self.path.exists():
                raise _behind()
            return self.path.exists()

    @contextmanager
    def reading(self) -> Iterator[OpenLog]:
        """The log as it stands."""
        with refusals(), ledger_file.opened(self.path, self.trial) as file:
            log = self._read(file)
            yield log

    @contextmanager
    def writing(self) -> Iterator[OpenLog]:
        """The log while all other writers wait; on disk, if nothing is raised, when this ends."""
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
        """Read a ledger, such as a copy, and raise what is wrong with it.

        Parameters
        ----------
        file : sqlite3.Connection
            Of any version; one of an earlier version is not read.

        Raises
        ------
        InputError
            If a seal is broken, or the witness lists what is not there.
        """
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
        """Every line names an entry, if only one from before a repair, and no total is below it."""
        settled = {(number, seal) for logged in log.entries
                   if logged.entry["kind"] == "repair" and logged.name in witnessed.names
                   for number, seal in logged.entry["settled"]}
        if witnessed.names - settled - {logged.name for logged in log.entries}:
            raise _behind()
        if not self._covers(log.entries, witnessed):
            raise _behind()

    def is_witnessed(self, log: OpenLog) -> bool:
        """Whether everything final stands in the witness.

        Parameters
        ----------
        log : OpenLog
            That was read.
        """
        return not unseen(log, witness.read(self.witness))

    def _catch_up(self, log: OpenLog) -> None:
        """Append a line for everything final that has none; nobody else writes at this moment."""
        missing = unseen(log, witness.read(self.witness))
        if missing:
            witness.append(self.witness, [line_for(logged) for logged in missing])


def line_for(logged: Sealed) -> str:
    """The line of the witness for a final entry.

    Parameters
    ----------
    logged : Sealed
        Of a kind in `FINAL`.
    """
    entry = logged.entry
    (epsilon, delta), (total_epsilon, total_delta) = entry["spent"], entry.get("total",
                                                                               entry["spent"])
    return witness.line(logged.number, logged.seal, entry["at"], entry["kind"], Spent(
        entry["label"], epsilon, delta, total_epsilon, total_delta, tuple(entry.get("joined", ())),
        entry.get("data_set", "")), entry["id"])


def unseen(log: OpenLog, witnessed: Witness) -> list[Sealed]:
    """Final entries that have no line, in order; what a repair took over has those it had.

    Parameters
    ----------
    log : OpenLog
        That was read.
    witnessed : Witness
        All lines of its witness.
    """
    names = witnessed.names
    begun = max((logged.number for logged in log.entries if logged.entry["kind"] == "repair"),
                default=0)
    return [logged for logged in log.entries if logged.entry["kind"] in FINAL
            and logged.name not in names
            and (logged.number > begun or logged.entry["kind"] == "repair")]


def _check_complete(log: OpenLog, witnessed: Witness) -> None:
    """Only the last final entry may lack its line, and what was there before a new beginning."""
    exempt = max((logged.number for logged in log.entries
                  if logged.entry["kind"] in ("format", "repair")),
                 default=0)
    last = max((logged.number for logged in log.entries if logged.entry["kind"] in FINAL),
               default=0)
    if any(exempt < logged.number < last for logged in unseen(log, witnessed)):
        raise Damaged(
            "The witness of the ledger lacks lines that were written to it: it was deleted, cut or "
            "exchanged.", field="witness", hint="Nothing was published. Put it back. If it is "
            "lost, “python -m engine ledger repair” writes it anew from the ledger.")


def _behind() -> Damaged:
    return Damaged("The ledger lacks releases that its witness file lists: it was deleted, "
                   "replaced or set back to an older copy.", field="ledger", hint=WHAT_TO_DO)


@contextmanager
def refusals() -> Iterator[None]:
    """What goes wrong with files, in one sentence."""
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
        return InputError("The ledger is in use by others.", field="ledger",
                          hint=f"{nothing} Try again in a moment.")
    if name == "SQLITE_FULL" or number in (errno.ENOSPC, errno.EDQUOT):
        return InputError("The disk of the ledger or of its witness is full.", field="ledger",
                          hint=f"{nothing} Make room and ask again under the same name: what was "
                          "charged already is not charged twice.")
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")) or number in (
            errno.EROFS, errno.EACCES, errno.EPERM):
        return InputError("The ledger or its witness cannot be written.", field="ledger",
                          hint=f"{nothing} Check who may write these files and their folder.")
    is_outside = name.startswith(("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_NOMEM"))
    if isinstance(problem, UnicodeDecodeError) or (isinstance(problem, sqlite3.Error) and (
            not is_outside or name == "SQLITE_IOERR_SHORT_READ")):
        return changed()
    return InputError("The ledger cannot be used.", field="ledger", hint=f"{nothing} Check that "
                      "the ledger and its witness are where they should be and can be written.")


# -- seals and entries ----------------------------------------------------------------------------


def sealed(key: bytes, before: bytes, number: int, text: str) -> bytes:
    """The seal of an entry after another with the seal `before`.

    Parameters
    ----------
    key : bytes
        Of this ledger.
    before : bytes
        Empty for the first entry.
    number : int
        Of the entry.
    text : str
        The entry as it is stored.

    Returns
    -------
    bytes
        HMAC-SHA256.
    """
    content = text.encode(errors="surrogatepass")
    return hmac.digest(key, before + number.to_bytes(8, "big") + content, "sha256")


def digest(content: bytes) -> str:
    """The name of what is kept beside the log.

    Parameters
    ----------
    content : bytes
        Of any length.

    Returns
    -------
    str
        64 hexadecimal digits (SHA-256).
    """
    return hashlib.sha256(content).hexdigest()


def _referred(entry: Mapping[str, Any]) -> list[str]:
    """Digests of what an entry of any kind refers to."""
    people = [name for _, name in entry.get("people", {}).values()]
    return people + [entry[name] for name in ("plan", "messages", "stated") if entry.get(name)]


def checked_entry(text: str) -> dict[str, Any]:
    """An entry as plain values of the kinds that its readers rely on.

    Parameters
    ----------
    text : str
        As it is stored.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        entry = json.loads(text)
        is_one = isinstance(entry, dict) and _FORMS[entry["kind"]](entry)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        is_one = False
    if not is_one:
        raise changed()
    return dict(entry)


def _is_cost(pair: Any) -> bool:
    return (isinstance(pair, list) and len(pair) == 2 and _is_whole(pair[0]) and _is_real(pair[1]))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX


def _is_real(value: Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)
            and math.isfinite(value) and value >= 0)


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and _are_texts(value)


def _are_people(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(pair, list) and len(pair) == 2 and _is_whole(pair[0])
        and isinstance(pair[1], str) for pair in value.values())


def _is_release(e: dict[str, Any]) -> bool:
    return (_are_texts([e["data_set"], e["at"], e["label"], e["id"], e["name"], e["what"]])
            and _is_cost([e["epsilon"], e["delta"]]) and _is_cost(e["spent"])
            and (e["rho"] is None or _is_real(e["rho"]))
            and _are_texts([e.get("plan") or "", e.get("request") or ""])
            and _is_cost(e.get("total", e["spent"])) and _is_text_list(e.get("joined", [])))


def _is_end(e: dict[str, Any]) -> bool:
    return (_is_whole(e["release"]) and _are_texts([e["at"], e["label"], e["id"]])
            and _is_cost(e["spent"]) and _are_texts([e.get("messages") or ""])
            and _is_cost(e.get("total", e["spent"])) and _is_text_list(e.get("joined", [])))


_FORMS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "start": lambda e: isinstance(e["salt"], str),
    "format": lambda e: _is_whole(e["version"]),
    "data set": lambda e: (_are_texts([e["data_set"], e["label"]]) and _is_cost(e["total"])
                           and (e["tight_delta"] is None or _is_real(e["tight_delta"]))
                           and _are_people(e["people"])),
    "copy": lambda e: (isinstance(e["data_set"], str) and bool(e["of"]) and _is_text_list(e["of"])
                       and _are_people(e["people"])),
    "joined": lambda e: bool(e["of"]) and _is_text_list(e["of"]),
    "people": lambda e: isinstance(e["data_set"], str) and _are_people(e["people"]),
    "total": lambda e: isinstance(e["label"], str) and _is_cost(e["total"]),
    "release": _is_release,
    "finished": lambda e: _is_whole(e["release"]),
    "drawn": _is_end, "closed": _is_end,
    "part": lambda e: _is_end(e) and _is_whole(e["position"]) and bool(e["messages"]),
    "lost": lambda e: isinstance(e["label"], str) and _is_cost([e["epsilon"], e["delta"]]),
    "unknown": lambda e: isinstance(e["label"], str),
    "frozen": lambda e: (_are_texts([e["at"], e["name"], e["file"], e["stated"]])
                         and isinstance(e["unseen"], bool)),
    "repair": lambda e: (_are_texts([e["at"], e["label"], e["id"]]) and _is_cost(e["spent"])
                         and isinstance(e["settled"], list) and all(
                             _is_whole(pair[0]) and isinstance(pair[1], str) and len(pair) == 2
                             for pair in e["settled"]))}


# -- beginnings, and files of earlier versions ----------------------------------------------------


def begin(file: sqlite3.Connection) -> OpenLog:
    """The log of a new ledger, with its keys and its first entry.

    Parameters
    ----------
    file : sqlite3.Connection
        To a ledger that has its tables and nothing else.
    """
    ledger_file.new_keys(file)
    log = OpenLog(file)
    log.add(kind="start", salt=digest(log.salt))
    return log


def _take_over(file: sqlite3.Connection) -> None:
    """Make a ledger of an earlier version one of this; another process may do the same."""
    if file.execute("PRAGMA user_version").fetchone()[0] == ledger_file.VERSION:
        return
    file.execute("BEGIN IMMEDIATE")
    version = file.execute("PRAGMA user_version").fetchone()[0]
    if version < ledger_file.VERSION:  # not yet by another
        if version == 3:
            file.execute("ALTER TABLE sketches RENAME TO kept")
            file.execute("ALTER TABLE kept RENAME COLUMN hashes TO content")
            log = OpenLog(file)
            log.read()
        else:
            log = _from_tables(file)
        log.add(kind="format", version=ledger_file.VERSION)
        file.execute(f"PRAGMA application_id = {ledger_file.APPLICATION}")
        file.execute(f"PRAGMA user_version = {ledger_file.VERSION}")
    file.execute("COMMIT")


def _from_tables(file: sqlite3.Connection) -> OpenLog:
    """Data sets and releases of the versions without seals, in their order, as entries.

    Every data set has a total of its own, as it had; of its people nothing was kept.
    """
    for statement in ledger_file.SCHEMA.split(";"):
        if "TABLE facts" not in statement:
            file.execute(statement)
    salts = [value for name, value in file.execute("SELECT name, value FROM facts")
             if name == "salt"]
    if len(salts) != 1 or not isinstance(salts[0], bytes):
        raise changed()  # a new salt would know no data again
    log = begin(file)
    try:
        _take_over_rows(file, log)
    except (KeyError, TypeError, ValueError):
        raise changed() from None
    for logged in log.entries:
        checked_entry(json.dumps(logged.entry))
    file.execute("DROP TABLE releases")
    file.execute("DROP TABLE data_sets")
    return log


def _take_over_rows(file: sqlite3.Connection, log: OpenLog) -> None:
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


def _rows(file: sqlite3.Connection, table: str, order: str) -> list[dict[str, Any]]:
    result = file.execute(f"SELECT * FROM {table} ORDER BY {order}")
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
