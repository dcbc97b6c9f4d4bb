"""What has been spent on every data set, for ever: one SQLite file that all processes share.

A data set is known by its readings alone (`data_content`): names, order, sites and stated bounds
make no difference.
The file holds no reading and nothing that could be turned back into one without guessing all of
them: only a slow salted hash of them, by which the same data are recognised. What is published
never mentions that hash, which would tell neighbouring data apart; it has the random label that the
ledger gives each data set.

A charge is one transaction, written to disk before it returns, and only then is anything computed
or shown. So a process that is killed at any instant may have charged for what nobody saw, and never
the other way round. Writers take turns: SQLite locks the file while a total is read, compared and
added to. ε's and δ's of releases add (basic composition, whatever was released before); ε is kept
in whole billionths, charges rounded up and totals down, so sums are exact.

That sum is what limits, and is more than many releases lose together. Beside it stands what the ρ's
of zCDP prove of all of them, although each may have been chosen after seeing the others:
`accounting.epsilon_at_any_time`. Its δ must be fixed before anything is seen, so it is the square
of the first total δ (1/n² where that is 1/n), whatever becomes of the total.

A changed copy of the data, or another selection of the same people, is a data set of its own: the
ledger cannot know that they share people.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from engine.errors import InputError
from engine.privacy import accounting
from engine.types import Budget, PublicFacts
from engine.words.numbers import small

VARIABLE = "PRIVACY_CURVES_LEDGER"  # environment variable that names the file
USUAL_TOTAL = 3.0  # ε of one data set, unless its first release says otherwise
LONGEST_NAME = 80
_BILLION = 10**9
_PATIENCE = 30.0  # seconds that a writer waits for others
_VERSION = 2  # the first had no ρ
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS data_sets (
    fingerprint TEXT PRIMARY KEY, label TEXT UNIQUE NOT NULL,
    total_epsilon INTEGER NOT NULL, total_delta REAL NOT NULL);
CREATE TABLE IF NOT EXISTS releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL REFERENCES data_sets, at TEXT NOT NULL, name TEXT NOT NULL,
    what TEXT NOT NULL, epsilon INTEGER NOT NULL, delta REAL NOT NULL,
    is_finished INTEGER NOT NULL);
"""
_SECOND = """
ALTER TABLE releases ADD COLUMN rho REAL;
ALTER TABLE data_sets ADD COLUMN tight_delta REAL;
"""


@dataclass(frozen=True)
class Entry:
    """One release as the ledger has it; `is_finished` is false where its process ended first."""

    at: str
    name: str
    what: str
    budget: Budget
    is_finished: bool


@dataclass(frozen=True)
class Odometer:
    """What has been spent on one data set, and of which total.

    `tight` is what all releases together cost by their ρ's; None where some have none, or no δ was
    fixed for it.
    """

    label: str
    total: Budget
    spent_epsilon: float
    spent_delta: float
    entries: tuple[Entry, ...]
    tight: Budget | None = None

    @property
    def left(self) -> float:
        """ε that is left, exact in billionths."""
        return (_floored(self.total.epsilon) - _ceiled(self.spent_epsilon)) / _BILLION


@dataclass(frozen=True)
class Receipt:
    """A charge that has been written: its number, and the data set's state with it."""

    number: int
    at: str
    odometer: Odometer


def path_of(chosen: str | os.PathLike[str] | None = None) -> Path:
    """Where the ledger is: as chosen, by the environment variable, or in the user's data folder."""
    named = chosen or os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    folder = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(folder).expanduser() / "privacy-curves" / "ledger.sqlite3"


