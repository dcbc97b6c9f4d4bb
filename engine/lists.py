"""Lists of numbers that travel as text: in a form, on the command line, in a link."""

from __future__ import annotations

import re

from engine.errors import InputError

MOST_SITES = 1000


def whole_numbers(field: str, text: str | None) -> tuple[int, ...]:
    """The positive whole numbers of a text such as "400, 250, 100"; none of an empty one.

    Parameters
    ----------
    field : str
        What an error names as its place.
    text : str or None
        Whole numbers of at most nine digits, with commas between them.

    Raises
    ------
    InputError
        If it is anything else, or longer than 1000 numbers.

    Examples
    --------
    >>> whole_numbers("Sizes of sites", "400, 250, 100")
    (400, 250, 100)
    """
    if text is None or (isinstance(text, str) and not text.strip()):
        return ()
    words = text.split(",", MOST_SITES) if isinstance(text, str) else [""]
    words = [word.strip() for word in words]
    if len(words) > MOST_SITES or not all(re.fullmatch("[0-9]{1,9}", w) and int(w) for w in words):
        raise InputError(f"“{field}” must be up to {MOST_SITES} whole numbers above 0, with commas "
                         "between them.", field=field, hint="For example 400, 250, 100.")
    return tuple(int(word) for word in words)
