"""The scenario panel at the left of Lab: the estimand, its data and method, sizes, ε and δ."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.enumerations import NoisePlace
from engine.language.numbers import small
from engine.topics.decision.words import WHO, site_noun, spread
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
        beside = _beside_decide(estimand.task)
        if beside:
            st.markdown(f":small[{beside}]")
        layout.chips(controls.all_changed(estimand.task), layout.reset)
        return st.container(horizontal=True)


def _estimate(key: str) -> None:
    """Another estimand; what hung on the former one starts again."""
    default = settings.FRONT_PAGE
    session.change(estimand=key, sweep=default.sweep, rate=default.rate, example="",
                   audited=default.audited, variant="", limits=default.limits)


def _beside_decide(task: str) -> str:
    """What this scenario has of the study on Decide, and what is different here."""
    now = session.current()
    if task != now.decided or session.uploaded(task):
        return ""
    site, _ = site_noun(session.source(task).facts)
    said = [f"Sizes as in the table on *Decide*: {spread(now.sites)} at each {site}."
            ] if now.has_table(task) else []
    if now.noise != NoisePlace.SITES:
        who = WHO[NoisePlace(now.noise)].format(site=site)
        said.append(f"Here each {site} adds noise; on *Decide* “{who}” is chosen, so its numbers "
                    "differ.")
    return " ".join(said)


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
