"""The table of sites on Decide: pasted in the sentence, edited by cells, or filled by a preset."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.errors import InputError
from engine.language.grammar import escape
from engine.language.numbers import whole
from engine.topics.decision import words
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts.decide.view import Study
from pages.parts.sites import editor
from pages.shared.frame import controls

_BOX = "sites_of_study"


def show(view: Study) -> None:
    """Who takes part; curves that come with their sites keep them."""
    free, sizes = view.on_screen.has_free_sites, {row.n_curves for row in view.rows}
    if view.refusal is not None or (not free and view.on_screen.is_random and len(sizes) == 1):
        return  # the sentence says all there is
    several = words.site_noun(view.facts)[1]
    st.header(f"Table of {several}", anchor=False)
    if not free:
        st.markdown(f":small[{words.given_sites(view.on_screen)}]")
        st.dataframe({"Site": [row.name for row in view.rows],
                      view.facts.people.capitalize(): [row.n_curves for row in view.rows]},
                     hide_index=True)
        return
    editor.editor(None, view.facts, editor.STUDY)
    if view.problem is not None:
        st.error(controls.message(view.problem), icon=":material/error:")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        editor.preset_choice()
        editor.buttons(view.facts)


def contributions(view: Study) -> None:
    """Whose curves the result hangs on."""
    said = "" if view.answer is None else words.contributions(view.answer)
    if said:
        st.markdown(f":small[{said}]")


def bracket(view: Study) -> DeltaGenerator:
    """The sites in the sentence: behind it their number, and the box for a table."""
    n = len(view.included)
    return st.popover(f"{n} {_nouns(view)[n != 1]}", key=_BOX, on_change="rerun",
                      help="Change their number, or paste a table of them.")


def is_open() -> bool:
    """Whether the box behind the bracket is in sight."""
    return bool(st.session_state.get(_BOX))


def paste(view: Study) -> None:
    """The box for a table from a spreadsheet."""
    st.text_area(f"Or paste a table, one {view.site} per line: name, {view.facts.people}, and if "
                 f"you like observations of each {view.facts.person}", key="pasted_table",
                 placeholder="North, 150, 30\nSouth, 90, 30", height=160)
    controls.show_problem("pasted_table")
    observations = view.included[0].n_observations_per_curve
    st.button("Use this table", key="use_pasted", type="primary", on_click=_use,
              args=(observations, view.facts.people, _nouns(view)))


def _nouns(view: Study) -> tuple[str, str]:
    return words.site_noun(view.facts)


def _use(observations: int, people: str, nouns: tuple[str, str]) -> None:
    """Take the pasted table over, say what was read, and close the box."""
    text = st.session_state.get("pasted_table", "")
    try:
        rows = site_table.pasted(text, observations)
        editor.replace_table(rows)
    except InputError as problem:
        st.session_state.problem = ("pasted_table", problem)
        return
    st.session_state[_BOX] = False
    st.toast(f"Read: {len(rows)} {nouns[len(rows) != 1]}, {whole(site_table.people(rows))} "
             f"{people}." + _renamed(text, rows), icon=":material/check:")


def _renamed(text: str, rows: Sequence[SiteRow]) -> str:
    """Which names of the table are not as they were pasted."""
    others = [escape(row.name) for row in rows if row.name not in text]
    return f" Names here: {', '.join(others)}." if others else ""
