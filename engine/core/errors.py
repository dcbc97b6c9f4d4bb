"""The one public error: something a person can put right."""

from __future__ import annotations


class InputError(ValueError):
    """An input that a person can correct.

    A message never holds a data value: an error that depends on one person's record would be a
    leak.

    Parameters
    ----------
    message : str
        What is wrong, the limit and what was asked for.
    field : str
        Where: the name of the parameter or control.
    """

    def __init__(self, message: str, field: str = "", hint: str = "") -> None:
        super().__init__(message, field, hint)  # all three, so that it survives pickling
        self.message = message
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def brief(value: object) -> str:
    """Quote a value that a person gave, as it stands in a message: on one line, and never long.

    Texts are cut to 60 characters; larger things are named by their kind alone.

    Examples
    --------
    >>> brief("scheme"), brief(10**400), brief([1, 2])
    ("'scheme'", 'a number of about 401 digits', 'a list')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a number of about {1 + int(value.bit_length() * 0.30103):,} digits"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return (
        "a list"
        if isinstance(value, list)
        else "an object"
        if isinstance(value, dict)
        else "something else"
    )


_LONGEST = 60  # characters of a text in a message
