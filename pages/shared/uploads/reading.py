"""The first question about a file: who is one person, and how its columns are read.

The file itself only suggests a proposal; once *Next* is pressed the stated reading alone decides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine.answers.groups import MAX_GROUPS
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.tasks import TASKS, DataType
from engine.language.grammar import capital
from engine.language.numbers import whole
from engine.uploads import looking
from engine.uploads.curves import Upload
from engine.uploads.events import UploadEvents
from engine.uploads.proposal import Proposal, propose
from engine.uploads.proposing.examples import rows_of
from engine.uploads.proposing.questions import Question, ReadingOption, answered
from engine.uploads.reading_of_files import Kind, Reading
from engine.uploads.rows import UploadRows
from pages.shared.frame.controls import plain, show_kept
from pages.shared.uploads import columns, draft, earlier, files, questions
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of
from pages.shared.uploads.questions import AnswerRows

_TITLE = "How this file is read"
_GROUPS = "columns.group.words"  # the field of the question which texts are groups
_PERIODS = "columns.period"  # asked in sight: else two curves of a person would become one
_HERE = {
    "reading": "Correct those lines in the file, or change below how a column is read.",
    "header": "The saved reading is of another table: have one proposed from this file.",
    "several": f"Choose under “{_TITLE}” what becomes of them, or keep one line of each.",
    "start": f"Choose the column of starts under “{_TITLE}”.",
    "group": f"Choose the groups, or no column of groups, under “{_TITLE}”.",
}
"""What to do on this page about a refusal, by the field that it names."""
TRUST = "columns.site"  # asked by a question of its own
_MOST_ROWS = 20


def confirm(task: str, reading: Reading) -> None:
    """Read the bytes by the reading alone, and keep what they say."""
    observations = files.made(
        "upload_read", looking.observations_of, reading, columns.kind_of(task)
    )
    before = draft.of(task)
    draft.keep(Draft(task, reading, observations, None if before is None else before.declared))


def refused(problem: InputError) -> InputError:
    """Return a refusal of the reading with what to do about it here."""
    return InputError(
        problem.message, field=problem.field, hint=_HERE.get(problem.field, problem.hint)
    )


def first_look(task: str) -> Upload | UploadRows | UploadEvents:
    """Read the file in the likeliest way, with ranges of its own, for its holder's eyes only."""
    return files.made("upload_look", looking.first_look, task, **files.frame())


def likely_task(task: str) -> str:
    """Return the task that the file suits, if its columns hold another kind of data; else ""."""
    try:
        likely: str = files.made("upload_kind", looking.likely_task, **files.frame())
    except InputError:  # asked about with the columns
        return ""
    is_other = likely and columns.kind_of(likely) is not columns.kind_of(task)
    return likely if is_other else ""


def proposal_of(task: str, stated: Mapping[str, Any]) -> Proposal:
    """Propose a reading from the file itself, for its holder to look at."""
    return files.made(
        "upload_proposed", propose, data=columns.kind_of(task), stated=dict(stated), **files.frame()
    )


# -- the screen ------------------------------------------------------------------------------------


def who(task: str) -> tuple[Reading, bool]:
    """Ask who one person is, and whatever nobody else can know; True once nothing is open."""
    brought = _brought()
    if brought is not None:
        st.header(questions.WORDS["who"].heading, anchor=False)
        _table(brought)
        columns.check_covariates(task, brought)
        return brought, True
    stated = columns.stated(task)
    try:
        proposal = proposal_of(task, stated)
    except InputError as problem:
        _draw_unread(task, problem)
        raise
    if not stated:
        st.session_state.upload_defaults = columns.proposed(task, proposal.reading)
        st.session_state.upload_one_person = _one_person(proposal)
    reading, asked = _person(proposal)
    gaps = [question for question in proposal.ask if question.is_gap and question is not asked]
    periods = [question for question in proposal.ask if question.field == _PERIODS]
    for question in (*gaps, *periods):
        reading = _asked(question, reading)
    needs_columns = any(
        gap.field.startswith("columns") and gap.field.count(".") == 1 for gap in proposal.gaps
    ) or columns.lacks_covariates(task, reading)
    is_drawn, key = key_of("reading_drawn"), key_of("reading_fold")
    fold = st.expander(_TITLE, expanded=needs_columns, on_change="rerun", key=key)
    if fold.open:
        st.session_state[is_drawn] = True
    # Drawn from its first opening on, so that what was chosen there stays.
    if TASKS[task].data is DataType.RECORDS or st.session_state.get(is_drawn):
        with fold:
            reading = _how_it_is_read(task, proposal, reading)
    else:
        for question in _further(proposal):
            if not question.takes_several and question.field != _GROUPS:
                reading = answered(reading, question.options[0])
    columns.check_covariates(task, reading)
    columns.check_features(task, reading)
    questions.evidence(
        " ".join((f"{plain(proposal.people.rstrip('.'))}.", *_notes(proposal.notes)))
    )
    is_chosen = (
        st.session_state.get(key_of("upload_who")) != "another"
        or draft.answered(key_of("upload_role_id")) is not None
    )
    return reading, is_chosen and not _still_open(proposal, reading)


