"""Lab, *Theory*: rates with their regimes, theory over practice, and notes on each method."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts.lab import method_notes as notes
from pages.parts.lab.estimands import Estimand
from pages.parts.rates import cards
from pages.parts.rates import practice as practice_cards
from pages.shared.frame import controls, page
from pages.shared.frame.drawer import Detail
from pages.shared.state import session

_PARTS = {"rates": "Rates", "notes": "Method notes"}


def draw(estimand: Estimand) -> list[Detail]:
    """One of both parts."""
    part = session.current().theory
    controls.bound(st.segmented_control, "Part", part,
                   lambda key: session.change(theory=key or part), "theory",
                   options=list(_PARTS), format_func=_PARTS.__getitem__,
                   label_visibility="collapsed")
    return (_rates if part == "rates" else _notes)()


def _rates() -> list[Detail]:
    """What limits the error by theory, and whether simulations agree."""
    view = page.look(cards.RateAtPoint)
    page.cards(view, cards.choices, (cards.regimes, cards.answer), practice_cards.practice,
               cards.notions, cards.by_eye)
    if view is None:
        return []
    return [Detail("rate_options", "Trust and smoothness", partial(cards.options, view)),
            *view.details()]


def _notes() -> list[Detail]:
    """What each method guarantees, why its noise is enough, and what papers misprint."""
    key = notes.method_choice()
    page.cards(key, notes.method)
    return notes.details(key)
