"""Sentences on what was spent: the ledger, its total, and constants that spend more than stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from engine.core.enumerations import NoiseLaw
from engine.core.types import Budget, Spend
from engine.language.grammar import capital
from engine.language.numbers import number, small
from engine.language.tags import proved_chip

LAWS = {
    NoiseLaw.GAUSSIAN: "Gaussian",
    NoiseLaw.LAPLACE: "Laplace",
    NoiseLaw.DISCRETE_LAPLACE: "discrete Laplace",
    NoiseLaw.NORM: "by length",
    NoiseLaw.BITS: "bits turned",
    NoiseLaw.CHOICE: "noisy choice",
    NoiseLaw.NONE: "none",
}

_TUNED = {
    "truncation": "basis functions kept",
    "n_iterations": "rounds",
    "batch_size": "curves in a round",
    "effective_size": "curves times μ (N)",
    "shrunk": "small coefficients shrunk",
}


def total(proved: Budget, mu: float) -> str:
    """Say what all lines of one site's ledger give together."""
    if proved.epsilon <= 1e-9:
        return "Nothing is released, so nothing is spent."
    delta = f" at δ = {small(proved.delta)}" if proved.delta else " with δ = 0"
    by = f"μ = {number(mu)}, which is " if math.isfinite(mu) else ""
    return f"Together: {by}**ε = {number(proved.epsilon)}**{delta}."


def how_added(sites: Iterable[Sequence[Spend]]) -> str:
    """Say how a site's lines are added up, and whether only some hold with δ = 0.

    Ledgers of all sites have the same steps, so the first speaks for all.
    """
    ledger = next(iter(sites))
    pure = [spend.what for spend in ledger if spend.epsilon is not None]
    if len(pure) == len(ledger):
        return "All lines have δ = 0: their ε add up." if len(ledger) > 1 else ""
    if all(spend.mu is not None for spend in ledger):
        return (
            "All noise is Gaussian: squares of μ add up, and ε is exact." if len(ledger) > 1 else ""
        )
    text = "The lines are composed by their ρ, which add up and are converted to ε once."
    if all(spend.rho is None for spend in ledger):
        text = "The lines are composed by their privacy loss distributions, not by adding their ε."
    if pure:
        text += (
            f" **Pure and approximate DP:** {' and '.join(dict.fromkeys(pure))} has "
            "δ = 0, the other lines do not, so the total has the stated δ."
        )
    return text


def ledger_of_several(count: int, unit: str, several: Sequence[Budget]) -> str:
    """State the total for a person with several protected units, whichever their site.

    `several` holds the guarantee for such a person at each site.
    """
    total = proved_chip(Budget.covering_all(several))
    return f"For a person with {count} {unit}s the total is **{total}**."


def broken_promise(budget: Budget, proved_epsilon: float) -> str:
    """Warn of constants that do not give the budget they are printed for."""
    guarantee = (
        f"ε = {proved_epsilon:.3g}" if math.isfinite(proved_epsilon) else "no protection at all"
    )
    return (
        f"**With these settings the method gives {guarantee}, not ε = {budget.epsilon:g}.** It "
        "can be explored, but not released. Where there is a choice of constants, take "
        "*tight*."
    )


def more_noise_than_needed(budget: Budget, proved_epsilon: float) -> str:
    """Say that constants protect more than they are printed for."""
    return (
        f"This adds more noise than ε = {budget.epsilon:g} needs: it gives "
        f"**ε = {number(proved_epsilon)}**."
    )


def tuning(parameters: Mapping[str, object]) -> str:
    """List the values that rules gave from public facts."""

    def written(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return number(value) if isinstance(value, float) else str(value)

    named = (
        f"{_TUNED.get(name, name.replace('_', ' '))}: {written(value)}"
        for name, value in parameters.items()
    )
    return capital(" · ".join(named))
