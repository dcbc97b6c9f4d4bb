"""Description of an answer: the page that asks for it, its numbers by name, and one picture.

Each topic has one `KIND` in its file `question`; `engine.questions` finds them all. Numbers come
under the same names on all pages: errors are in response units, which their names say, and NaN
stands where nothing would be published or nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.core.types import Budget, Public, Spend
from engine.figures.theme import Chart
from engine.language.numbers import named
from engine.mechanisms import Mechanism
from engine.privacy import accounting, risk
from engine.privacy.amplification import Person
from engine.sources import Source
from engine.topics.simulated import Simulated

Numbers = dict[str, float]  # by names that give the unit
WITHIN = "95 % of releases within"


class QuestionLike(Protocol):
    """A question, as far as numbers and pictures depend on it; see `engine.questions.Question`."""

    @property
    def person(self) -> Person:
        """Whose odds are said."""
        ...

    def __getitem__(self, name: str) -> Any:
        """Look up an argument of the function that answers."""
        ...


def lines(answer: Any, question: QuestionLike, numbers: Numbers) -> str:
    """Write a line for each number, with six digits, and the odds of `question`."""
    return "\n".join(f"{name}: {value:.6g}" for name, value in numbers.items())


@dataclass(frozen=True)
class QuestionKind:
    """One kind of question."""

    name: str
    page: str
    function: Callable[..., Any]
    # of an answer and its question: the numbers that stand on the page
    numbers: Callable[[Any, QuestionLike], Numbers]
    chart: Callable[[Any, QuestionLike], Chart]  # of an answer and its question: one picture
    # of which data and method must serve one; empty where neither is asked for
    tasks: tuple[str, ...] = ()
    # of an answer, its question and its numbers: what code and command line print
    text: Callable[[Any, QuestionLike, Numbers], str] = lines
    # whose data its pictures show, where no source is among the arguments
    origin: str = "Simulated"
    # of a question, for a shell; None for the question's own JSON
    command: Callable[[QuestionLike], str] | None = None
    # tuple of (str, str): names that arguments had in questions saved before, each with its name
    # now
    renamed: tuple[tuple[str, str], ...] = ()


# -- numbers that many pages show, under one name ---------------------------------------------


def errors(
    error: float, within: float, unit: str, baseline: float | None, name: str = "error"
) -> Numbers:
    """Collect the error, its 95 % value and, if there is one, the error without privacy."""
    numbers = {named(name, unit): error, named(WITHIN, unit): within}
    return (
        numbers if baseline is None else numbers | {named("error without privacy", unit): baseline}
    )


def errors_by_function(answer: Simulated, together: str, names: Sequence[str]) -> Numbers:
    """Collect the errors of all functions together, of each, and without privacy.

    `together` is what all of them are called, and `names` are those of the errors of each.
    """
    numbers = {
        f"error, {together}": answer.error,
        f"{WITHIN}, {together}": answer.within,
        **dict(zip(names, answer.error_by_function, strict=True)),
    }
    if answer.baseline is not None:
        numbers[f"error without privacy, {together}"] = answer.baseline
    unit = answer.facts.value_unit
    return as_floats({named(name, unit): number for name, number in numbers.items()})


def protection(spends: Sequence[Spend], person: Person) -> Numbers:
    """Collect the proved budget of everybody at any site, and the odds for one person."""
    proved = accounting.least_guarantee(spends)
    return {"proved ε": proved.epsilon, "proved δ": proved.delta, **odds(spends, person)}


def odds_of_method(
    mechanism: Mechanism, source: Source[Any], budget: Budget, group: int = 1
) -> risk.Odds:
    """Compute the odds that a method's noise allows at a budget, for every release of a scenario.

    They follow from sizes and stated facts, so that pages without a release have them, too.
    """
    plan = mechanism.plan(Public(source.sizes, source.facts), (budget,))
    return risk.of_ledger(mechanism.ledger(plan), group)


def odds(spends: Sequence[Spend], person: Person) -> Numbers:
    """Bound the share of an attacker's right guesses about one person."""
    about = risk.of_ledger(spends, person.units)
    numbers = {"attacker’s accuracy, at most": about.right}
    if person.units > 1:
        numbers |= {
            f"ε of {person.units} together": about.budget.epsilon,
            f"δ of {person.units} together": about.budget.delta,
        }
    if person.sample is not None:
        numbers["attacker’s accuracy in the larger group, at most"] = person.sample.odds(
            spends, person.units
        ).right
    return numbers


def as_floats(numbers: Mapping[str, Any]) -> Numbers:
    """Convert numbers to plain floating-point numbers, for JSON."""
    return {name: float(value) for name, value in numbers.items()}
