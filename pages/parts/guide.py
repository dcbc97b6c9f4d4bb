"""The parts of Guide and Method notes: chapters, the glossary, and notes on each method."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from engine import handbook
from engine.language import glossary
from engine.mechanisms import mechanisms
from pages.shared.frame import controls, layout
from pages.shared.frame.word_fold import entry
from pages.shared.places import PAGES
from pages.shared.state import session

_FOLDER = Path(__file__).parents[1]
_PROMISES = {"pure": "δ = 0", "approximate": "δ above 0", "either": "δ = 0 or above"}
_UNDER = ("Errata", "Source", "Where to see it")  # beside the other parts, in the narrow column


# -- the guide ------------------------------------------------------------------------------


def contents() -> str:
    """The chapters to choose from; an address brings one back."""
    current = session.current().chapter
    controls.bound(st.pills, "Chapters", current,
                   lambda key: session.change(chapter=key or current), "chapter",
                   options=[*handbook.CHAPTERS, handbook.GLOSSARY],
                   format_func=_chapter_title, label_visibility="collapsed")
    return current


def _chapter_title(key: str) -> str:
    return "Glossary" if key == handbook.GLOSSARY else handbook.chapter(key).title


def chapter(key: str) -> None:
    """One chapter, with links to the pages that it names."""
    left, right = st.columns([7, 3], gap="medium")
    with left:
        if key == handbook.GLOSSARY:
            words()
            return
        text = handbook.chapter(key)
        st.header(text.title, anchor=False)
        st.markdown(text.text)
    with right:
        _links(text)


def _links(notes: handbook.Chapter) -> None:
    """Links to the other pages that a text names, in the order of the menu."""
    named = [(script, title) for section, script, title in PAGES
             if notes.names(title) and section != "Guide"]
    if named:
        st.markdown(":small[Pages named here]")
    for script, title in named:
        st.page_link(_FOLDER / script, label=title, icon=":material/arrow_forward:")


# -- the glossary -----------------------------------------------------------------------------


def words() -> None:
    """Every term, or those that hold the words that are looked for."""
    st.header("Glossary", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.text_input("Find a word", key="glossary_words", max_chars=60,
                               placeholder="e.g. clipping")
        formulas = st.toggle("With formulas", key="glossary_formulas")
    terms = glossary.search(wanted)
    st.markdown(f":small[{len(terms)} of {len(glossary.TERMS)} terms]")
    if not terms:
        st.info("**No term holds all of these words.** Try a shorter one.",
                icon=":material/search_off:")
    st.markdown("\n\n".join(entry(term, formulas, where=True) for term in terms))


# -- methods ----------------------------------------------------------------------------------


def method_choice() -> str:
    """The method to read about; an address brings it back."""
    current = session.current().about
    controls.bound(st.selectbox, "Method", current, lambda key: session.change(about=key), "about",
                   options=list(handbook.method_keys()), format_func=handbook.method_label,
                   width=640)
    return current


def method(key: str) -> None:
    """Notes on one method; its formula and what was measured are one click away."""
    cls, notes = mechanisms.get(key), handbook.method(key)
    st.header(notes.title, anchor=False)
    st.markdown(notes.opening)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        for part in handbook.PARTS:
            if part not in _UNDER:
                _part(notes, part)
    with right:
        for part in _UNDER:
            _part(notes, part)
        _links(notes)
    with layout.fold("Formula", "method_formula") as is_open:
        if is_open:
            st.latex(cls.formula)
    with layout.fold("Figures and tables of papers, run again here", "method_exhibits") as is_open:
        if is_open:
            exhibits(key)
    if handbook.measured(key):
        with layout.fold("What was measured here", "method_measured") as is_open:
            if is_open:
                st.markdown(handbook.measured(key))


def exhibits(key: str) -> None:
    """Links to the figures and tables of papers that this method is in."""
    titles = handbook.exhibits(key)
    for name, title in titles:
        st.page_link(_FOLDER / "reproduce.py", label=title, icon=":material/arrow_forward:",
                     query_params={"s": f"exhibit-{name}"})
    if not titles:
        st.markdown("None: this method was derived here, and no paper has figures of it.")


def _part(notes: handbook.Chapter, title: str) -> None:
    st.subheader(title, anchor=False)
    st.markdown(notes.part(title))


def all_methods() -> None:
    """What each is for and promises, as the registry says."""
    st.dataframe(pd.DataFrame([
        {"Method": cls.label, "What it gives": handbook.method(cls.key).opening,
         "Promise": _PROMISES[cls.guarantee], "Paper": cls.reference}
        for cls in mechanisms.all()]), hide_index=True)
