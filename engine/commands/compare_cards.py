"""`python -m engine compare-cards CARD CARD …`: do released groups differ, from their cards alone.

No data, no ledger and no charge: all is computed from what is published.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from engine.answers.card import read
from engine.answers.groups import GroupComparison
from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError

_LONGEST_NAME = 80


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "compare-cards", help="compare released groups of people, from their guarantee cards alone",
        description="Compares the released mean curves of groups of which nobody is in two: where "
        "they differ, by how much, and one test. Comparing costs no privacy: nothing is charged.")
    parser.add_argument("cards", nargs="+", metavar="CARD",
                        help="the files guarantee.json of two or more releases")
    parser.add_argument("--disjoint", action="store_true",
                        help="states that nobody is in two of the groups; cards of groups that "
                        "were published together state it themselves")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    """Print the comparison.

    Raises
    ------
    InputError
        If a card cannot be read, or the groups cannot be compared.
    """
    compared = comparison([json_of(text_of(path), "card") for path in options.cards],
                          options.disjoint)
    if not options.json:
        print("\n".join(compared.sentences()))
        return
    print(json.dumps({
        "p": compared.p, "p_anywhere": compared.p_anywhere, "p_broad": compared.p_broad,
        "pairs": [{"groups": [compared.names[first], compared.names[second]],
                   **asdict(compared.differences(first, second))}
                  for first, second in compared.pairs]}, ensure_ascii=False, allow_nan=False))


def comparison(cards: Sequence[Mapping[str, Any]], are_disjoint: bool) -> GroupComparison:
    """The groups of these cards, compared.

    Parameters
    ----------
    cards : sequence of mapping
        Guarantee cards.
    are_disjoint : bool
        Whether somebody states that nobody is in two of the groups. Cards of groups that were
        published together state it themselves.

    Raises
    ------
    InputError
        If a card cannot be read, or the groups cannot be compared.
    """
    curves = [read(card) for card in cards]
    _check_apart(cards)
    groups = [curve.facts.group for curve in curves]
    for one, other in combinations(groups, 2):
        if one is not None and other is not None and one.set == other.set and (
                one.name == other.name):
            raise InputError("Two cards are about the same group.", field="cards",
                             hint="Compare releases of groups of which nobody is in two.")
    state_it = all(one is not None and other is not None and one.is_apart_from(other)
                   for one, other in combinations(groups, 2))
    names = [_name(card) if group is None else group.name
             for card, group in zip(cards, groups, strict=True)]
    return GroupComparison(names, curves, are_disjoint or state_it)


def _name(card: Mapping[str, Any]) -> str:
    return str(_release(card).get("name", "A group"))[:_LONGEST_NAME]


def _release(card: Mapping[str, Any]) -> Mapping[str, Any]:
    entry = card.get("release")
    return entry if isinstance(entry, Mapping) else {}


def _check_apart(cards: Sequence[Mapping[str, Any]]) -> None:
    """Refuse two releases of one public data set, and one release given twice."""
    for key in ("id", "of"):
        values = [str(_release(card)[key]) for card in cards
                  if key in _release(card) and (key == "id" or "credit" in _release(card))]
        if len(set(values)) < len(values):
            raise InputError("Two cards are about the same people.", field="cards",
                             hint="Compare releases of groups of which nobody is in two.")
