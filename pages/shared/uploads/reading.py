"""The reading of this file: one screen from a proposal to a reading that its holder confirms.

The file itself only suggests a proposal; after *Confirm* the stated reading alone decides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine.answers.groups import MAX_GROUPS
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.language.grammar import capital
from engine.uploads import looking
from engine.uploads.curves import Upload
from engine.uploads.events import UploadEvents
from engine.uploads.proposal import Proposal, propose
from engine.uploads.proposing.examples import rows_of
from engine.uploads.proposing.questions import Question, ReadingOption, answered
from engine.uploads.reading_of_files import Kind, Reading
from engine.uploads.rows import UploadRows
from pages.shared.frame.controls import message, plain
from pages.shared.uploads import columns, draft, files
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of

_TITLE = "How this file is read"
_HERE = {
    "reading": "Correct those lines in the file, or change above how a column is read.",
    "header": "The saved reading is of another table: have one proposed from this file.",
    "several": "Choose under “Change columns” what becomes of them, or keep one line of each.",
    "start": "Choose the column of starts under “Change columns”.",
    "group": "Choose the groups above, or no column of groups under “Change columns”.",
}
"""What to do on this page about a refusal, by the field that it names."""
_TRUST = "columns.site"  # the question of trust, which has no default answer
_MOST_ROWS = 20


def step(task: str) -> bool:
    """Draw file and reading; True once the reading is confirmed and the file was read by it."""
    if not files.uploaded(*columns.file_of(task)):
        return False
    refused = _confirmed(task)
    confirmed = draft.of(task)
    if confirmed is not None and not st.session_state.get("upload_edit"):
        _in_short(confirmed)
        return True
    st.subheader(_TITLE, anchor=False)
    reading, n_open = _screen(task)
    if draft.is_example() and not n_open and confirmed is None:
        confirm(task, reading)
        st.rerun()
    _buttons(reading, n_open)
    if refused is not None:
        st.error(message(refused), icon=":material/error:")
    return False


def _confirmed(task: str) -> InputError | None:
    """Read the file by what was just confirmed; why not, if it is refused, and what to do here."""
    reading: Reading | None = st.session_state.pop("upload_confirm", None)
    if reading is None:
        return None
    try:
        confirm(task, reading)
    except InputError as problem:
        return InputError(
            problem.message, field=problem.field, hint=_HERE.get(problem.field, problem.hint)
        )
    return None


def confirm(task: str, reading: Reading) -> None:
    """Read the bytes by the reading alone, and keep what they say."""
    observations = files.made(
        "upload_read", looking.observations_of, reading, columns.kind_of(task)
    )
    before = draft.of(task)
    draft.keep(Draft(task, reading, observations, None if before is None else before.declared))
    st.session_state.upload_edit = False


def first_look(task: str) -> Upload | UploadRows | UploadEvents:
    """Read the file in the likeliest way, with ranges of its own, for its holder's eyes only."""
    return files.made("upload_look", looking.first_look, task, **files.frame())


def proposal_of(task: str, stated: Mapping[str, Any]) -> Proposal:
    """Propose a reading from the file itself, for its holder to look at."""
    return files.made(
        "upload_proposed", propose, data=columns.kind_of(task), stated=dict(stated), **files.frame()
    )


# -- the screen ------------------------------------------------------------------------------------


def _screen(task: str) -> tuple[Reading, int]:
    """Return the reading as it is on screen, and the number of open questions."""
    brought = _brought()
    if brought is not None:
        _table(brought)
        return brought, 0
    above, stated = st.container(), columns.stated(task)
    try:
        proposal = proposal_of(task, stated)
    except InputError as problem:
        if problem.field == "encoding":
            files.frame_choices("unknown")
        elif problem.field == "sheet":
            files.frame_choices("", files.made("upload_sheets", looking.sheets_of)[0])
        elif problem.field != "file":  # names do not tell: a person may choose
            header = files.made("upload_header", looking.header_of, **files.frame())
            columns.draw(task, header, None)
        raise
    if not stated:
        st.session_state.upload_defaults = columns.proposed(task, proposal.reading)
    reading, header = proposal.reading, proposal.reading.frame.header
    needs_columns = any(
        gap.field.startswith("columns") and gap.field.count(".") == 1 for gap in proposal.gaps
    )
    with st.expander("Change columns", expanded=needs_columns):
        files.frame_choices(reading.frame.encoding, reading.frame.sheet)
        columns.draw(task, header, reading)
        reading = columns.several(task, reading)
    for question in proposal.ask:
        reading = _asked(question, reading)
    with above:
        st.markdown(f"{plain(capital(proposal.people.rstrip('.')))}.")
        _table(reading)
        _notes(proposal.notes)
    columns.check_features(task, reading)
    is_trusted = st.session_state.get(key_of(f"upload_ask_{_TRUST}")) or draft.is_example()
    asks_trust = any(question.field == _TRUST for question in proposal.ask) and not is_trusted
    return reading, len(_still_open(proposal, reading)) + asks_trust


