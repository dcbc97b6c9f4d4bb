"""Digests as words that two people can compare on the telephone.

Sixteen bits are one word of five letters: consonant, vowel, consonant, vowel, consonant, of sixteen
consonants and four vowels, so every word can be spoken. (The alphabet is that of Wilkerson 2009,
arXiv 0901.4016.)

A key is eight words, the first 128 bits of its SHA-256. Its owner made it before anybody compares,
so whoever wants another key with the same words needs a second preimage: 2¹²⁸ attempts. A plan is
sixteen words, all 256 bits of its digest; they are shown in groups of four.
"""

from __future__ import annotations

import hashlib

_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"
_OF_A_KEY = 16  # bytes
_GROUP = 4  # words


def words(content: bytes) -> list[str]:
    """Spell an even number of bytes.

    Examples
    --------
    >>> words(bytes.fromhex("7f000001"))
    ['lusab', 'babad']
    """
    return [
        _word(first << 8 | second)
        for first, second in zip(content[::2], content[1::2], strict=True)
    ]


def of_key(public: str) -> str:
    """Spell a public key in eight words, joined by hyphens."""
    return "-".join(words(hashlib.sha256(bytes.fromhex(public)).digest()[:_OF_A_KEY]))


def groups(digest: str) -> list[str]:
    """Spell a digest in hex in groups of four words, joined by hyphens."""
    spelled = words(bytes.fromhex(digest))
    return ["-".join(spelled[start : start + _GROUP]) for start in range(0, len(spelled), _GROUP)]


def _word(bits: int) -> str:
    return (
        _CONSONANTS[bits >> 12]
        + _VOWELS[bits >> 10 & 3]
        + _CONSONANTS[bits >> 6 & 15]
        + _VOWELS[bits >> 4 & 3]
        + _CONSONANTS[bits & 15]
    )
