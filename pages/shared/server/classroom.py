"""Guesses of a class, only in memory, until the teacher ends it or some hours are over.

A teacher opens a class and gets a short random code. Each visitor of its link may guess once for
each picture and answer its closing question, and correct both until the teacher reveals them. The
class keeps numbers, not names.
"""

from __future__ import annotations

import ipaddress
import math
import os
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from urllib.parse import urlsplit

from engine.core.errors import InputError

MAX_CLASSES, MAX_GUESSES, MAX_SECONDS = 20, 200, 3 * 3600.0
MAX_SEATS = 1000
Numbers = tuple[float | None, ...]  # a guess, None where nothing was guessed
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no letter or digit that looks like another
CODE_LENGTH = 6


class Stage(IntEnum):
    """A teacher's place in a lesson."""

    GUESS = 0
    SHOWN = 1
    QUESTION = 2
    ANSWER = 3


@dataclass(frozen=True)
class Poll:
    """The subject of a class's guess."""

    lesson: str
    seed: int
    n_values: int
    low: float
    high: float
    n_options: int  # how many answers the closing question has

    def checked(self, values: object) -> Numbers:
        """Read a guess as numbers, None for each that was left out."""
        if (
            not isinstance(values, Sequence)
            or isinstance(values, str | bytes)
            or len(values) != self.n_values
            or all(value is None for value in values)
            or not all(value is None or self._allows(value) for value in values)
        ):
            raise InputError(
                "This guess does not belong to the picture and was not counted.",
                field="guess",
                hint="Load the page again and guess once more.",
            )
        return tuple(None if value is None else float(value) for value in values)

    def _allows(self, value: object) -> bool:
        return (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and self.low <= value <= self.high
        )


@dataclass
class Classroom:
    """One class."""

    code: str
    key: str  # known to the browser of the teacher alone, who can come back with it
    poll: Poll
    ends_at: float  # when it ends by itself, by the clock of `Classrooms`; s
    stage: Stage = Stage.GUESS  # how far the teacher is in it
    _guesses: dict[Poll, dict[int, Numbers]] = field(
        default_factory=lambda: defaultdict(dict)
    )  # guesses by seat, one dictionary per picture
    _answers: dict[Poll, dict[int, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )  # chosen options by seat, one dictionary per picture
    _seats: count[int] = field(default_factory=count)
    _browsers: dict[str, int] = field(default_factory=dict)  # their seats, by name
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, poll: Poll, stage: Stage) -> None:
        """Show a picture to the class; guesses and answers to each stay until the class ends."""
        with self._lock:
            self.poll, self.stage = poll, stage

    def seat(self, browser: str = "") -> int:
        """Number a visitor, to keep their guess; all tabs of a named `browser` share one seat."""
        with self._lock:
            if browser in self._browsers:
                return self._browsers[browser]
            if len(self._browsers) >= MAX_SEATS:
                raise InputError(
                    f"{MAX_SEATS} browsers have joined, and no more may.",
                    field="class",
                    hint="Look on as the teacher goes on.",
                )
            seat = next(self._seats)
            if browser:
                self._browsers[browser] = seat
            return seat

    def guess(self, seat: int, poll: Poll, values: object) -> None:
        """Take the guess of a seat in place of its earlier one."""
        numbers = poll.checked(values)
        with self._lock:
            self._check_time(poll, Stage.GUESS)
            self._check_room(seat, self._guesses[poll])
            self._guesses[poll][seat] = numbers

    def answer(self, seat: int, poll: Poll, option: int) -> None:
        """Take the answer of a seat to the closing question in place of its earlier one.

        Parameters
        ----------
        seat : int
            From `seat`.
        option : int
            Which of its options, from 0 on.
        """
        if not 0 <= option < poll.n_options:
            raise InputError(
                "This answer does not belong to the question and was not counted.",
                field="answer",
                hint="Load the page again and answer once more.",
            )
        with self._lock:
            self._check_time(poll, Stage.QUESTION)
            self._check_room(seat, self._answers[poll])
            self._answers[poll][seat] = option

    def _check_time(self, poll: Poll, stage: Stage) -> None:
        if (poll, stage) != (self.poll, self.stage):
            raise InputError(
                "The teacher has gone on; this came too late.",
                field="class",
                hint="What comes next is shown by itself.",
            )

    def _check_room(self, seat: int, taken: Mapping[int, object]) -> None:
        if seat not in taken and len(taken) >= MAX_GUESSES:
            raise InputError(
                f"{MAX_GUESSES} pupils have answered, and no more are counted.",
                field="class",
                hint="Look on as the teacher goes on.",
            )

    def has(self, seat: int) -> bool:
        """True if a seat has guessed in this picture."""
        return seat in self._guesses[self.poll]

    @property
    def guesses(self) -> list[Numbers]:
        """All guesses, in the order in which they came."""
        with self._lock:
            return list(self._guesses[self.poll].values())

    def answered(self, seat: int) -> int | None:
        """Return the option that a seat has chosen in this picture's question."""
        return self._answers[self.poll].get(seat)

    @property
    def answers(self) -> list[int]:
        """Numbers of pupils who chose each option of the closing question."""
        with self._lock:
            chosen = list(self._answers[self.poll].values())
            return [chosen.count(option) for option in range(self.poll.n_options)]


