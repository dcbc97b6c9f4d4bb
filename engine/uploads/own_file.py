"""How a file of one's own was read: what its code, its command and its request repeat."""

from __future__ import annotations

from dataclasses import dataclass

from engine.uploads.events import EventColumns
from engine.uploads.layout import Layout


@dataclass(frozen=True)
class OwnFile:
    """How a file of one's own was read: its name and what was chosen, none of its values."""

    name: str
    encoding: str
    sheet: str | None
    layout: Layout | EventColumns
    several: str = "keep"
