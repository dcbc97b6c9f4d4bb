"""Lab, *Theory*: rates with their regimes, theory over practice, and notes on each method."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from engine import handbook
from engine.core.enumerations import Guarantee
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.language import tags
from engine.language.grammar import uncapital
from engine.mechanisms import mechanisms
from pages.parts.lab.estimands import Estimand
from pages.parts.rates import cards, practice
from pages.shared.frame import controls, page, strips
from pages.shared.frame.drawer import Detail
from pages.shared.state import session

_PARTS = {"rates": "Rates", "notes": "Method notes"}


def draw(estimand: Estimand) -> list[Detail]:
    """One of both parts."""
    part = session.current().theory
    controls.bound(st.segmented_control, "Part", part,
                   lambda key: session.change(theory=key or part), "theory",
                   options=list(_PARTS), format_func=_PARTS.__getitem__,
                   label_visibility="collapsed")
    if part == "rates":
        return _rates(estimand.task)
    key = method_choice()
    page.cards(key, method_notes)
    return details_of_method(key)


def _rates(task: str) -> list[Detail]:
    """What limits the error by theory, and whether simulations agree."""
    if cards.rate_on_screen(session.current()) is None:
        _without_rate(task)
        return []
    view = page.look(cards.RateAtPoint)
    page.cards(view, cards.choices, (cards.regimes, cards.answer), practice.practice,
               cards.notions, cards.by_eye)
    if view is None:
        return []
    return [Detail("rate_options", "Trust and smoothness", partial(cards.options, view)),
            *view.details()]


def _without_rate(task: str) -> None:
    """That nobody has published a rate for what is estimated."""
    source, epsilon = session.source(task), session.current().epsilon
    method = session.current().mechanism_of(task)
    budget = Budget(epsilon, session.delta(source, task).value)
    strips.fixed(source.facts, tags.budget_chip(budget), "rates_strip",
                 strips.by_method(method, source, budget), "", TASKS[task].unit, epsilon,
                 pins_here=False)
    st.info(f"**No rate is published for this estimand: {uncapital(TASKS[task].label)}.** "
            "*Compare* measures how its error falls with people, observations and ε; *Method "
            "notes* say what is guaranteed.", icon=":material/info:")


# -- notes on each method --------------------------------------------------------------------------


_LAB = Path(__file__).parents[2] / "lab.py"
_GUARANTEES = {Guarantee.PURE: "δ = 0", Guarantee.APPROXIMATE: "δ above 0",
               Guarantee.EITHER: "δ = 0 or above"}
_UNDER = ("Errata", "Source", "Where to see it")  # beside the other parts, in the narrow column


def method_choice() -> str:
    """The method to read about; an address brings it back."""
    current = session.current().about
    controls.bound(st.selectbox, "Method", current, lambda key: session.change(about=key), "about",
                   options=list(handbook.method_keys()), format_func=handbook.method_label,
                   width=640)
    return current


def method_notes(key: str) -> None:
    """Notes on one method."""
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
    """Its formula, the exhibits it is in, what was measured, and all methods."""
    measured = handbook.measured(key)
    return [Detail("method_formula", "Formula", lambda: st.latex(mechanisms.get(key).formula)),
            Detail("method_exhibits", "Figures and tables of papers", lambda: _exhibits(key)),
            *([Detail("method_measured", "What was measured", lambda: st.markdown(measured))]
              if measured else []),
            Detail("all_methods", "All methods", _all_methods)]


def _exhibits(key: str) -> None:
    """Links to the figures and tables of papers that this method is in."""
    titles = handbook.exhibits(key)
    for name, title in titles:
        st.page_link(_LAB, label=title, icon=":material/arrow_forward:",
                     query_params={"s": f"tab-papers~exhibit-{name}"})
    if not titles:
        st.markdown("None: this method was derived here, and no paper has figures of it.")


def _part_of_notes(notes: handbook.Chapter, title: str) -> None:
    st.subheader(title, anchor=False)
    st.markdown(notes.part(title))


def _all_methods() -> None:
    """What each is for and promises, as the registry says."""
    st.dataframe(pd.DataFrame([
        {"Method": cls.label, "What it gives": handbook.method(cls.key).opening,
         "Guarantee": _GUARANTEES[cls.guarantee], "Paper": cls.reference}
        for cls in mechanisms.all()]), hide_index=True)
