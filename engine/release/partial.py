"""A release whose messages are drawn one after another, each in the ledger before it leaves.

Where several sites contribute to a release, a site answers messages of others with its own, over
hours or days. Its people are charged once, before the first of its messages is drawn, and each
message is stored under that charge, and listed in the witness, before anybody else can see it. A
message that is in the ledger is never drawn again: two drawings of one message would together have
less noise than was charged. What was drawn by a process that was killed before it could store it
left no trace and is drawn anew; why that is sound stands with `engine.release.ledger`.

A ledger that was set back to before a message lacks an entry that its witness lists, and refuses.
"""

from __future__ import annotations

from datetime import UTC, datetime

from engine.core.errors import InputError
from engine.release.books import Books, ceiled
from engine.release.ledger import Ledger, Receipt
from engine.release.sealed_log import OpenLog


def store(ledger: Ledger, receipt: Receipt, position: int, content: bytes) -> bytes:
    """Store what was drawn as one message of a release; the first that is stored stays.

    Parameters
    ----------
    ledger : Ledger
        That was charged.
    receipt : Receipt
        Of the charge.
    position : int
        Of the message in the run, from 0.
    content : bytes
        The message, whose size does not depend on its numbers.

    Returns
    -------
    bytes
        What is stored: the content, or what another process was faster to store.

    Raises
    ------
    InputError
        If the charge was closed or its release is finished, or it cannot be written; then nothing
        of it may be shown.
    """
    with ledger.log.writing() as log:
        books = Books.of(log.entries)
        earlier = books.parts.get(receipt.number, {}).get(position)
        if earlier is not None:
            return log.content(earlier)
        if books.state(receipt.number) not in ("charged", "under way"):
            raise InputError("This release has ended in the ledger: nothing more is drawn under "
                             "its charge.", field="ledger", hint="It counts. A new plan makes a "
                             "new release, which is charged as well.")
        data_set, entry = books.releases[receipt.number]
        odometer = books.odometer(books.population[data_set])
        total = list(books.total[odometer.label])
        log.add(kind="part", release=receipt.number, position=position, id=entry["id"],
                at=datetime.now(UTC).isoformat(timespec="seconds"), data_set=data_set,
                messages=log.keep(content), label=odometer.label, total=total,
                spent=[ceiled(odometer.spent_epsilon), odometer.spent_delta],
                joined=sorted(books.joined[odometer.label]))
    return content


def stored(ledger: Ledger, receipt: Receipt) -> dict[int, bytes]:
    """The messages of a release that were drawn so far.

    Parameters
    ----------
    ledger : Ledger
        That was charged.
    receipt : Receipt
        Of the charge.

    Returns
    -------
    dict of int to bytes
        By their position.
    """
    with ledger.log.reading() as log:
        messages, is_seen = _parts(log, receipt), ledger.log.is_witnessed(log)
    if not is_seen:  # a kill came between: they must stand in the witness before they are sent
        with ledger.log.writing() as log:
            messages = _parts(log, receipt)
    return messages


def _parts(log: OpenLog, receipt: Receipt) -> dict[int, bytes]:
    parts = Books.of(log.entries).parts.get(receipt.number, {})
    return {position: log.content(digest) for position, digest in parts.items()}
