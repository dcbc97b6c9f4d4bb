"""The path: a tile for each lesson, the way into a class, and the way into the guide."""

from __future__ import annotations

import streamlit as st

from engine.core.errors import InputError
from engine.language.grammar import capital
from engine.lessons import Lesson, heading, lessons
from pages.parts.learn import guide
from pages.shared.frame import controls, page
from pages.shared.server.classroom import CLASSROOMS
from pages.shared.state import session

_IN_A_ROW = 4
_CODE, _PROBLEM = "class_code", "class_code_problem"
_PAGE, _SLIDES = "page", "slides"  # how a tile opens its lesson
_PROJECTOR = ":material/slideshow:"


def show() -> None:
    """Eight tiles in their order; each opens its lesson, as a page or as slides."""
    page.begin("Learn")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown("Eight short lessons: guess first, then see what happens.", width="stretch")
        _join()
    _tell_problem()
    every = lessons.all()
    with st.container(key="path"):
        for start in range(0, len(every), _IN_A_ROW):
            row = st.columns(_IN_A_ROW, gap="small")
            for slot, lesson in zip(row, every[start:start + _IN_A_ROW], strict=True):
                with slot:
                    _tile(lesson)
    st.space("small")
    guide.entrance()


def _join() -> None:
    """The way into a class for who has its code."""
    st.text_input("Join a class: code", key=_CODE, max_chars=20, width=200, on_change=_joined,
                  placeholder="then press Enter")


def _tell_problem() -> None:
    """Why a code leads nowhere."""
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(controls.message(problem), icon=":material/error:")


def _joined() -> None:
    text = st.session_state[_CODE]
    if not text.strip():
        return
    try:
        room = CLASSROOMS.joined(text)
    except InputError as problem:
        st.session_state[_PROBLEM] = problem
    else:
        session.change(room=room.code, lesson=room.poll.lesson, learn="")


def _tile(lesson: type[Lesson]) -> None:
    """A lesson, and below it the same lesson as slides."""
    faces = {_PAGE: f"**{lesson.key}**  \n{capital(lesson.label)}  \n:small[{lesson.minutes} min]",
             _SLIDES: f"{_PROJECTOR} Slides"}
    key = f"tile_{lesson.key}"
    st.segmented_control(capital(heading(lesson)), list(faces), format_func=faces.__getitem__,
                         key=key, label_visibility="collapsed", width="stretch",
                         on_change=_open, args=(lesson.key, key))


def _open(lesson: str, key: str) -> None:
    """Open a lesson as its tile was pressed; there, the next time, either way is open again."""
    is_presented = st.session_state[key] == _SLIDES
    st.session_state[key] = None
    session.change(lesson=lesson, learn="", presenter="on" if is_presented else "off")
