"""Decide: which privacy budget does a study need?"""

import streamlit as st

from pages.parts.decide import details, memo, options, sentence, table
from pages.parts.decide.view import Study
from pages.shared.frame import controls, drawer, layout, page

page.begin("Decide on a privacy budget")
sentence.examples()
view = Study()
sentence.show(view)
if view.now.folds:  # the drawer takes the room beside it
    left, right = st.container(), st.container()
else:
    left, right = st.columns([63, 37], gap="medium")
with left:
    cards_place, map_place = st.container(), st.container()
    with layout.user_errors():  # before the study is simulated, so that a paste is seen to arrive
        table.show(view)
with cards_place:
    with layout.user_errors():
        options.solve(view)
    options.cards(view)
with right, layout.user_errors():
    memo.show(view)
view.strip()
layout.chips(controls.all_changed(view.decided.key), layout.reset)
contents = details.of(view)
drawer.button(contents, "Details", "details", ":material/right_panel_open:")
with map_place, layout.user_errors():
    options.error_map(view)
drawer.show(contents)  # last: its numbers are those of all charts
