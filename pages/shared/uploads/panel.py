"""Use my curves, readings or records: a file, who is one person, and facts from outside the file.

Beside what is on screen stands how much of one's own data was moved into the stated ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.core.lists import counted
from engine.core.tasks import TASKS
from engine.language.grammar import span
from engine.uploads.curves import Upload
from engine.uploads.rows import UploadRows
from pages.shared.frame.controls import message
from pages.shared.server import visitors
from pages.shared.state import session, settings
from pages.shared.uploads import columns, facts

Result = TypeVar("Result")
_QUESTIONS = ("trust",)  # fields of questions that have no answer at first
_STAYS = "Stays in memory while you visit; nothing is published."
_DEMONSTRATION = ("Switched off: others may reach this dashboard, and private data belong on a "
                  "machine of your own. Start a copy there. Whoever runs this one can allow files.")


def _title(task: str) -> str:
    """What the panel is called: whole curves, single readings, or rows of numbers."""
    return f"Use my {TASKS[task].data}"


def button(task: str = settings.TASK) -> None:
    """Opens and closes the panel; nothing that is on screen is lost."""
    def switch() -> None:
        st.session_state.upload_open = not st.session_state.get("upload_open", False)

    is_allowed = visitors.may_bring_files()
    st.button(_title(task), icon=":material/upload_file:", type="tertiary", on_click=switch,
              key="use_my_curves", disabled=not is_allowed,
              help=_STAYS if is_allowed else _DEMONSTRATION)


def draw(show: str = "Show the protected average", task: str = settings.TASK,
          then: Callable[[], None] = lambda: None) -> None:
    """The file beside the facts; what is on screen stays until the last button is pressed.

    Parameters
    ----------
    show : str
        The words of that button.
    task : str
        Whose page this is: what its data are decides what is asked.
    then : callable
        Called when it is pressed, after the data are in place.
    """
    if st.session_state.get("upload_open") and visitors.may_bring_files():
        with st.container(border=True, key="upload_steps"):
            st.header(_title(task), anchor=False)
            left, right = st.columns(2, gap="medium")
            with left:
                observations = _guarded(lambda: columns.observations(task))
            with right:
                _guarded(lambda: facts.stated(observations, show, task, then))
    upload = session.own(task)
    if upload is not None and session.uploaded(task):
        _moved(upload)


def _guarded(step: Callable[[], Result]) -> Result | None:
    """One step; what is wrong with it is said under it, and the page goes on."""
    try:
        return step()
    except InputError as problem:
        if problem.field in _QUESTIONS:  # nothing is wrong yet
            st.info(message(problem), icon=":material/edit:")
        else:
            st.error(message(problem), icon=":material/error:")
        return None


def _moved(upload: Upload | UploadRows) -> None:
    """How much was moved into the stated ranges; only ever shown beside one's own data."""
    if isinstance(upload, Upload):
        facts.doubts(upload)
        sentence = _moved_of_curves(upload)
    else:
        sentence = _moved_of_rows(upload)
    if sentence:
        st.warning(f"**{sentence}** They were moved to the nearest bound. This count is for you "
                   "only.", icon=":material/compress:")


def _moved_of_curves(upload: Upload) -> str:
    stated, (times, values, covariates) = upload.declared, upload.clamped
    sentences = []
    if times and upload.is_single:
        sentences.append(f"{times} readings lay outside {span(stated)}.")
    elif times or values:
        sentences.append(
            f"{values} readings lay outside {stated.value_low:g} to {stated.value_high:g} "
            f"{stated.value_unit} and {times} outside {span(stated)}.")
    if covariates:
        sentences.append(f"{counted(covariates, 'number')} of columns that may explain the curves "
                         "lay outside what you stated.")
    return " ".join(sentences)


def _moved_of_rows(upload: UploadRows) -> str:
    features, responses = upload.clamped
    return (f"{counted(features, 'number')} and {counted(responses, 'response')} lay outside the "
            "ranges you stated.") if features or responses else ""
