"""Numbers as people type them: with a comma or a point, and with marks between thousands."""

from __future__ import annotations

import math
import re

from engine.core.errors import InputError

_MINUS = str.maketrans("\u2212\u2013", "--")
_BLANK = r"[\s\u202f’']"
_GROUPED = re.compile(rf"[+-]?\d{{1,3}}(?:([.,]|{_BLANK})\d{{3}})(?:\1\d{{3}})*")

_LONGEST = 40  # characters that are quoted


def count(text: str) -> int:
    """Read a whole number, with or without marks between thousands.

    Examples
    --------
    >>> count("1 200"), count("1,200"), count("-5")
    (1200, 1200, -5)
    """
    typed = text.strip().translate(_MINUS)
    if _GROUPED.fullmatch(typed):
        typed = re.sub(rf"[.,]|{_BLANK}", "", typed)
    if not re.fullmatch(r"[+-]?\d{1,12}", typed):
        raise _refusal(text, "a whole number")
    return int(typed)


def number(text: str) -> float:
    """Read a number; a comma is a decimal mark, as a point is.

    Examples
    --------
    >>> number("0,6"), number("0.6"), number("1 200,5")
    (0.6, 0.6, 1200.5)
    """
    typed = re.sub(rf"(?<=\d){_BLANK}(?=\d{{3}}(?!\d))", "", text.strip().translate(_MINUS))
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", typed):
        raise InputError(
            f"“{text.strip()[:_LONGEST]}” can be read in two ways.",
            hint="Write thousands without a mark, and decimals with a point.",
        )
    try:
        value = float(typed.replace(",", "."))
    except ValueError:
        raise _refusal(text, "a number") from None
    if not math.isfinite(value):
        raise _refusal(text, "a number")
    return value


def _refusal(text: str, expected: str) -> InputError:
    typed = text.strip()
    return InputError(
        f"“{typed[:_LONGEST]}” is not {expected}." if typed else "The field is empty.",
        hint="" if typed else f"It needs {expected}.",
    )
