"""Guide: what the pages show and mean, and the words of the field."""

import streamlit as st

from pages.parts import guide as cards
from pages.shared.frame import layout

st.title("How does all this work?", anchor=False)
layout.link_problems()
chosen = cards.contents()
with layout.user_errors():
    cards.chapter(chosen)
