"""Work that tells how far it is, run to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def result_of(steps: Generator[Any, None, Result]) -> Result:
    """Run a generator to its end and return its result, its steps passed over."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


def all_of(steps: Generator[Result, None, Result]) -> list[Result]:
    """Run a generator to its end, and list every step and last its result.

    Examples
    --------
    >>> def count(to):
    ...     for number in range(to):
    ...         yield number
    ...     return to
    >>> all_of(count(2)), result_of(count(2))
    ([0, 1, 2], 2)
    """
    results: list[Result] = []
    while True:
        try:
            results.append(next(steps))
        except StopIteration as end:
            return [*results, end.value]
