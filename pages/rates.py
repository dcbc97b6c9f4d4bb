"""Rates: what limits the error, people, readings or privacy?"""

import streamlit as st

from pages.parts.rates import cards as rate_cards
from pages.parts.rates import practice as practice_cards
from pages.shared.frame import layout

view = rate_cards.View()

st.title("What limits us: people, readings or privacy?", anchor=False)
layout.link_problems()
with layout.loading():
    rate_cards.measure(view)
rate_cards.strip(view)
layout.prose("What theory says limits the error at your sizes, and whether simulations agree.")
rate_cards.choices(view)
left, right = st.columns([7, 3], gap="medium")
with left, layout.user_errors():
    rate_cards.regimes(view)
with right, layout.user_errors():
    rate_cards.answer(view)
with layout.user_errors():
    practice_cards.practice(view)
with layout.user_errors():
    rate_cards.notions(view)
rate_cards.chips(view)
with layout.fold("More options: problem, trust, smoothness", "rate_options") as is_open:
    if is_open:
        rate_cards.options(view)
layout.numbers(view.charts)
with layout.fold("Formula and source", "rate_formula") as is_open:
    if is_open:
        rate_cards.formula(view)
rate_cards.code(view)
