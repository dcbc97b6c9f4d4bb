"""Verification of a ledger, and its reconstruction from the witness if no copy is left.

The way to repair a ledger is to put back its newest copy. If there is none, a new one is made from
the lines of the witness, which say what each release cost and by which digest its people are kept.
Sets that can still be read in the damaged file are taken over; a set that cannot be read, or whose
key is lost, counts for everybody, and so does what lines of earlier versions say was spent on the
people of a label. Where lines of the witness are missing as well, nothing is left for anybody. So
a rebuilt ledger never lowers what anybody has lost. Its releases cannot be made again. The damaged
file stays beside the new one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.privacy.failure import large_delta
from engine.privacy.filters import FINE, FINE_DELTA, Loss, in_units
from engine.release import ledger_file, witness
from engine.release.books import Books, Entry
from engine.release.ledger import DEFAULT_TOTAL, LARGEST_TOTAL, Ledger
from engine.release.ledger_file import Damaged
from engine.release.people import PeopleSet, Same, same_among
from engine.release.sealed_log import OpenLog, begin, digest, line_for, parsed, refusals, unseen
from engine.release.standing import read_set
from engine.release.witness import SpentByLabel, Witness, WitnessedRelease

_FAULTS = (sqlite3.Error, InputError, UnicodeDecodeError, ValueError, TypeError, KeyError)
_EVERYTHING = 2 * int(LARGEST_TOTAL) * FINE, FINE_DELTA // 2, None  # beyond every total


@dataclass(frozen=True)
class LedgerState:
    """The findings of `verify`."""

    problem: InputError | None  # None if the ledger can be believed
    exists: bool = True
    n_entries: int = 0
    n_lines: int = 0  # whole lines of the witness
    n_damaged: int = 0  # other lines
    is_witnessed: bool = True  # False if the last line is missing, as after a kill
    n_unread: int = 0  # sets that cannot be read, which count for everybody
    total: Budget | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def holds(self) -> bool | None:
        """None where nothing could be checked: without ledger or key, or a way to read them."""
        if self.problem is None:
            return True if self.exists else None
        is_found = isinstance(self.problem, Damaged) and self.problem.field != "key"
        return False if is_found else None


@dataclass(frozen=True)
class Rebuilt:
    """The result of `rebuild`."""

    damaged_file: str = ""  # the name of the damaged file; empty if there was none
    added: int = 0  # lines by which only the witness was completed
    n_releases: int = 0
    n_for_everybody: int = 0  # of these, releases that count for everybody
    is_incomplete: bool = False  # True if the witness lacks lines: nothing is left for anybody


def verify(ledger: Ledger) -> LedgerState:
    """Look at a ledger, its sets and its witness; only what a kill left half done is undone.

    A ledger of an earlier version is taken over, as at any other opening.
    """
    with refusals():
        witnessed = witness.read(ledger.witness)
    n_lines, n_damaged = len(witnessed.lines), len(witnessed.damaged)
    try:
        if not ledger.log.exists():
            return LedgerState(None, False, 0, n_lines, n_damaged)
        with ledger.log.reading() as opened:
            books = Books.of(opened.entries)
            unread = [name for name in books.all_sets() if read_set(opened, name) is None]
            return LedgerState(
                None,
                True,
                len(opened.entries),
                n_lines,
                n_damaged,
                ledger.log.is_witnessed(opened),
                len(unread),
                None if books.total is None else Budget(books.total[0] / FINE, books.total[1]),
                tuple(map(books.entry, books.releases)),
            )
    except InputError as problem:
        return LedgerState(problem, ledger.path.exists(), 0, n_lines, n_damaged)


def rebuild(ledger: Ledger) -> Rebuilt | None:
    """Make a ledger that can be believed from the witness; None if there is one.

    Nothing else may use the ledger meanwhile.
    """
    state = verify(ledger)
    if state.problem is None and not state.exists:
        raise InputError(
            "There is no ledger and no witness of one.",
            field="ledger",
            hint="Name the ledger with --ledger. The first release makes one.",
        )
    if state.problem is None:
        return None
    if not isinstance(state.problem, Damaged):  # in use, or not to be read by us
        raise state.problem
    with refusals():
        witnessed = witness.read(ledger.witness)
        added = _complete(ledger, witnessed)
        if added:
            return Rebuilt(added=added)
        if ledger_file.is_foreign(ledger.path):
            raise InputError(
                "The file in the place of the ledger is a database of another "
                "program; it was not touched.",
                field="ledger",
                hint="Name the ledger, or move that file away and rebuild again.",
            )
        if not witnessed.lines:
            raise InputError(
                "The ledger cannot be read and its witness says nothing, so nothing "
                "is known of what was spent.",
                field="ledger",
                hint="Publish nothing "
                "more about the people it was about. Put back any copy of either "
                "file.",
            )
        return _put_in_place(ledger, witnessed)


def _complete(ledger: Ledger, witnessed: Witness) -> int:
    """Write the lines that a witness lacks of a ledger that is sound; how many."""
    if not ledger.path.exists():
        return 0
    try:
        with ledger_file.opened(ledger.path, ledger.log.trial) as file:
            file.execute("BEGIN IMMEDIATE")
            opened = OpenLog(file)
            opened.read()
            names = {sealed.name for sealed in opened.entries}
            settled = {
                tuple(pair) for sealed in opened.entries for pair in sealed.entry.get("settled", ())
            }
            missing = unseen(opened, witnessed)
            if witnessed.names - names - settled or not missing:
                return 0
            witness.append(ledger.witness, [line_for(sealed) for sealed in missing])
            return len(missing)
    except (InputError, sqlite3.Error, UnicodeDecodeError):
        return 0


def _put_in_place(ledger: Ledger, witnessed: Witness) -> Rebuilt:
    """Keep the damaged file beside, and put a ledger made from the witness in its place."""
    rescued = _rescued(ledger.path, witnessed)
    is_incomplete = _is_incomplete(ledger.witness, witnessed, rescued.releases)
    counts = [0, 0]

    def fill(file: sqlite3.Connection) -> None:
        log = begin(file, rescued.key)
        counts[:] = _fill(log, witnessed, rescued.sets, is_incomplete)

    aside = ledger_file.write_aside(ledger.path, fill)
    try:
        damaged = _set_aside(ledger.path)
        ledger_file.replace(aside, ledger.path)
    finally:
        aside.unlink(missing_ok=True)
    with ledger.log.writing():
        pass  # the witness gets its line
    return Rebuilt(damaged, 0, counts[0], counts[1], is_incomplete)


def _is_incomplete(path: Path, witnessed: Witness, releases: set[str]) -> bool:
    """True if releases are known to be missing in the witness.

    A line that a power cut left unfinished is written again, or was of a charge that nothing was
    drawn under.
    """
    with suppress(OSError):
        rows = path.read_bytes().decode("utf-8", errors="replace").split("\n")
        hit = [rows[place - 1] for place in witnessed.damaged if place < len(rows)]
        if any(not any(row.startswith(cut) for row in rows if row != cut) for cut in hit):
            return True
    listed = {line.says.release_id for line in witnessed.lines}
    return bool(releases - listed)


def _fill(
    log: OpenLog, witnessed: Witness, sets: Mapping[str, PeopleSet], is_incomplete: bool
) -> tuple[int, int]:
    """Write all that the witness says was spent; how many releases, and how many on everybody."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    stated = [line.says for line in witnessed.lines if isinstance(line.says, WitnessedRelease)]
    releases: dict[str, WitnessedRelease] = {}
    for says in stated:  # later lines know what was returned
        if says.release_id and says.kind not in ("lower", "rebuilt"):
            releases[says.release_id] = says
    spent: dict[str, tuple[float, float]] = {}
    for line in witnessed.lines:
        if isinstance(line.says, SpentByLabel) and line.says.release_id not in releases:
            before = spent.get(line.says.label, (0.0, 0.0))
            spent[line.says.label] = (
                max(before[0], line.says.epsilon),
                max(before[1], line.says.delta),
            )
    for label, (epsilon, delta) in spent.items():
        loss, name = Loss.of(Budget.covering(epsilon, delta)), hashlib.sha256(label.encode())
        releases.setdefault(
            name.hexdigest()[:16],
            WitnessedRelease(at, "release", loss.epsilon, loss.delta, None, (), 0, 0.0),
        )
    if is_incomplete:
        releases["0" * 16] = WitnessedRelease(at, "release", *_EVERYTHING, (), 0, 0.0)
    totals = [(says.total, says.total_delta) for says in stated if says.total]
    usual = in_units(DEFAULT_TOTAL, FINE), large_delta(1)
    log.add(
        kind="total",
        total=[
            max((total[0] for total in totals), default=usual[0]),
            max((total[1] for total in totals), default=usual[1]),
        ],
    )
    n_everybody = 0
    for release_id, says in releases.items():
        held = list(says.sets) if says.sets and all(name in sets for name in says.sets) else []
        n_everybody += not held
        total = [says.total, says.total_delta] if says.total else list(usual)
        final = {
            "at": says.at,
            "id": release_id,
            "sets": held,
            "epsilon": says.epsilon,
            "delta": says.delta,
            "mu_squared": says.mu_squared,
            "total": total,
        }
        number = log.add(
            kind="release",
            name="",
            what="a release known from the witness alone",
            rho=None,
            n=0,
            request="",
            plan="",
            records="",
            **final,
        )
        log.add(kind="closed", release=number, **final)
    for says in stated:
        if says.kind == "lower":
            is_read = all(name in sets for name in says.sets)
            log.add(
                kind="lower",
                at=says.at,
                id="",
                sets=list(says.sets) if is_read else [],
                total=[says.total, says.total_delta],
                epsilon=0,
                delta=0,
                mu_squared=0,
            )
    for people in sets.values():
        log.keep(people.to_bytes())
    pairs = same_among(list(sets.values()), Same()).pairs
    same = log.keep(pairs.astype("<u8").tobytes()) if len(pairs) else ""
    log.add(
        kind="rebuilt",
        at=at,
        id="",
        sets=[],
        total=[0, 0.0],
        epsilon=0,
        delta=0,
        mu_squared=0,
        same=same,
        settled=[[number, seal] for number, seal in sorted(witnessed.names)],
    )
    return len(releases), n_everybody


