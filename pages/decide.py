"""Decide: which privacy budget does a study need?"""

import streamlit as st

from pages.parts.decide import details, memo, options, sentence
from pages.parts.decide.view import DecideView
from pages.shared.frame import controls, drawer, layout, page

page.begin("Decide on a privacy budget")
sentence.examples()
view = DecideView()
sentence.show(view)
if view.settings.open_folds:  # the drawer takes the room beside it
    left, right = st.container(), st.container()
else:
    left, right = st.columns([63, 37], gap="medium")
with left:
    cards_place = layout.pending(view.data, options.CARDS)
    map_place = layout.pending(view.data, options.MAP)
    with layout.user_errors():  # before the study is simulated, so that a paste is seen to arrive
        sentence.show_table(view)
    contributions_place = layout.pending(view.data)
with right:
    memo_place = layout.pending(view.data, memo.SHEET)
    better_place = layout.pending(view.data)
strip_place = layout.pending(view.data, layout.STRIP)
with layout.user_errors():
    options.solve(view)
with cards_place(), layout.user_errors():
    options.cards(view)
with contributions_place():
    sentence.contributions(view)
with memo_place(), layout.user_errors():
    memo.show(view)
with strip_place():
    view.strip()
layout.chips(controls.all_changed(view.decided.key))
contents = details.of(view)
drawer.button(contents, "Details", "details", ":material/right_panel_open:")
with better_place(), layout.user_errors():
    options.what_helps(view)
with map_place(), layout.user_errors():
    options.error_map(view)
drawer.show(contents)  # last: its numbers are those of all charts
