"""The exit codes of all commands; docs/guide/command_line.md has them as a table."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """The way a command ended."""

    DONE = 0  # done, or shown as asked
    FALSE = 1  # what is claimed, measured or kept was found to be false
    REFUSED = 2  # the request is at fault
    UNKNOWN = 3  # what was asked could not be found out, or not yet
    FAULT = 70  # of the program, as in sysexits.h
    STOPPED = 130  # from the keyboard, as shells have it

    @classmethod
    def of(cls, findings: Iterable[bool | None]) -> Exit:
        """Sum up findings: one that is false counts most, then one that is not known (None)."""
        found = set(findings)
        return cls.FALSE if False in found else cls.UNKNOWN if None in found else cls.DONE
