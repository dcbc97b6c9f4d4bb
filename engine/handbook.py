"""The guide and the notes on methods: the Markdown of `docs/`, which pages show as it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine import exhibits as reproduced
from engine.core.errors import InputError
from engine.mechanisms import Mechanism, mechanisms

if TYPE_CHECKING:
    from engine.exhibits import Exhibit, Paper

DOCS = Path(__file__).parents[1] / "docs"
GLOSSARY = "glossary"
CHAPTERS = (
    "first_steps",
    "three_readers",
    "own_curves",
    "public_data",
    "reading_pictures",
    "budgets_and_odds",
    "not_shown",
    "many_sites",
    "models",
    "comparing",
    "checking",
    "publishing",
    "real_sites",
    "command_line",
    "from_r_and_julia",
)
PARTS = (
    "Idea",
    "Guarantee",
    "Why the noise is enough",
    "Constants",
    "Errata",
    "Source",
    "Where to see it",
)
_NAMED = re.compile(r"\*([^*\s][^*\n]*)\*")  # a bullet’s star stands before a space


@dataclass(frozen=True)
class Chapter:
    """A chapter of the guide, or the notes on one method."""

    title: str  # the first line of its file, without marks
    text: str

    def part(self, title: str) -> str:
        """The text of one section; empty if there is none."""
        return _sections(self.text).get(title, "")

    @property
    def opening(self) -> str:
        """The first paragraph."""
        return self.text.partition("\n\n")[0]

    def names(self, title: str) -> bool:
        """True if a page is named in the text, in italics."""
        names = _NAMED.findall(self.text.replace("**", ""))
        return any(name == title or name.startswith(f"{title} ›") for name in names)


@cache
def chapter(key: str) -> Chapter:
    """A chapter of the guide."""
    return _read(f"guide/{key}.md")


@dataclass(frozen=True)
class Found:
    """A part of a chapter that holds the words that were looked for."""

    chapter: str
    title: str
    section: str  # its heading; empty for what stands above the first one


def search(words: str) -> tuple[Found, ...]:
    """Parts of the guide that hold every word, those with all of them in a heading first.

    Parts of words count, in any case; no word finds nothing.
    """
    terms = words.casefold().split()
    hits = [
        (heading, Found(key, text.title, section))
        for key in CHAPTERS
        if terms
        for text in (chapter(key),)
        for section, body in {"": text.text.partition("\n## ")[0], **_sections(text.text)}.items()
        for heading in (f"{text.title} {section}".casefold(),)
        if all(word in f"{heading} {body.casefold()}" for word in terms)
    ]
    hits.sort(key=lambda pair: not all(word in pair[0] for word in terms))
    return tuple(part for _, part in hits)


@cache
def method(key: str) -> Chapter:
    """The notes on a registered mechanism; their sections are `PARTS`."""
    return _read(f"methods/{mechanisms.get(key).key}.md")


@cache
def measured(key: str) -> str:
    """Read what was measured here of a mechanism and its like; empty if nothing is on record."""
    return _read("methods.md").part(mechanisms.get(key).measured)


def methods_of(paper: Paper, exhibit: Exhibit) -> tuple[type[Mechanism], ...]:
    """The methods that an exhibit runs; of one that runs none those of its paper."""
    ran = {type(cell.mechanism): None for cell in exhibit.work("quick").cells}
    return tuple(ran) or tuple(
        cls
        for cls in mechanisms.all()
        if (arxiv := _arxiv(cls.reference)) and arxiv in paper.reference
    )


def _arxiv(reference: str) -> str:
    match = re.search(r"arXiv [\d.]+\d", reference)
    return "" if match is None else match.group()


@cache
def exhibits(key: str) -> tuple[tuple[str, str], ...]:
    """Names, "paper/exhibit", and titles of exhibits that run a mechanism; else its paper's."""
    arxiv = _arxiv(mechanisms.get(key).reference)
    pairs = [(paper, exhibit) for paper in reproduced.papers() for exhibit in paper.exhibits]
    matching = [
        (paper, exhibit)
        for paper, exhibit in pairs
        if any(cell.mechanism.key == key for cell in exhibit.work("quick").cells)
    ]
    matching = matching or [
        (paper, exhibit) for paper, exhibit in pairs if arxiv and arxiv in paper.reference
    ]
    return tuple((f"{paper.key}/{exhibit.key}", exhibit.title) for paper, exhibit in matching)


def method_keys() -> tuple[str, ...]:
    """Keys of all mechanisms, in their order."""
    return tuple(cls.key for cls in mechanisms.all())


def method_label(key: str) -> str:
    """The title of a method's notes and, in a sentence, what it is for."""
    notes = method(key)
    first = notes.opening.partition(". ")[0].rstrip(".")
    return f"{notes.title}: {first[0].lower()}{first[1:]}"


def _read(name: str) -> Chapter:
    try:
        text = (DOCS / name).read_text("utf-8")
    except OSError:
        raise InputError(
            f"docs/{name} is missing.",
            field="docs",
            hint="Write it, or take the whole folder docs along with the program.",
        ) from None
    title, _, rest = text.partition("\n")
    return Chapter(title.removeprefix("# ").strip(), rest.strip())


def _sections(text: str) -> dict[str, str]:
    """Sections by their second-level titles."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {
        title.strip(): body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }
