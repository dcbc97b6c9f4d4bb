"""Lab: everything about one estimand, in five tabs, under what the open one finds."""

import streamlit as st

from pages.parts.lab import estimands, tabs
from pages.shared.frame import drawer, page
from pages.shared.state import session

heading = st.container(horizontal=True, vertical_alignment="center", key="lab_heading")
page.begin("")
estimand = estimands.chosen()
with heading:
    title = st.container(width="content")
    if session.is_first_drawn("lab_heading"):  # until it is known what the page finds
        title = title.empty()
        title.title(estimand.title, anchor=False, width="content")
foot = estimands.line(estimand)
shown = tabs.show(estimand)
title.title(shown.finding, anchor=False, width="content")
with heading:
    if estimand.has_budget:
        estimands.brought()
with foot:
    drawer.button(shown.details, "All settings", "details", ":material/tune:")
drawer.show(shown.details)
