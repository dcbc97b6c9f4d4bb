"""Whether a ledger can be believed, and a new one from what is left of one that cannot.

A repair never lowers what was spent. It takes the rows that can still be read and all lines of the
witness, and of what people have spent by either it charges the larger. The damaged file stays
beside the new one. In detail:

* The total of people is what a line of the witness says and all later rows add to it, or the sum of
  their rows, whichever is more; labels that were ever joined stay joined. The most that all
  releases may cost is the least that is stated anywhere.
* Rows that are gone may have said that two groups of people are one, or may have lowered a total.
  Lines of the witness say all that as well. Where one is missing, or of an earlier version that
  said less, nothing is left for anybody in this ledger.
* Where the data or the people behind a total cannot be known again, because their hashes are gone,
  holders of any new data are asked whether they are the same people (`Books.unknown`).
* Further ids, under which the same data came again, are lost with the row that held them.
* A charge counts as drawn and lost, unless its messages are whole: then it can be made again.

What it cannot know is what neither file says: see `engine.release.ledger`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.release import ledger_file, witness
from engine.release.books import Books, Odometer, sum_up
from engine.release.ledger import Ledger
from engine.release.ledger_file import Damaged
from engine.release.salvage import Salvage, salvage
from engine.release.sealed_log import FINAL, OpenLog, begin, line_for, refusals, unseen
from engine.release.witness import Witness

Total = tuple[int, float]


@dataclass(frozen=True)
class State:
    """What `verify` finds.

    Parameters
    ----------
    problem : InputError or None
        None where the ledger can be believed.
    odometers : tuple of Odometer
        By label; empty where there is a problem.
    exists : bool
        Whether there is a ledger.
    n_rows, n_intact, n_lines, n_damaged : int
        Rows of the ledger that read, those with a good seal, whole lines of the witness, and
        damaged ones.
    is_witnessed : bool
        False where the last line is missing, as after a kill.
    """

    problem: InputError | None
    odometers: tuple[Odometer, ...] = ()
    exists: bool = True
    n_rows: int = 0
    n_intact: int = 0
    n_lines: int = 0
    n_damaged: int = 0
    is_witnessed: bool = True


@dataclass(frozen=True)
class Repaired:
    """What `repair` did.

    Parameters
    ----------
    damaged_file : str
        The name of the damaged file; empty where only the witness was completed.
    added : int
        Lines by which the witness was completed.
    more : mapping of str to int
        What was charged beyond the rows that could be read, in billionths of ε, by label.
    closed : tuple of str
        Labels with nothing left because too little is known.
    unknown : tuple of str
        Labels of people whom holders of new data are asked after.
    odometers : tuple of Odometer
        Of the new ledger.
    """

    damaged_file: str = ""
    added: int = 0
    more: Mapping[str, int] = field(default_factory=dict)
    closed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    odometers: tuple[Odometer, ...] = ()


def verify(ledger: Ledger) -> State:
    """Look at a ledger and its witness; only what a kill left half done is undone.

    A ledger of an earlier version is taken over, as at any other opening.

    Parameters
    ----------
    ledger : Ledger
        Which need not be there.

    Raises
    ------
    InputError
        If the witness cannot be read.
    """
    with refusals():
        witnessed = witness.read(ledger.witness)
    n_lines, n_damaged = len(witnessed.lines), len(witnessed.damaged)
    try:
        if not ledger.log.exists():
            return State(None, (), False, n_lines=n_lines, n_damaged=n_damaged)
        with ledger.log.reading() as opened:
            books, n = Books.of(opened.entries), len(opened.entries)
            return State(None, _odometers(books), True, n, n, n_lines, n_damaged,
                         ledger.log.is_witnessed(opened))
    except InputError as problem:
        with refusals():
            salvaged = salvage(ledger.path, witnessed.last)
        return State(problem, (), ledger.path.exists(), len(salvaged.entries), len(salvaged.intact),
                     n_lines, n_damaged)


def repair(ledger: Ledger) -> Repaired | None:
    """Make a ledger that can be believed again; None if it is one.

    Nothing else may use the ledger meanwhile.

    Parameters
    ----------
    ledger : Ledger
        With its witness.

    Raises
    ------
    InputError
        If nothing is known to make it from, or the file in its place is somebody else's.
    """
    state = verify(ledger)
    if state.problem is None:
        return None
    if not isinstance(state.problem, Damaged):  # in use, or not to be read by us
        raise state.problem
    with refusals():
        witnessed = witness.read(ledger.witness)
        added = _complete(ledger, witnessed)
        if added:
            return Repaired(added=added)
        salvaged = salvage(ledger.path, witnessed.last)
        if salvaged.is_foreign:
            raise InputError("The file in the place of the ledger is a database of another "
                             "program; it was not touched.", field="ledger",
                             hint="Name the ledger, or move that file away and repair again.")
        if not salvaged.entries and not witnessed.lines:
            raise InputError("Neither the ledger nor its witness can be read, so nothing is known "
                             "of what was spent.", field="ledger", hint="Publish nothing more "
                             "about the people it was about. Put back any copy of either file and "
                             "repair again.")
        return _Rebuilt(salvaged, witnessed).put_in_place(ledger)


def _odometers(books: Books) -> tuple[Odometer, ...]:
    return tuple(books.odometer(label) for label in _labels(books))


def _labels(books: Books) -> list[str]:
    return sorted({books.label_of(label) for label in books.joined})


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
            settled = {tuple(pair) for sealed in opened.entries
                       for pair in sealed.entry.get("settled", ())}
            missing = unseen(opened, witnessed)
            if witnessed.names - names - settled or not missing:
                return 0
            witness.append(ledger.witness, [line_for(sealed) for sealed in missing])
            return len(missing)
    except (InputError, sqlite3.Error, UnicodeDecodeError):
        return 0


# -- a new ledger ---------------------------------------------------------------------------------


class _Rebuilt:
    """The entries of a new ledger, from rows and lines."""

    def __init__(self, salvaged: Salvage, witnessed: Witness) -> None:
        self.salvaged, self.witnessed = salvaged, witnessed
        self.rows = salvaged.entries
        self.spent = [line.spent for line in witnessed.lines if line.spent is not None]
        self.settled = {(number, seal) for entry in self.rows.values()
                        for number, seal in entry.get("settled", ())}
        self.groups = self._groups()
        self.is_explained = self._is_explained()
        self.at = datetime.now(UTC).isoformat(timespec="seconds")

    # -- what is known ------------------------------------------------------------------------

    def _groups(self) -> dict[str, str]:
        """The first label of the people that each label belongs to."""
        first: dict[str, str] = {}

        def root(label: str) -> str:
            while first.setdefault(label, label) != label:
                label = first[label]
            return label

        for labels in self._labels_together():
            roots = {root(label) for label in labels}
            for member in roots:
                first[member] = min(roots)
        return {label: root(label) for label in list(first)}

    def _labels_together(self) -> Iterator[list[str]]:
        for entry in self.rows.values():
            if entry["kind"] in ("copy", "joined"):
                yield list(entry["of"])
            elif "label" in entry:
                yield [entry["label"], *entry.get("joined", ())]
        for spent in self.spent:
            yield [spent.label, *spent.joined]
        yield from self._labels_of_data().values()  # a hit may have changed the label in a row

    def _labels_of_data(self) -> dict[str, list[str]]:
        """All labels that rows and lines give to each hash of data."""
        labels_of: dict[str, list[str]] = {}
        for entry in self.rows.values():
            labels = entry["of"] if entry["kind"] == "copy" else [entry.get("label", "")]
            if entry.get("data_set") and labels[0]:
                labels_of.setdefault(entry["data_set"], []).extend(labels)
        for spent in self.spent:
            if spent.data:
                labels_of.setdefault(spent.data, []).append(spent.label)
        return labels_of

    def _is_explained(self) -> bool:
        """Whether lines of the witness say all that rows said that are gone."""
        lines = [line for line in self.witnessed.lines
                 if (line.number, line.seal) not in self.settled]
        full = {line.number for line in lines if not line.is_early and line.spent is not None}
        numbers = {line.number for line in lines}
        lost = self.salvaged.lost(max(numbers, default=0))
        if not lost or not self.rows:
            return not lost or (not self.witnessed.damaged and numbers == full)
        return not self.witnessed.damaged and all(
            min((later for later in numbers if later >= number), default=None) in full
            for number in lost)

    def _data(self) -> dict[str, str]:
        """The first label of the people that each hash of data is about."""
        return {data_set: self.groups[labels[0]]
                for data_set, labels in self._labels_of_data().items()}

    def _releases(self, label: str) -> dict[int, dict[str, Any]]:
        """Charges that can be read, of one group of people."""
        return {number: entry for number, entry in self.rows.items()
                if entry["kind"] in ("release", "lost") and self.groups[entry["label"]] == label}

    def _total_spent(self, label: str) -> Total:
        """The largest total of one group of people by rows and lines: ε in billionths, and δ."""
        charges = self._releases(label)
        lines = [line for line in self.witnessed.lines
                 if line.spent is not None and self.groups[line.spent.label] == label]
        candidates: list[Total] = [_sum(list(charges.values()))]
        for line in lines:
            assert line.spent is not None
            is_now = (line.number, line.seal) not in self.settled
            later = [entry for number, entry in charges.items() if is_now and number > line.number]
            candidates.append(_plus((line.spent.epsilon, line.spent.delta), _sum(later)))
        alone = witness.largest(line.spent for line in lines
                                if line.spent is not None and len(line.spent.joined) < 2)
        last = max((line.number for line in lines), default=0)
        apart = _sum([entry for number, entry in charges.items() if number > last])
        for cost in alone.values():
            apart = _plus(apart, cost)
        candidates += [apart] * (len(alone) > 1)
        return max(total[0] for total in candidates), max(total[1] for total in candidates)

    def limit(self, label: str, spent: Total) -> Total:
        """The most that all releases about them may cost: the least that is stated anywhere.

        Parameters
        ----------
        label : str
            The first of the group.
        spent : tuple of int and float
            What they have spent, beyond which nothing is left where too little is known.

        Returns
        -------
        tuple of int and float
            ε in billionths and δ.
        """
        stated: list[Total] = [
            (line.total_epsilon, line.total_delta) for line in self.spent
                               if self.groups[line.label] == label
            and line.total_epsilon is not None and line.total_delta is not None]
        stated += [(entry["total"][0], entry["total"][1]) for number, entry in self.rows.items()
                   if number in self.salvaged.intact and "total" in entry
                   and self.groups[entry["label"]] == label]
        if not stated or not self.is_explained:
            stated.append(spent)
        return min(total[0] for total in stated), min(total[1] for total in stated)

    # -- entries ------------------------------------------------------------------------------

    def fill(self, file: sqlite3.Connection) -> None:
        """Write all entries into a new ledger.

        Parameters
        ----------
        file : sqlite3.Connection
            To a ledger that has its tables and nothing else.
        """
        for name, value in (("salt", self.salvaged.salt), ("key", self.salvaged.key)):
            if value is not None:
                file.execute("INSERT INTO facts VALUES (?, ?)", (name, value))
        log = begin(file)
        self.more, self.unknown, data = dict[str, int](), list[str](), self._data()
        labels = sorted(set(self.groups.values()))
        for label in labels:
            data_sets = [data_set for data_set, of in data.items() if of == label]
            if not self._enter_people(log, label, data_sets):
                log.add(kind="unknown", label=label)
                self.unknown.append(label)
            self._enter_charges(log, label)
        if not self.is_explained:
            label = f"data-{secrets.token_hex(4)}"
            log.add(kind="data set", data_set="", label=label, total=[0, 0.0], tight_delta=None,
                    people={})
            log.add(kind="lost", label=label, at=self.at, epsilon=1, delta=0.0)  # nothing is left
            log.add(kind="unknown", label=label)
        self._enter_standing(log, data)

    def _enter_people(self, log: OpenLog, label: str, data_sets: list[str]) -> bool:
        """All data of one group; whether these and copies of them will be known again."""
        together = sorted(member for member, first in self.groups.items() if first == label)
        limit, tight = self.limit(label, self._total_spent(label)), self._tight(label)
        traces = {data_set: self._traces(log, data_set) for data_set in data_sets}
        for k, name in enumerate(together):
            first = data_sets[0] if data_sets and k == 0 else ""
            log.add(kind="data set", data_set=first, label=name, total=list(limit),
                    tight_delta=tight, people={})
        if len(together) > 1:
            log.add(kind="joined", of=together)
        for data_set in data_sets[1:]:
            log.add(kind="copy", data_set=data_set, of=[label], people={})
        for data_set, sets in traces.items():
            for people in sets or ():
                log.add(kind="people", data_set=data_set, people=people)
        return bool(data_sets) and self.salvaged.knows_salt and None not in traces.values()

    def _traces(self, log: OpenLog, data_set: str) -> list[dict[str, Any]] | None:
        """Hashes of the people of some data, as often as listed; None where they are not whole."""
        listed = {number: entry["people"] for number, entry in self.rows.items()
                  if entry.get("data_set") == data_set and "people" in entry}
        if not listed or not self.salvaged.knows_key or not self.salvaged.intact.issuperset(listed):
            return None
        if not all(name in self.salvaged.contents
                   for people in listed.values() for _, name in people.values()):
            return None
        return [{kind: [n, log.keep(self.salvaged.contents[name])]
                 for kind, (n, name) in people.items()} for people in listed.values() if people]

    def _tight(self, label: str) -> float | None:
        """The δ of the tighter figure, which stands only where nothing at all is in doubt."""
        rows = [entry for number, entry in self.rows.items() if entry["kind"] == "data set"
                and number in self.salvaged.intact and self.groups[entry["label"]] == label]
        is_whole = self.is_explained and not self.salvaged.lost(0)
        return rows[0]["tight_delta"] if is_whole and len(rows) == 1 else None

    def _enter_charges(self, log: OpenLog, label: str) -> None:
        """Charges that can be read, what became of them, and what is missing to the total."""
        charges = self._releases(label)
        for number, entry in charges.items():
            if entry["kind"] == "lost":
                log.add(**entry)
                continue
            plan = self.salvaged.contents.get(entry.get("plan", ""))
            again = log.add(**{**entry, "plan": "" if plan is None else log.keep(plan)})
            self._enter_end(log, number, again, plan is not None)
        (epsilon, delta), by_rows = self._total_spent(label), _sum(list(charges.values()))
        if (epsilon, delta) != by_rows:
            self.more[label] = epsilon - by_rows[0]
            log.add(kind="lost", label=label, at=self.at, epsilon=epsilon - by_rows[0],
                    delta=max(delta - by_rows[1], 0.0) * (1 + 1e-12))

    def _enter_end(self, log: OpenLog, number: int, again: int, has_plan: bool) -> None:
        ends = [(k, entry) for k, entry in self.rows.items()
                if k in self.salvaged.intact and entry.get("release") == number]
        end = ends[-1][1] if ends else None
        if end is not None and end["kind"] == "finished":
            log.add(kind="finished", release=again)
        elif end is not None and end["kind"] == "drawn" and has_plan and (
                end["messages"] in self.salvaged.contents):
            log.add(**{**end, "release": again,
                       "messages": log.keep(self.salvaged.contents[end["messages"]])})
        elif self.rows[number].get("request"):
            entry = self.rows[number]
            log.add(kind="closed", release=again, at=self.at, id=entry["id"], label=entry["label"],
                    data_set=entry["data_set"], spent=entry["spent"])

    def _enter_standing(self, log: OpenLog, data: Mapping[str, str]) -> None:
        """What everybody has spent now, for the witness, and which of its lines are settled."""
        books, settled = Books.of(log.entries), sorted(self.settled | self.witnessed.names)
        standing = [(data_set, label) for data_set, label in data.items()]
        standing += [("", label) for label in set(self.groups.values()) - set(data.values())]
        for data_set, label in standing or [("", "nobody")]:
            spent = total = [0, 0.0]
            if label in books.total:
                odometer = books.odometer(label)
                spent = [round(odometer.spent_epsilon * witness.BILLION), odometer.spent_delta]
                total = list(books.total[label])
            log.add(kind="repair", at=self.at, id=secrets.token_hex(8), label=label, spent=spent,
                    total=total, joined=sorted(books.joined.get(label, ())), data_set=data_set,
                    settled=[list(pair) for pair in settled])
            settled = []

    # -- files --------------------------------------------------------------------------------

    def put_in_place(self, ledger: Ledger) -> Repaired:
        """Keep the damaged files beside, tell the witness, and put the new ledger in place."""
        aside = ledger_file.write_aside(ledger.path, self.fill)
        try:
            log = self._opened(aside)
            damaged = _set_aside(ledger.path)
            witness.append(ledger.witness, [line_for(sealed) for sealed in log.entries
                                          if sealed.entry["kind"] == FINAL[-1]])
            ledger_file.replace(aside, ledger.path)
        finally:
            aside.unlink(missing_ok=True)
        books = Books.of(log.entries)
        return Repaired(damaged, 0, self.more, () if self.is_explained else tuple(_labels(books)),
                        tuple(self.unknown), _odometers(books))

    @staticmethod
    def _opened(aside: Path) -> OpenLog:
        file = sqlite3.connect(aside, isolation_level=None)
        try:
            log = OpenLog(file)
            log.read()
            return log
        finally:
            file.close()


def _set_aside(path: Path) -> str:
    """Copy the damaged ledger beside itself, and move away what must not touch the new one."""
    stamp = f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    damaged = path.with_name(f"{path.name}.{stamp}")
    if path.exists():
        shutil.copyfile(path, damaged)
        damaged.chmod(0o600)
    for suffix in ("-journal", "-wal", "-shm"):
        beside = Path(f"{path}{suffix}")
        if os.path.lexists(beside):
            beside.replace(f"{damaged}{suffix}")
    return damaged.name if path.exists() else ""


def _sum(charges: list[dict[str, Any]]) -> Total:
    return sum(entry["epsilon"] for entry in charges), sum_up([entry["delta"] for entry in charges])


def _plus(first: Total, second: Total) -> Total:
    return first[0] + second[0], sum_up([first[1], second[1]])
