"""Sentences on how close the published average is to the true one, and what would help.

Sentences are Markdown with their numbers in bold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from engine.core.bands import holds_a_constant, least_change
from engine.core.lists import counted
from engine.core.types import Array, Budget, PublicFacts
from engine.language.error_words import error_name
from engine.language.grammar import capital, escape, span, uncapital
from engine.language.numbers import (
    digits_down,
    in_unit,
    number,
    percent,
    times,
    two_digits_up,
    whole,
)
from engine.numerics.proportions import Proportion
from engine.privacy.feasibility import WIDE, Feasibility

_ENOUGH_IN_A_ROUND = 10
_FEW_FUNCTIONS = 6  # kept, from which a release cannot be asked whether they are enough


def accuracy(facts: PublicFacts, error: float, within: float, baseline: float | None) -> str:
    """State the error of the average, what 95 % of releases stay within, and that without privacy.

    `within` is left out if it is not finite.
    """
    unit = escape(facts.value_unit)
    x, y = (in_unit(value, unit) for value in (error, within))
    text = (
        f"The {error_name(facts)} is **{x}**: root mean squared distance from the true mean "
        f"over {span(facts)}."
    )
    if math.isfinite(within):
        text += f" In 95 % of releases the distance is at most {y}."
    if baseline is None:
        return text
    return f"{text} Without privacy the error is {in_unit(baseline, unit)}."


def from_own_mean(facts: PublicFacts, distance: float) -> str:
    """State how far releases are from the non-private mean, which their holder alone knows."""
    whose = "your own mean, which only you know" if facts.is_upload else "the non-private mean"
    return f"Typical distance of a release from {whose}: {in_unit(distance, escape(facts.value_unit))}."


def rests_on(claim: str, simulated: Proportion) -> str:
    """Say on how many simulated releases a statement about a share of all releases rests."""
    low, high = (percent(share) for share in (simulated.low, simulated.high))
    count = round(simulated.independent)
    alike = (
        ""
        if count >= simulated.n
        else f", as from {whole(count)} independent ones, because releases of the same simulated "
        "people are alike"
    )
    return (
        f"“{claim}”: {whole(simulated.count)} of {whole(simulated.n)} simulated releases; the "
        f"true share is {low} to {high} (95 % confidence interval{alike})."
    )


def floor(facts: PublicFacts, smallest_error: float, error: float) -> str:
    """State the floor of unbiased methods with Gaussian noise, beside an error; empty without."""
    if not math.isfinite(smallest_error):
        return ""
    text = f"Floor for unbiased methods: **{in_unit(smallest_error, escape(facts.value_unit))}**"
    if math.isfinite(error):
        text += (
            "; this method is below it, because shrinking trades bias for noise"
            if error < smallest_error
            else f"; this method is at {times(error / smallest_error)} it"
        )
    return f"{text}. {GUIDE}"


GUIDE = "Proved for a single release; only a guide when releases adapt."


def too_few(facts: PublicFacts) -> str:
    """Why nothing would be published, wherever there is room for a few words alone.

    What decides are sizes and budget, by the effective size, and never the curves.
    """
    return f"Too few {facts.people} for this ε"


def refused(
    facts: PublicFacts,
    verdict: Feasibility,
    budget: Budget,
    n_curves: int,
    steps: Sequence[float] = (),
) -> tuple[str, str]:
    """Write heading and sentence that nothing useful can be published, and what would help.

    The first of the rising `steps` of ε that is enough is named.
    """
    return (
        f"Too few {facts.people} for ε = {budget.epsilon:g}: nothing would be published.",
        f"The effective size, what {facts.people} and ε are worth together, is "
        f"{number(digits_down(verdict.per_function, 3))}; below {verdict.min_per_function:g} "
        "the noise is "
        "too large for any curve, and no budget is spent. "
        f"{capital(_what_helps(facts, verdict, budget, n_curves, steps))} a coarse curve is "
        "possible.",
    )


def coarse(
    facts: PublicFacts,
    verdict: Feasibility,
    budget: Budget,
    n_curves: int,
    steps: Sequence[float] = (),
) -> str:
    """Describe a picture that shows little more than a level and a trend."""
    return (
        "Coarse: at this ε only the level and the trend are reliable. "
        f"{capital(_what_helps(facts, verdict, budget, n_curves, steps))} the shape is "
        "usable."
    )


def few_in_a_round(fewest: int | None) -> str:
    """Warn of rounds with fewer than ten curves each; empty elsewhere."""
    if fewest is None or fewest >= _ENOUGH_IN_A_ROUND:
        return ""
    return (
        f"**A round has only {counted(fewest, 'curve')}.** With fewer than "
        f"{_ENOUGH_IN_A_ROUND}, the noise of each step is large. Take fewer rounds, or use all "
        "curves in every round."
    )


def _what_helps(
    facts: PublicFacts, verdict: Feasibility, budget: Budget, n_curves: int, steps: Sequence[float]
) -> str:
    """Advise on the number of people, or the smallest ε, that would be enough."""
    needed = two_digits_up(verdict.curves_needed(n_curves))
    needed_epsilon = verdict.epsilon_needed(budget)
    epsilon = next(
        (step for step in steps if step >= needed_epsilon), two_digits_up(needed_epsilon)
    )
    return f"with {whole(needed)} {facts.people}, or from ε = {epsilon:g} on,"


def planned(facts: PublicFacts, verdict: Feasibility | None, distance: float) -> str:
    """Say what sizes and bounds alone showed about this budget; empty without such a rule."""
    if not math.isfinite(distance):
        return ""
    words = {
        "coarse": "coarse, level and trend only",
        "usable": "usable",
        "good": "good",
        "nearly free": "good",
    }
    judged = (
        "Forecast from sizes and bounds alone:"
        if verdict is None
        else f"Forecast: **{words[verdict.verdict]}**. From sizes and bounds alone,"
    )
    return (
        f"{judged} privacy adds about "
        f"{in_unit(distance, escape(facts.value_unit), 2)}. The data are not used "
        "for this, so the error above may differ."
    )


_NOISE = {
    "not feasible": "too large",
    "coarse": "large",
    "usable": "moderate",
    "good": "small",
    "nearly free": "very small",
}  # by verdict


def noise_forecast(verdict: Feasibility, is_smoothed: bool = True) -> str:
    """Forecast the least size of privacy noise, and say that nothing else is forecast.

    If `is_smoothed`, values are clipped or curves smoothed, about which it says nothing; counts are
    not.
    """
    noise = (
        f"From sizes and bounds alone: {_NOISE[verdict.verdict]} privacy noise beside the stated "
        "range."
    )
    return f"{noise} Smoothing and clipping add to it." if is_smoothed else noise


def compared(here: float, others: Mapping[str, float]) -> str:
    """Compare errors of other methods, by label, at the same budget; infinite ones are left out."""
    known = [
        f"{uncapital(label)} {_ratio(error / here)}"
        for label, error in others.items()
        if math.isfinite(error / here)
    ]
    return f"Error at the same ε, relative to this method: {'; '.join(known)}." if known else ""


CHOOSE_BY_SIZES = (
    "Choose a method from sizes and public facts, or on simulated curves like "
    "these: a choice that depends on your own curves is not covered by ε."
)


def _ratio(ratio: float) -> str:
    if 1 / 1.1 < ratio < 1.1:
        return "**about equal**"
    return f"**{times(ratio)}**" if ratio > 1 else f"**{percent(ratio)}**"


def useless(facts: PublicFacts, error: float, budget: Budget, n_curves: int) -> str:
    """Warn of budgets at which the noise drowns the curve; empty elsewhere."""
    if error < facts.value_half_width:
        return ""
    n = whole(n_curves)
    return (
        f"**The noise is as large as the curve.** With {n} {facts.people} at ε = "
        f"{budget.epsilon:g} the error is as large as half the range of "
        f"{uncapital(facts.value_name)}. Recruit more {facts.people}, raise ε, or fit a "
        "simpler curve."
    )


def no_change(facts: PublicFacts, low: Array, high: Array) -> str:
    """Say that a band (k,) has room for a constant curve, as very wide bounds make it.

    The text is empty if some change can be told.
    """
    if not holds_a_constant(low, high):
        return ""
    return (
        "A flat line fits in the band: only the level was published. Rises above "
        f"{smallest_change(facts, least_change(low, high))} would show."
    )


def smallest_change(facts: PublicFacts, change: float) -> str:
    """State the smallest change that shows: "65 mg/dL"."""
    return in_unit(change, facts.value_unit, 2)


DOUBTFUL = "Doubtful: do not rely on this curve or its band. The warnings say why and where."


def level_only(wide: float, is_flat: bool, at_times: float = 0.0) -> str:
    """Why a release with enough people is coarse: its band tells no more than a level.

    `wide` and, at few common times, `at_times` are average widths as shares of the stated range.
    """
    if wide >= WIDE > at_times > 0 and not is_flat:
        return (
            "Coarse between the common times: there the confidence band is wide. It spans "
            f"{percent(wide)} of the stated range on average, {percent(at_times)} at those "
            "times."
        )
    if wide >= WIDE:
        return (
            f"Coarse: only the level is reliable, because the band spans {percent(wide)} of the "
            "stated range."
        )
    return (
        ("Coarse: only the level is reliable, because a flat line fits in the band.")
        if is_flat
        else ""
    )


_UNLIKE = 0.05  # of all weight that would have to move between sites


def by_precision(weights: Array, people: Sequence[int], facts: PublicFacts, sites: str) -> str:
    """Say that sites do not count by their people, and what follows if these differ.

    `weights` (sites,) sum to 1, or are NaN if nothing is published. The text is empty if they are
    nearly the shares of people.

    Examples
    --------
    >>> facts = PublicFacts(person="patient", people="patients")
    >>> by_precision(np.array([0.8, 0.2]), (300, 100), facts, "hospitals")
    'Hospitals with more precise results get more weight: if their patients differ, the result is \
not the average over all patients.'
    >>> by_precision(np.array([0.75, 0.25]), (300, 100), facts, "hospitals")
    ''
    """
    shares = np.array(people) / sum(people)
    if not 0.5 * np.abs(weights - shares).sum() >= _UNLIKE:
        return ""
    return (
        f"{capital(sites)} with more precise results get more weight: if their "
        f"{escape(facts.people)} differ, the result is not the average over all "
        f"{escape(facts.people)}."
    )


def at_common_times(facts: PublicFacts, half_width: float, mark: str = "") -> str:
    """State a band's half width at common times: ", 2.7 cm at the common times"; else empty."""
    if not half_width:
        return ""
    return f", {mark}{in_unit(half_width, facts.value_unit)}{mark} at the common times"


def few_functions(size: int) -> str:
    """Say what a band with few basis functions leaves out: short features of the curve.

    Steep starts and ends are counted. Of a curve with four turns that 5 functions draw, the bands
    held all in 1 of 60 simulated releases. The text is empty for more than six functions, and for
    0, an unknown number.
    """
    if not 0 < size <= _FEW_FUNCTIONS:
        return ""
    return (
        f"The {size} kept basis functions smooth short features away. The true curve can lie "
        "outside the band there."
    )
