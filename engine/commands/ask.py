"""`python -m engine ask`: the answer of a question that is written as data.

{"question": "curves", "source": {"key": …, "parameters": {…}}, "mechanism": {"key": …},
 "budget": {"epsilon": 1.0, "delta": 1e-6}, "seed": 1}

*Code for this view* on any page of the dashboard writes it. The numbers are those on screen.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from typing import Any

from engine.core.entrance import text_of
from engine.questions import Question, kinds


def add(commands: Any) -> None:
    """The command with its options."""
    add_as(commands, "ask", "answer a question of the dashboard", kinds.from_json)


def add_as(commands: Any, name: str, words: str, read: Callable[[str], Question]) -> None:
    """The same by another name, for files that `read` makes questions of."""
    parser = commands.add_parser(name, help=words)
    parser.add_argument("file", help="file with the question, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print its numbers as one JSON object")
    parser.set_defaults(command=command, read=read)


def command(options: argparse.Namespace) -> None:
    """Print the answer; in JSON, null stands for what is not published or not known."""
    question = options.read(text_of(options.file))
    answer = question.answer()
    if options.json:
        numbers = question.numbers(answer).items()
        print(json.dumps({name: value if math.isfinite(value) else None
                          for name, value in numbers}, ensure_ascii=False))
    else:
        print(question.text(answer))
