"""Nouns of data in a sentence: articles, possessives, capitals; and text that is safe in tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.core.names import uncapital as uncapital
from engine.core.types import DataKind, PublicFacts

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def a(noun: str) -> str:
    """Put the indefinite article before a noun; a vowel that sounds like a consonant gets "a".

    Examples
    --------
    >>> a("child"), a("athlete"), a("user")
    ('a child', 'an athlete', 'a user')
    """
    vowel = re.match(r"(?!uni|use|eu|one)[aeiou]", noun, re.IGNORECASE)
    return f"{'an' if vowel else 'a'} {noun}"


def of(noun: str) -> str:
    """Form the possessive of a noun.

    Examples
    --------
    >>> of("child"), of("children"), of("persons")
    ('child’s', 'children’s', 'persons’')
    """
    return f"{noun}’" if noun.endswith("s") else f"{noun}’s"


def capital(text: str) -> str:
    """Write the first letter large, the rest as it is."""
    return text[:1].upper() + text[1:]


def conjunction(words: Sequence[str]) -> str:
    """Words or numbers one after the other, with “and” before the last.

    Examples
    --------
    >>> conjunction(["0.5", "1", "2"]), conjunction(["1"])
    ('0.5, 1 and 2', '1')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def escape(words: str) -> str:
    """Words of a data source without markup: two “$” would become a formula."""
    return re.sub(r"([\\`*_\[\]<>$~:])", r"\\\1", words)


def plain_text(markdown: str) -> str:
    r"""Sentences as a terminal or a file shows them: without bold words and what `escape` puts in.

    Examples
    --------
    >>> plain_text(f"**Left** for “{escape('long_common')}”")
    'Left for “long_common”'
    """
    return re.sub(r"\\([\\`*_\[\]<>$~:])", r"\1", markdown.replace("**", ""))


def span(facts: PublicFacts) -> str:
    """Name the range of the curve: "ages 2 to 18"; a name that a person typed stays as it is."""
    name, is_typed = uncapital(facts.time_name), facts.kind in (DataKind.UPLOAD, DataKind.TWIN)
    plural = name if is_typed or name.endswith("s") or " " in name else f"{name}s"
    return f"{plural} {facts.time_low:g} to {facts.time_high:g}"


def safe_cell(text: str) -> str:
    """Make a text cell that no spreadsheet takes for a formula, by an apostrophe; see CWE-1236.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("height")
    ("'=1+1", 'height')
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
