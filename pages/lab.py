"""Lab: everything about one estimand, in five tabs."""

import streamlit as st

from pages.parts.lab import estimands, scenario, tabs
from pages.shared.frame import page

page.begin("Lab")
estimand = estimands.chosen()
left, right = st.columns([3, 9], gap="medium")
with left:
    scenario.panel(estimand)
with right:
    tabs.show(estimand)
