"""`python -m engine ask-card CARD`: what a released curve answers, from its guarantee card alone.

No data, no ledger and no charge: all answers are computed from what is published.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from engine.answers import curve_questions
from engine.answers.card import read
from engine.answers.reply import DRAWN_OTHERWISE
from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError, brief
from engine.core.registry import Parameter


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "ask-card", help="ask a released curve, from its guarantee card alone",
        description="Answers of a released curve, from its guarantee card alone. Asking costs no "
        "privacy: nothing is charged.",
        epilog="Questions and their options: " + "; ".join(
            " ".join([cls.key, *(f"--{p.name} {'|'.join(p.choices) or 'X'}"
                                 for p in cls.parameters())]) for cls in curve_questions.all())
        .replace("%", "%%"))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--together", action="store_true", help="answers that all hold at once "
                        "with 95 %%, off the simultaneous band")
    parser.add_argument("card", help="the file guarantee.json of a release, or - for standard "
                        "input")
    parser.add_argument("question", nargs="?", help="what is asked; without it, every question "
                        "with its default times and level")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="--OPTION VALUE",
                        help="of the question, such as --time 13")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    """Print the answer, or those of all questions.

    Raises
    ------
    InputError
        If the card cannot be read, or the question or an option is unknown.
    """
    curve = read(json_of(text_of(options.card), "card"))
    curve = curve.together() if options.together else curve
    if options.question is None:
        questions = [cls() for cls in curve_questions.all()]
    else:
        questions = [curve_questions.build(options.question, _values(
            options.words, curve_questions.get(options.question).parameters()))]
    answers = {question.key: question.answer(curve) for question in questions}
    if options.json:
        print(json.dumps({key: answer.plain() for key, answer in answers.items()},
                         ensure_ascii=False, allow_nan=False))
        return
    for question, answer in zip(questions, answers.values(), strict=True):
        print(f"{question.label}: {answer.text}")
    for note in dict.fromkeys(note for answer in answers.values() for note in answer.notes):
        print(note)
    print(DRAWN_OTHERWISE)


def _values(words: list[str], known: tuple[Parameter, ...]) -> dict[str, Any]:
    """Options as parameters: pairs of `--name value`."""
    kinds, values = {p.name: p.kind for p in known}, dict[str, Any]()
    if len(words) % 2:
        raise InputError("Each option needs a value.", field="question",
                         hint="For example --time 13.")
    for name, text in zip(words[::2], words[1::2], strict=True):
        if not name.startswith("--"):
            raise InputError(f"Options begin with two dashes; got {brief(name)}.",
                             field="question", hint=f"It has {', '.join(kinds)}.")
        key = name[2:]
        values[key] = _number(text, key) if kinds.get(key) is float else text
    return values


def _number(text: str, field: str) -> float:
    try:
        return float(text[:100])
    except ValueError:
        raise InputError(f"“{field}” must be a number; got {brief(text)}.", field=field) from None
