"""What was stated of a file, kept by the visitor's own browser: a reload would lose it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "privacy_curves_kept", html="<span hidden></span>",
    js=(Path(__file__).parent / "kept.js").read_text("utf-8"))
_KEY = "kept_stated"


def kept() -> str:
    """What an earlier session of this tab kept, as the browser sent it; "" for nothing."""
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
