"""Plan: what do we need for the accuracy we want?"""

import streamlit as st

from pages.shared import layout, plan_cards

st.title("What do we need for the accuracy we want?", anchor=False)
layout.link_problems()
view = plan_cards.View()
plan_cards.strip(view)
plan_cards.question(view)
with layout.user_errors():
    plan_cards.verdict(view)
left, right = st.columns([7, 3], gap="medium")
with right, layout.user_errors():
    plan_cards.answer(view)
with left, layout.user_errors():
    plan_cards.error_map(view)
with layout.fold("More options: curves, method, δ, seed", "plan_more") as is_open:
    if is_open:
        plan_cards.options(view)
