"""Statements so far about a file: kept while its form comes and goes, and dropped with the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from engine.core import entrance
from engine.core.errors import InputError
from engine.core.types import PublicFacts
from engine.uploads.curves import CurveTable
from engine.uploads.design import StatedLaw
from engine.uploads.events import EventTable
from engine.uploads.reading_of_files import Reading
from engine.uploads.rows import RowTable
from pages.shared import components
from pages.shared.server import visitors

if TYPE_CHECKING:
    from engine.release.freezing import Frozen

_FIELDS = ("upload_", "rows_")  # starts of the keys of all questions
_OF_FILE = (
    "upload_proposed",
    "upload_defaults",
    "upload_header",
    "upload_read",
    "upload_draft",
    "upload_example",
    "upload_answered",
    "upload_brought",
    "upload_looked",
    "upload_question",
    "upload_suggested",
    "upload_one_person",
    "upload_kind",
    "upload_sites",
    "upload_why",
)
# No value may be set for the first; the others are no answers, and leave with the file.
_NO_FIELDS = (
    "upload_file",
    "upload_settings",
    "upload_held",
    "upload_files",
    "upload_file_last",
    "upload_open",
    "upload_name",
    *_OF_FILE,
)
_UNANSWERED = {"upload_law": None, "rows_reach": None}  # before any choice
_PLAIN = (str, int, float, tuple, list, type(None))


@dataclass(frozen=True)
class Draft:
    """A file with its confirmed reading, its content, and its stated facts."""

    task: str
    reading: Reading
    observations: CurveTable | RowTable | EventTable
    declared: PublicFacts | None = None  # None until complete

    @property
    def curves(self) -> CurveTable:
        """The content of a file of curves, or of single observations over time."""
        assert isinstance(self.observations, CurveTable)
        return self.observations


@dataclass(frozen=True)
class FrozenComparison:
    """The comparison of a file with its frozen facts and reading."""

    stated: Mapping[str, Any]  # by the ledger's name of each fact
    frozen: Frozen
    doubts: tuple[str, ...] = ()
    refuted: InputError | None = None


def of(task: str) -> Draft | None:
    """Return the confirmed statements about a file for this task."""
    draft: Draft | None = st.session_state.get("upload_draft")
    return None if draft is None or draft.task != task else draft


def confirmed(task: str) -> Draft:
    """Return the statements about a file whose reading is confirmed."""
    draft = of(task)
    assert draft is not None
    return draft


def keep(draft: Draft | None) -> None:
    """Put it in place of the last one; None where nothing is confirmed."""
    st.session_state.upload_draft = draft


def declare(facts: PublicFacts | None) -> None:
    """Put public bounds beside the file; None while something is missing."""
    draft: Draft | None = st.session_state.get("upload_draft")
    if draft is not None:
        st.session_state.upload_draft = replace(draft, declared=facts)


def _on_screen() -> dict[str, Any]:
    """Return the answers in all fields of the form."""
    state = st.session_state
    return {
        key: state[key]
        for key in map(str, state)
        if key.startswith(_FIELDS) and key not in _NO_FIELDS and isinstance(state[key], _PLAIN)
    }


def answer_of_file() -> FrozenComparison | None:
    """Return the file's comparison with the last frozen facts; None before."""
    return st.session_state.get("upload_answered")


def keep_answer(answer: FrozenComparison) -> None:
    """Put it in place of the last one."""
    st.session_state.upload_answered = answer


def hold_answers() -> None:
    """Keep the answers on screen: they would go with a dialog or a page that closes."""
    state: Any = st.session_state
    answers = _answers()
    answers.update(_on_screen())
    for key in state.pop("fields_recalled", ()):
        if key in state and not _is_drawn(key):
            del state[key]


def _is_drawn(key: str) -> bool:
    """True if this run has drawn a field: nobody may set its value any more."""
    try:
        st.session_state[key] = st.session_state[key]
    except StreamlitAPIException:
        return True
    return False


def recall_answers() -> None:
    """Put earlier answers into the fields of a form that is about to be drawn.

    The framework empties fields after a change of page, although their keys stay the same. A field
    drawn again starts empty in the browser unless the same run sets its value, so `hold_answers`
    takes back answers recalled for fields that are not drawn yet.
    """
    page = st.session_state.get("page")
    is_other = st.session_state.get("answers_on", page) != page
    st.session_state.answers_on = page
    recalled = [key for key in _answers() if is_other or key not in st.session_state]
    for key in recalled:
        st.session_state[key] = _answers()[key]
    st.session_state.fields_recalled = recalled


