"""Sentences on what an attacker can gain: true at every budget, Markdown, numbers in bold.

A chance of an attacker is an upper bound and is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.core.types import PublicFacts
from engine.language.grammar import a, escape, of
from engine.language.numbers import (
    at_most_percent,
    digits_up,
    one_in,
    percent,
    percent_of,
    small,
    whole,
)
from engine.language.tags import proved_chip
from engine.privacy.failure import LARGEST_COMMON, Delta
from engine.privacy.risk import Odds

WEAK_FROM = 4.0  # ε from which an attacker's accuracy is highlighted


def odds_short(odds: Odds) -> str:
    """Write odds for the strip: "≤ 56 %", rounded up, and for how many records if for several."""
    upper = math.ceil(round(100 * odds.right, 6))
    bound = f"≤ {upper} %" if odds.right <= 0.99 else "> 99 %"
    return bound + (f" ({odds.group} together)" if odds.group > 1 else "")


def odds_alone(odds: Odds) -> str:
    """Write odds for the strip if no method is known: "≤ 74 % by ε alone"."""
    return f"{odds_short(odds)}{BY_BUDGET_ALONE}"


BY_BUDGET_ALONE = " by ε alone"  # ends the odds of a budget of which no noise is known
WHY_ALONE = (
    "By ε alone: what the worst mechanism with this ε and δ would allow. No method is "
    "chosen here; the noise of one allows at most that."
)


def odds_span(odds: Sequence[Odds]) -> str:
    """Write the odds of several budgets for the strip, from smallest to largest: "≤ 53 to 89 %".

    There is one bound if they are the same as written. All odds are of as many records.
    """
    low, high = (odds_short(pick(odds, key=lambda each: each.right)) for pick in (min, max))
    if low == high:
        return low
    return f"{low.partition(' %')[0]} to {high.removeprefix('≤ ')}"


def odds_main(odds: Odds, person: str, unit: str = "curve", sits_at: str = "") -> str:
    """State the success of an attacker who knows all but one record, in one bold sentence.

    `sits_at` says whose messages the attacker sees as well, such as "another site". The chance is
    rounded up.
    """
    if odds.right <= 0.5:
        return (
            "Nothing would be published, so an attacker learns nothing and is right in **50 "
            "%** of cases, as by guessing."
        )
    place = f" **sits at {sits_at}**," if sits_at else ""
    almost = ", hardly better than guessing." if odds.right <= 0.51 else ". Guessing gives 50 %."
    several, noun = (
        (f"all {odds.group} {unit}s", f"{unit}s") if odds.group > 1 else (f"the {unit}", unit)
    )
    return (
        f"Suppose an attacker{place} knows the {noun} of every {person} but one, and two "
        f"possibilities for {several} of that {person}. If both are equally likely, they pick "
        f"the right one in **{at_most_percent(odds.right)}** of cases{almost}"
    )


def odds_at_few_alarms(odds: Odds) -> str:
    """Say how much an attacker finds who accepts 1 % of false alarms, rounded up to two digits."""
    found = digits_up(100 * odds.power_at_1_percent, 2)
    return f"At 1 % false alarms an attacker finds at most {found:g} %."


def group(single: Odds, several: Odds, person: str, unit: str = "curve") -> str:
    """State the total cost of several protected units of one person, beside one of them."""
    return (
        f"The guarantee is for **one {unit}**: {proved_chip(single.budget)}. For "
        f"{a(person)} with **{several.group} {unit}s** it is "
        f"**{proved_chip(several.budget)}**. The attacker’s accuracy is "
        f"{at_most_percent(single.right)} for one {unit} and "
        f"{at_most_percent(several.right)} for all of them together."
    )


def sampled(full: Odds, drawn: Odds, share: float, person: str) -> str:
    """Say how much a secret sample, of this share, protects, and against whom."""
    return (
        f"The sample is {percent_of(share)} of the larger group. Against an attacker who does "
        f"not know who was drawn, {proved_chip(full.budget)} counts as "
        f"**{proved_chip(drawn.budget)}**, and the attacker’s accuracy is "
        f"**{at_most_percent(drawn.right)}** instead of {at_most_percent(full.right)}. "
        f"**Not covered:** an attacker who knows that this {person} takes part, who drew the "
        "sample, or who holds the data. The ledger stays as it is."
    )


DECLARATION = (
    "I declare: they were drawn at random without replacement, nobody but me knows who, "
    "and all who were drawn take part"
)


def with_and_without(odds: Odds, person: str, unit: str = "curve") -> str:
    """Compare a guess with this person's record in the data and with another in its place."""
    best, accuracy = max(odds.prior, 1 - odds.prior), at_most_percent(odds.right_with_prior)
    records = unit if odds.group == 1 else f"{odds.group} {unit}s"
    return (
        f"An attacker who gives one of the two possibilities a prior probability of "
        f"{percent(odds.prior)} is right in **{accuracy}** of cases **with** this "
        f"{of(person)} {records} in the data, and in {percent(best)} **with another "
        f"{of(person)} in its place**."
    )


def odds_key(odds: Odds) -> str:
    """Write the key to a picture of a hundred guesses: right by chance or release, or wrong.

    The chance of a right guess is rounded up to whole guesses.
    """
    more = math.ceil(round(100 * odds.right, 6)) - 50
    gained = [f"■\u00a0at most {more} more"] if more > 0 else []
    return " · ".join(["●\u00a0right by guessing", *gained, "○\u00a0wrong"])


