"""Sentences under the charts of a published study, computed again on synthetic curves."""

from __future__ import annotations

import math

from engine.core.types import Budget, PublicFacts

LICENSED = (
    "**Synthetic:** no observation of the real study is in these curves. The real file is "
    "licensed: upload it under *Use my data*."
)


def holdout(facts: PublicFacts, n_training: int, n_protected: int, iterations: int) -> str:
    """Describe the chart of held-out curves.

    In each iteration `n_training` curves are averaged without noise and `n_protected` are
    published.
    """
    return (
        f"Synthetic. In each of {iterations} iterations a random third, {n_training} "
        f"{facts.people}, gives the non-private mean; the other {n_protected} are "
        "published once. Points: mean squared distance of the two, with 95 % confidence "
        "intervals."
    )


def runs(facts: PublicFacts, budget: Budget, n_runs: int, n_curves: int) -> str:
    """Describe the chart of many runs, which nobody could publish."""
    return (
        f"Synthetic. {n_runs} runs on all {n_curves} {facts.people} at ε = "
        f"{budget.epsilon:g}. To look at only: published together they would cost "
        f"{math.sqrt(n_runs):.3g} times the μ of one."
    )
