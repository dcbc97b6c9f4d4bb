"""A walk through Explore in seven short steps, for whoever wants one: it starts and stops at will.

Every step says one thing and sets the picture so that it can be seen; what the visitor had before
comes back at the end. A link keeps the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from engine.core.types import PublicFacts
from engine.language.grammar import a, escape, of
from pages.shared.state import session


@dataclass(frozen=True)
class Step:
    """What is said, and where the picture stands meanwhile."""

    title: str
    text: Callable[[str, str], str]  # of the word for one person, and for many
    epsilon: float = 1.0
    view: str = "releases"


STEPS = (
    Step("Twenty curves you might publish", lambda one, many:
         "Every blue line is a possible release of the same average. You would publish one of "
         f"them. None is {a(one)}. The dashed line has no protection and is never published."),
    Step("More protection, more noise", lambda one, many:
         "ε is down to 0.3: the lines fan out. Drag the slider and watch; steps to the left hide "
         f"each {one} better.", epsilon=0.3),
    Step("What an attacker gains", lambda one, many:
         f"ε is up to 5. The card *Odds* counts right guesses about one {one}, at most; 50 in 100 "
         "is a coin toss. The budget turns amber: weak protection.", epsilon=5.0),
    Step("How far off a release is", lambda one, many:
         "Back at ε = 1. On the card *Accuracy* each dot is one of twenty equally likely releases, "
         "placed by its error, in the unit of the curve."),
    Step("Noise, or chance?", lambda one, many:
         f"Blue: what noise does. Hatched: how far chance in which {many} took part moves the "
         "average. No budget removes the second; *What limits accuracy* says which is larger.",
         view="ranges"),
    Step("What the public would see", lambda one, many:
         "One line and, around it, where the true average plausibly lies. Both are worked out from "
         f"the release alone and cost no {one} anything more.", view="one"),
    Step("Where to go on", lambda one, many:
         "*Set a budget* finds the ε for an accuracy you need, *Teach it* has lessons, *Check the "
         f"statistics* holds theory against measurement. *Use my curves* takes {of(many)} curves "
         "of your own, on your own machine."),
)


def button() -> None:
    """Starts the walk."""
    if not _step():
        st.button("Show me around", icon=":material/tour:", type="tertiary", key="tour_start",
                  on_click=_go, args=(1,), help="Seven short steps; stop whenever you like.")


def card(facts: PublicFacts) -> None:
    """The present step, if there is one."""
    number = _step()
    if not number:
        return
    step = STEPS[number - 1]
    with st.container(border=True):
        st.markdown(f"**{number} of {len(STEPS)}. {step.title}.** "
                    + step.text(escape(facts.person), escape(facts.people)))
        with st.container(horizontal=True):
            st.button("Back", icon=":material/arrow_back:", disabled=number == 1, key="tour_back",
                      on_click=_go, args=(number - 1,))
            last = number == len(STEPS)
            st.button("Done" if last else "Next", icon=":material/check:" if last else
                      ":material/arrow_forward:", key="tour_next",
                      on_click=_end if last else _go, args=() if last else (number + 1,))
            if not last:
                st.button("End the tour", icon=":material/close:", type="tertiary",
                          key="tour_end", on_click=_end)


def _step() -> int:
    """Which step is on, from 1; 0 for none."""
    return min(dict(session.current().looks).get("tour", 0), len(STEPS))


def _go(step: int) -> None:
    """Turn to a step, and set the picture for it."""
    current = session.current()
    st.session_state.setdefault("before_tour", (current.epsilon, current.view))
    _show(STEPS[step - 1].epsilon, STEPS[step - 1].view)
    session.look_at("tour", step)


def _end() -> None:
    """Back to what was on screen before; after a link, to where it stands."""
    current = session.current()
    _show(*st.session_state.pop("before_tour", (current.epsilon, current.view)))
    looks = tuple(look for look in current.looks if look[0] != "tour")
    st.session_state.settings = replace(session.current(), looks=looks)


def _show(epsilon: float, view: str) -> None:
    session.set_epsilon(epsilon)
    session.change(view=view)
