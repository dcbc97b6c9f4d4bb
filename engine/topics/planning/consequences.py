"""Meaning of a promise for a person: what is protected, from whom, and what it rests on.

It follows from the ledger: what a neighbour is, how many sites there are, and whether δ is zero. No
numbers stand here; those are the odds.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.types import PublicFacts, Spend
from engine.language.grammar import a, escape, of


def way_of(spends: Sequence[Spend]) -> str:
    """Say who adds the noise by the senders: "sites", or "holder", perhaps a trusted centre."""
    return "sites" if len({spend.server for spend in spends}) > 1 else "holder"


def label(spends: Sequence[Spend], facts: PublicFacts, arrangement: str = "") -> dict[str, str]:
    """Write the five parts of the label by their headings, in Markdown; words of data are escaped.

    `arrangement` is "holder", "sites", "sums" or "centre"; if empty, it follows from the ledger.
    """
    arrangement, unit = arrangement or way_of(spends), spends[0].unit.noun
    person, people = escape(facts.person), escape(facts.people)
    where = "file" if arrangement == "holder" else "file, site"
    return {
        "Protected": f"One {unit} of {a(person)}, all of it at once: exchanging it for any other "
        f"changes what is published only a little.{_weaker(unit, person)}",
        "From whom": _from_whom(arrangement),
        "Not from whom": _not_from(arrangement, person, unit),
        "Not covered": f"How many {people} are in the data, which {where} or public group they "
        f"are in, and what is true of {people} in general, even if it says "
        f"something about {a(person)} who took no part. What each one’s data say, "
        "and who of two it is, is covered.",
        "Assumptions": _granted(spends, unit, person),
    }


def _weaker(unit: str, person: str) -> str:
    if unit == "curve":
        return ""
    return f" {a(person).capitalize()} with several {unit}s is protected less."


def _from_whom(arrangement: str) -> str:
    hidden_from = {
        "holder": "Everybody who sees what is published",
        "sites": "Everybody who sees what is published, **the other sites, and the centre**, which "
        "get noisy numbers only",
        "sums": "Everybody who sees what is published, the centre, and **any one of the other "
        "sites**",
        "centre": "Everybody who sees what is published, and the other sites",
    }[arrangement]
    return f"{hidden_from}; whatever else they know, now or later, and however much they compute."


def _not_from(arrangement: str, person: str, unit: str) -> str:
    if arrangement == "holder":
        return f"Whoever holds the {unit}s and runs this: they see them as they are."
    if arrangement == "sites":
        return f"The {of(person)} own site, which holds the {unit}s it was given."
    if arrangement == "sums":
        return (
            f"The {of(person)} own site, and **several other sites that work with the "
            "centre**: they know their shares of the noise."
        )
    return f"**The centre**, which sees every {unit} as it is, and the {of(person)} own site."


def _granted(spends: Sequence[Spend], unit: str, person: str) -> str:
    text = (
        f"Bounds, times and settings come from public facts; each {person} has one {unit} in "
        "the data; the noise is drawn as the ledger says; all other releases about the same "
        "people are charged, too; nobody watches how long the computation takes."
    )
    if any(spend.epsilon is None for spend in spends):  # those with one hold with δ = 0
        text += " Probabilities may exceed the limit set by ε by at most δ."
    return text
