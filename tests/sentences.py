"""Sentences on screen and in files, which `tests/snapshots/<topic>.txt` holds by key.

A test names a sentence by a key of at most three words, so that a change of its words is one line
of a snapshot::

    wording = of_topic("release")
    wording.found("less left", page, 10, 80)

The snapshot has a line for each key, ``less left: # of # children have less left``: a sentence or
the part of it that matters, with # for each value that the test passes. `make words` writes again
what a text no longer says. Read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"
RECORDS = "RECORD_WORDS"  # variable of the environment: write what is said instead of failing
GAP = "#"
_ALIKE = 0.5  # least likeness of a sentence and the one that takes its place


class Wording:
    """The sentences of a topic, by key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, str]:
        lines = self.path.read_text("utf-8").splitlines()
        return dict(line.split(": ", 1) for line in lines)

    def write(self, sentences: dict[str, str]) -> None:
        lines = [f"{key}: {sentences[key]}\n" for key in sorted(sentences)]
        self.path.write_text("".join(lines), "utf-8")

    def found(
        self, key: str, text: str | Iterable[str], *values: object, alone: bool = False
    ) -> None:
        """Fail unless a text has the sentence with these values, and nothing else if `alone`."""
        heard = plain(text)
        sentence = filled(self.read()[key], values)
        if sentence == heard if alone else sentence in heard:
            return
        if not os.environ.get(RECORDS):
            raise AssertionError(f"not found: {sentence!r}; see `make words`; in\n{heard}")
        self.write(self.read() | {key: again(sentence, heard, values, alone)})

    def missing(self, key: str, text: str | Iterable[str], *values: object) -> None:
        """Fail if a text has the sentence with these values."""
        heard = plain(text)
        sentence = filled(self.read()[key], values)
        if sentence in heard:
            raise AssertionError(f"found: {sentence!r} in\n{heard}")


def of_topic(topic: str) -> Wording:
    return Wording(FOLDER / f"{topic}.txt")


def plain(text: str | Iterable[str]) -> str:
    """Join texts, with ordinary spaces, as they are typed."""
    joined = text if isinstance(text, str) else "\n".join(text)
    return joined.replace("\N{NO-BREAK SPACE}", " ")


def filled(sentence: str, values: Iterable[object]) -> str:
    """Put a value into each gap of a sentence."""
    first, *parts = sentence.split(GAP)
    pairs = zip(values, parts, strict=True)
    return plain(first + "".join(f"{value}{part}" for value, part in pairs))


def again(sentence: str, heard: str, values: Iterable[object], alone: bool = False) -> str:
    """Find the words that took a sentence's place, with a gap for each value in its order."""
    candidates = [heard] if alone else _stretches(heard, len(sentence.split()))
    nearest = get_close_matches(sentence, candidates, 1, _ALIKE)
    if not nearest:
        raise AssertionError(f"nothing like {sentence!r} is said in\n{heard}")
    rest, written = nearest[0], ""
    for value in map(str, values):
        if value not in rest:
            raise AssertionError(f"{value} is not said in {nearest[0]!r}")
        before, _, rest = rest.partition(value)
        written += before + GAP
    return written + rest


def _stretches(heard: str, n_words: int) -> list[str]:
    """List the stretches of about as many words within a line."""
    return [
        stretch
        for line in heard.splitlines()
        for words in [re.findall(r"\S+", line)]
        for start in range(len(words))
        for length in range(max(1, n_words - 2), n_words + 3)
        if (stretch := " ".join(words[start : start + length])) in line
    ]
