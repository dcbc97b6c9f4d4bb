"""Scenarios put side by side: what each protects and costs, and where they cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget
from engine.language import odds_words
from engine.language.numbers import at_most_percent, change, percent, small, times, whole
from engine.privacy import risk
from engine.topics.brief import Brief

NOTHING = "nothing would be published"


@dataclass(frozen=True)
class Pinned:
    """A scenario that was kept, with what its view shows of it."""

    name: str  # its letter
    page: str
    brief: Brief
    group: int = 1  # protected units of the person whose odds are stated
    population: int | None = None  # from which a secret sample was declared to be drawn
    estimated: str = MEAN_FUNCTION.key  # its task

    @cached_property
    def odds(self) -> risk.Odds:
        return risk.of_ledger(self.brief.spends, self.group)

    @property
    def unit(self) -> str:
        """Unit of privacy: what neighbouring data sets exchange."""
        return self.brief.spends[0].unit.noun

    def measures_like(self, other: Pinned) -> bool:
        """True if both errors are about the same thing, in the same unit."""
        return self._measured == other._measured

    @property
    def _measured(self) -> tuple[object, ...]:
        facts = self.brief.facts
        return facts.name, facts.kind, self.brief.error_unit, self.estimated


# -- the table ------------------------------------------------------------------------------------


def table(pins: Sequence[Pinned]) -> dict[str, list[str]]:
    """Tabulate facts by scenario, a row for each fact; the first scenario stands for itself.

    Numbers of the others are followed by their difference from the first in brackets.
    """
    first = pins[0]
    columns = {"": [*_ROWS]}
    for pin in pins:
        columns[f"{pin.name} · {pin.page}"] = _column(pin, first)
    return columns


_ROWS = (
    "Data",
    "Method",
    "How many",
    "Protected",
    "ε",
    "δ",
    "Error",
    "Attacker’s accuracy",
    "Power",
    "What limits accuracy",
)


def _column(pin: Pinned, first: Pinned) -> list[str]:
    others, brief = pin is not first, pin.brief
    people = whole(brief.people)
    if others and brief.people != first.brief.people:
        people += f" ({_against(brief.people / first.brief.people)})"
    return [
        brief.facts.name,
        brief.method,
        people,
        brief.protects,
        _epsilon(brief.budget, first.brief.budget),
        small(brief.budget.delta),
        _error(pin, first),
        _chance(pin.odds.right, first.odds.right, others),
        _chance(pin.odds.power, first.odds.power, others),
        _part(brief.largest_part),
    ]


def _epsilon(budget: Budget, first: Budget) -> str:
    ratio = budget.epsilon / first.epsilon
    return f"{budget.epsilon:g}" + ("" if ratio == 1 else f" ({_against(ratio)})")


def _against(ratio: float) -> str:
    """Write a ratio as it reads best: in percent up to twice as much, then as "4.3 times"."""
    if ratio < 2:
        return change(ratio - 1)
    return times(ratio).replace(".0 ", " ")


def _part(largest: tuple[str, float] | None) -> str:
    if largest is None:
        return "–"
    name, share = largest
    return f"{name}, {percent(share)}"


def _error(pin: Pinned, first: Pinned) -> str:
    brief, other = pin.brief, first.brief
    text = brief.error_in_words or NOTHING
    if pin is first or not (math.isfinite(brief.error) and math.isfinite(other.error)):
        return text
    if not pin.measures_like(first):
        return f"{text} (of other things)"
    return f"{text} ({_against(brief.error / other.error)})"


def _chance(chance: float, first: float, others: bool) -> str:
    """Write an upper bound, and the percentage points more or fewer than in the first scenario."""
    text = at_most_percent(chance)
    if not others:
        return text
    more = math.ceil(round(100 * chance, 6)) - math.ceil(round(100 * first, 6))
    return f"{text} ({'no change' if more == 0 else f'{more:+d}'.replace('-', '−')})"


# -- what cannot be compared ----------------------------------------------------------------------


def warnings(pins: Sequence[Pinned]) -> list[str]:
    """Explain why equal ε, or errors, differ in meaning between scenarios; usually nothing."""
    texts = [_units(pins), _promises(pins), _samples(pins), _groups(pins), _errors(pins)]
    return [text for text in texts if text]


def _units(pins: Sequence[Pinned]) -> str:
    if len({pin.unit for pin in pins}) == 1:
        return ""
    each = ", ".join(f"{pin.name} one {pin.unit} (replace one)" for pin in pins)
    return (
        f"**Different units of protection:** {each}. The same ε protects a person with many of "
        "them less: ε cannot be compared."
    )


def _promises(pins: Sequence[Pinned]) -> str:
    two_kinds = odds_words.two_kinds({pin.name: pin.brief.budget.delta for pin in pins})
    if two_kinds or len({pin.brief.budget.delta for pin in pins}) == 1:
        return two_kinds
    each = ", ".join(f"{pin.name} has δ = {small(pin.brief.budget.delta)}" for pin in pins)
    return (
        f"**Different δ:** {each}. Equal ε is **not** quite equal protection: compare the "
        "*attacker’s accuracy*."
    )


def _samples(pins: Sequence[Pinned]) -> str:
    if len({pin.population for pin in pins}) == 1:
        return ""
    each = ", ".join(
        f"{pin.name} declares "
        + ("none" if pin.population is None else f"one of {whole(pin.population)}")
        for pin in pins
    )
    return (
        f"**Different declarations of a secret sample:** {each}. ε and odds in this table "
        "leave it out; with it they would not hold against the same attackers."
    )


def _groups(pins: Sequence[Pinned]) -> str:
    if len({pin.group for pin in pins}) == 1:
        return ""
    each = ", ".join(f"{pin.name} {pin.group}" for pin in pins)
    return f"**Odds for different numbers of a person’s units:** {each}. Compare ε instead."


def _errors(pins: Sequence[Pinned]) -> str:
    others = [pin.name for pin in pins[1:] if not pin.measures_like(pins[0])]
    if not others:
        return ""
    verb = "is" if len(others) == 1 else "are"
    return (
        f"**Errors of different things:** {' and '.join(others)} {verb} about other data or "
        f"another function than {pins[0].name}."
    )
