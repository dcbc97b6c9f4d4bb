"""Guide: what the pages show and mean, and the words of the field."""

import streamlit as st

from pages.shared import guide_cards as cards
from pages.shared import layout

st.title("How does all this work?", anchor=False)
layout.link_problems()
chosen = cards.contents()
with layout.user_errors():
    cards.chapter(chosen)
