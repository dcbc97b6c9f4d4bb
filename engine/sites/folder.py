"""Messages as files in a folder: a network drive, a synchronised folder, or a USB stick.

One file for each message, named by its position, its site and the first digits of the SHA-256 of
its content. It is written under another name first, so that nobody reads half of it where all see
one disk; where a service copies files between machines, a file whose content does not have the
digest in its name is not whole yet, and waits. Files with other names are left alone.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from engine.core import entrance
from engine.core.errors import InputError
from engine.sites import messages
from engine.sites.messages import Message
from engine.sites.plan import SitePlan
from engine.sites.protocol import Turn

_NAME = re.compile(r"(\d{4})-([a-z0-9-]{1,30})-([0-9a-f]{12})\.json")
_DIGITS = 12
_LOOK = 0.2  # seconds between two looks at the folder


@dataclass
class Folder:
    """A folder through which messages travel.

    Parameters
    ----------
    path : Path
        That is there.
    plan : SitePlan
        What all agreed on.

    Attributes
    ----------
    unfinished : list of str
        Files that were not whole at the last look.
    """

    path: Path
    plan: SitePlan
    unfinished: list[str] = field(default_factory=list)
    _names: frozenset[str] = frozenset()

    def received(self) -> list[Message]:
        """All messages that are there now.

        Raises
        ------
        InputError
            If a file is none, was renamed, or cannot be read; it is named.
        """
        names = self._seen()
        self.unfinished, self._names = [], names
        return [message for name in sorted(names) if (message := self._read(name)) is not None]

    def send(self, turn: Turn, content: bytes) -> None:
        """Write one message; the same content is written once.

        Parameters
        ----------
        turn : Turn
            Which message.
        content : bytes
            From `messages.write`.
        """
        site = self.plan.members[turn.site].name
        path = self.path / f"{turn.position + 1:04d}-{site}-{_digits(content)}.json"
        if not path.exists() or path.read_bytes() != content:
            entrance.write_whole(path, content, "through")

    def wait(self, seconds: float) -> bool:
        """Wait until other files are there than at the last look.

        Parameters
        ----------
        seconds : float
            At most.

        Returns
        -------
        bool
            Whether there are.
        """
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
        """Names of the messages that are there now."""
        try:
            return frozenset(path.name for path in self.path.iterdir()
                             if _NAME.fullmatch(path.name))
        except OSError as problem:
            raise InputError(f"Cannot read {entrance.called(self.path)}: "
                             f"{problem.strerror or 'it failed'}.", field="through",
                             hint="Is the drive there?") from None

    def _read(self, name: str) -> Message | None:
        content = entrance.bytes_of(self.path / name, messages.MAX_BYTES, "message")
        stated = _NAME.fullmatch(name)
        assert stated is not None
        if stated[3] != _digits(content):
            self.unfinished.append(name)
            return None
        message = messages.read(content, name)
        if (message.position + 1, message.body.get("site")) != (int(stated[1]), stated[2]):
            raise InputError(f"{name} holds another message than its name says: it was renamed.",
                             field="message", hint="Take it away, and ask its site for its own.")
        return message


def _digits(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
