"""Short lessons: a story, a guess, what really happens, and a question.

A lesson is one file of this package. Its words are templates without a single digit: every number
in them is a field that `work` fills with what the engine computes for a seed, so that no lesson can
say what is not so. Everything is simulated with a known seed, and only for looking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.core.registry import Parameterised, Registry
from engine.core.types import Array
from engine.figures.drawn import Picture

# Spaces at which a line does not break: "ε = 1", "± 12", "56 %", "1.12 cm".
_KEPT = re.compile(r" (?==)|(?<=[=±]) | (?=%)|(?<=\d) (?=cm\b)")
lessons = Registry("engine.lessons", "lesson")


@dataclass(frozen=True)
class Guess:
    """Guess of the visitor: the heights of a curve, or a number.

    A number is guessed on the horizontal axis, a height on the vertical one.
    """

    truth: tuple[float, ...]  # what is right, one for each handle
    start: tuple[float, ...]  # where the handles stand at first
    names: tuple[str, ...]
    close: float  # a guess that is off by this at most counts as close; in `unit`, as `truth` is
    step: float
    # where heights are guessed, on the horizontal axis; empty for a number
    places: tuple[float, ...] = ()
    unit: str = ""
    decimals: int = 0
    # of how far off a guess is, where that has another unit: shares differ by points
    off_unit: str = ""
    # whether heights are distances to both sides of zero, drawn below it as well
    is_mirrored: bool = False

    @property
    def is_curve(self) -> bool:
        """True if heights are guessed; else it is a number."""
        return bool(self.places)

    def off(self, guess: Array) -> float:
        """Compute the root mean square distance of a guess (n_handles,) from the truth."""
        return float(np.sqrt(np.mean((np.asarray(guess) - np.array(self.truth)) ** 2)))


@dataclass(frozen=True)
class Worked:
    """One lesson for one seed."""

    words: Mapping[str, str]
    picture: Picture  # with marks that are hidden until a guess is made
    guess: Guess
    budget: str  # as it is read: "ε = 1 · δ = 2.5×10⁻⁵"

    def filled(self, template: str) -> str:
        """Words of the lesson with its numbers, none of which breaks off its name or unit."""
        return _KEPT.sub("\N{NO-BREAK SPACE}", template.format_map(self.words))


@dataclass(frozen=True)
class Option:
    """One answer to the question."""

    text: str
    why: str
    is_right: bool = False


@dataclass(frozen=True)
class Quiz:
    """A question with options."""

    ask: str
    options: tuple[Option, ...]

    @property
    def right(self) -> Option:
        """The option that is right."""
        return next(option for option in self.options if option.is_right)


@dataclass(frozen=True)
class See:
    """A page on which to go on."""

    script: str
    label: str
    token: str = ""  # the settings it is opened with, as in a link


class Lesson(Parameterised):
    """A lesson; its class facts are its words.

    `key` is its number in links, `label` its title, `minutes` what it takes, `unit` what is
    protected, with its tooltip; `has_game` says whether the attacker's game is played in it.
    `story` and `explains` are paragraphs, `ask` what is to be guessed, `shows` what happened.
    `terms` are the words of `engine.language.glossary` for what it is about, `formula` LaTeX of
    what no term says.
    """

    registry = lessons
    order: ClassVar[int]
    minutes: ClassVar[int] = 5
    has_game: ClassVar[bool] = False
    unit: ClassVar[tuple[str, str]]
    story: ClassVar[tuple[str, ...]]
    ask: ClassVar[str]
    shows: ClassVar[str]
    explains: ClassVar[tuple[str, ...]]
    question: ClassVar[Quiz]
    see: ClassVar[tuple[See, ...]] = ()
    terms: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""

    @classmethod
    def work(cls, seed: int) -> Worked:
        """Compute everything for one seed."""
        raise NotImplementedError


def names() -> tuple[str, ...]:
    """The keys of all lessons, as links may name them; an empty one for none."""
    return ("", *(lesson.key for lesson in lessons.all()))


def work(key: str, seed: int) -> Worked:
    """One lesson for one seed."""
    lesson: type[Lesson] = lessons.get(key)
    return lesson.work(seed)


def heading(lesson: type[Lesson]) -> str:
    """The lesson among all: "Lesson 2 of 8: means survive, one child hides"."""
    return f"Lesson {lesson.key} of {len(lessons.all())}: {lesson.label}"


def neighbours(lesson: type[Lesson]) -> tuple[type[Lesson] | None, type[Lesson] | None]:
    """The lessons before and after, where there are any."""
    every = lessons.all()
    index = every.index(lesson)
    return every[index - 1] if index else None, every[index + 1] if index + 1 < len(every) else None
