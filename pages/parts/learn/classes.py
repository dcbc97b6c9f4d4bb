"""Dialogs of a teacher: a class, and the plan of an hour."""

from __future__ import annotations

import streamlit as st

from engine.exports.files import lesson_plan
from engine.lessons import Lesson, plan, work
from pages.parts.learn import slides
from pages.shared.frame import layout
from pages.shared.server import classroom
from pages.shared.server.class_door import addresses
from pages.shared.state import run, session


@st.dialog("A class guesses along")
def open_class(lesson: type[Lesson]) -> None:
    """Explain a class, and say how phones reach it before anything is projected."""
    st.markdown(
        "The slides show a code. Pupils scan it and guess on their phones. You see how many have "
        "guessed, and their guesses once you reveal. They are numbers without names, and "
        "forgotten when you end the class."
    )
    if not classroom.page_for_others("learn", st.context.url):
        _where_phones_go()
    if st.button(
        "Open the class",
        type="primary",
        key="class_open",
        icon=":material/slideshow:",
        on_click=_begin_class,
        args=(lesson,),
    ):
        st.rerun()


def _where_phones_go() -> None:
    """Propose the address at which phones reach this computer; say what to do without one."""
    found = addresses()
    if not found:
        st.warning(
            "**This computer is in no network that phones could join.** Let pupils raise their "
            "hands, or connect it to the network of the phones and open this again.",
            icon=":material/wifi_off:",
        )
        return
    st.selectbox(
        "Phones reach this computer at",
        found,
        key=slides.ADDRESS,
        help="A small page opens there, for guesses and answers alone, until the class ends. "
        "Phones must be in the same network.",
    )


def _begin_class(lesson: type[Lesson]) -> None:
    seed = session.current().seed
    slides.begin_class(lesson, seed, run.answer(work, lesson.key, seed))


@st.dialog(f"Plan {plan.MINUTES} minutes", width="large")
def plan_hour() -> None:
    """Show the plan of an hour, which can be printed, and open its slides."""
    st.markdown(f"{plan.in_words()}.")
    layout.table(plan.rows(), height="content")
    with st.container(horizontal=True):
        if st.button(
            "Start the slides",
            type="primary",
            key="plan_start",
            icon=":material/slideshow:",
            on_click=_begin_hour,
        ):
            st.rerun()
        st.download_button(
            "Page to print",
            lesson_plan(),
            "privacy-curves-plan.html",
            "text/html",
            on_click="ignore",
            icon=":material/print:",
            key="plan_sheet",
        )


def _begin_hour() -> None:
    slides.begin_hour()
    session.change(lesson=plan.KEYS[0], learn_part="", presenter="on")
