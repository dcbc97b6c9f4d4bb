"""Lessons for one hour of teaching, with what the teacher does when."""

from __future__ import annotations

from dataclasses import dataclass

from engine.language.grammar import capital
from engine.lessons import Lesson, lessons

MINUTES = 50
TALK = {
    "1": "Who would answer honestly now, and why?",
    "2": "Which published mean about yourself would you mind?",
    "5": "Would your hospital trust a centre? What does it pay if not?",
    "8": "How accurate must an attacker be to worry you?",
}  # what a class talks about after each lesson
KEYS = tuple(TALK)


@dataclass(frozen=True)
class Part:
    """One lesson of the hour; times are minutes from its start."""

    lesson: type[Lesson]
    begins: int
    talk_from: int
    ends: int


def parts() -> tuple[Part, ...]:
    """Share the hour: each lesson has its own minutes of play, and the rest is talk."""
    chosen = [lessons.get(key) for key in KEYS]
    play = sum(lesson.minutes for lesson in chosen)
    talk, begins, found = (MINUTES - play) // len(chosen), 0, []
    for lesson in chosen:
        ends = MINUTES if lesson is chosen[-1] else begins + lesson.minutes + talk
        found.append(Part(lesson, begins, begins + lesson.minutes, ends))
        begins = ends
    return tuple(found)


def in_words() -> str:
    """Name the lessons, and count minutes of play and of talk."""
    play = sum(part.lesson.minutes for part in parts())
    return f"Lessons {', '.join(KEYS)} · {play} min of play, {MINUTES - play} of talk"


def rows() -> list[dict[str, str]]:
    """Write the hour as a table."""
    return [
        {
            "Minutes": f"{part.begins} to {part.talk_from}",
            "Guess and reveal": f"{part.lesson.key} · {capital(part.lesson.label)}",
            "Then talk": f"until {part.ends}: {TALK[part.lesson.key]}",
        }
        for part in parts()
    ]
