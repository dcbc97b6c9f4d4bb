"""How this file is read: one screen from a proposal to a reading that its holder confirms.

What the file says by itself is only proposed here; from *Confirm* on its bytes are read by the
stated reading alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.language.grammar import capital
from engine.uploads.looking import header_of, likely_site, observations_of
from engine.uploads.proposal import Proposal, propose
from engine.uploads.proposing.examples import examples_of
from engine.uploads.proposing.questions import Question, answered
from engine.uploads.reading_of_files import Column, Kind, Order, Reading
from pages.shared.frame.controls import message, plain
from pages.shared.uploads import columns, draft, files
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of

_TITLE = "How this file is read"
_KINDS = {Kind.NUMBER: "number", Kind.DATE: "date", Kind.CLOCK: "time of day",
          Kind.ELAPSED: "elapsed time", Kind.PERCENTAGE: "percentage", Kind.WORD: "words"}
_ORDERS = {Order.YMD: "year-month-day", Order.DMY: "day/month/year", Order.MDY: "month/day/year",
           Order.UNIX: "seconds since 1970", Order.UNIX_MILLISECONDS: "milliseconds since 1970"}
_WORDS = ("time", "start", "entry", "value", "status", "group", "site")


def step(task: str) -> bool:
    """Draw file and reading; True once the reading is confirmed and the file was read by it.

    Raises
    ------
    InputError
        Whatever the file is refused for, and the first question that is open.
    """
    if not files.uploaded(*columns.file_of(task)):
        return False
    if (reading := st.session_state.pop("upload_confirm", None)) is not None:
        confirm(task, reading)
    confirmed = draft.of(task)
    if confirmed is not None and not st.session_state.get("upload_edit"):
        _in_short(confirmed)
        return True
    st.subheader(_TITLE, anchor=False)
    reading = _screen(task)
    if reading is None:
        return False
    if draft.is_example() and not reading.gaps and confirmed is None:
        confirm(task, reading)
        st.rerun()
    _buttons(reading)
    return False


def confirm(task: str, reading: Reading) -> None:
    """Read the bytes by the reading alone, and keep what they say.

    Raises
    ------
    InputError
        With counts of the lines that are outside the reading.
    """
    observations = files.made("upload_read", observations_of, "Reading the file …", reading,
                              columns.kind_of(task))
    before = draft.of(task)
    draft.keep(Draft(task, reading, observations, None if before is None else before.declared))
    st.session_state.upload_edit = False


def proposal_of(task: str, stated: Mapping[str, Any]) -> Proposal:
    """What the file says by itself, for its holder to look at.

    Raises
    ------
    InputError
        If it is no table, or cells of a column can be read in no way.
    """
    def of(frame: Mapping[str, str]) -> Proposal:
        return files.made("upload_proposed", propose, "Reading the file …",
                          data=columns.kind_of(task), stated=dict(stated), **frame)

    return files.cut(of)


# -- the screen ------------------------------------------------------------------------------------


def _screen(task: str) -> Reading | None:
    """The reading as it stands on screen, maybe with gaps; None where nothing can be proposed."""
    brought = _brought()
    if brought is not None:
        _table(brought, examples_of(brought))
        return brought
    above, stated = st.container(), columns.stated(task)
    try:
        proposal = proposal_of(task, stated)
    except InputError as problem:
        if problem.field in ("file", "encoding"):
            raise
        columns.draw(task, files.cut(_header), None)  # the names do not say: a person may choose
        raise
    if not stated:
        st.session_state.upload_defaults = columns.proposed(task, proposal.reading)
    reading, header = proposal.reading, proposal.reading.frame.header
    with st.expander("Change columns", expanded=_is_open(proposal)):
        columns.draw(task, header, reading)
        reading = columns.with_times(task, reading)
    for question in proposal.ask:
        reading = _asked(question, reading)
    with above:
        st.markdown(f"{plain(capital(proposal.people))}.")
        _table(reading, examples_of(reading))
    columns.check_features(task, reading)
    columns.trust_and_groups(task, header, reading, likely_site(header))
    return reading


def _header(frame: Mapping[str, str]) -> tuple[str, ...]:
    return files.made("upload_header", header_of, "Reading the file …", **frame)


def _is_open(proposal: Proposal) -> bool:
    """True where a column has to be chosen."""
    return any(gap.field.startswith("columns") and gap.field.count(".") == 1
               for gap in proposal.gaps)


def _asked(question: Question, reading: Reading) -> Reading:
    """The reading with the answer to a question, which has none at first where it is a gap."""
    key = key_of(f"upload_ask_{question.field}")
    labels = [option.label for option in question.options]
    if question.takes_several:
        chosen: Sequence[int] = st.multiselect(
            question.question, range(len(labels)), format_func=labels.__getitem__, key=key,
            placeholder="Choose")
    else:
        answer = st.radio(question.question, range(len(labels)), format_func=labels.__getitem__,
                          key=key, index=None if question.is_gap else 0)
        chosen = () if answer is None else (answer,)
    if question.evidence:
        st.markdown(f":small[Only you see this: {plain(question.evidence)}]")
    return answered(reading, *(question.options[k] for k in chosen))


def _table(reading: Reading, examples: Mapping[str, Sequence[str]]) -> None:
    """A line for each column that is read: name, role, kind, invented cells as they are read."""
    rows = [(_person_of(reading), "person", "id", "")] if _person_of(reading) else []
    for role in _WORDS:
        if role in reading.columns:
            column = reading.columns[role]
            rows.append((column.name, role, _kind_of(column, reading),
                         " · ".join(examples.get(column.name, ()))))
    if reading.values is not None:
        names = [name for name, _ in reading.at]
        listed = f"{names[0]} … {names[-1]}" if names else "all other columns"
        rows.append((listed, "value", _kind_of(reading.values, reading),
                     " · ".join(examples.get(names[0], ()) if names else ())))
    rows += [(column.name, "feature" if column in reading.features else "covariate",
              _kind_of(column, reading), " · ".join(examples.get(column.name, ())))
             for column in (*reading.features, *reading.covariates)]
    lines = ["| " + " | ".join(plain(shortened(cell) if k == 0 else cell) or " "
                               for k, cell in enumerate(row)) + " |" for row in rows]
    st.markdown("\n".join(["| Column | Role | Read as | For example |", "|--|--|--|--|", *lines]))


def _person_of(reading: Reading) -> str:
    return "" if reading.person is None else reading.person.column


def _kind_of(column: Column, reading: Reading) -> str:
    """How the cells of a column are read, in words."""
    kind = _KINDS[column.kind]
    if column.kind is Kind.NUMBER and reading.decimal == ",":
        kind = "number with decimal comma"
    return ", ".join(filter(None, (kind, _ORDERS.get(column.order, ""), column.counted,
                                   column.unit)))


def _in_short(confirmed: Draft) -> None:
    """One line on a reading that is confirmed, with the way back to it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/check: **{_TITLE}** · {columns.counts(confirmed)}",
                    width="stretch")
        _download(confirmed.reading)
        if files.content() is not None:
            st.button("Change", key="change_reading", type="tertiary",
                      on_click=lambda: st.session_state.update(upload_edit=True))
    if notes := confirmed.observations.notes:
        st.markdown("\n".join(f"- {plain(capital(note))}" for note in notes))


