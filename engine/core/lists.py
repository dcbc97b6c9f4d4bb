"""Lists as text: of numbers in a form, a command or a link, of names in a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.core.errors import InputError

MAX_SITES = 1000


def whole_numbers(field: str, text: str | None) -> tuple[int, ...]:
    """Read positive whole numbers of at most nine digits, such as "400, 250, 100"; none from "".

    Examples
    --------
    >>> whole_numbers("Sizes of sites", "400, 250, 100")
    (400, 250, 100)
    """
    if text is None or (isinstance(text, str) and not text.strip()):
        return ()
    words = text.split(",", MAX_SITES) if isinstance(text, str) else [""]
    words = [word.strip() for word in words]
    if len(words) > MAX_SITES or not all(re.fullmatch("[0-9]{1,9}", w) and int(w) for w in words):
        raise InputError(
            f"“{field}” must be up to {MAX_SITES} whole numbers above 0, with commas between them.",
            field=field,
            hint="For example 400, 250, 100.",
        )
    return tuple(int(word) for word in words)


def repeated(names: Sequence[str]) -> list[str]:
    """The names that occur more than once, in the order of the list."""
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def shortened(name: str, length: int = 40) -> str:
    """Shorten a visitor's name for something, on one line, to what fits a message.

    Signs that cannot be printed become blanks.

    Examples
    --------
    >>> shortened("weight at birth", 10)
    'weight at…'
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in name[:1000]).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def counted(number: int, noun: str) -> str:
    """Write a number with what it counts; the plural adds an s to `noun`.

    Examples
    --------
    >>> counted(1, "row"), counted(1000, "row")
    ('1 row', '1,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], n_named: int = 3) -> str:
    """Names in quotes, of which some may only be counted.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c"], 1)
    ('“a” and “b”', '“a” and 2 more')
    """
    quoted = [f"“{shortened(name)}”" for name in names[:n_named]]
    if len(names) > n_named:
        return f"{', '.join(quoted)} and {len(names) - n_named:,} more"
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