class _Rescued(NamedTuple):
    """The readable part of a damaged ledger."""

    key: bytes | None = None  # if it is on this machine
    sets: Mapping[str, PeopleSet] = {}  # whole, by their digests
    releases: set[str] = set()  # noqa: RUF012  # ids


def _rescued(path: Path, witnessed: Witness) -> _Rescued:
    """Read what can be read; only a copy is opened."""
    sets, releases, key = dict[str, PeopleSet](), set[str](), None
    names = {
        name
        for line in witnessed.lines
        if isinstance(line.says, WitnessedRelease)
        for name in line.says.sets
    }
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".trial", dir=path.parent))
    try:
        shutil.copyfile(path, folder / "ledger")
        with closing(sqlite3.connect(folder / "ledger")) as file:
            with suppress(*_FAULTS):
                for (text,) in file.execute("SELECT entry FROM log"):
                    entry = parsed(text)
                    releases |= {entry["id"]} if entry["kind"] == "release" else set()
            key = OpenLog(file).key  # without it nobody is known
            for name in names:
                with suppress(*_FAULTS):
                    content = file.execute(
                        "SELECT content FROM kept WHERE digest = ?", (name,)
                    ).fetchone()[0]
                    if digest(content) == name:
                        sets[name] = PeopleSet.from_bytes(content)
    except (OSError, *_FAULTS):
        pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _Rescued(key, sets if key else {}, releases)


def _set_aside(path: Path) -> str:
    """Copy the damaged ledger beside itself, and move away what must not touch the new one."""
    stamp = f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.urandom(2).hex()}"
    damaged = path.with_name(f"{path.name}.{stamp}")
    if path.exists():
        shutil.copyfile(path, damaged)
        damaged.chmod(0o600)
    for suffix in ("-journal", "-wal", "-shm"):
        beside = Path(f"{path}{suffix}")
        if os.path.lexists(beside):
            beside.replace(f"{damaged}{suffix}")
    return damaged.name if path.exists() else ""
