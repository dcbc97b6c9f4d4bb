"""What is asked: a call of a function of the engine that is yet to be made.

Pages make such calls by `run.answer(function, …)`. Kept as a record, a call is JSON, a command
line, code and a notebook as well: they follow from the function and its arguments. Which functions
can be asked, and what is said of their results, stands in the files `question` of the topics.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ParamSpec

from engine.core.errors import InputError
from engine.figures.theme import Chart
from engine.privacy.amplification import ONE, Person
from engine.running.steps import result_of
from engine.topics.asking import Kind, Numbers

P = ParamSpec("P")


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
        """The same with the odds of somebody else.

        Parameters
        ----------
        person : Person
            Whose odds are said.
        """
        return replace(self, person=person)

    @property
    def kind(self) -> Kind:
        """What is said of such an answer."""
        from engine.questions.kinds import kind_of  # on first use: it imports every page's views

        return kind_of(self.function)

    def answer(self) -> Any:
        """What the page draws: the result of the call, or what a generator returns in the end.

        Raises
        ------
        InputError
            Whatever the function refuses.
        """
        result = self.function(**self.arguments)
        return result_of(result) if isinstance(result, Generator) else result

    def numbers(self, answer: Any) -> Numbers:
        """The numbers of an answer that stand on the page.

        Parameters
        ----------
        answer : object
            What `answer` returned.
        """
        return self.kind.numbers(answer, self)

    def text(self, answer: Any) -> str:
        """What code and command line print.

        Parameters
        ----------
        answer : object
            What `answer` returned.
        """
        return self.kind.text(answer, self, self.numbers(answer))

    def chart(self, answer: Any) -> Chart:
        """One picture of an answer.

        Parameters
        ----------
        answer : object
            What `answer` returned.
        """
        return self.kind.chart(answer, self)

    def command(self) -> str:
        """The same question for a shell; empty where it is about data of one's own."""
        from engine.questions.kinds import to_plain

        if self.kind.command is not None:
            return self.kind.command(self)
        try:
            return here_document("ask -", to_plain(self))
        except InputError:
            return ""


def ask(function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Question:
    """The question that a call of this function answers.

    Parameters
    ----------
    function : callable
        That answers.
    *args, **kwargs : object
        Its arguments.

    Examples
    --------
    >>> from engine.topics.reuse.answer import reuse_answer
    >>> ask(reuse_answer, 1.0, 2.0, delta=1e-5, seed=3, is_fresh=False).arguments["second"]
    2.0
    """
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    return Question(function, {name: tuple(value) if isinstance(value, list) else value
                               for name, value in bound.items()})


def here_document(arguments: str, document: Any) -> str:
    """A command of the engine for a shell, with what it reads from standard input.

    Parameters
    ----------
    arguments : str
        Of the command line.
    document : object
        What JSON can hold.
    """
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return f"python -m engine {arguments} <<'END'\n{text}\nEND"
