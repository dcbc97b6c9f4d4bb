"""Pinned scenarios on Compare: side by side, what cannot be compared, and a memo."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.core.errors import InputError
from engine.exports import memo
from engine.topics.pins import answer as pins_topic
from engine.topics.pins.answer import Pinned
from pages.parts.compare import pin_facts
from pages.shared.frame import controls
from pages.shared.state import pins, settings
from pages.shared.state.pins import Pin


def section() -> None:
    st.header("Pinned scenarios", anchor=False)
    scenarios = pins.pinned()
    if not scenarios:
        with st.container(border=True):
            st.markdown("Nothing is pinned yet. *Pin scenario*, in the strip under the title of "
                        "other pages, keeps what they show to compare it here.")
        return
    facts_of_pins = []
    for column, pin in zip(st.columns(len(scenarios), gap="small"), scenarios, strict=True):
        with column, st.container(border=True):
            facts = _facts(pin)
            facts_of_pins += [] if facts is None else [facts]
            _ways(pin)
    if facts_of_pins:
        _side_by_side(facts_of_pins)


def _facts(pin: Pin) -> Pinned | None:
    """The card of one scenario; None with the reason where its page would refuse it."""
    st.subheader(f"{pin.name} · {pins.PAGES[pin.page]}", anchor=False)
    try:
        facts = pin_facts.of(pin)
    except InputError as problem:
        st.markdown(controls.message(problem))
        return None
    st.markdown(f"{facts.facts.name}  \n{facts.method}  \n**{facts.budgets}**")
    return facts


def _ways(pin: Pin) -> None:
    """Back to the view itself, and out of the comparison."""
    with st.container(horizontal=True, vertical_alignment="center"):
        # A bare address would leave the settings as they are, so the usual ones are spelt out.
        token = pin.token or f"epsilon-{settings.Settings().epsilon:g}"
        st.page_link(f"../{pin.page}.py", label="Open", icon=":material/open_in_new:",
                     query_params={"s": token})
        st.button("Unpin", icon=":material/close:", type="tertiary", key=f"unpin_{pin.name}",
                  on_click=pins.drop, args=(pin.name,))


def _side_by_side(facts: list[Pinned]) -> None:
    """The table, with differences from the first, and the memo."""
    for text in pins_topic.warnings(facts):
        st.warning(text, icon=":material/warning:")
    table = pd.DataFrame(pins_topic.table(facts))
    st.table(table.set_index(table.columns[0]))
    if len(facts) > 1:
        st.markdown(f":small[In brackets: against {facts[0].name}.]")
    st.download_button("Write the memo", lambda: memo.comparison_memo(facts),
                       "privacy-curves-scenarios.html", "text/html", on_click="ignore",
                       icon=":material/description:", key="pins_memo",
                       help="One page to print: the table, what cannot be compared, and each "
                       "scenario in words.")
