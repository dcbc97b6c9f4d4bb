"""`python -m engine share`: a figure, a lesson or a published release as one HTML file.

`share growth_curves --source.n_curves 400 --method adaptive_mean --epsilon 1` simulates, `share
lesson 2` writes a lesson, `share release.zip` or `share guarantee.json release.csv` a published
curve, and `share question.json` what *Code for this view* saved, such as a decision.
"""

from __future__ import annotations

import argparse
import os
from pathlib import PurePath
from typing import Any

from engine.commands import ask
from engine.commands.arguments import MAX_SEED, whole
from engine.core.errors import InputError, brief
from engine.exports import sharing
from engine.exports.one_file import SharedPage
from engine.questions import kinds
from engine.sources import Source, sources

OPTIONS = ("--out", "--force", "--home", "--method", "--epsilon", "--delta", "--seed")
_RENAMED = {"method": "mechanism", "epsilon": "budget.epsilon", "delta": "budget.delta"}


def add(commands: Any) -> None:
    """Add the command with its options."""
    parser = commands.add_parser(
        "share",
        help="write a figure, a lesson or a published release as one HTML file",
        description="Writes one HTML file that needs no server and makes no request. WHAT is data "
        "by their key, with options as for “ask”; “lesson 2”; a release.zip, or its guarantee.json "
        "and release.csv; or the question of a view. Figures of an own file are never written.",
        epilog="Options: -o FILE, --force, --home ADDRESS where the file will be found; of data "
        "--source.PARAMETER, --method KEY, --method.PARAMETER, --epsilon, --delta, --seed.",
    )
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="WHAT [OPTION VALUE …]", help="see above"
    )
    parser.set_defaults(command=share)


def share(options: argparse.Namespace) -> None:
    """Write the file, and print its path and size."""
    parser = argparse.ArgumentParser(prog="python -m engine share", allow_abbrev=False)
    parser.add_argument("-o", "--out")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--home", default="")
    known, words = parser.parse_known_args(options.words)
    if not words:
        raise InputError("Say what is to be sent.", field="what", hint=_known())
    page, stem = _page(words, known.home)
    file = page.save(known.out or f"{stem}.html", known.force)
    print(f"{file} ({len(page.html):,} bytes)")


def _page(words: list[str], home: str) -> tuple[SharedPage, str]:
    """Return the page, and the stem of its usual name."""
    what, *rest = words
    if what == "lesson":
        return _lesson(rest, home)
    if what in {cls.key for cls in sources.all()}:
        return _data(what, rest, home), what
    if what.startswith("-") or not os.path.exists(what):
        raise InputError(f"There is nothing called {brief(what)}.", field="what", hint=_known())
    return sharing.of_paths(words, home), f"{PurePath(what).stem}-shared"


def _known() -> str:
    keys = ", ".join(cls.key for cls in sources.all() if _can_be_sent(cls()))
    return f"Data are {keys}; or lesson 1 to 8; or the files of a release."


def _can_be_sent(source: Source[Any]) -> bool:
    try:
        return bool(sharing.usual_method(source))
    except InputError:
        return False


def _lesson(words: list[str], home: str) -> tuple[SharedPage, str]:
    parser = argparse.ArgumentParser(prog="python -m engine share lesson", allow_abbrev=False)
    parser.add_argument("key", help="its number")
    parser.add_argument("--seed", type=whole(0, MAX_SEED), default=1)
    known = parser.parse_args(words)
    return sharing.of_lesson(known.key, known.seed, home), f"lesson-{known.key}"


def _data(key: str, words: list[str], home: str) -> SharedPage:
    """Read options as `ask` does, with the usual method and budget where none is stated."""
    words = [_renamed(word) for word in words]
    usual = sharing.usual_method(sources.build(key, {}))
    start = ["--source", key, "--mechanism", usual.key, "--seed", "1", "--budget.epsilon", "1"]
    if "--mechanism" not in words and usual.parameters():
        start += [
            word
            for name, value in usual.values().items()
            if value != type(usual)().values()[name]
            for word in (f"--mechanism.{name}", str(value))
        ]
    kind = kinds.kinds()[sharing.kind_of(sources.build(key, {}), usual)]
    question, _ = ask.question_of(kind, [*start, *words])
    if "--budget.delta" in words:
        return sharing.of_question(question, home)
    source, method, budget = (question[name] for name in ("source", "mechanism", "budget"))
    return sharing.of_data(source, method, budget.epsilon, question["seed"], home=home)


def _renamed(word: str) -> str:
    """Return an option by the name that a question has for it."""
    if not word.startswith("--"):
        return word
    name, equals, value = word[2:].partition("=")
    first, dot, rest = name.partition(".")
    return f"--{_RENAMED.get(first, first)}{dot}{rest}{equals}{value}"
