"""The table of Sites as it is kept, and the editor that changes it."""

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
from pages.shared.state import session, settings, site_table

_OWN_TABLE, _OF_SENTENCE = "Your own table", "Sizes as stated"
_WIDTHS = {"name": 130, "epsilon": 60, "people": 105, "readings": 105, "delta": 75,
           "included": 105, "weight": 70, "share": 105, "guarantee": 165}  # pixels
# The columns of the table of Decide, where all sites have one budget, and of their own budgets.
STUDY = ("name", "people", "readings", "included")
BUDGETS = ("name", "epsilon", "delta", "included", *site_table.FIXED)
_ROW, _HEAD, _MAX_ROWS = 35, 38, 12  # pixels of the table, and rows before it scrolls


def rows() -> tuple[SiteRow, ...]:
    """The table of the settings, or of curves that come with their sites.

    The latter stays in the session: it may hold names from a file, and never enters an address.
    """
    source = session.source()
    if source.has_free_sites:
        current = session.current()
        noun = capital(decision_words.site_noun(source.facts)[0])
        return current.sites or tuple(replace(row, epsilon=current.epsilon)
                                      for row in equal_sites(source, noun))
    default, edited = _usual_rows(source), st.session_state.get("given_sites", ())
    return edited if _sizes(edited) == _sizes(default) else default


def _usual_rows(source: Source) -> tuple[SiteRow, ...]:
    """The sites that come with the curves on screen, looked up once."""
    known = st.session_state.get("sites_of")
    if known is None or known[0] is not source:
        known = st.session_state.sites_of = source, tables.rows_of(source, source.site_names)
    return known[1]


def _sizes(rows: Sequence[SiteRow]) -> list[tuple[str, int, int]]:
    return [(row.name, row.n_curves, row.n_observations_per_curve) for row in rows]


def take_edits() -> None:
    """What was edited becomes the table; without edits there stays what was there.

    Raises
    ------
    InputError
        If such a table cannot be simulated; the last one that could stays.
    """
    for columns in (STUDY, BUDGETS):
        edits = st.session_state.get(_editor_key(columns), {}).get("edited_rows", {})
        if edits:
            _keep(site_table.edited(rows(), edits))


def _keep(table: Sequence[SiteRow]) -> None:
    """Take over a table that can be simulated; refuse any other and leave all as it is."""
    free = session.source().has_free_sites
    checked = tables.checked(table, fixed=not free)
    if free:
        session.take_over(sites=checked)
    else:
        st.session_state.given_sites = checked


def _editor_key(columns: Sequence[str]) -> str:
    """Another editor for other curves, and whenever the table was not changed by its cells."""
    source = session.source()
    sizes = [] if source.has_free_sites else _sizes(rows())
    part = "study" if columns is STUDY else "budgets"
    count = f"{st.session_state.rev}_{st.session_state.get('tables', 0)}"
    return f"sites_{part}_{count}_{digest((source.facts.name, sizes))}"


# -- another table ---------------------------------------------------------------------------


def preset_choice() -> None:
    """Tables to start from."""
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

    controls.bound(st.selectbox, "Start from", current, write, "site_preset",
                   options=labels if key else [other, *labels],
                   help="Tables to start from; every cell can then be changed.")


def replace_table(table: Sequence[SiteRow]) -> None:
    """Another table; the editor starts anew.

    Raises
    ------
    InputError
        If it cannot be simulated; the last one stays.
    """
    _keep(table)
    session.change()
    restart()


def restart() -> None:
    """Forget edits of cells: they were of a table that is no longer there."""
    st.session_state.tables = st.session_state.get("tables", 0) + 1


def _replace_by(change: Callable[[], Sequence[SiteRow]]) -> Callable[[], None]:
    """A change of the table that, if it cannot be, is explained and leaves all as it is."""
    def changed() -> None:
        try:
            replace_table(change())
        except InputError as problem:
            st.session_state.problem = ("sites", problem)
    return changed


# -- the editor ------------------------------------------------------------------------------


def editor(federation: SitesAnswer | None, facts: PublicFacts, columns: Sequence[str] = BUDGETS
           ) -> None:
    """The sites, to be edited; cells that are worked out follow. `columns` are those in sight.

    The number of rows is fixed for the editor, so that an edit neither remounts it nor moves the
    focus; sites come and go by the buttons below it.
    """
    free, current = session.source().has_free_sites, rows()
    st.data_editor(
        site_table.frame(current, federation), key=_editor_key(columns), num_rows="fixed",
        hide_index=True,
        disabled=[*site_table.FIXED, *(() if free else site_table.SIZES)],
        column_config=_columns(facts), placeholder="default", column_order=columns,
        height=_HEAD + _ROW * min(len(current), _MAX_ROWS),
        on_change=session.change)  # an edit is no navigation
    controls.show_problem("sites")


def buttons(facts: PublicFacts) -> None:
    """Sites come and go; those that take no part can be removed, where there are any."""
    site, several = decision_words.site_noun(facts)
    with st.container(horizontal=True):
        st.button(f"Add {a(site)}", icon=":material/add:", key="add_site",
                  disabled=len(rows()) >= tables.MAX_SITES,
                  on_click=_replace_by(lambda: site_table.one_more(rows())))
        if not all(row.included for row in rows()):
            st.button("Remove unticked", icon=":material/remove:", key="remove_sites",
                      help=f"Removes the {several} that take no part.", on_click=_replace_by(
                          lambda: [row for row in rows() if row.included]))


def _columns(facts: PublicFacts) -> dict[str, ColumnConfig]:
    kinds: dict[str, Callable[..., ColumnConfig]] = {
        "name": st.column_config.TextColumn, "included": st.column_config.CheckboxColumn,
        **dict.fromkeys(site_table.FIXED, st.column_config.TextColumn)}
    shapes: dict[str, dict[str, Any]] = {
        "people": {"format": "%d", "step": 1}, "readings": {"format": "%d", "step": 1},
        "epsilon": {"format": "%g"}, "delta": {"format": "%.2g"}}
    return {column: kinds.get(column, st.column_config.NumberColumn)(
        label, help=words, width=_WIDTHS[column], **shapes.get(column, {}))
            for column, (label, words) in site_table.labels(facts).items()}
