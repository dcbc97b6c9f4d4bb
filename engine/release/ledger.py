"""What has been spent on every group of people, for ever: one SQLite file that all processes share.

Data are known by their observations alone (`data_content`): names, order, sites and stated bounds
make no difference. The file holds no observation, only a slow salted hash of all of them, by which
exactly equal data are known again, and keyed hashes of up to 2048 people for each data set, by
which other copies about the same people are noticed. Whoever can read the file, which holds the
keys, can check a guess of everything about all people, or of one person's id or whole curve: keep
it where the data are kept. What is published never depends on any of it; each release has a fresh
random id.

A charge is one transaction, written to disk before it returns, and only then is anything computed
or shown. Writers take turns: SQLite locks the file while a total is read, compared and added to.
ε's and δ's of releases add (basic composition, whatever was released before); ε is kept in whole
billionths, charges rounded up and totals down, so sums are exact.

That sum is what limits, and is more than many releases lose together. Beside it stands what the ρ's
of zCDP prove of all of them, although each may have been chosen after seeing the others:
`accounting.epsilon_at_any_time`. Its δ must be fixed before anything is seen, so it is the square
of the first total δ (1/(10n)² where that is a tenth of 1/n), whatever becomes of the total.

What is charged is not lost
---------------------------
A release goes through four steps, each on disk before the next begins:

1. charged, with its plan: everything but data that the published files are made from;
2. drawn, in memory;
3. stored: its noised messages, and the mark that it was drawn, in one transaction (`store`);
4. shown: files are written, or a page shows it, from the plan and the stored messages alone.

A process that is killed before 1 has charged nothing; after 3 the release is made again from the
ledger, at no charge, as often as asked. In between, what was drawn is gone with the process. Then
the same request draws anew under the same charge, which is sound: *no number of the first drawing
ever left the process that drew it*, because only what is stored is shown, and of two drawings under
one charge, by a second process or at once, the first that is stored is the release and the other is
thrown away unseen. Whether a drawing is stored must not depend on what was drawn; else the stored
ones would be a choice among several, which costs more. So nothing is computed between drawing and
storing, what is stored has a size that is fixed beforehand, and a drawing that *fails*, which its
numbers may have caused, closes its charge for good (`close`). A kill, a power cut and a full disk
do not look at the numbers; somebody who reads the memory of the process could, and could read the
data there as well. Charges of earlier versions, which showed first and noted afterwards, are never
drawn again.

What cannot be noticed about the file
-------------------------------------
Edits, an emptied, cut, exchanged or older file, and files of others are noticed: see
`engine.release.ledger_file` and `engine.release.sealed_log`. What is not: a ledger and its witness
that are both set back to the same moment, or both deleted; the last charge and its line, taken out
of both; an edit by somebody who seals all entries anew and rewrites the witness to fit; a clock set
back, on which nothing depends but the time that is written down.

Other copies of the same data
-----------------------------
Before the first charge to data that are new to the ledger, or whose ids are, their people are
compared with those of all others (`overlap`). Where at least half of the people of the smaller data
set seem to be in the other as well, the holder must say whether they are the same people, whose
total is then charged, or state that they are others, which the ledger records. What is noticed:

* a person dropped, added or replaced, or up to half of the people changed, in any way;
* rows or columns in another order, other ids, sites, bounds or names of columns;
* other times, such as months for years, dates for ages, or a shifted clock;
* another unit of values, of curves with three observations or more;
* observations changed by less than their sixth digit, such as + 10⁻⁹, in one curve or in all;
* anything at all, such as other observations of the same people, as long as the ids are the same.

What cannot be noticed: copies in which more than half of the curves *and* of the ids are other than
before (observations rounded to fewer digits, averaged, cut off, or moved visibly in every curve,
with new ids or none); other copies of records of few whole numbers, such as ages, without ids;
parts so small that they are less than about a hundredth of a file with more than 2048 people; data
of which the ledger took over no more than the sum from an earlier version; and data in another
ledger.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.core import entrance
from engine.core.errors import InputError
from engine.core.identity import Traces
from engine.core.types import Budget, PublicFacts
from engine.language.numbers import percent, small
from engine.release import overlap
from engine.release.books import Books, Odometer, ceiled, covers, floored, sum_up
from engine.release.sealed_log import OpenLog, SealedLog, digest
from engine.release.witness import BILLION

VARIABLE = "PRIVACY_CURVES_LEDGER"  # environment variable that names the file
WITNESS_VARIABLE = "PRIVACY_CURVES_WITNESS"  # and one that names its witness
DEFAULT_TOTAL = 3.0  # ε of one data set, unless its first release says otherwise
LONGEST_NAME = 80
COST_OF_A_GUESS = 2**14  # scrypt's n; with its r of 8 a guess takes 16 MB as well
_NO_TRACES: Traces = {}


@dataclass(frozen=True)
class Receipt:
    """A charge that has been written.

    Parameters
    ----------
    number : int
        Of its entry in the log.
    at : str
        When it was charged, ISO 8601 in UTC.
    release_id : str
        Random; says nothing of the data.
    budget : Budget
        What was charged.
    odometer : Odometer
        With this charge; for the holder alone.
    state : str
        What became of it (`books.Entry`).
    is_new : bool
        False where the same request had been charged before, so that nothing was charged now.
    """

    number: int
    at: str
    release_id: str
    budget: Budget
    odometer: Odometer
    state: str = "charged"
    is_new: bool = True


@dataclass(frozen=True)
class Drawn:
    """A release that was drawn: all that its files are made from, and none of the data.

    Parameters
    ----------
    receipt : Receipt
        Of its charge.
    plan, messages : bytes
        From `plan.Plan.to_bytes` and `plan.messages_to_bytes`.
    """

    receipt: Receipt
    plan: bytes
    messages: bytes


@dataclass(frozen=True)
class Known:
    """People of new data who seem to be in the ledger already; for their holder alone.

    Parameters
    ----------
    share : float
        How much of the smaller data set's people is in the other as well.
    kind : str
        By which kind of trace (see `engine.release.overlap`), or "repair" where the ledger lost
        whose releases some are.
    odometer : Odometer
        What was spent on them, with all who overlap.
    """

    share: float
    kind: str
    odometer: Odometer

    @property
    def is_certain(self) -> bool:
        """Whether their observations are the same, so that they cannot be others."""
        return self.kind in overlap.MEASURED


def path_of(name: str | os.PathLike[str] | None = None) -> Path:
    """Where the ledger is: as named, by the environment variable, or in the user's data folder.

    Parameters
    ----------
    name : str or path, optional
        As a person gave it.

    Raises
    ------
    InputError
        If it is named by an empty name, or as something else than a regular file.
    """
    stated = os.environ.get(VARIABLE) if name is None else name
    if stated is not None:
        return _named(stated, "ledger")
    folder = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return _named(Path(folder) / "privacy-curves" / "ledger.sqlite3", "ledger")


def witness_of(path: Path, name: str | os.PathLike[str] | None = None) -> Path:
    """Where its witness is: as named, by the environment variable, or beside the ledger.

    Parameters
    ----------
    path : Path
        Of the ledger.
    name : str or path, optional
        As a person gave it.

    Raises
    ------
    InputError
        As `path_of`, and if it is the ledger itself.
    """
    stated = os.environ.get(WITNESS_VARIABLE) if name is None else name
    beside = path.with_name(f"{path.name}.witness") if stated is None else stated
    witness = _named(beside, "witness")
    if os.path.realpath(witness) == os.path.realpath(path):
        raise InputError("The witness cannot be the ledger itself.", field="witness",
                         hint="Name another file, best on another disk.")
    return witness


def _named(name: str | os.PathLike[str], field: str) -> Path:
    """A regular file, or the name of one that is not there yet."""
    if not os.fspath(name):
        raise InputError(f"The name of the {field} is empty.", field=field,
                         hint="Name a file, or leave the option or variable out.")
    try:
        full = Path(name).expanduser()
    except RuntimeError:  # a home that nobody knows
        full = Path(name)
    return entrance.file_to_keep(full, field)


class Ledger:
    """The ledger in one file, which is made at the first charge and not before.

    Parameters
    ----------
    path, witness : str or path, optional
        Where the ledger and its witness are; see `path_of` and `witness_of`.

    Raises
    ------
    InputError
        From every method, if a file cannot be read or written, was changed by other means, or lacks
        what the witness lists.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from engine.core.types import Budget
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.sqlite3")
    ...     receipt = ledger.charge(b"a hash of all observations", Budget(1.0, 1e-6), "growth-2026",
    ...                           "Average curve", total=Budget(3.0, 1e-3))
    >>> receipt.odometer.spent_epsilon, receipt.odometer.left
    (1.0, 2.0)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None,
                 witness: str | os.PathLike[str] | None = None) -> None:
        self.path = path_of(path)
        self.witness = witness_of(self.path, witness)
        self.log = SealedLog(self.path, self.witness, covers)

    def odometer(self, content: bytes) -> Odometer | None:
        """What has been spent on the people of the data with this content; None if nothing was.

        Parameters
        ----------
        content : bytes
            From `data_content.content_of`.
        """
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            books = Books.of(log.entries)
            label = books.population.get(_slow_hash(content, log.salt))
            return None if label is None else books.odometer(label)

    def known(self, content: bytes, traces: Traces) -> Known | None:
        """Whether people of data that are new to the ledger, or with new ids, seem to be in it.

        Parameters
        ----------
        content : bytes
            From `data_content.content_of`.
        traces : mapping of str to tuple of bytes
            From `Source.traces`.

        Returns
        -------
        Known or None
            None where nobody seems to be, or the very same data with the same ids are in it.
        """
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            books, data_set = Books.of(log.entries), _slow_hash(content, log.salt)
            sketches = overlap.sketches(traces, log.key)
            if books.is_compared(data_set, _people(sketches)):
                return None
            label = books.population.get(data_set)
            return _known(books, _matches(log, books, sketches, label), label)

    def charge(self, content: bytes, budget: Budget, name: str, description: str,
               total: Budget | None = None, facts: PublicFacts | None = None,
               rho: float | None = None, traces: Traces = _NO_TRACES,
               same_people: bool | None = None, plan: bytes = b"", request: bytes = b"") -> Receipt:
        """Write a charge, or refuse it; when this returns it is on disk.

        Parameters
        ----------
        content : bytes
            From `data_content.content_of`: what the data are known by.
        budget : Budget
            ε is rounded up to billionths.
        name : str
            What the release is called; no other of the same people has this name.
        description : str
            What is released, and by which method; for the holder alone.
        total : Budget, optional
            Fixed by the first release of a group of people; a later one can only lower it.
        facts : PublicFacts, optional
            Lend a refusal their words.
        rho : float, optional
            The same charge by zCDP.
        traces : mapping of str to tuple of bytes
            Of the people (`Source.traces`).
        same_people : bool, optional
            What the holder says where people seem to be in the ledger already: whether they are the
            same, so that all they lost is added up, or others. Whose observations are the same
            cannot be others.
        plan : bytes
            All but data that the release is made from, kept with the charge.
        request : bytes
            A digest of everything that was asked for; the same request of the same data is charged
            once.

        Raises
        ------
        InputError
            If the total would be overrun or raised, the name is empty or used already, or people
            seem to be known and nobody says whether they are the same, or says that they are not
            though their observations are.
        """
        name, facts = checked_name(name), facts or PublicFacts()
        if self.log.exists():
            with self.log.reading() as log:
                salt = log.salt
            for hashed in (content, request):
                _slow_hash(hashed, salt)  # remembered: others do not wait for it
        with self.log.writing() as log:
            data_set, books = _slow_hash(content, log.salt), Books.of(log.entries)
            request_hash = _slow_hash(request, log.salt) if request else ""
            earlier = _earlier(books, data_set, request_hash)
            if earlier is not None:
                return _receipt(books, earlier)
            sketches = overlap.sketches(traces, log.key)
            if books.is_compared(data_set, _people(sketches)):
                _lower(log, books.population[data_set], books, total)
            else:
                self._enter(log, books, data_set, sketches, total, facts, same_people)
            books = Books.of(log.entries)
            before = books.odometer(books.population[data_set])
            check_name(before, name)
            check_room(before, budget, facts)
            timestamp = datetime.now(UTC).isoformat(timespec="seconds")
            release_id, epsilon = secrets.token_hex(8), ceiled(budget.epsilon)
            spent = [ceiled(before.spent_epsilon) + epsilon,
                     sum_up([before.spent_delta, budget.delta])]
            number = log.add(
                kind="release", data_set=data_set, at=timestamp, id=release_id, name=name,
                what=description, epsilon=epsilon, delta=budget.delta, rho=rho,
                request=request_hash, plan=log.keep(plan) if plan else "",
                **_standing(books, before.label, spent))
            after = Books.of(log.entries)
        return _receipt(after, number, is_new=True)

    def asked_before(self, content: bytes, request: bytes) -> Receipt | None:
        """The charge of the same request of the same data; None if there is none.

        Parameters
        ----------
        content : bytes
            From `data_content.content_of`.
        request : bytes
            As it was given to `charge`.
        """
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            books = Books.of(log.entries)
            number = _earlier(books, _slow_hash(content, log.salt), _slow_hash(request, log.salt))
            return None if number is None else _receipt(books, number)

    def store(self, receipt: Receipt, messages: bytes) -> None:
        """Store the noised messages of a charge and mark it as drawn, in one transaction.

        If another process was faster its messages stay, and these must be forgotten: what may be
        shown is what `release` reads back.

        Parameters
        ----------
        receipt : Receipt
            From `charge`.
        messages : bytes
            Of a size that does not depend on their numbers (`plan.messages_to_bytes`).

        Raises
        ------
        InputError
            If they cannot be stored; then nothing of them may be shown. If the charge was closed.
        """
        with self.log.writing() as log:
            books = Books.of(log.entries)
            state = books.state(receipt.number)
            if state in ("charged", "under way"):
                self._end(log, books, receipt.number, "drawn", messages=log.keep(messages))
            elif state != "drawn":
                raise _closed()

    def close(self, receipt: Receipt) -> None:
        """Note that drawing failed: the charge counts, and nothing is ever drawn under it.

        Parameters
        ----------
        receipt : Receipt
            From `charge`; one that was drawn already stays as it is.
        """
        with self.log.writing() as log:
            books = Books.of(log.entries)
            if books.state(receipt.number) in ("charged", "under way"):
                self._end(log, books, receipt.number, "closed")

    def receipt(self, release_id: str) -> Receipt | None:
        """Give the charge with this id; None if there is none."""
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            books = Books.of(log.entries)
            return next((_receipt(books, number) for number, (_, entry) in books.releases.items()
                         if entry["id"] == release_id), None)

    def release(self, release_id: str) -> Drawn:
        """A release that was drawn, to be made again; at no charge, and as often as asked.

        Parameters
        ----------
        release_id : str
            From its receipt.

        Raises
        ------
        InputError
            If there is none with this id, or it was not drawn or its messages were not kept.
        """
        if not self.log.exists():
            raise _no_release()
        with self.log.reading() as log:
            release, is_seen = _drawn(log, release_id), self.log.is_witnessed(log)
        if not is_seen:  # a kill came between: it must stand in the witness before it is shown
            with self.log.writing() as log:
                release = _drawn(log, release_id)
        return release

    def _end(self, log: OpenLog, books: Books, number: int, kind: str, **more: Any) -> None:
        """Write what became of a charge, and what its people have spent, for the witness."""
        data_set, entry = books.releases[number]
        odometer = books.odometer(books.population[data_set])
        log.add(kind=kind, release=number, at=datetime.now(UTC).isoformat(timespec="seconds"),
                id=entry["id"], data_set=data_set, **more,
                **_standing(books, odometer.label,
                            [ceiled(odometer.spent_epsilon), odometer.spent_delta]))

    def _enter(self, log: OpenLog, books: Books, data_set: str,
               sketches: Mapping[str, overlap.Sketch], total: Budget | None, facts: PublicFacts,
               same_people: bool | None) -> None:
        """Data or ids that are new: with their own total, or that of the people they are about."""
        label = books.population.get(data_set)
        matches = _matches(log, books, sketches, label)
        people = _people(sketches)
        for sketch in sketches.values():
            log.keep(sketch.to_bytes())
        if same_people is False and any(kind in overlap.MEASURED for _, kind in matches.values()):
            raise _are_the_same(matches, facts)
        if matches and same_people is None:
            raise _who_are_they(matches, facts)
        if matches and same_people:
            of = sorted(matches if label is None else {*matches, label})
            log.add(kind="copy", data_set=data_set, people=people, of=of)
            _lower(log, of[0], Books.of(log.entries), total)
        elif label is not None:
            log.add(kind="people", data_set=data_set, people=people, stated_others=sorted(matches))
            _lower(log, label, books, total)
        else:
            total = Budget(DEFAULT_TOTAL) if total is None else total
            if not total.is_private:
                raise InputError("The total ε of a data set must be finite.", field="total")
            log.add(kind="data set", data_set=data_set, label=f"data-{secrets.token_hex(4)}",
                    total=[floored(total.epsilon), total.delta], tight_delta=total.delta**2,
                    people=people, stated_others=sorted(matches))


