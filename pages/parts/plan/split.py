"""The fold of Plan that splits one total over several outputs, some of them locked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.language import odds_words
from engine.language.numbers import number, small, with_unit
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import budget_split
from engine.topics.planning import words as planning_words
from engine.topics.planning.budget_split import MAX_PARTS, WAYS, Part, Split
from pages.parts.plan import cards as plan_cards
from pages.shared.frame import controls, layout
from pages.shared.state import run, session

_TABLE = 180  # pixels, while it is computed
_WAYS = {"sum": "ε’s add, as in the ledger", "tight": "Tight: squares of μ add"}


def fold(view: plan_cards.Planned) -> None:
    """What every output gets, and what it would err by."""
    with layout.fold("Split a total over several outputs", "split") as is_open:
        if not is_open:
            return
        st.markdown(planning_words.split_lead(view.facts))
        delta, split = session.delta(view.source).value, view.settings.split
        if delta == 0:  # pure budgets add in one way only
            split = replace(split, way=WAYS[0])
        _total(split, delta)
        try:
            budgets = budget_split.shares(split, delta)
        except InputError as problem:  # the rows below stay, so that a lock can be opened
            st.error(controls.message(problem), icon=":material/lock:")
            budgets = ()
        _rows(split, budgets)
        if budgets:
            _answer(view, split, budgets)


def _total(split: Split, delta: float) -> None:
    """The total, how many outputs, and how they add up."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.number("Total ε for one person", split.total, _set_total, "split_total", width=200)
        controls.number("Outputs", len(split.parts), _resize, "split_outputs", is_whole=True,
                        width=140)
        if delta > 0:
            controls.bound(st.segmented_control, "How they add up", split.way,
                           _set_way, "split_way",
                           options=list(WAYS), format_func=_WAYS.get,
                           help=planning_words.SPLIT_WAYS)


def _set_total(total: float) -> None:
    session.change(split=replace(session.current().split, total=total))


def _set_way(rule: str | None) -> None:
    split = session.current().split
    session.change(split=replace(split, way=rule or split.way))


def _resize(count: int) -> None:
    if not 1 <= count <= MAX_PARTS:
        raise InputError(f"There can be 1 to {MAX_PARTS} outputs; got {count:,}.", field="outputs")
    split = session.current().split
    parts = (*split.parts, *[Part()] * MAX_PARTS)[:count]
    session.change(split=replace(split, parts=parts))


def _replace_part(k: int, part: Part) -> None:
    split = session.current().split
    session.change(split=replace(split, parts=(*split.parts[:k], part, *split.parts[k + 1:])))


def _set_weight(k: int, weight: float) -> None:
    _replace_part(k, Part(weight))


def _set_epsilon(k: int, epsilon: float) -> None:
    _replace_part(k, Part(locked=epsilon))


def _lock(k: int, epsilon: float | None, is_on: bool) -> None:
    """Hold an output at the ε that it has now, or let it follow its weight again."""
    _replace_part(k, Part(locked=epsilon) if is_on else Part())


def _rows(split: Split, budgets: Sequence[Budget]) -> None:
    """For every output a weight, or where it is locked its ε."""
    for k, part in enumerate(split.parts):
        epsilon = budgets[k].epsilon if budgets else part.locked
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if part.locked is None:
                controls.number(f"Weight of output {k + 1}", part.weight, partial(_set_weight, k),
                                f"split_weight_{k}", width=200)
            else:
                controls.number(f"ε of output {k + 1}", part.locked, partial(_set_epsilon, k),
                                f"split_epsilon_{k}", width=200)
            controls.bound(st.toggle, f"Lock output {k + 1}", part.locked is not None,
                           partial(_lock, k, epsilon), f"split_lock_{k}", disabled=epsilon is None)


def _answer(view: plan_cards.Planned, split: Split, budgets: Sequence[Budget]) -> None:
    """What each output gets and errs by, and what all of them cost together."""
    setting = replace(view.setting, delta=budgets[0].delta)
    slot = layout.pending(_TABLE, False)
    errors = run.parts(planning_topic.error_map, setting, (setting.people,),
                       tuple(budget.epsilon for budget in budgets), view.settings.seed)[0]
    unit = view.facts.value_unit
    protections = [run.at_once(planning_topic.protection, replace(setting, epsilon=budget.epsilon))
                   for budget in budgets]
    guesses = [odds_words.odds_short(protection.for_group(view.settings.group).odds)
               for protection in protections]
    with slot():
        layout.table({
            "output": [f"{k + 1}" + " (locked)" * (part.locked is not None)
                       for k, part in enumerate(split.parts)],
            "ε": [budget.epsilon for budget in budgets],
            "δ": [small(budget.delta) for budget in budgets],
            "error": [with_unit(number(float(error)), unit)
                      if np.isfinite(error) else "nothing would be published"
                      for error in errors],
            "attacker’s accuracy": guesses})
        st.markdown(planning_words.split_total(split, budgets))
