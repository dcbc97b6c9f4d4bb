"""Lab: everything about one estimand, in five tabs."""

import streamlit as st

from pages.parts.lab import estimands, tabs
from pages.shared.frame import drawer, page

page.begin("Lab")
estimand = estimands.chosen()
left, right = st.columns([3, 9], gap="medium")
with left:
    foot = estimands.panel(estimand)
with right:
    details = tabs.show(estimand)
with foot:
    drawer.button(details, "All settings and details", "details", ":material/tune:")
drawer.show(details)
