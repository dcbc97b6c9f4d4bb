"""The tabs of Lab; only the open one computes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from engine.core.tasks import MEAN_FUNCTION
from engine.papers import words as exhibit_words
from pages.parts import audit, reproduce, sweeps
from pages.parts.compare import cards, pins
from pages.parts.lab import theory
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import controls, layout, page
from pages.shared.frame.drawer import Detail
from pages.shared.frame.page import View
from pages.shared.state import session
from pages.shared.uploads import panel

_KEY = "w_tab"
_COMPARISONS = {"methods": "Methods side by side", "sweep": "Error along one setting"}


@dataclass(frozen=True)
class Tab:
    """A tab: its word in links, its title, and what draws it for an estimand."""

    key: str
    title: str
    draw: Callable[[Estimand], list[Detail]]


def estimate(estimand: Estimand) -> list[Detail]:
    """The blocks of an estimand, the same for all."""
    estimand.own_data()
    above, below = st.container(), layout.picture_of(estimand.task)
    with above:
        view = page.look(estimand.see, data=estimand.task)
    with below():  # nothing of another estimand stands there meanwhile
        page.cards(view, *estimand.cards)
    more = [] if view is None else [Detail(each.key, each.title, partial(each.draw, view))
                                    for each in estimand.details]
    return [*more, *page.details(view)]


def compare(estimand: Estimand) -> list[Detail]:
    """One of both comparisons, and below it what was pinned."""
    has_methods = estimand.task == MEAN_FUNCTION.key
    part = session.current().comparison if has_methods else "sweep"
    if has_methods:
        controls.bound(st.segmented_control, "Comparison", part,
                       lambda key: session.change(comparison=key or part), "comparison",
                       options=list(_COMPARISONS), format_func=_COMPARISONS.__getitem__,
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
    sweeps.strip(task)
    layout.prose("Choose what to vary. Each value is simulated afresh, and its error drawn as a "
                 "point.")
    with layout.user_errors():
        chosen = sweeps.panel(task)
    return sweeps.Sweep(task, chosen)


def verify(estimand: Estimand) -> list[Detail]:
    """An attack on what is claimed, coverage, or noise used twice; all are on simulated data."""
    view = page.look(audit.Audited)
    if view is not None:
        view.asks_for_budget = not estimand.has_budget
    page.cards(view, audit.parts, *([] if view is None else [audit.SECTIONS[view.settings.part]]))
    return page.details(view)


def papers(estimand: Estimand) -> list[Detail]:
    """One figure or table of a paper, made again: do the published results replicate?"""
    st.header(exhibit_words.TITLE, anchor=False)
    reproduce.strip()
    reproduce.overview()
    view = reproduce.choices()
    page.cards(view, reproduce.heading, reproduce.again, reproduce.drawings, reproduce.claims,
               reproduce.take_away)
    printed = [Detail("published", "As printed", lambda: reproduce.published(view))
               ] if view.exhibit.published else []
    return [*printed, *view.details()]


TABS = (Tab("estimate", "Estimate", estimate), Tab("compare", "Compare", compare),
        Tab("theory", "Theory", theory.draw), Tab("verify", "Verify", verify),
        Tab("papers", "Papers", papers))


def show(estimand: Estimand) -> list[Detail]:
    """The row of tabs, and what the open one holds.

    Returns
    -------
    list of Detail
        For the drawer: options first, then what belongs to the open tab.
    """
    details: list[Detail] = []
    titles = {tab.key: tab.title for tab in TABS}
    st.session_state[_KEY] = titles[session.current().tab]
    for tab, slot in zip(TABS, st.tabs(list(titles.values()), key=_KEY, on_change=_open),
                         strict=True):
        if tab.key == session.current().tab:
            with slot, layout.user_errors():
                details = tab.draw(estimand)
    return [Detail("options", "All settings", partial(_settings, estimand),
                   (f"{estimand.key}_more", "compare_more", "sweeps_more")), *details]


def _settings(estimand: Estimand) -> None:
    """A file of one's own, and every parameter."""
    if session.shows_own_data():
        panel.button()
    estimand.options()


def _open() -> None:
    """Take over the tab that was pressed."""
    title = st.session_state[_KEY]
    session.change(tab=next(tab.key for tab in TABS if tab.title == title))
