"""Regression: one curve from single readings that are spread over sites."""

import streamlit as st

from engine.topics.regression import words as regression_words
from pages.parts.regression import cards
from pages.parts.regression import network as network_cards
from pages.shared.frame import controls, layout
from pages.shared.state import session
from pages.shared.uploads import panel

st.title(regression_words.TITLE, anchor=False)
layout.link_problems()
with layout.loading():
    view = cards.look()
if view is not None:
    cards.strip(view)
    cards.promise(view)
layout.prose(regression_words.LEAD)
network_cards.choices()
network_cards.rows()
panel.draw("Show the protected curve", cards.TASK, network_cards.start_own)
if view is not None:
    left, right = st.columns([7, 3], gap="medium")
    with left, layout.user_errors():
        cards.curve(view)
    with right, layout.user_errors():
        cards.accuracy(view)
    with layout.user_errors():
        cards.levels(view)
    with layout.user_errors():
        cards.point(view)
    with layout.user_errors():
        cards.cost(view)
    with layout.user_errors():
        cards.assumptions(view)
    with layout.fold("What each site sent", "regression_messages") as is_open:
        if is_open:
            cards.messages(view)
    with layout.fold("What one reading can change", "regression_worst") as is_open:
        if is_open:
            cards.worst(view)
with layout.fold("Slopes: theory and exact", "regression_slopes") as is_open:
    if is_open:
        cards.slopes()
layout.chips(controls.all_changed(cards.TASK), layout.reset)
with layout.fold("More options: readings, method, seed", "regression_more") as is_open:
    if is_open:
        controls.more_options(cards.TASK, epsilon=False, delta=session.uploaded(cards.TASK))
if view is not None:
    layout.numbers(view.charts, view.own)
    cards.consequences(view)
    with layout.fold("What was spent: the ledger", "regression_ledger") as is_open:
        if is_open:
            cards.ledger(view)
    with layout.fold("Formula and source", "regression_formula") as is_open:
        if is_open:
            cards.formula(view)
    cards.code(view)
