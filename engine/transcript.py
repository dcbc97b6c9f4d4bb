"""What the centre sees: every message that leaves a server, noted at the only place it can leave.

Mechanisms pass each outgoing array through `sent`. It returns the array unchanged; inside
`recorded` it is noted as well, so that the messages of a run can be shown, and tests can prove that
a release depends on the curves through them alone.

Where a centre is trusted with exact numbers, what is private is what the centre publishes: those
messages have the server `CENTRE` and pass through `sent`. What machines entrust to it passes
through `entrusted`, without noise, and is marked so that nobody takes it for a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from engine.types import Array

CENTRE = -1  # the server of messages that a trusted centre publishes


@dataclass(frozen=True)
class Message:
    """One array that a server sent, for the first release of the first data set.

    `values` and `noise`, the standard deviation of the noise in them, have the same shape; both
    are on the scale the method works on. `is_entrusted` says that it went to a trusted centre as it
    was, without noise, and no further.
    """

    server: int
    step: str
    values: Array
    noise: Array
    is_entrusted: bool = False


_record: ContextVar[list[Message] | None] = ContextVar("transcript", default=None)


@contextmanager
def recorded() -> Iterator[list[Message]]:
    """Collect the messages that are sent in this block, in order."""
    messages: list[Message] = []
    token = _record.set(messages)
    try:
        yield messages
    finally:
        _record.reset(token)


def sent(server: int, step: str, values: Array, noise: Array) -> Array:
    """Pass on what leaves a server: values (repeats, columns, …) with noise of this size."""
    messages = _record.get()
    if messages is not None:
        size = np.broadcast_to(noise, values.shape)
        messages.append(Message(server, step, values[0, 0].copy(), size[0, 0].copy()))
    return values


def sent_by_each(step: str, values: Array, noise: Array) -> Array:
    """Pass on what leaves all servers at once: values (repeats, draws, servers, …)."""
    messages = _record.get()
    if messages is not None:
        size = np.broadcast_to(noise, values.shape[2:])
        messages.extend(Message(server, step, own.copy(), size[server].copy())
                        for server, own in enumerate(values[0, 0]))
    return values


def entrusted(server: int, step: str, values: Array) -> None:
    """Note exact numbers (repeats, columns, …) that a machine hands to the trusted centre."""
    messages = _record.get()
    if messages is not None:
        first = values[0, 0].copy()
        messages.append(Message(server, step, first, np.zeros_like(first), is_entrusted=True))
