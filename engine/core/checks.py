"""Stated facts that a release can contradict, and what it measured of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.enumerations import Enumeration


class CheckOutcome(Enumeration):
    """Consequence of a check: nothing, a sentence, other numbers, or no valid band."""

    HOLDS = "holds"
    TOLD = "told"
    CORRECTED = "corrected"
    VOID = "void"
    UNTESTED = "untested"


class Fact(NamedTuple):
    """Subject of a check, in the words of the card; gaps are for shares."""

    stated: str
    measured: str  # with the measured share and its noise
    would_show: str  # with the smallest share that is told in nine of ten
    is_relied_on: bool = True  # whether a good verdict rests on its being tested


@dataclass(frozen=True, eq=False)
class Check:
    """A stated fact beside what releases measured of it; arrays are (budgets, repeats, draws)."""

    fact: Fact
    measured: Array  # a share of people or observations
    noise: Array  # standard deviation of the noise in it
    limit: Array  # from which it contradicts the fact
    smallest: Array  # departure that nine releases of ten tell
    outcome: NDArray[np.str_]  # members of `CheckOutcome`

    def of(self, *where: int | slice) -> Check:
        """The check of some of the releases."""
        return Check(self.fact, *(np.asarray(each[where]) for each in self.arrays))

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.measured, self.noise, self.limit, self.smallest, self.outcome

    def has(self, outcome: CheckOutcome) -> NDArray[np.bool_]:
        """True for the releases with this outcome."""
        return np.asarray(self.outcome == outcome.value)

    def row(self) -> dict[str, str]:
        """The line of the card, of a single release."""
        measured, noise, smallest = (
            f"{max(100 * each.item(), 0):.1f} %"
            for each in (self.measured, self.noise, self.smallest)
        )
        return {
            "fact": self.fact.stated,
            "outcome": str(self.outcome.item()),
            "measured": self.fact.measured.format(f"{measured} ± {noise}"),
            "would_have_shown": self.fact.would_show.format(smallest),
        }


def joined(checks: list[Check]) -> Check:
    """Checks of one fact at several budgets, one after the other."""
    arrays = zip(*(each.arrays for each in checks), strict=True)
    return Check(checks[0].fact, *map(np.stack, arrays))


def outcomes(
    told: NDArray[np.bool_], outcome: CheckOutcome, is_tested: Array | bool = True
) -> NDArray[np.str_]:
    """The outcome where a fact is contradicted; elsewhere it holds, or was not tested."""
    tested = np.broadcast_to(is_tested, told.shape)
    return np.where(
        told, outcome.value, np.where(tested, CheckOutcome.HOLDS.value, CheckOutcome.UNTESTED.value)
    )
