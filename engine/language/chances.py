"""Sentences on what an attacker can gain: true at every budget, Markdown, numbers in bold.

A chance of an attacker is an upper bound and is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from engine.core.types import PublicFacts
from engine.language.grammar import a, capital, escape, of
from engine.language.numbers import digits_up, in_hundred, one_in, percent_of, small, whole
from engine.language.tags import proved_chip
from engine.privacy.failure import LARGEST_COMMON, Delta
from engine.privacy.risk import Odds


def odds_short(odds: Odds) -> str:
    """For the strip: "at most 56 in 100", and for how many records if for several.

    Parameters
    ----------
    odds : Odds
        From `engine.privacy.risk`; of one protected unit, or of several of one person.
    """
    return _bare(odds.right) + (f" ({odds.group} together)" if odds.group > 1 else "")


def odds_main(odds: Odds, person: str, unit: str = "curve") -> str:
    """What an attacker who knows all but one record gets right, in one sentence.

    Parameters
    ----------
    odds : Odds
        From `engine.privacy.risk`; of one protected unit, or of several of one person.
    person : str
        The noun for one person, such as "child".
    unit : str
        The noun for one protected unit, such as "curve" or "record".

    Returns
    -------
    str
        Markdown, with the chance rounded up and in bold.
    """
    if odds.right <= 0.5:
        return ("Nothing would be published, so an attacker learns nothing: **50 right guesses in "
                "100**, as with a coin toss.")
    almost = ", almost a coin toss." if odds.right <= 0.51 else ". A coin toss gets 50."
    if odds.group > 1:
        return (f"An attacker who knows every other {of(person)} {unit}s, and has narrowed all "
                f"{odds.group} of this {person} down to two possibilities, picks the right one "
                f"**{in_hundred(odds.right)}**{almost}")
    return (f"An attacker who knows every other {of(person)} {unit}, and has narrowed this "
            f"{of(person)} down to two, picks the right one **{in_hundred(odds.right)}**{almost}")


def group(single: Odds, several: Odds, person: str, unit: str = "curve") -> str:
    """What several protected units of one person cost together, beside one of them.

    Parameters
    ----------
    single, several : Odds
        Of one protected unit, and of `several.group` of them at the same noise.
    person, unit : str
        Nouns for one person and for one protected unit.
    """
    return (f"Protected is **one {unit}**, with {proved_chip(single.budget)}. {capital(a(person))} "
            f"with **{several.group} {unit}s** has **{proved_chip(several.budget)}**: where a "
            f"guess about one {unit} is right {_bare(single.right)}, one about all of them "
            f"together is right {_bare(several.right)}.")


def sampled(full: Odds, drawn: Odds, share: float, person: str) -> str:
    """What a secret sample is worth, and against whom.

    Parameters
    ----------
    full, drawn : Odds
        Of an attacker who knows who was drawn, and of one who does not.
    share : float
        Sampling fraction in (0, 1], rounded up to a tenth of a percent.
    person : str
        The noun for one person.
    """
    return (f"Drawn were {percent_of(share)} of the larger group. About {a(person)} of that group, "
            "an attacker who does not know who was drawn guesses right "
            f"**{in_hundred(drawn.right)}** instead of {_bare(full.right)}: against them "
            f"{proved_chip(full.budget)} counts as **{proved_chip(drawn.budget)}**. "
            f"**Not covered:** an attacker who knows that this {person} takes part, who drew the "
            "sample, or who holds the data: for them nothing changes. The ledger stays as it is.")


DECLARATION = ("I declare: they were drawn at random without replacement, nobody but me knows who, "
               "and all who were drawn take part")


def with_and_without(odds: Odds, person: str, unit: str = "curve") -> str:
    """A guess with this person's record in the data and with another in its place.

    Parameters
    ----------
    odds : Odds
        `first_guess` is the attacker's belief in one of the two possibilities before the release.
    person, unit : str
        Nouns for one person and for one protected unit.
    """
    best = max(odds.first_guess, 1 - odds.first_guess)
    records = unit if odds.group == 1 else f"{odds.group} {unit}s"
    return (f"**With** this {of(person)} {records} in the data, an attacker’s best guess which of "
            f"the two it is, starting from {100 * odds.first_guess:.0f} in 100, is right "
            f"**{_bare(odds.guessed)}**. **With another {of(person)} in its place** it is right "
            f"{100 * best:.0f} in 100.")


def odds_key(odds: Odds) -> str:
    """The key to a picture of a hundred guesses: right by chance, right by the release, wrong.

    Parameters
    ----------
    odds : Odds
        Of the pictured release; its chance of a right guess is rounded up to whole guesses.
    """
    more = math.ceil(round(100 * odds.right, 6)) - 50
    gained = [f"■ at most {more} more"] if more > 0 else []
    return " · ".join(["● right by chance", *gained, "○ wrong"])


def odds_careful(odds: Odds) -> str:
    """The power of a test at the level of 5 %, as a sentence.

    Parameters
    ----------
    odds : Odds
        `detected` is the chance to catch the right curve at 5 false alarms in 100.
    """
    return (f"If they accept 5 false alarms in 100, they catch the right curve "
            f"**{in_hundred(odds.detected)}** (5 = no information).")


def odds_rare(odds: Odds) -> str:
    """The power of a test at the level of 1 %, as a sentence.

    Parameters
    ----------
    odds : Odds
        `rarely` is the chance to catch the right curve at 1 false alarm in 100.
    """
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
    """Whether the chances come from the noise that is really added or from ε alone.

    Parameters
    ----------
    odds : Odds
        Its trade-off curve says which argument was used; without one, ε alone was.

    Returns
    -------
    str
        Markdown, with what the worst method of the same ε would allow.
    """
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
    """How many of those whom an attacker accuses were rightly accused.

    Parameters
    ----------
    odds : Odds
        `flagged_right` is the chance that an accusation is right, given `first_guess` before it.
    people : str
        The noun for several persons.
    """
    return (f"Of the {people} such an attacker flags, **{_bare(odds.flagged_right)}** are right; "
            f"without the release, {100 * odds.first_guess:.0f} in 100.")


def not_covered(facts: PublicFacts) -> str:
    """What differential privacy does not hide.

    Parameters
    ----------
    facts : PublicFacts
        Of the data: the nouns for one person and for several.
    """
    return (f"**Not covered:** that {a(facts.person)} is in the data, how many there are, and "
            f"anything that is true of {facts.people} in general.")


def weak(odds: Odds, person: str) -> str:
    """A warning beside a budget that protects little.

    Parameters
    ----------
    odds : Odds
        Of the release; ε is rounded up to three digits.
    person : str
        The noun for one person.
    """
    epsilon = f"{digits_up(odds.budget.epsilon, 3):g}"
    return (f"**ε = {epsilon} is weak protection for one {person}.** An attacker is "
            f"right {in_hundred(odds.right)} with this method, and {in_hundred(odds.right_cap)} "
            "with the worst method of the same ε.")


def two_kinds(deltas: Mapping[str, float]) -> str:
    """Where promises with δ = 0 and with a δ stand side by side under the same ε; else empty.

    Parameters
    ----------
    deltas : mapping of str to float
        δ by the name of the method.

    Returns
    -------
    str
        Markdown, or empty where all promises are of one kind.
    """
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
    """What δ allows.

    Parameters
    ----------
    delta : float
        In [0, 1).

    Examples
    --------
    >>> delta_explained(0.0)
    'With δ = 0 the limit set by ε never fails.'
    """
    if delta == 0:
        return "With δ = 0 the limit set by ε never fails."
    return (f"With a chance of at most δ the limit set by ε may fail. δ = {small(delta)} is "
            f"{one_in(delta)}.")


def delta_stated(stated: Delta) -> str:
    """δ, where it is from, and what is to be said of its size.

    Parameters
    ----------
    stated : Delta
        From `engine.privacy.failure`: δ, the number of people, and whether somebody chose it.
    """
    if stated.value == 0:
        return delta_explained(0.0)
    whence = ("was chosen" if stated.is_chosen else
              f"is the default, 1/n² for n = {whole(stated.n_people)} in all")
    return " ".join(filter(None, (
        f"δ = {small(stated.value)} {whence}. {delta_explained(stated.value)}",
        delta_concern(stated))))


def delta_concern(stated: Delta) -> str:
    """Why δ is marked: above a hundred-thousandth, or above a tenth of 1/n; else empty.

    Parameters
    ----------
    stated : Delta
        From `engine.privacy.failure`.
    """
    if stated.is_near_one_in_n:
        return (f"**δ is large:** above a tenth of 1/n = {small(1 / stated.n_people)}. A method "
                "that publishes one whole record with chance δ n would still pass.")
    if stated.is_above_common:
        return f"**δ is above {small(LARGEST_COMMON)},** the most that is common practice."
    return ""


def delta_tag(stated: Delta) -> str:
    """For the strip, where δ is marked; else empty.

    Parameters
    ----------
    stated : Delta
        From `engine.privacy.failure`.
    """
    limit = ("a tenth of 1/n" if stated.is_near_one_in_n else small(LARGEST_COMMON))
    return f"δ above {limit}" if stated.is_large else ""
