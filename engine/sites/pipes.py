"""Messages as lines on standard input and output: for tests, and for programs in between."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import IO

from engine.sites import messages
from engine.sites.messages import Message
from engine.sites.protocol import Turn


@dataclass
class Pipes:
    """A pair of streams; each line is one message of anybody.

    Parameters
    ----------
    incoming, outgoing : binary stream
        Lines of JSON.
    """

    incoming: IO[bytes]
    outgoing: IO[bytes]
    _heard: list[Message] = field(default_factory=list)
    _sent: set[int] = field(default_factory=set)

    def received(self) -> list[Message]:
        """All messages that came so far."""
        return list(self._heard)

    def send(self, turn: Turn, content: bytes) -> None:
        """Write one message on a line of its own, once.

        Parameters
        ----------
        turn : Turn
            Which message.
        content : bytes
            From `messages.write`.
        """
        if turn.position in self._sent:
            return
        self._sent.add(turn.position)
        self._heard.append(messages.read(content, "A message of this site"))
        self.outgoing.write(json.dumps(json.loads(content), ensure_ascii=False).encode() + b"\n")
        self.outgoing.flush()

    def wait(self, seconds: float) -> bool:
        """Wait for the next line; False where the other side has ended.

        Parameters
        ----------
        seconds : float
            Not looked at: a line comes or the stream ends.
        """
        line = self.incoming.readline(messages.MAX_BYTES)
        if not line:
            return False
        self._heard.append(messages.read(line, "A line of standard input"))
        return True