def odds_careful(odds: Odds) -> str:
    """State the power of a test at the level of 5 %, as a sentence."""
    return (
        f"At a 5 % false-positive rate the attack has **{at_most_percent(odds.power)} "
        "power**; without information it has 5 %."
    )


def odds_rare(odds: Odds) -> str:
    """State the power of a test at the level of 1 %, as a sentence."""
    return (
        f"At a 1 % false-positive rate it has {at_most_percent(odds.power_at_1_percent)} "
        "power; without information, 1 %."
    )


# What the chances are worked out from, by the kind of trade-off curve.
_COMPUTED_FROM = {
    "gaussian": "Computed from the noise that this method adds",
    "laplace": "Computed from the noise that this method adds, for the worst split of ε among its "
    "numbers",
    "counts": "Computed from the whole-number noise on two counts, all that one person moves",
    "losses": "Computed from the noise of all releases together, each in its worst case",
    "sites": "Computed from the noise at each site, and the largest of all sites",
    "zcdp": "Computed from the total ρ of all releases, for the worst mechanisms of that ρ",
    "subsampled": "Computed from the noise that this method adds and from the sampling",
}


def odds_why(odds: Odds) -> str:
    """Say whether the chances come from the noise that is really added or from ε alone.

    The odds' trade-off curve says which argument was used; without one, ε alone was. The Markdown
    includes what the worst method of the same ε would allow.
    """
    if not odds.from_noise or odds.curve is None:
        return (
            "Computed from ε alone, for the worst mechanism of this ε: nothing more is known "
            "of the noise."
        )
    return (
        f"{_COMPUTED_FROM[odds.curve.name]}. The worst mechanism with ε = "
        f"{digits_up(odds.budget.epsilon, 3):g} would allow an accuracy of "
        f"{at_most_percent(odds.right_cap)} and a power of "
        f"{at_most_percent(odds.power_cap)}."
    )


TRADE_OFF_KEY = (
    "Line: the most powerful attack on this noise. Dotted: on the worst mechanism "
    "with the same (ε, δ). Dashed: no information. ◆ False-positive rates of 1 % "
    "and 5 %."
)


def odds_flagged(odds: Odds, people: str) -> str:
    """Say how many of an attacker's accusations are right.

    `precision` of the odds is the chance that an accusation is right, given `prior` before it.
    """
    return (
        f"Such an attacker is right about **{at_most_percent(odds.precision)}** of the {people} "
        f"they accuse; without the release, {percent(odds.prior)}."
    )


def not_covered(facts: PublicFacts) -> str:
    """Say what differential privacy does not hide."""
    return (
        f"**Not covered:** how many {facts.people} are in the data, which file or public group "
        f"they are in, and anything that is true of {facts.people} in general. What each one’s "
        "data say, and who of two it is, is covered."
    )


def weak(odds: Odds, person: str) -> str:
    """Warn of a budget that protects little; ε is rounded up to three digits."""
    epsilon = f"{digits_up(odds.budget.epsilon, 3):g}"
    return (
        f"**ε = {epsilon} is weak protection for one {person}.** An attacker is right in "
        f"{at_most_percent(odds.right)} of cases with this method, and in "
        f"{at_most_percent(odds.right_cap)} with the worst mechanism of the same ε."
    )


def two_kinds(deltas: Mapping[str, float]) -> str:
    """Point out pure and approximate guarantees under one ε; empty if all are of one kind.

    `deltas` holds δ by the name of the method.
    """
    never = [name for name, delta in deltas.items() if delta == 0]
    may = {name: delta for name, delta in deltas.items() if delta > 0}
    if not never or not may:
        return ""
    first, delta = next(iter(may.items()))
    return (
        f"{escape(never[0])} has δ = 0, {escape(first)} has δ = {small(delta)}: compare the "
        "attacker’s accuracy, not ε."
    )


def delta_explained(delta: float) -> str:
    """Explain what δ allows.

    Examples
    --------
    >>> delta_explained(0.0)
    'With δ = 0 the bound given by ε never fails.'
    """
    if delta == 0:
        return "With δ = 0 the bound given by ε never fails."
    return (
        f"Probabilities may exceed the bound given by ε by at most δ = {small(delta)}, that is "
        f"{one_in(delta)}."
    )


def delta_stated(stated: Delta) -> str:
    """δ, where it is from, and what is to be said of its size."""
    if stated.value == 0:
        return delta_explained(0.0)
    whence = (
        "was chosen"
        if stated.is_chosen
        else f"is the default, {stated.rule} for n = {whole(stated.n_people)} people"
    )
    return " ".join(
        filter(
            None,
            (
                f"δ = {small(stated.value)} {whence}. {delta_explained(stated.value)}",
                delta_concern(stated),
            ),
        )
    )


def delta_concern(stated: Delta) -> str:
    """Why δ is marked: above a hundred-thousandth, or above a tenth of 1/n; else empty."""
    if stated.is_near_one_in_n:
        return (
            f"**δ is large:** above a tenth of 1/n = {small(1 / stated.n_people)}. A method "
            "that publishes one whole record with probability δn would still satisfy it."
        )
    if stated.is_above_common:
        return f"**δ is above {small(LARGEST_COMMON)},** the largest value in common practice."
    return ""


def delta_tag(stated: Delta) -> str:
    """Write the mark of δ for the strip; empty without one."""
    limit = "a tenth of 1/n" if stated.is_near_one_in_n else small(LARGEST_COMMON)
    return f"δ above {limit}" if stated.is_large else ""
