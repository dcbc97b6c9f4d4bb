"""Questions: calls of functions of the engine that are yet to be made.

Pages make such calls by `run.answer(function, …)`. Kept as a record, a call is JSON, a command
line, code and a notebook as well: they follow from the function and its arguments. Which functions
can be asked, and what is said of their results, stands in the files `question` of the topics.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ParamSpec

from engine.core.errors import InputError
from engine.core.registry import Parameterised
from engine.core.types import Budget
from engine.figures import labels
from engine.figures.theme import Chart
from engine.language import tags
from engine.privacy.amplification import ONE, Person
from engine.running.steps import result_of
from engine.sources import Source
from engine.topics.asking import Numbers, QuestionKind

P = ParamSpec("P")
_OTHER_SIZES = {"rows", "network", "unknown"}  # of a question about other numbers of people


@dataclass(frozen=True)
class Question:
    """A function that answers, and by their names all arguments that its answer depends on.

    `person` is whose odds are said: no answer depends on it.
    """

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    person: Person = ONE

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def about(self, person: Person) -> Question:
        """The same with the odds of somebody else."""
        return replace(self, person=person)

    @property
    def kind(self) -> QuestionKind:
        """Kind of the question."""
        from engine.questions.kinds import kind_of  # on first use: it imports every page's views

        return kind_of(self.function)

    def answer(self) -> Any:
        """Compute the answer: the result of the call, or what a generator returns in the end."""
        result = self.function(**self.arguments)
        return result_of(result) if isinstance(result, Generator) else result

    def numbers(self, answer: Any) -> Numbers:
        """The numbers of an answer that stand on the page."""
        return self.kind.numbers(answer, self)

    def text(self, answer: Any) -> str:
        """Format an answer for code and command line."""
        return self.kind.text(answer, self, self.numbers(answer))

    def chart(self, answer: Any) -> Chart:
        """One picture of an answer."""
        return labels.with_foot(self.kind.chart(answer, self), self.foot())

    def foot(self, budgets: Sequence[Budget] = ()) -> str:
        """Write whose data a picture shows and what it spends, as far as the arguments say it.

        `budgets` are those of all releases in the picture, if it shows more than those that are
        asked about.
        """
        parts = [*_parts(self.arguments)]
        names = dict.fromkeys(tags.origin(part.facts) for part in parts if isinstance(part, Source))
        budgets = (
            budgets
            or [part for part in parts if isinstance(part, Budget)]
            or _budgets(self.arguments)
        )
        source = self.arguments.get("source")
        people = (
            source.sizes.n_curves
            if isinstance(source, Source) and not _OTHER_SIZES & self.arguments.keys()
            else None
        )
        return labels.foot(", ".join(names) or self.kind.origin, budgets, people)

    def command(self) -> str:
        """The same question for a shell; empty where it is about data of one's own."""
        from engine.questions.kinds import to_plain

        if self.kind.command is not None:
            return self.kind.command(self)
        try:
            return here_document("ask -", to_plain(self))
        except InputError:
            return ""


def _parts(value: Any) -> Iterator[Any]:
    """A value, and whatever records, lists and mappings hold, but not what is in a recipe."""
    yield value
    if isinstance(value, Mapping):
        inner: Iterable[Any] = value.values()
    elif isinstance(value, tuple | list):
        inner = value
    elif is_dataclass(value) and not isinstance(value, Parameterised | Budget):
        inner = (getattr(value, each.name) for each in fields(value))
    else:
        return
    for part in inner:
        yield from _parts(part)


def _budgets(arguments: Mapping[str, Any]) -> list[Budget]:
    """Budgets that are given as numbers."""
    epsilons = arguments.get("epsilons") or [
        arguments[name] for name in ("first", "second") if name in arguments
    ]
    return [Budget(epsilon, arguments.get("delta", 0.0)) for epsilon in epsilons]


def ask(function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Question:
    """The question that a call of this function answers.

    Examples
    --------
    >>> from engine.topics.reuse.answer import reuse_answer
    >>> ask(reuse_answer, 1.0, 2.0, delta=1e-5, seed=3, is_fresh=False).arguments["second"]
    2.0
    """
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    return Question(
        function,
        {name: tuple(value) if isinstance(value, list) else value for name, value in bound.items()},
    )


def here_document(arguments: str, document: Any) -> str:
    """A command of the engine for a shell, with what it reads from standard input."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return f"python -m engine {arguments} <<'END'\n{text}\nEND"
