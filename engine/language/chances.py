"""Sentences on what an attacker can gain: true at every budget, Markdown, numbers in bold.

A chance of an attacker is an upper bound and is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from engine.language.grammar import a, capital, escape, of
from engine.language.numbers import digits_up, in_hundred, one_in, percent_of, small, whole
from engine.language.tags import proved_chip
from engine.privacy.failure import LARGEST_COMMON, Delta
from engine.privacy.risk import Odds
from engine.types import PublicFacts


def odds_short(odds: Odds) -> str:
    """For the strip: "at most 56 in 100", and for how many records if for several."""
    return _bare(odds.right) + (f" ({odds.group} together)" if odds.group > 1 else "")


def odds_main(odds: Odds, person: str, held: str = "curve") -> str:
    if odds.right <= 0.5:
        return ("Nothing would be published, so an attacker learns nothing: **50 right guesses in "
                "100**, as with a coin toss.")
    almost = ", almost a coin toss." if odds.right <= 0.51 else ". A coin toss gets 50."
    if odds.group > 1:
        return (f"An attacker who knows every other {of(person)} {held}s, and has narrowed all "
                f"{odds.group} of this {person} down to two possibilities, picks the right one "
                f"**{in_hundred(odds.right)}**{almost}")
    return (f"An attacker who knows every other {of(person)} {held}, and has narrowed this "
            f"{of(person)} down to two, picks the right one **{in_hundred(odds.right)}**{almost}")


def group(one: Odds, several: Odds, person: str, held: str = "curve") -> str:
    """What several protected units of one person cost together, beside one of them."""
    return (f"Protected is **one {held}**, with {proved_chip(one.budget)}. {capital(a(person))} "
            f"with **{several.group} {held}s** has **{proved_chip(several.budget)}**: where a "
            f"guess about one {held} is right {_bare(one.right)}, one about all of them together "
            f"is right {_bare(several.right)}.")


def sampled(full: Odds, drawn: Odds, share: float, person: str) -> str:
    """What a secret sample is worth, and against whom."""
    return (f"Drawn were {percent_of(share)} of the larger group. About {a(person)} of that group, "
            "an attacker who does not know who was drawn guesses right "
            f"**{in_hundred(drawn.right)}** instead of {_bare(full.right)}: against them "
            f"{proved_chip(full.budget)} counts as **{proved_chip(drawn.budget)}**. "
            f"**Not covered:** an attacker who knows that this {person} takes part, who drew the "
            "sample, or who holds the data: for them nothing changes. The ledger stays as it is.")


DECLARATION = ("I declare: they were drawn at random without replacement, nobody but me knows who, "
               "and all who were drawn take part")


def with_and_without(odds: Odds, person: str, held: str = "curve") -> str:
    """A guess with this person's record in the data and with another in its place."""
    best = max(odds.first_guess, 1 - odds.first_guess)
    what = held if odds.group == 1 else f"{odds.group} {held}s"
    return (f"**With** this {of(person)} {what} in the data, an attacker’s best guess which of the "
            f"two it is, starting from {100 * odds.first_guess:.0f} in 100, is right "
            f"**{_bare(odds.guessed)}**. **With another {of(person)} in its place** it is right "
            f"{100 * best:.0f} in 100.")


def odds_key(odds: Odds) -> str:
    more = math.ceil(round(100 * odds.right, 6)) - 50
    gained = [f"■ at most {more} more"] if more > 0 else []
    return " · ".join(["● right by chance", *gained, "○ wrong"])


def odds_careful(odds: Odds) -> str:
    return (f"If they accept 5 false alarms in 100, they catch the right curve "
            f"**{in_hundred(odds.detected)}** (5 = no information).")


def odds_rare(odds: Odds) -> str:
    return (f"With 1 false alarm in 100 they catch it {in_hundred(odds.rarely)} (1 = no "
            "information).")


