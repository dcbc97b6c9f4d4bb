"""The record of what is simulated or published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from engine.core.types import Budget, Data
from engine.mechanisms.base import Mechanism
from engine.sources import Source

D = TypeVar("D", bound=Data)


@dataclass(frozen=True, kw_only=True)
class Study(Generic[D]):
    """Data, method, budgets and seed: all that an error depends on.

    Few people are drawn where these can count as all; see `engine.sources.twin`.
    """

    source: Source[D]
    mechanism: Mechanism
    budgets: tuple[Budget, ...]  # one for all sites, or one for each
    seed: int = 1  # of simulated data and noise; real releases draw their noise afresh

    def __post_init__(self) -> None:
        if self.mechanism.averages_all:
            object.__setattr__(self, "source", self.source.of_few())

    @property
    def delta(self) -> float:
        """The smallest δ of all sites."""
        return min(budget.delta for budget in self.budgets)

    def at(self, epsilon: float) -> Study[D]:
        """Return the study at another ε of all sites, with their δ."""
        return replace(self, budgets=tuple(replace(b, epsilon=epsilon) for b in self.budgets))
