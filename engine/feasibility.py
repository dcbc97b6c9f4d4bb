"""Can these sizes and this budget give anything useful? Decided before any data are read.

The one number that decides is N, the number of curves times the Gaussian-DP parameter μ of the
budget (over several sites, √Σ (n_s μ_s)²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine import accounting
from engine.types import Budget

NOT_FEASIBLE, COARSE, USABLE, GOOD = 12.0, 35.0, 100.0, 300.0  # below each of them


@dataclass(frozen=True)
class Feasibility:
    """The verdict for one effective size N."""

    effective_size: float

    @property
    def verdict(self) -> str:
        """"not feasible", "coarse", "usable", "good" or "nearly free"."""
        for limit, word in ((NOT_FEASIBLE, "not feasible"), (COARSE, "coarse"),
                            (USABLE, "usable"), (GOOD, "good")):
            if self.effective_size < limit:
                return word
        return "nearly free"

    @property
    def is_feasible(self) -> bool:
        return self.effective_size >= NOT_FEASIBLE

    @property
    def next_limit(self) -> float:
        """What N must reach for a result worth having: first feasible, then more than coarse."""
        return NOT_FEASIBLE if not self.is_feasible else COARSE

    def curves_needed(self, n_curves: int) -> int:
        """How many curves reach the next limit at the same budget."""
        return math.ceil(n_curves * self.next_limit / self.effective_size)

    def epsilon_needed(self, budget: Budget) -> float:
        """The ε that reaches the next limit with the same curves, where all sites have it."""
        factor = self.next_limit / self.effective_size
        if budget.is_pure:
            return budget.epsilon * factor
        mu = accounting.exact_mu(budget.epsilon, budget.delta)
        return accounting.exact_epsilon(mu * factor, budget.delta)
