"""A person's file, read within bounds of time and memory whatever the file is.

The time of reading grows with the size of a file, but its factor is for the file to choose, and a
workbook may ask for any amount of memory; so pages and commands let it run in a worker that is
ended beyond `BOUNDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from engine.core.errors import InputError
from engine.running.bounded import BoundedWorker, Bounds, Ended
from engine.uploads.limits import refused
from engine.uploads.packed import HEAD, packing_of
from engine.uploads.people import People, read
from engine.uploads.reading_of_files import Reading
from engine.uploads.workbooks import is_workbook

T = TypeVar("T")
# 20 MB of text take 3 seconds of a busy machine; 400 MB with what the worker has before.
BOUNDS = Bounds(seconds=15, megabytes=270)
# For the records of a file that was read: 350 MB of four million cells, and addresses that
# allocators reserve without using them.
OF_COLUMNS = Bounds(seconds=15, megabytes=600)
# Text as short as this is read where it is asked for: reading it takes some thirty passes over it,
# none of which makes more than a few dozen bytes of one, and thus milliseconds and megabytes.
_SHORT = 100_000
_WORKER = BoundedWorker()  # costs nothing until its first file


def read_people(content: bytes, reading: Reading) -> People:
    """Read a file by its complete reading within `BOUNDS`."""
    return within_bounds(read, content, reading)


def within_bounds(function: Callable[..., T], content: bytes, *more: object) -> T:
    """Return what a function of a module makes of a file, within `BOUNDS` unless it is short."""
    if len(content) <= _SHORT and not is_workbook(content) and not packing_of(content[:HEAD]):
        return function(content, *more)
    try:
        result: T = _WORKER.call(BOUNDS, function, content, *more)
    except Ended:
        raise too_much() from None
    return result


def too_much(bounds: Bounds = BOUNDS) -> InputError:
    """Make the error for a file whose reading was ended."""
    return refused(
        f"This file needs more than {bounds.seconds} seconds or "
        f"{bounds.megabytes} MB of memory to be read.",
        "Leave out what is not needed, such as cells far from the table, and save it as .csv.",
    )
