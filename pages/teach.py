"""Teach: eight lessons of five minutes, each with a guess before the answer."""

import streamlit as st

from pages.parts import lessons as lesson_cards
from pages.shared.frame import layout

st.title(lesson_cards.title(), anchor=False)
layout.link_problems()
view = lesson_cards.View()
lesson_cards.strip(view)
lesson_cards.choose(view)
left, right = st.columns([6, 4] if view.is_presented else [7, 3], gap="medium")
with left, layout.user_errors():
    lesson_cards.predict(view)
with right, layout.user_errors():
    lesson_cards.explain(view)
with layout.user_errors():
    lesson_cards.ways(view)
lesson_cards.folds(view)
