"""Releases over time on Decide: what each period may spend, and changes in its place."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from engine.language.grammar import escape
from engine.language.numbers import digits_down, in_unit
from engine.topics.planning import periods as topic
from engine.topics.planning.periods import PlannedPeriods
from pages.parts.plan import Planned
from pages.shared.frame import controls, layout
from pages.shared.state import allowed, run, session

_USUAL = 12


def section(view: Planned) -> None:
    """Ask for the number of releases, and show levels, fewer levels and changes."""
    current = session.current()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.number(
            "Releases",
            current.periods or _USUAL,
            lambda count: session.change(periods=allowed.periods(count)),
            "periods",
            is_whole=True,
            help="Such as 36 for a curve every month for three years.",
            width=140,
        )
        controls.number(
            f"Most that one {view.facts.person} is in",
            current.stays,
            lambda count: session.change(stays=None if count is None else allowed.periods(count)),
            "stays",
            is_whole=True,
            is_optional=True,
            help="The ledger of each person has to hold it. Empty: all of them.",
            width=200,
        )
    plan: PlannedPeriods = run.answer(
        topic.planned, view.setting, current.periods or _USUAL, current.stays, current.seed
    )
    layout.table(_rows(plan, view.facts.value_unit), False, "content")
    for sentence in topic.sentences(plan, view.facts):
        st.markdown(escape(sentence))


def _rows(plan: PlannedPeriods, unit: str) -> list[dict[str, Any]]:
    """List the alternatives at one total: levels, fewer levels, changes."""
    levels = [(plan.periods, plan.error), *plan.fewer]
    rows = [
        {
            "Released": "levels",
            "Releases": choice.n_periods,
            "ε each": digits_down(choice.each.epsilon, 2),
            "Error": topic.error_in_words(measured, unit),
        }
        for choice, measured in levels
    ]
    if plan.changes is not None:
        split = plan.changes.periods
        noise = plan.changes.noise
        rows.append(
            {
                "Released": "changes",
                "Releases": split.n_periods,
                "ε each": digits_down(split.each.epsilon, 2),
                "Error": f"{in_unit(noise, unit)} of noise"
                if math.isfinite(noise)
                else "not known",
            }
        )
    return rows
