"""Released groups of people, compared by their guarantee cards: no data, no ledger, no charge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from engine.answers.card import read
from engine.answers.groups import GroupComparison
from engine.core.errors import InputError

_LONGEST_NAME = 80


def comparison(cards: Sequence[Mapping[str, Any]], are_disjoint: bool = False
               ) -> GroupComparison:
    """The groups of these cards, compared.

    Parameters
    ----------
    cards : sequence of mapping
        Guarantee cards.
    are_disjoint : bool
        Whether somebody states that nobody is in two of the groups. Cards of groups that were
        published together state it themselves.

    Returns
    -------
    GroupComparison

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
    names = [group.name if group else str(_release(card).get("name", "A group"))[:_LONGEST_NAME]
             for card, group in zip(cards, groups, strict=True)]
    return GroupComparison(names, curves, are_disjoint or state_it)


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
