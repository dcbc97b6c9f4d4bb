"""A slider for ε that a page follows while it moves; the server hears where it rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.shared.server.modules import file

_component = st.components.v2.component(
    "privacy_curves_slider",
    html='<div class="rail"><input type="range" min="0" step="1"><strong aria-hidden="true">'
    "</strong></div>",
    css=file("slider.css"),
    js=file("slider.js"),
)


def slider(
    label: str, steps: Sequence[str], at: int, key: str, moved: Callable[[int], None]
) -> None:
    """Draw it.

    Parameters
    ----------
    steps : sequence of str
        What each step is called, from left to right.
    at : int
        The step at which the page stands; the browser goes there when the session's `rev` changes.
    moved : callable
        Told the step where it rests.
    """
    rev = st.session_state.get("rev", 0)

    def report() -> None:
        picked = st.session_state[key].get("picked")
        if not isinstance(picked, Mapping) or picked.get("rev") != rev:
            return  # older than the server's last move
        step = picked.get("budget")
        if isinstance(step, int) and not isinstance(step, bool) and step in range(len(steps)):
            moved(step)

    _component(
        key=key,
        on_picked_change=report,
        data={"label": label, "steps": list(steps), "at": at, "rev": rev},
    )