def _buttons(reading: Reading) -> None:
    """Confirm, once nothing is open; the reading to keep, and one that was kept."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Confirm", key="confirm_reading", type="primary",
                  icon=":material/check:", disabled=bool(reading.gaps), on_click=_ask_to_confirm,
                  args=(reading,))
        if not reading.gaps:
            _download(reading)
        with st.popover("Use a saved reading", icon=":material/replay:"):
            st.file_uploader("reading.json of an earlier file", "json", key="reading_file",
                             on_change=_bring, max_upload_size=1)
    if (problem := st.session_state.pop("reading_problem", None)) is not None:
        st.error(message(problem), icon=":material/error:")
    if reading.gaps:
        n = len(reading.gaps)
        st.markdown(f":small[{n} question{'s are' if n > 1 else ' is'} open above.]")


def _ask_to_confirm(reading: Reading) -> None:
    draft.hold_answers()
    st.session_state.upload_confirm = reading


def _download(reading: Reading) -> None:
    st.download_button("Save this reading", json.dumps(reading.to_plain(), ensure_ascii=False,
                                                       indent=1),
                       "reading.json", "application/json", on_click="ignore", type="tertiary",
                       icon=":material/download:", key="save_reading",
                       help="Next year’s file can be read in the same way. It holds names of "
                       "columns and no cell of anybody.")


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
            problem if isinstance(problem, InputError) else InputError(
                "This file is no saved reading.", field="reading",
                hint="Bring reading.json, as *Save this reading* writes it."))


def _brought() -> Reading | None:
    """A saved reading that holds in place of a proposal, with the way back."""
    brought: Reading | None = st.session_state.get("upload_brought")
    if brought is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("Read by your saved reading.", width="content")
            st.button("Propose one from the file", type="tertiary", key="drop_reading",
                      on_click=lambda: st.session_state.pop("upload_brought"))
    return brought

