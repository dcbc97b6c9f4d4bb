"""Plan: what do we need for the accuracy we want?"""

import streamlit as st

from pages.parts.plan import cards as plan_cards
from pages.parts.plan import split as split_cards
from pages.shared.cards import rules as rule_cards
from pages.shared.frame import controls, layout

view = plan_cards.View()

st.title("What do we need for the accuracy we want?", anchor=False)
layout.link_problems()
above = st.empty()
with above:
    plan_cards.strip(view, None)
plan_cards.question(view)
plan_cards.twin(view)
bar, below = plan_cards.place(view)
found = plan_cards.solve(view, bar)
if found is None:
    below.empty()
else:
    with above:
        plan_cards.strip(view, found)
    with below.container():
        plan_cards.verdict(view, found)
        plan_cards.beyond_rule(found)
        left, right = st.columns([7, 3], gap="medium")
        with right, layout.user_errors():
            plan_cards.answer(view, found)
            plan_cards.risk(view)
        with left, layout.user_errors():
            plan_cards.error_map(view, found)
layout.chips(controls.all_changed(), layout.reset)
with layout.fold("More options: curves, method, δ, seed", "plan_more") as is_open:
    if is_open:
        plan_cards.options(view)
split_cards.fold(view)
rule_cards.rule_and_precedents()
layout.numbers(view.charts)
with layout.fold("Formula and source", "plan_formula") as is_open:
    if is_open:
        plan_cards.formula(view)
plan_cards.code(view)
