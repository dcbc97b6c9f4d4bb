"""The ledger of each person's spending, for ever: one SQLite file that all processes share.

Who is known
------------
The ledger knows people by keyed hashes of their ids and of the shapes of their curves
(`engine.release.people`), and for each release the set of its people. There are no data sets in it:
what a person has lost is the sum over all releases whose set holds that person. Groups are a set
each, a yearly update is a new set, whoever is added starts at 0, and corrected values of a known id
are that person's. A set that cannot be read counts for everybody. Nothing is ever taken out: the
hash of a person is the record of what that person has lost.

No observation is in the file, and without the key, which is in a file of its own
(`engine.release.key_file`), nobody can check a guess about anybody with it. What is published never
depends on any of it; each release has a fresh random id.

A charge is one transaction, written to disk before it returns, and only then is anything computed
or shown. Writers take turns: SQLite locks the file while losses are added up. A charge is permitted
if afterwards every person of its set is within the total by either rule (`engine.privacy.filters`):
then no person known to this ledger loses more than its total, whatever was released before and
however the next release was chosen.

The total belongs to the ledger; a set may lower it for its people, and what is unstated of it is
δ = 0.1/n for a set of n people. Whether a charge is permitted says nothing new as long as people
are known by their ids: neighbours have the same. Matches by curve depend on observations; they may
refuse a charge, and are told to the holder alone.

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

A release from a store of curves, whose rounds take long, stores each message before the next round
begins (`engine.release.partial`, `published._Rounds`): the same request goes on with the round that
was under way. A run of several sites reserves the whole, so that nobody can spend it meanwhile, and
draws round by round; `close` returns the rounds of which nothing was ever drawn. The filters allow
stopping at any time, so this is sound.

What cannot be noticed
----------------------
Edits, an emptied, cut, exchanged or older file, and files of others are noticed: see
`engine.release.ledger_file` and `engine.release.sealed_log`. Not noticed: a ledger and its witness
that are both set back to the same moment, or both deleted; the last charge and its line, taken out
of both; edits by somebody who has the key and rewrites both; people of another ledger; other files
with ids of another list and no telling curves; rounded or shortened curves with new ids.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import entrance
from engine.core.errors import InputError
from engine.core.identity import Traces
from engine.core.typed import checked
from engine.core.types import Budget, Data, PublicFacts
from engine.language.numbers import small, whole
from engine.privacy.failure import large_delta
from engine.privacy.filters import FINE, FINE_DELTA, Loss, in_units
from engine.release.books import Books, Charge, Entry, loss_of_rounds
from engine.release.data_content import content_of
from engine.release.earlier_ledgers import slow_hash
from engine.release.people import (
    KnownRecords,
    PeopleSet,
    RecordHashes,
    file_digest,
    found,
    same_among,
)
from engine.release.sealed_log import OpenLog, SealedLog
from engine.release.standing import Share, Standing, read_set, same_in, sets_in, standing
from engine.sources import Source

# Digests of one request: the present one, then those by which earlier versions know it.
Requests = tuple[bytes, ...]
VARIABLE = "PRIVACY_CURVES_LEDGER"  # environment variable that names the file
WITNESS_VARIABLE = "PRIVACY_CURVES_WITNESS"  # and one that names its witness
DEFAULT_TOTAL = 3.0  # ε of a ledger, unless its first release says otherwise
LARGEST_TOTAL = 10_000.0
LONGEST_NAME = 80


@dataclass(frozen=True)
class Receipt:
    """A charge that has been written."""

    number: int  # of its entry in the log
    at: str  # when it was charged, ISO 8601 in UTC
    release_id: str  # random; says nothing of the data
    budget: Budget  # what was charged
    standing: Standing  # of its people, with this charge; for the holder alone
    state: str = "charged"  # what became of it (`books.Entry`)
    is_new: bool = True  # False if the same request had been charged before


@dataclass(frozen=True)
class Drawn:
    """A release that was drawn: all that its files are made from, and none of the data."""

    receipt: Receipt
    plan: bytes  # from `plan.Plan.to_bytes`
    messages: bytes  # from `plan.messages_to_bytes`


@dataclass(frozen=True, eq=False)
class _People:
    """The people of a data set as one ledger knows them."""

    known: KnownRecords
    records: str  # digest of their records, in any order
    data: str  # and of all that they are known by, in the order of the data
    own_set: str  # digest of the same set, if the ledger has it
    data_set: str  # hash by which ledgers of earlier versions know the data

    @property
    def new_set(self) -> bytes:
        return self.known.people_set().to_bytes()


def path_of(name: str | os.PathLike[str] | None = None) -> Path:
    """Find the ledger: as named, by the environment variable, or in the user's data folder.

    The path is absolute, so that no program finds another ledger in another folder.
    """
    if name is not None:
        return entrance.lasting_file(name, "ledger")
    if VARIABLE in os.environ:
        return entrance.lasting_file(os.environ[VARIABLE], "ledger", VARIABLE)
    return entrance.users_file("XDG_DATA_HOME", "~/.local/share", "ledger.sqlite3", "ledger")


def witness_of(path: Path, name: str | os.PathLike[str] | None = None) -> Path:
    """Find the witness: as named, by the environment variable, or beside the ledger."""
    if name is None and WITNESS_VARIABLE in os.environ:
        witness = entrance.lasting_file(os.environ[WITNESS_VARIABLE], "witness", WITNESS_VARIABLE)
    else:
        beside = path.with_name(f"{path.name}.witness")
        witness = entrance.lasting_file(beside if name is None else name, "witness")
    if os.path.realpath(witness) == os.path.realpath(path):
        raise InputError(
            "The witness cannot be the ledger itself.",
            field="witness",
            hint="Name another file, best on another disk.",
        )
    return witness


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
        what the witness lists, and if the key of the ledger is not on this machine.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from engine.release.books import Charge
    >>> from engine.sources import sources
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.sqlite3")
    ...     receipt = ledger.charge(sources.build("sea_temperature", {}), Charge(Budget(1.0)),
    ...                             "sea-2026", "Average curve")
    ...     left = ledger.standing(sources.build("sea_temperature", {}))
    >>> receipt.budget.epsilon, left
    (1.0, {2.0: 61})
    """

    @checked
    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        witness: str | os.PathLike[str] | None = None,
    ) -> None:
        self.path = path_of(path)
        self.witness = witness_of(self.path, witness)
        self.log = SealedLog(self.path, self.witness)

    # -- what people have lost and have left -------------------------------------------------

    def standing(self, curves: Source[Data]) -> dict[float, int]:
        """Count the people of a data set by the ε that they have left.

        For the holder of the data alone: it depends on who is in them.

        Parameters
        ----------
        curves : Source
            From `read_curves`, or other real data.

        Returns
        -------
        dict of float to int
            People by the ε that they have left, from most to least: the total less what was spent
            by the better of the two rules, rounded down to a thousandth. One more release with
            Gaussian noise, or a pure one that fits the sum, may cost them this. People who are new
            to the ledger have all of its total.

        Raises
        ------
        InputError
            If the ledger cannot be believed, or the data are simulated.
        """
        counts: dict[float, int] = {}
        for share in self.standing_of(curves).shares:
            counts[share.left] = counts.get(share.left, 0) + share.people
        return counts

    def standing_of(
        self,
        source: Source[Data],
        same_people: bool | None = None,
        total: Budget | None = None,
        in_order: bool = False,
    ) -> Standing:
        """Add up what the people of a data set have lost; see `charge` for the arguments.

        Only with `in_order` the places of single people are those in the data.
        """
        traces = _traces(source)
        total = total or Budget(
            DEFAULT_TOTAL if (known := self.total()) is None else known.epsilon,
            large_delta(traces.n),
        )
        if not self.log.exists():
            return Standing((Share(traces.n, Loss(), total),), (), 0, 0, np.zeros(traces.n, int))
        with self.log.reading() as log:
            books = Books.of(log.entries)
            people = _people_in(log, books, source, traces, same_people is False, in_order)
            own = in_units(total.epsilon, FINE, up=False), total.delta
            return standing(log, books, people.known, own, people.data_set, people.own_set)

    def entries(self) -> tuple[Entry, ...]:
        """All releases, in their order."""
        if not self.log.exists():
            return ()
        with self.log.reading() as log:
            books = Books.of(log.entries)
            return tuple(map(books.entry, books.releases))

    def total(self) -> Budget | None:
        """The most that anybody in this ledger may lose; None before its first release."""
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            total = Books.of(log.entries).total
            return None if total is None else Budget(total[0] / FINE, total[1])

    def check_new(self, name: str, total: Budget | None) -> None:
        """Refuse a name that is used or a total that is raised, as `charge` would."""
        check_name(self.entries(), checked_name(name))
        known = self.total()
        if (
            total is not None
            and known is not None
            and (total.epsilon > known.epsilon or total.delta > known.delta)
        ):
            raise _raised(known, total.epsilon > known.epsilon)

    # -- charging ----------------------------------------------------------------------------

    def charge(
        self,
        source: Source[Data],
        charge: Charge,
        name: str,
        description: str,
        total: Budget | None = None,
        same_people: bool | None = None,
        plan: bytes = b"",
        requests: Requests = (),
    ) -> Receipt:
        """Write a charge, or refuse it; when this returns it is on disk.

        With rounds in the charge the whole is reserved, and `engine.release.partial` draws them.

        Parameters
        ----------
        source : Source
            Whose people are charged.
        charge : Charge
            What it costs each of them.
        name : str
            What the release is called; no other of this ledger has this name.
        description : str
            What is released, and by which method; for the holder alone.
        total : Budget, optional
            The most that these people may lose. The first release fixes the ε of the ledger.
        same_people : bool, optional
            False states that people who are known by their curve alone are others, and that people
            of these data with equal curves are several; the ledger records it. Otherwise they are
            the same.
        plan : bytes
            All but data that the release is made from, kept with the charge.
        requests : tuple of bytes
            A digest of everything that was asked for, data included, and digests by which earlier
            versions know it; the same request is charged once.

        Raises
        ------
        InputError
            If people have too little left, the total would be raised, the name is empty or used
            already, or people have several records in these data.
        """
        name, traces = checked_name(name), _traces(source)
        if self.log.exists():
            with self.log.reading() as log:  # slow hashes are kept: others do not wait for them
                _request_hashes(log, requests)
                _data_set(log, source)
        with self.log.writing() as log:
            books = Books.of(log.entries)
            earlier = _earlier(log, books, requests)
            if earlier is not None:
                return _receipt(log, books, earlier)
            check_name(map(books.entry, books.releases), name)
            if books.total is None:
                epsilon = DEFAULT_TOTAL if total is None else total.epsilon
                if not epsilon <= LARGEST_TOTAL:
                    raise InputError(
                        f"The total ε must be finite, and at most {LARGEST_TOTAL:g}.", field="total"
                    )
                books.total = in_units(epsilon, FINE, up=False), large_delta(1)
                log.add(kind="total", total=list(books.total))
            people = _people_in(log, books, source, traces, same_people is False)
            _check_once(people.known, source.facts, same_people is False)
            own = (
                books.total[0] if total is None else in_units(total.epsilon, FINE, up=False),
                large_delta(traces.n) if total is None else total.delta,
            )
            before = standing(log, books, people.known, None, people.data_set, people.own_set)
            if total is not None:
                _check_not_raised(own, before)
            before = before.with_total(own)
            before.check_room(charge, source.facts)
            self._complete(log, books, people)
            number = log.add(
                kind="release",
                name=name,
                what=description,
                rho=charge.rho,
                n=traces.n,
                request=log.keyed(requests[0]) if requests else "",
                plan=log.keep(plan) if plan else "",
                records=people.records,
                data=people.data,
                stated_others=same_people is False,
                same=_kept_pairs(log, people.known),
                **({"rounds": [_plain(each) for each in charge.rounds]} if charge.rounds else {}),
                **_final(
                    charge.loss,
                    [people.own_set or log.keep(people.new_set)],
                    own,
                    secrets.token_hex(8),
                ),
            )
            books = Books.of(log.entries)
            return _receipt(log, books, number, before.after(charge, books.entry(number)))

    def asked_before(self, requests: Requests) -> Receipt | None:
        """Find the charge of the same request; None if there is none."""
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            books = Books.of(log.entries)
            number = _earlier(log, books, requests)
            return None if number is None else _receipt(log, books, number)

    def members(self, receipt: Receipt, source: Source[Data]) -> NDArray[np.bool_]:
        """True for the people (n,) of these data, in their order, whom a charge is about."""
        with self.log.reading() as log:
            books = Books.of(log.entries)
            known = _people_in(log, books, source, _traces(source), False, in_order=True).known
            sets = [read_set(log, name) for name in books.sets(receipt.number)]
            names = [known.same.names(people.persons) for people in sets if people is not None]
            if not names or len(names) < len(sets):
                raise _closed()
            return np.isin(known.same.names(known.persons), np.concatenate(names))

    def store(self, receipt: Receipt, messages: bytes) -> None:
        """Store the noised messages of a charge and mark it as drawn, in one transaction.

        If another process was faster its messages stay, and these must be forgotten: what may be
        shown is what `release` reads back. The size of `messages` must not depend on their numbers
        (`plan.messages_to_bytes`).

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

    def close(self, receipt: Receipt, drawing: int | None = None) -> None:
        """Note that nothing more is drawn under a charge; one that was drawn stays as it is.

        A drawing that failed counts whole. Of a charge by round those count of which a message was
        drawn, and the round that was being drawn when it failed (`drawing`); the rest is returned.
        """
        with self.log.writing() as log:
            books = Books.of(log.entries)
            if books.state(receipt.number) not in ("charged", "under way"):
                return
            rounds = [Loss(*each) for each in books.releases[receipt.number].get("rounds", ())]
            loss = books.loss(receipt.number)
            if rounds:
                drawn = books.drawn_rounds(receipt.number)
                if drawing is not None:
                    drawn.add(drawing)
                loss = loss_of_rounds([rounds[k] for k in sorted(drawn)], loss)
            self._end(log, books, receipt.number, "closed", loss)

    def receipt(self, release_id: str) -> Receipt | None:
        """Give the charge with this id; None if there is none."""
        if not self.log.exists():
            return None
        with self.log.reading() as log:
            books = Books.of(log.entries)
            return next(
                (
                    _receipt(log, books, number)
                    for number, entry in books.releases.items()
                    if entry["id"] == release_id
                ),
                None,
            )

    def release(self, release_id: str) -> Drawn:
        """Read a release that was drawn, to be made again; at no charge, and as often as asked.

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

    # -- totals, other ledgers, and data of earlier versions ------------------------------------

    def lower(self, total: Budget, source: Source[Data] | None = None) -> None:
        """Lower the total of everybody, or of the people of a data set the ledger has; for ever.

        Raises
        ------
        InputError
            If it would be raised, or the ledger has no release of just these people.
        """
        self._check_exists()
        with self.log.writing() as log:
            books = Books.of(log.entries)
            sets, stated = [], (in_units(total.epsilon, FINE, up=False), total.delta)
            if source is not None:
                people = _people_in(log, books, source, _traces(source), False)
                if not people.own_set:
                    raise InputError(
                        "The ledger has no release about exactly these people.",
                        field="total",
                        hint="State the total with a release.",
                    )
                sets = [people.own_set]
                _check_not_raised(
                    stated, standing(log, books, people.known, None, "", people.own_set)
                )
            elif books.total is not None and (
                stated[0] > books.total[0] or stated[1] > books.total[1]
            ):
                raise _raised(
                    Budget(books.total[0] / FINE, books.total[1]), stated[0] > books.total[0]
                )
            log.add(kind="lower", **_final(Loss(), sets, stated, ""))

    def join(self, other: Ledger) -> int:
        """Add the releases of another ledger with the same key, each once; and count them.

        What was drawn there can be made again here; what was not counts, and is not drawn here.

        Raises
        ------
        InputError
            If the other ledger has another key: then nobody can be known in both.
        """
        if not other.log.exists():
            raise InputError("There is no other ledger.", field="other")
        with other.log.reading() as theirs, self.log.writing() as log:
            if theirs.key != log.key:
                raise InputError(
                    "The other ledger has another key, so nobody can be known in both.",
                    field="other",
                    hint="A key is made once for all ledgers "
                    "that may be joined. Nothing was changed.",
                )
            books, more = Books.of(log.entries), Books.of(theirs.entries)
            ids = {entry["id"] for entry in books.releases.values()}
            if books.total is None and more.total is not None:
                log.add(kind="total", total=list(more.total))
            new = [number for number in more.releases if more.releases[number]["id"] not in ids]
            for number in new:
                _enter_joined(log, theirs, more, number)
            for held, total in more.lowered:
                log.add(kind="lower", **_final(Loss(), held, total, ""))
            sets = [people for _, people in sets_in(log, Books.of(log.entries))]
            same = same_in(log, books).with_pairs(*same_in(theirs, more).pairs.T)
            log.add(kind="joined", releases=len(new), same=_kept(log, same_among(sets, same).pairs))
            return len(new)

    def complete(self, source: Source[Data]) -> tuple[Entry, ...]:
        """Say whose the releases of these data are, which an earlier version did not keep.

        Until then they count for everybody.

        Raises
        ------
        InputError
            If no such release is about these data.
        """
        self._check_exists()
        with self.log.writing() as log:
            books, traces = Books.of(log.entries), _traces(source)
            people = _people_in(log, books, source, traces, False)
            if not self._complete(log, books, people):
                raise InputError(
                    "No release of the ledger waits for these data.",
                    field="file",
                    hint="Show the very file that was released from.",
                )
            return tuple(
                books.entry(number)
                for number, entry in books.releases.items()
                if people.data_set in entry.get("missing", ())
            )

    def _complete(self, log: OpenLog, books: Books, people: _People) -> bool:
        """Note the set of data of an earlier version, if releases wait for it."""
        waits = (
            people.data_set
            and people.data_set not in books.completed
            and any(
                people.data_set in entry.get("missing", ()) for entry in books.releases.values()
            )
        )
        if waits:
            log.add(
                kind="complete",
                data_set=people.data_set,
                records=people.records,
                set=people.own_set or log.keep(people.new_set),
                same=_kept_pairs(log, people.known),
            )
        return bool(waits)

    def _end(
        self,
        log: OpenLog,
        books: Books,
        number: int,
        kind: str,
        loss: Loss | None = None,
        **more: Any,
    ) -> None:
        """Write what became of a charge."""
        entry = books.releases[number]
        log.add(
            kind=kind,
            release=number,
            **more,
            **_final(
                books.loss(number) if loss is None else loss,
                entry["sets"],
                entry["total"],
                entry["id"],
            ),
        )

    def _check_exists(self) -> None:
        if not self.log.exists():
            raise InputError(
                "There is no ledger yet.", field="ledger", hint="The first release makes it."
            )


