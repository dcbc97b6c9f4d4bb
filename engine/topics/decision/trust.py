"""One study under each kind of trust: the budget that each of them needs for one accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.types import PublicFacts
from engine.language.odds_words import odds_short
from engine.topics.decision.answer import Profile, decision
from engine.topics.decision.words import site_noun

# From most trust to none, each with its short name.
KINDS = {
    NoisePlace.CENTRE: "CDP",
    NoisePlace.SUMS: "SUMS",
    NoisePlace.SITES: "FDP",
    NoisePlace.PERSON: "LDP",
}
HEADING = "Same accuracy, four kinds of trust"
COMING = "…"
NONE = "–"


@dataclass(frozen=True)
class TrustPrice:
    """The budget of one kind of trust: ε and the attacker's accuracy, or why there is none."""

    place: NoisePlace
    epsilon: str  # a number, `COMING` or `NONE`
    attacker: str  # "≤ 54 %"; empty without a budget
    reason: str = ""  # why there is no budget, in a few words


def gloss(place: NoisePlace, facts: PublicFacts) -> str:
    """Say who adds the noise: "each hospital adds noise"."""
    site, several = site_noun(facts)
    return {
        NoisePlace.CENTRE: "one centre holds all curves",
        NoisePlace.SUMS: f"{several} mask their sums",
        NoisePlace.SITES: f"each {site} adds noise",
        NoisePlace.PERSON: "each device adds noise",
    }[place]


def prices(
    found: Mapping[NoisePlace, Profile | InputError],
    target: float,
    confidence: str,
    records: int = 1,
) -> tuple[TrustPrice, ...]:
    """List the price of each kind of trust; those that are not found yet are coming."""

    def price(place: NoisePlace) -> TrustPrice:
        if place not in found:
            return TrustPrice(place, COMING, "")
        profile = found[place]
        if isinstance(profile, InputError):
            return TrustPrice(place, NONE, "", "not possible")
        answer = decision(profile, target, confidence, records)
        if answer.chosen is None:
            is_empty = answer.more_private is None
            return TrustPrice(place, NONE, "", "nothing released" if is_empty else "target missed")
        return TrustPrice(
            place, f"{answer.chosen.budget.epsilon:g}", odds_short(answer.chosen.odds)
        )

    return tuple(map(price, KINDS))
