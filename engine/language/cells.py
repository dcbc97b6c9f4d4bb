"""Text that is safe in tables which other programs open."""

from __future__ import annotations

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """A text cell that no spreadsheet takes for a formula (a leading apostrophe); see CWE-1236.

    Parameters
    ----------
    text : str
        What would be written into one cell of a CSV file or a workbook.

    Returns
    -------
    str
        The same text, or with an apostrophe before it if it begins like a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("height")
    ("'=1+1", 'height')
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
