"""Compare: which method wastes the least of the budget, and scenarios that were pinned."""

import streamlit as st

from engine.topics.compare import words as compare_words
from pages.parts.compare import cards
from pages.parts.compare import pins as pin_cards
from pages.shared.frame import controls, layout
from pages.shared.uploads import panel

st.title(compare_words.TITLE, anchor=False)
layout.link_problems()
with layout.loading(600):
    view = cards.View()
cards.strip(view)
with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.source_choice()
    panel.button()
panel.draw()
cards.choices(view)
with layout.user_errors():
    if view.known:
        cards.verdict(view)
    cards.promises(view)
    cards.pictures(view)
if view.known:
    with layout.user_errors():
        cards.table(view)
    with layout.user_errors():
        cards.equal_protection(view)
    with layout.user_errors():
        cards.shapes_kept(view)
with layout.user_errors():
    pin_cards.section()
layout.chips(controls.all_changed(), layout.reset)
with layout.fold("More options: curves, method, δ, seed", "compare_more") as is_open:
    if is_open:
        cards.options()
layout.numbers(view.charts, view.own)
with layout.fold("Formulas and sources", "compare_formula") as is_open:
    if is_open:
        cards.formulas(view)
with layout.user_errors():
    cards.code(view)
