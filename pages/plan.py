"""Plan: what do we need for the accuracy we want?"""

import streamlit as st

from pages.shared import controls, layout, plan_cards, rule_cards, split_cards

view = plan_cards.View()

st.title("What do we need for the accuracy we want?", anchor=False)
layout.link_problems()
above = st.empty()
with above:
    plan_cards.strip(view, None)
plan_cards.question(view)
plan_cards.twin(view)
found = plan_cards.solve(view)
if found is not None:
    with above:
        plan_cards.strip(view, found)
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
