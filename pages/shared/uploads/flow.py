"""The steps from a file to data on screen, in the dialog of every page and in the wizard alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Step:
    """One step.

    Parameters
    ----------
    key, title : str
    draw : callable
        Draws it for a task; returns whether it is whole.
    line : callable
        What was decided for a task, in one line; "" before that.
    """

    key: str
    title: str
    draw: Callable[[str], bool]
    line: Callable[[str], str]


def _file_step(task: str) -> bool:
    return (events if TASKS[task].data is DataType.EVENTS else columns).file_step(task)


FILE = Step("file", "File", _file_step, columns.file_line)
BOUNDS = Step("bounds", "Public bounds", facts.bounds_step, facts.bounds_line)
TRUST = Step("trust", "Who is trusted", columns.trust_step, columns.trust_line)
STEPS = (FILE, BOUNDS, TRUST)


def steps(task: str) -> tuple[Step, ...]:
    """Those that a file asks for: nobody is asked about sites where no column could name them.

    Parameters
    ----------
    task : str
        Whose data are asked for.
    """
    return STEPS if columns.has_sites_to_ask_for(task) else (FILE, BOUNDS)


def draw(step: Step, task: str) -> bool:
    """Draw a step; whether it is whole. What is wrong with it is said under it.

    Parameters
    ----------
    step : Step
    task : str
        Whose data are asked for.
    """
    draft.recall_answers()
    is_whole = bool(guarded(lambda: step.draw(task)))
    draft.hold_answers()
    return is_whole


def guarded(make: Callable[[], Result]) -> Result | None:
    """What a function gives; None, with the reason on the page, where it refuses.

    Parameters
    ----------
    make : callable
    """
    try:
        return make()
    except InputError as problem:
        if problem.field in _QUESTIONS:  # nothing is wrong yet
            st.info(message(problem), icon=":material/edit:")
        else:
            st.error(message(problem), icon=":material/error:")
        return None


def decided(number: int, title: str, line: str, change: Callable[[], None]) -> None:
    """One line for a step that is done, with the way back to it.

    Parameters
    ----------
    number : int
        From 1.
    title, line : str
        Of the step, and what was decided there, as Markdown.
    change : callable
        Goes back.
    """
    def back() -> None:
        draft.hold_answers()
        change()

    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{number} **{title}** · {line}", width="stretch")
        st.button("Change", key=f"change_step_{number}", type="tertiary", on_click=back,
                  help=f"Back to {title.lower()}; nothing is lost.")


def own_data(task: str) -> Source | None:
    """The data that file, bounds and trust make, or None with the reason on the page.

    Parameters
    ----------
    task : str
        Whose data they are.
    """
    return guarded(lambda: facts.own_data(task))
