"""How a file of one's own was read: what its code, its command and its request repeat."""

from __future__ import annotations

from dataclasses import dataclass

from engine.uploads.reading_of_files import Reading


@dataclass(frozen=True)
class OwnFile:
    """The name of a file, and the reading by which it was read; none of its values."""

    name: str
    reading: Reading
