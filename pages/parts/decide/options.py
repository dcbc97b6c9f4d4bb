"""Three budgets to choose from, and the map around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.types import Array
from engine.language import glossary
from engine.topics.better import Quantity
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import better as better_topic
from engine.topics.decision import charts, words
from engine.topics.decision.answer import Decision, Option
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts.decide.view import DecideView, use_simulated
from pages.shared.cards import better
from pages.shared.frame import controls, layout, timed
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session

CARDS = 345  # pixels
MAP = "map"  # its fold
_HEIGHT = 380  # pixels of the map alone
_COLUMNS = 3  # cards in a row


def solve(view: DecideView) -> None:
    """Simulate the study; the view keeps a reason against it, to show in place of the cards."""
    if view.refusal is not None:
        return
    try:
        view.decide(view.simulated())
    except InputError as problem:
        view.refusal = problem


def cards(view: DecideView) -> None:
    """Show the budget for the target, and one step of the scale to either side."""
    answer = view.answer
    if answer is None:
        _refused(view)
        return
    if answer.chosen is None:
        st.error(words.not_reached(answer), icon=":material/block:")
    for k, (column, (name, option)) in enumerate(
        zip(st.columns(_COLUMNS), answer.options, strict=False)
    ):
        with column, st.container(border=True, key=f"option_{k}"):
            _card(view, name, option, option is answer.chosen)
    if answer.chosen is not None and not answer.chosen.keeps_promise:
        st.error(
            "**The noise of this method does not prove the ε that was asked for.** See the "
            "privacy ledger.",
            icon=":material/error:",
        )


def _refused(view: DecideView) -> None:
    """Say why there is no study, with a button that mends it if there is one."""
    problem = view.refusal
    if problem is None:
        return
    st.error(controls.message(problem), icon=":material/block:")
    if problem.field == "source":
        st.button(
            "Use simulated data", key="use_simulated", on_click=use_simulated, args=(view.decided,)
        )
    elif problem.field == "noise":
        st.button(
            words.WHO[NoisePlace.SITES].format(site=view.site),
            key="let_sites",
            on_click=lambda: session.change(noise_place=NoisePlace.SITES),
        )


def what_helps(view: DecideView) -> None:
    """List what would make a smaller ε enough, or the target reachable."""
    answer = view.answer
    if answer is None:
        return
    source, mechanism, rows, delta, noise, seed = view.arguments
    arguments = {
        "source": source,
        "mechanism": mechanism,
        "rows": rows,
        "delta": delta,
        "noise": noise,
        "seed": seed,
    }
    now = math.nan if answer.chosen is None else answer.chosen.budget.epsilon
    measured = better.Measurement(
        decision_topic.tried,
        arguments,
        Quantity.BUDGET,
        now,
        "",
        partial(better_topic.epsilon_after, answer=answer),
    )
    changes = better_topic.changes(answer.profile, view.on_screen.facts)
    better.show(changes, measured, session.data_task(view.decided.key), better_topic.less(answer))


def _card(view: DecideView, name: str, option: Option, is_chosen: bool) -> None:
    mark = ":blue[:material/check_circle:] " if is_chosen else ""
    assert view.answer is not None
    title, lines = words.on_card(view.answer, name, option)
    st.markdown(f"## {mark}ε = {option.budget.epsilon:g} :small[{title}]\n" + "  \n".join(lines))
    view.draw(
        f"Release at ε = {option.budget.epsilon:g}",
        charts.option_picture(view.answer, option),
        f"band_{name.replace(' ', '_').lower()}",
        130,
        120,
    )


def error_map(view: DecideView) -> None:
    """Show a fold with the map, its target line and the least error that is possible."""
    if view.answer is None:
        return
    answer = view.answer
    layout.folded("Accuracy by people and ε", MAP, lambda: _map_and_floor(view, answer))


def _map_and_floor(view: DecideView, answer: Decision) -> None:
    _map(view, answer)
    layout.small(words.floor(answer), help=glossary.explain("Floor"))


def _map(view: DecideView, answer: Decision) -> None:
    """Simulate the map row by row after the page is drawn; draw it from the second row on."""
    tables = decision_topic.map_tables(view.rows)
    calls = [view.with_rows(rows) for rows in tables]
    if uses_workers() and not all(run.knows(decision_topic.map_row, *call) for call in calls):
        timed.row_by_row(
            "The map is being simulated",
            decision_topic.map_row,
            calls,
            lambda rows: _draw_map(view, answer, tables[: len(rows)], rows),
        )
        return
    try:
        rows = [run.answer(decision_topic.map_row, *call) for call in calls]
    except InputError as problem:  # a method may refuse fewer people
        st.markdown(f":small[{controls.message(problem)}]")
        return
    _draw_map(view, answer, tables, rows)


def _draw_map(
    view: DecideView, answer: Decision, tables: Sequence[Sequence[SiteRow]], errors: Sequence[Array]
) -> None:
    """Draw the map of some rows, and explain it."""
    people = [site_table.people(rows) for rows in tables]
    if answer.more_private is None and not any(np.isfinite(row).any() for row in errors):
        st.markdown(words.nothing_on_map((*people, answer.profile.n_people), view.facts))
        return
    view.draw(
        "Accuracy over people and ε",
        charts.error_map(answer, people, errors),
        "map",
        _HEIGHT,
        320,
        below=f"{charts.map_key(answer, people, errors)} {words.jump(answer)}",
    )
