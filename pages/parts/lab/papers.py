"""Lab, *Papers*: do the published results replicate?"""

from __future__ import annotations

import streamlit as st

from engine.papers import words
from pages.parts import reproduce as cards
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import page
from pages.shared.frame.drawer import Detail


def draw(estimand: Estimand) -> list[Detail]:
    """One figure or table of a paper, made again."""
    st.header(words.TITLE, anchor=False)
    cards.strip()
    cards.overview()
    view = cards.choices()
    page.cards(view, cards.heading, cards.again, cards.drawings, cards.claims, cards.take_away)
    printed = [Detail("published", "As printed", lambda: cards.published(view))
               ] if view.exhibit.published else []
    return [*printed, *view.details()]
