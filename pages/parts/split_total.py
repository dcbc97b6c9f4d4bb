"""The fold of Decide that splits one total over several outputs, some of them locked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.language import odds_words
from engine.language.numbers import in_unit, small
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import budget_split
from engine.topics.planning import words as planning_words
from engine.topics.planning.budget_split import MAX_PARTS, RULES, OutputShare, Split
from pages.parts.plan import Planned
from pages.shared.frame import controls, layout
from pages.shared.state import run, session

_RULE_LABELS = {"sum": "ε’s add, as in the ledger", "tight": "Tight: squares of μ add"}


def fold(view: Planned) -> None:
    layout.folded("Split a total over several outputs", "split", partial(_split, view))


def _split(view: Planned) -> None:
    """Show the budget and error of every output."""
    st.markdown(planning_words.split_lead(view.facts))
    delta, split = session.delta(view.source).value, view.settings.budget_split
    if delta == 0:  # pure budgets add in one way only
        split = replace(split, rule=RULES[0])
    _total(split, delta)
    budgets: Sequence[Budget] = ()
    with controls.refusals(":material/lock:"):  # the rows below stay, so that a lock can be opened
        budgets = budget_split.shares(split, delta)
    _rows(split, budgets)
    if budgets:
        _answer(view, split, budgets)


def _total(split: Split, delta: float) -> None:
    """Ask for the total, the number of outputs, and how they add up."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.number(
            "Total ε for one person",
            split.total,
            lambda total: _change(total=total),
            "split_total",
            width=200,
        )
        controls.number(
            "Outputs", len(split.parts), _resize, "split_outputs", is_whole=True, width=140
        )
        if delta > 0:
            controls.bound(
                st.segmented_control,
                "How they add up",
                split.rule,
                lambda rule: _change(rule=rule or split.rule),
                "split_way",
                options=list(RULES),
                format_func=_RULE_LABELS.get,
                help=planning_words.SPLIT_RULES,
            )


def _change(**values: Any) -> None:
    session.change(budget_split=replace(session.current().budget_split, **values))


def _resize(count: int) -> None:
    if not 1 <= count <= MAX_PARTS:
        raise InputError(f"There can be 1 to {MAX_PARTS} outputs; got {count:,}.", field="outputs")
    parts = session.current().budget_split.parts
    _change(parts=(*parts, *[OutputShare()] * MAX_PARTS)[:count])


def _rows(split: Split, budgets: Sequence[Budget]) -> None:
    for k, part in enumerate(split.parts):
        _row(k, part, budgets[k].epsilon if budgets else part.locked)


def _row(k: int, part: OutputShare, epsilon: float | None) -> None:
    """Choose a weight for an output, or lock it at the ε that it has now."""

    def put(part: OutputShare) -> None:
        parts = session.current().budget_split.parts
        _change(parts=(*parts[:k], part, *parts[k + 1 :]))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        if part.locked is None:
            controls.number(
                f"Weight of output {k + 1}",
                part.weight,
                lambda weight: put(OutputShare(weight)),
                f"split_weight_{k}",
                width=200,
            )
        else:
            controls.number(
                f"ε of output {k + 1}",
                part.locked,
                lambda epsilon: put(OutputShare(locked=epsilon)),
                f"split_epsilon_{k}",
                width=200,
            )
        controls.bound(
            st.toggle,
            f"Lock output {k + 1}",
            part.locked is not None,
            lambda is_on: put(OutputShare(locked=epsilon) if is_on else OutputShare()),
            f"split_lock_{k}",
            disabled=epsilon is None,
        )


def _answer(view: Planned, split: Split, budgets: Sequence[Budget]) -> None:
    """Show the budget and error of each output, and the total cost."""
    setting = replace(view.setting, delta=budgets[0].delta)
    errors = run.parts(
        planning_topic.error_map,
        setting,
        (setting.people,),
        tuple(budget.epsilon for budget in budgets),
        view.settings.seed,
    )[0]
    unit = view.facts.value_unit
    protections = [
        run.at_once(planning_topic.protection, replace(setting, epsilon=budget.epsilon))
        for budget in budgets
    ]
    guesses = [
        odds_words.odds_short(protection.for_group(view.settings.group_size).odds)
        for protection in protections
    ]
    layout.table(
        {
            "output": [
                f"{k + 1}" if part.locked is None else f"{k + 1} (locked)"
                for k, part in enumerate(split.parts)
            ],
            "ε": [budget.epsilon for budget in budgets],
            "δ": [small(budget.delta) for budget in budgets],
            "error": [
                in_unit(float(error), unit) if np.isfinite(error) else "nothing would be published"
                for error in errors
            ],
            "attacker’s accuracy": guesses,
        }
    )
    st.markdown(planning_words.split_total(split, budgets))
