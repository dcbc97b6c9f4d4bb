"""Details of a page at its right, one at a time, which a link remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from pages.shared import components
from pages.shared.frame import layout
from pages.shared.state import session


@dataclass(frozen=True)
class Detail:
    """One thing that the drawer can hold."""

    key: str
    title: str
    draw: Callable[[], object]
    # keys of folds inside it: a link that opens one opens the drawer here
    folds: tuple[str, ...] = ()
    is_fold: bool = False  # True if it is a single fold, which then opens with it

    @property
    def keys(self) -> set[str]:
        """Keys of links that open it."""
        return {self.key, *self.folds}


def button(
    details: Sequence[Detail],
    label: str,
    key: str,
    icon: str = "",
    first: str = "",
    kind: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """Draw a button that opens the drawer, at a named detail if any, or closes it."""
    target = first or ("" if _chosen(details) else details[0].key)
    st.button(
        label, key=key, on_click=open_at, args=(details, target), icon=icon or None, type=kind
    )


def show(details: Sequence[Detail]) -> None:
    """Show the chosen detail beside the page, if any."""
    detail = _chosen(details)
    if detail is None:
        return
    titles = {each.key: each.title for each in details}
    with st.container(key="drawer"):
        components.around("drawer")
        with st.container(key="drawer_title"):  # heard only: the choice below shows it
            st.header(detail.title, anchor=False)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.session_state["drawer_choice"] = detail.key
            st.selectbox(
                "Details",
                list(titles),
                key="drawer_choice",
                format_func=titles.__getitem__,
                on_change=lambda: open_at(details, st.session_state.drawer_choice),
            )
            st.button(
                "Close",
                icon=":material/close:",
                key="drawer_close",
                on_click=open_at,
                args=(details, ""),
            )
        if detail.is_fold:  # a link may name the detail alone, or by a fold of an earlier page
            st.session_state.setdefault(f"fold_{detail.folds[0]}", True)
        with layout.user_errors():
            detail.draw()


def _chosen(details: Sequence[Detail]) -> Detail | None:
    opened = {*session.current().open_folds}
    return next((detail for detail in details if detail.keys & opened), None)


def open_at(details: Sequence[Detail], key: str) -> None:
    """Open one detail in place of the others; none for an empty key."""
    others = {*session.current().open_folds}.difference(*(detail.keys for detail in details))
    for detail in details:
        if detail.key == key and detail.is_fold:
            st.session_state[f"fold_{detail.folds[0]}"] = True
    session.change(open_folds=tuple(sorted(others | ({key} if key else set()))))
