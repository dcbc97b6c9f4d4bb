"""The trust strip: one accuracy, and the budget that each kind of trust needs for it."""

from __future__ import annotations

import streamlit as st

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.language.grammar import capital
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import trust
from engine.topics.decision.trust import TrustPrice
from pages.parts.decide.view import DecideView
from pages.shared.frame import controls, timed
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session

STRIP = 150  # pixels


def strip(view: DecideView) -> None:
    """Show the four kinds of trust, each with its ε; a press chooses one."""
    if view.refusal is not None and view.refusal.field != "noise":
        return
    faces = {str(price.place): _face(price, view) for price in view.prices()}
    with st.container(key="trust", gap="small"):
        _heading(view)
        controls.bound(
            st.segmented_control,
            "Who is trusted",
            view.settings.noise_place,
            lambda place: session.change(noise_place=place),
            "noise",
            options=list(faces),
            format_func=faces.__getitem__,
            label_visibility="collapsed",
            width="stretch",
            required=True,
        )


def _face(price: TrustPrice, view: DecideView) -> str:
    """Write a kind of trust with its price, on three lines."""
    budget = price.epsilon if price.reason else f"ε = {price.epsilon}"
    return (
        f"{trust.KINDS[price.place]}  \n{capital(trust.gloss(price.place, view.facts))}  \n"
        f"**{budget}** :small[{price.attacker or price.reason}]"
    )


def _heading(view: DecideView) -> None:
    """Draw the heading; while the page rests, simulate the kinds that are missing, one a turn."""
    asked = {place: view.with_rows(view.rows, place) for place in trust.KINDS}
    known = [place for place, call in asked.items() if run.knows(decision_topic.tried, *call)]
    given_up = st.session_state.setdefault("trust_given_up", set())
    coming = [
        call for place, call in asked.items() if place not in known and digest(call) not in given_up
    ]
    if not coming or not uses_workers():
        st.markdown(f":small[{trust.HEADING}]")
        return

    def compute() -> None:
        try:
            run.answer(decision_topic.tried, *coming[0], steps=decision_topic.N_PARTS)
        except InputError:  # it takes longer than this server allows
            given_up.add(digest(coming[0]))

    timed.afterwards(f"{trust.HEADING}: {len(known)} of {len(asked)} simulated", compute)
