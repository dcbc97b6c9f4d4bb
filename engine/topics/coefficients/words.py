"""Sentences of the page on varying coefficients."""

from __future__ import annotations

import numpy as np

from engine.core.lists import counted
from engine.core.types import Budget, Covariate, PublicFacts
from engine.language.grammar import capital, conjunction, escape, uncapital
from engine.language.numbers import in_unit, number, percent, times, two_digits_up, with_unit
from engine.privacy.feasibility import Feasibility
from engine.topics.coefficients.answer import CoefficientsAnswer, CostOfCovariates


def panel_title(name: str, k: int) -> str:
    """Name the intercept, or the effect of a covariate from the middle of its range to the end."""
    return "Average curve" if k == 0 else f"Effect of {escape(uncapital(name))}"


def panel_range(facts: PublicFacts, k: int) -> str:
    """Name the values of the covariate between which a function tells the difference."""
    return "In the middle of all ranges" if k == 0 else capital(_ends(facts.covariates[k - 1]))


def meaning(facts: PublicFacts) -> str:
    """Explain the functions in words."""
    text = (
        f"**Average curve:** of a {facts.person} in the middle of all ranges. **Effect:** what "
        "going from the middle of a covariate’s range to its upper end adds to the curve"
    )
    ranges = [_range(covariate) for covariate in facts.covariates]
    known = "; ".join(filter(None, ranges))
    return (f"{text}: {known}." if known else f"{text}.") + " Between both ends it is twice that."


def _range(covariate: Covariate) -> str:
    is_plain = (covariate.low, covariate.high, covariate.unit) == (-1.0, 1.0, "")
    return "" if is_plain else _ends(covariate)


def _ends(covariate: Covariate) -> str:
    middle, unit = (covariate.low + covariate.high) / 2, covariate.unit
    if "," in unit:  # it explains codes, as in “−1 girl, 1 boy”
        unit = f" ({unit})"
    elif unit:
        unit = f" {unit}"
    return escape(f"{uncapital(covariate.name)} from {middle:g} to {covariate.high:g}{unit}")


def refused(facts: PublicFacts, verdict: Feasibility, budget: Budget, n_curves: int) -> str:
    """Say instead of the panels why nothing would be published, and what would change it."""
    needed = two_digits_up(verdict.curves_needed(n_curves))
    epsilon = two_digits_up(verdict.epsilon_needed(budget))
    return (
        f"**Too few {facts.people} for ε = {budget.epsilon:g}: nothing would be published.** "
        f"Even if covariates are spread evenly over their ranges, {verdict.n_functions} "
        f"functions have to share what so few {facts.people} can tell, so no budget is spent. "
        f"What helps, one of: {needed:,.0f} {facts.people}, ε = {epsilon:g}, or fewer "
        "covariates."
    )


def from_sizes(facts: PublicFacts) -> str:
    """Say what the decision to publish rests on, and what it cannot know."""
    return (
        f"Sizes and budget alone decide if there are enough {facts.people}, as if covariates were "
        "spread evenly over their ranges. Their real spread is released first. If a covariate "
        "varies too little, the release carries a warning."
    )


def warned(answer: CoefficientsAnswer) -> list[str]:
    """List the warnings of releases, each with how many carry it."""
    return [
        f"{escape(text)} ({percent(share)} of releases carry this.)"
        for text, share in answer.warnings
    ]


def accuracy(answer: CoefficientsAnswer) -> str:
    """State the errors of the functions, in response units, and which one is furthest off."""
    unit = answer.facts.value_unit
    worst = int(answer.error_by_function.argmax())
    first, largest = (in_unit(float(answer.error_by_function[k]), unit) for k in (0, worst))
    target = "the true one" if answer.baseline is not None else "the one without privacy"
    text = f"The error of the published mean curve is **{first}**, from {target}."
    if worst:
        text += (
            f" The effect of {escape(uncapital(answer.names[worst]))} is furthest off: "
            f"**{largest}**."
        )
    count, added = len(answer.names), number(answer.error)
    return (
        f"{text} All {count} functions together: {with_unit(added, unit)}, "
        f"the root of their summed squares; 95 % of releases are within "
        f"{number(answer.within)}."
    )


def visible(answer: CoefficientsAnswer) -> str:
    """Say which effects exceed their error, so that the release shows them."""
    known = answer.truth if answer.truth is not None else answer.ordinary  # (functions, times)
    size = np.sqrt((known[1:] ** 2).mean(axis=1))
    lost = [
        escape(uncapital(name))
        for name, s, e in zip(answer.names[1:], size, answer.error_by_function[1:], strict=True)
        if e > s
    ]
    if not lost:
        return "Every effect is larger than its error, so the release shows it."
    if len(lost) == 1:
        return f"The effect of {lost[0]} is smaller than its error: noise would hide it."
    return (
        f"The effects of {conjunction(lost)} are smaller than their errors: noise would hide them."
    )


def cost(costs: CostOfCovariates, budget: Budget) -> str:
    """Say what more covariates cost, from the smallest to the largest number that works."""
    known = np.flatnonzero(np.isfinite(costs.private))
    if not len(known):
        return f"At ε = {budget.epsilon:g} nothing would be published with any of them."
    first, last = int(known[0]), int(known[-1])
    fewest, largest = costs.counts[first], costs.counts[last]
    if fewest == largest:
        return (
            f"At ε = {budget.epsilon:g} this many people support only "
            f"{counted(fewest, 'covariate')}."
        )
    private = times(float(costs.private[last] / costs.private[first]))
    free = times(float(costs.ordinary[last] / costs.ordinary[first]))
    text = (
        f"From {fewest} to {largest} covariates the total error grows **{private}**; without "
        f"protection it would grow {free}."
    )
    if last < len(costs.counts) - 1:
        text += f" With {largest + 1} or more nothing would be published."
    return text