# What the chances are worked out from, by the kind of trade-off curve.
_FOUND = {"gaussian": "This is worked out from the noise this method really adds",
          "laplace": "This is worked out from the noise this method really adds, for the worst way "
                     "of sharing ε out among its numbers",
          "losses": "This is worked out from the noise of all releases together, each at its worst",
          "zcdp": "This is what the ρ of all releases together allows, whatever their noise",
          "subsampled": "This is worked out from the noise this method really adds, and the draw"}


def odds_why(odds: Odds) -> str:
    if not odds.from_noise or odds.curve is None:
        return ("This is what ε alone allows, whatever the noise: the worst method of this ε. No "
                "more is known of this noise.")
    return (f"{_FOUND[odds.curve.name]}. ε = "
            f"{digits_up(odds.budget.epsilon, 3):g} by itself would allow "
            f"{_bare(odds.right_cap)} and, for the careful attacker, {_bare(odds.detected_cap)}: "
            "use those to compare different methods.")


TRADE_OFF_KEY = ("Line: at most what this noise allows. Dotted: what (ε, δ) alone would allow. "
                 "Dashed: no information. ◆ 1 and 5 false alarms in 100.")


def odds_flagged(odds: Odds, people: str) -> str:
    return (f"Of the {people} such an attacker flags, **{_bare(odds.flagged_right)}** are right; "
            f"without the release, {100 * odds.first_guess:.0f} in 100.")


def not_covered(facts: PublicFacts) -> str:
    return (f"**Not covered:** that {a(facts.person)} is in the data, how many there are, and "
            f"anything that is true of {facts.people} in general.")


def weak(odds: Odds, person: str) -> str:
    epsilon = f"{digits_up(odds.budget.epsilon, 3):g}"
    return (f"**ε = {epsilon} is weak protection for one {person}.** An attacker is "
            f"right {in_hundred(odds.right)} with this method, and {in_hundred(odds.right_cap)} "
            "with the worst method of the same ε.")


def two_kinds(deltas: Mapping[str, float]) -> str:
    """Where promises with δ = 0 and with a δ stand side by side under the same ε; else empty."""
    never = [name for name, delta in deltas.items() if delta == 0]
    may = {name: delta for name, delta in deltas.items() if delta > 0}
    if not never or not may:
        return ""
    first, delta = next(iter(may.items()))
    return (f"**Two kinds of promise.** {escape(first)} has δ = {small(delta)}, {escape(never[0])} "
            "has δ = 0. Equal ε is **not** equal protection: compare *Right guess*.")


def _bare(chance: float) -> str:
    return in_hundred(chance).replace(" times in", " in")


def delta_explained(delta: float) -> str:
    if delta == 0:
        return "With δ = 0 the limit set by ε never fails."
    return (f"With a chance of at most δ the limit set by ε may fail. δ = {small(delta)} is "
            f"{one_in(delta)}.")


def delta_stated(stated: Delta) -> str:
    """δ, where it is from, and what is to be said of its size."""
    if stated.value == 0:
        return delta_explained(0.0)
    whence = ("was chosen" if stated.is_chosen else
              f"is the default, 1/n² for n = {whole(stated.n_people)} in all")
    return " ".join(filter(None, (
        f"δ = {small(stated.value)} {whence}. {delta_explained(stated.value)}",
        delta_concern(stated))))


def delta_concern(stated: Delta) -> str:
    """Why δ is marked: above a hundred-thousandth, or above a tenth of 1/n; else empty."""
    if stated.is_near_one_in_n:
        return (f"**δ is large:** above a tenth of 1/n = {small(1 / stated.n_people)}. A method "
                "that publishes one whole record with chance δ n would still pass.")
    if stated.is_above_common:
        return f"**δ is above {small(LARGEST_COMMON)},** the most that is common practice."
    return ""


def delta_tag(stated: Delta) -> str:
    """For the strip, where δ is marked."""
    limit = ("a tenth of 1/n" if stated.is_near_one_in_n else small(LARGEST_COMMON))
    return f"δ above {limit}" if stated.is_large else ""