def _traces(source: Source[Data]) -> Traces:
    traces = source.traces()
    if not traces.n:
        raise InputError(
            "There is no ledger of simulated data.",
            field="source",
            hint="Choose public data, or use your own.",
        )
    return traces


def _people_in(
    log: OpenLog,
    books: Books,
    source: Source[Data],
    traces: Traces,
    are_others: bool,
    in_order: bool = False,
) -> _People:
    """Find the people of a data set; those of a set that the ledger has need no comparison.

    Data that were charged before, in the same order, need no hash of each person either. Those with
    spellings that a ledger of an earlier version may know are compared in any case.
    """
    same = same_in(log, books)
    data = "" if traces.stored is not None else file_digest(traces, log.key)  # that reads all
    data_set, records = _data_set(log, source), None
    in_order = in_order or bool(log.salt and traces.spellings)
    name = "" if in_order or not data else books.records_of.get(data, "")
    if not name:
        records = RecordHashes.of(traces, log.key, bool(log.salt))
        name = records.digest
    own_set = "" if in_order else books.set_of.get(name, "")
    own = read_set(log, own_set) if own_set else None
    if own is not None:
        return _People(KnownRecords.of_sets([own], same), name, data, own_set, data_set)
    records = records or RecordHashes.of(traces, log.key, bool(log.salt))
    known = found(records, (people for _, people in sets_in(log, books)), same, are_others)
    return _People(known, name, data, "", data_set)


