"""The scenario panel at the left of Lab: the estimand, its data and method, sizes, ε and δ."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.language.numbers import small
from pages.parts.lab.estimands import ESTIMANDS, Estimand
from pages.shared.frame import controls, layout
from pages.shared.state import session, settings


def panel(estimand: Estimand) -> DeltaGenerator:
    """Draw the panel; what it holds is drawn on all tabs, and computes nothing.

    Returns
    -------
    DeltaGenerator
        A place at its foot.
    """
    with st.container(key="scenario"):
        controls.bound(st.selectbox, "Estimand", estimand.key, _estimate, "estimand",
                       options=list(ESTIMANDS), format_func=lambda key: ESTIMANDS[key].title,
                       help="What is estimated with differential privacy.")
        estimand.choices()
        estimand.budget()
        brief = estimand.in_brief() if estimand.in_brief else _in_brief(estimand.task)
        if brief:
            st.markdown(f":small[{brief}]")
        if session.current().sites and session.source(estimand.task).has_free_sites:
            st.markdown(":small[The table of sites on *Decide* is not part of this scenario: here "
                        "all sites are alike.]")
        layout.chips(controls.all_changed(estimand.task), layout.reset)
        return st.container(horizontal=True)


def _estimate(key: str) -> None:
    """Another estimand; what hung on the former one starts again."""
    usual = settings.FRONT_PAGE
    session.change(estimand=key, sweep=usual.sweep, rate=usual.rate, example="",
                   audited=usual.audited, variant="", limits=usual.limits)


def _in_brief(task: str) -> str:
    """Sizes and δ, in a line."""
    source = session.source(task)
    sizes, delta = source.sizes, session.delta(source, task).value
    each, sites = sizes.n_observations_per_curve, sizes.n_servers
    parts = [f"{sizes.n_curves:,} {source.facts.people}".replace(",", "\u202f"),
             f"{each:.3g} observations each" if each > 1 else "",
             f"{sites:,} sites".replace(",", "\u202f") if sites > 1 else "",
             f"δ = {small(delta)}" if delta else "δ = 0"]
    return " · ".join(filter(None, parts))
