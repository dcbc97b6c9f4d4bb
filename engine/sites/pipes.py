"""Statements and messages as lines on standard input and output: for programs in between."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import IO

from engine.core.entrance import json_of
from engine.core.errors import InputError
from engine.sites import messages
from engine.sites.messages import SignedMessage
from engine.sites.protocol import Turn
from engine.sites.statements import SignOff, Statement

_ORIGIN = "A line of standard input"


@dataclass
class Pipes:
    """A pair of streams; each line is one message or sign-off of anybody, as JSON."""

    incoming: IO[bytes]
    outgoing: IO[bytes]
    unfinished: tuple[str, ...] = ()  # a line is whole
    _heard: list[SignedMessage] = field(default_factory=list)
    _signed: list[SignOff] = field(default_factory=list)
    _sent: set[bytes] = field(default_factory=set)

    def received(self) -> list[SignedMessage]:
        """List all messages that came so far."""
        return list(self._heard)

    def sign_offs(self) -> list[SignOff]:
        """List all sign-offs that came so far."""
        return list(self._signed)

    def send(self, turn: Turn, content: bytes) -> None:
        """Write one message on a line of its own, once."""
        if content not in self._sent:
            self._heard.append(messages.read(content, "A message of this site"))
            self._line(content)

    def say(self, statement: Statement) -> None:
        """Write a sign-off on a line of its own, once."""
        content = statement.to_bytes()
        if content not in self._sent and isinstance(statement, SignOff):
            self._signed.append(statement)
            self._line(content)

    def wait(self, seconds: float) -> bool:
        """Wait for the next line, however long; False where the other side has ended."""
        line = self.incoming.readline(messages.MAX_BYTES)
        if not line:
            return False
        if _is_sign_off(line):
            self._signed.append(SignOff.of(json.loads(line), _ORIGIN))
        else:
            self._heard.append(messages.read(line, _ORIGIN))
        return True

    def _line(self, content: bytes) -> None:
        self._sent.add(content)
        self.outgoing.write(json.dumps(json.loads(content), ensure_ascii=False).encode() + b"\n")
        self.outgoing.flush()


def _is_sign_off(line: bytes) -> bool:
    try:
        plain = json_of(line.decode(), "message")
    except (InputError, UnicodeDecodeError):
        return False
    return isinstance(plain, dict) and plain.get("kind") == SignOff.kind
