"""Work that tells how far it is, run to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def result_of(steps: Generator[Any, None, Result]) -> Result:
    """What a generator returns, its steps passed over."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
