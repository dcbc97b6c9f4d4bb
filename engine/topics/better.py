"""Changes that would make a result better, each with its gain and the settings after it.

A topic lists `Change`s. The same answer at the changed settings gives what each would bring, and
`best` keeps the few that bring something.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget, DataKind, Design, PublicFacts
from engine.language.grammar import escape, uncapital
from engine.language.numbers import together, with_unit
from engine.mechanisms import Mechanism, mechanisms

TITLE = "What would make this better"
MOST = 3
_ENOUGH = 0.95  # of what it is now: a smaller gain is none
_HIGHEST = 10.0  # ε that is proposed

STATED = "stated"  # everything as it is stated
EVENLY = "evenly"
SYMMETRIC, PERIODIC = "symmetric", "periodic"
_STATEMENTS = {
    EVENLY: "State that times are spread evenly",
    SYMMETRIC: "State that {people} vary symmetrically",
    PERIODIC: "State that the curve ends where it began",
}
_IF_TRUE = "State it only if it is true. The card records a statement changed after looking."


class Quantity(StrEnum):
    """A quantity that a change makes smaller."""

    ERROR = "error"
    BAND = "band"  # half its width, on average
    BUDGET = "budget"  # ε that reaches the target


@dataclass(frozen=True)
class Change:
    """Something to state or to choose, and the arguments of an answer that differ after it."""

    do: str  # a verb with its object
    apply: Mapping[str, object] = field(hash=False)
    only_if: str = ""  # what must hold before it is chosen


@dataclass(frozen=True)
class Gain:
    """A quantity before and after a change, in its unit."""

    quantity: Quantity
    now: float  # NaN if the target is not reached
    then: float
    unit: str = ""

    @property
    def left(self) -> float:
        """The share of the quantity that remains; 0 if it makes a target reachable."""
        return self.then / self.now if math.isfinite(self.now) else 0.0

    def __str__(self) -> str:
        if self.quantity is Quantity.BUDGET:
            enough = f"ε = {self.then:g} is enough"
            return f"{enough}, not {self.now:g}" if math.isfinite(self.now) else enough
        now, then = together((self.now, self.then))
        sign = "± " if self.quantity is Quantity.BAND else ""
        after = with_unit(f"{sign}{then}", escape(self.unit))
        return f"{self.quantity} {after} instead of {sign}{now}"


@dataclass(frozen=True)
class Better:
    """A change with its gain."""

    do: str
    gain: Gain
    apply: Mapping[str, object] = field(hash=False)
    only_if: str = ""


def best(
    changes: Iterable[tuple[Change, float]], quantity: Quantity, now: float, unit: str = ""
) -> tuple[Better, ...]:
    """Keep the changes that gain most, with what the quantity is after each."""
    entries = (
        Better(change.do, Gain(quantity, now, then, unit), change.apply, change.only_if)
        for change, then in changes
        if math.isfinite(then)
    )
    kept = sorted(
        (each for each in entries if each.gain.left <= _ENOUGH), key=lambda each: each.gain.left
    )
    return tuple(kept[:MOST])


def answers(facts: PublicFacts) -> Iterator[tuple[str, PublicFacts]]:
    """Yield what is stated, then each answer that could make more of it."""
    yield STATED, facts
    if not facts.design.is_known:
        yield EVENLY, replace(facts, design=Design())
    if not facts.symmetric:
        yield SYMMETRIC, replace(facts, symmetric=True)
    if not facts.periodic:
        yield PERIODIC, replace(facts, periodic=True)


def statements(facts: PublicFacts) -> list[Change]:
    """List what the holder of a file could state beside these facts; nothing of other data.

    Nothing is built on facts that come from the file itself.
    """
    if facts.kind is not DataKind.UPLOAD or facts.is_proposed:
        return []
    return [
        Change(_STATEMENTS[answer].format(people=escape(facts.people)), {"facts": stated}, _IF_TRUE)
        for answer, stated in answers(facts)
        if answer in _STATEMENTS
    ]


def more_budget(budget: Budget) -> list[Change]:
    """Propose twice the ε, as far as pages go."""
    if not budget.is_private or budget.epsilon > _HIGHEST / 2:
        return []
    twice = replace(budget, epsilon=2 * budget.epsilon)
    return [Change(f"Spend ε = {twice.epsilon:g}", {"budget": twice})]


def other_method(
    facts: PublicFacts, people: int, mechanism: Mechanism, budget: Budget, delta: float | None
) -> list[Change]:
    """Propose the default method for a mean curve in place of another kind.

    `delta` is δ as it was chosen, or None for the rule of all pages.
    """
    default = mechanisms.get(MEAN_FUNCTION.mechanism)
    if isinstance(mechanism, default):
        return []
    method = default().comparable(facts)
    suited = replace(budget, delta=method.delta(people, delta).value)
    after = {"mechanism": method, "budget": suited}
    return [Change(f"Use the {uncapital(default.label)}", after)]
