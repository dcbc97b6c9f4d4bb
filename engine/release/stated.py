"""The published part of the facts stated about the data: for machines and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.types import Data, PublicFacts, Sizes
from engine.language.grammar import capital
from engine.uploads import stated as words
from engine.uploads.design import StatedDesign


def card_entries(data: Data) -> dict[str, Any]:
    """Entries of the guarantee card: public sizes, stated facts of curves, and who is trusted.

    All are stated or public. How many observations there are stands in it only where that is
    public, as for data that are published already.
    """
    facts = data.facts
    group = (
        {}
        if facts.group is None
        else {
            "group": {
                "of": facts.group.set,
                "name": facts.group.name,
                "others": list(facts.group.others),
            }
        }
    )
    stated = (
        {
            **group,
            "stated": {"design": StatedDesign.of(facts).to_plain(), "symmetric": facts.symmetric},
        }
        if data.has_design
        else {}
    )
    return {
        "public": data.public_sizes(),
        "trust": words.trust(data.sizes, data.unit),
        **data.counted(),
        **stated,
    }


def report_rows(facts: PublicFacts, card: Mapping[str, Any]) -> dict[str, str]:
    """Rows of the report, from the entries of the card."""
    rows = {"Trusted": card["trust"]}
    if "stated" in card:
        observed = (words.design(facts), words.observations(facts))
        rows["Observation times"] = "; ".join(filter(None, observed))
        rows["People"] = words.spread(facts)
        if facts.group is not None:
            rows["Group"] = words.group(facts.group)
    return {name: capital(text) for name, text in rows.items()}


def lines_before(facts: PublicFacts, sizes: Sizes, is_curves: bool) -> list[str]:
    """Write the facts that the command line prints before a release of curves or of records."""
    if not is_curves:
        return [f"{capital(words.trust(sizes, 'record'))}."]
    stated = "; ".join(
        filter(
            None,
            (
                words.design(facts),
                words.observations(facts),
                f"people {words.spread(facts)}",
                words.group(facts.group) if facts.group else "",
            ),
        )
    )
    return [f"{capital(words.trust(sizes))}.", f"Stated: {stated}."]
