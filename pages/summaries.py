"""Summaries: whole functions published in several ways, side by side."""

import streamlit as st

from engine.topics.summaries import words as summary_words
from pages.parts import summaries as cards
from pages.shared.frame import controls, layout

st.title(summary_words.TITLE, anchor=False)
layout.link_problems()
with layout.loading():
    view = cards.look()
if view is not None:
    cards.strip(view)
layout.prose(summary_words.LEAD)
cards.choices()
cards.own()
cards.budget()
cards.split()
if view is not None:
    cards.promises(view)
    with layout.user_errors():
        cards.ways(view)
    left, right = st.columns([7, 3], gap="medium")
    with left, layout.user_errors():
        cards.accuracy(view)
    with right, layout.user_errors():
        cards.odds(view)
    with layout.user_errors():
        cards.components(view)
    with layout.user_errors():
        cards.noise(view)
layout.chips(controls.all_changed(cards.task()), layout.reset)
with layout.fold("More options: records, method, δ, seed", "summaries_more") as is_open:
    if is_open:
        controls.more_options(cards.task())
if view is not None:
    layout.numbers(view.charts, view.own)
    cards.consequences(view)
    with layout.fold("What was spent: the ledger", "summaries_ledger") as is_open:
        if is_open:
            cards.ledger(view)
    with layout.fold("Formula and source", "summaries_formula") as is_open:
        if is_open:
            cards.formula(view)
    cards.code(view)
