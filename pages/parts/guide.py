"""The parts of Guide: chapters and the glossary."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine import handbook
from engine.language import glossary
from pages.shared.frame import controls
from pages.shared.frame.word_fold import entry
from pages.shared.places import PAGES
from pages.shared.state import session

_FOLDER = Path(__file__).parents[1]


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
