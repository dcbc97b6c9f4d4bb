"""The tabs of Lab; only the open one computes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages.parts.lab import compare, papers, theory, verify
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import layout, page
from pages.shared.frame.drawer import Detail
from pages.shared.state import session
from pages.shared.uploads import panel

_KEY = "w_tab"


@dataclass(frozen=True)
class Tab:
    """A tab: its word in links, its title, and what draws it for an estimand."""

    key: str
    title: str
    draw: Callable[[Estimand], list[Detail]]


def estimate(estimand: Estimand) -> list[Detail]:
    """The blocks of an estimand, the same for all."""
    estimand.own_data()
    view = page.look(estimand.see)
    page.cards(view, *estimand.cards)
    more = [] if view is None else [Detail(each.key, each.title, partial(each.draw, view))
                                    for each in estimand.details]
    return [*more, *page.details(view)]


TABS = (Tab("estimate", "Estimate", estimate), Tab("compare", "Compare", compare.draw),
        Tab("theory", "Theory", theory.draw), Tab("verify", "Verify", verify.draw),
        Tab("papers", "Papers", papers.draw))


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
    for tab, place in zip(TABS, st.tabs(list(titles.values()), key=_KEY, on_change=_open),
                          strict=True):
        if tab.key == session.current().tab:
            with place, layout.user_errors():
                details = tab.draw(estimand)
    return [_options(estimand), *details]


def _options(estimand: Estimand) -> Detail:
    """All parameters; earlier links open them by the folds of their pages."""
    return Detail("options", "All settings", partial(_settings, estimand), (
        f"{estimand.key}_more", "compare_more", "sweeps_more"))


def _settings(estimand: Estimand) -> None:
    """A file of one's own, and every parameter."""
    if session.shows_own_data():
        panel.button(estimand.task)
    estimand.options()


def _open() -> None:
    """Take over the tab that was pressed."""
    title = st.session_state[_KEY]
    session.change(tab=next(tab.key for tab in TABS if tab.title == title))
