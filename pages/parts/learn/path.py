"""The path of lessons with the way into a class, and the guide."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine import handbook
from engine.language import glossary
from engine.language.grammar import capital, escape
from engine.lessons import lessons, plan
from engine.lessons.stored_errors import tiles as pictures
from pages.parts.learn import classes
from pages.shared import components
from pages.shared.frame import controls, page
from pages.shared.frame.glossary_fold import entry
from pages.shared.places import PAGES
from pages.shared.server.classroom import CLASSROOMS, CODE_LENGTH
from pages.shared.state import session

_CODE, _PROBLEM = "class_code", "class_code_problem"


def show() -> None:
    """Show eight tiles in their order, with a class to join or to open and a plan above them."""
    page.begin("Guess first, then see what happens")
    every = lessons.all()
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(f"Plan {plan.MINUTES} minutes", icon=":material/schedule:", key="learn_plan"):
            classes.plan_hour()
        if st.button("Open a class", icon=":material/groups:", key="learn_class"):
            classes.open_class(every[0])
        with st.popover("Join a class", icon=":material/login:"):
            st.text_input(
                "Class code",
                key=_CODE,
                on_change=_joined,
                max_chars=CODE_LENGTH + 2,  # codes are pasted with spaces
                placeholder="then press Enter",
            )
        st.space("stretch")
        st.button(
            "Guide and glossary",
            icon=":material/menu_book:",
            key="guide_open",
            on_click=_open_chapter,
            args=(handbook.CHAPTERS[0],),
            type="tertiary",
        )
    controls.show_kept(_PROBLEM)
    chosen = components.tiles(
        [
            components.LessonTile(
                lesson.key, capital(lesson.label), lesson.minutes, pictures()[lesson.key]
            )
            for lesson in every
        ],
        "path",
    )
    if chosen:
        session.change(lesson=chosen, learn_part="", presenter="off")
        st.rerun()


def _joined() -> None:
    text = st.session_state[_CODE]
    if text.strip():
        with controls.kept(_PROBLEM):
            classroom = CLASSROOMS.joined(text)
            session.change(class_code=classroom.code, lesson=classroom.poll.lesson, learn_part="")


# -- the guide: its chapters, the glossary, and a search through both ------------------------------


_FOLDER = Path(__file__).parents[2]
_SEARCH = "guide_search"
_MAX_FOUND = 8  # sections, and terms


def show_guide() -> None:
    """Show one chapter, or the hits of the search."""
    page.begin("Guide and glossary")
    st.button(
        "All lessons",
        icon=":material/arrow_back:",
        key="learn_path",
        type="tertiary",
        on_click=_go,
        kwargs={"learn_part": "", "lesson": ""},
    )
    chapter = session.current().guide_chapter
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


def _open_chapter(chapter: str) -> None:
    _go(learn_part="guide", guide_chapter=chapter)


def _go(**values: str) -> None:
    """Go to another part of the page, without the words of a search."""
    st.session_state[_SEARCH] = ""
    session.change(**values)


def _choices(chapter: str) -> None:
    """Draw a choice of chapter and a field of words to search."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(
            st.selectbox,
            "Chapter",
            chapter,
            _open_chapter,
            "chapter",
            width=360,
            options=[*handbook.CHAPTERS, handbook.GLOSSARY],
            format_func=_title,
        )
        # The text outlives a change of the page's parts: the framework forgets what is not drawn.
        st.session_state[_SEARCH] = st.session_state.get(_SEARCH, "")
        st.text_input(
            "Search",
            key=_SEARCH,
            max_chars=60,
            placeholder="e.g. clipping",
            width=360,
            on_change=lambda: session.change(learn_part="guide"),
        )


def _title(chapter: str) -> str:
    return "Glossary" if chapter == handbook.GLOSSARY else handbook.chapter(chapter).title


def _search_results(query: str) -> None:
    """List sections and terms that contain all of the words."""
    sections, terms = handbook.search(query), glossary.search(query)
    st.header(f"Found for “{escape(query)}”", anchor=False)
    if not sections and not terms:
        st.info(
            "**Nothing holds all of these words.** Try a shorter one.", icon=":material/search_off:"
        )
    for number, hit in enumerate(sections[:_MAX_FOUND]):
        st.button(
            f"{hit.title}: {hit.section}" if hit.section else hit.title,
            key=f"found_{number}",
            type="tertiary",
            icon=":material/menu_book:",
            on_click=_open_chapter,
            args=(hit.chapter,),
        )
    st.markdown("\n\n".join(entry(term, False, where=True) for term in terms[:_MAX_FOUND]))


def _terms() -> None:
    """List every term alphabetically."""
    st.header("Glossary", anchor=False)
    formulas = st.toggle("With formulas", key="glossary_formulas")
    st.markdown("\n\n".join(entry(term, formulas, where=True) for term in glossary.alphabetical()))


def links(notes: handbook.Chapter) -> None:
    """Link the pages that a text names, in the order of the menu."""
    named = [
        (script, title) for _, script, title in PAGES if notes.names(title) and title != "Learn"
    ]
    if named:
        st.markdown(":small[Pages named here]")
    for script, title in named:
        st.page_link(_FOLDER / script, label=title, icon=":material/arrow_forward:")
