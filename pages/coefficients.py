"""Varying coefficients: the effect of every covariate as a function, with protection."""

import streamlit as st

from engine.topics.coefficients import words as coefficient_words
from pages.parts import coefficients as cards
from pages.shared.frame import controls, layout
from pages.shared.uploads import panel

st.title(coefficient_words.TITLE, anchor=False)
layout.link_problems()
with layout.loading():
    view = cards.look()
if view is not None:
    cards.strip(view)
layout.prose(coefficient_words.LEAD)
cards.budget()
if view is not None:
    cards.promise(view)
    cards.functions(view)

with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.source_choice(cards.TASK)
    controls.mechanism_choice(cards.TASK)
    panel.button()
panel.draw("Show the protected effects", cards.TASK)
cards.own_curves()

if view is not None:
    left, right = st.columns([7, 3], gap="medium")
    with left, layout.user_errors():
        cards.errors(view)
    with right, layout.user_errors():
        cards.odds(view)
    with layout.user_errors():
        cards.over_budgets(view)
    with layout.user_errors():
        cards.cost(view)

layout.chips(controls.all_changed(cards.TASK), layout.reset)
with layout.fold("More options: curves, method, δ, seed", "coefficients_more") as is_open:
    if is_open:
        controls.more_options(cards.TASK)
if view is not None:
    layout.numbers(view.charts, view.own)
    cards.consequences(view)
    with layout.fold("What was spent: the ledger", "coefficients_ledger") as is_open:
        if is_open:
            cards.ledger(view)
    with layout.fold("Formula and source", "coefficients_formula") as is_open:
        if is_open:
            cards.formula(view)
    cards.code(view)
