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
    progress_place = st.empty()
    cards_place = layout.pending(options.CARDS, view.is_known)
    map_place = layout.pending(options.MAP, view.is_known)
    with layout.user_errors():  # before the study is simulated, so that a paste is seen to arrive
        sentence.show_table(view)
    contributions_place = layout.pending(0, view.is_known)
with right:
    memo_place = layout.pending(memo.SHEET, view.is_known)
strip_place = layout.pending(layout.STRIP, view.is_known)
with progress_place, layout.user_errors():
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
with map_place(), layout.user_errors():
    options.error_map(view)
drawer.show(contents)  # last: its numbers are those of all charts