def _check_once(known: KnownRecords, facts: PublicFacts, are_others: bool) -> None:
    """Refuse people with several records in one data set, unless they are stated to be others."""
    if known.n_twice and not are_others:
        raise InputError(
            f"{whole(known.n_twice)} {facts.people} have the id or the curve of another in these "
            "data, or are the same by earlier releases.",
            field="people",
            hint="Give each person one record. If they are different people, say so: --people "
            "others, which the ledger records.",
        )


def _check_not_raised(stated: tuple[int, float], before: Standing) -> None:
    most = max((share.total for share in before.shares), key=lambda total: total.epsilon)
    is_higher = stated[0] > in_units(most.epsilon, FINE)
    if is_higher or stated[1] > most.delta * (1 + 1e-12):
        raise _raised(most, is_higher)


def _raised(most: Budget, is_epsilon: bool) -> InputError:
    """Refuse a higher total; only ε or δ is named: a ledger’s own δ, for one person, misleads."""
    fixed = (
        f"ε is fixed at {most.epsilon:g}" if is_epsilon else f"δ is fixed at {small(most.delta)}"
    )
    return InputError(
        f"The total {fixed} and cannot be raised.", field="total", hint="Leave it out, or lower it."
    )


def _final(loss: Loss, sets: Any, total: Any, release_id: str) -> dict[str, Any]:
    """Collect the fields of every entry that the witness lists."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "id": release_id,
        "sets": list(sets),
        "total": list(total),
        **_plain(loss, named=True),
    }


def _plain(loss: Loss, named: bool = False) -> Any:
    parts = {"epsilon": loss.epsilon, "delta": loss.delta, "mu_squared": loss.mu_squared}
    return parts if named else list(parts.values())


def _kept(log: OpenLog, pairs: NDArray[np.uint64]) -> str:
    return log.keep(pairs.astype("<u8").tobytes()) if len(pairs) else ""


def _kept_pairs(log: OpenLog, known: KnownRecords) -> str:
    return _kept(log, known.new_pairs)


def _enter_joined(log: OpenLog, theirs: OpenLog, more: Books, number: int) -> None:
    """Write a release of another ledger, with its people and, if it was drawn, its messages."""
    entry, held = more.releases[number], []
    for name in more.sets(number):
        people = read_set(theirs, name)
        held.append(name if people is None else log.keep(theirs.content(name)))
    state, copied = (
        more.state(number),
        {key: entry[key] for key in ("name", "what", "rho", "n", "request", "records")},
    )
    loss = more.loss(number)
    final = _final(loss, held, entry["total"], entry["id"]) | {"at": entry["at"]}
    plan = ""
    if state == "drawn":
        plan = log.keep(theirs.content(entry["plan"]))
    again = log.add(kind="release", plan=plan, **copied, **final)
    end = more.ends.get(number, {})
    if state == "drawn":
        messages = log.keep(theirs.content(end["messages"]))
        log.add(kind="drawn", release=again, messages=messages, **final)
    elif entry["request"]:
        log.add(kind="closed", release=again, **final)


def _request_hashes(log: OpenLog, requests: Requests) -> tuple[str, ...]:
    """Hashes by which a request is found again; slow ones in ledgers of earlier versions."""
    hashes = [log.keyed(request) for request in requests]
    if log.salt:
        hashes += [log.keyed(slow_hash(request, log.salt).encode()) for request in requests]
    return tuple(hashes)


def _data_set(log: OpenLog, source: Source[Data]) -> str:
    """The hash by which a ledger of an earlier version knows the data; empty in others."""
    if not log.salt:
        return ""
    return log.keyed(slow_hash(content_of(source), log.salt).encode())


def _earlier(log: OpenLog, books: Books, requests: Requests) -> int | None:
    """Return the number of a charge of the same request."""
    hashes = _request_hashes(log, requests)
    return next(
        (
            number
            for number, entry in books.releases.items()
            if entry["request"] and entry["request"] in hashes
        ),
        None,
    )


def _receipt(log: OpenLog, books: Books, number: int, after: Standing | None = None) -> Receipt:
    """A receipt of a charge that was written; without `after`, what its people have lost now."""
    is_new, entry = after is not None, books.releases[number]
    if after is None:
        sets = [
            people
            for people in (read_set(log, name) for name in books.sets(number))
            if people is not None
        ]
        after = _standing_of_sets(log, books, sets)
    budget = Budget(entry["epsilon"] / FINE, entry["delta"] / FINE_DELTA)
    return Receipt(number, entry["at"], entry["id"], budget, after, books.state(number), is_new)


def _standing_of_sets(log: OpenLog, books: Books, sets: list[PeopleSet]) -> Standing:
    if not sets:
        return Standing(())
    return standing(log, books, KnownRecords.of_sets(sets, same_in(log, books)))


def _drawn(log: OpenLog, release_id: str) -> Drawn:
    books = Books.of(log.entries)
    number = next(
        (number for number, entry in books.releases.items() if entry["id"] == release_id), None
    )
    if number is None:
        raise _no_release()
    state = books.state(number)
    if state == "charged":
        raise InputError(
            "This release was charged, but nothing was drawn: its process was ended.",
            field="release",
            hint="Ask for it once more, with the same settings and "
            "the same name: it is drawn under the same charge.",
        )
    if state == "under way":
        raise InputError(
            "This release is under way: not all of its messages were drawn.",
            field="release",
            hint="The same command once more goes on with it; “python -m engine site”, if other "
            "sites take part.",
        )
    if state == "closed":
        raise _closed()
    if state != "drawn":
        raise InputError(
            "This release cannot be made again: its noised numbers were not kept.",
            field="release",
            hint="Its files are those that were written then.",
        )
    return Drawn(
        _receipt(log, books, number),
        log.content(books.releases[number]["plan"]),
        log.content(books.ends[number]["messages"]),
    )


def _no_release() -> InputError:
    return InputError(
        "The ledger has no release with this id.",
        field="release",
        hint="“python -m engine ledger show” lists all of them.",
    )


def _closed() -> InputError:
    return InputError(
        "Drawing this release failed after it was charged, or its noised numbers "
        "were lost: it counts and cannot be drawn again.",
        field="name",
        hint="Publish under another name; that is charged as well.",
    )


def checked_name(name: str) -> str:
    """Strip a release's name.

    Examples
    --------
    >>> checked_name(" growth-2026 ")
    'growth-2026'
    """
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(
            f"A release needs a name of 1 to {LONGEST_NAME} characters.",
            field="name",
            hint="For example growth-2026.",
        )
    return name


def check_name(entries: Iterable[Entry], name: str) -> None:
    """Refuse a name that another release of the ledger has."""
    if any(entry.name == name for entry in entries):
        raise InputError(
            "A release in this ledger has this name already.",
            field="name",
            hint="Choose another name.",
        )
