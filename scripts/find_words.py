"""Find where a sentence on screen is written.

    python scripts/find_words.py "34 % with relapse by 2.5 years"

Strings and f-strings of `engine`, `pages` and `reproductions` are read from the syntax tree, with a
gap in place of each value; the sentences whose parts stand in the given one, in order, are printed,
the longest first. Without a match the three nearest are printed, and the exit code is 1.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("engine", "pages", "reproductions")
GAP = "\0"
SHOWN = 5  # places that are printed at most
LEAST = 0.3  # of the letters of a rendered sentence, below which a match says nothing


class Place(NamedTuple):
    """A written sentence with its gaps."""

    where: str
    text: str


def sentences(text: str) -> list[str]:
    """Split a text behind full stops, question marks and colons."""
    return re.split(r"(?<=[.!?:])\s+", text.strip())


def written(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, sentence) of all strings of a module but docstrings."""
    tree = ast.parse(source)
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
        elif isinstance(node, ast.FormattedValue) and node.format_spec:
            inside |= {id(part) for part in ast.walk(node.format_spec)}
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = re.sub(r"\{[^{}]*\}", GAP, node.value)
        else:
            continue
        yield from ((node.lineno, sentence) for sentence in sentences(text))


def plain(text: str) -> str:
    """One line without the marks of Markdown and thin spaces."""
    return " ".join(re.sub(r"[*`_\\]", "", text).split())


def letters(sentence: str, rendered: str) -> int:
    """Count the letters of a written sentence whose parts stand in a rendered one in order."""
    at, parts = 0, plain(sentence).split(GAP)
    for part in parts:
        found = rendered.find(part, at)
        if found < 0:
            return 0
        at = found + len(part)
    count = sum(map(len, parts))
    return count if count >= LEAST * len(rendered) else 0


def places(root: Path = ROOT) -> Iterator[Place]:
    """Yield every written sentence of a checkout."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            for line, sentence in written(path.read_text("utf-8")):
                yield Place(f"{path.relative_to(root).as_posix()}:{line}", sentence)


def find(rendered: str, known: Iterable[Place]) -> list[tuple[int, Place]]:
    """Matching letters and place of each known sentence that fits, best first."""
    wanted = [plain(sentence) for sentence in sentences(rendered)]
    hits = [
        (max(letters(place.text, sentence) for sentence in [*wanted, plain(rendered)]), place)
        for place in known
    ]
    return sorted((hit for hit in hits if hit[0]), key=lambda hit: -hit[0])


def nearest(rendered: str, known: Iterable[Place]) -> list[Place]:
    """The three known sentences that are most alike."""
    of_text = {plain(place.text.replace(GAP, "…")): place for place in known}
    alike = difflib.get_close_matches(plain(rendered), list(of_text), n=3, cutoff=0.0)
    return [of_text[text] for text in alike]


def main(words: list[str]) -> int:
    if len(words) != 1:
        print((__doc__ or "").partition("\n\n")[0], file=sys.stderr)
        return 2
    known = list(places())
    hits = find(words[0], known)
    for count, place in hits[:SHOWN]:
        print(f"{place.where} ({count} of {len(plain(words[0]))} letters)")
    if not hits:
        print("No written sentence fits. The nearest:", file=sys.stderr)
        for place in nearest(words[0], known):
            print(f"{place.where}  {plain(place.text.replace(GAP, '…'))[:80]}", file=sys.stderr)
    return int(not hits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
