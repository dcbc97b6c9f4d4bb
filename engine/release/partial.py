"""A release whose messages are drawn one after another, each in the ledger before it leaves.

Where several sites contribute to a release, a site answers messages of others with its own, over
hours or days. The whole is reserved before the first of its messages is drawn (`Ledger.charge` with
rounds), and each message is stored under that charge with its round, and listed in the witness,
before anybody else can see it. A message that is in the ledger is never drawn again: two drawings
of one message would together have less noise than was charged. What was drawn by a process that
was killed before it could store it left no trace and is drawn anew; why that is sound stands with
`engine.release.ledger`. `Ledger.close` ends a run: rounds of which no message was drawn are
returned, and what is asked for later is refused by the number of its charge, whenever it comes.

A ledger that was set back to before a message lacks an entry that its witness lists, and refuses.
"""

from __future__ import annotations

from datetime import UTC, datetime

from engine.core.errors import InputError
from engine.release.books import Books
from engine.release.ledger import Ledger, Receipt
from engine.release.sealed_log import OpenLog


def store(
    ledger: Ledger, receipt: Receipt, position: int, content: bytes, round_number: int | None = None
) -> bytes:
    """Store what was drawn as one message of a release; the first that is stored stays.

    `position` counts messages of the run, `round_number` is that of its noise among the rounds of
    the charge; what has no noise, such as an order of records, has none. The size of `content` must
    not depend on its numbers. Returns what is stored: the content, or what another process was
    faster to store.
    """
    with ledger.log.writing() as log:
        books = Books.of(log.entries)
        earlier = books.parts.get(receipt.number, {}).get(position)
        if earlier is not None:
            return log.content(earlier["messages"])
        if books.state(receipt.number) not in ("charged", "under way"):
            raise InputError(
                "This release has ended in the ledger: nothing more is drawn under its charge.",
                field="ledger",
                hint="It counts. A new plan makes a new release, which is charged as well.",
            )
        entry, loss = books.releases[receipt.number], books.loss(receipt.number)
        if round_number is not None and not 0 <= round_number < len(entry.get("rounds", ())):
            raise InputError("The charge of this release has no such round.", field="ledger")
        log.add(
            kind="part",
            release=receipt.number,
            position=position,
            round=round_number,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            messages=log.keep(content),
            id=entry["id"],
            sets=entry["sets"],
            total=entry["total"],
            epsilon=loss.epsilon,
            delta=loss.delta,
            mu_squared=loss.mu_squared,
        )
    return content


def stored(ledger: Ledger, receipt: Receipt) -> dict[int, bytes]:
    """Read the messages of a release that were drawn so far, by their position."""
    with ledger.log.reading() as log:
        messages, is_seen = _parts(log, receipt), ledger.log.is_witnessed(log)
    if not is_seen:  # a kill came between: they must stand in the witness before they are sent
        with ledger.log.writing() as log:
            messages = _parts(log, receipt)
    return messages


def _parts(log: OpenLog, receipt: Receipt) -> dict[int, bytes]:
    parts = Books.of(log.entries).parts.get(receipt.number, {})
    return {position: log.content(part["messages"]) for position, part in parts.items()}
