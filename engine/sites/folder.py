"""Statements and messages as files in a folder: a network drive, a synchronised folder, or a stick.

One file for each message, named by its position, its site and the first digits of the SHA-256 of
its content; and one for each offer, sign-off and withdrawal, named by what it is and its site. A
file is written under another name first, so that nobody reads half of it where all see one disk.

Where a service copies files between machines, a file may be there before its content: empty, in
part, as a link that leads nowhere, closed to readers, or gone again between two looks. A message
whose content does not have the digest in its name, a statement that does not end in a line, and a
file that cannot be read are not whole yet: they wait, and are named (`unfinished`). Files with
other names are left alone. What has the name of a message or statement and is something else, such
as a folder, a larger file or the message of another site, is refused by that name.
"""

from __future__ import annotations

import hashlib
import re
import stat
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from engine.core import entrance
from engine.core.errors import InputError
from engine.sites import messages, statements
from engine.sites.messages import SignedMessage
from engine.sites.protocol import Turn
from engine.sites.statements import Offer, SignOff, Statement, Withdrawal

_NAME = re.compile(r"(\d{4})-([a-z0-9-]{1,30})-([0-9a-f]{12})\.json")
_STATED = re.compile(r"(offer|sign-off|withdrawal)-([a-z0-9-]{1,30})\.json")
_DIGITS = 12
_LOOK = 0.2  # seconds between two looks at the folder
S = TypeVar("S", bound=Statement)


@dataclass
class Folder:
    """A folder through which statements and messages travel."""

    path: Path  # that is there
    unfinished: list[str] = field(default_factory=list)  # files that wait, since `received`
    _names: frozenset[str] = frozenset()

    def received(self) -> list[SignedMessage]:
        """Read all messages that are there now; refuse one that is none or was renamed, by name."""
        names = self._seen()
        self.unfinished, self._names = [], names
        return [
            message
            for name in sorted(names)
            if _NAME.fullmatch(name) and (message := self._read(name)) is not None
        ]

    def offers(self) -> list[Offer]:
        """Read all offers that are there now."""
        return self._stated(Offer)

    def sign_offs(self) -> list[SignOff]:
        """Read all sign-offs that are there now."""
        return self._stated(SignOff)

    def withdrawals(self) -> list[Withdrawal]:
        """Read all withdrawals that are there now."""
        return self._stated(Withdrawal)

    def send(self, turn: Turn, content: bytes) -> None:
        """Write one message; the same content is written once."""
        site = messages.read(content, "A message of this site").body["site"]
        self._write(f"{turn.position + 1:04d}-{site}-{_digits(content)}.json", content)

    def say(self, statement: Statement) -> Path:
        """Write an offer, a sign-off or a withdrawal; the same content is written once."""
        return self._write(f"{statement.kind}-{statement.site}.json", statement.to_bytes())

    def take_away(self, statement: Statement) -> None:
        """Remove a statement, if it stands there as it was written."""
        name = f"{statement.kind}-{statement.site}.json"
        if self._content(name, statements.MAX_BYTES, "through") == statement.to_bytes():
            (self.path / name).unlink(missing_ok=True)

    def _write(self, name: str, content: bytes) -> Path:
        path = self.path / name
        if self._content(name, messages.MAX_BYTES, "through") != content:
            entrance.write_whole(path, content, "through")
        return path

    def wait(self, seconds: float) -> bool:
        """Wait until other files are there than at the last look; True if there are."""
        end = time.monotonic() + seconds
        while self._seen() == self._names:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(_LOOK, left))
            if self.unfinished:  # it may be whole now, under the same name
                return True
        return True

    def _seen(self) -> frozenset[str]:
        """Names of what is there now."""
        try:
            return frozenset(
                path.name
                for path in self.path.iterdir()
                if _NAME.fullmatch(path.name) or _STATED.fullmatch(path.name)
            )
        except OSError as problem:
            raise InputError(
                f"Cannot read {entrance.called(self.path)}: {problem.strerror or 'it failed'}.",
                field="through",
                hint="Is the drive there?",
            ) from None

    def _stated(self, kind: type[S]) -> list[S]:
        found = []
        for name in sorted(self._seen()):
            stated = _STATED.fullmatch(name)
            if stated is None or stated[1] != kind.kind:
                continue
            content = self._content(name, statements.MAX_BYTES, kind.kind)
            if not content.endswith(b"\n"):
                self._waits(name)
                continue
            statement = kind.read(content, name)
            if statement.site != stated[2]:
                raise _renamed(name)
            found.append(statement)
        return found

    def _read(self, name: str) -> SignedMessage | None:
        content = self._content(name, messages.MAX_BYTES, "message")
        stated = _NAME.fullmatch(name)
        assert stated is not None
        if stated[3] != _digits(content):
            self._waits(name)
            return None
        message = messages.read(content, name)
        if (message.position + 1, message.body.get("site")) != (int(stated[1]), stated[2]):
            raise _renamed(name)
        return message

    def _content(self, name: str, limit: int, field: str) -> bytes:
        """Read a file; empty where there is none that can be read now."""
        path = self.path / name
        try:
            return entrance.bytes_of(path, limit, field)
        except InputError:
            with suppress(OSError):
                status = path.stat()
                if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
                    raise
            return b""

    def _waits(self, name: str) -> None:
        if name not in self.unfinished:
            self.unfinished.append(name)


def _renamed(name: str) -> InputError:
    return InputError(
        f"{name} holds something else than its name says: it was renamed.",
        field="message",
        hint="Take it away, and ask its site for its own.",
    )


def _digits(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
