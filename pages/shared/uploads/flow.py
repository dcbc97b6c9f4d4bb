"""The form from a file to data on screen, in the dialog of every page and in *Publish* alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import TASKS, DataType
from engine.sources import Source
from pages.shared.frame.controls import message
from pages.shared.uploads import columns, draft, events, facts

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
