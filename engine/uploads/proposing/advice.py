"""Advice on cells without a number, from what most of them look like."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

FILL_IN = "Write a number there, leave the cell empty where it is missing, or leave the line out."
"""Advice on cells of which nothing can be told."""
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_MONTH_NAME = (
    r"^[0-9]{1,2}[ -]?[a-z]{3,9}[ -]?[0-9]{2,4}$|^[a-z]{3,9}\.? [0-9]{1,2},? [0-9]{4}$"
    rf"|^{_MONTH}[ .-]?[0-9]{{2,4}}$"
)
_DATE = r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}|^[0-9]{1,2}:[0-9]{2}"
_BELOW_LIMIT = r"^(<? ?l?loq|blo?q|bql|b?lod|bdl|n\.?d\.?|trace|spur|neg(ative?)?\.?)$"
_NO_DATES = (  # what stands in place of a date or a number of it, and what to do
    (
        r"^[0-9]{4}[-/.][0-9]{1,2}$|^[0-9]{1,2}[-/.][0-9]{4}$",
        "They look like months without a day: "
        "write them as dates such as 2024-03-01, or as months since a start: 0, 1, 2.",
    ),
    (rf"^{_MONTH}\.?$", "They look like names of months: write January as 1."),
    (
        r"^(mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?$",
        "They look like days of the week: write Monday as 1.",
    ),
    (
        rf"{_DATE}|{_MONTH_NAME}",
        "They look like dates or clock times in a form that is not read: "
        "write dates as 2024-03-31 and times as 13:30.",
    ),
)
_BESIDE = (  # what stands beside numbers, and what to do
    ("%$", "They hold a percent sign, and others do not: write all numbers in one way."),
    (
        r"^[<>≤≥]",
        "They begin with a sign such as < or >: write the limit alone, or what a rule "
        "from outside the file says, such as half of it.",
    ),
    (
        _BELOW_LIMIT,
        "They seem to say that a value lies below what can be measured: write what a "
        "rule from outside the file says, such as half of the limit.",
    ),
    (
        "^[+-]?[0-9]{1,3}([ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}'’][0-9]{3})+([.,][0-9]+)?$",
        "They hold blanks or marks between thousands: write numbers as 1234.5.",
    ),
    (
        "^[\N{EN DASH}\N{EM DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}] ?[0-9.,]+$",
        "They begin with a dash that is no minus sign: write −5 as -5.",
    ),
    (
        r"^[€$£¥] ?[+-]?[0-9]|[0-9] ?[€$£¥]$",
        "They hold the sign of a currency: write the number alone.",
    ),
    (
        r"^[+-]?[0-9.,]+ *[a-zµ°*+/±^×-]",
        "They hold a unit, a sign or a second number behind the "
        "number: write one number alone in each cell.",
    ),
    (
        r"^[a-z][a-z ._-]*[0-9.,]+$",
        "They hold a word before the number: write the number alone, as 6 for week 6.",
    ),
    (r"^\(.*\)$", "They stand in brackets: write numbers without, and −5 for (5)."),
)


def advice_on(texts: pa.Array, decimal: str, separator: str = ",") -> str:
    """Return what to do about texts that are no numbers, in a file with such a separator."""
    text = pc.utf8_lower(texts)
    marks = [*_NO_DATES, *_on_marks(decimal, separator), *_BESIDE]
    return next((advice for pattern, advice in marks if _most(text, pattern)), FILL_IN)


def says_below_limit(text: str) -> bool:
    """True if a text says that a value was too small to be measured."""
    return _most(pa.array([text.lower()]), _BELOW_LIMIT)


def _on_marks(decimal: str, separator: str) -> tuple[tuple[str, str], ...]:
    """Return advice on commas and points."""
    of_thousands = (
        r"^[+-]?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+$|^[+-]?[0-9]{1,3}(,[0-9]{3})+\.[0-9]+$",
        "They hold a mark between thousands beside the decimal mark: write 1.234,5 or "
        "1,234.5 without the first mark.",
    )
    if decimal == ",":
        return of_thousands, (
            r"^[+-]?[0-9.,]+$",
            "They hold a point, while this file has decimal "
            "commas: write all numbers in one way, without a mark between "
            "thousands.",
        )
    other = (
        ", or separate columns by semicolons"
        if separator == ","
        else ", or with a decimal comma in all cells"
    )
    return of_thousands, (
        r"^[+-]?[0-9., ]*,[0-9., ]*$",
        "They hold a comma, which may be a "
        f"decimal mark or separate thousands: write numbers as 1234.5{other}.",
    )


def _most(text: pa.Array, pattern: str) -> bool:
    fits = pc.sum(pc.match_substring_regex(text, pattern)).as_py() or 0
    return bool(2 * fits > len(text))
