"""Lab: everything about one estimand, in five tabs, under what the open one finds."""

import streamlit as st

from pages.parts.lab import estimands, tabs
from pages.shared.frame import drawer, page

heading = st.container()
page.begin("")
estimand = estimands.chosen()
foot = estimands.line(estimand)
shown = tabs.show(estimand)
heading.title(shown.finding, anchor=False)
with foot:
    drawer.button(shown.details, "All settings", "details", ":material/tune:")
drawer.show(shown.details)
