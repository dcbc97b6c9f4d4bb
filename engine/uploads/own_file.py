"""The reading of one's own file, as its code, command and request repeat it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.uploads.reading_of_files import Reading


@dataclass(frozen=True)
class OwnFile:
    """The name of a file, and the reading by which it was read; none of its values."""

    name: str
    reading: Reading
