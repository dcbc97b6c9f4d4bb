"""Use my own data: a dialog over any page, opened from its data chip.

Beside what is on screen stands what its holder should know of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import TASKS, DataType
from engine.language.grammar import capital
from engine.sources import Source
from engine.uploads.source import UploadedData
from engine.uploads.stated import AFTER_LOOKING
from pages.shared.frame import controls, layout
from pages.shared.frame.controls import message
from pages.shared.server import visitors
from pages.shared.state import session, settings
from pages.shared.uploads import columns, draft, events, facts

_TITLE = "Use my data"
_STAYS = "Stays in memory while you visit; nothing is published."
DEMONSTRATION = ("Switched off: others may reach this dashboard, and private data belong on a "
                  "machine of your own. Start a copy there. Whoever runs this one can allow files.")


@dataclass(frozen=True)
class DialogRequest:
    """What a page wants of the dialog: the words of its last button, whose data, what follows."""

    show: str = "Show the released mean"
    task: str = settings.TASK
    then: Callable[[], None] = lambda: None


def button() -> None:
    """Opens the dialog; nothing that is on screen is lost."""
    is_allowed = visitors.may_bring_files()
    st.button(_TITLE, icon=":material/upload_file:", type="tertiary",
              on_click=open_dialog, key="use_my_curves", disabled=not is_allowed,
              help=_STAYS if is_allowed else DEMONSTRATION)


def open_dialog() -> None:
    """Have the dialog over the page from the next run on."""
    st.session_state.upload_open = True


def draw(show: str = DialogRequest.show, task: str = settings.TASK,
         then: Callable[[], None] = lambda: None) -> None:
    """What the dialog of this page does at its end; and what to know of the file on screen.

    Parameters
    ----------
    show : str
        The words of its last button.
    task : str
        Whose page this is: what its data are decides what is asked.
    then : callable
        Called when it is pressed, after the data are in place.
    """
    st.session_state.upload_for = DialogRequest(show, task, then)
    upload = session.upload_of(task)
    if upload is not None and session.uploaded(task):
        remarks(upload)


def dialog(task: str, page: str) -> None:
    """The dialog, if it is open: the frame draws it after the page, and another page closes it.

    Parameters
    ----------
    task : str
        Of the page, where the page itself asks for nothing.
    page : str
        The name of the page.
    """
    if st.session_state.get("page_of_dialog", page) != page:
        close()
    st.session_state.page_of_dialog = page
    request: DialogRequest = st.session_state.pop("upload_for", DialogRequest(task=task))
    if not st.session_state.get("upload_open") or not visitors.may_bring_files():
        return
    began = _on_screen(request.task)
    st.dialog("Data", width="large", on_dismiss=close)(lambda: _whole(request, began))()


def _on_screen(task: str) -> tuple[object, ...]:
    """What of the data on the page the dialog can change."""
    return session.current().source_of(task), session.uploaded(task)


def close() -> None:
    """Close the dialog; what was said in it is there when it is opened again."""
    draft.hold_answers()
    st.session_state.upload_open = False


def _whole(request: DialogRequest, began: tuple[object, ...]) -> None:
    """Which data, and the form that a file of one's own asks for."""
    if _on_screen(request.task) != began:  # other data were chosen
        close()
    if not st.session_state.get("upload_open"):
        st.rerun()  # the page shows what was chosen
    controls.source_choice(request.task, "dialog_source")
    st.subheader(_TITLE, anchor=False)
    upload = form(request.task)
    st.button(request.show, disabled=upload is None, key="upload_show", type="primary",
              icon=":material/visibility:", on_click=_show, args=(upload, request))


def _show(upload: Source, request: DialogRequest) -> None:
    close()
    facts.show(upload, request.task)
    request.then()


def remarks(upload: Source) -> None:
    """What the holder of a file should know of it; nothing beside data that are not one's own."""
    if isinstance(upload, UploadedData):
        doubts = [f"{capital(doubt)}." for doubt in upload.doubts]
        layout.warned([*doubts, *upload.remarks()],
                      f"**About your file, visible only to you.** {AFTER_LOOKING}",
                      ":material/rule:")


# -- the form from a file to data on screen, in the dialog and in *Publish* alike ------------------


Result = TypeVar("Result")
# Fields of questions that have no answer at first.
_QUESTIONS = ("trust", "dates", "columns", "events", "groups")


def form(task: str) -> Source | None:
    """The file, who is trusted and public bounds, asked at once; the data they make, once whole.

    What is wrong or missing is said under the part it belongs to. Bounds are asked for once the
    file can be read: which of them are needed depends on its columns.
    """
    draft.recall_answers()
    read = events.file_step if TASKS[task].data is DataType.EVENTS else columns.file_step
    source = None
    if guarded(lambda: read(task)):
        st.subheader("Public bounds", anchor=False)
        if guarded(lambda: facts.bounds_step(task)):
            source = facts.own_data(task)
    draft.hold_answers()
    return source


def guarded(make: Callable[[], Result]) -> Result | None:
    """What a function gives; None, with the reason on the page, where it refuses."""
    try:
        return make()
    except InputError as problem:
        if problem.field in _QUESTIONS:  # nothing is wrong yet
            st.info(message(problem), icon=":material/edit:")
        else:
            st.error(message(problem), icon=":material/error:")
        return None
