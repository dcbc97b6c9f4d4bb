"""`python -m engine ask`: the answer of a question, written as data or by its name with options.

{"question": "reuse", "first": 1, "second": 5, "delta": 1e-5, "seed": 3, "is_fresh": true}

is the same as `ask reuse --first 1 --second 5 --delta 1e-5 --seed 3 --is_fresh true`.
*Code for this view* on any page of the dashboard writes the data. The numbers are those on screen.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from engine.core import typed
from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError, brief
from engine.core.registry import Parameter, Parameterised
from engine.privacy.amplification import Person
from engine.questions import Question, kinds
from engine.topics.asking import QuestionKind


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "ask",
        help="answer a question of the dashboard",
        description="Answer a question of the dashboard. “ask NAME --help” lists its options.",
    )
    parser.add_argument("--json", action="store_true", help="print its numbers as one JSON object")
    parser.add_argument(
        "question", help="its name, a file with the question, or - for standard input"
    )
    parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="--OPTION VALUE",
        help="after a name: its arguments, such as --budget.epsilon 1",
    )
    parser.set_defaults(command=command)


def add_as(commands: Any, name: str, words: str, read: Callable[[str], Question]) -> None:
    """A command for files that `read` makes questions of."""
    parser = commands.add_parser(name, help=words)
    parser.add_argument("file", help="file with the question, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print its numbers as one JSON object")
    parser.set_defaults(command=lambda options: _say(read(text_of(options.file)), options.json))


def command(options: argparse.Namespace) -> None:
    """Answer a question by its name, or of a file."""
    name = options.question
    if name in kinds.kinds():
        question, as_json = question_of(kinds.kinds()[name], options.words)
        _say(question, options.json or as_json)
        return
    others = [word for word in options.words if word != "--json"]
    if others:
        raise InputError(
            f"A file has no options; got {brief(others[0])}.",
            field="question",
            hint=f"Questions with options are {', '.join(kinds.kinds())}.",
        )
    _say(kinds.from_json(text_of(name)), options.json or bool(options.words))


def _say(question: Question, as_json: bool) -> None:
    """Print the answer; in JSON, null stands for what is not published or not known."""
    answer = question.answer()
    if as_json:
        numbers = question.numbers(answer).items()
        print(
            json.dumps(
                {name: value if math.isfinite(value) else None for name, value in numbers},
                ensure_ascii=False,
            )
        )
    else:
        print(question.text(answer))


# -- options for the arguments of a question, from the types of its function -----------------------
# `--seed 3` is an argument, `--budget.epsilon 1` a field of a record, `--source sparse_curves` a
# member by its key with parameters as `--source.n_curves 100`; several values have commas between
# them. Whatever is a list of records or a mapping is JSON, and any record or member may be.


_PERSON = "against whom the attacker’s accuracy is computed"
_MAX_DIGITS = 400  # of a number that is written in full


@dataclass(frozen=True)
class CommandOption:
    """One option: an argument, or a part of one."""

    path: str  # its name without the dashes, such as "source.n_curves"
    hint: Any
    help: str = ""


def question_of(kind: QuestionKind, argv: Sequence[str]) -> tuple[Question, bool]:
    """The question that options ask, and whether its numbers are wanted as JSON."""
    options = vars(parser_of(kind, argv).parse_args(argv))
    texts = {path: text for path, text in options.items() if isinstance(text, str)}
    values = {
        name: _value(CommandOption(name, hint), texts) for name, hint in _arguments(kind).items()
    }
    stated = {name: value for name, value in values.items() if value is not _MISSING}
    return kinds.from_plain({"question": kind.name, **stated}), options["json"]


def parser_of(kind: QuestionKind, argv: Sequence[str]) -> argparse.ArgumentParser:
    """The options of a question, with those of the members that are chosen among them."""
    parser = _parser(kind, {}, add_help=False)
    chosen = parser.parse_known_args([word for word in argv if word not in _HELP])[0]
    return _parser(kind, vars(chosen))


_HELP = ("-h", "--help")
_MISSING = object()


def _arguments(kind: QuestionKind) -> dict[str, Any]:
    """The types of all arguments that can be given, and that of the person to be protected."""
    hints = typing.get_type_hints(kind.function)
    return {name: hints[name] for name in typed.writable(kind.function)} | {"person": Person}


def _parser(
    kind: QuestionKind, texts: Mapping[str, Any], add_help: bool = True
) -> argparse.ArgumentParser:
    """The options of a question, with those of the members that were chosen."""
    summary, explained = documentation(kind.function)
    parser = argparse.ArgumentParser(
        prog=f"python -m engine ask {kind.name}",
        description=f"{kind.page}: {summary}",
        epilog="A list of records, a mapping, and any record or member may be given as JSON.",
        add_help=add_help,
        allow_abbrev=False,
    )
    for name, hint in _arguments(kind).items():
        help_text = explained.get(name, _PERSON if hint is Person else "")
        for option in _options(CommandOption(name, hint, help_text), texts, {*kind.tasks}):
            parser.add_argument(
                f"--{option.path}",
                dest=option.path,
                metavar=_metavar(option.hint),
                help=option.help.replace("%", "%%") or None,
            )
    parser.add_argument("--json", action="store_true", help="print its numbers as one JSON object")
    return parser


def _options(
    option: CommandOption, texts: Mapping[str, Any], tasks: set[str]
) -> Iterator[CommandOption]:
    """An option and those of its parts, with the members that serve one of these tasks."""
    kind = _kind(option.hint)
    if issubclass(kind, Parameterised):
        keys = [
            cls.key
            for cls in kind.registry.all()
            if issubclass(cls, kind) and (not tasks or tasks & cls.tasks)
        ]
        yield CommandOption(option.path, option.hint, f"one of {', '.join(keys)}")
        if texts.get(option.path) in keys:
            for parameter in kind.registry.get(texts[option.path]).parameters():
                yield CommandOption(
                    f"{option.path}.{parameter.name}", _hint(parameter), parameter.help
                )
        return
    yield option
    if is_dataclass(kind):
        explained, hints = documentation(_kind(option.hint))[1], typing.get_type_hints(kind)
        for name in (part.name for part in fields(kind) if part.init):
            part = CommandOption(f"{option.path}.{name}", hints[name], explained.get(name, ""))
            yield from _options(part, texts, tasks)


def _value(option: CommandOption, texts: Mapping[str, str]) -> Any:
    """The plain value that options give; `_MISSING` where none of them does."""
    kind, text = _kind(option.hint), texts.get(option.path)
    if text is not None and (text.startswith(("{", "[")) or issubclass(kind, Mapping)):
        return json_of(text, option.path)
    if issubclass(kind, Parameterised):
        return (
            _MISSING
            if text is None
            else {
                "key": text,
                "parameters": {
                    parameter.name: _scalar(_hint(parameter), texts[path])
                    for parameter in kind.registry.get(text).parameters()
                    if (path := f"{option.path}.{parameter.name}") in texts
                },
            }
        )
    if is_dataclass(kind) and text is None:
        hints = typing.get_type_hints(kind)
        parts = {
            part.name: _value(CommandOption(f"{option.path}.{part.name}", hints[part.name]), texts)
            for part in fields(kind)
            if part.init
        }
        return {name: part for name, part in parts.items() if part is not _MISSING} or _MISSING
    if text is None:
        return _MISSING
    if kind in (tuple, Sequence):
        part = typing.get_args(_without_none(option.hint)[0])[0]
        are_members = isinstance(_kind(part), type) and issubclass(_kind(part), Parameterised)
        return [
            {"key": word.strip()} if are_members else _scalar(part, word.strip())
            for word in text.split(",")
            if word.strip()
        ]
    return _scalar(option.hint, text)


def _scalar(hint: Any, text: str) -> Any:
    """A number, a truth value or text; what is none of what is wanted stays text and is refused."""
    types = _without_none(hint)
    if text == "none" and type(None) in typing.get_args(hint):
        return None
    if bool in types and text in ("true", "false"):
        return text == "true"
    if int in types and re.fullmatch(rf"[+-]?[0-9]{{1,{_MAX_DIGITS}}}", text):
        return int(text)
    if float in types and text != "inf":
        try:
            return float(text[:_MAX_DIGITS])
        except ValueError:
            return text
    return text


def _without_none(hint: Any) -> tuple[Any, ...]:
    """The types that a value may have, but for None."""
    return tuple(option for option in typed.options_of(hint) if option is not type(None))


def _kind(hint: Any) -> Any:
    """The class of a value: `Source` for `Source[CurveData]`."""
    first = _without_none(hint)[0]
    return typing.get_origin(first) or first


def _hint(parameter: Parameter) -> Any:
    return parameter.kind | None if parameter.optional else parameter.kind


def _metavar(hint: Any) -> str:
    kind = _kind(hint)
    if issubclass(kind, Parameterised):
        return "KEY"
    if is_dataclass(kind) or issubclass(kind, Mapping):
        return "JSON"
    return {int: "N", float: "X", bool: "true|false", tuple: "A,B", Sequence: "A,B"}.get(
        kind, "TEXT"
    )


def documentation(described: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The first sentence of a docstring, and what it says of each parameter.

    Parameters
    ----------
    described : callable
        A function or a record, documented as everywhere in the engine.

    Examples
    --------
    >>> from engine.core.types import Budget
    >>> documentation(documentation)[1]["described"]
    'A function or a record, documented as everywhere in the engine.'
    """
    text = inspect.getdoc(described) or ""
    summary = " ".join(text.split("\n\n")[0].split())
    _, _, section = text.partition("Parameters\n----------\n")
    section = re.split(r"\n\n?\w+\n-{3,}", section)[0]
    explained: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section):
        head, _, words = entry.partition("\n")
        for name in head.partition(" : ")[0].split(","):
            explained[name.strip()] = " ".join(words.split())
    return summary, explained
