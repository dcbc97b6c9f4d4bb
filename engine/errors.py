"""The one public error: something a person can put right."""

from __future__ import annotations


class InputError(ValueError):
    """An input that a person can correct.

    The message says what is wrong, the limit and what was asked for; `field` says where; `hint`
    says what to do. A message never holds a data value: an error that depends on one person's
    record would be a leak.
    """

    def __init__(self, message: str, field: str = "", hint: str = "") -> None:
        super().__init__(message, field, hint)  # all three, so that it survives pickling
        self.message = message
        self.field = field
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()
