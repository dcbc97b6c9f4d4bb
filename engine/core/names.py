"""Names as they stand inside a sentence: those that a person typed keep their own spelling."""

from __future__ import annotations

_NAMES_OF_PEOPLE = ("Bernstein", "Gauss", "Laplace")


def uncapital(text: str) -> str:
    """Make the first letter small, as inside a sentence, except in abbreviations and names.

    Examples
    --------
    >>> uncapital("Adaptive mean"), uncapital("ICLP noise"), uncapital("Laplace noise")
    ('adaptive mean', 'ICLP noise', 'Laplace noise')
    >>> uncapital("Visit time"), uncapital("HbA1c"), uncapital("T"), uncapital("pH")
    ('visit time', 'HbA1c', 'T', 'pH')
    """
    word = text.split(" ", 1)[0]
    is_symbol = len(word) == 1 and not text.startswith("A ")
    keeps = (
        is_symbol
        or any(c.isupper() or c.isdigit() for c in word[1:])
        or text.startswith(_NAMES_OF_PEOPLE)
    )
    return text if keeps else text[:1].lower() + text[1:]
