"""Choices after looking: facts and reading are frozen before a file can contradict them.

A sentence that is computed exactly from a file, such as a doubt or a refusal, can lead its holder
to state another fact, and so move a published number. No noise covers that. So what is stated goes
to the ledger before the file is compared with it; a later change is allowed, and the card says
which fact was changed, never why. Entries are found by the bytes of the file or by the name of the
release: a corrected file under the same name is the same study. What cannot be noticed: a file that
was altered and is published under another name, and what somebody saw in other programs. So a card
says that no picture was drawn before only if the holder states it (`--unseen`). Pages show what a
file says to each question, so their cards never do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from engine.core.plain import checked_object
from engine.core.tasks import DataType
from engine.mechanisms import Mechanism, parsing
from engine.release import groups
from engine.release.data_sections import WORDS, reading_in
from engine.release.ledger import Ledger
from engine.release.plan import Declaration, public_reading
from engine.release.request import checked, keys_of, stated_facts
from engine.release.sealed_log import OpenLog
from engine.uploads.files import content_of, files_of
from engine.uploads.stated import facts_in_words

KIND = "frozen"
_PERSON = b"bytes of a file"  # tells this hash from others under the same key


class Frozen(NamedTuple):
    """First statements about a file, and its later history."""

    changed: tuple[str, ...]
    looked: bool  # False if no picture had been drawn when it was frozen first
    is_new: bool  # nothing had been frozen for this file or name before

    def declaration(self, contact: str = "") -> Declaration:
        """Return what the card says of it."""
        return Declaration(self.changed, self.looked, contact)

    @property
    def in_words(self) -> str:
        """A line for the holder, before anything exact is shown."""
        if self.changed:
            return (
                f"Choices after looking: {', '.join(facts_in_words(self.changed))}; changed since "
                "they were frozen. The card will say so."
            )
        if not self.is_new:
            return "Nothing that is stated has changed since it was frozen."
        return (
            "The facts and the reading are frozen in the ledger. The card names every one that "
            "is changed from here on."
        )


def freeze_request(
    text: str, folder: Path, ledger: Ledger, name: str = "", unseen: bool = False
) -> Frozen | None:
    """Freeze what a request states, after all that can be checked without its file.

    `folder` is that of the request, `name` stands in place of its own, and `unseen` states that
    nobody has looked at the file yet. Returns None for public data: there is nothing to look at.
    """
    plain, stated_name = checked(text)
    if "data" not in plain:
        return None
    data, mechanism = checked_object(plain["data"], "data"), parsing.mechanism_of(plain)
    _check_stated(data, mechanism)
    pieces = content_of(files_of(data.get("file", ""), folder))
    return freeze(ledger, pieces, data, name or stated_name, unseen)


def _check_stated(data: Mapping[str, Any], mechanism: Mechanism) -> None:
    """Refuse gaps and contradictions that show without the file: they are no choice after it."""
    keys, reading = keys_of(mechanism), reading_in(data)
    checked_object(data, "data", ("file", *keys, groups.KEY))
    stated = {name: value for name, value in data.items() if name in keys}
    if mechanism.main_task.data is DataType.CURVES:  # its groups are published one by one
        stated["reading"] = replace(
            reading,
            columns={role: column for role, column in reading.columns.items() if role != "group"},
        ).to_plain()
    facts = stated.get("facts", {})
    design = facts.get("design") if isinstance(facts, dict) else None
    if isinstance(design, dict) and design.get("times") == "header":
        stated["facts"] = {name: value for name, value in facts.items() if name != "design"}
    stated_facts(stated, mechanism)


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """List what a request states of its file by the name of each fact.

    Facts go by their own names, the reading by its path, such as "reading.columns.value.name".
    Left out are the file, words that move no number, and what is stated as false or nothing.
    """
    stated: dict[str, Any] = {}
    for name, value in data.items():
        if name == "facts":
            stated |= {fact: each for fact, each in value.items() if fact not in (*WORDS, "origin")}
        elif name == "reading":
            stated |= dict(_paths(name, public_reading(value)))
        elif name not in ("file", "group"):
            stated[name] = value
    return {
        name: value
        for name, value in stated.items()
        if value is not None and value is not False and value != [] and value != {}
    }


def _paths(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield name, value
        return
    for part, each in value.items():
        if part != "ask":
            yield from _paths(f"{name}.{part}", each)


def freeze(
    ledger: Ledger,
    file: bytes | Iterable[bytes],
    data: Mapping[str, Any],
    name: str = "",
    unseen: bool = False,
) -> Frozen:
    """Write to the ledger what is stated of a file, and compare it with what was stated first.

    The ledger keeps a keyed hash of the content. `unseen` states that no picture was drawn yet, and
    counts for the first time only.
    """
    stated: dict[str, Any] = json.loads(json.dumps(flat(data)))
    with ledger.log.writing() as log:
        hashed = _hash_of(log, [file] if isinstance(file, bytes) else file)
        earlier = _earlier(log, hashed, name)
        if not earlier or earlier[-1][1] != stated:
            _write(log, hashed, name, stated, unseen)
    if not earlier:
        return Frozen((), not unseen, is_new=True)
    looked, first = earlier[0]
    changed = sorted(fact for fact in {*first, *stated} if first.get(fact) != stated.get(fact))
    return Frozen(tuple(changed), looked, is_new=False)


# -- the entries of the ledger: nothing else here knows how they are kept --------------------------


def _write(log: OpenLog, hashed: str, name: str, stated: Mapping[str, Any], unseen: bool) -> None:
    content = json.dumps(stated, ensure_ascii=False, sort_keys=True).encode()
    log.add(
        kind=KIND,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        name=name,
        file=hashed,
        stated=log.keep(content),
        unseen=unseen,
    )


def _earlier(log: OpenLog, hashed: str, name: str) -> list[tuple[bool, dict[str, Any]]]:
    """Return what was frozen for a file or a name, in order: whether anybody had looked, and it."""
    entries = [logged.entry for logged in log.entries if logged.entry["kind"] == KIND]
    return [
        (not entry["unseen"], json.loads(log.content(entry["stated"])))
        for entry in entries
        if entry["file"] == hashed or (name and entry["name"] == name)
    ]


def _hash_of(log: OpenLog, pieces: Iterable[bytes]) -> str:
    state = hashlib.blake2b(digest_size=16, key=log.key[:64], person=_PERSON)
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()
