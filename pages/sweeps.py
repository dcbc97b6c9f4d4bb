"""Sweeps: how does the error move with what you change?"""

import streamlit as st

from pages.parts.sweeps import panel as sweep_panel
from pages.shared.frame import controls, layout
from pages.shared.state import session

st.title("How does the error move with what you change?", anchor=False)
layout.link_problems()
task = session.current().sweep.task
sweep_panel.strip(task)
layout.prose("Choose what to vary. Each value is simulated afresh, and its error drawn as a point.")
with st.container(horizontal=True):
    sweep_panel.problem()
    controls.source_choice(task)
    controls.mechanism_choice(task)
chosen = None
with layout.user_errors():
    chosen = sweep_panel.panel(task)
layout.chips(controls.all_changed(task), layout.reset)
with layout.fold("More options: curves, method, ε, δ, seed", "sweeps_more") as is_open:
    if is_open:
        controls.more_options(task)
with layout.fold("Formula and source", "sweeps_formula") as is_open:
    if is_open:
        sweep_panel.formula(task)
sweep_panel.code(task, chosen)
