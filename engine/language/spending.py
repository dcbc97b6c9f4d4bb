"""Sentences on what was spent: the ledger, its total, and constants that spend more than stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from engine.language.grammar import capital
from engine.language.numbers import number, small
from engine.language.tags import proved_chip
from engine.noise import NoiseLaw
from engine.types import Budget, Spend

LAWS = {NoiseLaw.GAUSSIAN: "Gaussian", NoiseLaw.LAPLACE: "Laplace", NoiseLaw.NORM: "by length",
        NoiseLaw.BITS: "bits turned", NoiseLaw.CHOICE: "noisy choice", NoiseLaw.NONE: "none"}

_TUNED = {"truncation": "basis functions kept", "n_iterations": "rounds",
          "batch_size": "curves in a round", "effective_size": "curves times μ (N)",
          "shrunk": "small coefficients shrunk"}


def total(proved: Budget, mu: float) -> str:
    """What all lines of one site's ledger give together."""
    if proved.epsilon <= 1e-9:
        return "Nothing is released, so nothing is spent."
    delta = f" at δ = {small(proved.delta)}" if proved.delta else " with δ = 0"
    by = f"μ = {number(mu)}, which is " if math.isfinite(mu) else ""
    return f"Together: {by}**ε = {number(proved.epsilon)}**{delta}."


def how_added(sites: Iterable[Sequence[Spend]]) -> str:
    """How the lines of a site are summed up, and whether some hold with δ = 0 and others do not."""
    own = next(iter(sites))
    pure = [spend.what for spend in own if spend.epsilon is not None]
    if len(pure) == len(own):
        return "All lines hold with δ = 0: their ε add up." if len(own) > 1 else ""
    if all(spend.mu is not None for spend in own):
        return "All noise is Gaussian: squares of μ add up, and ε is exact." if len(own) > 1 else ""
    text = ("What attackers can gain from all lines together is bounded by their ρ, which add up, "
            "and turned into ε once.")
    if all(spend.rho is None for spend in own):
        text = "The laws of what attackers can gain from each line are added, not their ε."
    if pure:
        text += (f" **Pure and approximate DP:** {' and '.join(dict.fromkeys(pure))} holds with "
                 "δ = 0, the other lines do not, so all together hold with the stated δ.")
    return text


def ledger_of_several(count: int, unit: str, several: Sequence[Budget]) -> str:
    """The total for a person with several protected units, at the site where it is largest."""
    most = max(several, key=lambda budget: budget.epsilon)
    return f"For a person with {count} {unit}s all of it gives **{proved_chip(most)}**."


def broken_promise(asked: Budget, given: float) -> str:
    """For constants that do not give the budget they are printed for."""
    what = f"ε = {given:.3g}" if math.isfinite(given) else "no protection at all"
    return (f"**This method, as it is set, gives {what}, not ε = {asked.epsilon:g}.** It can be "
            "looked at, not released. Where there are published and tight constants, take tight.")


def more_noise_than_needed(asked: Budget, given: float) -> str:
    return (f"This adds more noise than ε = {asked.epsilon:g} needs: what it really gives is "
            f"**ε = {number(given)}**.")


def tuning(chosen: Mapping[str, object]) -> str:
    """The values that rules gave from public facts."""
    def shown(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return number(value) if isinstance(value, float) else str(value)

    named = (f"{_TUNED.get(name, name.replace('_', ' '))}: {shown(value)}"
             for name, value in chosen.items())
    return capital(" · ".join(named))
