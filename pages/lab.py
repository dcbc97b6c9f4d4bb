"""Lab: everything about one estimand, in five tabs, under what the open one finds."""

import streamlit as st

from pages.parts.lab import estimands, tabs
from pages.shared.frame import drawer, page

heading = st.container(horizontal=True, vertical_alignment="center", key="lab_heading")
page.begin("")
estimand = estimands.chosen()
foot = estimands.line(estimand)
shown = tabs.show(estimand)
with heading:
    st.title(shown.finding, anchor=False, width="content")
    if estimand.has_budget:
        estimands.brought()
with foot:
    drawer.button(shown.details, "All settings", "details", ":material/tune:")
drawer.show(shown.details)
