"""Use my own data: a dialog over any page, opened from its data chip.

It shows its holder notes on the file beside the data on screen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.language import tags
from engine.language.grammar import capital
from engine.sources import Source
from engine.uploads.looking import from_file
from engine.uploads.source import UploadedData
from engine.uploads.stated import AFTER_LOOKING
from pages.shared.frame import controls, layout
from pages.shared.frame.controls import message, plain
from pages.shared.server import visitors
from pages.shared.state import session, settings
from pages.shared.uploads import columns, draft, facts, files, frozen, reading

_TITLE = "Use my data"
_STAYS = "Stays in memory while you visit; nothing is published."
DEMONSTRATION = (
    "Switched off: others may reach this dashboard, and private data belong on a "
    "machine of your own. Start a copy there. Whoever runs this one can allow files."
)


@dataclass(frozen=True)
class DialogRequest:
    """A page's request to the dialog: its last button, the task of the data, the next step."""

    show: str = "Show the released mean"
    task: str = settings.TASK
    then: Callable[[], None] = lambda: None


def button(label: str = _TITLE) -> None:
    """Draw the button that opens the dialog; everything on screen stays."""
    is_allowed = visitors.may_bring_files()
    st.button(
        label,
        icon=":material/upload_file:",
        type="tertiary",
        on_click=open_dialog,
        key="use_my_curves",
        disabled=not is_allowed,
        help=_STAYS if is_allowed else DEMONSTRATION,
    )


def open_dialog() -> None:
    """Show the dialog over the page from the next run on."""
    st.session_state.upload_open = True


def drop(task: str) -> None:
    """Draw a field for a file, which is looked at without a question."""
    if not visitors.may_bring_files():
        st.markdown(f":small[{DEMONSTRATION}]")
    elif not st.session_state.get("upload_open"):  # the dialog has the same field
        files.uploaded(*columns.file_of(task))
        if _looks_first(DialogRequest(task=task)):
            st.rerun()
        if files.has_file():
            button("Say how it is read")


def draw(
    show: str = DialogRequest.show,
    task: str = settings.TASK,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Set what the dialog of this page does at its end, and show notes on the file on screen."""
    st.session_state.upload_for = DialogRequest(show, task, then)
    upload = session.upload_of(task)
    if upload is not None and session.uploaded(task):
        remarks(upload)


def dialog(task: str, page: str) -> None:
    """Draw the dialog, if open, after the page; another page closes it."""
    if st.session_state.get("page_of_dialog", page) != page:
        close()
    st.session_state.page_of_dialog = page
    request: DialogRequest = st.session_state.pop("upload_for", DialogRequest(task=task))
    if not st.session_state.get("upload_open") or not visitors.may_bring_files():
        return
    began = _on_screen(request.task)
    st.dialog("Data", width="large", on_dismiss=close)(lambda: _whole(request, began))()


def _on_screen(task: str) -> tuple[object, ...]:
    """Return the data on the page that the dialog can change."""
    return session.current().source_of(task), session.uploaded(task)


def close() -> None:
    """Close the dialog; what was said in it is there when it is opened again."""
    draft.hold_answers()
    st.session_state.upload_open = False


def _whole(request: DialogRequest, began: tuple[object, ...]) -> None:
    """Choose the data, and fill in the form of one's own file; a new file is looked at first."""
    if _on_screen(request.task) != began:  # other data were chosen
        close()
    if not st.session_state.get("upload_open"):
        st.rerun()  # the page shows the choice
    controls.source_choice(request.task, "dialog_source")
    st.subheader(_TITLE, anchor=False)
    above = st.container()
    is_whole = form(request.task)
    with above:
        if _looks_first(request):
            st.rerun()
    st.button(
        request.show,
        disabled=not is_whole,
        key="upload_show",
        type="primary",
        icon=":material/visibility:",
        on_click=_show,
        args=(request,),
    )


def _looks_first(request: DialogRequest) -> bool:
    """Show a new file as it most likely is read, without a question; why not, if it cannot be."""
    asked = request.task, st.session_state.get("upload_file_last")
    if not files.has_file() or draft.is_example() or st.session_state.get("upload_looked") == asked:
        return False
    upload = guarded(partial(reading.first_look, request.task))
    st.session_state.upload_looked = asked  # only now: a run that is cut short has shown nothing
    if upload is None:
        return False
    st.session_state.pop("upload_look", None)  # on screen from here on
    close()
    frozen.show(upload, request.task)
    request.then()
    return True


def _show(request: DialogRequest) -> None:
    """Freeze the stated facts, and show the data; the dialog stays if the file refutes them."""
    draft.hold_answers()
    if frozen.freeze(request.task):
        close()
        request.then()


def remarks(upload: Source) -> None:
    """Show notes to the holder of a file; nothing beside data that are not one's own."""
    if not isinstance(upload, UploadedData) or upload.facts.is_proposed:
        return
    doubts = [f"{capital(doubt)}." for doubt in upload.doubts]
    layout.warned(
        [*doubts, *upload.remarks()],
        "**About your file, visible only to you.**" + (f" {AFTER_LOOKING}" if doubts else ""),
        ":material/rule:",
    )


def first_look(task: str) -> None:
    """Show what the picture takes from the file, and how to state it instead."""
    upload = session.upload_of(task)
    if upload is None or not upload.facts.is_proposed or not session.uploaded(task):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":orange-badge[:material/visibility_lock: {tags.FOR_YOUR_EYES}] "
            f"{plain(from_file(upload.facts))}.",
            width="stretch",
        )
        st.button(
            "State public bounds",
            key="state_bounds",
            on_click=open_dialog,
            icon=":material/edit:",
            type="tertiary",
            help="Then the data can be published, and pages that plan a release can use them.",
        )


# -- the form from a file to data on screen, in the dialog and in *Publish* alike ------------------


Result = TypeVar("Result")
# Fields of questions without a first answer.
_QUESTIONS = ("trust", "dates", "columns", "events", "groups")


def form(task: str) -> bool:
    """Ask how a file is read and for public bounds; True once both are whole.

    Each part shows its own errors and gaps. The form asks for bounds once the reading is confirmed:
    its columns determine the bounds needed.
    """
    draft.recall_answers()
    is_whole = False
    if guarded(lambda: reading.step(task)):
        st.subheader("Public bounds", anchor=False)
        is_whole = bool(guarded(lambda: facts.bounds_step(task)))
    draft.hold_answers()
    return is_whole


def guarded(make: Callable[[], Result]) -> Result | None:
    """Return a function's result; None, with the reason on the page, if it refuses."""
    try:
        return make()
    except InputError as problem:
        if problem.field in _QUESTIONS:  # nothing is wrong yet
            st.info(message(problem), icon=":material/edit:")
        else:
            st.error(message(problem), icon=":material/error:")
        return None
