"""Text that is safe in tables which other programs open."""

from __future__ import annotations

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """A text cell that no spreadsheet takes for a formula (a leading apostrophe); see CWE-1236."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
