"""Storage in a visitor’s own browser: statements about a file, and its name in a class."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.shared.server.modules import file

_component = st.components.v2.component(
    "privacy_curves_kept", html="<span hidden></span>", js=file("kept.js")
)
_KEY = "kept_stated"


def kept() -> str:
    """Return what an earlier session of this tab kept, as the browser sent it; "" for nothing."""
    state = st.session_state.get(_KEY)
    text = state.get("stated") if isinstance(state, Mapping) else None
    return text if isinstance(text, str) else ""


def keep(stated: Mapping[str, str | bool]) -> None:
    """Have the browser keep this.

    Parameters
    ----------
    stated : mapping of str to str or bool
        Of public facts; what is empty has the browser say what it kept.
    """
    _component(key=_KEY, data={"stated": dict(stated)}, on_stated_change=lambda: None)


# -- which browser a pupil of a class has ----------------------------------------------------------


_seat = st.components.v2.component(
    "privacy_curves_seat", html="<span hidden></span>", js=file("seat.js")
)
_LONGEST = 40  # characters of a name


def browser_name(key: str, code: str) -> str:
    """Return the name that a browser has in a class; "" until it has sent it."""
    state = st.session_state.get(key)
    name = state.get("name") if isinstance(state, Mapping) else None
    name = name if isinstance(name, str) and len(name) <= _LONGEST else ""
    _seat(key=key, data={"code": code, "name": name}, on_name_change=lambda: None)
    return name
