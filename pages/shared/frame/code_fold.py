"""The fold *Code for this view*: Python, the command line and a notebook, on every page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from engine.exports.code_for import Code, code_for, notebook
from engine.uploads.own_file import OwnFile
from engine.uploads.reading_of_files import Reading
from pages.shared.frame import layout
from pages.shared.state import session, settings

_HEIGHT = 320  # pixels of long code, which scrolls
_LONG = 18  # lines


def show(
    page: str,
    question: Callable[[], Any],
    task: str = settings.TASK,
    note: str = "",
    scope: str = "",
    write: Callable[[Any, OwnFile | None], Code] = code_for,
) -> None:
    """Show the fold with the code of a page's question.

    `task` is empty on pages that never show the visitor's own data; `note` appears under the
    command line, and `scope` names numbers of the page absent from the code. `write` also gets the
    reading of the visitor's own file.
    """

    def draw() -> None:
        file = own_file(task)
        if task and session.uploaded(task) and file is None:
            st.markdown(
                "There is no code of a first look: its ranges come from the file. Confirm "
                "under *Use my data* how the file is read, and state public bounds."
            )
        else:
            _drawn(page, write(question(), file), file, note, scope)

    layout.folded("Code for this view", f"{page}_code", draw)


def own_file(task: str) -> OwnFile | None:
    """Return the reading of the file on screen; None without one."""
    if not task or not session.uploaded(task):
        return None
    return st.session_state.get(_key(task))


def remember(task: str, name: str, reading: Reading | None) -> None:
    """Keep how the file in the panel was read with what it gave; a first look has no reading."""
    st.session_state[_key(task)] = None if reading is None else OwnFile(name, reading)


def _key(task: str) -> str:
    return f"{session.own_key(task)}_how"


def _drawn(page: str, code: Code, file: OwnFile | None, note: str, scope: str) -> None:
    if code.spends:
        st.markdown(f"**{code.about}**")
    python, command = st.tabs(["Python", "Command line"])
    with python:
        if file is not None:
            st.markdown(
                ":small[It reads your file by name and contains none of its values. Its "
                "output is not private.]"
            )
        st.code(code.python, language="python", height=_height(code.python))
    with command:
        if code.command:
            st.code(code.command, language="bash", height=_height(code.command))
            st.markdown(note)
        else:
            st.markdown(
                "The command line does not have the facts that you stated. Save the Python "
                "code and run it."
                if file is None
                else "The command line does not have your file. Save the Python code beside "
                "your file and run it."
            )
    st.download_button(
        "Get the notebook",
        notebook(code),
        f"privacy-curves-{page}.ipynb",
        "application/x-ipynb+json",
        on_click="ignore",
        key=f"{page}_notebook",
        icon=":material/book:",
        help="The same code, with a chart and short comments.",
    )
    if not code.spends:
        st.markdown(
            f":small[Run it in the folder of Privacy Curves: it prints the numbers above. {scope}]"
        )


def _height(text: str) -> int | Literal["content"]:
    return _HEIGHT if text.count("\n") > _LONG else "content"
