"""The trust strip: one accuracy, and the budget that each kind of trust needs for it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.language.grammar import capital
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import trust, words
from engine.topics.decision.trust import TrustPrice
from pages.parts.decide.view import DecideView
from pages.shared.frame import controls, timed
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session

STRIP = 150  # pixels
_KEEPS_STRIP = ("noise", "")  # fields of refusals that another kind may mend; "": by this server


def strip(view: DecideView) -> None:
    """Show the four kinds of trust, each with its ε; a press chooses one."""
    if view.refusal is not None and view.refusal.field not in _KEEPS_STRIP:
        return
    faces = {str(price.place): _face(price, view) for price in view.prices()}
    with st.container(key="trust", gap="small"):
        _heading(view)
        controls.bound(
            st.segmented_control,
            "Who is trusted",
            view.place,
            partial(_choose, view),
            "noise",
            options=list(faces),
            format_func=faces.__getitem__,
            label_visibility="collapsed",
            width="stretch",
            required=True,
        )
        controls.show_problem("trust")


def _choose(view: DecideView, place: str) -> None:
    """Take a kind of trust over; one that was given up is simulated again."""
    if place == NoisePlace.SITES and view.has_one_site:
        one, several = words.site_noun(view.facts)
        problem = InputError(
            f"One {one} is its own centre, so FDP and CDP are the same here.",
            field="noise",
            hint=f"Take two {several} or more in the sentence above to tell them apart.",
        )
        session.change(noise_place=place)
        st.session_state.problem = ("trust", problem)
        return
    _given_up().discard(digest(view.with_rows(view.rows, NoisePlace(place))))
    session.change(noise_place=place)


def _given_up() -> set[str]:
    """Return the computations that took longer than this server allows."""
    return st.session_state.setdefault("trust_given_up", set())


def _face(price: TrustPrice, view: DecideView) -> str:
    """Write a kind of trust with its price, on three lines."""
    budget = price.epsilon if price.reason else f"ε = {price.epsilon}"
    said = price.attacker or price.reason
    if digest(view.with_rows(view.rows, price.place)) in _given_up():
        said = "too slow here; press to try again"
    return (
        f"{trust.KINDS[price.place]}  \n{capital(trust.gloss(price.place, view.facts))}  \n"
        f"**{budget}** :small[{said}]"
    )


def _heading(view: DecideView) -> None:
    """Draw the heading; while the page rests, simulate the kinds that are missing, one a turn."""
    asked = [view.with_rows(view.rows, place) for place in trust.KINDS]
    coming = [
        call
        for call in asked
        if not run.knows(decision_topic.tried, *call) and digest(call) not in _given_up()
    ]
    if not coming or not uses_workers():
        st.markdown(f":small[{trust.HEADING}]")
        return

    def compute() -> None:
        try:
            run.answer(decision_topic.tried, *coming[0])
        except InputError:  # it takes longer than this server allows
            _given_up().add(digest(coming[0]))

    timed.afterwards(trust.HEADING, compute)  # what is to come is marked in its place
