"""The tabs of Lab; only the open one computes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages.parts.lab import compare, papers, theory, verify
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import controls, layout, page
from pages.shared.state import session

_KEY = "w_tab"


@dataclass(frozen=True)
class Tab:
    """A tab: its word in links, its title, and what draws it for an estimand."""

    key: str
    title: str
    draw: Callable[[Estimand], None]


def estimate(estimand: Estimand) -> None:
    """The blocks of an estimand, the same for all."""
    estimand.own_data()
    view = page.look(estimand.see)
    page.cards(view, *estimand.cards)
    page.options(controls.all_changed(estimand.task), "More options: data, method, δ, seed",
                 f"{estimand.key}_more", estimand.options)
    page.end(view)


TABS = (Tab("estimate", "Estimate", estimate), Tab("compare", "Compare", compare.draw),
        Tab("theory", "Theory", theory.draw), Tab("verify", "Verify", verify.draw),
        Tab("papers", "Papers", papers.draw))


def show(estimand: Estimand) -> None:
    """The row of tabs, and what the open one holds."""
    titles = {tab.key: tab.title for tab in TABS}
    st.session_state[_KEY] = titles[session.current().tab]
    for tab, place in zip(TABS, st.tabs(list(titles.values()), key=_KEY, on_change=_open),
                          strict=True):
        if tab.key == session.current().tab:
            with place, layout.user_errors():
                tab.draw(estimand)


def _open() -> None:
    """Take over the tab that was pressed."""
    title = st.session_state[_KEY]
    session.change(tab=next(tab.key for tab in TABS if tab.title == title))
