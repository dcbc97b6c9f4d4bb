"""Scenarios put side by side: what each protects and costs, and where they cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget, PublicFacts, Spend
from engine.language import odds_words
from engine.language.numbers import at_most_percent, change, error, small, times, whole
from engine.privacy import risk

NOTHING = "nothing would be published"


@dataclass(frozen=True)
class Pinned:
    """One scenario that was kept, with what was found for it.

    `estimated` is the key of its task. `budget` is what was asked for everybody, whichever the
    site, `budgets` the words for all of them. `error` is that of its page in `error_unit`, NaN
    where nothing would be published or no truth is known; `within` the distance that 95 % of
    releases stay within. Odds are those of a person with `group` protected units; `population` is
    the size of the group that a secret sample was declared to be drawn of.
    """

    name: str
    page: str
    facts: PublicFacts
    protects: str
    method: str
    people: int
    budget: Budget
    budgets: str
    spends: tuple[Spend, ...] = field(repr=False)
    error: float = math.nan
    error_unit: str = ""
    within: float = math.nan
    limits: str = ""
    group: int = 1
    population: int | None = None
    estimated: str = MEAN_FUNCTION.key

    @cached_property
    def odds(self) -> risk.Odds:
        return risk.of_ledger(self.spends, self.group)

    @property
    def unit(self) -> str:
        """Unit of privacy: what neighbouring data sets exchange."""
        return self.spends[0].unit.noun

    def measures_like(self, other: Pinned) -> bool:
        """True if both errors are about the same thing, in the same unit."""
        return (self.facts.name, self.facts.kind, self.error_unit, self.estimated) == (
            other.facts.name,
            other.facts.kind,
            other.error_unit,
            other.estimated,
        )


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
    others = pin is not first
    people = whole(pin.people)
    if others and pin.people != first.people:
        people += f" ({_against(pin.people / first.people)})"
    return [
        pin.facts.name,
        pin.method,
        people,
        pin.protects,
        _epsilon(pin, first),
        small(pin.budget.delta),
        _error(pin, first),
        _chance(pin.odds.right, first.odds.right, others),
        _chance(pin.odds.power, first.odds.power, others),
        pin.limits or "–",
    ]


def _epsilon(pin: Pinned, first: Pinned) -> str:
    ratio = pin.budget.epsilon / first.budget.epsilon
    return f"{pin.budget.epsilon:g}" + ("" if ratio == 1 else f" ({_against(ratio)})")


def _against(ratio: float) -> str:
    """Write a ratio as it reads best: in percent up to twice as much, then as "4.3 times"."""
    if ratio < 2:
        return change(ratio - 1)
    return times(ratio).replace(".0 ", " ")


def _error(pin: Pinned, first: Pinned) -> str:
    if not math.isfinite(pin.error):
        return NOTHING
    text = error(pin.error, pin.error_unit, pin.within)
    if pin is first or not math.isfinite(first.error):
        return text
    if not pin.measures_like(first):
        return f"{text} (of other things)"
    return f"{text} ({_against(pin.error / first.error)})"


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
    two_kinds = odds_words.two_kinds({pin.name: pin.budget.delta for pin in pins})
    if two_kinds or len({pin.budget.delta for pin in pins}) == 1:
        return two_kinds
    each = ", ".join(f"{pin.name} has δ = {small(pin.budget.delta)}" for pin in pins)
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
