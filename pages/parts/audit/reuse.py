"""Noise that is used twice."""

from __future__ import annotations

import streamlit as st

from engine.topics.audit import words
from engine.topics.reuse import answer as reuse_topic
from engine.topics.reuse import charts as reuse_charts
from engine.topics.reuse import words as reuse_words
from pages.parts.audit.view import Audited, slider
from pages.shared.frame import controls, layout
from pages.shared.state import allowed, run, session, settings

_DRAWS = {"same": "The same draw", "fresh": "Fresh noise"}


def section(view: Audited) -> None:
    """Show that one draw at two budgets gives the exact answer away."""
    layout.prose(reuse_words.INTRO)
    _two_releases(view.settings)
    current, is_fresh = view.settings, view.settings.second_noise == "fresh"
    releases = run.at_once(
        reuse_topic.reuse_answer,
        current.epsilon,
        current.second_epsilon,
        reuse_topic.DELTA,
        current.seed,
        is_fresh,
    )
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Two releases of one average", reuse_charts.reused(releases), "reuse", 380, 360)
    with right, layout.card("What is left of the protection"):
        if is_fresh:
            st.badge(reuse_words.FAILS, icon=":material/check:", color="gray")
        else:
            st.badge(reuse_words.GIVEN_AWAY, icon=":material/error:", color="red")
        st.markdown(reuse_words.recovered(releases, is_fresh))
        st.markdown(reuse_words.spent(releases, is_fresh))
    st.markdown(f":small[{reuse_words.RULE} {words.SIMULATED}]")


def _two_releases(current: settings.Settings) -> None:
    """Choose the budgets of both releases, and whether the second draws new noise."""
    left, right = st.columns(2, gap="medium")
    with left:
        slider("First release (ε)")
    with right:
        controls.bound(
            st.select_slider,
            "Second release (ε)",
            current.second_epsilon,
            lambda chosen: session.change(second_epsilon=allowed.epsilon(chosen)),
            "audit_again",
            options=settings.steps_of(current.second_epsilon),
            format_func=lambda e: f"ε = {e:g}",
        )
    controls.bound(
        st.segmented_control,
        "Noise of the second release",
        current.second_noise,
        lambda chosen: session.change(second_noise=chosen or current.second_noise),
        "audit_draw",
        options=list(_DRAWS),
        format_func=_DRAWS.__getitem__,
    )
