"""Work that tells how far it is, run to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def result_of(steps: Generator[Any, None, Result]) -> Result:
    """What a generator returns, its steps passed over.

    Parameters
    ----------
    steps : generator
        Work that yields as it goes on; run to its end.

    Returns
    -------
    object
        The value of its return statement.
    """
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


def all_of(steps: Generator[Result, None, Result]) -> list[Result]:
    """Every step of a generator, and last what it returns.

    Parameters
    ----------
    steps : generator
        Work that yields as it goes on; run to its end.

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
