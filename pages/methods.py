"""Method notes: what each promises, why its noise is enough, and what papers misprint."""

import streamlit as st

from pages.parts import guide as cards
from pages.shared.frame import layout

st.title("How does each method protect?", anchor=False)
layout.link_problems()
chosen = cards.method_choice()
with layout.user_errors():
    cards.method(chosen)
with layout.fold("All methods", "all_methods") as is_open:
    if is_open:
        cards.all_methods()
