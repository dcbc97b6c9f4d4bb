"""The guide: chapters on every place, the glossary, and a search through both."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine import handbook
from engine.language import glossary
from engine.language.grammar import escape
from pages.shared.frame import controls, page
from pages.shared.frame.word_fold import entry
from pages.shared.places import PAGES
from pages.shared.state import session

_FOLDER = Path(__file__).parents[2]
_SEARCH = "guide_search"
_MAX_FOUND = 8  # of sections, and of terms


def entrance() -> None:
    """The way in from the path: the first chapter, which has a search above it."""
    st.header("Guide and glossary", anchor=False)
    st.button("Open or search the guide", icon=":material/menu_book:", key="guide_open",
              on_click=_open, args=(handbook.CHAPTERS[0],))


def show() -> None:
    """One chapter, or what was found."""
    page.begin("Guide and glossary")
    st.button("All lessons", icon=":material/arrow_back:", key="learn_path", type="tertiary",
              on_click=_close)
    chapter = session.current().chapter
    _choices(chapter)
    query = st.session_state.get(_SEARCH, "").strip()
    left, right = st.columns([7, 3], gap="medium")
    with left:
        if query:
            _search_results(query)
        elif chapter == handbook.GLOSSARY:
            _terms()
        else:
            text = handbook.chapter(chapter)
            st.header(text.title, anchor=False)
            st.markdown(text.text)
    with right:
        if not query and chapter != handbook.GLOSSARY:
            links(handbook.chapter(chapter))


def _close() -> None:
    _forget_search()
    session.change(learn="", lesson="")


def _open(chapter: str) -> None:
    _forget_search()
    session.change(learn="guide", chapter=chapter)


def _forget_search() -> None:
    st.session_state[_SEARCH] = ""


def _choices(chapter: str) -> None:
    """A chapter to open, and words to look for."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(st.selectbox, "Chapter", chapter, _open, "chapter", width=360,
                       options=[*handbook.CHAPTERS, handbook.GLOSSARY], format_func=_title)
        _search()


def _search() -> None:
    """Words to look for in chapters and glossary."""
    # The text outlives a change of the page's parts: the framework forgets what is not drawn.
    st.session_state[_SEARCH] = st.session_state.get(_SEARCH, "")
    st.text_input("Search", key=_SEARCH, max_chars=60, placeholder="e.g. clipping", width=360,
                  on_change=lambda: session.change(learn="guide"))


def _title(chapter: str) -> str:
    return "Glossary" if chapter == handbook.GLOSSARY else handbook.chapter(chapter).title


def _search_results(query: str) -> None:
    """Sections and terms that hold all of the words."""
    sections, terms = handbook.search(query), glossary.search(query)
    st.header(f"Found for “{escape(query)}”", anchor=False)
    if not sections and not terms:
        st.info("**Nothing holds all of these words.** Try a shorter one.",
                icon=":material/search_off:")
    for number, hit in enumerate(sections[:_MAX_FOUND]):
        st.button(f"{hit.title}: {hit.section}" if hit.section else hit.title,
                  key=f"found_{number}", type="tertiary", icon=":material/menu_book:",
                  on_click=_open, args=(hit.chapter,))
    st.markdown("\n\n".join(entry(term, False, where=True) for term in terms[:_MAX_FOUND]))


def _terms() -> None:
    """Every term, by the alphabet."""
    st.header("Glossary", anchor=False)
    formulas = st.toggle("With formulas", key="glossary_formulas")
    st.markdown("\n\n".join(entry(term, formulas, where=True)
                            for term in glossary.alphabetical()))


def links(notes: handbook.Chapter) -> None:
    """Links to the pages that a text names, in the order of the menu."""
    named = [(script, title) for _, script, title in PAGES
             if notes.names(title) and title != "Learn"]
    if named:
        st.markdown(":small[Pages named here]")
    for script, title in named:
        st.page_link(_FOLDER / script, label=title, icon=":material/arrow_forward:")
