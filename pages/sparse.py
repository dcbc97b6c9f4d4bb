"""Sparse regression: which few of many features matter, from rows on several machines."""

import streamlit as st

from engine.topics.sparse import words as sparse_words
from pages.parts import sparse as cards
from pages.shared.frame import controls, layout

st.title(sparse_words.TITLE, anchor=False)
layout.link_problems()
with layout.loading():
    view = cards.look()
if view is not None:
    cards.strip(view)
layout.prose(sparse_words.LEAD)
cards.choices()
cards.budget()
cards.own()
if view is not None:
    cards.promise(view)
    left, right = st.columns([7, 3], gap="medium")
    with left, layout.user_errors():
        cards.coefficients(view)
    with right, layout.user_errors():
        cards.odds(view)
    with layout.user_errors():
        cards.calculator(view)
    with layout.user_errors():
        cards.over_budgets(view)
    with layout.user_errors():
        cards.intervals(view)
with layout.user_errors():
    cards.machines(view)
if view is not None:
    with layout.user_errors():
        cards.trust(view)
    with layout.fold("What the paper reports beside its noise", "sparse_paper") as is_open:
        if is_open:
            cards.paper(view)
layout.chips(controls.all_changed(cards.TASK), layout.reset)
with layout.fold("More options: rows, method, δ, seed", "sparse_more") as is_open:
    if is_open:
        controls.more_options(cards.TASK)
if view is not None:
    layout.numbers(view.charts, view.own)
    cards.consequences(view)
    with layout.fold("What was spent: the ledger", "sparse_ledger") as is_open:
        if is_open:
            cards.ledger(view)
    with layout.fold("Formula and source", "sparse_formula") as is_open:
        if is_open:
            cards.formula(view)
    cards.code(view)
