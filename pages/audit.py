"""Audit: does the noise do what it claims?"""

import streamlit as st

from engine.topics.audit import words as audit_words
from pages.parts import audit as audit_cards
from pages.shared.frame import layout

st.title(audit_words.TITLE, anchor=False)
layout.link_problems()
view = audit_cards.View()
audit_cards.strip(view)
audit_cards.parts(view)
with layout.user_errors():
    audit_cards.SECTIONS[view.now.part](view)
layout.chips(audit_cards.changed(view), layout.reset)
layout.numbers(view.charts)
with layout.fold("Formula and source", "audit_formula") as is_open:
    if is_open:
        audit_cards.formula(view)
audit_cards.code(view)