def _answers() -> dict[str, Any]:
    return st.session_state.setdefault("answers_of_form", {})


def answered(key: str) -> Any:
    """Return the answer in a field of the form, even off screen; None for none."""
    return st.session_state.get(key, _answers().get(key))


def answer(fields: Mapping[str, Any]) -> None:
    """Answer fields that have no answer yet, for when the form is drawn next."""
    for key, value in fields.items():
        if not answered(key):
            _answers()[key] = value


def suggest(fields: Mapping[str, Any]) -> None:
    """Propose answers from the file itself; the next file begins without them."""
    suggested = st.session_state.setdefault("upload_suggested", {})
    for key, value in fields.items():
        if not answered(key):
            put(**{key: value})
            suggested[key] = value


def suggested(key: str) -> Any:
    """Return what the file itself proposes for a field; None for nothing."""
    return st.session_state.get("upload_suggested", {}).get(key)


def _forget_suggestions() -> None:
    for key, value in st.session_state.get("upload_suggested", {}).items():
        if answered(key) == value:
            put(**{key: type(value)()})


def put(**fields: Any) -> None:
    """Answer fields that are not on screen in place of earlier answers."""
    for key, value in fields.items():
        _answers()[key] = value
        st.session_state.pop(key, None)


def use_example(facts: Mapping[str, str | bool], choices: Mapping[str, Any]) -> None:
    """Answer the form as it is publicly known of an example, in place of what was answered."""
    st.session_state.upload_example = dict(facts)
    for key, value in {**facts, **choices}.items():
        _answers()[key] = st.session_state[key] = value


def is_example() -> bool:
    """True if the file is an example of invented people."""
    return "upload_example" in st.session_state


def forget_example() -> None:
    """Take the facts of an example back, unless they were changed: no other file has them."""
    for key, fact in st.session_state.pop("upload_example", {}).items():
        if answered(key) == fact:
            _answers()[key] = st.session_state[key] = _UNANSWERED.get(key, type(fact)())


def forget_file() -> None:
    """Keep nothing of the file itself: its observations are held elsewhere."""
    forget_example()
    forget_reading()
    file = st.session_state.pop("upload_held", None)
    if file is not None:
        visitors.drop_own_file(file.file_id)


def forget_reading() -> None:
    """Keep nothing of what was said of the file."""
    _forget_suggestions()
    for name in _OF_FILE:
        if name != "upload_example":
            st.session_state.pop(name, None)


# -- public facts that were stated, through a reload: the visitor’s own browser has them -----------
# Neither browser nor server keeps the file, its column names or its groups.


_STATED_WORDS = (
    "value_name",
    "value_unit",
    "time_name",
    "time_unit",
    "person",
    "people",
    "origin",
    "value_low",
    "value_high",
    "time_low",
    "time_high",
    "observations",
    "gap",
    "window",
    "times",
    "heights",
    "reading_sd",
    "guessed_spread",
    "event_edges",
    "time_step",
)
_STATED_SWITCHES = ("periodic", "symmetric")
_STATED_LAW = "law"
_MOST_STATED = 20_000  # characters of all of them


def restore_stated() -> None:
    """Put facts kept by the browser into fields not drawn yet, once a visit.

    The fields and their readers check them like typed ones.
    """
    text = components.kept()
    if not text or st.session_state.get("stated_restored"):
        return
    st.session_state.stated_restored = True
    try:
        stated = entrance.json_of(text, "what was stated")
    except InputError:
        return
    if isinstance(stated, dict):
        answer(
            {f"upload_{name}": value for name, value in stated.items() if _is_answer(name, value)}
        )


def _is_answer(name: str, value: Any) -> bool:
    if name in _STATED_SWITCHES:
        return isinstance(value, bool)
    if name == _STATED_LAW:
        return value in [str(law) for law in StatedLaw]
    return name in _STATED_WORDS and isinstance(value, str)


def keep_stated() -> None:
    """Keep the stated facts in the browser; none of an example."""
    answers = {
        name: answered(f"upload_{name}")
        for name in (*_STATED_WORDS, *_STATED_SWITCHES, _STATED_LAW)
    }
    stated = {
        name: value
        for name, value in answers.items()
        if _is_answer(name, value)
        and value not in ("", False, str(StatedLaw.UNKNOWN), suggested(f"upload_{name}"))
    }
    is_kept = not is_example() and len(json.dumps(stated)) <= _MOST_STATED
    components.keep(stated if is_kept else {})
