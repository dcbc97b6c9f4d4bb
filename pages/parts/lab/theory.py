"""Lab, *Theory*: rates with their regimes, theory over practice, and notes on each method."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts.lab import method_notes as notes
from pages.parts.lab.estimands import Estimand
from pages.parts.rates import cards
from pages.parts.rates import practice as practice_cards
from pages.shared.frame import controls, layout, page
from pages.shared.state import session

_PARTS = {"rates": "Rates", "notes": "Method notes"}


def draw(estimand: Estimand) -> None:
    """One of both parts."""
    part = session.current().theory
    controls.bound(st.segmented_control, "Part", part,
                   lambda key: session.change(theory=key or part), "theory",
                   options=list(_PARTS), format_func=_PARTS.__getitem__,
                   label_visibility="collapsed")
    (_rates if part == "rates" else _notes)()


def _rates() -> None:
    """What limits the error by theory, and whether simulations agree."""
    view = page.look(cards.RateAtPoint)
    if view is not None:
        cards.choices(view)
        page.cards(view, (cards.regimes, cards.answer), practice_cards.practice, cards.notions)
        page.options(view.changed, "More options: problem, trust, smoothness", "rate_options",
                     partial(cards.options, view))
        page.end(view)


def _notes() -> None:
    """What each method guarantees, why its noise is enough, and what papers misprint."""
    page.cards(notes.method_choice(), notes.method)
    layout.folded("All methods", "all_methods", notes.all_methods)
