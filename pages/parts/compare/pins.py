"""Pinned scenarios on Compare: side by side, what cannot be compared, and a memo."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.core.errors import InputError
from engine.exports import memo
from engine.language.numbers import digits_up
from engine.topics.pins import answer as pins_topic
from engine.topics.pins.answer import Pinned
from pages.parts.decide.view import DecideView
from pages.parts.lab import estimands
from pages.parts.lab.mean import MeanCurve
from pages.parts.plan import Planned
from pages.parts.sites import SitesTable
from pages.shared.frame import controls
from pages.shared.frame.page import View
from pages.shared.state import links, pins, settings
from pages.shared.state.pins import Pin
from pages.shared.state.settings import Settings


def section() -> None:
    st.header("Pinned scenarios", anchor=False)
    scenarios = pins.pinned()
    if not scenarios:
        with st.container(border=True):
            st.markdown(
                "Nothing is pinned yet. *Pin scenario*, in the strip under the title of "
                "other pages, keeps what they show to compare it here."
            )
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
    """Return the card of one scenario; show the reason if its page would refuse it."""
    st.subheader(f"{pin.name} · {pins.PAGES[pin.page]}", anchor=False)
    try:
        facts = pinned_facts(pin)
    except InputError as problem:
        st.markdown(controls.message(problem))
        return None
    brief = facts.brief
    st.markdown(f"{brief.facts.name}  \n{brief.method}  \n**{brief.budgets}**")
    return facts


def _ways(pin: Pin) -> None:
    """Draw the ways back to the view itself and out of the comparison."""
    with st.container(horizontal=True, vertical_alignment="center"):
        # A bare address keeps the settings, so the link spells out the defaults.
        token = pin.token or f"epsilon-{settings.Settings().epsilon:g}"
        st.page_link(
            f"../{pin.page}.py",
            label="Open",
            icon=":material/open_in_new:",
            query_params={"s": token},
        )
        st.button(
            "Unpin",
            icon=":material/close:",
            type="tertiary",
            key=f"unpin_{pin.name}",
            on_click=pins.drop,
            args=(pin.name,),
        )


def _side_by_side(facts: list[Pinned]) -> None:
    """Show the table, with differences from the first, and the memo."""
    for text in pins_topic.warnings(facts):
        st.warning(text, icon=":material/warning:")
    table = pd.DataFrame(pins_topic.table(facts))
    st.table(table.set_index(table.columns[0]))
    if len(facts) > 1:
        st.markdown(f":small[In brackets: against {facts[0].name}.]")
    st.download_button(
        "Write the memo",
        lambda: memo.comparison_memo(facts),
        "privacy-curves-scenarios.html",
        "text/html",
        on_click="ignore",
        icon=":material/description:",
        key="pins_memo",
        help="One page to print: the table, what cannot be compared, and each scenario in words.",
    )


# -- what is known of a pinned scenario, worked out again from its settings ------------------------


def pinned_facts(pin: Pin) -> Pinned:
    """Compute the facts of a scenario, or find those computed for its page."""
    scenario, _ = links.decode(pin.token)
    estimated = {"decide": scenario.decided_task, "lab": scenario.estimated}
    return Pinned(
        name=pin.name,
        page=pins.PAGES[pin.page],
        brief=_view(pin.page, scenario).brief(),
        group=scenario.group_size,
        estimated=estimated.get(pin.page, settings.TASK),
        population=scenario.population,
    )


def _view(page: str, scenario: Settings) -> View:
    """Return the view of a page with these settings."""
    if page == "lab":
        return estimands.ESTIMANDS[scenario.estimand].view(scenario)
    return MeanCurve(scenario) if page == "explore" else _decided(scenario)


def _decided(scenario: Settings) -> View:
    """Return the part of Decide that was pinned: its solver, its table of sites, or the study."""
    if scenario.decided_task == settings.TASK:
        if "planner" in scenario.open_folds:
            return Planned(_recommended(scenario), scenario)
        if "hospitals" in scenario.open_folds:
            return SitesTable(scenario)
    return DecideView(scenario)


def _recommended(scenario: Settings) -> float | None:
    """Return the typical error that the solver begins with; None if it finds the error."""
    if scenario.unknown_quantity == "error" or scenario.typical_error is not None:
        return None
    try:
        return digits_up(DecideView(scenario).brief().error, 3)
    except InputError:
        return None
