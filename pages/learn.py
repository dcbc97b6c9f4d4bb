"""Teach: eight lessons of five minutes, each with a guess before the answer."""

import streamlit as st

from pages.parts import lessons as cards
from pages.shared.frame import layout, page

page.begin(cards.title())
view = page.look(cards.LessonView)
if view is not None:
    cards.choose(view)
    left, right = st.columns([6, 4] if view.is_presented else [7, 3], gap="medium")
    with left, layout.user_errors():
        cards.predict(view)
    with right, layout.user_errors():
        cards.explain(view)
    page.cards(view, cards.ways)
    if not view.is_presented:  # no folds in front of a class
        layout.folded("More options: seed", "teach_more", cards.options)
        page.end(view)