def _standing(books: Books, label: str, spent: list[Any]) -> dict[str, Any]:
    """What the witness says of people: all their labels, what they have spent, and their total."""
    return {"label": label, "spent": spent, "total": list(books.total[label]),
            "joined": sorted(books.joined[label])}


def _earlier(books: Books, data_set: str, request: str) -> int | None:
    """The number of a charge of the same request of the same data."""
    if not request:
        return None
    return next((number for number, (other, entry) in books.releases.items()
                 if other == data_set and entry.get("request") == request), None)


def _receipt(books: Books, number: int, is_new: bool = False) -> Receipt:
    data_set, entry = books.releases[number]
    budget = Budget(entry["epsilon"] / BILLION, entry["delta"])
    return Receipt(number, entry["at"], entry["id"], budget,
                   books.odometer(books.population[data_set]), books.state(number), is_new)


def _drawn(log: OpenLog, release_id: str) -> Drawn:
    books = Books.of(log.entries)
    number = next((number for number, (_, entry) in books.releases.items()
                   if entry["id"] == release_id), None)
    if number is None:
        raise _no_release()
    state = books.state(number)
    if state == "charged":
        raise InputError("This release was charged, but nothing was drawn: its process was ended.",
                         field="release", hint="Ask for it once more, with the same settings and "
                         "the same name: it is drawn under the same charge.")
    if state == "under way":
        raise InputError("This release is under way with other sites: not all messages have come.",
                         field="release", hint="“python -m engine site” goes on with it.")
    if state == "closed":
        raise _closed()
    if state != "drawn":
        raise InputError("This release cannot be made again: its noised numbers were not kept.",
                         field="release", hint="Its files are those that were written then.")
    return Drawn(_receipt(books, number), log.content(books.releases[number][1]["plan"]),
                 log.content(books.ends[number]["messages"]))


