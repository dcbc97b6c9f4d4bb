"""Lab, *Papers*: do the published results replicate?"""

from __future__ import annotations

import streamlit as st

from engine.papers import words
from pages.parts import reproduce
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import page
from pages.shared.frame.drawer import Detail


def draw(estimand: Estimand) -> list[Detail]:
    """One figure or table of a paper, made again."""
    st.header(words.TITLE, anchor=False)
    reproduce.strip()
    reproduce.overview()
    view = reproduce.choices()
    page.cards(view, reproduce.heading, reproduce.again, reproduce.drawings, reproduce.claims,
               reproduce.take_away)
    printed = [Detail("published", "As printed", lambda: reproduce.published(view))
               ] if view.exhibit.published else []
    return [*printed, *view.details()]