class Ledger:
    """The ledger in one file, which is made at the first charge and not before.

    Raises
    ------
    InputError
        From every method, if the file cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = path_of(path)

    def odometer(self, content: bytes) -> Odometer | None:
        """What has been spent on the data with this content; None if nothing ever was."""
        if not self.path.exists():
            return None
        with self._open() as file:
            return _odometer(file, _fingerprint(file, content))

    def charge(self, content: bytes, budget: Budget, name: str, what: str,
               total: Budget | None = None, facts: PublicFacts | None = None,
               rho: float | None = None) -> Receipt:
        """Write a charge, or refuse it; when this returns it is on disk.

        `total` is fixed by the first release of a data set; a later one can only lower it. `facts`
        lend a refusal their words. `rho` is the same charge by zCDP.

        Raises
        ------
        InputError
            If the total would be overrun or raised, or the name is empty or used already.
        """
        name = checked_name(name)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._open() as file:
            fingerprint = _fingerprint(file, content)
            file.execute("BEGIN IMMEDIATE")  # from here on other writers wait
            _set_total(file, fingerprint, total)
            before = _odometer(file, fingerprint)
            assert before is not None
            _check_name(before, name)
            check_room(before, budget, facts or PublicFacts())
            at = datetime.now(UTC).isoformat(timespec="seconds")
            row = file.execute(
                "INSERT INTO releases (fingerprint, at, name, what, epsilon, delta, rho, "
                "is_finished) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                (fingerprint, at, name, what, _ceiled(budget.epsilon), budget.delta, rho)).lastrowid
            file.execute("COMMIT")
            after = _odometer(file, fingerprint)
            assert row is not None and after is not None
            return Receipt(row, at, after)

    def finished(self, receipt: Receipt) -> None:
        """Note that a release that was charged for was made."""
        with self._open() as file:
            file.execute("UPDATE releases SET is_finished = 1 WHERE id = ?", (receipt.number,))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection that is safe against power loss; every statement commits by itself."""
        try:
            is_new = not self.path.exists()
            file = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            try:
                if is_new:
                    self.path.chmod(0o600)
                file.execute("PRAGMA synchronous = EXTRA")
                _prepare(file)
                yield file
            finally:
                file.close()  # an open transaction is rolled back
        except (sqlite3.Error, OSError) as problem:
            busy = "locked" in str(problem) or "busy" in str(problem)
            raise InputError(
                "The ledger is in use by others." if busy else "The ledger cannot be used.",
                field="ledger", hint="Nothing was published. " + (
                    "Try again in a moment." if busy else
                    f"Check the file that {VARIABLE} names, and that it can be written."),
            ) from None


def checked_name(name: str) -> str:
    """A release's name without surrounding spaces.

    Raises
    ------
    InputError
        If it is empty, too long or not printable.
    """
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"A release needs a name of 1 to {LONGEST_NAME} characters.", field="name",
                         hint="For example growth-2026.")
    return name


def _prepare(file: sqlite3.Connection) -> None:
    """Make the tables and the salt, once; another process may be doing the same."""
    version = file.execute("PRAGMA user_version").fetchone()[0]
    if version == _VERSION:
        return
    if version > _VERSION:
        raise sqlite3.DatabaseError("made by a newer version")
    file.execute("BEGIN IMMEDIATE")
    is_older = file.execute("PRAGMA user_version").fetchone()[0] < _VERSION  # not yet by another
    for statement in (_SCHEMA + _SECOND * is_older).split(";"):
        file.execute(statement)
    file.execute("INSERT OR IGNORE INTO facts VALUES ('salt', ?)", (secrets.token_bytes(16),))
    file.execute(f"PRAGMA user_version = {_VERSION}")
    file.execute("COMMIT")


def _fingerprint(file: sqlite3.Connection, content: bytes) -> str:
    """A slow salted hash: guessing the readings takes a tenth of a second for every guess."""
    salt = file.execute("SELECT value FROM facts WHERE name = 'salt'").fetchone()[0]
    return _slow_hash(content, salt)


@lru_cache(maxsize=256)
def _slow_hash(content: bytes, salt: bytes) -> str:
    return hashlib.scrypt(content, salt=salt, n=2**14, r=8, p=1, dklen=32).hex()


