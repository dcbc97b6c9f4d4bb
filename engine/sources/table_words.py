"""Names and counts as they stand in messages about a table."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence


def shortened(name: str, length: int = 40) -> str:
    """A visitor's name for something, on one line and no longer than fits a message."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name[:1000]).split())
    return line if len(line) <= length else f"{line[:length - 1]}…"


def counted(number: int, noun: str) -> str:
    """“1 row”, “4 rows”, “1,000 rows”."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """“a”, “b” and 4 more."""
    quoted = [f"“{shortened(name)}”" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(quoted)} and {len(names) - most:,} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def column_key(name: str) -> str:
    """What column names are compared by: without case and without blanks at the ends."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def nearest(wanted: str, columns: Iterable[str]) -> str:
    """“The nearest name is “age”. ”, or nothing if no column is near."""
    by_key = {column_key(column)[:100]: column for column in columns}
    near = difflib.get_close_matches(column_key(wanted)[:100], by_key, n=1, cutoff=0.6)
    return f"The nearest name is “{shortened(by_key[near[0]])}”. " if near else ""
