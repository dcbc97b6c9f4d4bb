"""A lesson on one sheet of paper: HTML that needs nothing else, with the answer upside down."""

from __future__ import annotations

from engine.figures import drawn
from engine.lessons import Lesson, Worked, heading
from engine.templates import render

_ANSWERED = drawn.Look(430, 250, 11, dot=1.8)


def handout(lesson: type[Lesson], worked: Worked, seed: int, address: str = "") -> bytes:
    """Story, picture to draw the guess into, and question; at the bottom, upside down, the answer.

    `address` is the link to the same lesson with the same noise, left out where it is not known.
    """
    options, picture, filled = lesson.question.options, worked.picture, worked.filled
    return render(
        "handout", title=heading(lesson), colours=drawn.palette("light"), picture=picture,
        story=map(filled, lesson.story), ask=filled(lesson.ask),
        guess=drawn.svg(picture, drawn.PRINTED, "guess"), question=filled(lesson.question.ask),
        options=[filled(option.text) for option in options], address=address,
        shows=filled(lesson.shows), explains=map(filled, lesson.explains),
        number=1 + options.index(lesson.question.right), why=filled(lesson.question.right.why),
        answer=drawn.svg(picture, _ANSWERED, "answer"), unit=lesson.unit[0],
        budget=worked.budget, seed=seed).encode()
