"""Audited cases of each mechanism: settings on small data, and the attained part of a claim.

A mechanism says so itself (`Mechanism.trials`); one that says nothing is audited with its usual
settings, and must attain its claim to 95 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from engine.core.types import Budget
from engine.mechanisms import Mechanism
from engine.mechanisms.base import ATTAINED, Trial
from engine.privacy import accounting

_FEWEST_PAIRS = 40  # at a time
_FEW_SUFFICE = 4.0  # up to this ε of a case its few records do; others need as much for a release


@dataclass(frozen=True)
class Case:
    """A mechanism as it is set and the budget it gets on the small data of its family."""

    mechanism: Any
    budget: Budget = Trial.budget
    attains: float = ATTAINED  # the least share of the claim that must be found
    why: str = ""
    chunk: int = Trial.chunk  # pairs that are tried at a time
    copies: int = 1  # how often each record of the small data is there

    def at(self, budget: Budget) -> Case:
        """The same at another budget; where few records would release nothing, with more."""
        if self.budget.epsilon <= _FEW_SUFFICE:
            return replace(self, budget=budget)
        copies = max(1, math.ceil(_precision(self.budget) / _precision(budget)))
        chunk = max(_FEWEST_PAIRS, self.chunk // math.isqrt(copies))
        return replace(self, budget=budget, copies=copies, chunk=min(chunk, self.chunk))


def _precision(budget: Budget) -> float:
    """Return the quantity that noise is inverse to: μ, or ε where δ = 0."""
    return budget.epsilon if budget.is_pure else accounting.exact_mu(budget.epsilon, budget.delta)


def cases_of(cls: type[Mechanism]) -> tuple[Case, ...]:
    """Everything that is audited of one class of mechanisms."""
    return tuple(
        Case(cls(**trial.settings), trial.budget, trial.attains, trial.why, trial.chunk)
        for trial in cls.trials()
    )


def case_like(mechanism: Mechanism) -> Case:
    """The first case of this kind, with the mechanism as it is set."""
    cases = cases_of(type(mechanism))
    alike = [case for case in cases if case.mechanism.main_task is mechanism.main_task]
    return replace((alike or cases)[0], mechanism=mechanism)
