"""Use my curves: a file, who is one person, and facts that come from outside the file.

On the page about single readings every person has one reading, and how far it typically lies from
the curve is stated as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from engine.errors import InputError
from engine.language.grammar import span
from engine.sources.table_words import counted
from engine.sources.upload import Upload
from engine.tasks import TASKS, DataType
from pages.shared import design_form, facts_form, file_form
from pages.shared.frame.controls import message
from pages.shared.server import visitors
from pages.shared.state import session, settings

Result = TypeVar("Result")
_QUESTIONS = ("trust",)  # fields of questions that have no answer at first
_STAYS = "Stays in memory while you visit; nothing is published."
_DEMONSTRATION = ("Switched off: others may reach this dashboard, and private data belong on a "
                  "machine of your own. Start a copy there. Whoever runs this one can allow files.")


def title(task: str) -> str:
    """What the panel is called: whole curves, single readings, or rows of numbers."""
    return f"Use my {TASKS[task].data}"


def button(task: str = settings.TASK) -> None:
    """Opens and closes the panel; nothing that is on screen is lost."""
    def switch() -> None:
        st.session_state.upload_open = not st.session_state.get("upload_open", False)

    allowed = visitors.may_bring_files()
    st.button(title(task), icon=":material/upload_file:", type="tertiary", on_click=switch,
              key="use_my_curves", disabled=not allowed, help=_STAYS if allowed else _DEMONSTRATION)


def is_open() -> bool:
    """Whether the panel is to be drawn; never where others may reach the dashboard unasked."""
    return bool(st.session_state.get("upload_open")) and visitors.may_bring_files()


def panel(show: str = "Show the protected average", task: str = settings.TASK,
          shown: Callable[[], None] = lambda: None) -> None:
    """Both steps; what is on screen stays until the last button, `show`, is pressed.

    `shown` is called when it is, after the curves or readings are in place.
    """
    if not is_open():
        return
    single = TASKS[task].data is DataType.READINGS
    two_steps(title(task), lambda: file_form.curves(single),
              lambda curves: facts_form.facts(curves, show, task, shown))


def two_steps(heading: str, first: Callable[[], Result | None],
              then: Callable[[Result | None], None]) -> None:
    """The file beside the facts; `then` gets what the file gave, or None."""
    with st.container(border=True, key="upload_steps"):
        st.header(heading, anchor=False)
        left, right = st.columns(2, gap="medium")
        with left:
            read = guarded(first)
        with right:
            guarded(lambda: then(read))


def guarded(step: Callable[[], Result]) -> Result | None:
    """One step; what is wrong with it is said under it, and the page goes on."""
    try:
        return step()
    except InputError as problem:
        if problem.field in _QUESTIONS:  # nothing is wrong yet
            st.info(message(problem), icon=":material/edit:")
        else:
            st.error(message(problem), icon=":material/error:")
        return None


def clamped(task: str = settings.TASK) -> None:
    """How much was moved into the stated ranges; only ever shown beside one's own curves."""
    own = session.own(task)
    if not isinstance(own, Upload) or not session.uploaded(task):
        return
    facts = own.declared
    times, values, covariates = own.clamped
    moved = []
    if times and own.is_single:
        moved.append(f"{times} readings lay outside {span(facts)}.")
    elif times or values:
        moved.append(f"{values} readings lay outside {facts.value_low:g} to {facts.value_high:g} "
                     f"{facts.value_unit} and {times} outside {span(facts)}.")
    if covariates:
        moved.append(f"{counted(covariates, 'number')} of columns that may explain the "
                     "curves lay outside what you stated.")
    design_form.doubts(own)
    if moved:
        st.warning(f"**{' '.join(moved)}** They were moved to the nearest bound. This count is for "
                   "you only.", icon=":material/compress:")
