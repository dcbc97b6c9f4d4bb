"""The live figure: the server sends the curves of every budget once, the browser does the rest.

The browser reports the choice when the slider rests, and nothing while it moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from engine.figures.live import figure_script, part
from engine.topics.mean.live import VIEWS, Picked, figure_message

_component = st.components.v2.component(
    "privacy_curves_figure", html=part("figure.html"), css=part("figure.css"), js=figure_script()
)


def figure(key: str, payload: Mapping[str, Any], start: Picked, rev: int = 0, **now: Any) -> Picked:
    """Draw the figure and return what the visitor has picked.

    Parameters
    ----------
    payload : dict
        From `figure_payload`.
    start : Picked
        Where the page stands now. It moves the figure only when it is mounted and when `rev`
        changes (a link was opened, Back was pressed); the strip has the same `rev`.
    rev : int
        Which move by the server this is.
    **now
        What the figure shows beside its curves, as `figure_message` takes it.
    """
    data = figure_message(payload, start, rev, **now)
    data["now"] |= _moved(key, rev, start)
    result = _component(
        key=key,
        data=data,
        on_picked_change=lambda: None,
        on_new_noise_change=lambda: None,
        on_method_change=lambda: None,
        on_theory_change=lambda: None,
    )
    chosen = read_report(result.get("picked"), start, rev, len(payload["epsilons"]))
    return replace(
        chosen,
        new_noise=bool(result.get("new_noise")),
        method=str(result.get("method") or ""),
        theory=str(result.get("theory") or ""),
    )


def picked(key: str, start: Picked, rev: int = 0, n_budgets: int = 24) -> Picked:
    """Return the same answer before the figure is drawn, for what the page shows above it."""
    state = st.session_state.get(key)
    report = state.get("picked") if isinstance(state, Mapping) else None
    return read_report(report, start, rev, n_budgets)


def _moved(key: str, rev: int, start: Picked) -> dict[str, Any]:
    """Return the server's last move of the figure; constant, so that the message stays a hash."""
    memory = st.session_state.get(f"{key}_moved")
    if (
        memory is None
        or memory[0] != rev
        or key not in st.session_state
        or start.budget != _known_to_browser(key, rev, memory[1]["start"])
    ):
        memory = (rev, {"start": start.budget, "view": start.view})
        st.session_state[f"{key}_moved"] = memory
    return dict(memory[1])


def _known_to_browser(key: str, rev: int, start: int) -> Any:
    """Return the figure's last reported position, or else its start."""
    state = st.session_state.get(key)
    report = state.get("picked") if isinstance(state, Mapping) else None
    if not isinstance(report, Mapping) or report.get("rev", rev) != rev:
        return start
    return report.get("budget", start)


def read_report(report: Any, start: Picked, rev: int, n_budgets: int) -> Picked:
    """Read the browser's report value by value; missing or impossible ones stay as in `start`."""
    if not isinstance(report, Mapping) or report.get("rev", rev) != rev:
        report = {}  # older than the server's last move
    budget, view = report.get("budget"), report.get("view")
    if isinstance(budget, bool) or budget not in range(n_budgets):
        budget = start.budget
    return Picked(int(budget), view if view in VIEWS else start.view)
