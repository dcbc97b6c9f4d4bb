"""Lab, *Compare*: methods side by side, or the error along what is varied; and pinned scenarios."""

from __future__ import annotations

import streamlit as st

from engine.core.tasks import MEAN_FUNCTION
from pages.parts.compare import cards, pins
from pages.parts.lab.estimands import Estimand
from pages.parts.sweeps import panel as sweep_panel
from pages.shared.frame import controls, layout, page
from pages.shared.frame.drawer import Detail
from pages.shared.frame.page import View
from pages.shared.state import session

_PARTS = {"methods": "Methods side by side", "sweep": "Error along one setting"}


def draw(estimand: Estimand) -> list[Detail]:
    """One of both comparisons, and below it what was pinned."""
    has_methods = estimand.task == MEAN_FUNCTION.key
    part = session.current().comparison if has_methods else "sweep"
    if has_methods:
        controls.bound(st.segmented_control, "Comparison", part,
                       lambda key: session.change(comparison=key or part), "comparison",
                       options=list(_PARTS), format_func=_PARTS.__getitem__,
                       label_visibility="collapsed")
    view = (_methods if part == "methods" else _sweep)(estimand)
    with layout.user_errors():
        pins.section()
    return page.details(view)


def _methods(estimand: Estimand) -> View | None:
    """Every method at every budget."""
    estimand.own_data()
    view = page.look(cards.SideBySide, height=600)
    page.cards(view, cards.choices, cards.sizes, cards.pictures)
    if view is not None and view.known:
        page.cards(view, cards.table, cards.equal_protection, cards.shapes_kept)
    return view


def _sweep(estimand: Estimand) -> View:
    """The error for each value of what is varied, simulated afresh."""
    task, chosen = estimand.task, None
    sweep_panel.strip(task)
    layout.prose("Choose what to vary. Each value is simulated afresh, and its error drawn as a "
                 "point.")
    with layout.user_errors():
        chosen = sweep_panel.panel(task)
    return sweep_panel.Sweep(task, chosen)
