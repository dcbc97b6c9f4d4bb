"""A second file with a public sample of other people, which sets open settings of the method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from engine.language.grammar import escape
from engine.mechanisms import Mechanism
from engine.release import public_tuning, request
from engine.release.public_tuning import PublicTuning
from engine.uploads.limits import MAX_BYTES
from engine.uploads.source import UploadedData
from pages.shared.frame import controls, layout
from pages.shared.state import session

if TYPE_CHECKING:
    from pages.parts.release.choice import Choice

_ABOUT = (
    "A sample that everybody may see, of other people and with the columns of your file, may set "
    "what the method leaves open. It costs no budget, and the card names it. Your file is only "
    "compared with it: a shared record is refused. That refusal is for you alone; do not "
    "publish it."
)


class _Tuned(NamedTuple):
    """A method that a public sample has set, and the method before."""

    tuning: PublicTuning
    before: Mechanism
    sample: UploadedData[Any]


def in_words(choice: Choice) -> str:
    """Name the sample that set the method on screen, of which the file has no record.

    It is "" where none did. The file may have changed since, so that both are compared again.
    """
    tuned = _tuned(choice)
    if tuned is None or choice.file is None:
        return ""
    public_tuning.check_apart(tuned.sample, choice.file)
    return tuned.tuning.in_words


def show(choice: Choice) -> None:
    """Offer to set the method by a public sample, or say which one set it."""
    if not choice.has_methods or not isinstance(choice.file, UploadedData):
        return
    tuned = _tuned(choice)
    if tuned is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":small[Set by a public sample: {escape(tuned.tuning.in_words)}]", width="content"
            )
            st.button(
                "Leave it out",
                key="public_sample_out",
                type="tertiary",
                on_click=session.change_mechanism,
                args=(choice.task, tuned.before),
            )
    elif public_tuning.open_settings(choice.mechanism):
        layout.folded("Settings from a public sample", "public_sample", lambda: _offer(choice))


def _offer(choice: Choice) -> None:
    st.markdown(f":small[{_ABOUT}]")
    file = st.file_uploader(
        "Public sample", key="public_sample", max_upload_size=MAX_BYTES // 1_000_000
    )
    st.button(
        "Set the method by it",
        key="public_sample_set",
        disabled=file is None,
        on_click=_set,
        args=() if file is None else (choice, file.name, file.getvalue()),
    )
    controls.show_kept("public_sample_problem")


def _set(choice: Choice, name: str, content: bytes) -> None:
    """Tune the method on screen, or keep the reason against it for its place."""
    source, before = choice.file, choice.mechanism
    if not isinstance(source, UploadedData):
        return
    with controls.kept("public_sample_problem"):
        sample = request.public_sample(content, source, before)
        tuning = public_tuning.tuned_on(before, sample, source, choice.budget, name=name)
        st.session_state[_key(choice.task)] = _Tuned(tuning, before, sample)
        session.change_mechanism(choice.task, tuning.mechanism)


def _tuned(choice: Choice) -> _Tuned | None:
    """Find what a sample has set, while that very method is on screen."""
    kept: _Tuned | None = st.session_state.get(_key(choice.task))
    return kept if kept is not None and kept.tuning.mechanism == choice.mechanism else None


def _key(task: str) -> str:
    return f"{session.own_key(task)}_public_sample"
