"""What the drawer of Publish holds: ledger, attacker, cost, limits, formula and code."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine.release import sentences
from engine.release.certified import ReleaseCost
from pages.parts.release import cards, checking, several_sites
from pages.parts.release.cards import Choice
from pages.shared.cards import odds as odds_card
from pages.shared.frame.drawer import Detail


def of(choice: Choice, cost: ReleaseCost | None) -> list[Detail]:
    """All details that there are at a step.

    Parameters
    ----------
    choice : Choice
        What is to be published.
    cost : ReleaseCost or None
        What it would cost, once the data are there.
    """
    always = [Detail("release_ledger", "Ledger and total budget",
                     partial(cards.ledger_of_choice, choice, cost)),
              Detail("release_check", "Check published files", checking.show),
              Detail("real_sites", "Several sites, each with its own file",
                     partial(several_sites.show, choice)),
              Detail("release_limits", "What a release covers", _covered)]
    if cost is None:
        return always
    return [*always,
            Detail("release_attacker", "Attacker", partial(_attacker, choice, cost),
                   ("why", "trade_off", "several")),
            Detail("release_cost", "How the cost is worked out", partial(cards.accounting, cost)),
            Detail("release_formula", "Formula and source", choice.formula),
            Detail("release_code", "Code", choice.code, ("publish_code",), is_fold=True)]


def _covered() -> None:
    st.markdown(sentences.LIMITS)


def _attacker(choice: Choice, cost: ReleaseCost) -> None:
    if choice.source is not None:
        odds_card.card(choice.source.facts, cost.certified_spends, choice.source.sizes)
