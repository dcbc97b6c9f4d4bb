"""Lab, *Theory*: rates with their regimes, theory over practice, and notes on each method."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.language import tags
from engine.language.grammar import uncapital
from pages.parts.lab import method_notes
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
    return _rates(estimand.task) if part == "rates" else _notes()


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


def _notes() -> list[Detail]:
    """What each method guarantees, why its noise is enough, and what papers misprint."""
    key = method_notes.method_choice()
    page.cards(key, method_notes.method)
    return method_notes.details(key)
