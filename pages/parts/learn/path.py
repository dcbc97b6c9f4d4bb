"""The path: a tile for each lesson, and below it the way into the guide."""

from __future__ import annotations

import streamlit as st

from engine.language.grammar import capital
from engine.lessons import Lesson, lessons
from pages.parts.learn import guide
from pages.shared.frame import page
from pages.shared.state import session

_IN_A_ROW = 4


def show() -> None:
    """Eight tiles in their order; each opens its lesson."""
    page.begin("Learn")
    st.markdown("Eight short lessons: guess first, then see what happens.")
    every = lessons.all()
    with st.container(key="path"):
        for start in range(0, len(every), _IN_A_ROW):
            row = st.columns(_IN_A_ROW, gap="small")
            for place, lesson in zip(row, every[start:start + _IN_A_ROW], strict=True):
                with place:
                    _tile(lesson)
    st.space("small")
    guide.entrance()


def _tile(lesson: type[Lesson]) -> None:
    st.button(f"**{lesson.key}**  \n{capital(lesson.label)}  \n:small[{lesson.minutes} min]",
              key=f"tile_{lesson.key}", width="stretch", on_click=_open, args=(lesson.key,))


def _open(key: str) -> None:
    session.change(lesson=key, learn="")
