"""Words that the project does not use, wherever a person may read them.

    python scripts/wording.py              how many are left, by folder
    python scripts/wording.py PATH …       each of them below these paths, with file and line

What a person reads are string constants of `engine` and `pages` (docstrings, names of settings and
other single words of code left out), scripts and templates of pages, documents, and stored
exhibits and lessons. `BANNED` has the words, each with what to say in its place, and the phrases
in which it is right; `IN_SENTENCES` has phrases that no sentence on screen has, and `IN_DOCUMENTS`
those that documents do without as well.
`tests/source/test_banned_words.py` holds the project to both.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Ban:
    """A word or phrase that nobody shall read.

    Parameters
    ----------
    name : str
        As the table calls it.
    pattern : str
        Regular expression, in any case, between borders of words.
    instead : str
        What to say in its place.
    allowed : tuple of str
        Regular expressions of phrases in which it is right.
    """

    name: str
    pattern: str
    instead: str
    allowed: tuple[str, ...] = ()

    def matches(self, text: str) -> list[str]:
        """Each use of the word in a text, with a few words around it."""
        for phrase in self.allowed:
            text = re.sub(rf"\b(?:{phrase})", "…", text, flags=re.IGNORECASE)
        return [
            text[max(match.start() - 30, 0) : match.end() + 30].strip()
            for match in re.finditer(rf"\b(?:{self.pattern})\b", text, flags=re.IGNORECASE)
        ]


# As a verb *limits* has an object: what it limits is the next word.
_OBJECTS = "how|what|the|an?|us|it|each|every|any|this|that|its|their"
_LIMITS_AS_A_VERB = (rf"limits (?:{_OBJECTS})\b", r"what limits\b")
BANNED = (
    Ban(
        "reading",
        "readings|(?:each|every|per|single) reading",
        "observation",
        (
            r"(?:worth|while|by|after|before|on|in|when|is|for) reading\b(?! of)",
            r"reading (?:a|an|the|this|that|it|your|one|of a file|order)\b",
        ),
    ),
    Ban("wave", "waves?", "basis function, coefficient or frequency", ("smooth wave",)),
    Ban("limits", "limits", "bounds, confidence band or confidence interval", _LIMITS_AS_A_VERB),
    Ban("errs", "err(?:s|ed|ing)?", "has an error of"),
    Ban("promise", "promis(?:e|es|ed|ing)", "guarantee"),
    Ban("usual", "usual", "default"),
    Ban("places", "places", "positions, pages or digits", ("places of one day",)),
    Ban("right guess", "right guess(?:es)?|guess(?:es)? right", "attacker’s accuracy"),
    Ban("chance in who took part", "chance in who (?:took|takes) part", "sampling variability"),
    Ban("hold the truth", r"h[eo]lds? (?:all of )?(?:the |a )?(?:truth|true)\b", "cover"),
    Ban("taken for granted", "tak(?:e|es|en|ing) for granted", "assumptions"),
    Ban("in 100", "in (?:a hundred|100)(?![\u2009\u202f,]?\\d)", "percent"),
)
_NO_WORDS_OF_OURS = ("bill_of_materials.json", "history.md")  # what is said there stays said
# Phrases that no colleague would say, in what pages and commands show and in documents.
_OPENING = "(?:^|(?<=[*.?!] ))"
IN_SENTENCES = (
    Ban("fronted of", rf"{_OPENING}(?-i:Of) (?!course)\w+", "the subject first"),
    Ban(
        "half a sentence",
        rf"{_OPENING}(?-i:Whether|That (?:an?|the|no|all|it|they|people|nobody|another))",
        "a subject and a verb",
    ),
    Ban("counts noise", r"counts (?:\w+ ){0,3}(?:noise|bias|variability)", "includes"),
    Ban("is told", r"(?:is|are|was|were) (?:told|said|spoken of)", "who tells, or shows"),
    Ban("is not stated", "(?:is|are) not stated", "you have not said"),
    Ban("nor that", "nor that", "two sentences"),
    Ban("can be told", "can(?:not)? be told", "detect, see, tell apart"),
    Ban("hold all of", "hold all of", "cover"),
    Ban("with one n", r"with one \d", "the ratio as “3 times the error”"),
    Ban("by its released", "by its released", "the released curve shows"),
    Ban("hardly determined", "hardly determined", "mostly noise"),
    Ban("yardstick", "yardsticks?", "only a guide"),
    Ban("of our own", "of our own", "our"),
    Ban("mostly shows", "mostly shows", "survives"),
    Ban("far from most others", "far from most others", "extreme"),
    Ban("next to none", "next to no(?:ne)?", "almost none"),
    Ban("as n % do", r"as (?:…|\d+ %) of [^.,]* do", "how many, first"),
)
IN_DOCUMENTS = (
    *IN_SENTENCES,
    Ban("whoever", "whoever", "a person or program who"),
    Ban(
        "what stands",
        "what stands|stands? (?:in|on|at|beside|below|above|there|with)",
        "is, lies, holds",
    ),
)
# A first look, quicker than all of them: the words of a phrase may stand in two lines.
_ANY = re.compile("|".join(ban.pattern.replace(" ", r"\s+") for ban in BANNED), re.IGNORECASE)
# Documents with phrases of earlier days: notes on methods, and what is generated.
_OLDER = ("docs/methods", "docs/coverage.md", "data/")
# Terms of the field, some of which stand on every first screen (`scripts/count_screens.py`).
STANDARD = (
    "differential privacy",
    "observation",
    "basis function",
    "estimator",
    "estimate",
    "confidence band",
    "confidence interval",
    "coverage",
    "sensitivity",
    "neighbouring",
    "mechanism",
    "privacy budget",
    "composition",
    "standard error",
    "bias",
    "variance",
    "attacker",
    "noise",
    "mean",
    "error",
)


@dataclass(frozen=True)
class Phrase:
    """Something a person may read.

    Parameters
    ----------
    file : Path
        Where it stands, below the root.
    line : int
        Of the file, from 1; 0 where it has no meaning.
    text : str
        What is filled in later is written as "…".
    """

    file: Path
    line: int
    text: str


@dataclass(frozen=True)
class Use:
    """A banned word in a phrase.

    Parameters
    ----------
    phrase : Phrase
        Where it stands.
    ban : Ban
        The word.
    words : str
        The word and a few around it.
    """

    phrase: Phrase
    ban: Ban
    words: str


# -- what a person reads ------------------------------------------------------------------------


def phrases(root: Path = ROOT) -> Iterator[Phrase]:
    """Collect everything in a checkout that a person may read."""
    for file in _files(root):
        try:
            text = file.read_text("utf-8")
        except FileNotFoundError:  # a file that a build is replacing
            continue
        for line, words in _READERS[file.suffix](text):
            yield Phrase(file.relative_to(root), line, words)


def _files(root: Path) -> Iterator[Path]:
    for folder in ("engine", "reproductions", "benchmarks", "pages", "docs"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in _READERS and file.name not in _NO_WORDS_OF_OURS:
                yield file
    yield from (root / name for name in ("app.py", "data/README.md"))
    yield from sorted({*root.glob("[A-Z]*.md")} - {root / "CHANGELOG.md"})
    yield from sorted((root / "data").rglob("*.json"))


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """String constants of a module: no docstring, and no single word of code."""
    nodes = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant | ast.Expr | ast.JoinedStr)
    ]
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    skipped |= {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            words = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value
        else:
            continue
        if not _is_code(words):
            yield node.lineno, words


def _is_code(text: str) -> bool:
    """A key, a setting, a path: one word without a capital, or a list of such."""
    is_list = len(text.split()) > 12 and not re.search(r"[A-Z.,;:?!…]", text)
    return is_list or (" " not in text.strip() and not re.match(r"[A-Z][a-z]", text))


def of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs of a document, without code and the addresses of links."""
    text = re.sub(r"```.*?```", lambda code: "\n" * code.group().count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "…", text)
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        yield line, paragraph
        line += paragraph.count("\n")