def _no_release() -> InputError:
    return InputError("The ledger has no release with this id.", field="release",
                      hint="“python -m engine ledger verify” lists all of them.")


def _closed() -> InputError:
    return InputError("Drawing this release failed after it was charged, or its noised numbers "
                      "were lost: it counts and cannot be drawn again.", field="name",
                      hint="Publish under another name; that is charged as well.")


# -- people who are known -------------------------------------------------------------------------


def _matches(log: OpenLog, books: Books, sketches: Mapping[str, overlap.Sketch],
             except_for: str | None) -> dict[str, tuple[float, str]]:
    """Populations that most of these people seem to be in: the largest share of each, by kind.

    Without the one, if any, that their observations belong to already.
    """
    shares: dict[str, tuple[float, str]] = {books.label_of(label): (1.0, "repair")
                                            for label in books.unknown}
    for data_set, sets in books.people.items():
        label = books.population[data_set]
        for people in sets if sketches and label != except_for else ():
            theirs = {kind: overlap.Sketch.from_bytes(n, log.content(name))
                      for kind, (n, name) in people.items() if kind in sketches}
            share = overlap.largest_share(sketches, theirs)
            if share[0] >= overlap.MAJORITY:
                shares[label] = max(shares.get(label, (0.0, "")), share)
    return {label: share for label, share in shares.items() if label != except_for}


def _people(sketches: Mapping[str, overlap.Sketch]) -> dict[str, list[Any]]:
    """Sketches as an entry names them."""
    return {kind: [sketch.n, digest(sketch.to_bytes())] for kind, sketch in sketches.items()}


def _known(books: Books, matches: Mapping[str, tuple[float, str]], label: str | None
           ) -> Known | None:
    """With what was spent on all of them, and on the people their observations belong to."""
    if not matches:
        return None
    share, kind = max(matches.values(), key=lambda pair: (pair[1] == "repair", pair))
    return Known(share, kind, books.odometer(*matches, *([] if label is None else [label])))


def _who_are_they(matches: Mapping[str, tuple[float, str]], facts: PublicFacts) -> InputError:
    return InputError(
        f"About {percent(max(matches.values())[0])} of these {facts.people} seem to be in the "
        "ledger already, in other data.", field="people",
        hint="Say whether they are the same: then this release counts together with those before.")


def _are_the_same(matches: Mapping[str, tuple[float, str]], facts: PublicFacts) -> InputError:
    return InputError(
        f"About {percent(max(matches.values())[0])} of these {facts.people} have the same "
        "observations as people in the ledger: they are the same people.", field="people",
        hint="Say so: then this release counts together with those before.")


def _lower(log: OpenLog, label: str, books: Books, total: Budget | None) -> None:
    """Lower the total of people who are known; never raise it."""
    if total is None:
        return
    epsilon, delta = books.total[label]
    if floored(total.epsilon) > epsilon or total.delta > delta * (1 + 1e-12):
        raise InputError(f"The total for these data was fixed at ε = {epsilon / BILLION:g}, "
                         f"δ = {small(delta)}, and cannot be raised.", field="total",
                         hint="Leave it out, or lower it.")
    if (floored(total.epsilon), total.delta) != (epsilon, delta):
        log.add(kind="total", label=label, total=[floored(total.epsilon), total.delta])


