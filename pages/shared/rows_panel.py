"""Use my records: a table of numbers, one record in each row, and facts from outside the file."""

from __future__ import annotations

from functools import partial
from typing import TypedDict

import streamlit as st

from engine.sources import upload_rows
from engine.sources.table_words import counted, shortened
from engine.sources.tables import Table
from engine.sources.upload_facts import StatedCovariate
from engine.sources.upload_layout import site_like
from engine.sources.upload_rows import REACHES, RowLayout, RowTable, UploadRows
from engine.tasks import TASKS
from pages.shared import facts_form, file_form, upload_panel
from pages.shared.facts_form import covariate, number
from pages.shared.frame.controls import plain
from pages.shared.state import session

_FILE = "Records as CSV, TSV or XLSX: one row per record, numbers in columns"
_MOST_LISTED = 3  # columns whose ranges are asked for one by one without a choice


def panel(show: str, task: str) -> None:
    """Both steps; what is on screen stays until the last button, `show`, is pressed."""
    if upload_panel.is_open():
        upload_panel.two_steps(upload_panel.title(task), lambda: _file(task),
                               lambda rows: _facts(rows, show, task))


# -- the file -------------------------------------------------------------------------------


def _file(task: str) -> RowTable | None:
    """The uploader, which column plays which role, and how the file was read."""
    table = file_form.uploaded_table(_FILE, upload_rows.EXAMPLE_ROWS_CSV)
    if table is None:
        return None
    suggested = upload_rows.suggest_row_layout(table)
    person = file_form.who(table, suggested.id)
    response = _column(table, "What is predicted", "response", suggested.response) \
        if "response" in TASKS[task].roles else None
    offered = site_like(table)
    server = file_form.site_column(
        [name for name in table.columns if name not in (person, response)], offered)
    taken = {person, server, response}
    features = _features([name for name in table.columns if name not in taken], task, offered)
    upload_rows.check_columns(task, features)
    chosen = RowLayout(features, response, file_form.said(person), server)
    rows = file_form.built(upload_rows.read_rows, table, chosen)
    file_form.keep_how(chosen)
    st.markdown(_summary(rows))
    return rows


def _column(table: Table, label: str, role: str, suggested: str | None) -> str | None:
    options = [None, *table.columns]
    return st.selectbox(label, options, index=options.index(suggested),
                        key=file_form.key_of(f"rows_{role}"),
                        format_func=lambda name: "none" if name is None else shortened(name))


def _features(free: list[str], task: str, offered: str | None) -> tuple[str, ...]:
    """The columns that are used: a few that are chosen, or all that are left but one of sites."""
    columns = TASKS[task].features
    assert columns is not None
    most = columns.most if columns.is_bounded else None
    chosen = st.multiselect(
        columns.label, free, key=file_form.key_of(f"rows_features_{task}"), format_func=shortened,
        max_selections=most, placeholder="Choose" if most else "All other columns",
        help="Columns of numbers; yes and no, or another known pair of words, count as 1 and 0.")
    return tuple(chosen if chosen or most else [name for name in free if name != offered])


def _summary(rows: RowTable) -> str:
    return file_form.in_short(f"{rows.n_rows:,} records of "
                                 f"{counted(len(rows.features), 'number')} · "
                                 f"{counted(len(rows.server_names) or 1, 'site')}", rows.notes)


# -- the facts ------------------------------------------------------------------------------


def _facts(rows: RowTable | None, show: str, task: str) -> None:
    """What the person states; empty at first, never filled from the file."""
    st.subheader("2. Facts you state, not the data", anchor=False)
    st.markdown("These come from outside the file: a manual, an earlier study, a law. Reading them "
                "off the file would leak. **One row is one record, and one record is protected: "
                "somebody with several rows is protected less.**")
    words = facts_form.words_of(facts_form.PEOPLE)
    features = _ranges(rows.features) if rows is not None else []
    stated = _response(rows, task) if rows is not None else StatedResponse()
    origin = st.text_input("Where do these bounds come from?", key="upload_origin",
                           placeholder="e.g. manual of the device, 2019", max_chars=200)
    own = None if rows is None else partial(
        UploadRows, rows=rows,
        declared=upload_rows.declare_rows(task, features, origin, **stated, **words))
    facts_form.show_button(show, own, task)


def _ranges(names: tuple[str, ...]) -> list[StatedCovariate]:
    """One by one if they are few; otherwise one pair for all, and own pairs where they differ."""
    if len(names) <= _MOST_LISTED:
        return [covariate(name) for name in names]
    low, high = st.columns(2)
    with low:
        lowest = number("Lowest possible value of all features", "e.g. 0", "rows_all_low")
    with high:
        highest = number("Highest possible value of all features", "e.g. 100", "rows_all_high")
    others = st.multiselect("Features with bounds of their own", names,
                            key=file_form.key_of("rows_others"), format_func=shortened,
                            placeholder="None",
                            help="Everything else has the bounds above.")
    own = {name: covariate(name) for name in others}
    return [own.get(name, StatedCovariate(name, lowest, highest)) for name in names]


class StatedResponse(TypedDict, total=False):
    """What `declare_rows` needs to know of what is predicted."""

    response: StatedCovariate
    two_classes: bool
    spread: float | None
    reach: float | None


def _response(rows: RowTable, task: str) -> StatedResponse:
    """The range of what is predicted, and what sparse regression asks besides."""
    if rows.response is None:
        return {}
    is_class = "two_classes" in TASKS[task].states and st.toggle(
        "It tells two classes apart", key="rows_two_classes", help="State the numbers of the two "
        "classes below, such as 0 and 1. What lies above their middle is the second class; all "
        "else, and what is missing, the first.")
    stated: StatedResponse = {"response": covariate(rows.response), "two_classes": is_class}
    if "spread" in TASKS[task].states:
        stated |= {"spread": _spread(rows.response), "reach": _reach()}
    return stated


def _spread(response: str) -> float | None:
    """σ, with what it changes: the bias and the noise, never the protection."""
    return st.number_input(
        f"How far {plain(shortened(response))} typically lies from what the features say (σ)",
        value=None, step=None, format="%g", placeholder="e.g. 6", key="upload_reading_sd",
        help="A standard deviation, from an earlier study: about two in three lie within σ. Too "
        "small: what lies far off is cut, which pulls coefficients to zero. Too large: more noise. "
        "The protection holds in any case.")


def _reach() -> float | None:
    """How many standard deviations ranges reach: decides the unit of features and of steps."""
    chosen = st.selectbox(
        "How features lie in their ranges", [*REACHES], index=None, key="rows_reach",
        placeholder="Choose", help="Says how many standard deviations a range reaches to each "
        "side. Features and response are measured from the middle of their ranges, so choose "
        "bounds whose middle is usual. A wrong guess costs accuracy, never protection.")
    return None if chosen is None else REACHES[chosen]


def clamped(task: str) -> None:
    """How much was moved into the stated ranges; only ever shown beside one's own records."""
    own = session.own(task)
    if not isinstance(own, UploadRows) or not session.uploaded(task):
        return
    features, responses = own.clamped
    if features or responses:
        st.warning(f"**{counted(features, 'number')} and "
                   f"{counted(responses, 'response')} lay outside the ranges you stated.** "
                   "They were moved to the nearest bound. This count is for you only.",
                   icon=":material/compress:")
