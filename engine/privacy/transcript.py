"""View of the centre: every message that leaves a server, noted where it must leave.

Mechanisms pass each outgoing array through `sent`. It returns the array unchanged; inside
`recorded` it is noted as well, so that the messages of a run can be shown, and tests can prove that
a release depends on the curves through them alone.

Where a centre is trusted with exact numbers, what is private is what the centre publishes: those
messages have the server `CENTRE` and pass through `sent`. What machines entrust to it passes
through `entrusted`, without noise, and is marked so that nobody takes it for a release.

Within `overheard` a listener stands in the way and decides what the other side hears instead. That
is how `engine.audit` holds a run fixed while one record is replaced. Numbers that never leave as
they are, because noise on many is drawn as one sum or only the largest are let out, are shown to it
by `summed` and `weighed`, which do nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, Step
from engine.noise.selection import Scales, SelectionLaw

CENTRE = -1  # the server of messages that a trusted centre publishes


@dataclass(frozen=True)
class Message:
    """One array that a server sent, for the first release of the first data set.

    `values` and `noise`, the standard deviation of the noise in them, have the same shape; both
    are on the scale the method works on. `is_entrusted` says that it went to a trusted centre as it
    was, without noise, and no further.
    """

    server: int
    step: Step
    values: Array
    noise: Array
    is_entrusted: bool = False


@dataclass(frozen=True, eq=False)
class Parts:
    """Numbers of which only something in common is computed, and the noise each has before."""

    # (repeats, ways, parts): without noise. Of several ways to form the numbers an earlier release
    # chooses one.
    values: Array
    law: NoiseLaw  # that of the noise of each part
    noise: Array  # (parts,), or one number: its standard deviation
    chosen_index: NDArray[np.int64]  # (repeats, columns), int: the ways that were chosen
    # from noisy parts (repeats, 1, parts) to what is computed from them
    together: Callable[[Array], Array]
    # the server that each part is of, where each sends one: then its noise is its own, and the part
    # could leave it as a message. Else none.
    servers: tuple[int, ...] = ()

    @property
    def used(self) -> Array:
        """The numbers formed in the way that was chosen for the first column: (repeats, 1, parts).

        The others are never sent.
        """
        return np.take_along_axis(self.values, self.chosen_index[:, :1, None], axis=1)


class Listener(Protocol):
    """Eavesdropper on a run; for the arguments see the functions of the same names."""

    def sent(self, server: int, step: Step, values: Array, noise: Array) -> Array:
        """Replace values that are sent; see `sent`."""
        ...

    def summed(self, step: Step, parts: Parts) -> Array | None:
        """Hear the numbers of a sum; see `summed`.

        Returns noisy numbers in place of `parts.used`, or None if the mechanism is to draw.
        """
        ...

    def weighed(
        self,
        server: int,
        step: Step,
        values: Array,
        law: SelectionLaw,
        n_selected: int,
        scales: Scales,
    ) -> None:
        """Hear the numbers of which the largest are sent; see `weighed`."""
        ...


_record: ContextVar[list[Message] | None] = ContextVar("transcript", default=None)
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def recorded() -> Iterator[list[Message]]:
    """Collect the messages that are sent in this block, in order; the list fills while it runs.

    Examples
    --------
    >>> with recorded() as messages:
    ...     _ = sent(0, Step("mean"), np.ones((1, 1, 3)), np.array(0.5))
    >>> messages[0].step.key, messages[0].noise.tolist()
    ('mean', [0.5, 0.5, 0.5])
    """
    messages: list[Message] = []
    token = _record.set(messages)
    try:
        yield messages
    finally:
        _record.reset(token)


@contextmanager
def overheard(listener: Listener) -> Iterator[None]:
    """Let a listener hear and answer whatever this thread sends in this block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def unheard() -> Iterator[None]:
    """Note nothing in this block, and let nobody answer: what a server works out stays there."""
    record, listener = _record.set(None), _listener.set(None)
    try:
        yield
    finally:
        _record.reset(record)
        _listener.reset(listener)


def sent(server: int, step: Step, values: Array, noise: Array) -> Array:
    """Pass on what leaves a server.

    Parameters
    ----------
    server : int
        Number of the server; `CENTRE` for what a trusted centre publishes.
    values : (repeats, columns, …)
        The message, with its noise in it; a column for every budget and draw.
    noise : array
        Standard deviation of the noise; broadcasts against `values`.

    Returns
    -------
    (repeats, columns, …)
        What the mechanism is to go on with: `values`, or what a listener puts in their place.
    """
    messages = _record.get()
    if messages is not None:
        size = np.broadcast_to(noise, values.shape)
        messages.append(Message(server, step, values[0, 0].copy(), size[0, 0].copy()))
    listener = _listener.get()
    return values if listener is None else listener.sent(server, step, values, noise)


def sent_by_each(step: Step, values: Array, noise: Array, first: int = 0) -> Array:
    """Pass on what leaves several servers at once.

    Parameters
    ----------
    values : (repeats, columns, servers, …)
        The messages, with their noise in them.
    noise : array
        Standard deviations; broadcasts against the values of one data set, (columns, servers, …).
    first : int
        Number of the first of these servers.

    Returns
    -------
    (repeats, columns, servers, …)
        What the mechanism is to go on with.
    """
    messages, listener = _record.get(), _listener.get()
    size = np.broadcast_to(noise, values.shape[1:])
    if messages is not None:
        messages.extend(
            Message(first + server, step, array.copy(), size[0, server].copy())
            for server, array in enumerate(values[0, 0])
        )
    if listener is None:
        return values
    return np.stack(
        [
            listener.sent(first + server, step, values[:, :, server], size[:, server])
            for server in range(values.shape[2])
        ],
        axis=2,
    )


def summed(step: Step, parts: Callable[[], Parts], draw: Callable[[], Array]) -> Array:
    """Pass on what is computed from noisy parts alone, such as their mean.

    The mechanism draws it at once, by `draw`, which is much less work than noise for every part.
    A listener hears the parts, and may add the noise to each itself: then what follows from its
    numbers is used instead. Either way the mechanism goes on with what this returns.

    Parameters
    ----------
    parts : callable
        Gives the numbers that noise is added to; called only where somebody listens.
    draw : callable
        Gives the result with noise of the mechanism, (repeats, columns, …).

    Returns
    -------
    (repeats, columns, …)
        What the mechanism is to go on with.
    """
    listener = _listener.get()
    if listener is None:
        return draw()
    exact = parts()
    noisy = listener.summed(step, exact)
    return draw() if noisy is None else exact.together(noisy)


def weighed(
    server: int, step: Step, values: Array, law: SelectionLaw, n_selected: int, scales: Scales
) -> None:
    """Show a listener the exact numbers of which the largest are selected and sent."""
    listener = _listener.get()
    if listener is not None:
        listener.weighed(server, step, values, law, n_selected, scales)


def entrusted(server: int, step: Step, values: Array) -> None:
    """Note exact numbers that a machine hands to the trusted centre, and which go no further."""
    messages = _record.get()
    if messages is not None:
        first = values[0, 0].copy()
        messages.append(Message(server, step, first, np.zeros_like(first), is_entrusted=True))
