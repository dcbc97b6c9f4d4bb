"""The questions that can be asked, and how each is written as data.

A row is all that a new one needs: the page that asks it, the function that answers it, the numbers
that stand on the page, and a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine import lessons, papers, plain
from engine.entrance import json_of
from engine.errors import InputError
from engine.figures import audit as audit_figures
from engine.figures import (
    coefficients,
    regression,
    simple,
    sites,
    sparse,
    summaries,
)
from engine.privacy.amplification import ONE, Person
from engine.questions import Numbers, Question, here_document, numbers
from engine.release.published import quote
from engine.tasks import (
    MEAN_FUNCTION,
    SPARSE_REGRESSION,
    SUMMARIES,
    VARYING_COEFFICIENTS,
    WAVELET_REGRESSION,
)
from engine.theme import Chart
from engine.views import audit, coverage_lab, planner, rate_check, side_by_side
from engine.views.coefficients import coefficient_view
from engine.views.preview import at_budget
from engine.views.regression import regression_view
from engine.views.reuse import reuse
from engine.views.sites import federation
from engine.views.sparse import sparse_view
from engine.views.summaries import summary_view
from engine.words import exhibits as exhibit_words


def lines(answer: Any, question: Question) -> str:
    """One line for each number, with six digits."""
    said = question.numbers(answer)
    return "\n".join(f"{name}: {value:.6g}" for name, value in said.items())


def command(question: Question) -> str:
    """The same question for a shell; empty where it is about data of one's own."""
    try:
        return here_document("ask -", to_plain(question))
    except InputError:
        return ""


@dataclass(frozen=True)
class Kind:
    """One kind of question: its page, the function that answers, and what is said of the answer.

    `tasks` are those of which a source and a mechanism must serve one. `text` is what code and
    command line print, `command` the same question for a shell.
    """

    page: str
    function: Callable[..., Any]
    numbers: Callable[[Any, Question], Numbers]
    chart: Callable[[Any, Question], Chart]
    tasks: tuple[str, ...] = ()
    text: Callable[[Any, Question], str] = lines
    command: Callable[[Question], str] = command


_MEAN = (MEAN_FUNCTION.key,)
KINDS = {
    "curves": Kind("Explore", at_budget, numbers.curves, lambda view, asked:
                   simple.releases(view, asked["budget"]), _MEAN),
    "coefficients": Kind("Varying coefficients", coefficient_view, numbers.coefficients,
                         lambda view, _: coefficients.errors(view, view.data.facts, "light"),
                         (VARYING_COEFFICIENTS.key,)),
    "summary": Kind("Summaries", summary_view, numbers.summary,
                    lambda view, _: summaries.errors(view, "light"), SUMMARIES),
    "sparse": Kind("Sparse regression", sparse_view, numbers.sparse,
                   lambda view, _: sparse.coefficients(view, "light"), (SPARSE_REGRESSION.key,)),
    "regression": Kind("Regression", regression_view, numbers.regression,
                       lambda view, _: regression.curve(view, "light"),
                       (WAVELET_REGRESSION.key,)),
    "sites": Kind("Sites", federation, numbers.sites, lambda view, asked: sites.shares(
        view, asked["mechanism"].key, asked["mechanism"].family, "light"), _MEAN),
    "plan": Kind("Plan", planner.plan_of, numbers.plan, lambda answer, _: simple.tried(answer),
                 _MEAN),
    "rate": Kind("Rates", rate_check.terms, numbers.rate, lambda terms, _: simple.regimes(terms)),
    "methods": Kind("Methods", side_by_side.at_budgets, numbers.methods,
                    lambda ways, asked: simple.methods(ways, asked["epsilons"]), _MEAN),
    "coverage": Kind("Audit: coverage", coverage_lab.coverage, numbers.coverage,
                     lambda batch, _: audit_figures.repetitions(
                         batch.given, audit_figures.common_half([batch.given, batch.naive]),
                         "Off the truth by", "light")),
    "reuse": Kind("Audit: reused noise", reuse, numbers.reused,
                  lambda found, _: audit_figures.reused(found, "light")),
    "attacks": Kind("Audit", audit.attacks, numbers.attacks,
                    lambda steps, asked: audit_figures.climbing(
                        [audit_figures.Line(attack.name, each, bool(attack.variant))
                         for attack, each in zip(asked["asked"], steps, strict=True)],
                        steps[0][-1].claimed_epsilon, "light"),
                    text=numbers.attacks_in_lines, command=lambda asked:
                    "\n\n".join(map(audit.command, asked["asked"]))),
    "lesson": Kind("Teach", lessons.work, numbers.lesson,
                   lambda worked, _: simple.table(worked.picture.table)),
    "exhibit": Kind("Reproduce", papers.quick, numbers.exhibit,
                    lambda result, asked: papers.find(asked["key"])[1].draw(
                        result.table, "light")[0].chart,
                    text=numbers.claims, command=lambda asked:
                    exhibit_words.commands(asked["key"])),
    "release": Kind("Release", quote, numbers.release, lambda quoted, _: simple.table(
        {"": ["certified", "ideal"], "ε": [quoted.certified.epsilon, quoted.ideal.epsilon]})),
}
_NAMES = {kind.function: name for name, kind in KINDS.items()}


def kind_of(function: Callable[..., Any]) -> Kind:
    """The kind of question that a function answers."""
    return KINDS[_NAMES[function]]


# -- as data --------------------------------------------------------------------------------------


def to_plain(question: Question) -> dict[str, Any]:
    """What JSON can hold of a question; see `engine.plain.to_plain`.

    Examples
    --------
    >>> from engine.questions import ask
    >>> to_plain(ask(reuse, 1.0, 2.0, delta=1e-5, seed=3, is_fresh=True))["question"]
    'reuse'
    """
    person = {} if question.person == ONE else {"person": plain.to_plain(question.person)}
    return {"question": _NAMES[question.function], **plain.to_plain(question.arguments), **person}


def from_plain(given: Any) -> Question:
    """A question from plain values; see `engine.plain.read`.

    Raises
    ------
    InputError
        Naming what is missing, unknown or out of range, or does not go together.
    """
    given = dict(plain.checked_object(given, "question"))
    name = given.pop("question", None)
    if not isinstance(name, str) or name not in KINDS:
        raise InputError("This is no question.", field="question", hint='It needs a "question", '
                         f"one of {', '.join(KINDS)}.")
    person = plain.record(Person, given.pop("person", {}), "person")
    kind = KINDS[name]
    arguments = plain.arguments(kind.function, given, "question")
    _check_served(kind, arguments)
    return Question(kind.function, arguments, person)


def from_json(text: str) -> Question:
    """A question from JSON text; see `from_plain`."""
    return from_plain(json_of(text, "question"))


def _check_served(kind: Kind, arguments: Mapping[str, Any]) -> None:
    """Check that each mechanism, as it is set, serves a task of the page on these data."""
    source: Any = arguments.get("source")
    tasks = {arguments["task"]} if "task" in arguments else {*kind.tasks}
    for method in arguments.get("methods", [arguments.get("mechanism")]) if tasks else []:
        if not (method.served & source.tasks and method.tasks & source.tasks & tasks):
            raise InputError(f"“{method.key}” on “{source.key}” does not answer this question.",
                             field="mechanism", hint="Choose another mechanism or other data.")
