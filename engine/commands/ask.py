"""`python -m engine ask`: the answer of a question, written as data or by its name with options.

{"question": "reuse", "first": 1, "second": 5, "delta": 1e-5, "seed": 3, "is_fresh": true}

is the same as `ask reuse --first 1 --second 5 --delta 1e-5 --seed 3 --is_fresh true`.
*Code for this view* on any page of the dashboard writes the data. The numbers are those on screen.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from typing import Any

from engine.commands import options as by_options
from engine.core.entrance import text_of
from engine.core.errors import InputError, brief
from engine.questions import Question, kinds


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "ask", help="answer a question of the dashboard",
        description="Answer a question of the dashboard. “ask NAME --help” lists its options.")
    parser.add_argument("--json", action="store_true", help="print its numbers as one JSON object")
    parser.add_argument("question", help="its name, a file with the question, or - for standard "
                        "input")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="--OPTION VALUE",
                        help="after a name: its arguments, such as --budget.epsilon 1")
    parser.set_defaults(command=command)


def add_as(commands: Any, name: str, words: str, read: Callable[[str], Question]) -> None:
    """A command for files that `read` makes questions of.

    Parameters
    ----------
    commands : object
        Of `argparse`.
    name, words : str
        What the command is called, and what it does.
    read : callable
        From the text of a file.
    """
    parser = commands.add_parser(name, help=words)
    parser.add_argument("file", help="file with the question, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print its numbers as one JSON object")
    parser.set_defaults(command=lambda options: say(read(text_of(options.file)), options.json))


def command(options: argparse.Namespace) -> None:
    """Answer a question by its name, or of a file.

    Raises
    ------
    InputError
        If it is neither, or whatever the question is refused for.
    """
    name = options.question
    if name in kinds.kinds():
        question, as_json = by_options.question_of(kinds.kinds()[name], options.words)
        say(question, options.json or as_json)
        return
    others = [word for word in options.words if word != "--json"]
    if others:
        raise InputError(f"A file has no options; got {brief(others[0])}.", field="question",
                         hint=f"Questions with options are {', '.join(kinds.kinds())}.")
    say(kinds.from_json(text_of(name)), options.json or bool(options.words))


def say(question: Question, as_json: bool) -> None:
    """Print the answer; in JSON, null stands for what is not published or not known.

    Parameters
    ----------
    question : Question
        What is asked.
    as_json : bool
        Whether its numbers are printed as one JSON object.
    """
    answer = question.answer()
    if as_json:
        numbers = question.numbers(answer).items()
        print(json.dumps({name: value if math.isfinite(value) else None
                          for name, value in numbers}, ensure_ascii=False))
    else:
        print(question.text(answer))