def _further(proposal: Proposal) -> list[Question]:
    """List the questions whose first answer holds until another one is chosen."""
    elsewhere = ("person", TRUST, _PERIODS)
    return [each for each in proposal.ask if not each.is_gap and each.field not in elsewhere]


def _how_it_is_read(task: str, proposal: Proposal, reading: Reading) -> Reading:
    """Show how the file is read, with whatever may be changed; return the reading."""
    frame = proposal.reading.frame
    files.frame_choices(frame.encoding, frame.sheet)
    columns.draw(task, frame.header, proposal.reading)
    reading = columns.several(task, reading)
    for question in _further(proposal):
        reading = _asked(question, reading)
    _table(reading)
    _save_and_bring(reading)
    return reading


def _draw_unread(task: str, problem: InputError) -> None:
    """Let a person say what no proposal could: encoding, sheet, or columns."""
    if problem.field == "encoding":
        files.frame_choices("unknown")
    elif problem.field == "sheet":
        files.frame_choices("", files.made("upload_sheets", looking.sheets_of)[0])
    elif problem.field != "file":  # names do not tell: a person may choose
        header = files.made("upload_header", looking.header_of, **files.frame())
        columns.draw(task, header, None)


def _one_person(proposal: Proposal) -> str:
    """Say who one person is by a proposal: the words of the first answer."""
    person, n = proposal.reading.person, f"{whole(proposal.n_people or 0)} people"
    if person is None:
        return ""
    if person.column:
        return f"Each value of **{plain(shortened(person.column))}**: {n}"
    of = "row" if person.rows else "column" if person.header else "file"
    return f"Each {of}: {n}"


def _person(proposal: Proposal) -> tuple[Reading, Question | None]:
    """Ask who one person is; return the reading, and the question of the proposal on it."""
    question = next((each for each in proposal.ask if each.field == "person"), None)
    if question is not None:
        key = key_of("upload_ask_person")
        options = {option.label: option for option in question.options}
        chosen = questions.question(
            "who",
            plain(question.question),
            AnswerRows(key, {label: plain(label) for label in options}),
            {},
        )
        reading = proposal.reading
        return answered(reading, *([options[chosen]] if chosen else [])), question
    first = st.session_state.get("upload_one_person", "")
    is_column = first.startswith("Each value")
    labels = {
        "proposed": first,
        **({"rows": "Each row is somebody else", "another": "Another column"} if is_column else {}),
    }
    prices = {"proposed": "protects all their rows", "rows": "protects one row only"}
    chosen = questions.question(
        "who",
        "Proposed from the file." if len(labels) > 1 else "The file says so.",
        AnswerRows(key_of("upload_who"), labels, "proposed"),
        prices if is_column else {},
    )
    if chosen == "another":
        columns.person(proposal.reading.frame.header)
    return proposal.reading, None


def _asked(question: Question, reading: Reading) -> Reading:
    """Ask a question, without a default if only a person knows; return the answered reading."""
    key = key_of(f"upload_ask_{question.field}")
    if question.field == _GROUPS:
        return _groups(question, reading, key)
    options = {option.label: option for option in question.options}
    if question.takes_several:
        chosen: Sequence[str] = st.multiselect(
            plain(question.question), [*options], key=key, placeholder="Choose one or more"
        )
    else:
        answer = st.radio(
            plain(question.question),
            [*options],
            key=key,
            format_func=plain,
            index=None if question.is_gap else 0,
        )
        chosen = [answer] if answer else []
    if question.evidence:
        questions.evidence(plain(question.evidence))
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
        if gap.field.count(".") == 1
        and gap.field.removeprefix("columns.") not in reading.columns
        and not (gap.field == "columns.status" and "without" in reading.columns)
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


def _notes(notes: Sequence[str]) -> list[str]:
    """Write further notes on the reading of the file, for its holder."""
    return [f"{plain(capital(note.rstrip('.')))}." for note in notes]


def _save_and_bring(reading: Reading) -> None:
    """Save the reading, once complete, or take a saved one."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if not reading.gaps:
            st.download_button(
                "Save this reading",
                json.dumps(reading.to_plain(), ensure_ascii=False, indent=1),
                "reading.json",
                "application/json",
                on_click="ignore",
                type="tertiary",
                icon=":material/download:",
                key="save_reading",
                help="Next year’s file can be read in the same way. It holds names of columns and "
                "no cell of anybody.",
            )
        with st.popover("As for an earlier file", icon=":material/replay:"):
            st.file_uploader(
                "reading.json of an earlier file",
                "json",
                key="reading_file",
                on_change=_bring,
                max_upload_size=1,
            )
            earlier.draw()
    show_kept("reading_problem")


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
