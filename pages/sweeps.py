"""Sweeps: how does the error move with what you change?"""

from functools import partial

import streamlit as st

from pages.parts.sweeps import panel as sweep_panel
from pages.shared.frame import controls, layout, page
from pages.shared.state import session

page.begin("How does the error move with what you change?")
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
page.options(controls.all_changed(task), "More options: curves, method, ε, δ, seed", "sweeps_more",
             partial(controls.more_options, task))
page.end(sweep_panel.Sweep(task, chosen))
