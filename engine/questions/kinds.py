"""The questions that can be asked, and how each is written as data.

A topic adds one: its folder has a module `question` with the `KIND`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from engine import exhibits, lessons, topics
from engine.core import plain, typed
from engine.core.discovery import modules_in
from engine.core.entrance import json_of
from engine.core.errors import InputError
from engine.core.tasks import RENAMED
from engine.privacy.amplification import ONE, Person
from engine.questions import Question
from engine.topics.asking import QuestionKind


@cache
def kinds() -> Mapping[str, QuestionKind]:
    """All kinds of questions, by name."""
    folders = [*modules_in(topics.__name__), lessons]
    every = [
        module.KIND
        for folder in folders
        for module in modules_in(folder.__name__, named="question")
    ]
    if exhibits.is_installed():
        every.append(exhibits.question.KIND)
    return {kind.name: kind for kind in every}


def kind_of(function: Callable[..., Any]) -> QuestionKind:
    """The kind of question that a function answers."""
    return next(kind for kind in kinds().values() if kind.function is function)


def to_plain(question: Question) -> dict[str, Any]:
    """Convert a question to JSON's types; see `engine.core.plain.to_plain`.

    Examples
    --------
    >>> from engine.questions import ask
    >>> from engine.topics.reuse.answer import reuse_answer
    >>> to_plain(ask(reuse_answer, 1.0, 2.0, delta=1e-5, seed=3, is_fresh=True))["question"]
    'reuse'
    """
    person = {} if question.person == ONE else {"person": plain.to_plain(question.person)}
    return {"question": question.kind.name, **plain.to_plain(question.arguments), **person}


def from_plain(fields: Any) -> Question:
    """A question from plain values; see `engine.core.typed.read`."""
    fields = dict(plain.checked_object(fields, "question"))
    name = fields.pop("question", None)
    if not isinstance(name, str) or name not in kinds():
        raise InputError(
            "This is no question.",
            field="question",
            hint=f'It needs a "question", one of {", ".join(kinds())}.',
        )
    person = typed.record(Person, fields.pop("person", {}), "person")
    kind = kinds()[name]
    fields = {dict(kind.renamed).get(key, key): value for key, value in fields.items()}
    for before, today in RENAMED.items():
        if fields.get("task") == before:
            fields["task"] = today
    arguments = typed.arguments(kind.function, fields, "question")
    _check_served(kind, arguments)
    return Question(kind.function, arguments, person)


def from_json(text: str) -> Question:
    """A question from JSON text; see `from_plain`."""
    return from_plain(json_of(text, "question"))


def _check_served(kind: QuestionKind, arguments: Mapping[str, Any]) -> None:
    """Check that each mechanism, as it is set, serves a task of the page on these data."""
    source: Any = arguments.get("source")
    tasks = {arguments["task"]} if "task" in arguments else {*kind.tasks}
    for method in arguments.get("methods", [arguments.get("mechanism")]) if tasks else []:
        if not (method.served & source.served and method.tasks & source.served & tasks):
            raise InputError(
                f"“{method.key}” on “{source.key}” does not answer this question.",
                field="mechanism",
                hint="Choose another mechanism or other data.",
            )
