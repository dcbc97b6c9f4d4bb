"""Use my own data: a dialog over any page, opened from its data chip.

It shows its holder notes on the file beside the data on screen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.core.names import uncapital
from engine.core.tasks import TASKS, DataType
from engine.language import tags
from engine.language.grammar import capital
from engine.sources import Source
from engine.uploads.looking import from_file
from engine.uploads.reading_of_files import Reading
from engine.uploads.source import UploadedData
from engine.uploads.stated import AFTER_LOOKING
from pages.shared.frame import controls, layout
from pages.shared.frame.controls import kept, message, plain, show_kept
from pages.shared.server import visitors
from pages.shared.state import session, settings
from pages.shared.state.lab_tasks import settings_of
from pages.shared.uploads import (
    between,
    columns,
    draft,
    files,
    frozen,
    questions,
    reading,
    statements,
    trust,
    when,
)

_LAB = Path(__file__).parents[2] / "lab.py"
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
        is_there = files.uploaded(*columns.file_of(task))
        if is_there and files.is_new() and (likely := reading.likely_task(task)):
            _other_kind(task, likely)
            return
        if _looks_first(DialogRequest(task=task)):
            st.rerun()
        if files.has_file():
            button("Say how it is read")


def _other_kind(task: str, likely: str) -> None:
    """Ask whether a file that suits another estimand is shown as that."""
    result = uncapital(TASKS[likely].result)
    st.markdown(f"This file looks like data for a **{result}**.")
    with st.container(horizontal=True):
        is_other = st.button(f"Show the {result}", key="other_kind", type="primary")
        st.button(
            f"Show the {uncapital(TASKS[task].result)}", key="same_kind", on_click=files.ask_about
        )
    if not is_other or (upload := guarded(partial(reading.first_look, likely))) is None:
        return
    files.ask_about()
    st.session_state.upload_looked = likely, st.session_state.get("upload_file_last")
    frozen.show(upload, likely)
    session.change(**settings_of(likely), lab_tab=settings.TABS[0])
    st.switch_page(_LAB)


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
    """Choose the data, and answer the questions about a file; a new file is looked at first."""
    if _on_screen(request.task) != began:  # other data were chosen
        close()
    if not st.session_state.get("upload_open"):
        st.rerun()  # the page shows the choice
    controls.source_choice(request.task, "dialog_source")
    st.subheader(_TITLE, anchor=False)
    if not files.uploaded(*columns.file_of(request.task)):
        return
    if _looks_first(request):
        st.rerun()
    ask(
        request.task,
        st.session_state.get("upload_question", "who"),
        _go,
        request.show,
        partial(_show, request),
        len(asked(request.task)),
    )


def _go(question: str) -> None:
    st.session_state.upload_question = question


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


# -- the questions about a file, in the dialog and in *Publish* alike ------------------------------


Result = TypeVar("Result")
# Fields of questions without a first answer.
_QUESTIONS = ("trust", "dates", "columns", "events", "groups")


def asked(task: str) -> tuple[str, ...]:
    """Return the names of the questions about a file of this task."""
    is_over_time = TASKS[task].data in (DataType.CURVES, DataType.READINGS)
    return ("who", *(("when",) if is_over_time else ()), "between", "trust")


def ask(
    task: str, at: str, go: Callable[[str], None], last: str, finish: Callable[[], None], of: int
) -> None:
    """Ask one question about a file; the last one ends with `finish`.

    A question whose earlier ones are open gives way to the first of them.
    """
    files.ask_about()
    draft.recall_answers()
    names = asked(task)
    at = _possible(task, at if at in names else names[0])
    place = names.index(at)
    frozen.say_answer()
    show_kept("upload_why")
    forward = guarded(partial(_PARTS[at], task))
    is_last = place == len(names) - 1

    def onward() -> None:
        with kept("upload_why"):  # a ledger without its key, for example
            if forward is None or forward():
                finish() if is_last else go(names[place + 1])

    questions.buttons(
        place + 1,
        of,
        last if is_last else "Next",
        onward,
        partial(go, names[place - 1]) if place else None,
        forward is not None,
    )
    draft.hold_answers()


def _possible(task: str, at: str) -> str:
    """Return the question asked for, or the first before it that is open."""
    current = draft.of(task)
    if current is None or at == "who":
        return "who"
    if at == "trust":
        try:
            draft.declare(statements.declared(current))
        except InputError:
            return "between"
    return at


Forward = Callable[[], bool]  # what *Next* does first; False if it fails


def _who(task: str) -> Forward | None:
    read, is_whole = reading.who(task)
    return partial(_confirmed, task, read) if is_whole else None


def _confirmed(task: str, read: Reading) -> bool:
    """Read the file by the reading, and let it propose answers to the next questions."""
    try:
        reading.confirm(task, read)
    except InputError as problem:
        st.session_state.upload_why = reading.refused(problem)
        return False
    current = draft.of(task)
    if current is not None:
        statements.suggest(current)
    return True


def _when(task: str) -> Forward | None:
    return (lambda: True) if when.when(draft.confirmed(task)) else None


def _between(task: str) -> Forward | None:
    return (lambda: True) if between.between(draft.confirmed(task)) else None


def _trust(task: str) -> Forward | None:
    current = draft.confirmed(task)
    read = trust.trust(current)
    if read is None:
        return None
    return (lambda: True) if read == current.reading else partial(_confirmed, task, read)


_PARTS = {"who": _who, "when": _when, "between": _between, "trust": _trust}


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
