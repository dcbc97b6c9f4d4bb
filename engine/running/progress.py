"""Progress of long commands, on standard error: a share and the time that is left.

What takes long says what it does and how far it is; nothing is shown unless a command asks for it.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

_SECONDS = 0.5  # between two lines in a terminal
_SECONDS_ELSEWHERE = 30.0
_LATELY = 10.0  # seconds of which the rate is


@dataclass
class ProgressLine:
    """A line on the progress of a command, and the round of its release once it was charged."""

    stream: TextIO | None  # None: nothing is shown
    round: int = 0  # the one under way, from 1; 0 before the charge
    rounds: int = 0
    clock: Callable[[], float] = time.monotonic
    _shown_at: float = field(init=False)  # or when it began
    _width: int = field(default=0, init=False)  # of the line in a terminal

    def __post_init__(self) -> None:
        self._shown_at = self.clock()

    @property
    def where(self) -> str:
        """The round under way, in words; empty before the charge."""
        return f"round {self.round} of {self.rounds}" if self.rounds else ""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Begin a part of the work, such as “Reading”; return what takes note of steps."""
        done, lately = 0, deque([(self.clock(), 0)])

        def advance(step: int) -> None:
            nonlocal done
            done += step
            now = self.clock()
            lately.append((now, done))
            while len(lately) > 2 and lately[0][0] < now - _LATELY:
                lately.popleft()
            self._show(name, done / total if total else 1.0, _left(lately, total), now)

        return advance

    def _show(self, name: str, share: float, left: float, now: float) -> None:
        if self.stream is None:
            return
        is_terminal = self.stream.isatty()
        if now - self._shown_at < (_SECONDS if is_terminal else _SECONDS_ELSEWHERE):
            return
        self._shown_at = now
        time_left = f"  {_in_words(left)} left" if math.isfinite(left) else ""
        line = f"{name}  {min(share, 1.0):.0%}{time_left}".replace("%", " %")
        if is_terminal:
            self.stream.write(f"\r{line:<{self._width}}")
            self._width = len(line)
        else:
            self.stream.write(f"{line}\n")
        self.stream.flush()

    def end_line(self) -> None:
        """Clear the line of a terminal, for other words."""
        if self.stream is not None and self._width:
            self.stream.write(f"\r{'':<{self._width}}\r")
            self.stream.flush()
            self._width = 0


_current = ProgressLine(None)


@contextmanager
def shown(quiet: bool, stream: TextIO | None = None) -> Iterator[ProgressLine]:
    """Show progress while this lasts, unless quiet."""
    global _current
    before, _current = _current, ProgressLine(None if quiet else stream or sys.stderr)
    try:
        yield _current
    finally:
        _current.end_line()
        _current = before


def stage(name: str, total: int) -> Callable[[int], None]:
    """Begin a part of the work, called by its round once there is one; see `ProgressLine.stage`."""
    where = _current.where
    return _current.stage(where[:1].upper() + where[1:] if where else name, total)


def begin_rounds(number: int, done: int = 0) -> None:
    """Take note that a release was charged and has so many rounds, of which some are done."""
    _current.rounds, _current.round = number, min(done + 1, number)


def next_round() -> None:
    """Take note that a round is done."""
    _current.round = min(_current.round + 1, _current.rounds)


def _left(lately: deque[tuple[float, int]], total: int) -> float:
    (begun, before), (now, done) = lately[0], lately[-1]
    return (total - done) * (now - begun) / (done - before) if done > before else math.inf


def _in_words(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{max(seconds, 0):.0f} s"