def _set_total(file: sqlite3.Connection, fingerprint: str, total: Budget | None) -> None:
    """Fix the total of a data set that is new; lower that of one that is known, never raise it."""
    found = file.execute("SELECT total_epsilon, total_delta FROM data_sets WHERE fingerprint = ?",
                         (fingerprint,)).fetchone()
    if found is None:
        total = Budget(USUAL_TOTAL) if total is None else total
        if not total.is_private:
            raise InputError("The total ε of a data set must be finite.", field="total")
        file.execute("INSERT INTO data_sets VALUES (?, ?, ?, ?, ?)", (
            fingerprint, f"data-{secrets.token_hex(4)}", _floored(total.epsilon), total.delta,
            total.delta**2))
    elif total is not None:
        if _floored(total.epsilon) > found[0] or total.delta > found[1] * (1 + 1e-12):
            raise InputError(f"The total for these data was fixed at ε = {found[0] / _BILLION:g}, "
                             f"δ = {small(found[1])}, and cannot be raised.", field="total",
                             hint="Leave it out, or lower it.")
        file.execute("UPDATE data_sets SET total_epsilon = ?, total_delta = ? "
                     "WHERE fingerprint = ?",
                     (_floored(total.epsilon), total.delta, fingerprint))


def _odometer(file: sqlite3.Connection, fingerprint: str) -> Odometer | None:
    found = file.execute("SELECT label, total_epsilon, total_delta, tight_delta FROM data_sets "
                         "WHERE fingerprint = ?", (fingerprint,)).fetchone()
    if found is None:
        return None
    rows = file.execute("SELECT at, name, what, epsilon, delta, is_finished, rho FROM releases "
                        "WHERE fingerprint = ? ORDER BY id", (fingerprint,)).fetchall()
    entries = tuple(Entry(at, name, what, Budget(epsilon / _BILLION, delta), bool(is_finished))
                    for at, name, what, epsilon, delta, is_finished, _ in rows)
    return Odometer(found[0], Budget(found[1] / _BILLION, found[2]),
                    sum(row[3] for row in rows) / _BILLION, _sum_up([row[4] for row in rows]),
                    entries, _tight([row[6] for row in rows], found[3]))


def _tight(rhos: list[float | None], delta: float | None) -> Budget | None:
    """What all releases cost together by their ρ's, at the δ that was fixed for it."""
    known = [rho for rho in rhos if rho is not None]
    if not delta or len(known) < max(len(rhos), 1):
        return None
    return Budget(accounting.epsilon_at_any_time(_sum_up(known), delta), delta)


def _check_name(before: Odometer, name: str) -> None:
    if any(entry.name == name for entry in before.entries):
        raise InputError("A release of these data has this name already.", field="name",
                         hint="Choose another name.")


def check_room(before: Odometer, budget: Budget, facts: PublicFacts) -> None:
    """Refuse a charge for which there is no room.

    Raises
    ------
    InputError
        If the total ε or δ would be overrun; `facts` lend it their words.
    """
    one = facts.person
    if _ceiled(budget.epsilon) > _floored(before.left):
        raise InputError(f"This would take one {one} over the total of ε = "
                         f"{before.total.epsilon:g}. ε = {max(before.left, 0.0):g} is left.",
                         field="epsilon",
                         hint=f"Lower ε, or publish nothing more about these {facts.people}.")
    if _sum_up([before.spent_delta, budget.delta]) > before.total.delta * (1 + 1e-9):
        raise InputError(f"This would take one {one} over the total of δ = "
                         f"{small(before.total.delta)}.", field="delta",
                         hint="Lower δ, or choose a method with δ = 0.")


def _sum_up(costs: list[float]) -> float:
    exact = sum(map(Fraction, costs), Fraction())
    total = float(exact)
    return total if Fraction(total) >= exact else math.nextafter(total, math.inf)


def _ceiled(epsilon: float) -> int:
    """ε in billionths, rounded up; what a decimal of up to nine places means stays as it is."""
    nearest = round(epsilon * _BILLION)
    return nearest if nearest / _BILLION == epsilon else math.ceil(epsilon * _BILLION)


def _floored(epsilon: float) -> int:
    nearest = round(epsilon * _BILLION)
    return nearest if nearest / _BILLION == epsilon else math.floor(epsilon * _BILLION)
