"""Questions that released counts of times to an event answer at no further cost.

`ReleasedSurvival` is a release as far as they need it: the noised table with its public numbers,
which a guarantee card holds. A `SurvivalQuestion` computes an `Answer` from it and from nothing
else: any number of questions may be put, and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from engine.answers.reply import Answer
from engine.core.registry import Parameterised, Registry
from engine.core.types import EventFacts
from engine.numerics.counts.curves import CountedCurve, survival_curves
from engine.numerics.counts.tables import CountTable

survival_questions = Registry("engine.answers.survival", "question")


@dataclass(frozen=True, eq=False)
class ReleasedSurvival:
    """Survival curves as they were released."""

    table: CountTable
    facts: EventFacts
    min_at_risk: float

    @cached_property
    def curves(self) -> Sequence[CountedCurve]:
        """A curve of each group, or the adjusted one."""
        return survival_curves(self.table, self.min_at_risk)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the curves; one empty name where there is one."""
        return self.facts.groups if len(self.curves) > 1 else ("",)

    def adjusted(self, weights: tuple[float, ...]) -> ReleasedSurvival:
        """The same release with one curve, in which groups count by such weights.

        Raises
        ------
        InputError
            If weights are no shares of these groups.
        """
        facts = replace(self.facts, group_weights=weights)
        return ReleasedSurvival(replace(self.table, group_weights=weights), facts, self.min_at_risk)


@dataclass(frozen=True, kw_only=True)
class SurvivalQuestion(Parameterised):
    """A question about released survival; `order` sorts questions, `label` is what people read."""

    registry: ClassVar[Registry] = survival_questions
    order: ClassVar[int] = 50

    def answer(self, released: ReleasedSurvival) -> Answer:
        """The answer with its 95 % interval, or why there is none."""
        raise NotImplementedError
