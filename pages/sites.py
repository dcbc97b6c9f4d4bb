"""Sites: what does each site cost and add?"""

import streamlit as st

from engine.topics.sites import words as site_words
from pages.parts.sites import cards as site_cards
from pages.shared.frame import controls, layout

view = site_cards.View()

st.title(site_words.title(), anchor=False)
layout.link_problems()
with layout.loading(220):
    site_cards.solve(view)
site_cards.strip(view)
layout.prose(site_words.LEAD)
site_cards.choices(view)
site_cards.table(view)
if view.found is not None:
    site_cards.answer(view)
    site_cards.warnings(view)
    with layout.user_errors():
        site_cards.pictures(view)
    left, right = st.columns([7, 3], gap="medium")
    with left, layout.user_errors():
        site_cards.shares(view)
    with right, layout.user_errors():
        site_cards.trust(view)
    with layout.user_errors():
        site_cards.guarantees(view)
    site_cards.published_study(view)
    site_cards.consequences(view)
    with layout.fold("If a site leaves, or tightens", "what_if") as is_open:
        if is_open:
            site_cards.what_if(view)
    with layout.fold("What the centre saw", "transcript") as is_open:
        if is_open:
            site_cards.transcript(view)
layout.chips(controls.all_changed(), layout.reset)
with layout.fold("More options: curves, method, seed", "sites_more") as is_open:
    if is_open:
        site_cards.options(view)
if view.found is not None:
    with layout.fold("Numbers behind these pictures", "numbers") as is_open:
        if is_open:
            site_cards.numbers(view)
    with layout.fold("Formula and source", "formula") as is_open:
        if is_open:
            site_cards.formula(view)
    site_cards.code(view)