class Classrooms:
    """The classes of this server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, Classroom] = {}
        self._lock = threading.Lock()

    def open(self, poll: Poll) -> Classroom:
        """Open a new class."""
        with self._lock:
            self._end_old()
            if len(self._open) >= MAX_CLASSES:
                raise InputError(
                    f"There are {MAX_CLASSES} classes on this server, and no more may be opened.",
                    field="class",
                    hint="Try again later, or let pupils raise their hands.",
                )
            code = "".join(secrets.choice(_LETTERS) for _ in range(CODE_LENGTH))
            classroom = Classroom(
                code, secrets.token_urlsafe(16), poll, self._clock() + MAX_SECONDS
            )
            self._open[code] = classroom
            return classroom

    def find(self, code: str) -> Classroom | None:
        """Return the class of a code; None if it has ended, or never was."""
        with self._lock:
            self._end_old()
            return self._open.get(code)

    def joined(self, text: str) -> Classroom:
        """Find the class of a code as somebody types it: in any case, with spaces."""
        code = "".join(text.split()).replace("-", "").upper()
        classroom = self.find(code)
        if classroom is None:
            raise InputError(
                f"No class has the code “{code[: 2 * CODE_LENGTH]}” now.",
                field="class",
                hint=f"A code has {CODE_LENGTH} letters and digits. Look at it once "
                "more, or ask whether the class has ended.",
            )
        return classroom

    def of_teacher(self, key: str) -> Classroom | None:
        """Return the class of a teacher's key; None if there is none."""
        with self._lock:
            self._end_old()
            return next(
                (
                    classroom
                    for classroom in self._open.values()
                    if secrets.compare_digest(classroom.key.encode(), key.encode())
                ),
                None,
            )

    def end(self, code: str) -> None:
        """End a class; its guesses are forgotten."""
        with self._lock:
            self._open.pop(code, None)

    @property
    def is_empty(self) -> bool:
        """True if no class is open."""
        with self._lock:
            self._end_old()
            return not self._open

    def _end_old(self) -> None:
        now = self._clock()
        self._open = {
            code: classroom for code, classroom in self._open.items() if classroom.ends_at > now
        }


CLASSROOMS = Classrooms()  # of this process


def checked_code(code: str) -> str:
    """Return the code of a class as links write it, from any case."""
    code = code.upper()
    if code and (len(code) != CODE_LENGTH or not set(code) <= set(_LETTERS)):
        raise ValueError(code)
    return code


# -- the address at which others reach this server -------------------------------------------------


ADDRESS_NAME = "PRIVACY_CURVES_ADDRESS"


def page_for_others(page: str, own: str | None) -> str:
    """Return the address of a page for other computers; "" if only this one reaches the server.

    It comes from the environment, or else from `own`, the address in this visitor's browser.
    """
    stated = os.environ.get(ADDRESS_NAME, "")
    if stated:
        if urlsplit(stated).scheme not in ("http", "https") or not urlsplit(stated).hostname:
            raise ValueError(
                f"{ADDRESS_NAME} must begin with http:// or https:// and name a "
                f"server; got {stated!r}."
            )
        return f"{stated.rstrip('/')}/{page}"
    parts = urlsplit(own or "")
    if not parts.hostname or is_loopback(parts.hostname):
        return ""
    folder = parts.path.rstrip("/").rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/{page}"


def is_loopback(host: str) -> bool:
    """True if a name or number leads a computer to itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_loopback or number.is_unspecified