def of_json(text: str) -> Iterator[tuple[int, str]]:
    """Sentences among the values of a stored answer."""
    yield from ((0, words) for words in _values(json.loads(text)) if " " in words)


def _values(stored: Any) -> Iterator[str]:
    if isinstance(stored, str):
        yield stored
    elif isinstance(stored, dict | list):
        for value in stored.values() if isinstance(stored, dict) else stored:
            yield from _values(value)


def of_script(text: str) -> Iterator[tuple[int, str]]:
    """Quoted words of a script of a page."""
    text = re.sub(r"(?m)(^|\s)//.*$|/\*.*?\*/", "", text)
    for match in re.finditer(r"\"([^\"\n]*)\"|`([^`]*)`|'([^'\n]*)'", text):
        words = re.sub(r"\$\{[^}]*\}", "…", next(filter(None, match.groups()), ""))
        if not _is_code(words):
            yield text.count("\n", 0, match.start()) + 1, words


def of_template(text: str) -> Iterator[tuple[int, str]]:
    """Text of a document or page between its marks."""
    for marks in (r"<style.*?</style>", r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>"):
        text = re.sub(
            marks, lambda mark: "…" + "\n" * mark.group().count("\n"), text, flags=re.DOTALL
        )
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip(" …"):
            yield number, line


_READERS = {
    ".py": of_python,
    ".md": of_markdown,
    ".json": of_json,
    ".js": of_script,
    ".html": of_template,
    ".jinja": of_template,
}


# -- what is left ------------------------------------------------------------------------------


def uses(text: str, bans: Sequence[Ban] = BANNED) -> list[tuple[Ban, str]]:
    """Banned words of a text, each with a few words around it."""
    if bans is BANNED and not _ANY.search(text):
        return []
    text = re.sub(r"[ \n]+", " ", text)  # thin spaces stay: they are parts of numbers
    return [(ban, words) for ban in bans for words in ban.matches(text)]


def held_to(file: Path) -> tuple[Ban, ...]:
    """Return the bans for a file below the root."""
    if file.suffix == ".md" and not file.as_posix().startswith(_OLDER):
        return (*BANNED, *IN_DOCUMENTS)
    is_shown = file.suffix != ".md" and file.parts[0] in ("engine", "pages")
    return (*BANNED, *IN_SENTENCES) if is_shown else BANNED


def left(spoken: Iterable[Phrase] | None = None) -> list[Use]:
    """Every banned word in what a person may read, by default in all of the project."""
    return [
        Use(phrase, ban, words)
        for phrase in (phrases() if spoken is None else spoken)
        for ban, words in uses(phrase.text, held_to(phrase.file))
    ]


def folder(file: Path) -> str:
    """Name the folder that a file is counted with: a package, or a part or room of pages."""
    parts = file.parts
    depth = 3 if parts[:2] in {("engine", "topics"), ("pages", "parts"), ("pages", "shared")} else 2
    return "/".join(parts[:depth])


def by_folder(rest: Iterable[Use]) -> Counter[str]:
    """Count the banned words of each folder."""
    return Counter(folder(use.phrase.file) for use in rest)


def main() -> int:
    """Print what is left; 1 if anything is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="show each word below these paths")
    asked = parser.parse_args()
    rest = left()
    if asked.paths:
        below = [
            use
            for use in rest
            if any(
                Path(path) in (use.phrase.file, *use.phrase.file.parents) for path in asked.paths
            )
        ]
        for use in below:
            print(
                f"{use.phrase.file}:{use.phrase.line}: {use.ban.name} → {use.ban.instead}\n"
                f"    {use.words}"
            )
        print(f"{len(below)} left")
        return int(bool(below))
    for name, count in sorted(by_folder(rest).items()):
        words = Counter(use.ban.name for use in rest if folder(use.phrase.file) == name)
        counts = ", ".join(f"{word} {n}" for word, n in words.most_common())
        print(f"{count:5}  {name:28} {counts}")
    print(f"{len(rest):5}  in all")
    return int(bool(rest))


if __name__ == "__main__":
    sys.exit(main())
