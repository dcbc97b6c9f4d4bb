"""Sentences about noise that was used twice."""

from __future__ import annotations

import math

from engine.core.types import Budget
from engine.language import numbers, odds_words
from engine.privacy import accounting, risk
from engine.topics.reuse.answer import FACTS, ReuseAnswer

GIVEN_AWAY, FAILS = "Given away", "The formula fails"
METHOD = (
    "r₁ and r₂ are the two releases of the mean growth f of 200 simulated children by a "
    "Gaussian process; s₁ and s₂, the sizes of their noise, are public, and ξ is the draw."
)
INTRO = (
    "The mean growth curve of simulated children is published at two budgets. If both "
    "releases add the **same draw of noise**, only scaled, anyone can solve for the exact "
    "mean: two equations, two unknowns."
)
RULE = (
    "Pages here share draws between budgets, so that pictures move smoothly. That is why "
    "such pictures are for looking, and why a release draws its noise anew."
)


def recovered(answer: ReuseAnswer, is_fresh: bool) -> str:
    """State the result of the formula."""
    first_noise, second_noise, error = (
        numbers.in_unit(distance, FACTS.value_unit)
        for distance in (*answer.noise, answer.largest_error)
    )
    first, second = (f"ε = {budget.epsilon:g}" for budget in answer.budgets)
    noisy = (
        f"The releases are typically {first_noise} ({first}) and {second_noise} ({second}) "
        "from the average."
    )
    if is_fresh:
        return (
            f"{noisy} With fresh noise in each the formula fails: what it gives is off by up "
            f"to **{error}**."
        )
    if answer.largest_error < 1e-9:
        return f"{noisy} Together they give it away: **off by nothing but rounding**."
    away = numbers.with_unit(numbers.small(answer.largest_error), FACTS.value_unit)
    return f"{noisy} Together they give it away, up to {away}."


def spent(answer: ReuseAnswer, is_fresh: bool) -> str:
    """State the cost of the pair of releases."""
    if not is_fresh:
        return "The two together protect **nobody**: the exact average has no ε at all."
    total = math.hypot(*(1 / scale for scale in answer.scales))
    more = numbers.times(total * min(answer.scales))
    return (
        f"With fresh noise the two cost what they must: together {more} as much as the less "
        "protected one alone, counted in μ."
    )


def odds_of_two(first: float, second: float, delta: float, is_fresh: bool) -> str:
    """Write the odds of both releases, with budgets `first` and `second`, for the strip.

    One draw of noise for both hides nothing.
    """
    if not is_fresh:
        return "100 %, all is given away" if first != second else ""
    mu = math.hypot(*(accounting.exact_mu(epsilon, delta) for epsilon in (first, second)))
    return odds_words.odds_short(risk.odds(mu, Budget(first + second, 2 * delta)))


def two_budgets(first: float, second: float) -> str:
    """List the ε of both releases, for the strip."""
    return f"ε = {first:g}, then ε = {second:g}"
