"""What a row of a file of events is: its columns, and what the texts in them mean.

Which texts are events, and who is compared with whom, is stated by the person, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.language.numbers import whole
from engine.numerics.counts.cells import Counted
from engine.numerics.counts.estimands import ESTIMANDS
from engine.uploads import events as readers
from engine.uploads import examples
from engine.uploads.conversions import CALENDAR, Dates
from engine.uploads.events import EventColumns, codes_in, counted_for, read_events
from engine.uploads.examples import Example
from engine.uploads.tables import Table
from pages.shared.uploads import columns, draft, tables
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.tables import key_of

_NONE = "none"


@dataclass(frozen=True)
class _File:
    """What is asked of a file of one kind: the words of its uploader, an example, its columns."""

    label: str
    example: Example
    time: str
    status: str
    events: str


_FILES = {
    Counted.OUTCOMES: _File("Times as CSV, TSV or XLSX: a row per person, or per interval",
                            examples.OUTCOMES, "Time, or end date", "Status",
                            "Status values that count as events"),
    Counted.VALUES: _File("Values as CSV, TSV or XLSX: one row per person",
                          examples.CONCENTRATIONS, "Value", "", ""),
    Counted.LABELS: _File("Scores and labels as CSV, TSV or XLSX: one row per person",
                          examples.SCORES, "Score", "Label",
                          "Texts that mean: has the label")}


def file_step(task: str) -> bool:
    """The file, its columns and the meaning of their texts; whether it can be read so.

    Raises
    ------
    InputError
        Whatever the file or its columns are refused for.
    """
    before = draft.of(task)
    draft.keep(None)
    kind = counted_for(task)
    table = tables.uploaded(_FILES[kind].label, _FILES[kind].example)
    if table is None:
        return False
    stated = _columns(table, kind, task)
    stated = replace(stated, server=columns.site_column(table, stated))
    observations = tables.read(read_events, table, stated, None)
    draft.keep(Draft(stated, "keep", observations, None if before is None else before.declared))
    columns.in_short([f"{whole(len(observations.time))} people"], observations.notes)
    return True


def _columns(table: Table, kind: Counted, task: str) -> EventColumns:
    """Columns and texts as chosen; what is missing is asked for in the order of the form."""
    file, has_status = _FILES[kind], kind is not Counted.VALUES
    suggested = readers.suggest_columns(table, kind)
    with st.container(horizontal=True):
        time = _column(file.time, table, suggested.get("time"), "event_time")
        status = _column(file.status, table, suggested.get("status"),
                         "event_status") if has_status else None
        start = _optional("Start", table, suggested.get("start"), "event_start",
                          "For files with dates, and with several intervals of a person: times go "
                          "from the first start to the last end. Left at none, the column beside "
                          "holds times.") if kind is Counted.OUTCOMES else None
    events = _texts(table, status, file.events, f"event_codes_{status}", task) if status else ()
    group, groups = _groups(table) if kind is Counted.OUTCOMES else (None, ())
    person = columns.who(table, suggested.get("id"))
    missing = _missing(time, status if has_status else time, events or not status, person,
                       group, groups)
    dates = _dates(table, time, start)
    if missing is not None:
        raise missing
    return EventColumns(
        time=str(time), start=start, status=status, events=tuple(events), group=group,
        groups=tuple(groups), id=person if person in table.columns else None, counted=kind,
        dates=dates)


def _missing(time: str | None, status: str | None, has_events: object, person: str | None,
             group: str | None, groups: tuple[str, ...]) -> InputError | None:
    """The first question without an answer."""
    asked = (
        (time and status, "columns", "Choose the columns.",
         "Each person has one row, or intervals that follow each other."),
        (has_events, "events", "Choose which status values are events.",
         "The study protocol decides this, not the file. All other values count as censored."),
        (not group or len(groups) == 2, "groups", "State the two groups that are compared.",
         "The study protocol decides this, not the file."),
        (person, "id", "Say who a row belongs to.", "A column that names the people, or every row "
         "is another person: only you know."))
    return next((InputError(text, field=field, hint=hint) for answer, field, text, hint in asked
                 if not answer), None)


def _column(label: str, table: Table, default: str | None, key: str) -> str | None:
    names = list(table.columns)
    return st.selectbox(label, names, index=names.index(default) if default in names else None,
                        format_func=shortened, placeholder="Choose", key=key_of(f"upload_{key}"))


def _optional(label: str, table: Table, default: str | None, key: str, why: str) -> str | None:
    names = [_NONE, *table.columns]
    chosen = st.selectbox(label, names, index=names.index(default) if default in names else 0,
                          format_func=shortened, key=key_of(f"upload_{key}"), help=why)
    return None if chosen == _NONE else chosen


def _texts(table: Table, column: str, label: str, key: str, task: str) -> tuple[str, ...]:
    """Texts of a column, stated one after another; further ones may be typed in."""
    several = (" Each is an event of its own." if ESTIMANDS[task].tells_causes else
               " Several count as one event." if label else "")
    return tuple(st.multiselect(
        label, codes_in(table, column), key=key_of(f"upload_{key}"), format_func=shortened,
        placeholder="Choose, or type one", accept_new_options=True,
        help="As the study defines them; one that nobody has may be typed in. All other texts, and "
        f"empty cells, are censored.{several}"))


def _groups(table: Table) -> tuple[str | None, tuple[str, ...]]:
    """Who is compared with whom, if anybody is."""
    column = _optional("Groups to compare (optional)", table, None, "event_group", "A column with "
                       "two groups, such as the arms of a trial.")
    if column is None:
        return None, ()
    return column, tuple(st.multiselect(
        "The two groups", codes_in(table, column), key=key_of(f"upload_event_groups_{column}"),
        max_selections=2, format_func=shortened, placeholder="Choose two, or type",
        accept_new_options=True, help="Whoever is in neither counts in the first of them."))


def _dates(table: Table, time: str | None, start: str | None) -> Dates:
    """How dates are meant, where there are any that can be read in two ways."""
    chosen = Dates(st.session_state.get(key_of("upload_dates")))
    dated = replace(table, dates=CALENDAR)
    is_open = any(dated.numbers(name).is_ambiguous for name in (time, start) if name)
    if is_open:
        columns.date_order()
    return chosen if is_open else CALENDAR
