"""The editor of the table of sites on Decide, and the table it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import PublicFacts
from engine.language.grammar import a, capital
from engine.sources import Source
from engine.sources import sources as all_sources
from engine.topics.decision import words as decision_words
from engine.topics.decision.answer import equal_sites
from engine.topics.sites import site_table as tables
from engine.topics.sites.answer import SitesAnswer
from engine.topics.sites.site_table import PRESETS, SiteRow
from pages.shared.frame import controls
from pages.shared.state import session, settings
from pages.shared.state import site_table as table_on_screen

_OWN_TABLE, _OF_SENTENCE = "Your own table", "Sizes as stated"
_WIDTHS = {
    "name": 130,
    "epsilon": 60,
    "people": 105,
    "readings": 105,
    "delta": 75,
    "included": 105,
    "weight": 70,
    "share": 105,
    "guarantee": 165,
}  # pixels
# The columns of the table of Decide, where all sites have one budget, and of their own budgets.
STUDY = ("name", "people", "readings", "included")
BUDGETS = ("name", "epsilon", "delta", "included", *table_on_screen.FIXED)
_ROW, _HEAD, _MAX_ROWS = 35, 38, 12  # pixels of the table, and rows before it scrolls


def rows() -> tuple[SiteRow, ...]:
    """Return the table of the settings, or of curves that come with their sites.

    The latter stays in the session: it may hold names from a file, and never enters an address.
    """
    source = session.source()
    if source.has_free_sites:
        return stated(session.current(), source)
    default, edited = _usual_rows(source), st.session_state.get("given_sites", ())
    return edited if _sizes(edited) == _sizes(default) else default


def stated(scenario: settings.Settings, source: Source) -> tuple[SiteRow, ...]:
    """Return the table of the settings, else the sites of the source at one ε."""
    noun = capital(decision_words.site_noun(source.facts)[0])
    return scenario.sites or tuple(
        replace(row, epsilon=scenario.epsilon) for row in equal_sites(source, noun)
    )


def _usual_rows(source: Source) -> tuple[SiteRow, ...]:
    """Return the sites that come with the curves on screen, looked up once."""
    known = st.session_state.get("sites_of")
    if known is None or known[0] is not source:
        known = st.session_state.sites_of = source, tables.rows_of(source, source.site_names)
    return known[1]


def _sizes(rows: Sequence[SiteRow]) -> list[tuple[str, int, int]]:
    return [(row.name, row.n_curves, row.n_observations_per_curve) for row in rows]


def taken_edits() -> InputError | None:
    """Make the table from the edits; without edits it stays as it was.

    The result is the reason against a table that cannot be simulated; the last one that could
    stays.
    """
    try:
        for columns in (STUDY, BUDGETS):
            edits = st.session_state.get(_editor_key(columns), {}).get("edited_rows", {})
            if edits:
                _keep(table_on_screen.edited(rows(), edits))
    except InputError as problem:
        return problem
    return None


def _keep(table: Sequence[SiteRow]) -> None:
    """Take over a table that can be simulated; refuse any other and leave all as it is."""
    free = session.source().has_free_sites
    checked = tables.checked(table, fixed=not free)
    if free:
        session.take_over(sites=checked)
    else:
        st.session_state.given_sites = checked


def _editor_key(columns: Sequence[str]) -> str:
    """Return a key that changes with the curves, and with changes of the table from outside."""
    source = session.source()
    sizes = [] if source.has_free_sites else _sizes(rows())
    part = "study" if columns is STUDY else "budgets"
    count = f"{st.session_state.rev}_{st.session_state.get('tables', 0)}"
    return f"sites_{part}_{count}_{digest((source.facts.name, sizes))}"


def preset_choice() -> None:
    """Choose a table to start from."""
    labels = [preset.label for preset in PRESETS.values()]
    key = tables.preset_of(rows())
    is_own = bool(session.current().sites) or not session.source().has_free_sites
    other = _OWN_TABLE if is_own else _OF_SENTENCE
    current = PRESETS[key].label if key else other

    def write(label: str) -> None:
        preset = next((p for p in PRESETS.values() if p.label == label), None)
        if preset is None:
            return
        if preset.source and session.source().key != preset.source:
            session.change_study(settings.TASK, all_sources.get(preset.source)())
        replace_table(preset.rows)

    controls.bound(
        st.selectbox,
        "Start from",
        current,
        write,
        "site_preset",
        options=labels if key else [other, *labels],
        help="Tables to start from; every cell can then be changed.",
    )


def replace_table(table: Sequence[SiteRow]) -> None:
    """Replace the table; the editor starts anew."""
    _keep(table)
    session.change()
    restart()


def restart() -> None:
    """Forget edits of cells: they were of a table that is no longer there."""
    st.session_state.tables = st.session_state.get("tables", 0) + 1


def _replace_by(change: Callable[[], Sequence[SiteRow]]) -> Callable[[], None]:
    """Return a callback that changes the table, or explains why not and leaves it as it is."""

    def changed() -> None:
        try:
            replace_table(change())
        except InputError as problem:
            st.session_state.problem = ("sites", problem)

    return changed


def editor(
    federation: SitesAnswer | None, facts: PublicFacts, columns: Sequence[str] = BUDGETS
) -> None:
    """Draw the sites for editing; computed cells follow. `columns` are the visible ones.

    The number of rows is fixed for the editor, so that an edit neither remounts it nor moves the
    focus; sites come and go by the buttons below it.
    """
    free, current = session.source().has_free_sites, rows()
    st.data_editor(
        table_on_screen.frame(current, federation),
        key=_editor_key(columns),
        num_rows="fixed",
        hide_index=True,
        disabled=[*table_on_screen.FIXED, *(() if free else table_on_screen.SIZES)],
        column_config=_columns(facts),
        placeholder="default",
        column_order=columns,
        height=_HEAD + _ROW * min(len(current), _MAX_ROWS),
        on_change=session.change,
    )  # an edit is no navigation
    controls.show_problem("sites")


def buttons(facts: PublicFacts) -> None:
    """Draw buttons that add and remove sites, and one for those that take no part, if any."""
    site, several = decision_words.site_noun(facts)
    with st.container(horizontal=True):
        st.button(
            f"Add {a(site)}",
            icon=":material/add:",
            key="add_site",
            disabled=len(rows()) >= tables.MAX_SITES,
            on_click=_replace_by(lambda: table_on_screen.one_more(rows())),
        )
        if not all(row.included for row in rows()):
            st.button(
                "Remove unticked",
                icon=":material/remove:",
                key="remove_sites",
                help=f"Removes the {several} that take no part.",
                on_click=_replace_by(lambda: [row for row in rows() if row.included]),
            )


def _columns(facts: PublicFacts) -> dict[str, ColumnConfig]:
    kinds: dict[str, Callable[..., ColumnConfig]] = {
        "name": st.column_config.TextColumn,
        "included": st.column_config.CheckboxColumn,
        **dict.fromkeys(table_on_screen.FIXED, st.column_config.TextColumn),
    }
    shapes: dict[str, dict[str, Any]] = {
        "people": {"format": "%d", "step": 1},
        "readings": {"format": "%d", "step": 1},
        "epsilon": {"format": "%g"},
        "delta": {"format": "%.2g"},
    }
    return {
        column: kinds.get(column, st.column_config.NumberColumn)(
            label, help=words, width=_WIDTHS[column], **shapes.get(column, {})
        )
        for column, (label, words) in table_on_screen.labels(facts).items()
    }
