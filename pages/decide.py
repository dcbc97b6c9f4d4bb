"""Plan: what do we need for the accuracy we want?"""

import streamlit as st

from pages.parts.plan import cards as plan_cards
from pages.parts.plan import split as split_cards
from pages.shared.cards import rules as rule_cards
from pages.shared.frame import controls, layout, page

page.begin("What do we need for the accuracy we want?")
view = plan_cards.Planned()
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
page.options(controls.all_changed(), "More options: curves, method, δ, seed", "plan_more",
             plan_cards.options)
page.cards(view, split_cards.fold)
rule_cards.rule_and_precedents()
page.end(view)
