"""Lab, *Compare*: methods side by side, or the error along what is varied; and pinned scenarios."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine.core.tasks import MEAN_FUNCTION
from pages.parts.compare import cards
from pages.parts.compare import pins as pin_cards
from pages.parts.lab.estimands import Estimand
from pages.parts.sweeps import panel as sweep_panel
from pages.shared.frame import controls, layout, page
from pages.shared.state import session

_PARTS = {"methods": "Methods side by side", "sweep": "Error along a size"}


def draw(estimand: Estimand) -> None:
    """One of both comparisons, and below it what was pinned."""
    has_methods = estimand.task == MEAN_FUNCTION.key
    part = session.current().comparison if has_methods else "sweep"
    if has_methods:
        controls.bound(st.segmented_control, "Comparison", part,
                       lambda key: session.change(comparison=key or part), "comparison",
                       options=list(_PARTS), format_func=_PARTS.__getitem__,
                       label_visibility="collapsed")
    (_methods if part == "methods" else _sweep)(estimand)


def _methods(estimand: Estimand) -> None:
    """Every method at every budget."""
    estimand.own_data()
    view = page.look(cards.SideBySide, height=600)
    page.cards(view, cards.choices, cards.pictures)
    if view is not None and view.known:
        page.cards(view, cards.table, cards.equal_protection, cards.shapes_kept)
    _pins()
    page.options(controls.all_changed(), "More options: curves, method, δ, seed", "compare_more",
                 cards.options)
    page.end(view)


def _sweep(estimand: Estimand) -> None:
    """The error for each value of what is varied, simulated afresh."""
    task, chosen = estimand.task, None
    sweep_panel.strip(task)
    layout.prose("Choose what to vary. Each value is simulated afresh, and its error drawn as a "
                 "point.")
    with layout.user_errors():
        chosen = sweep_panel.panel(task)
    _pins()
    page.options(controls.all_changed(task), "More options: curves, method, ε, δ, seed",
                 "sweeps_more", partial(controls.more_options, task))
    page.end(sweep_panel.Sweep(task, chosen))


def _pins() -> None:
    with layout.user_errors():
        pin_cards.section()
