"""Reproduce: do the figures and tables of the papers come out as they say?"""

import streamlit as st

from engine.papers import words as exhibit_words
from pages.parts import reproduce as cards
from pages.shared.frame import layout

st.title(exhibit_words.TITLE, anchor=False)
layout.link_problems()
cards.strip()
cards.overview()
view = cards.choices()
if view is not None:
    st.header(f"{view.exhibit.title}", anchor=False)
    st.markdown(view.exhibit.about)
    cards.again(view)
    with layout.user_errors():
        cards.drawings(view)
    with layout.user_errors():
        cards.claims(view)
    with layout.user_errors():
        cards.published(view)
    cards.take_away(view)
    layout.numbers(view.charts)
    with layout.fold("Formulas and source", "exhibit_formula") as is_open:
        if is_open:
            cards.formulas(view)
    cards.code(view)
