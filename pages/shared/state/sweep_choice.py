"""The sweep that a visitor wants, as a setting and as words of the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.tasks import MEAN_FUNCTION
from engine.language.numbers import exactly
from engine.topics.sweeps.answer import EPSILON, MAX_VALUES

MAX_REPEATS = 1000
_LONGEST_PATH = 60


@dataclass(frozen=True)
class SweepChoice:
    """One or two axes of a task's curves and method; no values means the usual ones."""

    task: str = MEAN_FUNCTION.key
    along: str = EPSILON
    values: tuple[float, ...] = ()
    across: str = ""
    levels: tuple[float, ...] = ()
    repeats: int = 50


def words(choice: SweepChoice) -> list[str]:
    """Write `sweep.along-source.n_curves` for every value that is not the default."""
    default = SweepChoice()
    return [
        f"sweep.{f.name}-{_word(getattr(choice, f.name))}"
        for f in fields(choice)
        if getattr(choice, f.name) != getattr(default, f.name)
    ]


def _word(value: object) -> str:
    return "_".join(map(exactly, value)) if isinstance(value, tuple) else str(value)


def with_word(choice: SweepChoice, name: str, text: str) -> SweepChoice:
    """Return the choice with one word of an address.

    Raises
    ------
    KeyError, ValueError
        If the word names nothing or its value cannot be.
    """
    return replace(choice, **{name: _READ[name](text)})


def _numbers(text: str) -> tuple[float, ...]:
    values = tuple(float(number) for number in text.split("_"))
    if len(values) > MAX_VALUES or not all(abs(value) < 1e12 for value in values):
        raise ValueError("values")
    return tuple(sorted(set(values)))


def _path(text: str) -> str:
    if len(text) > _LONGEST_PATH:
        raise ValueError("path")
    return text


_READ: dict[str, Callable[[str], Any]] = {
    "values": _numbers,
    "levels": _numbers,
    "repeats": lambda text: checked_repeats(int(text)),
    "task": _path,
    "along": _path,
    "across": _path,
}


def checked_repeats(repeats: int | None) -> int:
    if repeats is None or not 1 <= repeats <= MAX_REPEATS:
        raise InputError(
            f"Repeats must lie between 1 and {MAX_REPEATS}; got {repeats}.",
            field="repeats",
            hint="More can be run on the command line.",
        )
    return repeats
