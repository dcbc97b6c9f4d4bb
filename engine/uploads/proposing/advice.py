"""What to do about cells that hold no number, from what most of them look like."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

FILL_IN = "Write a number there, leave the cell empty where it is missing, or leave the line out."
"""Advice on cells of which nothing can be told."""
_MONTH_NAME = (r"^[0-9]{1,2}[ -]?[a-z]{3,9}[ -]?[0-9]{2,4}$|^[a-z]{3,9}\.? [0-9]{1,2},? [0-9]{4}$"
               r"|^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[ .-]?[0-9]{2,4}$")
_DATE = r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}|^[0-9]{1,2}:[0-9]{2}"
_BESIDE = (  # what stands beside numbers, and what to do
    (r"^[<>≤≥]", "They begin with a sign such as < or >: write the limit alone, or what a rule "
     "from outside the file says, such as half of it."),
    ("^[+-]?[0-9]{1,3}([ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}'’][0-9]{3})+([.,][0-9]+)?$",
     "They hold blanks or marks between thousands: write numbers as 1234.5."),
    (r"^[+-]?[0-9.,]+ *[a-zµ°*+/]", "They hold a unit, a sign or a second number behind the "
     "number: write one number alone in each cell."),
    (r"^[a-z][a-z ._-]*[0-9.,]+$", "They hold a word before the number: write the number alone, as "
     "6 for week 6."),
    (r"^\(.*\)$", "They stand in brackets: write numbers without, and −5 for (5)."))


def advice_on(texts: pa.Array, decimal: str) -> str:
    """Return what to do about texts that are no numbers."""
    text = pc.utf8_lower(texts)
    if _most(text, _DATE) or _most(text, _MONTH_NAME):
        return ("They look like dates or clock times in a form that is not read: write dates as "
                "2024-03-31 and times as 13:30.")
    if decimal == "." and _most(text, ","):
        return ("They hold a comma, which may be a decimal mark or separate thousands: write "
                "numbers as 1234.5, or separate columns by semicolons.")
    if decimal == "," and _most(text, r"\."):
        return ("They hold a point, while this file has decimal commas: write all numbers in one "
                "way, without a mark between thousands.")
    if _most(text, "%$"):
        return "They hold a percent sign, and others do not: write all numbers in one way."
    return next((advice for pattern, advice in _BESIDE if _most(text, pattern)), FILL_IN)


def _most(text: pa.Array, pattern: str) -> bool:
    fits = pc.sum(pc.match_substring_regex(text, pattern)).as_py() or 0
    return bool(2 * fits > len(text))
