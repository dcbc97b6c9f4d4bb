"""Public bounds that people may start from: `data/public_bounds.json`, each with its source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).resolve().parents[2] / "data" / "public_bounds.json"


@dataclass(frozen=True, kw_only=True)
class PublicBounds:
    """Public bounds of one kind of curve; facts of the world, not of any file."""

    key: str
    label: str
    value_name: str
    value_unit: str
    # value_low, value_high, time_low, time_high: in those units
    value_low: float
    value_high: float
    time_name: str
    time_unit: str
    time_low: float
    time_high: float
    # person, people: nouns for one of them and for many
    person: str
    people: str
    periodic: bool  # whether a curve ends where it began
    source: str  # where the bounds come from


@cache
def public_bounds() -> dict[str, PublicBounds]:
    """All of them by key, in the order of the file.

    Examples
    --------
    >>> public_bounds()["anisotropy"].value_high
    1.0
    """
    listed = json.loads(_FILE.read_text("utf-8"))
    numbers = ("value_low", "value_high", "time_low", "time_high")
    return {
        entry["key"]: PublicBounds(**{**entry, **{name: float(entry[name]) for name in numbers}})
        for entry in listed
    }
