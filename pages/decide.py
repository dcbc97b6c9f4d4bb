"""Decide: which privacy budget does a study need?"""

import streamlit as st

from engine.topics.decision import words
from pages.parts.decide import details, memo, options, sentence, trust
from pages.parts.decide.view import DecideView
from pages.shared.frame import drawer, layout, page, parameters

heading = st.container()
page.begin("")
sentence.examples()
view = DecideView()
sentence.show(view)
if {*view.settings.open_folds} - {options.MAP, sentence.TABLE}:  # the drawer takes the room
    left, right = st.container(), st.container()
else:
    left, right = st.columns([63, 37], gap="medium")
with left:
    trust_place = layout.pending(view.data, trust.STRIP)
    cards_place = layout.pending(view.data, options.CARDS)
    better_place = layout.pending(view.data)
    contributions_place = layout.pending(view.data)
    map_place = layout.pending(view.data)
    with layout.user_errors():  # before the study is simulated, so that a paste is seen to arrive
        sentence.show_table(view)
with right:
    memo_place = layout.pending(view.data, memo.SHEET)
strip_place = layout.pending(view.data, layout.STRIP)
with layout.user_errors():
    options.solve(view)
heading.title(words.heading(view.answer), anchor=False)
with trust_place(), layout.user_errors():
    trust.strip(view)
with cards_place(), layout.user_errors():
    options.cards(view)
with contributions_place():
    sentence.contributions(view)
with memo_place(), layout.user_errors():
    memo.show(view)
with strip_place():
    view.strip()
layout.chips(parameters.all_changed(view.decided.key))
contents = details.of(view)
drawer.button(contents, "Details", "details", ":material/right_panel_open:")
with map_place(), layout.user_errors():
    options.error_map(view)
with better_place(), layout.user_errors():
    options.what_helps(view)
drawer.show(contents)  # last: its numbers are those of all charts