def _asked(question: Question, reading: Reading) -> Reading:
    """Ask a question, without a default if only a person knows; return the answered reading."""
    key = key_of(f"upload_ask_{question.field}")
    if question.field == "columns.group.words":
        return _groups(question, reading, key)
    options = {option.label: option for option in question.options}
    if question.takes_several:
        chosen: Sequence[str] = st.multiselect(
            plain(question.question), [*options], key=key, placeholder="Choose one or more"
        )
    else:
        is_open = question.is_gap or (question.field == _TRUST and not draft.is_example())
        answer = st.radio(
            plain(question.question),
            [*options],
            key=key,
            format_func=plain,
            index=None if is_open else 0,
        )
        chosen = [answer] if answer else []
    if question.evidence:
        st.markdown(f":small[Only you see this: {plain(question.evidence)}]")
    if question.field == "columns.time.from" and reading.columns["time"].kind is Kind.DATE:
        day = st.text_input(
            "Or: days since this public day",
            key=key_of("upload_since"),
            max_chars=10,
            placeholder="e.g. 2024-01-31, the start of the study",
        )
        if day.strip():
            return answered(
                reading,
                ReadingOption("", {"columns": {"time": {"from": f"days since {day.strip()}"}}}),
            )
    return answered(reading, *(options[label] for label in chosen))


def _groups(question: Question, reading: Reading, key: str) -> Reading:
    """Ask which texts are groups, at least two; return the reading with them."""
    words = question.options[0].adds["columns"]["group"]["words"]
    chosen = st.multiselect(
        plain(question.question),
        [*words],
        key=key,
        format_func=shortened,
        placeholder="Choose two or more",
        max_selections=MAX_GROUPS,
    )
    if not chosen and 1 < len(words) <= MAX_GROUPS:  # groups need the holder's choice
        st.button(
            plain(f"All of them: {', '.join(map(shortened, words))}"),
            key=f"all_of_{key}",
            icon=":material/done_all:",
            type="tertiary",
            on_click=lambda: st.session_state.update({key: [*words]}),
            help="Only if everybody may know that there are these groups.",
        )
    if len(chosen) < 2:
        return reading
    other = "missing" if "status" in reading.columns else "left out"
    return answered(
        reading,
        ReadingOption(
            "",
            {
                "columns": {
                    "group": {"words": {text: words[text] for text in chosen}, "other": other}
                }
            },
        ),
    )


def _still_open(proposal: Proposal, reading: Reading) -> set[str]:
    """Return the fields of the remaining gaps: those of the reading, and columns it lacks."""
    lacking = {
        gap.field
        for gap in proposal.gaps
        if gap.field.count(".") == 1 and gap.field.removeprefix("columns.") not in reading.columns
    }
    return {gap.field for gap in reading.gaps} | lacking


def _table(reading: Reading) -> None:
    """Show a line for each column: name, role, kind, and invented cells as they are read."""
    rows = rows_of(reading)
    lines = [
        "| "
        + " | ".join(
            plain(shortened(cell) if k == 0 else cell) or " " for k, cell in enumerate(row)
        )
        + " |"
        for row in rows[:_MOST_ROWS]
    ]
    if more := len(rows) - len(lines):
        lines.append(f"| and {more} more | | | |")
    st.markdown("\n".join(["| Column | Role | Read as | For example |", "|--|--|--|--|", *lines]))


def _in_short(confirmed: Draft) -> None:
    """Show one line on a confirmed reading, with the way back to it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/check: **{_TITLE}** · {columns.counts(confirmed)}", width="stretch")
        _download(confirmed.reading)
        if files.content() is not None:
            st.button(
                "Change",
                key="change_reading",
                type="tertiary",
                on_click=lambda: st.session_state.update(upload_edit=True),
            )
    _notes(confirmed.observations.notes)


def _notes(notes: Sequence[str]) -> None:
    """Show further notes on the reading of the file, for its holder."""
    if notes:
        st.markdown("\n".join(f"- {plain(capital(note))}" for note in notes))


def _buttons(reading: Reading, n_open: int) -> None:
    """Draw buttons to confirm and save the reading, once complete, and to load a saved one."""
    if n_open:
        st.markdown(f":small[{n_open} question{'s are' if n_open > 1 else ' is'} open above.]")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Confirm",
            key="confirm_reading",
            type="primary",
            icon=":material/check:",
            disabled=n_open > 0,
            on_click=_ask_to_confirm,
            args=(reading,),
        )
        if not n_open:
            _download(reading)
        with st.popover("Use a saved reading", icon=":material/replay:"):
            st.file_uploader(
                "reading.json of an earlier file",
                "json",
                key="reading_file",
                on_change=_bring,
                max_upload_size=1,
            )
    if (problem := st.session_state.pop("reading_problem", None)) is not None:
        st.error(message(problem), icon=":material/error:")


def _ask_to_confirm(reading: Reading) -> None:
    draft.hold_answers()
    st.session_state.upload_confirm = reading


def _download(reading: Reading) -> None:
    st.download_button(
        "Save this reading",
        json.dumps(reading.to_plain(), ensure_ascii=False, indent=1),
        "reading.json",
        "application/json",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        key="save_reading",
        help="Next year’s file can be read in the same way. It holds names of "
        "columns and no cell of anybody.",
    )


def _bring() -> None:
    """Take a saved reading in place of what the file proposes."""
    file = st.session_state.reading_file
    if file is None:
        return
    try:
        text = json.loads(file.getvalue().decode("utf-8"))
        st.session_state.upload_brought = Reading.of(text).complete()
    except (ValueError, InputError) as problem:
        st.session_state.reading_problem = (
            problem
            if isinstance(problem, InputError)
            else InputError(
                "This file is no saved reading.",
                field="reading",
                hint="Bring reading.json, as *Save this reading* writes it.",
            )
        )


def _brought() -> Reading | None:
    """Return a saved reading that replaces the proposal, with the way back."""
    brought: Reading | None = st.session_state.get("upload_brought")
    if brought is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("Read by your saved reading.", width="content")
            st.button(
                "Propose one from the file",
                type="tertiary",
                key="drop_reading",
                on_click=lambda: st.session_state.pop("upload_brought"),
            )
    return brought
