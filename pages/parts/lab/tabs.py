"""The tabs of Lab, of which only the open one computes anything; and what *Theory* shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from engine import exhibits, handbook
from engine.core.enumerations import Guarantee
from engine.core.tasks import MEAN_FUNCTION, TASKS
from engine.core.types import Budget
from engine.language import tags
from engine.language.grammar import uncapital
from engine.mechanisms import mechanisms
from engine.topics.audit import claims
from pages.parts import reproduce, sweeps
from pages.parts.audit import cards as audit_cards
from pages.parts.audit.view import Audited
from pages.parts.compare import cards, pins
from pages.parts.lab.estimands import Estimand
from pages.parts.rates import cards as rate_cards
from pages.parts.rates import practice
from pages.parts.rates import view as rate_view
from pages.parts.rates.by_trust import by_trust
from pages.shared.frame import controls, layout, page, strips
from pages.shared.frame.drawer import Detail
from pages.shared.frame.page import View
from pages.shared.state import session
from pages.shared.uploads import panel

_THEORY = {"rates": "Rates", "notes": "Method notes"}


def theory(estimand: Estimand) -> Shown:
    """Show the rates of an estimand, or the notes on a method."""
    part = session.current().theory_part
    controls.bound(
        st.segmented_control,
        "Part",
        part,
        lambda key: session.change(theory_part=key or part),
        "theory",
        options=list(_THEORY),
        format_func=_THEORY.__getitem__,
        label_visibility="collapsed",
    )
    if part == "rates":
        return Shown("How fast does the error fall?", _rates(estimand.task))
    key = method_choice()
    page.cards(key, method_notes)
    return Shown(handbook.method(key).title, details_of_method(key))


def _rates(task: str) -> list[Detail]:
    """Show what limits the error by theory, and whether simulations agree."""
    if rate_view.rate_on_screen(session.current()) is None:
        _without_rate(task)
        return []
    view = page.look(rate_view.RateAtPoint)
    page.cards(
        view,
        rate_cards.choices,
        (rate_cards.regimes, rate_cards.answer),
        practice.practice,
        by_trust,
        rate_cards.per_site,
        rate_cards.by_eye,
    )
    if view is None:
        return []
    return [
        Detail("rate_options", "Trust and smoothness", partial(rate_cards.options, view)),
        *view.details(),
    ]


def _without_rate(task: str) -> None:
    """Say that no rate has been published for this estimand."""
    source, epsilon = session.source(task), session.current().epsilon
    method = session.current().mechanism_of(task)
    budget = Budget(epsilon, session.delta(source, task).value)
    strips.fixed(
        source.facts,
        tags.budget_chip(budget),
        "rates_strip",
        strips.by_method(method, source, budget),
        "",
        TASKS[task].unit,
        epsilon,
        pins_here=False,
    )
    st.info(
        f"**No rate is published for this estimand: {uncapital(TASKS[task].label)}.** "
        "*Compare* measures how its error falls with people, observations and ε; *Method "
        "notes* say what is guaranteed.",
        icon=":material/info:",
    )


# -- notes on each method --------------------------------------------------------------------------


_LAB = Path(__file__).parents[2] / "lab.py"
_GUARANTEES = {
    Guarantee.PURE: "δ = 0",
    Guarantee.APPROXIMATE: "δ above 0",
    Guarantee.EITHER: "δ = 0 or above",
}
_UNDER = ("Errata", "Source", "Where to see it")  # beside the other parts, in the narrow column


def method_choice() -> str:
    """Choose the method to read about; a link keeps the choice."""
    current = session.current().notes_method
    controls.bound(
        st.selectbox,
        "Method",
        current,
        lambda key: session.change(notes_method=key),
        "about",
        options=list(handbook.method_keys()),
        format_func=handbook.method_label,
        width=640,
    )
    return current


def method_notes(key: str) -> None:
    """Show the notes on one method."""
    notes = handbook.method(key)
    st.header(notes.title, anchor=False)
    st.markdown(notes.opening)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        for part in handbook.PARTS:
            if part not in _UNDER:
                _part_of_notes(notes, part)
    with right:
        for part in _UNDER:
            _part_of_notes(notes, part)


def details_of_method(key: str) -> list[Detail]:
    """List its formula, the exhibits it is in, what was measured, and all methods."""
    measured = handbook.measured(key)
    return [
        Detail("method_formula", "Formula", lambda: st.latex(mechanisms.get(key).formula)),
        *(
            [Detail("method_exhibits", "Figures and tables of papers", lambda: _exhibits(key))]
            if exhibits.is_installed()
            else []
        ),
        *(
            [Detail("method_measured", "What was measured", lambda: st.markdown(measured))]
            if measured
            else []
        ),
        Detail("all_methods", "All methods", _all_methods),
    ]


def _exhibits(key: str) -> None:
    """Link the figures and tables of papers that use this method."""
    titles = handbook.exhibits(key)
    for name, title in titles:
        st.page_link(
            _LAB,
            label=title,
            icon=":material/arrow_forward:",
            query_params={"s": f"tab-papers~exhibit-{name}"},
        )
    if not titles:
        st.markdown("None: this method was derived here, and no paper has figures of it.")


def _part_of_notes(notes: handbook.Chapter, title: str) -> None:
    st.subheader(title, anchor=False)
    st.markdown(notes.part(title))


def _all_methods() -> None:
    """Show the use and promise of each method, from the registry."""
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Method": cls.label,
                    "What it gives": handbook.method(cls.key).opening,
                    "Guarantee": _GUARANTEES[cls.guarantee],
                    "Paper": cls.reference,
                }
                for cls in mechanisms.all()
            ]
        ),
        hide_index=True,
    )


# -- the row of tabs -------------------------------------------------------------------------------


_KEY = "w_tab"
_COMPARED = {
    "methods": "Which method has the smallest error?",
    "sweep": "What makes the error of the {} fall?",
}
_COMPARISONS = {"methods": "Methods side by side", "sweep": "Error along one setting"}


@dataclass(frozen=True)
class Shown:
    """The heading of a tab, and its contents of the drawer."""

    finding: str
    details: list[Detail]


@dataclass(frozen=True)
class Tab:
    """A tab: its word in links, its title, and what draws it for an estimand."""

    key: str
    title: str
    draw: Callable[[Estimand], Shown]


def estimate(estimand: Estimand) -> Shown:
    """Show the blocks of an estimand, the same for all."""
    estimand.own_data()
    above, below = st.container(), layout.pending(estimand.task)
    with above:
        view = page.look(estimand.see, data=estimand.task)
    with below():  # nothing of another estimand stands there meanwhile
        page.cards(view, *estimand.cards)
    more = (
        []
        if view is None
        else [Detail(each.key, each.title, partial(each.draw, view)) for each in estimand.details]
    )
    finding = "" if view is None else view.finding
    return Shown(finding or estimand.title, [*more, *page.details(view)])


def compare(estimand: Estimand) -> Shown:
    """Show one of the two comparisons, and pinned scenarios below it."""
    has_methods = estimand.task == MEAN_FUNCTION.key
    part = session.current().compare_part if has_methods else "sweep"
    if has_methods:
        controls.bound(
            st.segmented_control,
            "Comparison",
            part,
            lambda key: session.change(compare_part=key or part),
            "comparison",
            options=list(_COMPARISONS),
            format_func=_COMPARISONS.__getitem__,
            label_visibility="collapsed",
        )
    view = (_methods if part == "methods" else _sweep)(estimand)
    with layout.user_errors():
        pins.section()
    return Shown(_COMPARED[part].format(uncapital(estimand.title)), page.details(view))


def _methods(estimand: Estimand) -> View | None:
    """Compare every method at every budget."""
    estimand.own_data()
    view = page.look(cards.SideBySide, height=600)
    page.cards(view, cards.choices, cards.sizes, cards.pictures)
    if view is not None and view.known:
        page.cards(view, cards.table, cards.equal_protection, cards.shapes_kept)
    return view


def _sweep(estimand: Estimand) -> View:
    """Simulate the error afresh for each value of the varied parameter."""
    task, scenario = estimand.task, None
    sweeps.strip(task)
    layout.prose(
        "Choose what to vary. Each value is simulated afresh, and its error drawn as a point."
    )
    with layout.user_errors():
        scenario = sweeps.panel(task)
    return sweeps.ShownSweep(task, scenario)


def verify(estimand: Estimand) -> Shown:
    """Show every claim, and an attack, coverage, or noise used twice on simulated data."""
    audit_cards.claims_table()
    view = page.look(Audited)
    if view is not None:
        view.asks_for_budget = not estimand.has_budget
    page.cards(view, audit_cards.part_choice)
    if view is not None:
        page.cards(view, audit_cards.SECTIONS[view.settings.audit_part])
    return Shown(claims.title(), page.details(view))


def papers(estimand: Estimand) -> Shown:
    """Reproduce one figure or table of a paper, to see whether its claims replicate."""
    if not exhibits.is_installed():
        layout.empty(f"{exhibits.MISSING} {exhibits.HINT}")
        return Shown("Papers", [])
    reproduce.strip()
    reproduce.overview()
    view = reproduce.choices()
    page.cards(
        view,
        reproduce.heading,
        reproduce.again,
        reproduce.drawings,
        reproduce.claims,
        reproduce.take_away,
    )
    printed = (
        [Detail("published", "As printed", lambda: reproduce.published(view))]
        if view.exhibit.published
        else []
    )
    every = Detail("every_claim", "All claims", reproduce.every_claim)
    return Shown(exhibits.words.TITLE, [every, *printed, *view.details()])


TABS = (
    Tab("estimate", "Estimate", estimate),
    Tab("compare", "Compare", compare),
    Tab("theory", "Theory", theory),
    Tab("verify", "Verify", verify),
    Tab("papers", "Papers", papers),
)


def show(estimand: Estimand) -> Shown:
    """Show the row of tabs and the content of the open one.

    The drawer has options first, then what belongs to the open tab.
    """
    shown = Shown(estimand.title, [])
    titles = {tab.key: tab.title for tab in TABS}
    st.session_state[_KEY] = titles[session.current().lab_tab]
    for tab, slot in zip(
        TABS, st.tabs(list(titles.values()), key=_KEY, on_change=_open), strict=True
    ):
        if tab.key == session.current().lab_tab:
            with slot, layout.user_errors():
                shown = tab.draw(estimand)
    options = Detail(
        "options",
        "All settings",
        partial(_settings, estimand),
        (f"{estimand.key}_more", "compare_more", "sweeps_more"),
    )
    return replace(shown, details=[options, *shown.details])


def _settings(estimand: Estimand) -> None:
    """Draw the choice of an own file, and every parameter."""
    if session.shows_own_data():
        panel.button()
    estimand.options()


def _open() -> None:
    """Take over the tab that was pressed."""
    title = st.session_state[_KEY]
    session.change(lab_tab=next(tab.key for tab in TABS if tab.title == title))