# -- checks and sums ------------------------------------------------------------------------------


def checked_name(name: str) -> str:
    """A release's name without surrounding spaces.

    Parameters
    ----------
    name : str
        As a person gave it.

    Raises
    ------
    InputError
        If it is empty, too long or not printable.

    Examples
    --------
    >>> checked_name(" growth-2026 ")
    'growth-2026'
    """
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"A release needs a name of 1 to {LONGEST_NAME} characters.", field="name",
                         hint="For example growth-2026.")
    return name


@lru_cache(maxsize=256)
def _slow_hash(content: bytes, salt: bytes) -> str:
    """A slow salted hash: guessing the observations takes a tenth of a second for every guess."""
    return hashlib.scrypt(content, salt=salt, n=COST_OF_A_GUESS, r=8, p=1, dklen=32).hex()


def check_name(before: Odometer, name: str) -> None:
    """Refuse a name that another release of the same people has.

    Parameters
    ----------
    before : Odometer
        Of the people, without the charge.
    name : str
        Of the next release.

    Raises
    ------
    InputError
        If it is used.
    """
    if any(entry.name == name for entry in before.entries):
        raise InputError("A release of these data has this name already.", field="name",
                         hint="Choose another name.")


def check_room(before: Odometer, budget: Budget, facts: PublicFacts) -> None:
    """Refuse a charge for which there is no room.

    Parameters
    ----------
    before : Odometer
        Of the people, without the charge.
    budget : Budget
        The charge.
    facts : PublicFacts
        Lend a refusal their words.

    Raises
    ------
    InputError
        If the total ε or δ would be overrun.
    """
    person = facts.person
    if ceiled(budget.epsilon) > floored(before.left):
        raise InputError(f"This would take one {person} over the total of ε = "
                         f"{before.total.epsilon:g}. ε = {max(before.left, 0.0):g} is left.",
                         field="epsilon",
                         hint=f"Lower ε, or publish nothing more about these {facts.people}: "
                              "a total that was fixed can never be raised.")
    if sum_up([before.spent_delta, budget.delta]) > before.total.delta * (1 + 1e-9):
        raise InputError(f"This would take one {person} over the total of δ = "
                         f"{small(before.total.delta)}.", field="delta",
                         hint="Lower δ, or choose a method with δ = 0.")
