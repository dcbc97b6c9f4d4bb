"""Teach: what was to be guessed, and the table behind the picture."""

from __future__ import annotations

import math

from engine.figures import traces
from engine.figures.theme import Chart
from engine.language.numbers import named
from engine.lessons import Worked, work
from engine.topics.asking import Numbers, QuestionKind, QuestionLike


def _numbers(worked: Worked, _: QuestionLike) -> Numbers:
    """Return the solution, and every cell of the table by its column and row; NaN for words."""
    table = dict(worked.picture.table)
    guessed = {
        named(name, worked.guess.unit): value
        for name, value in zip(worked.guess.names, worked.guess.truth, strict=True)
    }
    across, *columns = table
    return guessed | {
        f"{column}, {across} {place}": _number(value)
        for column in columns
        for place, value in zip(table[across], table[column], strict=True)
    }


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return math.nan


def _chart(worked: Worked, _: QuestionLike) -> Chart:
    """The table as lines."""
    return traces.table(worked.picture.table, worked.picture.y.title)


KIND = QuestionKind("lesson", "Teach", work, _numbers, _chart)
