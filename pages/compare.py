"""Compare: which method wastes the least of the budget, and scenarios that were pinned."""

import streamlit as st

from engine.topics.compare import words
from pages.parts.compare import cards
from pages.parts.compare import pins as pin_cards
from pages.shared.frame import controls, layout, page
from pages.shared.uploads import panel

page.begin(words.TITLE)
view = page.look(cards.SideBySide, height=600)
with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.source_choice()
    panel.button()
panel.draw()
page.cards(view, cards.choices, cards.pictures)
if view is not None and view.known:
    page.cards(view, cards.table, cards.equal_protection, cards.shapes_kept)
with layout.user_errors():
    pin_cards.section()
page.options(controls.all_changed(), "More options: curves, method, δ, seed", "compare_more",
             cards.options)
page.end(view)
